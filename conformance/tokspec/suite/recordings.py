"""Recordings: texts, and the answers of a tokenizer about each of them.

A recording is JSON Lines, compressed if its name says so: a header, a line for each text, and a footer with their
number and the SHA-256 of all lines before. ``tokspec record`` writes one, ``tokspec diff`` compares with it, and
``tokspec run --pack`` judges by it. A pack of the suite is a recording of a published tokenizer, and two makers agree
on each of its lines. The same answers give the same bytes. A recording that was cut off or edited is refused.

Two older forms can be read, too: the recordings of tokspec 0.2, and its packs, which have no footer.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, BinaryIO, cast

from tokspec.adapter import Hello
from tokspec.base.compression import decompress, describe_broken, without_compression
from tokspec.base.display import compact, quote, shorten
from tokspec.base.errors import AdapterFault, DataError
from tokspec.base.files import open_ordinary, open_whole
from tokspec.base.json_values import SURROGATE, decode_line, to_hex_form
from tokspec.suite import schema

#: The version of the format.
FORMAT = 2

#: The endings of the names of recordings, before an ending for compression; the second is that of packs.
ENDINGS = (".ndjson", ".pack.jsonl")

#: Bytes of the longest line. A text has at most 64 kB, and its results less than a hundred times that; a longer line in
#: a compressed file is refused before it is decompressed.
LONGEST_LINE = 16 * 1024**2

#: The value of ``special_tokens`` in a header if it differs by line: some have those of a post-processor, some not.
PER_LINE = "as each line says"

#: The keys of a line that are options of its request.
OPTIONS = ("pair", "add_special_tokens", "allowed_special")

_AGAIN = "get a complete copy, or record it again"

#: The beginnings of compressed files, whatever their names.
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}

#: The start of a fraction or an exponent in a number.
_FRACTION = re.compile(rb"\d[.eE]")


@dataclass(frozen=True)
class Header:
    """The description of a recording, which says nothing about the machine or the time of the recording.

    ``model`` has the name, the format and the SHA-256 of the file, and anything else that is known about it.
    ``special_tokens`` says whether those of a post-processor are ``added``, ``not added``, as a caller of an object
    gets them, or as each line says. ``inputs`` says where the texts come from. The last five belong to a pack: the name
    of the tokenizer, the package that ships it, further digests of its file, the implementations that gave the same
    ids, with the number of lines, and a :mod:`sweep <tokspec.suite.sweeps>` of its vocabulary.
    """

    suite: str
    implementation: Mapping[str, Any]
    choices: Mapping[str, str]
    model: Mapping[str, Any]
    special_tokens: str
    operations: tuple[str, ...]
    inputs: Mapping[str, Any]
    name: str = ""
    package: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    agreed: Sequence[Mapping[str, Any]] = ()
    sweep: Mapping[str, Any] = field(default_factory=dict)

    @property
    def who(self) -> str:
        """The name and the version of the implementation that answered."""
        return f"{self.implementation['name']} {self.implementation['version']}".strip()

    @property
    def hello(self) -> Hello:
        """The description of the implementation that answered, as far as it is recorded."""
        given = {name: self.implementation[name] for name in ("name", "version", "language")}
        return Hello(**given, operations=self.operations, choices=self.choices)

    def is_of(self, sha256: str) -> bool:
        """Return whether the recording was made with a file that has this SHA-256."""
        return sha256 in (self.model["sha256"], *self.files.values())

    def line(self) -> dict[str, Any]:
        """Return the first line of the file; empty optional fields are left out."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        optional = ("name", "package", "files", "agreed", "sweep")
        return {"tokspec_recording": FORMAT} | {
            name: value for name, value in given.items() if value or name not in optional
        }


# Writing


@dataclass
class Written:
    """The number of texts in a recording, and of their tokens."""

    records: int = 0
    tokens: int = 0


