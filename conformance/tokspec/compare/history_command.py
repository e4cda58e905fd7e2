"""``tokspec history``: show what each release of an implementation changed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from tokspec.base.errors import DataError
from tokspec.base.files import write_whole
from tokspec.cli.options import COUNT, FILE, POSITIVE, fixtures_option
from tokspec.compare.history import Release, first_and_newest, history, json_history, releases, text_history
from tokspec.compare.report import count
from tokspec.report.text import say
from tokspec.suite.fixtures import load_suite


@click.command("history", short_help="Show what each release of an implementation broke and fixed.")
@click.argument("names", nargs=-1, required=True, metavar="NAME[==RELEASE]…")
@click.option("--from", "first", metavar="RELEASE", help="First release to judge.")
@click.option("--last", type=POSITIVE, metavar="N", help="Judge only the N newest releases of each NAME.")
@click.option("--json", "file", type=FILE, metavar="FILE", help="Write the history to this file too.")
@click.option("--show", type=COUNT, default=10, show_default=True, help="Number of causes to show for each release.")
@fixtures_option
def history_command(
    names: tuple[str, ...], first: str | None, last: int | None, file: Path | None, show: int, fixtures: Path | None
) -> int:
    """Judge all releases that a registry lists, or those that you name, and show what each lost, gained and fixed.

    \b
    tokspec history tokenizers --from 0.20.0
    tokspec history tokenizers tiktoken gpt-tokenizer --last 5 --json history.json
    tokspec history kitoken==0.10.1 kitoken==0.11.1

    The result of a release is kept, so that it is not judged again. If a release cannot be installed, one line says so.

    Exit status: 0 if at least one release could be judged, 2 if none could be.
    """
    start, suite = time.monotonic(), load_suite(fixtures)
    found: dict[str, list[Release]] = {}
    for name, versions in _wanted(names, first, last).items():
        if len(names) > 1:
            click.echo(f"{name}:")
        own = found[name] = list[Release]()
        for line in text_history(_kept_in(own, history(name, versions, suite)), show):
            say([line])
        if line := first_and_newest(own):
            say([line])
    judged = [release for each in found.values() for release in each if release.report]
    asked, minutes = sum(release.asked > 0 for release in judged), (time.monotonic() - start) / 60
    click.echo(f"{count(asked, 'release')} judged and {len(judged) - asked} kept, in {minutes:.1f} minutes")
    if file:
        write_whole(file, json.dumps(json_history(found, suite), ensure_ascii=False, indent=1) + "\n")
    if not judged:
        raise DataError("none of the releases could be judged", key=" ".join(names))
    return 0


def _kept_in(found: list[Release], releases: Iterable[Release]) -> Iterator[Release]:
    for release in releases:
        found.append(release)
        yield release


def _wanted(names: Sequence[str], first: str | None, last: int | None) -> dict[str, list[str]]:
    """Return the releases of each implementation that is named: the releases that are named with it, or all."""
    found: dict[str, list[str]] = {}
    for each in names:
        name, equals, version = each.partition("==")
        found.setdefault(name, []).extend([version] if equals else releases(name))
    if first is not None:
        if len(found) > 1:
            raise click.UsageError("--from applies to one implementation; name only one")
        ((name, versions),) = found.items()
        if first not in versions:
            raise DataError(f"is not a release of {name}; there are {', '.join(versions[-20:])}", key="--from")
        found[name] = versions[versions.index(first) :]
    return {name: versions[-last:] if last else versions for name, versions in found.items()}
