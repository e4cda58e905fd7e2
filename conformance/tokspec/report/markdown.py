"""A run in Markdown, for the summary of a job; text from an implementation is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from tokspec.base.display import visible
from tokspec.judge.diagnosis import group_failures
from tokspec.judge.runner import Run
from tokspec.report.failure import describe
from tokspec.report.ndjson import Origin
from tokspec.report.text import headline, profile_rows, reasons, rows

#: Characters that Markdown could take for markup; HTML's special characters are escaped as entities.
_MARKUP = re.compile(r"([\\`*_\[\]!|~$:])|(?<=www)(\.)")

#: Text that GitHub turns into a mention or a link to an issue, and Markdown into a heading. A backslash or an entity
#: would not help, because GitHub searches the text that is shown, except in code.
_REFERENCE = re.compile(r"@|#(?=\d)|^#|(?<=GH)-(?=\d)", re.IGNORECASE)


def markdown(runs: Sequence[tuple[Origin, Run]], show: int) -> str:
    """Return a section for each run: its results by chapter and clause, and ``show`` of its causes to unfold."""
    return "\n".join(line for origin, run in runs for line in _chapter(origin, run, show))


def _chapter(origin: Origin, run: Run, show: int) -> Iterator[str]:
    yield f"## {escape_markup(headline(run))}\n"
    yield from _table(run)
    yield from (f"- {escape_markup(problem)}" for problem in run.complaints)
    yield from (f"- outside the cases: {escape_markup(fault)}" for fault in run.faults)
    groups = group_failures(run.failed)
    for group in groups[:show]:
        first, *alike = group.results
        head, *lines = describe(first, f"{origin.again} --select {first.case.id}", alike=alike)
        yield from _folded(f"{head} and {len(alike)} more" if alike else head, lines)
    if len(groups) > show:
        cases = sum(len(group.results) for group in groups[show:])
        causes = f", of {len(groups) - show} other causes" if cases > len(groups) - show else ""
        yield f"… and {cases} more{causes}.\n"
    if unsupported := reasons(run):
        yield from _folded("unsupported, and why", unsupported)
    yield f"tokspec {escape_markup(origin.suite)}, fixtures {origin.fixtures[:12]}, {escape_markup(origin.machine)}\n"


def _table(run: Run) -> Iterator[str]:
    for (name, heads), *others in (rows(run), profile_rows(run)):
        yield f"| {name} | {' | '.join(heads)} |"
        yield "| --- |" + " ---: |" * (len(heads) - 1) + " --- |"
        for name, cells in others:
            shown = name.strip() if name.startswith(" ") else f"**{name}**"
            yield f"| {shown} | {' | '.join(cells)} |"
        yield ""


def _folded(head: str, lines: Sequence[str]) -> Iterator[str]:
    """Return lines as foldable code; the fence is longer than any in the lines."""
    fence = "`" * max(3, 1 + max((len(ticks) for line in lines for ticks in re.findall("`+", line)), default=0))
    yield f"<details><summary>{_escape_html(head)}</summary>\n"
    yield from (f"{fence}text", *map(visible, lines), fence, "")
    yield "</details>\n"


def escape_markup(text: str) -> str:
    r"""Escape a text so that Markdown shows it literally, and GitHub mentions nobody and links nothing.

    >>> escape_markup("*a* @b #1"), escape_markup("# C# GH-2")
    ('\\*a\\* <code>@</code>b <code>#</code>1', '<code>#</code> C# GH<code>-</code>2')
    """
    return _without_references(_MARKUP.sub(r"\\\1\2", escape(visible(text), quote=False)))


def _escape_html(text: str) -> str:
    return _without_references(escape(visible(text), quote=False))


def _without_references(escaped: str) -> str:
    return _REFERENCE.sub(r"<code>\g<0></code>", escaped)
