"""The matrix of real vocabularies as text and as Markdown: a row an implementation, a column a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokspec.base.display import visible
from tokspec.report.markdown import escape_markup
from tokspec.results.vocabularies import FIELDS, Cell, Column, Vocabularies


def percent(share: float | None) -> str:
    """Write a share; 100 is all and nothing less.

    >>> percent(0.9999), percent(1.0), percent(None)
    ('99', '100', '·')
    """
    return "·" if share is None else str(int(share * 100))


def rows_of(columns: Sequence[Column]) -> list[str]:
    """Name the implementations, in the order of the list."""
    return list(dict.fromkeys(who for column in columns for who in column.cells))


def text_vocabularies(vocabularies: Vocabularies, columns: Sequence[Column]) -> Iterator[str]:
    """Return the lines: the table, what its columns are, and what was not compared."""
    table = list(_table(columns))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for first, *cells in table:
        shown = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        yield " ".join([visible(first).ljust(widths[0]), *shown]).rstrip()
    yield f"\n{_legend(columns)}\n"
    yield from _remarks(vocabularies, columns)


def markdown_vocabularies(vocabularies: Vocabularies, columns: Sequence[Column]) -> Iterator[str]:
    """Return the same as a table in Markdown."""
    head, *rows = _table(columns)
    yield f"| {' | '.join(head)} |"
    yield "| --- |" + " ---: |" * (len(head) - 1)
    yield from (f"| {' | '.join((escape_markup(who), *cells))} |" for who, *cells in rows)
    yield f"\n{escape_markup(_legend(columns))}\n"
    yield from (f"- {escape_markup(line)}" for line in _remarks(vocabularies, columns))


def _table(columns: Sequence[Column]) -> Iterator[list[str]]:
    yield ["implementation", *(str(number) for number in range(1, len(columns) + 1)), *FIELDS]
    for who in rows_of(columns):
        cells = [column.cells.get(who) for column in columns]
        yield [who, *map(_shown, cells), *(percent(_sum(cells, name)) for name in FIELDS)]


def _shown(cell: Cell | None) -> str:
    share = cell.share() if cell else None
    return f"{'' if share is None or (cell and cell.as_it_is) else '~'}{percent(share)}"


def _sum(cells: Sequence[Cell | None], name: str) -> float | None:
    """Return the share of a field over all cells that have it."""
    counts = [cell.fields[name] for cell in cells if cell and name in cell.fields]
    asked = sum(count[1] for count in counts)
    return sum(count[0] for count in counts) / asked if asked else None


def _legend(columns: Sequence[Column]) -> str:
    names = ", ".join(f"{number} {column.vocabulary} ({column.format})" for number, column in enumerate(columns, 1))
    return visible(
        "A cell is the percentage of texts of which an implementation gives the ids that tokfast gives, or the tokens "
        "where it gives no ids. It is behind ~ where the implementation got the model in another format than the "
        f"file's, and · where it does not load it. The last columns are over all files: {names}."
    )


def _remarks(vocabularies: Vocabularies, columns: Sequence[Column]) -> Iterator[str]:
    """Say what was not compared, or not to its end; of files that an implementation does not load its cells say why."""
    for name, why in vocabularies.missing.items():
        yield visible(f"{name}: not here: {why}")
    for column in columns:
        if column.fault:
            yield visible(f"{column.vocabulary}: not compared: {column.fault}")
        for who, cell in column.cells.items():
            if cell.reason and (cell.as_it_is or cell.fields):
                yield visible(f"{who}: {column.vocabulary}: {cell.reason}")
