"""Recordings: what a side answered to many texts with a user's model, to be compared with later.

A recording is NDJSON, compressed if its name says so: a header, a line for each text, and a footer with their number
and the SHA-256 of all lines before. It is the same, byte for byte, whenever the same is recorded; one that was cut off
or edited is refused. It is evidence of what was answered, not of what is right.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, cast

import jsonschema_rs

from tokspec import __version__
from tokspec.adapter import Hello
from tokspec.base.display import compact, shorten
from tokspec.base.errors import DataError
from tokspec.base.files import open_ordinary, open_whole
from tokspec.compare.answers import Asker, Input, Record, is_record_brief, is_token, keep_ids
from tokspec.compare.inputs import decompress, describe_broken, without_compression
from tokspec.compare.models import summarize
from tokspec.compare.texts import texts_hash
from tokspec.formats.user_model import UserModel, read_user_model
from tokspec.judge.verdicts import effective_choices
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.suite.fixtures import load_suite
from tokspec.suite.packs import ENDING
from tokspec.suite.packs import write_line as write_line_of_pack

#: The version of the format.
FORMAT = 1

#: Bytes of the longest line. A text has 64 kB at the most, and what it becomes not a hundred times that; whatever is
#: compressed into a longer line is refused before it is decompressed.
LONGEST_LINE = 16 * 1024**2

#: For each operation, the keys of its result and their names in a recording.
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "normalize": {"text": "normalized"},
    "pre_tokenize": {"pieces": "pieces"},
    "encode": {"tokens": "tokens", "ids": "ids", "spans": "spans"},
    "decode": {"text": "decoded"},
}

#: What a pack may be called.
_PACK = re.compile(r"[a-z0-9][a-z0-9.-]*")

_AGAIN = "take it from where it is whole, or record it again"

#: What a file begins with that is compressed, whatever its name says.
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}


@dataclass(frozen=True)
class Header:
    """What a recording says of itself; there is nothing in it of the machine or the time at which it was made.

    ``fixtures`` and ``texts`` are hashes of the suite's. ``model`` is what :func:`.models.summarize` returns,
    ``special_tokens`` says whether those of a post-processor are ``added``, ``not added``, or as whoever calls
    an object gets them, and ``inputs`` says where the texts come from.
    """

    suite: str
    fixtures: str
    texts: str
    implementation: Mapping[str, Any]
    choices: Mapping[str, str]
    model: Mapping[str, Any]
    special_tokens: str
    operations: tuple[str, ...]
    inputs: Mapping[str, Any]

    @property
    def who(self) -> str:
        """The name and the version of whoever answered."""
        return f"{self.implementation['name']} {self.implementation['version']}".strip()

    @property
    def hello(self) -> Hello:
        """A description of whoever answered, as far as it is recorded."""
        given = {name: self.implementation[name] for name in ("name", "version", "language")}
        return Hello(**given, operations=self.operations, choices=self.choices)


def header_of(asker: Asker, special_tokens: str, inputs: Mapping[str, Any]) -> Header:
    """Return the header of a recording of an implementation with its model."""
    hello = asker.hello
    identity = {"name": hello.name, "version": hello.version, "language": hello.language}
    return Header(
        suite=__version__,
        fixtures=load_suite().hash,
        texts=texts_hash(),
        implementation={**identity, "unicode": hello.unicode} if hello.unicode else identity,
        choices=effective_choices(hello),
        model=summarize(asker.model),
        special_tokens=special_tokens,
        operations=asker.operations,
        inputs=inputs,
    )


# Writing


@dataclass
class Written:
    """How many texts a recording has, and how many tokens they have."""

    records: int = 0
    tokens: int = 0


def write_recording(file: Path, header: Header, records: Iterable[Record]) -> Written:
    """Write a recording in place of whatever is there, whole or not at all; compressed if the name ends in ``.gz``.

    Raises:
        DataError: it cannot be written, or a line would be longer than any that is read.
    """
    with open_whole(file) as stream:
        if not file.name.endswith(".gz"):
            return _write_lines(stream, header, records)
        # the same level always, and neither a name nor a time, so that the same has the same bytes
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=stream, mtime=0) as compressed:
            return _write_lines(cast(BinaryIO, compressed), header, records)


def write_pack(file: Path, asker: Asker, adds: bool, records: Iterable[Record]) -> Written:
    """Write a pack of a user's own file, which ports in any language read: texts with ids, and what these decode to.

    A text without ids is left out, and a text is in a pack once.

    Raises:
        DataError: it cannot be written, or its name is none for a pack.
    """
    name = file.name.removesuffix(ENDING)
    if not _PACK.fullmatch(name):
        message = f"needs a name of small letters, digits, dots and hyphens before {ENDING}"
        raise DataError(message, str(file), key="--output")
    option = {"add_special_tokens": adds} if asker.options["encode"] else {}
    lines, written = dict[str, dict[str, Any]](), Written()
    for record in records:
        encoded, decoded = record.replies.get("encode"), record.replies.get("decode")
        ids = encoded.result.get("ids") if isinstance(encoded, Answer) else None
        text = record.input.text
        if ids is None or None in ids or text in lines or record.input.section.startswith("skipped/"):
            continue
        lines[text] = {"text": text, **option, "ids": ids}
        came = decoded.result.get("text") if isinstance(decoded, Answer) else None
        if is_token(record.input) and is_record_brief(record) and ids != [int(record.input.name)]:
            came = None  # it is what the token's own id is decoded to
        if came != text:
            lines[text]["decoded"] = came
        written.records += 1
        written.tokens += len(ids)
    who = {"name": asker.hello.name, "version": asker.hello.version, "lines": len(lines)}
    header = {"tokspec_pack": 1, "name": name, "files": {asker.model.name: asker.model.sha256}, "agreed": [who]}
    with open_whole(file) as stream:
        stream.writelines(map(write_line_of_pack, ({**header, "suite": __version__}, *lines.values())))
    return written


def _write_lines(stream: BinaryIO, header: Header, records: Iterable[Record]) -> Written:
    written, sha256 = Written(), hashlib.sha256()

    def write(value: Mapping[str, Any], what: str) -> None:
        line = write_line(value)
        if len(line) > LONGEST_LINE:
            raise DataError(f"is answered with more than {LONGEST_LINE // 1024**2} MB; leave it out", key=what)
        sha256.update(line)
        stream.write(line)

    write({"tokspec_recording": FORMAT, **asdict(header)}, "the model")
    for record in records:
        write(_write_record(record), record.input.place)
        written.records += 1
        written.tokens += len(record.tokens)
    stream.write(write_line({"records": written.records, "sha256": sha256.hexdigest()}))
    return written


def write_line(value: Mapping[str, Any]) -> bytes:
    r"""Return a line of JSON in which nothing is invisible: whatever has such a character is written in ASCII.

    >>> write_line({"text": "ü"}).decode(), write_line({"text": "a\u200dü"}).decode()
    ('{"text": "ü"}\n', '{"text": "a\\u200d\\u00fc"}\n')
    """
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return f"{line if line.isprintable() else json.dumps(value)}\n".encode()


def _write_record(record: Record) -> dict[str, Any]:
    value: dict[str, Any] = {"from": record.input.place, "text": record.input.text}
    refused, faults = {}, {}
    for operation, names in _FIELDS.items():
        reply = record.replies.get(operation)
        if isinstance(reply, Answer):
            value |= {name: reply.result[key] for key, name in names.items() if key in reply.result}
        elif isinstance(reply, Refused):
            refused[operation] = reply.reason
        elif isinstance(reply, Fault):
            faults[operation] = reply.kind
    return value | {name: said for name, said in (("refused", refused), ("faults", faults)) if said}


def _read_record(value: Mapping[str, Any], line: int) -> Record:
    section, _, name = value["from"].rpartition(":")
    replies: dict[str, Reply] = {}
    for operation, names in _FIELDS.items():
        result = {key: value[called] for key, called in names.items() if called in value}
        if result:
            replies[operation] = Answer(result)
    replies |= {operation: Refused(reason, "") for operation, reason in value.get("refused", {}).items()}
    replies |= {operation: Fault(kind, "is recorded") for operation, kind in value.get("faults", {}).items()}
    return Record(Input(section, name, value["text"]), replies, line)


# Reading


@dataclass(frozen=True)
class Recording:
    """A recording that is whole; ``ids_alone`` is whether nothing but ids is read from it."""

    file: Path
    name: str
    header: Header
    count: int
    ids_alone: bool = False

    def records(self) -> Iterator[Record]:
        """Return the records, in order.

        Raises:
            DataError: a record is none, with its line; the file has changed since it was read first.
        """
        for number, line in _lines(self.file, self.name):
            if 1 < number <= self.count + 1:
                record = _read_record(_value(line, "record", number, self.name), number)
                yield keep_ids(record) if self.ids_alone else record


def is_recording(word: str) -> bool:
    """Whether a word names a file that is, by its name, a recording.

    >>> is_recording("no such file.ndjson"), is_recording("reference")
    (False, False)
    """
    return without_compression(word).endswith(".ndjson") and Path(word).exists()


def read_recording(file: Path, name: str = "") -> Recording:
    """Look through a recording; ``name`` is what messages call it.

    Raises:
        DataError: the first thing that is wrong with it, with file and line; also if it was cut off or edited.
    """
    name = name or str(file)
    sha256, number, previous, header = hashlib.sha256(), 0, b"", b""
    for number, line in _lines(file, name):  # noqa: B007, its last value is used
        header = header or line
        sha256.update(previous)
        previous = line
    if not header.startswith(b'{"tokspec_recording": '):
        raise _no_recording(header, name)
    value = json.loads(header) if _is_json(header) else {}
    if value.get("tokspec_recording") != FORMAT:
        version = shorten(compact(value.get("tokspec_recording")))
        found = f"is of version {version} of the format" if value else "is no JSON"
        raise DataError(f"{found}, and this suite reads version {FORMAT}; record it again", name, 1)
    values = _value(header, "header", 1, name)
    if not previous.startswith(b'{"records": '):
        raise DataError(f"ends without its footer: it was cut off; {_AGAIN}", name, number)
    footer = _value(previous, "footer", number, name)
    count = number - 2
    if footer["records"] != count:
        raise DataError(
            f"says that there are {footer['records']} records, and there are {count}; {_AGAIN}", name, number
        )
    if footer["sha256"] != sha256.hexdigest():
        raise DataError(_find_edit(file, name), name)
    given = {each.name: values[each.name] for each in fields(Header)}
    return Recording(file, name, Header(**{**given, "operations": tuple(given["operations"])}), count)


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _no_recording(line: bytes, name: str) -> DataError:
    if not line:
        return DataError(f"is empty; {_AGAIN}", name)
    return DataError("is no recording: its first line is no header; tokspec record writes one", name, 1)


def _find_edit(file: Path, name: str) -> str:
    """Say what was changed: the first line that is none, or that it is not known which."""
    try:
        for number, line in _lines(file, name):
            if line.startswith(b'{"from": ') or (not line.startswith(b'{"records": ') and number > 1):
                _value(line, "record", number, name)
    except DataError as error:
        raise error from None
    return f"was changed after it was written: its digest is another; {_AGAIN}"


def _lines(file: Path, name: str) -> Iterator[tuple[int, bytes]]:
    """Return the lines with their numbers, decompressed as the end of the file's name says."""
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
            raise DataError(f"is longer than {LONGEST_LINE // 1024**2} MB, as no line of a recording is", name, number)
        for magic, ending in _MAGIC.items():
            if number == 1 and line.startswith(magic):
                raise DataError(f"is compressed, and its name does not say so; let it end in {ending}", name)
        if not line.endswith(b"\n"):
            raise DataError(f"ends within a line: it was cut off; {_AGAIN}", name, number)
        # an editor or version control of another system may have exchanged the ends of lines
        yield number, line[:-2] + b"\n" if line.endswith(b"\r\n") else line


