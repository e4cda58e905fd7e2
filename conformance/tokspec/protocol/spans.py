"""Spans of results, converted from the unit of one implementation to that of another (TERM-3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate, chain, repeat
from typing import Any

#: The length of a text in units, by the options of the choice ``offset_unit``.
UNITS: Mapping[str, Callable[[str], int]] = {
    "code_point": len,
    "byte": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
}


def texts_of(input: Mapping[str, Any]) -> list[str]:
    """Return the texts to which the spans and pieces of a request's result refer.

    >>> texts_of({"inputs": [{"text": "b", "pair": "u"}, {"text": "g"}]})
    ['b', 'u', 'g']
    """
    rows = [input, *input.get("inputs", ())]
    return [row[key] for row in rows for key in ("text", "pair") if key in row]


def convert_result(
    result: Mapping[str, Any], input: Mapping[str, Any], wanted: str, unit: str = "code_point"
) -> Mapping[str, Any]:
    """Convert all spans and pieces in the result of a request with this input, including encodings of a batch.

    >>> convert_result({"encodings": [{"spans": [[1, 2]]}]}, {"inputs": [{"text": "ü!"}]}, "byte")
    {'encodings': [{'spans': [[2, 3]]}]}
    """
    if unit == wanted:
        return result
    if "encodings" in result:
        rows = zip(result["encodings"], chain(input["inputs"], repeat({})), strict=False)
        return {**result, "encodings": [convert_result(encoding, row, wanted, unit) for encoding, row in rows]}
    return convert_spans(result, input.get("text", ""), wanted, unit, input.get("pair", ""))


def convert_spans(
    result: Mapping[str, Any], text: str, wanted: str, unit: str = "code_point", pair: str = ""
) -> Mapping[str, Any]:
    """Convert the spans and pieces of a result for ``text`` from ``unit`` to the unit ``wanted``.

    A span that begins or ends within a character is moved to the start of this character. If both units are the same,
    nothing changes, and so nothing is lost. ``sequence_ids`` says which spans refer to the ``pair``.

    >>> convert_spans({"spans": [[2, 3]]}, "a🙂b", "byte")
    {'spans': [[5, 6]]}
    >>> convert_spans({"pieces": [["b", 5, 6]]}, "a🙂b", "utf16", unit="byte")
    {'pieces': [['b', 3, 4]]}
    >>> convert_spans({"spans": [[0, 1], [0, 1]], "sequence_ids": [0, 1]}, "u", "byte", pair="ü")["spans"]
    [[0, 1], [0, 2]]
    """
    if unit == wanted or (text.isascii() and pair.isascii()):
        return result
    tables = [(_character_of_each_unit(each, unit), _unit_of_each_character(each, wanted)) for each in (text, pair)]

    def convert(position: int, sequence: int | None) -> int:
        to_characters, from_characters = tables[sequence or 0]
        return _look_up(from_characters, _look_up(to_characters, position))

    return _converted(result, convert)


def _converted(result: Mapping[str, Any], convert: Callable[[int, int | None], int]) -> Mapping[str, Any]:
    converted = dict(result)
    if "spans" in result:
        spans = zip(result["spans"], chain(result.get("sequence_ids", ()), repeat(0)), strict=False)
        converted["spans"] = [[convert(start, sequence), convert(end, sequence)] for (start, end), sequence in spans]
    if "pieces" in result:
        converted["pieces"] = [[piece, *(convert(place, 0) for place in span)] for piece, *span in result["pieces"]]
    if "overflowing" in result:
        converted["overflowing"] = [_converted(part, convert) for part in result["overflowing"]]
    return converted


def _character_of_each_unit(text: str, unit: str) -> list[int]:
    places = [number for number, character in enumerate(text) for _ in range(UNITS[unit](character))]
    return [*places, len(text)]


def _unit_of_each_character(text: str, unit: str) -> list[int]:
    return [0, *accumulate(map(UNITS[unit], text))]


def _look_up(places: list[int], position: int) -> int:
    return places[position] if position < len(places) else position
