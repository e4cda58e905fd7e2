"""Added tokens: found by the characters with which they begin (``spec/03-added-tokens.md``).

A search for the first characters of all contents, which are few even where the tokens are thousands, finds the places
where one may begin; there the lengths of the contents with that character are tried, the longest first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import regex

from tokfast.values import Piece
from tokref.added_tokens import WORD_CHARACTER
from tokref.values import AddedToken

WHITE_SPACE = regex.compile(r"\p{White_Space}*")
WHITE_SPACE_BEFORE = regex.compile(r"(?r)\p{White_Space}*")  # from the end of the range to its start


class AddedTokenFinder:
    """The contents of added tokens, prepared to be found in many texts.

    >>> finder = AddedTokenFinder({"<m>": AddedToken("<m>", lstrip=True)})
    >>> [(piece.text, token is not None) for piece, token in finder.split(Piece("a  <m>b", 0, None, True))]
    [('a', False), ('  <m>', True), ('b', False)]
    """

    def __init__(self, contents: Mapping[str, AddedToken]) -> None:
        self._contents = contents
        lengths: dict[str, set[int]] = {}
        for content in contents:
            lengths.setdefault(content[0], set()).add(len(content))
        self._lengths = {first: sorted(found, reverse=True) for first, found in lengths.items()}  # ADDED-2
        firsts = "".join(f"\\U{ord(first):08x}" for first in sorted(lengths))
        self._first = regex.compile(f"[{firsts}]") if firsts else None

    def split(self, piece: Piece) -> Iterator[tuple[Piece, AddedToken | None]]:
        """Cut a text into added tokens and the stretches between them, none of which is empty."""
        text = piece.text
        begin = 0
        for start, end, token in self._find(text):
            if begin < start:
                yield piece.cut(begin, start), None
            yield piece.cut(start, end), token
            begin = end
        if begin < len(text):
            yield (piece.cut(begin, len(text)) if begin else piece), None

    def _find(self, text: str) -> Iterator[tuple[int, int, AddedToken]]:
        """Return where added tokens are, with the white space that they take."""
        if self._first is None:
            return
        begin = place = 0
        while match := self._first.search(text, place, concurrent=False):
            start = match.start()
            content = self._longest_at(start, text)
            place = end = start + (len(content) or 1)
            if not content:
                continue
            token = self._contents[content]
            if token.passed_over or (token.single_word and _is_in_word(text, start, end)):  # ADDED-8, ADDED-9, TRUST-3
                continue
            if token.lstrip:  # ADDED-6
                before = WHITE_SPACE_BEFORE.match(text, begin, start)
                start = before.start() if before else start
            if token.rstrip:  # ADDED-7
                behind = WHITE_SPACE.match(text, end)
                end = behind.end() if behind else end
            yield start, end, token
            begin = place = end

    def _longest_at(self, place: int, text: str) -> str:
        """Return the longest content at a place, or nothing."""
        candidates = (text[place : place + length] for length in self._lengths[text[place]])
        return next((content for content in candidates if content in self._contents), "")


def _is_in_word(text: str, start: int, end: int) -> bool:
    beside = text[max(start - 1, 0) : start], text[end : end + 1]  # empty at the ends of the text
    return any(WORD_CHARACTER.match(character) for character in beside)
