"""Texts out of files, one after the other and never held whole: lines, whole files, JSON Lines, Parquet, compressed.

A record that is no text is no end: it is given as a :class:`BadRecord` with its place, and the next one follows. What
ends the reading is a file that is not there, or a package that is not installed.

>>> import io
>>> list(records_of(io.BytesIO(b"bug\\npug\\n"), "a.txt"))
[Record(text='bug', file='a.txt', number=1, offset=0), Record(text='pug', file='a.txt', number=2, offset=4)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from tokspec.base.errors import DataError
from tokspec.base.files import open_ordinary
from tokspec.records.json_lines import json_lines
from tokspec.records.kept import LARGEST, BadRecord, Reading, Record
from tokspec.records.lines import lines, whole
from tokspec.records.streams import decompressed, without_compression

__all__ = ["FIELD", "KINDS", "LARGEST", "BadRecord", "Reading", "Record", "kind_of", "read_records", "records_of"]

#: The field of JSON Lines, or the column of Parquet, that holds the text, unless another is named.
FIELD = "text"


def _parquet(stream: BinaryIO, reading: Reading) -> Iterator[Record | BadRecord]:
    from tokspec.records.parquet import rows  # here, because it needs a package that few have

    return rows(stream, reading)


#: The kinds of files; what is Parquet is compressed within, and needs a file that can be read from any place.
KINDS: Mapping[str, Callable[[BinaryIO, Reading], Iterator[Record | BadRecord]]] = {
    "lines": lines,
    "whole": whole,
    "jsonl": json_lines,
    "parquet": _parquet,
}

_ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"}


def kind_of(name: str) -> str:
    """Tell by a file's name what it holds; what says nothing is lines.

    >>> kind_of("texts.jsonl.gz"), kind_of("part-0.parquet"), kind_of("notes")
    ('jsonl', 'parquet', 'lines')
    """
    return _ENDINGS.get(PurePosixPath(without_compression(name)).suffix.lower(), "lines")


def read_records(
    file: Path, kind: str | None = None, field: str = FIELD, *, name: str = "", largest: int = LARGEST
) -> Iterator[Record | BadRecord]:
    """Return the records of a file, in order.

    Args:
        file: it is decompressed as the end of its name says: .gz, .bz2, .xz, .zst.
        kind: one of :data:`KINDS`; by its name unless given.
        field: of JSON Lines, the column of Parquet; ``a.b`` is the field b of a where there is no field ``a.b``.
        name: what to call it in records and messages, rather than by its path.
        largest: bytes of the longest text that is taken.

    Raises:
        DataError: it cannot be opened, it has no such column, or a package for it is not installed.

    >>> next(read_records(Path("no such file")))
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: no such file: cannot be read: No such file or directory
    """
    called = name or str(file)
    try:
        with open_ordinary(file, called) as stream:
            yield from records_of(stream, called, kind, field, largest=largest)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", called) from None


def records_of(
    stream: BinaryIO, name: str, kind: str | None = None, field: str = FIELD, *, largest: int = LARGEST
) -> Iterator[Record | BadRecord]:
    """Return the records of an open file, which is decompressed as the end of its name says.

    Raises:
        DataError: as in :func:`read_records`.
    """
    kind = kind or kind_of(name)
    opened = stream if kind == "parquet" else decompressed(stream, name)
    return KINDS[kind](opened, Reading(name, field, largest))
