"""The documents of a unit, some at a time, each with its number: who asks for millions wants no object for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate

from tokspec.base.errors import DataError
from tokspec.sweep.documents import LONGEST, Bad, Document, Part, Selection, documents, stretch
from tokspec.sweep.opening import open_bytes
from tokspec.sweep.plan import Unit

__all__ = ["BadAt", "Batch", "batches"]

#: Documents, and bytes of them, that are asked at once.
_BATCH = 64
_BATCH_BYTES = 1 << 18


@dataclass(frozen=True)
class Batch:
    """Documents of one file, one after the other: ``first`` is the number of the first, ``size`` is bytes of UTF-8."""

    first: int
    file: str
    texts: Sequence[str]
    size: int
    place: Callable[[int], int]

    def cut(self, first: int, last: int | None) -> Batch:
        """Leave out documents with numbers below ``first``, and from ``last`` on.

        >>> Batch(5, "a", ["x", "yy", "z"], 4, lambda index: 10 * index).cut(6, None).texts
        ['yy', 'z']
        """
        start = max(0, first - self.first)
        end = len(self.texts) if last is None else max(0, min(len(self.texts), last - self.first))
        if start == 0 and end == len(self.texts):
            return self
        texts = self.texts[start:end]
        size = sum(len(text.encode()) for text in texts)
        return Batch(self.first + start, self.file, texts, size, lambda index: self.place(start + index))


@dataclass(frozen=True)
class BadAt:
    """A record that is no document, with its number and its file."""

    number: int
    file: str
    bad: Bad


def batches(unit: Unit, selection: Selection) -> Iterator[Batch | BadAt]:
    """Return all records of a unit; they are numbered from 0, documents and others alike.

    Raises:
        DataError: a file is not what it was when the plan was made, or cannot be read.
    """
    number = 0
    for part in unit.parts:
        lines = _lines(part) if part.kind == "lines" and not part.is_whole and selection.sample >= 1 else None
        found = _of_records(part, selection, number) if lines is None else _of_lines(part, lines, number)
        for each in found:
            yield each
            number = each.number + 1 if isinstance(each, BadAt) else each.first + len(each.texts)


class _Lines:
    """Lines that are all UTF-8, read at once; where each begins is found out when somebody wants to know."""

    def __init__(self, data: bytes, text: str, start: int) -> None:
        self._data, self._start = data, start
        lines = text.split("\n")
        if "\r" in text:
            lines = [line.removesuffix("\r") for line in lines]
        self.texts = [line for line in lines if line]

    def place(self, first: int, index: int) -> int:
        """Say where a line begins, counted from the one that is ``first``."""
        return self._places[first + index]

    @cached_property
    def _places(self) -> list[int]:
        lines = self._data.split(b"\n")
        starts = accumulate((len(line) + 1 for line in lines), initial=self._start)
        return [start for start, line in zip(starts, lines, strict=False) if line.removesuffix(b"\r")]


def _lines(part: Part) -> _Lines | None:
    """Read the lines of a part at once; None where one is none, or too long."""
    with closing(open_bytes(part.path, part.size, part.tag)) as stream:
        try:
            data, start = stretch(stream, part)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror or error}", part.path) from None
    if len(data) > LONGEST:
        return None
    try:
        return _Lines(data, data.decode(), start)
    except UnicodeDecodeError:
        return None


def _of_lines(part: Part, lines: _Lines, number: int) -> Iterator[Batch]:
    for start in range(0, len(lines.texts), _BATCH):
        texts = lines.texts[start : start + _BATCH]
        joined = "".join(texts)
        size = len(joined) if joined.isascii() else len(joined.encode())
        yield Batch(number + start, part.path, texts, size, partial(lines.place, start))


def _of_records(part: Part, selection: Selection, number: int) -> Iterator[Batch | BadAt]:
    gathered: list[Document] = []
    size = 0
    for record in documents(part, selection):
        if isinstance(record, Document):
            gathered.append(record)
            size += len(record.text.encode())
        if gathered and (isinstance(record, Bad) or len(gathered) >= _BATCH or size >= _BATCH_BYTES):
            yield _batch(number, part.path, gathered, size)
            number += len(gathered)
            gathered, size = [], 0
        if isinstance(record, Bad):
            yield BadAt(number, part.path, record)
            number += 1
    if gathered:
        yield _batch(number, part.path, gathered, size)


def _batch(number: int, file: str, gathered: Sequence[Document], size: int) -> Batch:
    return Batch(number, file, [each.text for each in gathered], size, lambda index: gathered[index].at)