def _value(line: bytes, part: str, number: int, name: str) -> Any:
    """Read a line as a part of the schema: ``header``, ``record`` or ``footer``."""
    try:
        # a record has ids and places, and a place of 1e308 is an integer to the schema
        value = json.loads(line, parse_float=_refuse_float if part == "record" else float)
    except _NotAnInteger as error:
        raise DataError(f"{error} is not an integer; was it edited? {_AGAIN}", name, number) from None
    except UnicodeDecodeError:
        raise DataError(f"is not UTF-8; was it edited? {_AGAIN}", name, number) from None
    except json.JSONDecodeError as error:
        why = f"is no JSON at character {error.pos + 1} ({error.msg.removesuffix(' at')})"
        raise DataError(f"{why}; was it edited? {_AGAIN}", name, number) from None
    except ValueError:
        raise DataError(f"has an integer that is too long; was it edited? {_AGAIN}", name, number) from None
    except RecursionError:
        raise DataError(f"is nested too deep; was it edited? {_AGAIN}", name, number) from None
    validator = _validator(part)
    try:
        wrong = next(validator.iter_errors(value), None)
    except UnicodeEncodeError:  # the validator cannot take a lone surrogate
        wrong = next(validator.iter_errors(json.loads(json.dumps(value).replace("\\ud", "\\ue"))), None)
    if wrong is not None:
        message = shorten(wrong.message, 240)
        raise DataError(f"{message}; was it edited? {_AGAIN}", name, number, ".".join(map(str, wrong.instance_path)))
    return value


class _NotAnInteger(Exception):
    """A number with a fraction or an exponent."""


def _refuse_float(digits: str) -> float:
    raise _NotAnInteger(shorten(digits, 40))


@cache
def _validator(part: str) -> jsonschema_rs.Draft202012Validator:
    schema = json.loads(Path(__file__).with_name("recording.schema.json").read_text("utf-8"))
    return jsonschema_rs.Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{part}"})


# The model of a recording


def find_model(recording: Recording, *, may_differ: bool = False) -> UserModel:
    """Read the model with which a recording was made: it lies beside it or in this folder.

    ``may_differ`` is whether it may have changed in its place; whoever allows it says how it did.

    Raises:
        DataError: it cannot be read, or is not there.
    """
    model = recording.header.model
    places = [folder / model["file"] for folder in (recording.file.parent, Path())]
    found = [read_user_model(place, model["format"]) for place in places if place.exists()]
    same = [each for each in found if each.sha256 == model["sha256"]]
    if same or (found and may_differ):
        return (same or found)[0]
    where = "and what has that name now is another" if found else "which is neither beside it nor here"
    what = f"was made with {model['file']} (sha256 {model['sha256'][:12]}…), {where}"
    raise DataError(f"{what}; give --model", recording.name)
