"""BERT's normalizer: four steps, each of which can be left out (``spec/01-normalization.md``)."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tokref.alignment import AlignedText, Unit
from tokref.choices import Choices
from tokref.normal_forms import UnicodeForm
from tokref.normalization import EachCharacter, Lowercase, Normalizer, NormalizerSequence

__all__ = ["bert_normalizer", "clean_text", "separate_ideographs"]

_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
_REMOVED = {"Cc", "Cf", "Co", "Cs"}
_FIRST_IDEOGRAPHS = [first for first, _ in _IDEOGRAPHS]


def clean_text(text: str) -> str:
    """Remove control characters and make plain spaces of the others.

    Clauses: NORM-BERT-1, NORM-BERT-2.

    >>> clean_text("one\\nte\\u200dst")
    'one test'
    """
    return "".join(map(_cleaned, text))


def separate_ideographs(text: str) -> str:
    """Put a space before and after every CJK ideograph.

    Clauses: NORM-BERT-3.

    >>> separate_ideographs("中a")
    ' 中 a'
    """
    return "".join(map(_set_apart, text))


def bert_normalizer(
    clean_text: bool = True,
    handle_chinese_chars: bool = True,
    strip_accents: bool | None = None,
    lowercase: bool = True,
) -> NormalizerSequence:
    """Give BERT's normalizer as the sequence of its steps.

    Clauses: NORM-BERT-4, NORM-BERT-5, NORM-BERT-6, NORM-BERT-7.

    >>> bert_normalizer(strip_accents=False).normalize("É中", Choices())
    'é 中 '
    """
    strips = lowercase if strip_accents is None else strip_accents  # NORM-BERT-5
    steps: list[tuple[bool, Normalizer]] = [  # NORM-BERT-7
        (clean_text, EachCharacter(_clean)),
        (handle_chinese_chars, _SeparateIdeographs()),
        (strips, UnicodeForm("NFD")),
        (strips, EachCharacter(_without_nonspacing_marks)),  # NORM-BERT-4
        (lowercase, Lowercase()),  # NORM-BERT-6
    ]
    return NormalizerSequence(tuple(step for wanted, step in steps if wanted))


@dataclass(frozen=True)
class _SeparateIdeographs:
    """The second step; the spaces take no room in the input."""

    def normalize(self, text: str, choices: Choices) -> str:
        return separate_ideographs(text)

    def align(self, text: AlignedText, choices: Choices) -> AlignedText:
        separated = any(map(_is_ideograph, text.text))
        return text.rewritten(_separated(text.text)) if separated else text


def _separated(text: str) -> Iterator[Unit]:
    for index, character in enumerate(text):
        if _is_ideograph(character):
            yield " ", index, index
            yield character, index, index + 1
            yield " ", index + 1, index + 1
        else:
            yield character, index, index + 1


_clean = clean_text


@lru_cache(maxsize=4096)
def _cleaned(character: str) -> str:
    category = unicodedata.category(character)
    if character in "\t\n\r" or category[0] == "Z":  # NORM-BERT-2
        return " "
    return "" if character == "\ufffd" or category in _REMOVED else character  # NORM-BERT-1


def _without_nonspacing_marks(text: str) -> str:
    return "".join(map(_unmarked, text))


@lru_cache(maxsize=4096)
def _unmarked(character: str) -> str:
    return character if unicodedata.category(character) != "Mn" else ""


@lru_cache(maxsize=4096)
def _set_apart(character: str) -> str:
    return f" {character} " if _is_ideograph(character) else character  # NORM-BERT-3


def _is_ideograph(character: str) -> bool:
    row = bisect_right(_FIRST_IDEOGRAPHS, ord(character)) - 1
    return row >= 0 and ord(character) <= _IDEOGRAPHS[row][1]
