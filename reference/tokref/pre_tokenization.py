"""Pre-tokenization: the second stage, normalized text to pieces (``spec/02-pre-tokenization.md``).

A pre-tokenizer is a function from an aligned text to a list of aligned texts, found in a table by the type that the
model names. Each first rewrites the text where its rules say so, and then collects the matches of a pattern from left
to right; what no match covers is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import regex

from tokref.alignment import AlignedText
from tokref.errors import InputError
from tokref.values import Component

__all__ = ["BYTE_CHARACTERS", "pre_tokenize", "utf_8"]

# The package regex knows the properties of Unicode, which the module re does not.
NO_WHITE_SPACE = regex.compile(r"\P{White_Space}+")

PUNCTUATION = r"!-/:-@\[-`{-~\p{P}"  # PRE-BERT-3
BERT = regex.compile(rf"[{PUNCTUATION}]|[^\p{{White_Space}}{PUNCTUATION}]+")

GPT_2 = regex.compile(  # PRE-BYTE-1
    r"'(?:s|t|re|ve|m|ll|d)"
    r"| ?\p{L}+"
    r"| ?\p{N}+"
    r"| ?[^\p{White_Space}\p{L}\p{N}]+"
    r"|\p{White_Space}+(?!\P{White_Space})"  # PRE-BYTE-2: before a word, all white space but the last character
    r"|\p{White_Space}+"
)


def pre_tokenize(text: AlignedText, pre_tokenizer: Component | None) -> list[AlignedText]:
    """Cut a text into pieces, in the order of the text (PRE-1).

    >>> [piece.text for piece in pre_tokenize(AlignedText.from_input("¿Qui, 5?"), Component("bert"))]
    ['¿', 'Qui', ',', '5', '?']
    """
    if not text.text:  # PRE-2
        return []
    if pre_tokenizer is None:  # PRE-2
        return [text]
    return PRE_TOKENIZERS[pre_tokenizer.type](text, **pre_tokenizer.parameters)


def split_in_order(text: AlignedText, pre_tokenizers: tuple[Component, ...]) -> list[AlignedText]:
    """Apply each pre-tokenizer to every piece of the one before (PRE-SEQUENCE-1)."""
    pieces = [text]
    for pre_tokenizer in pre_tokenizers:
        pieces = [part for piece in pieces for part in pre_tokenize(piece, pre_tokenizer)]
    return pieces


def split_whitespace(text: AlignedText) -> list[AlignedText]:
    """Cut at white space and drop it (PRE-SPACE-1)."""
    return _matches(NO_WHITE_SPACE, text)


def split_bert(text: AlignedText) -> list[AlignedText]:
    """Cut at white space, which is dropped (PRE-BERT-1), and around each punctuation character (PRE-BERT-2)."""
    return _matches(BERT, text)


def split_byte_level(text: AlignedText, add_prefix_space: bool, use_regex: bool) -> list[AlignedText]:
    """Cut as GPT-2 does, and write every byte of a piece as a character."""
    if add_prefix_space and not text.text.startswith(" "):  # PRE-BYTE-4
        text = text.prefix(" ")
    pieces = _matches(GPT_2, text) if use_regex else [text]  # PRE-BYTE-5
    return [_write_bytes(piece) for piece in pieces]


def split_metaspace(
    text: AlignedText, replacement: str, prepend_scheme: Literal["always", "first", "never"], split: bool
) -> list[AlignedText]:
    """Replace spaces by a visible character, and begin a piece at each of them."""
    text = text.replace_each(" ", replacement)  # PRE-META-1
    is_wanted = prepend_scheme == "always" or (prepend_scheme == "first" and text.is_first)  # PRE-META-4
    if is_wanted and not text.text.startswith(replacement):  # PRE-META-2
        text = text.prefix(replacement)
    if not split:  # PRE-META-3
        return [text]
    return _matches(regex.compile(rf"(?s).[^{regex.escape(replacement)}]*"), text)


def utf_8(text: str) -> bytes:
    """Return the UTF-8 of a text. Only here is a lone surrogate not a character like any other (TERM-8).

    Raises:
        InputError: ``invalid_input``, for a lone surrogate, which has none (PRE-BYTE-6).
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        found = f"U+{ord(text[error.start]):04X}"
        raise InputError("invalid_input", f"the lone surrogate {found} has no UTF-8; replace it") from error


def _make_byte_characters() -> tuple[str, ...]:
    themselves = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in themselves]  # 68 of them
    return tuple(chr(byte) if byte in themselves else chr(0x100 + others.index(byte)) for byte in range(256))


BYTE_CHARACTERS = _make_byte_characters()
"""The character that stands for each byte, by the byte's value (PRE-BYTE-3)."""


def _write_bytes(piece: AlignedText) -> AlignedText:
    """Write the UTF-8 of each character, a character for each byte (PRE-BYTE-3); so none is unknown (BPE-BYTE-1)."""
    written = [
        "".join(BYTE_CHARACTERS[byte] for byte in utf_8(character))  # PRE-BYTE-6
        for character in piece.text
    ]
    return piece.rewrite((text, place, place + 1) for place, text in enumerate(written))


def puts_replacement(pre_tokenizer: Component | None) -> bool:
    """Say whether a pre-tokenizer puts a replacement before texts, for the space that decoding drops (DEC-META-2).

    >>> puts_replacement(Component("metaspace", {"prepend_scheme": "never"}))
    False
    """
    if pre_tokenizer is None:
        return False
    if pre_tokenizer.type == "sequence":
        return any(map(puts_replacement, pre_tokenizer.parameters["pre_tokenizers"]))
    return pre_tokenizer.type == "metaspace" and pre_tokenizer.parameters["prepend_scheme"] != "never"


def _matches(pattern: regex.Pattern[str], text: AlignedText) -> list[AlignedText]:
    return [text.cut(*match.span()) for match in pattern.finditer(text.text)]


PRE_TOKENIZERS: Mapping[str, Callable[..., list[AlignedText]]] = {
    "bert": split_bert,
    "byte_level": split_byte_level,
    "metaspace": split_metaspace,
    "whitespace_split": split_whitespace,
    "sequence": split_in_order,
}
