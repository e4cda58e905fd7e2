"""``tokspec dev coverage``: list the cases and the functions of the reference that cover each clause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from tokspec.cli.options import fixtures_option
from tokspec.quality.chance import KNOW_NOTHING, Chance, chance
from tokspec.quality.coverage import ClauseRow, coverage, functions_by_clause
from tokspec.suite.cases import Suite
from tokspec.suite.fixtures import load_suite


@click.command("coverage", short_help="List the cases and the reference code of each clause.")
@fixtures_option
@click.option("--operations", "by_operation", is_flag=True, help="Count the cases of each clause by operation.")
@click.option(
    "--families",
    "by_family",
    is_flag=True,
    help="Count the cases of clauses that hold for every model family, by family.",
)
@click.option("--chance", "by_chance", is_flag=True, help="Count the cases that implementations pass by chance.")
def coverage_command(fixtures: Path | None, by_operation: bool, by_family: bool, by_chance: bool) -> int:
    """Print each clause with its cases and the functions of the reference that implement it.

    Exit status: 1 if a MUST clause has no case, if it has no function although the reference could have one, or if no
    case tests a clause with an operation in which a user could see a violation; otherwise 0.

    With --operations, count the cases of each clause by operation. If no case tests a clause with an operation in which
    a user might look for a fault, print why.

    With --families, print how many cases test each clause that holds for models of every family, by family and
    operation. The exit status is 1 if a family has no case.

    With --chance, print for each operation and each clause how many of its cases are passed by implementations that
    know nothing: they refuse everything, or answer without looking at the model. The exit status is 1 if one of them
    passes all cases of an operation or a clause, because those cases then test nothing.
    """
    if by_operation + by_family + by_chance > 1:
        raise click.UsageError("--operations, --families and --chance count in different ways; give one")
    suite = load_suite(fixtures)
    if by_chance:
        return _by_chance(suite)
    return _by_family(suite) if by_family else _by_clause(suite, by_operation)


def _by_clause(suite: Suite, by_operation: bool) -> int:
    rows = coverage(suite, functions_by_clause())
    width = max(len(row.clause.id) for row in rows)
    for row in rows:
        click.echo("\n".join(_operations(row, width)) if by_operation else _line(row, width))
    lacking = [row for row in rows if row.lacks]
    tested = sum(bool(row.cases) for row in rows)
    click.echo(f"{len(rows)} clauses: {tested} with cases, {len(lacking)} lacking something")
    return 1 if lacking else 0


def _line(row: ClauseRow, width: int) -> str:
    functions = ", ".join(row.functions) or "—"
    lacks = f"  LACKS {' and '.join(row.lacks)}" if row.lacks else ""
    return f"{row.clause.id:<{width}}  {row.clause.level:<6}  {len(row.cases):>3} cases  {functions}{lacks}"


def _operations(row: ClauseRow, width: int) -> Iterator[str]:
    """Return how many cases test each operation, and below them the doors that no case tests, with the reason."""
    counts = ", ".join(f"{operation} {count}" for operation, count in sorted(row.operations.items()))
    yield f"{row.clause.id:<{width}}  {counts or '—'}"
    for door, reason in row.shut.items() if row.cases else ():
        yield f"{'':<{width}}  {door}: {reason or 'LACKS a case'}"


def _by_family(suite: Suite) -> int:
    rows = [row for row in coverage(suite, functions_by_clause()) if row.families and row.cases]
    width = max((len(row.clause.id) for row in rows), default=0)
    for row in rows:
        click.echo("\n".join(_families(row, width)))
    lacking = [row for row in rows if not all(row.families.values())]
    click.echo(f"{len(rows)} clauses of every family: {len(lacking)} lacking a case of a family")
    return 1 if lacking else 0


def _families(row: ClauseRow, width: int) -> Iterator[str]:
    """Return how many cases test the clause with each operation, a line for each family."""
    for index, (family, counts) in enumerate(row.families.items()):
        asked = ", ".join(f"{operation} {count}" for operation, count in sorted(counts.items()))
        yield f"{'' if index else row.clause.id:<{width}}  {family:<9}  {asked or 'LACKS a case'}"


def _by_chance(suite: Suite) -> int:
    rows = chance(suite)
    click.echo("\n".join([*_legend(), "", *_table(rows), ""]))
    met = [f"{row.name} by {', '.join(row.met_by)}" for row in rows if row.met_by]
    click.echo(f"{len(rows)} operations and clauses: {len(met)} met by chance{': ' if met else ''}{'; '.join(met)}")
    return 1 if met else 0


def _legend() -> Iterator[str]:
    width = max(map(len, KNOW_NOTHING))
    for name, what in KNOW_NOTHING.items():
        yield f"{name:<{width}}  {what}"


def _table(rows: Sequence[Chance]) -> Iterator[str]:
    """Return the lines of the table; names of two words take two lines of the heading."""
    width = max(len(row.name) for row in rows)
    words = [("", "cases"), *(name.rpartition("_")[::2] for name in KNOW_NOTHING)]
    columns = [max(map(len, pair)) for pair in words]
    for line in zip(*words, strict=True):
        yield _cells("", width, line, columns)
    for row in rows:
        counts = [str(count or "·") for count in (row.cases, *row.passed.values())]
        yield _cells(row.name, width, counts, columns) + ("  MET BY CHANCE" if row.met_by else "")


def _cells(name: str, width: int, cells: Sequence[str], columns: Sequence[int]) -> str:
    line = name.ljust(width) + "".join(f"  {cell:>{column}}" for cell, column in zip(cells, columns, strict=True))
    return line.rstrip()
