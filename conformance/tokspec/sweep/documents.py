"""The documents of a part of an input, and the records that are none: counted by file and offset, never fatal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from io import BytesIO
from typing import BinaryIO, NamedTuple

from tokspec.base.errors import DataError
from tokspec.records import FIELD, BadRecord, Record, records_of
from tokspec.sweep.opening import open_bytes

__all__ = ["LONGEST", "Bad", "Document", "Part", "Selection", "documents", "stretch"]

#: Bytes of the longest document: a document is in memory as a whole.
LONGEST = 16 * 1024**2

#: Bytes of a line that are read to see that it is too long.
_LINE = 8 * LONGEST + 65536


@dataclass(frozen=True)
class Selection:
    """What of an input are texts: ``field`` of JSON lines or column of a table, and which share of them is taken.

    >>> Selection().sample
    1.0
    """

    field: str = FIELD
    sample: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Part:
    """A stretch of a file: bytes from ``start`` to ``end``, or row groups of a table.

    ``kind`` is one of ``tokspec.records.KINDS``; ``is_whole`` if the stretch is all of it, which what is compressed
    always is. ``tag`` is what else than its size changes with the file.
    """

    path: str
    size: int
    tag: str
    kind: str
    is_whole: bool
    start: int
    end: int

    @property
    def bytes(self) -> int:
        """About how much there is to read."""
        return self.size if self.is_whole or self.kind == "parquet" else self.end - self.start


class Document(NamedTuple):
    """A text, and where it begins: in bytes of what is read, decompressed, or in rows of a table."""

    text: str
    at: int


class Bad(NamedTuple):
    """A record that is no document, and why."""

    at: int
    why: str


def documents(part: Part, selection: Selection) -> Iterator[Document | Bad]:
    """Return the documents of a part, and what is none. A line belongs to the part in which it begins.

    Raises:
        DataError: the file is not what it was when the plan was made, or cannot be read.
    """
    with closing(open_bytes(part.path, part.size, part.tag)) as stream:
        try:
            for record, start in _records(stream, part, selection.field):
                at = start + record.offset
                if isinstance(record, BadRecord):
                    yield Bad(at, record.why)
                elif record.text and (selection.sample >= 1 or _is_taken(part, selection, at)):
                    yield Document(record.text, at)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror or error}", part.path) from None


def _is_taken(part: Part, selection: Selection, at: int) -> bool:
    key = f"{selection.seed}\n{part.path}\n{at}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(key, digest_size=8).digest()) < selection.sample * 2**64


def _records(stream: BinaryIO, part: Part, field: str) -> Iterator[tuple[Record | BadRecord, int]]:
    """Return records, and what their offsets count from."""
    if part.kind == "parquet":
        yield from ((record, 0) for record in _rows(stream, part, field))
    elif part.is_whole:
        yield from ((record, 0) for record in records_of(stream, part.path, part.kind, field, largest=LONGEST))
    else:
        yield from _stretch(stream, part, field)


def _stretch(stream: BinaryIO, part: Part, field: str) -> Iterator[tuple[Record | BadRecord, int]]:
    data, start = stretch(stream, part)
    for record in records_of(BytesIO(data), part.path, part.kind, field, largest=LONGEST):
        yield record, start


def stretch(stream: BinaryIO, part: Part) -> tuple[bytes, int]:
    """Return the bytes of the lines that begin in a part, and where the first of them does."""
    start = part.start
    if start:
        stream.seek(start - 1)
        start += _skip(stream) - 1
    if start >= part.end:
        return b"", start
    data = stream.read(part.end - start)
    if not data.endswith(b"\n"):
        data += stream.readline(_LINE)
    return data, start


def _skip(stream: BinaryIO) -> int:
    """Go to the end of the line, and say how far it was."""
    skipped = 0
    while line := stream.readline(1024**2):
        skipped += len(line)
        if line.endswith(b"\n"):
            break
    return skipped


def _rows(stream: BinaryIO, part: Part, field: str) -> Iterator[Record | BadRecord]:
    from tokspec.records import Reading
    from tokspec.records.parquet import rows  # here, because it needs a package that few have

    groups = None if part.is_whole else range(part.start, part.end)
    try:
        yield from rows(stream, Reading(part.path, field, LONGEST), groups)
    except DataError as error:
        yield BadRecord(error.message, part.path, 1, 0)
