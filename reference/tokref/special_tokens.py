"""Special tokens: matched in the raw text, before anything else (``spec/03-special-tokens.md``).

The text is read from left to right. Where a special token begins, it is taken out whole, the longest of several; the
stretches between special tokens go on to the other stages, each on its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Stretch", "split_special_tokens"]


class Stretch(NamedTuple):
    """A part of the input: its text, where it starts, and whether it is a special token."""

    text: str
    start: int
    is_special: bool


def split_special_tokens(text: str, special_tokens: Sequence[str]) -> list[Stretch]:
    """Cut a text into special tokens and the stretches between them, none of which is empty.

    >>> split_special_tokens("a<s>", ["<s>"])
    [Stretch(text='a', start=0, is_special=False), Stretch(text='<s>', start=1, is_special=True)]
    """
    found: list[Stretch] = []
    begin = place = 0  # ``begin`` is where the stretch since the last special token starts
    while place < len(text):
        here = [token for token in special_tokens if text.startswith(token, place)]  # SPECIAL-1: literally
        if not here:
            place += 1
            continue
        token = max(here, key=len)  # SPECIAL-2
        if begin < place:
            found.append(Stretch(text[begin:place], begin, False))  # SPECIAL-3: with the white space beside it
        found.append(Stretch(token, place, True))
        begin = place = place + len(token)  # SPECIAL-2: without overlap
    if begin < len(text):
        found.append(Stretch(text[begin:], begin, False))
    return found
