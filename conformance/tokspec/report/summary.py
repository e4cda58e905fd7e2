"""The summary of a run: counts by chapter, and by clause where something did not pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tokspec.report.safe import visible
from tokspec.runner import Run
from tokspec.specification import load_specification
from tokspec.verdicts import Result, Verdict, tally

__all__ = ["headline", "reasons", "table"]


def headline(run: Run) -> str:
    """Say in one line what was run, how it ended and that the counts balance."""
    hello = run.hello
    parts = [f"{count} {verdict.value}" for verdict, count in run.counts.items() if count]
    who = visible(" ".join(part for part in (hello.name, hello.version) if part))
    state = "conforms" if run.conforms else "does not conform"
    return f"{who} {state}: {len(run.results)} cases = {' + '.join(parts) or 'none'}"


def table(run: Run, every_clause: bool = False) -> list[str]:
    """Give the lines of the table.

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
    rows.append(("all", _cells(run.results, shown)))
    width = max(len(name) for name, _ in rows)
    return [name.ljust(width) + _columns(cells, shown) for name, cells in rows]


def reasons(run: Run) -> list[str]:
    """Say why cases are unsupported: each reason once, with its number of cases, the commonest first."""
    counts = Counter(result.detail for result in run.results if result.verdict is Verdict.UNSUPPORTED)
    return [f"{count:>5}  {visible(reason)}" for reason, count in counts.most_common()]


def _columns(cells: Sequence[str], shown: Sequence[Verdict]) -> str:
    return "".join(f"  {cell:>{len(verdict.value)}}" for cell, verdict in zip(cells, shown, strict=True))


def _clause_rows(
    run: Run, chapter: str, shown: Sequence[Verdict], every_clause: bool
) -> Iterator[tuple[str, list[str]]]:
    for clause in load_specification().clauses.values():
        named = [result for result in run.results if clause.id in result.case.clauses]
        passed = all(result.verdict is Verdict.PASS for result in named)
        if clause.chapter == chapter and named and (every_clause or not passed):
            yield f"  {clause.id}", _cells(named, shown)


def _cells(results: Sequence[Result], shown: Sequence[Verdict]) -> list[str]:
    counts = tally(results)
    return [str(counts[verdict] or "·") for verdict in shown]
