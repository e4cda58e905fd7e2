"""The second stage: normalized text to pieces (``spec/02-pre-tokenization.md``).

A pre-tokenizer has a way that keeps the alignment, ``split``, and a quick one, ``pieces``; both give the same pieces.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol

import regex

from tokref.alignment import AlignedText, PlainText
from tokref.byte_level import ByteLevel, split_byte_level
from tokref.cutting import WHOLE, found, matches

__all__ = [
    "BertPreTokenizer",
    "ByteLevel",
    "Metaspace",
    "PreTokenizer",
    "PreTokenizerSequence",
    "WhitespaceSplit",
    "pieces_of",
    "pre_tokenize",
    "split_bert",
    "split_byte_level",
    "split_metaspace",
    "split_sequence",
    "split_whitespace",
]

_NO_SPACE = regex.compile(r"\P{White_Space}+")
_PUNCTUATION = r"!-/:-@\[-`{-~\p{P}"  # PRE-BERT-3
_BERT = regex.compile(rf"[{_PUNCTUATION}]|[^\p{{White_Space}}{_PUNCTUATION}]+")


class PreTokenizer(Protocol):
    """What cuts text into pieces; the text is not empty."""

    def split(self, text: AlignedText) -> list[AlignedText]: ...

    def pieces(self, text: PlainText) -> list[str]: ...


def pre_tokenize(text: AlignedText, pre_tokenizer: PreTokenizer | None) -> list[AlignedText]:
    """Cut a text into pieces in the order of the text.

    Clauses: PRE-1, PRE-2, TERM-3.

    >>> pre_tokenize(AlignedText("a b"), None)
    [AlignedText(text='a b', start=0, spans=None)]
    """
    if not text.text:  # PRE-2
        return []
    return [text] if pre_tokenizer is None else pre_tokenizer.split(text)


def pieces_of(text: PlainText, pre_tokenizer: PreTokenizer | None) -> list[str]:
    """Cut a text into pieces in the order of the text, without alignment.

    >>> pieces_of(PlainText("a b"), WhitespaceSplit())
    ['a', 'b']
    """
    if not text.text:  # PRE-2
        return []
    return [text.text] if pre_tokenizer is None else pre_tokenizer.pieces(text)


def split_whitespace(text: AlignedText) -> list[AlignedText]:
    """Cut at white space and drop it.

    Clauses: PRE-SPACE-1.

    >>> [piece.text for piece in split_whitespace(AlignedText(" a  b"))]
    ['a', 'b']
    """
    return matches(_NO_SPACE, text)  # PRE-SPACE-1


def split_bert(text: AlignedText) -> list[AlignedText]:
    """Cut at white space, which is dropped, and around every punctuation character.

    Clauses: PRE-BERT-1, PRE-BERT-2, PRE-BERT-3.

    >>> [piece.text for piece in split_bert(AlignedText("¿Qui, $5?"))]
    ['¿', 'Qui', ',', '$', '5', '?']
    """
    return matches(_BERT, text)  # PRE-BERT-1, PRE-BERT-2


def split_metaspace(
    text: AlignedText,
    replacement: str = "▁",
    prepend_scheme: Literal["always", "first", "never"] = "always",
    split: bool = True,
) -> list[AlignedText]:
    """Replace spaces and begin a piece at each of them.

    Clauses: PRE-META-1, PRE-META-2, PRE-META-3.

    >>> [piece.text for piece in split_metaspace(AlignedText("Hello, how  are"))]
    ['▁Hello,', '▁how', '▁', '▁are']
    """
    return matches(_metaspace(replacement, split), _with_replacements(text, replacement, prepend_scheme))


@dataclass(frozen=True)
class WhitespaceSplit:
    """The pre-tokenizer ``whitespace_split``."""

    def split(self, text: AlignedText) -> list[AlignedText]:
        """Cut a text into pieces."""
        return split_whitespace(text)

    def pieces(self, text: PlainText) -> list[str]:
        """Cut a text into pieces without alignment."""
        return found(_NO_SPACE, text)


@dataclass(frozen=True)
class BertPreTokenizer:
    """The pre-tokenizer ``bert``."""

    def split(self, text: AlignedText) -> list[AlignedText]:
        """Cut a text into pieces."""
        return split_bert(text)

    def pieces(self, text: PlainText) -> list[str]:
        """Cut a text into pieces without alignment."""
        return found(_BERT, text)


@dataclass(frozen=True)
class Metaspace:
    """The pre-tokenizer ``metaspace``."""

    replacement: str = "▁"
    prepend_scheme: Literal["always", "first", "never"] = "always"
    split_at_replacement: bool = True

    def split(self, text: AlignedText) -> list[AlignedText]:
        """Cut a text into pieces."""
        return split_metaspace(text, self.replacement, self.prepend_scheme, self.split_at_replacement)

    def pieces(self, text: PlainText) -> list[str]:
        """Cut a text into pieces without alignment."""
        replaced = _with_replacements(text, self.replacement, self.prepend_scheme)
        return found(_metaspace(self.replacement, self.split_at_replacement), replaced)


@dataclass(frozen=True)
class PreTokenizerSequence:
    """Pre-tokenizers one after the other."""

    pre_tokenizers: tuple[PreTokenizer, ...]

    def split(self, text: AlignedText) -> list[AlignedText]:
        """Apply each to every piece of the one before."""
        return split_sequence(text, self.pre_tokenizers)

    def pieces(self, text: PlainText) -> list[str]:
        """Cut a text into pieces; what is done to one may depend on where it begins, which takes alignment."""
        return [piece.text for piece in self.split(AlignedText(text.text, text.start))]


def split_sequence(text: AlignedText, pre_tokenizers: Iterable[PreTokenizer]) -> list[AlignedText]:
    """Apply each pre-tokenizer to every piece of the one before.

    Clauses: PRE-SEQUENCE-1.

    >>> t5 = (WhitespaceSplit(), Metaspace())
    >>> [(piece.text, piece.span(0, len(piece.text))) for piece in split_sequence(AlignedText("Hi,  you"), t5)]
    [('▁Hi,', (0, 3)), ('▁you', (5, 8))]
    """
    pieces = [text]
    for pre_tokenizer in pre_tokenizers:  # PRE-SEQUENCE-1
        pieces = [part for piece in pieces for part in pre_tokenizer.split(piece)]
    return pieces


def _with_replacements(text: AlignedText, replacement: str, prepend_scheme: str) -> AlignedText:
    text = text.replaced(text.text.replace(" ", replacement))  # PRE-META-1
    wanted = prepend_scheme == "always" or (prepend_scheme == "first" and text.start == 0)
    if wanted and not text.text.startswith(replacement):  # PRE-META-2
        text = text.prefixed(replacement)
    return text


@lru_cache(maxsize=64)
def _metaspace(replacement: str, split: bool) -> regex.Pattern[str]:
    if not split:
        return WHOLE
    return regex.compile(rf"(?s).[^{regex.escape(replacement)}]*")  # PRE-META-3
