"""Reading a pack, which somebody may have cut, edited, packed otherwise or made with another version of the suite.

A pack is looked through once before anything is made of it: every line has a checksum, and the last says what there has
to be. Whatever is wrong is one error with the line, and the key where there is one. Then it is read record by record.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokspec.base.display import shorten
from tokspec.base.errors import DataError
from tokspec.formats.user_model import UserModel, read_user_model
from tokspec.packs.header import READ, Header
from tokspec.packs.lines import UNDO, WHOLE, errors_of, lines_of, refuse_errors, value_of
from tokspec.packs.record import Record, record_of
from tokspec.packs.writing import CRC
from tokspec.records.streams import without_compression

__all__ = ["Pack", "find_model", "is_named_as_pack", "is_pack", "read_pack"]

#: What every pack begins with.
_BEGINNING = b"tokspec_pack: "

#: What the names of packs end in, but for their compression.
_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True)
class Pack:
    """A pack that is whole: what it says of itself, how many records of each section it has, and where they are."""

    file: Path
    name: str
    header: Header
    counts: dict[str, int]

    def records(self) -> Iterator[Record]:
        """Return the records, in order.

        Raises:
            DataError: a record is none, with its line and key; the file has changed since.
        """
        for number, line in lines_of(self.file, self.name):
            if line.startswith(b"- "):
                value = value_of(line[2:], number, self.name)
                refuse_errors(value, "record", number, self.name)
                yield record_of(value, number)


def is_named_as_pack(name: str) -> bool:
    """Whether a file's name is one of a pack.

    >>> is_named_as_pack("pack.yaml.gz"), is_named_as_pack("tokenizer.json")
    (True, False)
    """
    return without_compression(name).endswith(_ENDINGS)


def read_pack(file: Path, name: str = "") -> Pack:
    """Look through a pack; ``name`` is how messages call it.

    Raises:
        DataError: the first thing that is wrong with it, with file, line and key; also if it was cut off.
    """
    name = name or str(file)
    looked = _Looking(name)
    for number, line in lines_of(file, name):
        looked.at(number, line)
    return Pack(file, name, *looked.finished())


class _Looking:
    """What is known of a pack after some of its lines: header, records, or end."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.header: dict[str, Any] = {}
        self.footer: dict[str, Any] = {}
        self.places: dict[str, int] = {}
        self.records = 0
        self.digest = hashlib.sha256()
        self.is_in_records = False
        self.number = 0

    def at(self, number: int, line: bytes) -> None:
        """Take the next line."""
        self.number = number
        if number == 1 and not line.startswith(_BEGINNING):
            raise DataError("is no pack: it does not begin with tokspec_pack; tokspec freeze writes one", self.name, 1)
        if not line.endswith((b"\n", b'"')):
            raise self._error(f"ends within a line: it was cut off; {WHOLE}")
        if line.startswith(b"- "):
            self._record(line)
        elif line == b"records:\n" and not self.is_in_records:
            self._end_header()
        else:
            self._key(line)
        if not line.startswith(b"sha256: "):
            self.digest.update(line)

    def _key(self, line: bytes) -> None:
        key, colon, text = line.partition(b": ")
        name = key.decode("utf-8", "backslashreplace")
        if not colon or not name.isidentifier():
            raise self._error(f"is neither a key with its value nor a record; was it edited, or cut off? {UNDO}")
        found = self.footer if self.is_in_records else self.header
        if name in self.places:
            raise self._error(f"is there twice, first in line {self.places[name]}; {UNDO}", name)
        found[name] = value_of(text, self.number, self.name, name)
        self.places[name] = self.number
        if name == "tokspec_pack" and found[name] not in READ:
            version = f"is of version {shorten(text.decode().strip())} of the format, and this suite reads"
            known = " and ".join(map(str, READ))
            raise self._error(f"{version} {known}; use the version of tokspec that made it, or freeze again", name)

    def _end_header(self) -> None:
        self.is_in_records = True
        self._refuse(self.header, "header")

    def _record(self, line: bytes) -> None:
        if not self.is_in_records or self.footer:
            raise self._error(f"is a record where none may be; was a line moved? {UNDO}")
        body, crc, rest = line[:-1].rpartition(CRC)
        if crc and rest == b'%08x"}' % zlib.crc32(body) and line.endswith(b"\n"):
            self.records += 1
            return
        # to be as clear as can be: a line that is no record says so itself
        refuse_errors(value_of(line[2:], self.number, self.name), "record", self.number, self.name)
        raise self._error(f"was changed after it was written: its checksum is another; {UNDO}", "crc")

    def finished(self) -> tuple[Header, dict[str, int]]:
        """Say what the pack is, now that all lines are seen."""
        records = self.records
        if not self.number:
            raise DataError(f"is empty; {WHOLE}", self.name)
        if not self.is_in_records:
            raise DataError(f"ends within its header, after {self.number} lines: it was cut off; {WHOLE}", self.name)
        if "sha256" not in self.footer:
            raise DataError(f"ends after {records} records and without its end: it was cut off; {WHOLE}", self.name)
        self._refuse(self.footer, "footer")
        counts = self.footer["counts"]
        if sum(counts.values()) != records:
            message = f"says that there are {sum(counts.values())} records, and there are {records}; {WHOLE}"
            raise DataError(message, self.name, self.places["counts"], "counts")
        if self.footer["sha256"] != self.digest.hexdigest():
            changed = "the header or the counts were changed, or whole records exchanged"
            message = f"is not that of the lines before: {changed}; {UNDO}"
            raise DataError(message, self.name, self.places["sha256"], "sha256")
        return Header.of(self.header), counts

    def _refuse(self, values: dict[str, Any], part: str) -> None:
        for path, message in errors_of(values, part):
            line = self.places.get(str(path[0]), self.number) if path else self.number
            raise DataError(message, self.name, line, ".".join(map(str, path)))

    def _error(self, message: str, key: str = "") -> DataError:
        return DataError(message, self.name, self.number, key)


def find_model(pack: Pack, given: Path | None = None, format: str | None = None, *, changed: bool = False) -> UserModel:
    """Read the model that is given, or the one of a pack where it is likely to be: beside it, or in this folder.

    Args:
        pack: the pack.
        given: a file, whatever it holds.
        format: its format.
        changed: whether a model may have changed that still has its name; who allows it says how it did.

    Raises:
        DataError: it cannot be read, or is not there.
    """
    if given is not None:
        return read_user_model(given, format)
    model = pack.header.model
    places = [folder / model["file"] for folder in (pack.file.parent, Path())]
    found = [read_user_model(place, model["format"]) for place in places if place.exists()]
    same = [own for own in found if own.sha256 == model["sha256"]]
    if same or (found and changed):
        return (same or found)[0]
    where = "and what has that name now is another" if found else "which is neither beside it nor here"
    what = f"was made with {model['file']} (sha256 {model['sha256'][:12]}…), {where}"
    raise DataError(f"{what}; give --model", pack.name, key="model")


def is_pack(file: Path) -> bool:
    """Whether a file is named and begins as a pack.

    >>> is_pack(Path("no such pack.yaml"))
    False
    """
    if not (is_named_as_pack(file.name) and file.is_file()):
        return False
    try:
        return next(lines_of(file, file.name), (0, b""))[1].startswith(_BEGINNING)
    except DataError:
        return False
