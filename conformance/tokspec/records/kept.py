"""What is kept of a file: its texts with their places, and what is no text."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LARGEST", "BadRecord", "Reading", "Record"]

#: Bytes of the longest text that is taken unless more is asked for: what a session carries easily.
LARGEST = 1024 * 1024


@dataclass(frozen=True)
class Record:
    """A text, and where it stood.

    ``number`` is of the line or row, from 1. ``offset`` is the byte, of what is decompressed, with which the record
    begins; in Parquet, which has no such bytes, the row from 0.
    """

    text: str
    file: str
    number: int
    offset: int


@dataclass(frozen=True)
class BadRecord:
    """What should be a text and is none, and ``why``. ``ends`` says that nothing more can be read of the file.

    ``unit`` is what ``offset`` counts.

    >>> print(BadRecord("is no JSON", "a.jsonl", 3, 70))
    a.jsonl:3: is no JSON (at byte 70)
    """

    why: str
    file: str
    number: int
    offset: int
    ends: bool = False
    unit: str = "byte"

    def __str__(self) -> str:
        return f"{self.file}:{self.number}: {self.why} (at {self.unit} {self.offset})"


@dataclass(frozen=True)
class Reading:
    """What is read: ``name`` is of the file, ``field`` holds its texts, ``largest`` is the bytes of the longest."""

    name: str
    field: str
    largest: int
    unit: str = "byte"

    def text(self, text: str, number: int, offset: int) -> Record | BadRecord:
        """Take a text, unless it has no form in UTF-8 or is too long."""
        try:
            size = len(text) if text.isascii() else len(text.encode("utf-8"))
        except UnicodeEncodeError:
            return self.bad("holds half of a surrogate pair, which is no character", number, offset)
        if size > self.largest:
            return self.bad(self.too_long, number, offset)
        return Record(text, self.name, number, offset)

    def bad(self, why: str, number: int, offset: int, *, ends: bool = False) -> BadRecord:
        """Say what is no text."""
        return BadRecord(why, self.name, number, offset, ends, self.unit)

    @property
    def too_long(self) -> str:
        """What is said of a text that is too long."""
        return f"is longer than {self.largest} bytes"
