"""Texts in JSON Lines: a field of the object on each line, or the string that is there instead."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from tokspec.records.kept import BadRecord, Reading, Record
from tokspec.records.lines import byte_lines

__all__ = ["json_lines"]


def json_lines(stream: BinaryIO, reading: Reading) -> Iterator[Record | BadRecord]:
    """Return the text of every line that is not blank.

    >>> import io
    >>> for record in json_lines(io.BytesIO(b'{"text": "bug"}\\n{"id": 1}\\n'), Reading("a.jsonl", "text", 10)):
    ...     print(record)
    Record(text='bug', file='a.jsonl', number=1, offset=0)
    a.jsonl:2: has no field text; it has id (at byte 16)
    """
    for found in byte_lines(stream, reading):
        if isinstance(found, BadRecord):
            yield found
        elif found[0].strip():
            yield _text(*found, reading)


def _text(line: bytes, number: int, offset: int, reading: Reading) -> Record | BadRecord:
    try:
        value = _at(json.loads(line.decode("utf-8")), reading.field)
    except UnicodeDecodeError as error:
        return reading.bad(f"is not UTF-8 at its byte {error.start}", number, offset)
    except (ValueError, RecursionError):  # the first is also what json says of it
        return reading.bad("is no JSON", number, offset)
    except KeyError as error:
        return reading.bad(str(error.args[0]), number, offset)
    if isinstance(value, str):
        return reading.text(value, number, offset)
    return reading.bad(f"has in the field {reading.field} no string", number, offset)


def _at(value: Any, field: str) -> Any:
    """Return what a field holds; a string instead of an object is the text itself.

    Raises:
        KeyError: with a message, if there is no such field.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        raise KeyError("is neither an object nor a string")
    if field in value:
        return value[field]
    first, dot, rest = field.partition(".")
    if dot and isinstance(value.get(first), dict):
        return _at(value[first], rest)
    raise KeyError(f"has no field {field}; it has {', '.join(map(str, list(value)[:8])) or 'none'}")
