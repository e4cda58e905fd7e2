"""Spans that the specification leaves open: of added characters alone, and of what begins or ends with one (ENC-3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias
from unicodedata import category

from tokspec.fuzz.requests import Asked
from tokspec.protocol.spans import UNITS

__all__ = ["with_open_spans"]

Result: TypeAlias = Mapping[str, Any]
_Span: TypeAlias = tuple[int, int]

#: What `bert` sets apart (NORM-BERT-3): the spaces that it puts beside one may end a token, and begin the next.
_IDEOGRAPH = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f]"
)


def with_open_spans(model: Mapping[str, Any], asked: Asked, right: Result, given: Result, unit: str) -> Result:
    """Return the result that is expected with those of its spans that are open as they were given.

    ``unit`` is that in which spans count, an option of `offset_unit`.

    >>> asked, bert = ("encode", {"text": "中a"}), {"normalizer": {"type": "bert"}}
    >>> right, given = {"spans": [[0, 1], [0, 1], [1, 2]]}, {"spans": [[0, 1], [0, 1], [0, 2]]}
    >>> with_open_spans(bert, asked, right, given, "code_point")
    {'spans': [[0, 1], [0, 1], [0, 2]]}
    """
    operation, input = asked
    key, first = ("spans", 0) if operation == "encode" else ("pieces", 1)
    mine, other = right.get(key), given.get(key)
    if not isinstance(mine, list) or not isinstance(other, list) or len(mine) != len(other):
        return right
    text = input["text"] if operation == "encode" and _keeps_added_spaces(model) else ""
    starts, ends = set(_starts(text, unit)), set(_ends(text, unit))
    rows = [
        [*row[:first], *seen[first:]] if _is_open(row, seen, first, starts, ends) else row
        for row, seen in zip(mine, other, strict=True)
    ]
    return {**right, key: rows}


def _is_open(row: Sequence[Any], seen: Any, first: int, starts: set[_Span], ends: set[_Span]) -> bool:
    if not isinstance(seen, list) or len(seen) != len(row):
        return False
    (start, end), (seen_start, seen_end) = row[first:], seen[first:]
    if start == end:
        return True
    return (seen_start == start or (seen_start, start) in starts) and (seen_end == end or (end, seen_end) in ends)


def _keeps_added_spaces(model: Mapping[str, Any]) -> bool:
    """Say whether spaces that ``bert`` adds may get into tokens: no stage drops them, or one makes marks of them."""
    cuts = str(model.get("pre_tokenizer"))
    drops, marks = (
        any(f"'{name}'" in cuts for name in names)
        for names in (("bert", "whitespace_split"), ("byte_level", "metaspace"))
    )
    return (marks or not drops) and "'bert'" in str(model.get("normalizer"))


def _starts(text: str, unit: str) -> Iterator[_Span]:
    """Return the start of each ideograph with each place behind it where the next token may start."""
    length = UNITS[unit]
    for place in (match.start() for match in _IDEOGRAPH.finditer(text)):
        end = place + 1
        yield length(text[:place]), length(text[:end])
        while end < len(text) and _may_be_removed(text[end]):
            end += 1
            yield length(text[:place]), length(text[:end])


def _ends(text: str, unit: str) -> Iterator[_Span]:
    """Return each place before an ideograph where the token before may end, with the end of the ideograph."""
    length = UNITS[unit]
    for place in (match.start() for match in _IDEOGRAPH.finditer(text)):
        start = place
        yield length(text[:start]), length(text[: place + 1])
        while start > 0 and _may_be_removed(text[start - 1]):
            start -= 1
            yield length(text[:start]), length(text[: place + 1])


def _may_be_removed(character: str) -> bool:
    return category(character)[0] in "CM"
