"""``tokspec matrix``: every implementation that is here, by chapter."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from tokspec.base.errors import DataError
from tokspec.base.files import write_whole
from tokspec.base.paths import fixtures_folder
from tokspec.cli.options import fixtures_option
from tokspec.cli.progress import ProgressBar
from tokspec.report.matrix import MatrixRow, announced, markdown_matrix, matrix, read_list, text_matrix
from tokspec.report.ndjson import ndjson, origin
from tokspec.suite.cases import Suite
from tokspec.suite.fixtures import load_suite

__all__ = ["matrix_command"]

_FORMS = {"text": text_matrix, "markdown": markdown_matrix}


@click.command("matrix", short_help="Judge every implementation that is here.")
@fixtures_option
@click.option("--list", "file", type=click.Path(path_type=Path), metavar="FILE.yaml", help="The implementations.")
@click.option("--format", "form", type=click.Choice(list(_FORMS)), default="text", show_default=True)
@click.option("--reports", type=click.Path(path_type=Path), metavar="FOLDER", help="Write a report of each there.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FOLDER", help="Write a site of the results there.")
@click.option("--all", "every", is_flag=True, help="Fail where an implementation is not here.")
def matrix_command(
    fixtures: Path | None, file: Path | None, form: str, reports: Path | None, html: Path | None, every: bool
) -> int:
    """Judge every implementation of a list, each against its known failures, and set them beside each other.

    The list is conformance/adapters/adapters.yaml of the checkout, unless another one is given; without a checkout it
    is what packages announce. What is not here is named, with what has to be done.

    Exit status: 0 if every run conforms, 1 if one does not.
    """
    own = fixtures_folder().parent / "conformance" / "adapters" / "adapters.yaml"
    file = file or (own if own.is_file() else None)
    listed, suite = read_list(file) if file else announced(), load_suite(fixtures)
    with ProgressBar("judging", len(listed)) as advance:
        rows = list(matrix(listed, suite, advance))
    if reports:
        _write(rows, reports, suite.hash)
    if html:
        pages = _site()(rows, suite, html)
        click.echo(f"{pages} pages; open {html / 'index.html'}\n")
    click.echo("\n".join(_FORMS[form](rows)))
    return 0 if all(row.run.conforms if row.run else not every for row in rows) else 1


def _site() -> Callable[[Sequence[MatrixRow], Suite, Path], int]:
    try:
        from tokspec.site.build import build_site  # here, because it needs packages that judging does not
    except ImportError as error:
        raise DataError(f"needs {error.name}: pip install jinja2 markdown-it-py", key="--html") from None
    return build_site


def _write(rows: list[MatrixRow], folder: Path, fixtures: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for row in rows:
        if row.run:
            came_from = origin("tokspec matrix", f"tokspec run --impl {row.listed.name!r}", fixtures)
            name = re.sub(r"[^\w.-]+", "-", f"{row.run.hello.name}-{row.run.hello.version}").strip("-")
            write_whole(folder / f"{name}.ndjson", b"".join(ndjson(row.run, came_from)))
