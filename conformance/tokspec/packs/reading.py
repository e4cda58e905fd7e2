"""Reading a pack, which somebody may have cut, edited, packed otherwise or made with another version of the suite.

A pack is looked through once before anything is made of it: every line has a checksum, and the last says what there has
to be. Whatever is wrong is one error with the line, and the key where there is one. Then it is read record by record.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import jsonschema_rs

from tokspec.errors import DataError
from tokspec.formats.own import OwnModel, read_own
from tokspec.packs.header import FORMAT, Header
from tokspec.packs.notation import read_value
from tokspec.packs.record import Record, record_of
from tokspec.packs.writing import CRC
from tokspec.records.streams import broken, decompressed
from tokspec.report.safe import shorten

__all__ = ["Pack", "find_model", "read_pack"]

#: Bytes of the longest line: a text has no more than a megabyte, and what it becomes not a hundred times that.
_LONGEST = 256 * 1024 * 1024

#: How JSON in ASCII has a surrogate, lone or not.
_SURROGATE = re.compile(r"\\ud[89a-f][0-9a-f]{2}")

_AGAIN = "freeze again, or take it from where it is whole"


@dataclass(frozen=True)
class Pack:
    """A pack that is whole: what it says of itself, how many records of each section it has, and where they are."""

    file: Path
    name: str
    header: Header
    counts: dict[str, int]

    def records(self) -> Iterator[Record]:
        """Give the records, in order.

        Raises:
            DataError: a record is none, with its line and key; the file has changed since.
        """
        for number, line in _lines(self.file, self.name):
            if line.startswith(b"- "):
                value = _value(line[2:], number, self.name)
                _refuse_errors(value, "record", number, self.name)
                yield record_of(value, number)


def read_pack(file: Path, name: str = "") -> Pack:
    """Look through a pack; ``name`` is how messages call it.

    Raises:
        DataError: the first thing that is wrong with it, with file, line and key; also if it was cut off.
    """
    name = name or str(file)
    looked = _Looking(name)
    for number, line in _lines(file, name):
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
        if number == 1 and not line.startswith(b"tokspec_pack: "):
            raise DataError("is no pack: it does not begin with tokspec_pack; tokspec freeze writes one", self.name, 1)
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
            raise self._error("is neither a key with its value nor a record; was it edited, or cut off?")
        found = self.footer if self.is_in_records else self.header
        if name in self.places:
            raise self._error(f"is there twice, first in line {self.places[name]}", name)
        found[name] = _value(text, self.number, self.name, name)
        self.places[name] = self.number
        if name == "tokspec_pack" and found[name] != FORMAT:
            version = f"is of version {found[name]} of the format, and this suite reads {FORMAT}"
            raise self._error(f"{version}; use the version of tokspec that made it, or freeze again", name)

    def _end_header(self) -> None:
        self.is_in_records = True
        self._refuse(self.header, "header")

    def _record(self, line: bytes) -> None:
        if not self.is_in_records or self.footer:
            raise self._error("is a record where none may be; was a line moved?")
        body, crc, rest = line[:-1].rpartition(CRC)
        if crc and rest == b'%08x"}' % zlib.crc32(body) and line.endswith(b"\n"):
            self.records += 1
            return
        # to be as clear as can be: a line that is no record says so itself
        _refuse_errors(_value(line[2:], self.number, self.name), "record", self.number, self.name)
        raise self._error(f"was changed after it was written: its checksum is another; {_AGAIN}", "crc")

    def finished(self) -> tuple[Header, dict[str, int]]:
        """Say what the pack is, now that all lines are seen."""
        records = self.records
        if not self.is_in_records:
            raise DataError(f"ends within its header, after {self.number} lines: it was cut off; {_AGAIN}", self.name)
        if "sha256" not in self.footer:
            raise DataError(f"ends after {records} records and without its end: it was cut off; {_AGAIN}", self.name)
        self._refuse(self.footer, "footer")
        counts = self.footer["counts"]
        if sum(counts.values()) != records:
            message = f"says that there are {sum(counts.values())} records, and there are {records}; {_AGAIN}"
            raise DataError(message, self.name, self.places["counts"], "counts")
        if self.footer["sha256"] != self.digest.hexdigest():
            message = f"is not that of the lines before: one of them was changed, moved or exchanged; {_AGAIN}"
            raise DataError(message, self.name, self.places["sha256"], "sha256")
        return Header.of(self.header), counts

    def _refuse(self, values: dict[str, Any], part: str) -> None:
        for path, message in _errors(values, part):
            line = self.places.get(str(path[0]), self.number) if path else self.number
            raise DataError(message, self.name, line, ".".join(map(str, path)))

    def _error(self, message: str, key: str = "") -> DataError:
        return DataError(message, self.name, self.number, key)


def _lines(file: Path, name: str) -> Iterator[tuple[int, bytes]]:
    try:
        with file.open("rb") as stream:
            yield from _lines_of(decompressed(stream, file.name), name)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", name) from None


def _lines_of(stream: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    number = 0
    while True:
        number += 1
        try:
            line = stream.readline(_LONGEST)
        except Exception as error:
            why = broken(error)
            if not why:
                raise
            raise DataError(f"{why}; {_AGAIN}", name, number) from None
        if not line:
            return
        # an editor of another system may have exchanged the ends of lines; nothing else of them is taken
        yield number, line[:-2] + b"\n" if line.endswith(b"\r\n") else line


def _value(text: bytes, number: int, name: str, key: str = "") -> Any:
    try:
        return read_value(text)
    except UnicodeDecodeError:
        raise DataError("is not UTF-8; was it edited, or cut off?", name, number, key) from None
    except json.JSONDecodeError as error:
        what = f"is no JSON ({error.msg} at character {error.pos + 1})"
        raise DataError(f"{what}; was it edited, or cut off?", name, number, key) from None
    except ValueError as error:
        raise DataError(str(error), name, number, key) from None
    except RecursionError:
        raise DataError("is nested too deep", name, number, key) from None


def _refuse_errors(value: Any, part: str, number: int, name: str) -> None:
    for path, message in _errors(value, part):
        raise DataError(message, name, number, ".".join(map(str, path)))


@cache
def _validator(part: str) -> jsonschema_rs.Draft202012Validator:
    schema = json.loads(Path(__file__).with_name("schema.json").read_text("utf-8"))
    return jsonschema_rs.Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{part}"})


def _errors(value: Any, part: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
    validator = _validator(part)
    try:
        if validator.is_valid(value):
            return
        found = list(validator.iter_errors(value))
    except UnicodeEncodeError:  # the validator cannot take a lone surrogate
        found = list(validator.iter_errors(json.loads(_SURROGATE.sub(r"\\ufffd", json.dumps(value)))))
    for error in found:
        for key in getattr(error.kind, "unexpected", ()):
            yield (*error.instance_path, key), "is an unknown key"
    for error in found:
        if not hasattr(error.kind, "unexpected"):
            yield tuple(error.instance_path), shorten(_message(error), 240)


def _message(error: jsonschema_rs.ValidationError) -> str:
    if hasattr(error.kind, "property"):
        return f"lacks the key {error.kind.property}"
    if hasattr(error.kind, "options"):
        return f"{json.dumps(error.instance)} is none of {', '.join(map(str, error.kind.options))}"
    return error.message


def find_model(pack: Pack, given: Path | None = None, format: str | None = None) -> OwnModel:
    """Read the model that is given, or the one of a pack where it is likely to be.

    Raises:
        DataError: it cannot be read, or is not there.
    """
    if given is not None:
        return read_own(given, format)
    model = pack.header.model
    for folder in (pack.file.parent, Path()):
        place = folder / model["file"]
        if place.exists():
            found = read_own(place, model["format"])
            if found.sha256 == model["sha256"]:
                return found
    what = f"was made with {model['file']} (sha256 {model['sha256'][:12]}…), which is neither beside it nor here"
    raise DataError(f"{what}; give --model", pack.name, key="model")
