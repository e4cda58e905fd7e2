"""Making a difference small: from a document to the few characters that show the same.

What comes of a text depends on the text alone: nothing is random, and no clock is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

__all__ = ["narrowed", "simplest", "window_of"]

Shows = Callable[[str], bool]

#: How many texts are tried at the most to make one simple, and how wide the first window is.
_MOST = 400
_FIRST_WINDOW = 48

#: For each kind of character the one that stands for it in a simple text.
_PLAIN: tuple[tuple[Callable[[str], bool], str], ...] = (
    (str.isspace, " "),
    (str.isdecimal, "0"),
    (str.isalpha, "a"),
    (lambda character: not character.isalnum(), "."),
)


def narrowed(text: str, shows: Shows, share: float = 0.0) -> tuple[str, int, int]:
    """Return a minimised text that shows the difference, and where it was found: a stretch of the text.

    Args:
        text: which shows it.
        shows: whether another text does.
        share: about where in the text the difference is, from 0 to 1.

    >>> narrowed("one two Three four", lambda text: "T" in text)
    ('T', 8, 9)
    """
    start, end = window_of(text, shows, share)
    return simplest(text[start:end], shows), start, end


def window_of(text: str, shows: Shows, share: float = 0.0) -> tuple[int, int]:
    """Return a stretch that shows the difference, and does not without its first or its last character.

    >>> window_of("one two Three four", lambda text: "o T" in text)
    (6, 9)
    """
    start, end = _around(text, shows, share)
    end = _last(lambda place: shows(text[start:place]), start, end)
    start = end - _last(lambda length: shows(text[end - length : end]), 0, end - start)
    return start, end


def _around(text: str, shows: Shows, share: float) -> tuple[int, int]:
    middle, width = round(share * len(text)), _FIRST_WINDOW
    while width < len(text):
        start, end = max(0, middle - width), min(len(text), middle + width)
        if shows(text[start:end]):
            return start, end
        width *= 4
    return 0, len(text)


def _last(shows: Callable[[int], bool], without: int, with_: int) -> int:
    """Return a place that shows something where the one before does not; ``with_`` shows it, and ``without`` not."""
    while with_ - without > 1:
        middle = (without + with_) // 2
        if shows(middle):
            with_ = middle
        else:
            without = middle
    return with_


def simplest(text: str, shows: Shows) -> str:
    """Leave out what is not needed, and put plain characters in the place of others.

    >>> simplest("x9 - Ä", lambda text: "-" in text)
    '-'
    """
    left = _MOST
    improved = True
    while improved and left > 0:
        improved = False
        for candidate in _simpler(text):
            left -= 1
            if left <= 0:
                break
            if shows(candidate):
                text, improved = candidate, True
                break
    return text


def _simpler(text: str) -> Iterator[str]:
    size = len(text) // 2 or 1
    while size:
        for start in range(0, len(text), size):
            shorter = text[:start] + text[start + size :]
            if shorter:
                yield shorter
        size //= 2
    for place, character in enumerate(text):
        plain = next((plain for is_such, plain in _PLAIN if is_such(character)), character)
        if plain != character:
            yield text[:place] + plain + text[place + 1 :]
