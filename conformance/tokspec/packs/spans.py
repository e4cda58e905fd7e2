"""Spans in the unit that another implementation counts in, in one pass over a text (TERM-3)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from tokspec.protocol.spans import UNITS, map_spans

__all__ = ["converted"]


def converted(result: Mapping[str, Any], text: str, unit: str, wanted: str) -> Mapping[str, Any]:
    """Convert the spans of a result; one that begins or ends within a character does so at its beginning.

    A unit stays as it is, so that who counts like that is compared without any loss.

    >>> converted({"spans": [[2, 3]]}, "a🙂b", "code_point", "byte")
    {'spans': [[5, 6]]}
    >>> converted({"pieces": [["b", 5, 6]]}, "a🙂b", "byte", "utf16")
    {'pieces': [['b', 3, 4]]}
    """
    if unit == wanted or text.isascii() or not ("spans" in result or "pieces" in result):
        return result
    to_characters, from_characters = _characters(text, unit), _units(text, wanted)
    return map_spans(result, lambda at: _at(from_characters, _at(to_characters, at)))


def _characters(text: str, unit: str) -> list[int]:
    """Give for each unit the character in which it is."""
    places = [number for number, character in enumerate(text) for _ in range(UNITS[unit](character))]
    return [*places, len(text)]


def _units(text: str, unit: str) -> list[int]:
    """Give for each character the unit with which it begins."""
    return [0, *accumulate(map(UNITS[unit], text))]


def _at(places: list[int], at: int) -> int:
    return places[at] if at < len(places) else at
