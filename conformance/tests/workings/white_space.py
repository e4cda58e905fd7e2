"""Words between white space by brute force: of all parts of a text those that hold none and cannot grow."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from stages import Model, NotCovered

CHOICES: Mapping[str, tuple[str, ...]] = {}

#: White_Space in PropList.txt of the Unicode Character Database, the first and the last of each range.
RANGES = (
    (0x0009, 0x000D),
    (0x0020, 0x0020),
    (0x0085, 0x0085),
    (0x00A0, 0x00A0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
)


def is_white_space(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in RANGES)


def recompute(operation: str, model: Model, request: Mapping[str, Any], choices: Mapping[str, str]) -> list[Any]:
    """All right results: the one list of the longest parts without white space."""
    if operation != "pre_tokenize" or model != {"pre_tokenizer": {"type": "whitespace_split"}}:
        raise NotCovered(operation)
    text = request["text"]
    parts = [
        (start, end)
        for start, end in combinations(range(len(text) + 1), 2)
        if not any(map(is_white_space, text[start:end]))
    ]
    longest = [
        (start, end)
        for start, end in parts
        if not any((low, high) != (start, end) and low <= start and end <= high for low, high in parts)
    ]
    return [{"pieces": [[text[start:end], start, end] for start, end in longest]}]
