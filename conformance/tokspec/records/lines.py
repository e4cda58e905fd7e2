"""Texts in plain files: one on each line, or a file that is one text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from tokspec.records.kept import BadRecord, Reading, Record
from tokspec.records.streams import broken

__all__ = ["byte_lines", "lines", "whole"]

#: Bytes that are read at once of a line that is too long to be taken.
_SKIPPED = 1024 * 1024


def lines(stream: BinaryIO, reading: Reading) -> Iterator[Record | BadRecord]:
    r"""Return every line without its end, which is ``\n`` or ``\r\n`` and nothing else; an empty line is an empty text.

    >>> import io
    >>> [record.text for record in lines(io.BytesIO(b"a\r\n\nb"), Reading("a.txt", "", 10))]
    ['a', '', 'b']
    """
    for found in byte_lines(stream, reading):
        if isinstance(found, BadRecord):
            yield found
            continue
        line, number, offset = found
        yield _decoded(line.removesuffix(b"\n").removesuffix(b"\r"), reading, number, offset)


def whole(stream: BinaryIO, reading: Reading) -> Iterator[Record | BadRecord]:
    """Return the whole file as one text, its line ends as they are."""
    try:
        data = stream.read(reading.largest + 1)
    except Exception as error:
        yield _reading_ended(error, reading, 1, 0)
        return
    yield _decoded(data, reading, 1, 0)


def byte_lines(stream: BinaryIO, reading: Reading) -> Iterator[tuple[bytes, int, int] | BadRecord]:
    """Return every line with its number and the byte with which it begins; one that is too long is passed over."""
    number = offset = 0
    # what stands in front of a text in JSON, and its escapes, may make a line longer than the text
    longest = 8 * reading.largest + 65536
    while True:
        number += 1
        try:
            line = stream.readline(longest)
            length = len(line)
            too_long = length == longest and not line.endswith(b"\n")
            while too_long and not line.endswith(b"\n") and line:
                line = stream.readline(_SKIPPED)
                length += len(line)
        except Exception as error:
            yield _reading_ended(error, reading, number, offset)
            return
        if not length:
            return
        yield reading.bad(reading.too_long, number, offset) if too_long else (line, number, offset)
        offset += length


def _decoded(data: bytes, reading: Reading, number: int, offset: int) -> Record | BadRecord:
    if len(data) > reading.largest:
        return reading.bad(reading.too_long, number, offset)
    try:
        return Record(data.decode("utf-8"), reading.name, number, offset)
    except UnicodeDecodeError as error:
        return reading.bad(f"is not UTF-8 at its byte {error.start}", number, offset)


def _reading_ended(error: Exception, reading: Reading, number: int, offset: int) -> BadRecord:
    """Return the record of a file that cannot be read on; what is no fault of what is in it goes on to be raised."""
    why = broken(error)
    if not why:
        raise error
    return reading.bad(why, number, offset, ends=True)
