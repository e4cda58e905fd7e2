"""Decoding: tokens back to text (``spec/07-decoding.md``).

A decoder is a function from a list of tokens, at least one, to a text, found in a table by the type that the model
names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tokref.choices import Choices
from tokref.pre_tokenization import BYTE_CHARACTERS, utf_8
from tokref.values import Component

__all__ = ["join_tokens"]


def join_tokens(tokens: Sequence[str], decoder: Component | None, choices: Choices) -> str:
    """Join tokens by a decoder or, without one, directly or with one space between them.

    >>> join_tokens(["Hugg", "##ing", "Face"], Component("wordpiece", {"prefix": "##"}), Choices())
    'Hugging Face'
    """
    if not tokens:  # DEC-2
        return ""
    if decoder is None:  # DEC-JOIN-1
        return ("" if choices.join_without_decoder == "nothing" else " ").join(tokens)
    return DECODERS[decoder.type](tokens, choices, **decoder.parameters)


def join_byte_level(tokens: Sequence[str], choices: Choices) -> str:
    """Join the bytes of all tokens, and only then decode them (DEC-BYTE-1).

    >>> join_byte_level(["ä", "¾", "Ĩ"], Choices()), join_byte_level(["ä", "¾"], Choices())
    ('來', '�')
    """
    joined = b"".join(_token_bytes(token) for token in tokens)
    return joined.decode("utf-8", errors="replace")  # DEC-BYTE-2: Python replaces maximal subparts


def join_metaspace(tokens: Sequence[str], choices: Choices, replacement: str) -> str:
    """Join the tokens and replace every replacement character by a space (DEC-META-1)."""
    first, *others = tokens
    if choices.metaspace_leading_space == "removed":  # DEC-META-2
        first = first.removeprefix(replacement)
    elif choices.metaspace_leading_space == "removed_from_first_token":
        first = first.replace(replacement, "")
    return "".join([first, *others]).replace(replacement, " ")


def join_wordpiece(tokens: Sequence[str], choices: Choices, prefix: str) -> str:
    """Join the tokens with spaces, but continuing ones directly and without their prefix (DEC-WP-1)."""
    first, *others = tokens
    return first + "".join(token.removeprefix(prefix) if token.startswith(prefix) else " " + token for token in others)


def _token_bytes(token: str) -> bytes:
    if all(character in BYTE_CHARACTERS for character in token):
        return bytes(BYTE_CHARACTERS.index(character) for character in token)
    return utf_8(token)  # DEC-BYTE-3


DECODERS: Mapping[str, Callable[..., str]] = {
    "byte_level": join_byte_level,
    "metaspace": join_metaspace,
    "wordpiece": join_wordpiece,
}
