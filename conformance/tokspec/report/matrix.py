"""The matrix of implementations and chapters, as text or in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokspec.base.display import visible
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Verdict, tally
from tokspec.report.matrix_runs import Row
from tokspec.suite.specification import load_specification

__all__ = ["markdown_matrix", "text_matrix"]

#: What is counted after the chapters, and how it is called there.
_COUNTED = (Verdict.PASS, Verdict.KNOWN_FAILURE, Verdict.UNSUPPORTED)


def text_matrix(rows: Sequence[Row]) -> Iterator[str]:
    """Give the lines: a row an implementation, its choices, what is not here, and what no cell shows."""
    table = [_head(), *(_cells(row.run) for row in rows if row.run)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        left, right = cells[:2], cells[2:]
        shown = [cell.ljust(width) for cell, width in zip(left, widths, strict=False)]
        yield "  ".join(shown + [cell.rjust(width) for cell, width in zip(right, widths[2:], strict=True)]).rstrip()
    yield f"\nchapters: {', '.join(_chapters())}; a cell is what passes of what is offered\n"
    yield from (f"{_name(row.run)} takes {_choices(row.run)}" for row in rows if row.run)
    yield from (f"{visible(row.listed.name)}: not here: {visible(row.missing)}" for row in rows if not row.run)
    for run in (row.run for row in rows if row.run):
        yield from (f"{_name(run)}: {visible(problem)}" for problem in run.problems)


def markdown_matrix(rows: Sequence[Row]) -> Iterator[str]:
    """Give the same as a table in Markdown, with chapters by name."""
    names = [chapter.partition("-")[2].replace("-", " ") for chapter in _chapters()]
    head = [*_head()[:2], *names, *_head()[2 + len(names) :]]
    yield f"| {' | '.join(head)} |"
    yield "| --- | --- |" + " ---: |" * (len(head) - 2)
    yield from (f"| {' | '.join(_cells(row.run))} |" for row in rows if row.run)
    for row in rows:
        if not row.run:
            yield f"\n{visible(row.listed.name)}: not here: {visible(row.missing)}"


def _chapters() -> list[str]:
    return list(dict.fromkeys(clause.chapter for clause in load_specification().clauses.values()))[:-1]


def _head() -> list[str]:
    chapters = [chapter.partition("-")[0] for chapter in _chapters()]
    return ["implementation", "language", *chapters, "pass", "known", "fail", "unsupported"]


def _cells(run: Run) -> list[str]:
    counts = run.counts
    passed, known, unsupported = (counts[verdict] for verdict in _COUNTED)
    sums = [passed, known, len(run.results) - passed - known - unsupported, unsupported]
    return [_name(run), visible(run.hello.language), *(_chapter(run, name) for name in _chapters()), *map(str, sums)]


def _chapter(run: Run, chapter: str) -> str:
    clauses = load_specification().clauses
    counts = tally(result for result in run.results if clauses[result.case.clauses[0]].chapter == chapter)
    asked = sum(counts.values()) - counts[Verdict.UNSUPPORTED]
    return f"{counts[Verdict.PASS]}/{asked}" if asked else "·"


def _name(run: Run) -> str:
    return visible(f"{run.hello.name} {run.hello.version}".strip())


def _choices(run: Run) -> str:
    defaults = load_specification().defaults()
    others = [f"{name}={option}" for name, option in run.choices.items() if option != defaults[name]]
    return visible(", ".join(others) or "every default")
