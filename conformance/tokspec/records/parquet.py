"""Texts in Parquet: a column of strings, read some rows at a time by ``pyarrow``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, BinaryIO

from tokspec.base.errors import DataError
from tokspec.records.kept import BadRecord, Reading, Record

__all__ = ["row_groups", "rows"]

#: Rows that are held at once.
_BATCH = 256


def row_groups(stream: BinaryIO, name: str) -> list[int]:
    """Return the bytes of each group of rows, decompressed; none if the file is no Parquet.

    Raises:
        DataError: ``pyarrow`` is not installed.
    """
    arrow, parquet = _packages(name)
    try:
        table = parquet.ParquetFile(stream).metadata
    except arrow.ArrowInvalid:
        return []
    return [table.row_group(group).total_byte_size for group in range(table.num_row_groups)]


def rows(stream: BinaryIO, reading: Reading, groups: Sequence[int] | None = None) -> Iterator[Record | BadRecord]:
    """Return the text of every row; the file is read in batches, and needs to be one that can be read from any place.

    Args:
        stream: the file.
        reading: what is read.
        groups: which groups of rows, one after the other; all unless given.

    Raises:
        DataError: ``pyarrow`` is not installed, or there is no such column of strings.
    """
    arrow, parquet = _packages(reading.name)
    reading = replace(reading, unit="row")
    try:
        file = parquet.ParquetFile(stream, pre_buffer=False, memory_map=False)
    except arrow.ArrowInvalid as error:
        yield reading.bad(f"is no Parquet, or is cut off: {_first(error)}", 1, 0, ends=True)
        return
    _refuse_other(arrow, file.schema_arrow, reading)
    chosen = range(file.num_row_groups) if groups is None else groups
    number = sum(file.metadata.row_group(group).num_rows for group in range(min(chosen, default=0)))
    try:
        for batch in file.iter_batches(_BATCH, row_groups=chosen, columns=[reading.field], use_threads=False):
            for text in _strings(arrow, batch.column(0)):
                number += 1
                yield _row(text, number, reading)
    except (arrow.ArrowInvalid, OSError) as error:
        yield reading.bad(f"cannot be read on: {_first(error)}", number + 1, number, ends=True)


def _row(text: str | None, number: int, reading: Reading) -> Record | BadRecord:
    if text is None:
        return reading.bad(f"has in the column {reading.field} nothing", number, number - 1)
    return reading.text(text, number, number - 1)


def _strings(arrow: Any, column: Any) -> Iterator[str | None]:
    return iter(column.cast(arrow.large_string()).to_pylist())


def _packages(name: str) -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise DataError("Parquet needs a package: pip install pyarrow", name) from None


def _refuse_other(arrow: Any, schema: Any, reading: Reading) -> None:
    if reading.field not in schema.names:
        raise DataError(f"has no column {reading.field}; it has {', '.join(schema.names)}", reading.name)
    kind = schema.field(reading.field).type
    kind = kind.value_type if arrow.types.is_dictionary(kind) else kind
    if not (arrow.types.is_string(kind) or arrow.types.is_large_string(kind) or arrow.types.is_string_view(kind)):
        raise DataError(f"has in the column {reading.field} no strings but {kind}", reading.name)


def _first(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
