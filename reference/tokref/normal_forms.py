"""The normal forms of Unicode, with alignment by clusters (``spec/01-normalization.md``)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tokref.alignment import AlignedText, Unit
from tokref.choices import Choices

__all__ = ["Form", "UnicodeForm", "normalize_unicode"]

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]


def normalize_unicode(text: str, form: Form) -> str:
    """Normalize by one of the four forms of Unicode.

    Clauses: NORM-UNICODE-1, NORM-UNICODE-2, NORM-UNICODE-3, NORM-UNICODE-4.

    >>> normalize_unicode("ﬁ²é", "NFKD") == "fi2e\\u0301"
    True
    """
    return unicodedata.normalize(form, text)  # NORM-UNICODE-1 to NORM-UNICODE-4


@dataclass(frozen=True)
class UnicodeForm:
    """The normalizers ``nfc``, ``nfd``, ``nfkc`` and ``nfkd``.

    >>> UnicodeForm("NFC").align(AlignedText("e\\u0301x"), Choices()).spans
    ((0, 2), (2, 3))
    """

    form: Form

    def normalize(self, text: str, choices: Choices) -> str:
        """Give the text in this form."""
        return normalize_unicode(text, self.form)

    def align(self, text: AlignedText, choices: Choices) -> AlignedText:
        """Give the text in this form, every character with the span of what it came from."""
        if unicodedata.is_normalized(self.form, text.text):
            return text
        return text.rewritten(_units(text.text, self.form))


def _units(text: str, form: Form) -> Iterator[Unit]:
    for begin, end in _clusters(text, form):
        whole = normalize_unicode(text[begin:end], form)
        parts = [normalize_unicode(character, form) for character in text[begin:end]]
        if "".join(parts) == whole:  # nothing was composed or put in order: each character speaks for itself
            yield from ((part, begin + index, begin + index + 1) for index, part in enumerate(parts))
        else:
            yield whole, begin, end


def _clusters(text: str, form: Form) -> Iterator[tuple[int, int]]:
    """Cut the text where normalizing both sides apart gives the same as together, whatever follows."""
    begin = 0
    for position in range(1, len(text)):
        if _starts(text[position]) and _apart(text[begin:position], text[position], form):
            yield begin, position
            begin = position
    if text:
        yield begin, len(text)


def _starts(character: str) -> bool:
    """Say whether marks that follow can never be put before the character or any part of it."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) == 0


def _apart(cluster: str, character: str, form: Form) -> bool:
    together = normalize_unicode(cluster + character, form)
    return together == normalize_unicode(cluster, form) + normalize_unicode(character, form)