def write_recording(file: Path, header: Header, lines: Iterable[Mapping[str, Any]]) -> Written:
    """Write a recording, whole or not at all, and replace an existing file; compressed if the name ends in ``.gz``.

    Raises:
        DataError: it cannot be written, or a line would be longer than any that is read.
    """
    with open_whole(file) as stream:
        if not file.name.endswith(".gz"):
            return _write_lines(stream, header, lines)
        # always the same level, and neither a name nor a time, so that the same answers give the same bytes
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=stream, mtime=0) as compressed:
            return _write_lines(cast(BinaryIO, compressed), header, lines)


def _write_lines(stream: BinaryIO, header: Header, lines: Iterable[Mapping[str, Any]]) -> Written:
    written, sha256 = Written(), hashlib.sha256()

    def write(value: Mapping[str, Any], what: str) -> None:
        line = write_line(value)
        if len(line) > LONGEST_LINE:
            raise DataError(f"is answered with more than {LONGEST_LINE // 1024**2} MB; leave it out", key=what)
        sha256.update(line)
        stream.write(line)

    write(header.line(), "the model")
    for line in lines:
        write(line, line.get("from", ""))
        written.records += 1
        written.tokens += len(line.get("ids", line.get("tokens", ())))
    stream.write(write_line({"records": written.records, "sha256": sha256.hexdigest()}))
    return written


def write_line(value: Mapping[str, Any]) -> bytes:
    r"""Return a line of JSON without invisible characters; a text with a surrogate is in its byte-safe form.

    >>> write_line({"text": "ü"}).decode(), write_line({"text": "a\u200dü"}).decode()
    ('{"text":"ü"}\n', '{"text":"a\\u200dü"}\n')
    >>> write_line({"text": "\ud800"})
    b'{"text":{"hex":"eda080"}}\n'
    """
    line = _to_json(value)
    if SURROGATE.search(line):
        line = _to_json(to_hex_form(value))
    if not line.isprintable():
        line = "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in line)
    return f"{line}\n".encode()


_to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


# Reading


@dataclass(frozen=True)
class RecordingFile:
    """A complete recording: its file, its name in messages, its header, and the number of its lines."""

    file: Path
    name: str
    header: Header
    count: int

    def lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return the lines between header and footer with their numbers, in the form of this version.

        Raises:
            DataError: a line is not valid, with its number; the file has changed since it was read first.
        """
        is_old, is_old_pack = False, False
        for number, line in _lines(self.file, self.name):
            if number == 1:
                header = _parsed(line, number, self.name)
                is_old_pack = "tokspec_pack" in header
                is_old = not is_old_pack and header.get("tokspec_recording") != FORMAT
            elif number <= self.count + 1:
                value = _value(line, "line", number, self.name)
                if is_old and "ids" in value:
                    value.setdefault("decoded", None)  # there it was missing if ids were not decoded
                yield number, value


def is_recording(word: str) -> bool:
    """Return whether a word names an existing file that is, by its name, a recording.

    >>> is_recording("no such file.ndjson"), is_recording("reference")
    (False, False)
    """
    return without_compression(word).endswith(ENDINGS) and Path(word).exists()


def read_recording(file: Path, name: str = "") -> RecordingFile:
    """Read and check a recording; ``name`` is its name in messages.

    Raises:
        DataError: the first thing that is wrong with it, with file and line; also if it was cut off or edited.
    """
    name = name or str(file)
    sha256, number, previous, first = hashlib.sha256(), 0, b"", b""
    for number, line in _lines(file, name):  # noqa: B007, its last value is used
        first = first or line
        sha256.update(previous)
        previous = line
    if first.startswith(b'{"tokspec_pack"'):
        return _read_old_pack(file, name, first, number)
    header = _read_header(first, name)
    if not previous.startswith(b'{"records"'):
        raise DataError(f"ends without its footer: it was cut off; {_AGAIN}", name, number)
    footer = _value(previous, "footer", number, name)
    count = number - 2
    if footer["records"] != count:
        raise DataError(
            f"says that there are {footer['records']} records, but there are {count}; {_AGAIN}", name, number
        )
    if footer["sha256"] != sha256.hexdigest():
        raise DataError(_find_edit(file, name), name)
    return RecordingFile(file, name, header, count)


def _read_header(line: bytes, name: str) -> Header:
    if not line:
        raise DataError(f"is empty; {_AGAIN}", name)
    if not line.startswith(b'{"tokspec_recording"'):
        raise DataError("is not a recording: its first line is not a header; tokspec record writes one", name, 1)
    version = _parsed(line, 1, name)["tokspec_recording"]
    if version not in (1, FORMAT):
        version = shorten(compact(version))
        raise DataError(
            f"is of version {version} of the format, and this suite reads version {FORMAT}; record it again", name, 1
        )
    value = _value(line, "header", 1, name)
    given = {each.name: value[each.name] for each in fields(Header) if each.name in value}
    return Header(**{**given, "operations": tuple(given["operations"])})


def _read_old_pack(file: Path, name: str, line: bytes, lines: int) -> RecordingFile:
    """Read the header of a pack of tokspec 0.2, which starts with the library for which the file is made."""
    value = _value(line, "old_pack", 1, name)
    first, (published, sha256) = value["agreed"][0], next(iter(value["files"].items()))
    header = Header(
        suite=value["suite"],
        implementation={"name": first["name"], "version": first["version"], "language": ""},
        choices={},
        model={"file": published, "format": "", "sha256": sha256},
        special_tokens=PER_LINE,
        operations=("encode", "decode"),
        inputs={},
        name=value["name"],
        package=value.get("from", ""),
        files=value["files"],
        agreed=value["agreed"],
    )
    return RecordingFile(file, name, header, lines - 1)


def _find_edit(file: Path, name: str) -> str:
    """Say what was changed: the first invalid line, or that the line is not known."""
    try:
        for number, line in _lines(file, name):
            if number > 1 and not line.startswith(b'{"records"'):
                _value(line, "line", number, name)
    except DataError as error:
        raise error from None
    return f"was changed after it was written: its digest is another; {_AGAIN}"


def _lines(file: Path, name: str) -> Iterator[tuple[int, bytes]]:
    """Return the lines with their numbers, decompressed according to the ending of the file's name."""
    try:
        with open_ordinary(file, name) as stream:
            yield from _number_lines(decompress(stream, file.name), name)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", name) from None


