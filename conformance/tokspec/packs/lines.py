"""The lines of a pack's file, and the values in them: each is what it has to be, or one error with its line and key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import jsonschema_rs

from tokspec.base.display import compact, shorten
from tokspec.base.errors import DataError
from tokspec.base.files import open_ordinary
from tokspec.packs.notation import read_value
from tokspec.records.streams import broken, decompressed

__all__ = ["UNDO", "WHOLE", "errors_of", "lines_of", "refuse_errors", "value_of"]

#: What to do about a pack that was edited, and about one that is not whole.
UNDO = "undo the edit, or freeze again"
WHOLE = "take it from where it is whole, or freeze again"

#: Bytes of the longest line: a text has no more than a megabyte, and what it becomes not a hundred times that.
_LONGEST = 256 * 1024 * 1024

#: How JSON in ASCII has a surrogate, lone or not.
_SURROGATE = re.compile(r"\\ud[89a-f][0-9a-f]{2}")

#: What a file begins with that is compressed, whatever its name says.
_COMPRESSED = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}


def lines_of(file: Path, name: str) -> Iterator[tuple[int, bytes]]:
    """Return the lines with their numbers, decompressed as the end of the file's name says.

    Raises:
        DataError: the file cannot be read, or is not whole.
    """
    try:
        with open_ordinary(file, name) as stream:
            yield from _numbered(decompressed(stream, file.name), name)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", name) from None


def _numbered(stream: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    number = 0
    while True:
        number += 1
        try:
            line = stream.readline(_LONGEST)
        except Exception as error:
            why = broken(error)
            if not why:
                raise
            raise DataError(f"{why}; {WHOLE}", name, number) from None
        if not line:
            return
        if len(line) == _LONGEST and not line.endswith(b"\n"):
            raise DataError(f"is longer than {_LONGEST // 1024**2} MB; no line of a pack is; {WHOLE}", name, number)
        if number == 1:
            _refuse_compressed(line, name)
        # an editor of another system may have exchanged the ends of lines; nothing else of them is taken
        yield number, line[:-2] + b"\n" if line.endswith(b"\r\n") else line


def _refuse_compressed(line: bytes, name: str) -> None:
    for beginning, ending in _COMPRESSED.items():
        if line.startswith(beginning):
            raise DataError(f"is compressed, and its name does not say so; let it end in {ending}", name)


def value_of(text: bytes, number: int, name: str, key: str = "") -> Any:
    """Read the value of a line.

    Raises:
        DataError: it is none.

    >>> value_of(b'"0.1.0"', 2, "pack.yaml", "suite")
    '0.1.0'
    """
    try:
        return read_value(text)
    except UnicodeDecodeError:
        why = "is not UTF-8"
    except json.JSONDecodeError as error:
        column = error.pos + 1 + len(f"{key}: " if key else "- ")
        why = f"is no JSON at character {column} ({error.msg.removesuffix(' at')})"
    except ValueError as error:
        why = str(error)
    except RecursionError:
        why = "is nested too deep"
    raise DataError(f"{why}; was it edited, or cut off? {UNDO}", name, number, key)


def refuse_errors(value: Any, part: str, number: int, name: str) -> None:
    """Refuse what is no value of a part of the schema: ``header``, ``record`` or ``footer``.

    Raises:
        DataError: the first thing that is wrong.

    >>> refuse_errors({"from": "texts/words:bug", "text": 3, "crc": "00000000"}, "record", 12, "pack.yaml")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: pack.yaml:12: text: 3 is not of type "string"; undo the edit, or freeze again
    """
    for path, message in errors_of(value, part):
        raise DataError(message, name, number, ".".join(map(str, path)))


def errors_of(value: Any, part: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Return what is wrong with a value, unknown keys first: the path, and a sentence.

    >>> next(errors_of({"counts": {}, "sha": ""}, "footer"))
    (('sha',), 'is an unknown key; undo the edit, or freeze again')
    """
    validator = _validator(part)
    try:
        if validator.is_valid(value):
            return
        found = list(validator.iter_errors(value))
    except UnicodeEncodeError:  # the validator cannot take a lone surrogate
        found = list(validator.iter_errors(json.loads(_SURROGATE.sub(r"\\ufffd", json.dumps(value)))))
    for error in found:
        for key in getattr(error.kind, "unexpected", ()):
            yield (*error.instance_path, key), f"is an unknown key; {UNDO}"
    for error in found:
        if not hasattr(error.kind, "unexpected"):
            yield tuple(error.instance_path), f"{shorten(_message(error), 240)}; {UNDO}"


@cache
def _validator(part: str) -> jsonschema_rs.Draft202012Validator:
    schema = json.loads(Path(__file__).with_name("schema.json").read_text("utf-8"))
    return jsonschema_rs.Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{part}"})


def _message(error: jsonschema_rs.ValidationError) -> str:
    if hasattr(error.kind, "property"):
        return f"lacks the key {error.kind.property}"
    if hasattr(error.kind, "options"):
        return f"{compact(error.instance)} is none of {', '.join(map(str, error.kind.options))}"
    return error.message
