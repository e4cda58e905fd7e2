"""Spans of results, converted from the unit in which one implementation counts to that of another (TERM-3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any

__all__ = ["convert_spans"]

#: How many units a character takes, by the options of the choice ``offset_unit``.
UNITS: Mapping[str, Callable[[str], int]] = {
    "code_point": len,
    "byte": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
}


def convert_spans(result: Mapping[str, Any], text: str, wanted: str, unit: str = "code_point") -> Mapping[str, Any]:
    """Convert the spans and pieces of a result for ``text`` from ``unit`` to the unit ``wanted``.

    A span that begins or ends within a character is moved to the start of this character. If both units are the same,
    nothing changes, and so nothing is lost.

    >>> convert_spans({"spans": [[2, 3]]}, "a🙂b", "byte")
    {'spans': [[5, 6]]}
    >>> convert_spans({"pieces": [["b", 5, 6]]}, "a🙂b", "utf16", unit="byte")
    {'pieces': [['b', 3, 4]]}
    """
    if unit == wanted or text.isascii() or not ("spans" in result or "pieces" in result):
        return result
    to_characters, from_characters = _character_of_each_unit(text, unit), _unit_of_each_character(text, wanted)

    def convert(position: int) -> int:
        return _look_up(from_characters, _look_up(to_characters, position))

    converted = dict(result)
    if "spans" in result:
        converted["spans"] = [[convert(start), convert(end)] for start, end in result["spans"]]
    if "pieces" in result:
        converted["pieces"] = [[piece, convert(start), convert(end)] for piece, start, end in result["pieces"]]
    return converted


def _character_of_each_unit(text: str, unit: str) -> list[int]:
    places = [number for number, character in enumerate(text) for _ in range(UNITS[unit](character))]
    return [*places, len(text)]


def _unit_of_each_character(text: str, unit: str) -> list[int]:
    return [0, *accumulate(map(UNITS[unit], text))]


def _look_up(places: list[int], position: int) -> int:
    return places[position] if position < len(places) else position
