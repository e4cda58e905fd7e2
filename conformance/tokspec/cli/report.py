"""``tokspec report``: show reports, convert them to other forms, and compare two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path

import click

from tokspec.base.display import terminal_width, wrap
from tokspec.base.errors import DataError
from tokspec.base.files import write_whole
from tokspec.cli.options import COUNT, FILE, refuse_outputs
from tokspec.judge.diagnosis import group_failures
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Verdict
from tokspec.report.changes import REGRESSIONS, changes, lines, new_problems
from tokspec.report.failure import describe
from tokspec.report.github import write_annotations, write_outputs
from tokspec.report.junit import junit
from tokspec.report.markdown import markdown
from tokspec.report.ndjson import Report, read_report
from tokspec.report.text import text

#: The group of entry points in which ``results`` announces the function that writes the page of a run.
_PAGES = "tokspec.pages"

FORMATS = ("text", "markdown", "junit", "annotations", "outputs")


@click.command("report", short_help="Show, convert or compare reports of runs.")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE.ndjson…")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="Format of the output."
)
@click.option("-o", "--output", type=FILE, metavar="FILE", help="File to write the output to.")
@click.option("--html", type=FILE, metavar="FILE", help="Write one HTML page that needs no other file.")
@click.option("--compare", is_flag=True, help="Show what changed from the first report to the second.")
@click.option("--show", type=COUNT, default=10, show_default=True, help="Number of causes to show.")
def report_command(
    files: tuple[Path, ...], form: str, output: Path | None, html: Path | None, compare: bool, show: int
) -> int:
    """Show reports of tokspec run --report in any format, or compare two of them.

    \b
    tokspec report ours.ndjson                                as tokspec run showed it
    tokspec report *.ndjson --format markdown -o summary.md   for the summary of a job
    tokspec report ours.ndjson --html ours.html               a page for a browser
    tokspec report ours.ndjson --format annotations           errors that GitHub Actions shows, and outputs of a step
    tokspec report --compare before.ndjson after.ndjson       what is lost, new and fixed, by cause

    Exit status: 0 if every run conforms or matches its list of known failures, 1 if one does not. With --compare, 1 if
    something is new or lost. A report that was cut off is refused with exit status 2.
    """
    refuse_outputs({"--output": output, "--html": html}, {"FILE": files})
    if compare and html:
        raise DataError("does not work with --compare; give one of the two", key="--html")
    reports = [read_report(file) for file in files]
    if compare:
        return _compare(reports, form, output)
    if html:
        write_whole(html, _page(reports))
    if output or not html:
        _put(_FORMS[form](reports, show), output, wraps=form == "text")
    return 0 if all(report.run.is_green for report in reports) else 1


def _page(reports: Sequence[Report]) -> str:
    if len(reports) != 1:
        raise DataError("shows one report; give one", key="--html")
    try:
        (point,) = entry_points(group=_PAGES)
        page: Callable[[Run, str, str], str] = point.load()
    except ImportError as error:
        raise DataError(f"needs {error.name}: pip install jinja2 markdown-it-py", key="--html") from None
    report = reports[0]
    return page(report.run, report.file, report.origin.again)


def _compare(reports: Sequence[Report], form: str, output: Path | None) -> int:
    if len(reports) != 2 or form != "text":
        raise DataError("needs two reports, the older first, and prints only text", key="--compare")
    older, newer = reports
    found = changes(older, newer)
    _put("\n".join(lines(older, newer, found)) + "\n", output, wraps=True)
    if all(result.verdict in (Verdict.UNSUPPORTED, Verdict.NOT_RUN) for result in newer.run.results):
        raise DataError("no case was asked, and nothing is compared", newer.file)
    return 1 if any(change.kind in REGRESSIONS for change in found) or new_problems(older, newer) else 0


def _put(content: str, output: Path | None, *, wraps: bool) -> None:
    if output:
        write_whole(output, click.unstyle(content))
    else:
        click.echo("\n".join(wrap(content.split("\n"), terminal_width() if wraps else 0)), nl=False)


def _text(reports: Sequence[Report], show: int) -> str:
    return "\n".join("\n".join(text(report.run, _shown(report, show))) + "\n" for report in reports)


def _shown(report: Report, show: int) -> list[list[str]]:
    return [
        describe(first, f"{report.origin.again} --select {first.case.id}", width=terminal_width(), alike=alike)
        for first, *alike in (group.results for group in group_failures(report.run.failed)[:show])
    ]


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


_FORMS: Mapping[str, Callable[[Sequence[Report], int], str]] = {
    "text": _text,
    "markdown": lambda reports, show: markdown([(report.origin, report.run) for report in reports], show),
    "annotations": lambda reports, show: _lines(
        line for report in reports for line in write_annotations(report.run, report.origin, show)
    ),
    "outputs": lambda reports, show: _lines(line for report in reports for line in write_outputs(report.run)),
    "junit": lambda reports, show: junit([(report.origin, report.run) for report in reports]),
}
