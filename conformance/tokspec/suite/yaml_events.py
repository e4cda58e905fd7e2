"""Every event of a YAML text, as values; what YAML allows and :mod:`tokspec.suite.strict_yaml` does not is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from tokspec.base.errors import DataError
from tokspec.suite.yaml_scalars import KeyPath, plain_value, written

__all__ = ["Everything", "read_all"]

#: How deep lists and objects may be nested.
DEEPEST = 50

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Everything:
    """A text's value, the line of every path in it, and between which characters every scalar stands."""

    value: Any
    lines: Mapping[KeyPath, int]
    spans: Mapping[KeyPath, tuple[int, int]]


def read_all(text: str, name: str) -> Everything:
    """Read a text; ``name`` is how errors call it.

    Raises:
        DataError: with file, line and key.

    >>> read_all("a: ['b']", "x.yaml").spans
    {('a', 0): (4, 7)}
    """
    lines: dict[KeyPath, int] = {}
    spans: dict[KeyPath, tuple[int, int]] = {}
    try:
        value = _Reader(name, lines, spans, yaml.parse(text, Loader=_Loader)).document()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise DataError(f"is not YAML: {error.problem}", name, line) from None
    except yaml.YAMLError as error:
        raise DataError(f"is not YAML: {error}", name) from None
    return Everything(value, lines, spans)


class _Reader:
    """Turns YAML's events into values; holds what every level needs."""

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
        return DataError(message, self.file, _line(event), written(path))

    def document(self) -> Any:
        """Give the value of the one document."""
        start = next(event for event in self.events if not isinstance(event, yaml.StreamStartEvent))
        if isinstance(start, yaml.StreamEndEvent):
            return None
        value = self.value(next(self.events), ())
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                raise self.error(event, (), "begins a second document; keep one in a file")
        return value

    def value(self, event: yaml.Event, path: KeyPath) -> Any:
        self.lines[path] = _line(event)
        if isinstance(event, yaml.AliasEvent):
            raise self.error(event, path, "is an alias; write the value out")
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise self.error(event, path, f"has the tag {tag}; write plain values")
        if isinstance(event, yaml.ScalarEvent):
            self.spans[path] = _span(event)
            return self.scalar(event, path)
        if len(path) > DEEPEST:
            raise self.error(event, path[:3], f"is nested more than {DEEPEST} deep")
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
                raise self.error(event, path, "has a key that is no string; put it in quotes")
            if key in values:
                raise self.error(event, (*path, key), "is there twice; keep one")
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
    """Give the line on which an event starts, counted from 1."""
    line: int = event.start_mark.line
    return line + 1


def _span(event: Any) -> tuple[int, int]:
    return event.start_mark.index, event.end_mark.index
