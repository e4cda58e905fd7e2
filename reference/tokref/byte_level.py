"""The pre-tokenizer of GPT-2, which cuts words and writes their bytes (``spec/02-pre-tokenization.md``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import regex

from tokref.alignment import AlignedText, PlainText
from tokref.byte_alphabet import byte_characters
from tokref.cutting import WHOLE, found, matches

__all__ = ["ByteLevel", "split_byte_level"]

# PRE-BYTE-1: contractions stand behind letters and numbers, which begin otherwise, as most pieces are of letters.
# PRE-BYTE-2: the last but one leaves a space to the word.
_BYTE_LEVEL = regex.compile(
    r" ?\p{L}+"
    r"| ?\p{N}+"
    r"|'(?:s|t|re|ve|m|ll|d)"
    r"| ?[^\p{White_Space}\p{L}\p{N}]+"
    r"|\p{White_Space}+(?!\P{White_Space})"
    r"|\p{White_Space}+"
)


def split_byte_level(text: AlignedText, add_prefix_space: bool = False, use_regex: bool = True) -> list[AlignedText]:
    """Cut as GPT-2 does, and write every byte of a piece as a character.

    Clauses: PRE-BYTE-1, PRE-BYTE-2, PRE-BYTE-4, PRE-BYTE-5.

    >>> [piece.text for piece in split_byte_level(AlignedText("Hello, how are  you?"))]
    ['Hello', ',', 'Ġhow', 'Ġare', 'Ġ', 'Ġyou', '?']
    """
    pieces = matches(_byte_level(use_regex), _with_space(text, add_prefix_space))
    return [_as_bytes(piece) for piece in pieces]


@dataclass(frozen=True)
class ByteLevel:
    """The pre-tokenizer ``byte_level``."""

    add_prefix_space: bool = False
    use_regex: bool = True

    def split(self, text: AlignedText) -> list[AlignedText]:
        """Cut a text into pieces."""
        return split_byte_level(text, self.add_prefix_space, self.use_regex)

    def pieces(self, text: PlainText) -> list[str]:
        """Cut a text into pieces without alignment; of equal ones the bytes are written once."""
        pieces = found(_byte_level(self.use_regex), _with_space(text, self.add_prefix_space))
        written = {piece: byte_characters(piece) for piece in set(pieces)}
        return [*map(written.__getitem__, pieces)]


def _with_space(text: AlignedText, add_prefix_space: bool) -> AlignedText:
    if add_prefix_space and not text.text.startswith(" "):  # PRE-BYTE-4
        text = text.prefixed(" ")
    return text


def _byte_level(use_regex: bool) -> regex.Pattern[str]:
    return _BYTE_LEVEL if use_regex else WHOLE  # PRE-BYTE-1, PRE-BYTE-5


def _as_bytes(piece: AlignedText) -> AlignedText:
    written = byte_characters(piece.text)
    if len(written) == len(piece.text):
        return piece.replaced(written)
    return piece.rewritten(_byte_units(piece.text))


def _byte_units(text: str) -> Iterator[tuple[str, int, int]]:
    return ((byte_characters(character), index, index + 1) for index, character in enumerate(text))
