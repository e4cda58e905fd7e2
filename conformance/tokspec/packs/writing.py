"""Writing a pack, record by record: a header, a line a record, and what they add up to.

The file is YAML of a plain kind: ``key: value`` on each line of the header and of the end, and between them
``- value`` for each record, every value being JSON too. So it can be read line by line, compared by ``diff``, and still
be opened by whatever reads YAML. It is the same, byte by byte, whenever the same is written.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, cast

from tokspec.base.files import open_whole
from tokspec.packs.header import Header
from tokspec.packs.notation import write_value
from tokspec.packs.record import Record, written

__all__ = ["CRC", "Written", "record_line", "write_pack"]

#: What stands before the checksum of a line, which is over everything before it.
CRC = b', "crc": "'

#: As fast as is sensible, and the same number always: another gives other bytes.
_LEVEL = 6


class Written:
    """How many records a pack has by section, how many tokens they have, and the SHA-256 of its lines."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.tokens = 0
        self.digest = hashlib.sha256()


def record_line(record: Record) -> bytes:
    r"""Return the line of a record.

    >>> from tokspec.packs.record import Input
    >>> record_line(Record(Input("texts/words", "bug", "bug"), {"encode": {"ids": [1, 3]}}))
    b'- {"from": "texts/words:bug", "text": "bug", "ids": [1, 3], "crc": "22f9fd50"}\n'
    """
    line = b"- " + write_value(written(record))[:-1].encode("utf-8")
    return b'%s%s%08x"}\n' % (line, CRC, zlib.crc32(line))


def write_pack(file: Path, header: Header, records: Iterable[Record]) -> Written:
    """Write a pack in place of whatever is there, whole or not at all; compressed if the name ends in ``.gz``.

    Raises:
        DataError: it cannot be written.
    """
    with open_whole(file) as stream:
        return _write_all(stream, file.name.endswith(".gz"), header, records)


def _write_all(stream: BinaryIO, is_compressed: bool, header: Header, records: Iterable[Record]) -> Written:
    """Write the lines; the compressed form has neither a name nor a time in it."""
    if not is_compressed:
        return _write_lines(stream, header, records)
    with gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=stream, mtime=0) as compressed:
        return _write_lines(cast(BinaryIO, compressed), header, records)


def _write_lines(stream: BinaryIO, header: Header, records: Iterable[Record]) -> Written:
    result = Written()

    def write(line: bytes) -> None:
        result.digest.update(line)
        stream.write(line)

    for key, value in header.values().items():
        write(f"{key}: {write_value(value)}\n".encode())
    write(b"records:\n")
    for record in records:
        write(record_line(record))
        result.counts[record.input.section] += 1
        result.tokens += record.ids
    write(f"counts: {write_value(dict(result.counts))}\n".encode())
    stream.write(f'sha256: "{result.digest.hexdigest()}"\n'.encode())
    return result