def _number_lines(stream: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    number = 0
    while True:
        number += 1
        try:
            line = stream.readline(LONGEST_LINE + 1)
        except Exception as error:
            if not (why := describe_broken(error)):
                raise
            raise DataError(f"{why}; {_AGAIN}", name, number) from None
        if not line:
            return
        if len(line) > LONGEST_LINE:
            raise DataError(
                f"is longer than {LONGEST_LINE // 1024**2} MB, which no line of a recording may be", name, number
            )
        for magic, ending in _MAGIC.items():
            if number == 1 and line.startswith(magic):
                raise DataError(f"is compressed, but its name does not say so; end the name in {ending}", name)
        if not line.endswith(b"\n"):
            raise DataError(f"ends within a line: it was cut off; {_AGAIN}", name, number)
        # an editor or version control on another system may have changed the line ends
        yield number, line[:-2] + b"\n" if line.endswith(b"\r\n") else line


def _parsed(line: bytes, number: int, name: str) -> dict[str, Any]:
    try:
        return decode_line(line, float("inf"))
    except AdapterFault as fault:
        why = fault.message.removesuffix(f": {quote(line)}")  # the file and the line number are more useful
        raise DataError(f"{why}; was it edited? {_AGAIN}", name, number) from None


def _value(line: bytes, part: str, number: int, name: str) -> dict[str, Any]:
    """Read a line as a part of the schema: ``header``, ``old_pack``, ``line`` or ``footer``."""
    value = _parsed(line, number, name)
    for path, message in schema.errors(value, f"recording/{part}", every=False):
        raise DataError(f"{message}; was it edited? {_AGAIN}", name, number, ".".join(map(str, path)))
    # lines have ids and places, and to the schema a place of 1e308 is an integer
    if part == "line" and _FRACTION.search(line) and (number_of := _find_float(value)) is not None:
        raise DataError(f"{number_of} is not an integer; was it edited? {_AGAIN}", name, number)
    return value


def _find_float(value: Any) -> float | None:
    if isinstance(value, float):
        return value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((found for item in items if (found := _find_float(item)) is not None), None)
