"""``tokspec history``: what each release of an implementation changed."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tokspec.base.errors import DataError
from tokspec.base.files import write_whole
from tokspec.cli.options import COUNT, FILE, fixtures_option
from tokspec.laboratory.matrix.history import history, json_history, releases, text_release
from tokspec.report.text import say
from tokspec.suite.fixtures import load_suite


@click.command("history", short_help="Judge the releases of an implementation one after the other.")
@click.argument("name", metavar="NAME")
@click.argument("versions", nargs=-1, metavar="[RELEASE…]")
@click.option("--from", "first", metavar="RELEASE", help="Begin with this one.")
@click.option("--last", type=COUNT, metavar="N", help="Only so many, the newest.")
@click.option("--json", "file", type=FILE, metavar="FILE", help="Write the history there, too.")
@click.option("--show", type=COUNT, default=10, show_default=True, help="How many causes to show of each release.")
@fixtures_option
def history_command(
    name: str,
    versions: tuple[str, ...],
    first: str | None,
    last: int | None,
    file: Path | None,
    show: int,
    fixtures: Path | None,
) -> int:
    """Judge all releases that the registry lists, or those that are named, and say what each lost, gained and fixed.

    \b
    tokspec history tokenizers --from 0.20.0
    tokspec history gpt-tokenizer --last 5 --json gpt-tokenizer.json
    tokspec history kitoken 0.10.0 0.10.1 0.11.1

    What a release came to is kept, and not asked again. A release that cannot be had is one line.

    Exit status: 0, or 2 if no release could be judged.
    """
    listed = list(versions) or releases(name)
    if first is not None:
        if first not in listed:
            raise DataError(f"is no release of {name}; there are {', '.join(listed[-20:])}", key="--from")
        listed = listed[listed.index(first) :]
    suite, found = load_suite(fixtures), []
    for release in history(name, listed[-last:] if last else listed, suite):
        found.append(release)
        say(text_release(release, show))
    if file:
        write_whole(file, json.dumps(json_history(name, suite, found), ensure_ascii=False, indent=1) + "\n")
    if not any(release.report for release in found):
        raise DataError("none of its releases could be judged", key=name)
    return 0
