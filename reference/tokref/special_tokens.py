"""Special tokens: matched in the raw text before anything else (``spec/03-special-tokens.md``)."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["split_special_tokens"]


def split_special_tokens(text: str, special_tokens: tuple[str, ...]) -> list[tuple[str, int, bool]]:
    """Cut a text into special tokens and the stretches between them: text, start, and whether it is special.

    No stretch is empty.

    Clauses: SPECIAL-1, SPECIAL-2, SPECIAL-3, SPECIAL-4.

    >>> split_special_tokens("a [MASK] b", ("[MASK]",))
    [('a ', 0, False), ('[MASK]', 2, True), (' b', 8, False)]
    """
    if not special_tokens:
        return [(text, 0, False)] if text else []
    found: list[tuple[str, int, bool]] = []
    position = 0
    for match in _pattern(special_tokens).finditer(text):  # SPECIAL-1, SPECIAL-2
        found.append((text[position : match.start()], position, False))  # SPECIAL-3: with its white space
        found.append((match.group(), match.start(), True))
        position = match.end()
    found.append((text[position:], position, False))
    return [stretch for stretch in found if stretch[0]]  # SPECIAL-4


@lru_cache(maxsize=64)
def _pattern(special_tokens: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(special_tokens, key=lambda token: (-len(token), token))  # SPECIAL-2
    return re.compile("|".join(map(re.escape, longest_first)))
