"""Kinds of characters, by which differences are told apart."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from tokspec.formats.tiktoken_ranks import to_bytes

__all__ = ["kind", "kind_in"]

_KINDS: Mapping[str, str] = {
    "L": "letters",
    "M": "marks",
    "N": "numbers",
    "P": "punctuation",
    "S": "symbols",
    "Z": "white space",
    "Cc": "controls",
    "Cf": "invisible characters",
    "Co": "private use",
    "Cn": "unassigned characters",
    "Cs": "surrogates",
}

#: What stands for a space in the tokens of SentencePiece and its kin.
_SPACE = "▁"


@lru_cache(4096)
def kind(character: str) -> str:
    """Name the kind of a character, and the script of a letter or a mark.

    >>> kind("é"), kind("水"), kind("\\n"), kind("")
    ('letters (latin)', 'letters (cjk)', 'white space', 'the end')
    """
    if not character:
        return "the end"
    if character.isspace():
        return "white space"
    category = unicodedata.category(character)
    name = _KINDS.get(category) or _KINDS[category[0]]
    script = unicodedata.name(character, "").split(" ")[0].split("-")[0].lower()
    return f"{name} ({script})" if category[0] in "LM" and script else name


def kind_in(character: str, text: str) -> str:
    """Name the kind of a character of a token, which may stand for another in the text, or for a byte of one.

    >>> kind_in("Ġ", "a b"), kind_in("▁", "a b"), kind_in("Ġ", "Ġużepp"), kind_in("ð", "🙂")
    ('white space', 'white space', 'letters (latin)', 'parts of characters')
    """
    if not character or character in text or character in unicodedata.normalize("NFKC", text.lower()):
        return kind(character)
    if character == _SPACE:
        return kind(" ")
    byte = to_bytes(character)
    if byte is None:
        return kind(character)
    return kind(chr(byte[0])) if byte[0] < 0x80 else "parts of characters"
