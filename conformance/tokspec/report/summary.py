"""The summary of a run: counts by chapter, and by clause where something did not pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tokspec.report.safe import shorten, visible
from tokspec.runner import Run
from tokspec.specification import load_specification
from tokspec.verdicts import Result, Verdict, tally

__all__ = ["headline", "reasons", "rows", "table"]


def headline(run: Run) -> str:
    """Say in one line what was run, how it ended and that the counts balance."""
    hello = run.hello
    parts = [f"{count} {verdict.value}" for verdict, count in run.counts.items() if count]
    who = visible(shorten(" ".join(part for part in (hello.name, hello.version) if part)))
    state = "conforms" if run.conforms else "does not conform"
    cases = f"{len(run.results)} case{'' if len(run.results) == 1 else 's'}"
    return f"{who} {state}: {cases} = {' + '.join(parts) or 'none'}"


def table(run: Run, every_clause: bool = False) -> list[str]:
    """Give the lines of the table, its columns aligned; :func:`rows` says what they hold."""
    (name, heads), *others = rows(run, every_clause)
    width = max(len(name) for name, _ in ((name, heads), *others))
    return [
        name.ljust(width) + "".join(f"  {cell:>{len(head)}}" for cell, head in zip(cells, heads, strict=True))
        for name, cells in ((name, heads), *others)
    ]


def rows(run: Run, every_clause: bool = False) -> list[tuple[str, list[str]]]:
    """Give the rows of the table: its head, each chapter with those of its clauses that are not met, and the sum.

    A case counts in the chapter of its first clause, so that chapters add up to the run; and in each of its clauses.
    """
    shown = [verdict for verdict, count in run.counts.items() if count or verdict is Verdict.PASS]
    rows = [("chapter", [verdict.value for verdict in shown])]
    clauses = load_specification().clauses
    for chapter in dict.fromkeys(clause.chapter for clause in clauses.values()):
        own = [result for result in run.results if clauses[result.case.clauses[0]].chapter == chapter]
        if own:
            rows.append((chapter, _cells(own, shown)))
        rows.extend(_clause_rows(run, chapter, shown, every_clause))
    return [*rows, ("all", _cells(run.results, shown))]


def reasons(run: Run) -> list[str]:
    """Say why cases are unsupported: each reason once, with its number of cases, the commonest first."""
    counts = Counter(result.detail for result in run.results if result.verdict is Verdict.UNSUPPORTED)
    return [f"{count:>5}  {visible(shorten(reason))}" for reason, count in counts.most_common()]


def _clause_rows(
    run: Run, chapter: str, shown: Sequence[Verdict], every_clause: bool
) -> Iterator[tuple[str, list[str]]]:
    for clause in load_specification().clauses.values():
        named = [result for result in run.results if clause.id in result.case.clauses]
        failed = any(not result.verdict.conforms for result in named)
        if clause.chapter == chapter and named and (every_clause or failed):
            yield f"  {clause.id}", _cells(named, shown)


def _cells(results: Sequence[Result], shown: Sequence[Verdict]) -> list[str]:
    counts = tally(results)
    return [str(counts[verdict] or "·") for verdict in shown]
