"""Patterns that are compiled once (``spec/13-patterns.md``)."""

from __future__ import annotations

import regex

from tokref.errors import InputError, brief
from tokref.patterns import find_by_steps
from tokref.reading.ceilings import SECONDS


def find_matches(pattern: regex.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return where a pattern matches; an empty match does not count (PATTERN-1).

    Raises:
        InputError: ``unsupported``, where the search takes too long.

    >>> find_matches(regex.compile("a|ab"), "abab")
    [(0, 1), (2, 3)]
    """
    return [(begin, end) for begin, end in _search(pattern, text) if begin < end]


def find_cuts(pattern: regex.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return where a pattern matches, be it no character (PATTERN-17).

    Raises:
        InputError: as :func:`find_matches`.

    >>> find_cuts(regex.compile("a*"), "baab")
    [(0, 0), (1, 3), (4, 4)]
    """
    found = _search(pattern, text)
    return found if all(begin < end for begin, end in found) else find_by_steps(pattern, text)


def _search(pattern: regex.Pattern[str], text: str) -> list[tuple[int, int]]:
    try:
        return [match.span() for match in pattern.finditer(text, timeout=SECONDS, concurrent=False)]
    except TimeoutError:
        raise InputError("unsupported", f"the pattern {brief(pattern.pattern)} takes too long") from None


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
