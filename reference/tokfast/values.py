"""What the modules share: pieces with their places, parts of encoded pieces, and a cache that is bounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from tokref.alignment import Span

__all__ = ["Cache", "Encoder", "Part", "Piece"]

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

LIMIT = 1 << 16
"""How many entries a cache holds at most; a megabyte of text has some ten thousand distinct words."""


class Cache(dict[_Key, _Value]):
    """A dictionary that computes what is missing by a function, and is emptied when it is full.

    A value that is there costs a lookup in C and no call of a Python function.

    >>> squares = Cache(lambda number: number**2)
    >>> squares[3], squares
    (9, {3: 9})
    """

    def __init__(self, compute: Callable[[_Key], _Value]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: _Key) -> _Value:
        value = self._compute(key)
        if len(self) >= LIMIT:
            self.clear()
        self[key] = value
        return value


class Piece(NamedTuple):
    """A piece, where it starts in the input, and the span of each character, or None where one follows the other.

    ``is_first`` is that of :class:`tokref.AlignedText`.
    """

    text: str
    start: int
    spans: Sequence[Span] | None
    is_first: bool

    def spans_of_characters(self) -> Sequence[Span]:
        """Return the span of each character.

        >>> Piece("ab", 3, None, False).spans_of_characters()
        [(3, 4), (4, 5)]
        """
        if self.spans is not None:
            return self.spans
        return [(place, place + 1) for place in range(self.start, self.start + len(self.text))]


class Part(NamedTuple):
    """A token of an encoded piece, its id, and the places in the piece of its characters.

    An unknown token that stands for several in a row has the places of the first and, as ``last``, of the last of them.
    """

    text: str
    id: int | None
    places: Sequence[int]
    last: Sequence[int] | None = None


class Encoder(Protocol):
    """A model prepared to encode many pieces."""

    def ids(self, piece: str) -> list[int | None]: ...

    def parts(self, piece: str) -> list[Part]: ...
