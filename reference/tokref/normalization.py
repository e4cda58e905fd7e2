"""The first stage: text to text (``spec/01-normalization.md``).

A normalizer has a quick way, ``normalize``, and one that keeps the alignment, ``align``; both give the same text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from tokref.alignment import AlignedText, Unit
from tokref.choices import Choices

__all__ = ["EachCharacter", "Lowercase", "Normalizer", "NormalizerSequence", "lowercase", "normalize", "strip_accents"]


class Normalizer(Protocol):
    """What maps text to text."""

    def normalize(self, text: str, choices: Choices) -> str: ...

    def align(self, text: AlignedText, choices: Choices) -> AlignedText: ...


def normalize(text: str, normalizer: Normalizer | None, choices: Choices) -> str:
    """Apply a normalizer, or none, without alignment.

    Clauses: NORM-1, NORM-SEQUENCE-1.

    >>> normalize("HeLLo", NormalizerSequence((Lowercase(),)), Choices())
    'hello'
    """
    return text if normalizer is None else normalizer.normalize(text, choices)  # NORM-1


def lowercase(text: str, choices: Choices) -> str:
    """Apply Unicode's full lowercase mapping.

    Clauses: NORM-LOWERCASE-1, NORM-LOWERCASE-2, TERM-6.

    >>> lowercase("ΟΔΟΣ", Choices()), lowercase("ΟΔΟΣ", Choices(final_sigma="plain"))
    ('οδος', 'οδοσ')
    """
    if choices.final_sigma == "plain":  # NORM-LOWERCASE-2
        text = text.replace("Σ", "σ")
    return text.lower()  # NORM-LOWERCASE-1


def strip_accents(text: str) -> str:
    """Remove every mark; what is composed stays so.

    Clauses: NORM-ACCENTS-1.

    >>> strip_accents("e\\u0301 é")
    'e é'
    """
    return "".join(character for character in text if unicodedata.category(character)[0] != "M")  # NORM-ACCENTS-1


@dataclass(frozen=True)
class NormalizerSequence:
    """Normalizers one after the other."""

    normalizers: tuple[Normalizer, ...]

    def normalize(self, text: str, choices: Choices) -> str:
        """Apply each to the result of the one before."""
        for normalizer in self.normalizers:  # NORM-SEQUENCE-1
            text = normalizer.normalize(text, choices)
        return text

    def align(self, text: AlignedText, choices: Choices) -> AlignedText:
        """Apply each to the result of the one before, with alignment."""
        for normalizer in self.normalizers:  # NORM-SEQUENCE-1
            text = normalizer.align(text, choices)
        return text


@dataclass(frozen=True)
class EachCharacter:
    """A normalizer that looks at every character by itself, such as ``strip_accents``.

    >>> EachCharacter(strip_accents).align(AlignedText("e\\u0301x"), Choices()).spans
    ((0, 1), (2, 3))
    """

    function: Callable[[str], str]

    def normalize(self, text: str, choices: Choices) -> str:
        """Apply the function to the whole text."""
        return self.function(text)

    def align(self, text: AlignedText, choices: Choices) -> AlignedText:
        """Apply the function to every character; text that stays the same is not touched."""
        if self.function(text.text) == text.text:
            return text
        return text.rewritten((self.function(character), index, index + 1) for index, character in enumerate(text.text))


@dataclass(frozen=True)
class Lowercase:
    """The normalizer ``lowercase``."""

    def normalize(self, text: str, choices: Choices) -> str:
        """Give the text in lowercase."""
        return lowercase(text, choices)

    def align(self, text: AlignedText, choices: Choices) -> AlignedText:
        """Give the text in lowercase with alignment; text that stays the same is not touched."""
        lowered = lowercase(text.text, choices)
        if lowered == text.text:
            return text
        return text.replaced(lowered) if len(lowered) == len(text.text) else text.rewritten(_shared(text.text, lowered))


def _shared(text: str, lowered: str) -> Iterator[Unit]:
    """Share out lowercased text: unlike the form of a sigma, how long a part is depends on nothing around it."""
    start = 0
    for index, character in enumerate(text):
        end = start + len(character.lower())
        yield lowered[start:end], index, index + 1
        start = end
