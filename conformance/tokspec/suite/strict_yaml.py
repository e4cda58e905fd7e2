"""YAML, read strictly: what a reader sees is what a program gets, in every YAML library.

Beyond YAML's own rules this refuses duplicate keys, anchors and aliases, tags, several documents in a file, unquoted
scalars that some version of YAML turns into something else than it looks like, and raw characters that a reader cannot
see. Every value's line is kept, so that later checks can name it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokspec.base.errors import DataError
from tokspec.base.files import read_bounded
from tokspec.suite.quick_yaml import read_quickly
from tokspec.suite.yaml_scalars import KeyPath, written

if TYPE_CHECKING:
    from tokspec.suite.yaml_events import Everything

__all__ = ["Document", "parse_yaml", "read_yaml"]

#: How large a file may be, in megabytes.
LARGEST = 4

_HIDDEN = re.compile("[^ -~\n]")
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"}


@dataclass(frozen=True)
class Document:
    """A file's value, and where in its text everything stands; ``items`` are lines that are known without a look."""

    file: str
    value: Any
    text: str = field(repr=False)
    items: Mapping[KeyPath, int] = field(default_factory=dict, repr=False)

    @cached_property
    def _everything(self) -> Everything:
        return _read_all(self.text, self.file)

    @property
    def lines(self) -> Mapping[KeyPath, int]:
        """The line of every path (``("cases", 3, "id")`` → 57)."""
        return self._everything.lines

    @property
    def spans(self) -> Mapping[KeyPath, tuple[int, int]]:
        """Between which characters of the text every scalar stands, quotes included."""
        return self._everything.spans

    @cached_property
    def has_hex(self) -> bool:
        """Whether a string in it may have the byte-safe form (PROTO-2)."""
        return "hex" in self.text

    def line(self, path: KeyPath) -> int:
        """Give the line of a path."""
        return self.items.get(path) or self.lines[path]

    def error(self, path: KeyPath, message: str) -> DataError:
        """Make the error that names the file, the line and the key of a path; a missing key is named by its parent."""
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        return DataError(message, self.file, self.lines.get(known, 1), written(path))


def read_yaml(file: Path, name: str = "") -> Document:
    """Read one file; ``name`` is how errors call it.

    Raises:
        DataError: with file, line and key.
    """
    name = name or str(file)
    return parse_yaml(read_bounded(file, name, LARGEST), name)


def parse_yaml(text: str, name: str) -> Document:
    """Read a text; ``name`` is how errors call it.

    Raises:
        DataError: with file, line and key.

    >>> parse_yaml("a: ['b']", "x.yaml").spans
    {('a', 0): (4, 7)}
    """
    _refuse_hidden(text, name)
    quick = read_quickly(text)
    if quick is not None:
        return Document(name, quick.value, text, quick.lines)
    everything = _read_all(text, name)
    return Document(name, everything.value, text, everything.lines)


def _read_all(text: str, name: str) -> Everything:
    from tokspec.suite.yaml_events import read_all  # here, because its parser takes a while, and few files need it

    return read_all(text, name)


def _refuse_hidden(text: str, name: str) -> None:
    hidden = [each for each in set(_HIDDEN.findall(text)) if unicodedata.category(each) in _HIDDEN_CATEGORIES]
    if hidden:
        start = min(map(text.index, hidden))
        line, number = text.count("\n", 0, start) + 1, ord(text[start])
        escape = f"\\u{number:04X}" if number < 0x10000 else f"\\U{number:08X}"
        raise DataError(f"holds a character that nobody can see; write it as {escape} in double quotes", name, line)
