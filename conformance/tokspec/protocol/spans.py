"""Expected spans in the unit that an implementation counts in (TERM-3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["UNITS", "convert_spans", "map_spans"]

#: How many units the text before a position takes, by the options of the choice ``offset_unit``.
UNITS: Mapping[str, Callable[[str], int]] = {
    "code_point": len,
    "byte": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
}


def convert_spans(result: Mapping[str, Any], text: str, unit: str) -> Mapping[str, Any]:
    """Convert the spans of an expected result from code points of the input text.

    >>> convert_spans({"spans": [[2, 3]]}, "a🙂b", "byte"), convert_spans({"pieces": [["b", 2, 3]]}, "a🙂b", "utf16")
    ({'spans': [[5, 6]]}, {'pieces': [['b', 3, 4]]})
    """
    if unit == "code_point":
        return result
    length = UNITS[unit]

    def at(position: int) -> int:
        return length(text[:position])

    return map_spans(result, at)


def map_spans(result: Mapping[str, Any], at: Callable[[int], int]) -> Mapping[str, Any]:
    """Put another position in place of each that the spans and pieces of a result have.

    >>> map_spans({"spans": [[2, 3]], "pieces": [["b", 2, 3]]}, lambda position: position + 3)
    {'spans': [[5, 6]], 'pieces': [['b', 5, 6]]}
    """
    found = dict(result)
    if "spans" in result:
        found["spans"] = [[at(start), at(end)] for start, end in result["spans"]]
    if "pieces" in result:
        found["pieces"] = [[piece, at(start), at(end)] for piece, start, end in result["pieces"]]
    return found
