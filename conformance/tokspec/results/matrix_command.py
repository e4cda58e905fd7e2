"""``tokspec matrix``: judge all implementations by the cases or a user's file, or show recorded results of a model."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import click

from tokspec.adapters.tokfast import WITH_CHOICES
from tokspec.base.display import visible
from tokspec.base.errors import DataError
from tokspec.base.files import fixtures_folder, refuse_links, write_whole
from tokspec.cli.options import COUNT, FILE, fixtures_option, limits_options, remove_result
from tokspec.cli.progress import NamingBar
from tokspec.compare.sides import Side, parse_side
from tokspec.compare.texts import MADE
from tokspec.formats.cautions import cautions_of
from tokspec.formats.user_model import read_user_model
from tokspec.report.ndjson import ndjson, origin
from tokspec.results.one_file import ask_all, markdown_rows, text_rows
from tokspec.results.recorded import Library, Recorded, find_result, heading, hints, read_libraries, read_results
from tokspec.results.rows import MatrixRow, announced, markdown_matrix, matrix, read_list, text_matrix
from tokspec.sessions.limits import PATIENT, Limits
from tokspec.suite.cases import Suite
from tokspec.suite.fixtures import load_suite

#: The function that writes a site; the packages that it needs are not needed for judging.
_Site: TypeAlias = Callable[
    [Sequence[MatrixRow], Suite, Path, Mapping[str, Recorded], Sequence[Library], Sequence[Mapping[str, Any]], str], int
]

_FORMS = {"text": text_matrix, "markdown": markdown_matrix}

_MODEL = "Test implementations with this file instead of judging them, or show the recorded results of this tokenizer."

_IMPL = "With --model, test this implementation only; NAME==VERSION installs that release first. May be repeated."


@click.command("matrix", short_help="Judge all installed implementations, or test them with your file.")
@fixtures_option
@click.option("--list", "file", type=FILE, metavar="FILE.yaml", help="File that lists the implementations.")
@click.option(
    "--format", "form", type=click.Choice(list(_FORMS)), default="text", show_default=True, help="Format of the output."
)
@click.option(
    "--history",
    type=FILE,
    metavar="FILE.json",
    help="With --html, also show these releases, as written by tokspec history --json.",
)
@click.option(
    "--address", default="", metavar="URL", help="With --html, the address that the site will have, for its badges."
)
@click.option("--reports", type=FILE, metavar="FOLDER", help="Write a report of each run to this folder.")
@click.option("--html", type=FILE, metavar="FOLDER", help="Write a site of the results to this folder.")
@click.option("--model", metavar="FILE|NAME", help=_MODEL)
@click.option("--impl", "impls", multiple=True, metavar="NAME", help=_IMPL)
@click.option("--made", type=COUNT, default=MADE, hidden=True)
@limits_options
@click.option("--all", "every", is_flag=True, help="Fail if an implementation is missing.")
def matrix_command(
    fixtures: Path | None,
    file: Path | None,
    form: str,
    reports: Path | None,
    html: Path | None,
    history: Path | None,
    address: str,
    model: str | None,
    impls: tuple[str, ...],
    made: int,
    limits: Limits,
    every: bool,
) -> int:
    """Judge every implementation of a list, each against its known failures, and show the results in one table.

    Unless you give --list, the list is conformance/adapters/adapters.yaml of the installed checkout or of the one in
    the current folder. Without a checkout, it contains the adapters that installed packages announce. If an
    implementation is missing, the output shows its name and how to add it.

    With --model FILE, each implementation loads your file, such as a tokenizer.json, and encodes ten thousand texts or
    more. The right answers come from tokfast, with the options of the library for which such files are made.
    With --model NAME, the name of a published tokenizer such as llama-3.1, the recorded results are shown, and no
    implementation runs.

    Unless you give --limit, each case may take up to a minute here, and not ten seconds; with --model, each text may
    take up to 20 seconds.

    \b
    tokspec matrix --model llama-3.1
    tokspec matrix --model tokenizer.json
    tokspec matrix --model tokenizer.json --impl tokenizers --impl tokie --impl tokenizers==0.22.2

    Exit status: 0 if every run conforms, 1 if one does not, 2 if every implementation is missing. With --model FILE: 0
    if every implementation that loads the file gives the right ids, 1 if one does not, 2 if none loads it or one that
    you name with --impl cannot run.
    """
    site = _site() if html else None
    if model and html:
        raise click.UsageError("--html writes the results of all models; leave out --model")
    if model and impls and not Path(model).exists() and model in read_results():
        raise click.UsageError("--impl needs --model FILE; with a name, the results of all libraries are shown")
    if impls and not model:
        raise click.UsageError("--impl needs --model FILE; without it, the list says what is judged")
    file = file or _list_of_checkout()
    if model and not Path(model).exists() and not impls:
        return _show_recorded(model, form)
    if model:
        return _ask_about(Path(model), impls, file, made, limits, form)
    if not html and (history or address):
        raise click.UsageError("--history and --address are for a site; give --html too")
    if address and not address.startswith(("http://", "https://")):
        raise click.UsageError("--address is the address of the site; it begins with https:// or http://")
    histories = _histories(history) if history else ()
    listed, suite = read_list(file) if file else announced(), load_suite(fixtures)
    if reports:
        refuse_links(reports)
        for earlier in reports.glob("*.ndjson"):  # including those of implementations that are no longer here
            remove_result(earlier)
    with NamingBar("judging", len(listed)) as bar:
        rows = list(matrix(listed, suite, bar.begin, PATIENT if limits == Limits() else limits))
    if reports:
        write_reports(rows, reports, suite.hash)
    if site and html:
        pages = site(rows, suite, html, read_results(), read_libraries(), histories, address)
        click.echo(f"{pages} pages; open {html / 'index.html'}\n")
    click.echo("\n".join(_FORMS[form](rows)))
    if not any(row.run for row in rows):
        raise DataError(
            "no implementation of the list is available, so nothing was judged; install one",
            key=str(file or "tokspec matrix"),
        )
    return 0 if all(row.run.is_green if row.run else not every for row in rows) else 1


def _ask_about(file: Path, impls: Sequence[str], list_file: Path | None, made: int, limits: Limits, form: str) -> int:
    """Show the results of each implementation with a file."""
    model = read_user_model(file)
    for caution in cautions_of(model):
        click.echo(visible(f"{file}: {caution}"), err=True)
    listed = read_list(list_file) if list_file else announced()
    sides = [parse_side(impl) for impl in impls]
    sides = sides or [
        Side(one.impl, one.command) for one in listed if one.impl not in WITH_CHOICES and not one.missing()
    ]
    with NamingBar("testing", len(sides) + 1) as bar:
        rows = ask_all(model, sides, made, bar.begin, None if limits == Limits() else limits)
    click.echo("\n".join((text_rows if form == "text" else markdown_rows)(rows)))
    if not any(row.input[1] for row in rows) or (impls and any(row.reason for row in rows)):
        return 2
    return 0 if all(row.input[0] == row.input[1] for row in rows) else 1


def _show_recorded(name: str, form: str) -> int:
    """Show the recorded results of a published tokenizer."""
    result = find_result(name)
    lines = text_rows(result.rows) if form == "text" else markdown_rows(result.rows)
    click.echo("\n".join([*heading(result), "", *lines, *hints(result)]))
    return 0


def _list_of_checkout() -> Path | None:
    checkouts = (fixtures_folder().parent, Path())
    lists = (folder / "conformance" / "adapters" / "adapters.yaml" for folder in checkouts)
    return next((file for file in lists if file.is_file()), None)


def _histories(file: Path) -> Sequence[Mapping[str, Any]]:
    """Read a file that ``tokspec history --json`` wrote.

    Raises:
        DataError: the file is something else.
    """
    try:
        found = json.loads(file.read_text("utf-8"))
        histories: Sequence[Mapping[str, Any]] = found["implementations"]
        told = [release for history in histories for release in history["name"] and history["releases"]]
        changes = [change for release in told for change in release["version"] and release.get("changes", ())]
        is_whole = all({"change", "cause", "cases"} <= change.keys() for change in changes)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        is_whole = False
    if not is_whole or found.get("tokspec_history") != 1:
        raise DataError("is not a history; write one with tokspec history --json", str(file))
    return histories


def _site() -> _Site:
    try:
        from tokspec.results.site.build import build_site  # here, because it needs packages that judging does not
    except ImportError as error:
        raise DataError(f"needs {error.name}: pip install jinja2 markdown-it-py", key="--html") from None
    return build_site


def write_reports(rows: Sequence[MatrixRow], folder: Path, fixtures: str) -> None:
    """Write a report of each run to a folder, with the hash of the fixtures that it was judged by."""
    folder.mkdir(parents=True, exist_ok=True)
    names: Counter[str] = Counter()
    for row in rows:
        if row.run:
            came_from = origin("tokspec matrix", f"tokspec run --impl {row.listed.name!r}", fixtures)
            name = re.sub(r"[^\w.-]+", "-", f"{row.run.hello.name}-{row.run.hello.version}").strip("-")
            names[name] += 1
            name = f"{name}-{names[name]}" if names[name] > 1 else name  # two ways to run the same implementation
            write_whole(folder / f"{name}.ndjson", b"".join(ndjson(row.run, came_from)))
