"""What the modules share: pieces with their places, parts of encoded pieces, and bounded caches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from tokref.alignment import Span
from tokref.pre_tokenization import utf_8

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

LIMIT = 1 << 16
"""How many entries a cache holds at most; a megabyte of text has some ten thousand distinct words."""

LONGEST = 1 << 8
"""How long a text that a cache holds is at most: without a pre-tokenizer a whole book is one piece, met once."""


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
        if isinstance(key, str) and len(key) > LONGEST:
            return value
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

    def cut(self, begin: int, end: int) -> Piece:
        """Return the characters from ``begin`` to ``end``.

        >>> Piece("abc", 3, None, True).cut(1, 3)
        Piece(text='bc', start=4, spans=None, is_first=False)
        """
        spans = None if self.spans is None else self.spans[begin:end]
        return Piece(self.text[begin:end], self.start + begin, spans, self.is_first and begin == 0)

    def cover(self) -> Span:
        """Return what the characters cover together."""
        return (self.start, self.start + len(self.text)) if self.spans is None else cover(self.spans)


class Part(NamedTuple):
    """A token of an encoded piece, its id, and the places in the piece of its characters."""

    text: str
    id: int | None
    places: Sequence[int]


def cover(spans: Sequence[Span]) -> Span:
    """Return what spans cover together: added characters take no room, unless there are no others (ENC-3).

    >>> cover([(2, 2), (2, 3), (3, 4)]), cover([(2, 2), (2, 2)])
    ((2, 4), (2, 2))
    """
    filled = [span for span in spans if span[0] < span[1]] or spans[:1]
    return filled[0][0], filled[-1][1]


def byte_tokens(character: str, vocabulary: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the tokens of the UTF-8 of a character with their ids; none, if one is missing (BYTES-1, BPE-BYTES-2).

    >>> byte_tokens("é", {"<0xC3>": 0, "<0xA9>": 1}), byte_tokens("é", {"<0xC3>": 0})
    ([('<0xC3>', 0), ('<0xA9>', 1)], [])
    """
    names = [f"<0x{byte:02X}>" for byte in utf_8(character)]
    return [(name, vocabulary[name]) for name in names] if all(name in vocabulary for name in names) else []


class Encoder(Protocol):
    """A model prepared to encode many pieces."""

    def ids(self, piece: str) -> list[int | None]: ...

    def parts(self, piece: str) -> list[Part]: ...
