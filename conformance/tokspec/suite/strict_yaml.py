"""Strict YAML: every YAML library reads the values that a person sees.

A file is read from the events of PyYAML's parser, so that the line of every value is known, and later checks can name
it. Beyond YAML's own rules this refuses duplicate keys, anchors and aliases, tags, several documents in a file,
unquoted scalars that some version of YAML converts to another value than it seems, and raw characters that a reader
cannot see.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from tokspec.base.errors import DataError
from tokspec.base.files import read_bounded

LARGEST = 4
"""The most megabytes of a file."""

DEEPEST = 50
"""The most levels to which lists and objects may be nested."""

KeyPath: TypeAlias = tuple[str | int, ...]

#: The most digits of an integer.
LONGEST = 300

#: How many unquoted scalars are cached with their values, because files use the same words again and again.
_REMEMBERED = 8192

_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+([eE][-+][0-9]+)?)?")
_CONSTANTS: Mapping[str, str | bool | None] = {"true": True, "false": False, "null": None}
#: Scalars that YAML 1.1 or 1.2 reads as a boolean, a null, a number, a date, a merge key or a value key.
_RETYPED = re.compile(
    r"y|n|yes|no|on|off|true|false|null|~|<<|=|"
    r"[-+]?(\.inf|\.nan)|[-+]?0[box][0-9a-f_]+|[-+]?\.?[0-9][0-9_]*(\.[0-9_]*)?(e[-+]?[0-9]+)?|"
    r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([t \t].*)?",
    re.IGNORECASE,
)

_HIDDEN = re.compile("[^ -~\n]")
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"}

#: The error of libyaml, from 0.2.6 on, for more than a thousand levels, which it raises before the first event.
_TOO_DEEP = "exceeded maximum nesting depth"

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Document:
    """The value of a file, the line of every path in it (``("cases", 3, "id")`` → 57), and the place of each scalar.

    ``spans`` are character ranges in the text, quotes included.
    """

    file: str
    value: Any
    lines: Mapping[KeyPath, int] = field(repr=False)
    spans: Mapping[KeyPath, tuple[int, int]] = field(repr=False)
    has_hex: bool = False
    """Whether a string in it may have the byte-safe form (PROTO-2)."""

    def error(self, path: KeyPath, message: str) -> DataError:
        """Build an error with the file, the line and the key of a path; a missing key has the line of its parent."""
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        return DataError(message, self.file, self.lines.get(known, 1), format_path(path))


def read_yaml(file: Path, name: str = "") -> Document:
    """Read one file; ``name`` is its name in errors.

    Raises:
        DataError: it is not valid; the error has file, line and key.
    """
    name = name or str(file)
    return parse_yaml(read_bounded(file, name, LARGEST), name)


def parse_yaml(text: str, name: str) -> Document:
    """Parse a text; ``name`` is its name in errors.

    Raises:
        DataError: it is not valid; the error has file, line and key.

    >>> parse_yaml("a: ['b']", "x.yaml").spans
    {('a', 0): (4, 7)}
    """
    _refuse_hidden(text, name)
    lines: dict[KeyPath, int] = {}
    spans: dict[KeyPath, tuple[int, int]] = {}
    try:
        value = _Reader(name, lines, spans, yaml.parse(text, Loader=_Loader)).document()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        if error.problem == _TOO_DEEP:
            raise DataError(f"is nested more than {DEEPEST} levels deep", name, line) from None
        raise DataError(f"is not YAML: {error.problem}", name, line) from None
    except yaml.YAMLError as error:
        raise DataError(f"is not YAML: {error}", name) from None
    return Document(name, value, lines, spans, "hex" in text)


@lru_cache(_REMEMBERED)
def plain_value(text: str) -> str | float | bool | None:
    """Return the value of an unquoted scalar.

    Raises:
        ValueError: its meaning depends on the version of YAML, or it is a number out of bounds; the message says so.

    >>> plain_value("word"), plain_value("1.5"), plain_value("null")
    ('word', 1.5, None)
    >>> plain_value("no")
    Traceback (most recent call last):
        ...
    ValueError: no means different things in YAML; put it in quotes
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _JSON_NUMBER.fullmatch(text):
        return _number(text)
    if text == "" or _RETYPED.fullmatch(text):
        raise ValueError(f"{text or 'an empty value'} means different things in YAML; put it in quotes")
    return text


