"""Tokens back to text (``spec/07-decoding.md``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tokref.byte_alphabet import character_bytes
from tokref.choices import Choices

__all__ = [
    "ByteLevelDecoder",
    "Decoder",
    "MetaspaceDecoder",
    "WordPieceDecoder",
    "join_byte_level",
    "join_metaspace",
    "join_tokens",
    "join_wordpiece",
]


class Decoder(Protocol):
    """What joins tokens to text; there is at least one token."""

    def join(self, tokens: Sequence[str], choices: Choices) -> str: ...


def join_tokens(tokens: Sequence[str], decoder: Decoder | None, choices: Choices) -> str:
    """Join tokens by a decoder, or with spaces.

    Clauses: DEC-1, DEC-2.

    >>> join_tokens(["a", "b"], None, Choices())
    'a b'
    """
    if not tokens:  # DEC-2
        return ""
    return " ".join(tokens) if decoder is None else decoder.join(tokens, choices)  # DEC-1


def join_byte_level(tokens: Sequence[str]) -> str:
    """Join the bytes of all tokens, and only then decode them.

    Clauses: DEC-BYTE-1, DEC-BYTE-2.

    >>> join_byte_level(["ä", "¾", "Ĩ"]), join_byte_level(["ä", "¾"])
    ('來', '�')
    """
    joined = b"".join(map(character_bytes, tokens))  # DEC-BYTE-1
    return joined.decode("utf-8", errors="replace")  # DEC-BYTE-2: Python replaces maximal subparts


def join_metaspace(tokens: Sequence[str], choices: Choices, replacement: str = "▁") -> str:
    """Join the tokens and make spaces of the replacement character.

    Clauses: DEC-META-1, DEC-META-2.

    >>> join_metaspace(["▁a", "▁b"], Choices()), join_metaspace(["▁a"], Choices(metaspace_leading_space="removed"))
    (' a b', 'a')
    """
    first, *others = tokens
    if choices.metaspace_leading_space == "removed":  # DEC-META-2
        first = first.removeprefix(replacement)
    elif choices.metaspace_leading_space == "removed_from_first_token":
        first = first.replace(replacement, "")
    return "".join([first, *others]).replace(replacement, " ")  # DEC-META-1


def join_wordpiece(tokens: Sequence[str], prefix: str = "##") -> str:
    """Join the tokens with spaces, but continuing ones directly.

    Clauses: DEC-WP-1.

    >>> join_wordpiece(["Hugg", "##i", "##n", "##g", "Face"])
    'Hugging Face'
    """
    first, *others = tokens
    return first + "".join(  # DEC-WP-1
        token.removeprefix(prefix) if token.startswith(prefix) else f" {token}" for token in others
    )


@dataclass(frozen=True)
class ByteLevelDecoder:
    """The decoder ``byte_level``."""

    def join(self, tokens: Sequence[str], choices: Choices) -> str:
        """Join tokens to text."""
        return join_byte_level(tokens)


@dataclass(frozen=True)
class MetaspaceDecoder:
    """The decoder ``metaspace``."""

    replacement: str = "▁"

    def join(self, tokens: Sequence[str], choices: Choices) -> str:
        """Join tokens to text."""
        return join_metaspace(tokens, choices, self.replacement)


@dataclass(frozen=True)
class WordPieceDecoder:
    """The decoder ``wordpiece``."""

    prefix: str = "##"

    def join(self, tokens: Sequence[str], choices: Choices) -> str:
        """Join tokens to text."""
        return join_wordpiece(tokens, self.prefix)
