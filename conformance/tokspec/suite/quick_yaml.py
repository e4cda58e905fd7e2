"""The part of YAML in which fixtures are written, read several times as fast as by a parser of all of it.

Block mappings and lists, each entry on a line of its own; in them words, numbers, text in double quotes and flow
collections of these, which may go on in deeper lines. Whatever else there is, and whatever is wrong, is left to
:mod:`tokspec.suite.strict_yaml`, the judge of what a text means: what is read here is what is read there, and a test
holds them together. What YAML and JSON write alike is read by the parser of JSON, value by value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

from tokspec.suite.yaml_scalars import KeyPath, plain_value

__all__ = ["Quick", "read_quickly"]

#: How deep blocks may be nested, and how many openings of a value within them are not too many, nested or not; together
#: they are what the strict reader allows.
_BLOCKS = 10
_OPENINGS = 40
_NESTED = (list, dict)

#: How many values and words are remembered in their form as JSON: more than the fixtures have.
_REMEMBERED = 8192

_WORD = r"(?:[A-Za-z0-9_]|-[0-9])[A-Za-z0-9_./+-]*+"
_NUMBER = r"-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,25})?+(?=[],}\n]|\Z)"
#: A text whose escapes JSON reads in the same way, or that :func:`_escape_of_json` rewrites.
_TEXT = (
    r'"(?:[^"\\]++|\\(?:["\\bfnrt\n]|x[0-9a-fA-F]{2}|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|'
    r'U00(?:0[1-9a-fA-F]|10)[0-9a-fA-F]{4}))*+"(?!:)'
)
#: Keys stand on one line, directly before their colon; what follows a colon or a comma is separated from it.
_KEY = r'"[^"\\\n]{0,99}": '

_ENTRY = re.compile(r'(- +)?(?:([A-Za-z_][A-Za-z0-9_-]{0,99})|"([^"\\]{0,99})"):(?: +(.*))?')
_ITEM = re.compile(r"(- +)([^ ].*)")
_SIMPLE = re.compile(r'"([^"\\\n]*+)"')
_PLAIN = re.compile(_WORD)
_UNTIL_WORD = re.compile(rf"((?:[\[\]{{}} \n]|,(?=[ \n])|{_TEXT}|{_KEY}|{_NUMBER})*+)(?:({_WORD})(: )?|\Z|([^\n]))")
_ESCAPE = re.compile(r"\\(?:U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(\n)|.)")


class _Unusual(Exception):
    """Something is not read here."""


@dataclass(frozen=True)
class Quick:
    """What was read, and the line of each item of a block list."""

    value: Any
    lines: Mapping[KeyPath, int]


def read_quickly(text: str) -> Quick | None:
    """Read a text without hidden characters; nothing is given if it is not of the form that is read here.

    >>> read_quickly('cases:\\n  - {id: one, spans: [[0, 1]]}\\n')
    Quick(value={'cases': [{'id': 'one', 'spans': [[0, 1]]}]}, lines={('cases', 0): 2})
    >>> read_quickly("a: 'b'\\n") is None
    True
    """
    try:
        return _Blocks().read(text)
    except (_Unusual, ValueError, RecursionError):
        return None


class _Block(NamedTuple):
    """A mapping or a list whose entries have this indent, and where it is."""

    indent: int
    value: Any
    path: KeyPath


class _Blocks:
    """Reads lines one after the other into the innermost of the open blocks.

    What the latest entry holds is in ``parts`` until it is complete. It goes to ``place`` of ``block``; where it holds
    nothing, it is a block that begins in the next line.
    """

    def __init__(self) -> None:
        self.open: list[_Block] = []
        self.block = _Block(-1, [None], ())
        self.place: str | int = 0
        self.parts: list[str] | None = []
        self.lines: dict[KeyPath, int] = {}

    def read(self, text: str) -> Quick:
        for number, line in enumerate(text.split("\n"), 1):
            content = line.lstrip(" ")
            indent = len(line) - len(content)
            if self.parts and content and indent > self.block.indent:
                self.parts.append(content.rstrip(" "))
            elif content and content[0] != "#":
                self.begin(number, indent, content)
            elif self.parts:
                self.finish()
        self.finish()
        return Quick(self.open[0].value, self.lines)

    def begin(self, number: int, indent: int, content: str) -> None:
        """Take the first line of an entry."""
        entry = _ENTRY.fullmatch(content)
        dash, word, text, rest = entry.groups() if entry else (None, None, None, None)
        if entry is None:
            found = _ITEM.fullmatch(content)
            if found is None and self.open and self.parts == [] and indent > self.block.indent:  # the value of a key
                self.parts.append(content.rstrip(" "))
                return
            dash, rest = (found or _refuse()).groups()
        if self.parts is None or self.parts:
            self.finish()
            if indent != self.block.indent:
                self.close(indent)
        else:
            self.nest(indent, [] if dash else {})
        if dash:
            self.item(number)
        if entry:
            if dash:
                self.nest(indent + len(dash), {})
            self.key(_word(word) if word else text or "")
        self.parts = [rest.rstrip(" ")] if rest else []

    def nest(self, indent: int, value: Any) -> None:
        """Open a block as the value of the latest entry."""
        path = (*self.block.path, self.place) if self.open else ()
        if indent <= self.block.indent or (not self.open and indent) or len(path) > _BLOCKS:
            _refuse()
        self.block.value[self.place] = value
        self.block = _Block(indent, value, path)
        self.open.append(self.block)

    def close(self, indent: int) -> None:
        """Go back to the block whose entries have this indent."""
        while self.block.indent > indent:
            self.open.pop()
            self.block = self.open[-1] if self.open else _refuse()
        if self.block.indent != indent:
            _refuse()

    def item(self, number: int) -> None:
        values = self.block.value
        if type(values) is not list:
            _refuse()
        self.place = len(values)
        self.lines[*self.block.path, self.place] = number
        values.append(None)

    def key(self, name: str) -> None:
        values = self.block.value
        if type(values) is not dict or name in values:
            _refuse()
        self.place = name
        values[name] = None

    def finish(self) -> None:
        """Read the value of the latest entry, unless that was done."""
        if self.parts is not None:
            self.block.value[self.place] = _value("\n".join(self.parts))
            self.parts = None


def _word(key: str) -> str:
    return key if type(plain_value(key)) is str else _refuse()


def _value(text: str) -> Any:
    """Read a value that is no block."""
    if simple := _SIMPLE.fullmatch(text):
        return simple[1]
    if _PLAIN.fullmatch(text):
        return plain_value(text)
    line = _line_of_json(text)
    value, end = _decode(line)
    if end != len(line) or (line.count("[") + line.count("{") > _OPENINGS and _is_deep(value)):
        _refuse()
    return value


@lru_cache(_REMEMBERED)
def _line_of_json(text: str) -> str:
    """Write a value as JSON, in one line; what is no JSON then is not read here."""
    line = _UNTIL_WORD.sub(_as_json, text)
    if "\\x" in line or "\\U" in line or "\\\n" in line:
        line = _ESCAPE.sub(_escape_of_json, line)
    return line.replace("\n", " ")


def _as_json(found: re.Match[str]) -> str:
    before, word, colon, wrong = found.groups()
    if wrong or (colon and len(word) > 99):
        _refuse()
    return f"{before}{_word_as_json(word)}{colon or ''}" if word else before


@lru_cache(_REMEMBERED)
def _word_as_json(word: str) -> str:
    return json.dumps(plain_value(word))


def _escape_of_json(found: re.Match[str]) -> str:
    """Write an escape of YAML that JSON does not have as JSON does; the end of a line is nothing."""
    eight, two, end = found.groups()
    number = eight or two
    return json.dumps(chr(int(number, 16)))[1:-1] if number else "" if end else found[0]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    return made if len(made) == len(pairs) else _refuse()


_decode = json.JSONDecoder(object_pairs_hook=_object).raw_decode


def _is_deep(value: Any) -> bool:
    """Whether a list or an object is nested deep."""
    level = [value]
    for _ in range(_OPENINGS):
        inner = [each.values() if type(each) is dict else each for each in level]
        level = [item for each in inner for item in each if type(item) in _NESTED]
        if not level:
            return False
    return True


def _refuse() -> NoReturn:
    raise _Unusual