def _number(text: str) -> float:
    if len(text) > LONGEST:
        raise ValueError(f"is a number of more than {LONGEST} digits")
    number = float(text) if "." in text else int(text)
    if number in (math.inf, -math.inf):
        raise ValueError(f"{text} is beyond the range of a double")
    if isinstance(number, int) and abs(number) >= 2**53:
        raise ValueError(f"{text} is beyond 2^53 - 1, so no message can contain it (PROTO-7)")
    return number


def format_path(path: KeyPath) -> str:
    """Return a path in the usual notation.

    >>> format_path(("cases", 3, "id"))
    'cases[3].id'
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _refuse_hidden(text: str, name: str) -> None:
    hidden = [each for each in set(_HIDDEN.findall(text)) if unicodedata.category(each) in _HIDDEN_CATEGORIES]
    if hidden:
        start = min(map(text.index, hidden))
        line, number = text.count("\n", 0, start) + 1, ord(text[start])
        escape = f"\\u{number:04X}" if number < 0x10000 else f"\\U{number:08X}"
        raise DataError(f"contains an invisible character; write it as {escape} in double quotes", name, line)


class _Reader:
    """Converts YAML's events to values; it holds the state that every level needs."""

    def __init__(
        self,
        file: str,
        lines: dict[KeyPath, int],
        spans: dict[KeyPath, tuple[int, int]],
        events: Iterator[yaml.Event],
    ) -> None:
        self.file = file
        self.lines = lines
        self.spans = spans
        self.events = events

    def error(self, event: yaml.Event, path: KeyPath, message: str) -> DataError:
        return DataError(message, self.file, _line(event), format_path(path))

    def document(self) -> Any:
        """Return the value of the one document."""
        start = next(event for event in self.events if not isinstance(event, yaml.StreamStartEvent))
        if isinstance(start, yaml.StreamEndEvent):
            raise DataError("is empty", self.file)
        value = self.value(next(self.events), ())
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                raise self.error(event, (), "begins a second document; keep one in a file")
        return value

    def value(self, event: yaml.Event, path: KeyPath) -> Any:
        self.lines[path] = _line(event)
        if isinstance(event, yaml.AliasEvent):
            raise self.error(event, path, "is an alias; write the value out")
        if getattr(event, "anchor", None) is not None:
            raise self.error(event, path, "has an anchor; leave it out, because nothing may refer to it")
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise self.error(event, path, f"has the tag {tag}; write plain values")
        if isinstance(event, yaml.ScalarEvent):
            self.spans[path] = _span(event)
            return self.scalar(event, path)
        if len(path) > DEEPEST:
            raise self.error(event, path[:3], f"is nested more than {DEEPEST} levels deep")
        return self.sequence(path) if isinstance(event, yaml.SequenceStartEvent) else self.mapping(path)

    def sequence(self, path: KeyPath) -> list[Any]:
        values: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            values.append(self.value(event, (*path, len(values))))
        return values

    def mapping(self, path: KeyPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.scalar(event, path) if isinstance(event, yaml.ScalarEvent) and event.tag is None else None
            if not isinstance(key, str):
                raise self.error(event, path, "has a key that is not a string; put it in quotes")
            if key in values:
                raise self.error(event, (*path, key), "appears twice; keep one")
            values[key] = self.value(next(self.events), (*path, key))
        return values

    def scalar(self, event: yaml.ScalarEvent, path: KeyPath) -> Any:
        text: str = event.value
        if event.style:
            return text
        try:
            return plain_value(text)
        except ValueError as error:
            raise self.error(event, path, str(error)) from None


def _line(event: Any) -> int:
    """Return the line on which an event starts, counted from 1."""
    line: int = event.start_mark.line
    return line + 1


def _span(event: Any) -> tuple[int, int]:
    return event.start_mark.index, event.end_mark.index
