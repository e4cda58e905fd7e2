"""Patterns that are compiled once (``spec/13-patterns.md``)."""

from __future__ import annotations

import regex

from tokref.ceilings import SECONDS
from tokref.errors import InputError, brief


def find_matches(pattern: regex.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return where a pattern matches; an empty match is none (PATTERN-1).

    Raises:
        InputError: ``unsupported``, where the search takes too long.

    >>> find_matches(regex.compile("a|ab"), "abab")
    [(0, 1), (2, 3)]
    """
    try:
        found = [match.span() for match in pattern.finditer(text, timeout=SECONDS, concurrent=False)]
    except TimeoutError:
        raise InputError("unsupported", f"the pattern {brief(pattern.pattern)} takes too long") from None
    return [(begin, end) for begin, end in found if begin < end]


def replace_matches(pattern: regex.Pattern[str], content: str, text: str) -> str:
    """Return a text in which every match is replaced.

    >>> replace_matches(regex.compile("--"), "+", "a--b")
    'a+b'
    """
    parts: list[str] = []
    place = 0
    for begin, end in find_matches(pattern, text):
        parts += text[place:begin], content
        place = end
    return "".join([*parts, text[place:]])
