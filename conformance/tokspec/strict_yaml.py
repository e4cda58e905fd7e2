"""YAML, read strictly: what a reader sees is what a program gets, in every YAML library.

Beyond YAML's own rules this refuses duplicate keys, anchors and aliases, tags, several documents in a file, unquoted
scalars that some version of YAML turns into something else than it looks like, and raw characters that a reader cannot
see. Every value's line is kept, so that later checks can name it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from tokspec.errors import DataError

__all__ = ["Document", "KeyPath", "read_yaml"]

KeyPath: TypeAlias = tuple[str | int, ...]

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+([eE][-+][0-9]+)?)?")
_CONSTANTS: Mapping[str, object] = {"true": True, "false": False, "null": None}
#: What YAML 1.1 or 1.2 would read as a boolean, a null, a number, a date, a merge key or a value key.
_RETYPED = re.compile(
    r"y|n|yes|no|on|off|true|false|null|~|<<|=|"
    r"[-+]?(\.inf|\.nan)|[-+]?0[box][0-9a-f_]+|[-+]?\.?[0-9][0-9_]*(\.[0-9_]*)?(e[-+]?[0-9]+)?|"
    r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([t \t].*)?",
    re.IGNORECASE,
)
_HIDDEN = re.compile("[^ -~\n]")
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"}


@dataclass(frozen=True)
class Document:
    """A file's value, and the line of every path in it (``("cases", 3, "id")`` → 57)."""

    file: str
    value: Any
    lines: Mapping[KeyPath, int]

    def error(self, path: KeyPath, message: str) -> DataError:
        """Make the error that names the file, the line and the key of a path; a missing key is named by its parent."""
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        return DataError(message, self.file, self.lines.get(known, 1), _key(path))


def read_yaml(file: Path, name: str = "") -> Document:
    """Read one file; ``name`` is how errors call it.

    Raises:
        DataError: with file, line and key.
    """
    name = name or str(file)
    try:
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 at byte {error.start}; save it as UTF-8", name, 1) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", name) from None
    _refuse_hidden(text, name)
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise DataError(f"is not YAML: {error.problem}", name, line) from None
    except yaml.YAMLError as error:
        raise DataError(f"is not YAML: {error}", name) from None
    lines: dict[KeyPath, int] = {}
    value = _Reader(name, lines).value(node, ()) if node else None
    return Document(name, value, lines)


def _refuse_hidden(text: str, name: str) -> None:
    for match in _HIDDEN.finditer(text):
        character = match[0]
        if unicodedata.category(character) in _HIDDEN_CATEGORIES:
            line = text.count("\n", 0, match.start()) + 1
            escape = f"\\u{ord(character):04X}" if ord(character) < 0x10000 else f"\\U{ord(character):08X}"
            raise DataError(f"holds a character that nobody can see; write it as {escape} in double quotes", name, line)


class _Reader:
    """Turns nodes into values; holds what every level needs."""

    def __init__(self, file: str, lines: dict[KeyPath, int]) -> None:
        self.file = file
        self.lines = lines
        self.seen: set[int] = set()

    def error(self, node: yaml.Node, path: KeyPath, message: str) -> DataError:
        return DataError(message, self.file, node.start_mark.line + 1, _key(path))

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        self.lines[path] = node.start_mark.line + 1
        if id(node) in self.seen:
            raise self.error(node, path, "is an alias; write the value out")
        self.seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, path)
        if isinstance(node, yaml.SequenceNode):
            self.plain_tag(node, path, "seq")
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        self.plain_tag(node, path, "map")
        return dict(self.items(node, path))

    def items(self, node: yaml.Node, path: KeyPath) -> Iterator[tuple[str, Any]]:
        keys: set[str] = set()
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.error(key_node, path, "has a key that is no string")
            key = self.scalar(key_node, path)
            if not isinstance(key, str):
                raise self.error(key_node, path, f"has the key {key_node.value}, which YAML retypes; put it in quotes")
            if key in keys:
                raise self.error(key_node, (*path, key), "is there twice; keep one")
            keys.add(key)
            yield key, self.value(value_node, (*path, key))

    def scalar(self, node: yaml.ScalarNode, path: KeyPath) -> Any:
        text: str = node.value
        if node.style:
            self.plain_tag(node, path, "str")
            return text
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if _JSON_NUMBER.fullmatch(text):
            return float(text) if "." in text else int(text)
        if text == "" or _RETYPED.fullmatch(text):
            raise self.error(node, path, f"{text or 'an empty value'} means different things in YAML; put it in quotes")
        if node.tag != "tag:yaml.org,2002:str":
            raise self.error(node, path, f"has the tag {node.tag}; write plain values")
        return text

    def plain_tag(self, node: yaml.Node, path: KeyPath, kind: str) -> None:
        if node.tag != f"tag:yaml.org,2002:{kind}":
            raise self.error(node, path, f"has the tag {node.tag}; write plain values")


def _key(path: KeyPath) -> str:
    """Write a path as people do: ``cases[3].id``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
