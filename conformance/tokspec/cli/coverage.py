"""``tokspec coverage``: which cases and which functions of the reference stand behind each clause."""

from __future__ import annotations

from pathlib import Path

import click

from tokspec.adapters.reference import functions_by_clause
from tokspec.cli.options import fixtures_option
from tokspec.coverage import Row, coverage
from tokspec.fixtures import load_suite

__all__ = ["coverage_command"]


@click.command("coverage")
@fixtures_option
@click.option("--cases", "with_cases", is_flag=True, help="Name the cases of each clause.")
def coverage_command(fixtures: Path | None, with_cases: bool) -> int:
    """Print each clause with its cases and the functions of the reference that implement it.

    Exit status 1 if a MUST clause has no case, or no function where the reference can have one.
    """
    rows = coverage(load_suite(fixtures), functions_by_clause())
    width = max(len(row.clause.id) for row in rows)
    for row in rows:
        click.echo(_line(row, width))
        if with_cases:
            click.echo("".join(f"{'':<{width + 2}}{case}\n" for case in row.cases), nl=False)
    lacking = [row for row in rows if row.lacks]
    tested = sum(bool(row.cases) for row in rows)
    click.echo(f"{len(rows)} clauses: {tested} with cases, {len(lacking)} lacking something")
    return 1 if lacking else 0


def _line(row: Row, width: int) -> str:
    functions = ", ".join(row.functions) or "—"
    lacks = f"  LACKS {' and '.join(row.lacks)}" if row.lacks else ""
    return f"{row.clause.id:<{width}}  {row.clause.level:<6}  {len(row.cases):>3} cases  {functions}{lacks}"
