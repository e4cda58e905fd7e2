"""The byte alphabet of GPT-2: a printable character for every byte (``spec/02-pre-tokenization.md``)."""

from __future__ import annotations

from tokref.errors import InputError

__all__ = ["BYTE_CHARACTERS", "byte_characters", "character_bytes"]

_SELVES = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}  # PRE-BYTE-3


def _alphabet() -> tuple[str, ...]:
    others = [byte for byte in range(256) if byte not in _SELVES]
    moved = {byte: chr(0x100 + place) for place, byte in enumerate(others)}  # PRE-BYTE-3
    return tuple(moved.get(byte, chr(byte)) for byte in range(256))


BYTE_CHARACTERS = _alphabet()
"""The character of each byte, by the byte's value."""

_BYTES = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}


def byte_characters(text: str) -> str:
    """Write a text as one character for every byte of its UTF-8.

    Clauses: PRE-BYTE-3, PRE-BYTE-6, BPE-BYTE-1.

    Raises:
        InputError: ``invalid_input``, for a lone surrogate, which has no UTF-8.

    >>> byte_characters(" é")
    'ĠÃ©'
    """
    return _utf_8(text).decode("latin-1").translate(BYTE_CHARACTERS)  # BPE-BYTE-1: every byte has its character


def character_bytes(token: str) -> bytes:
    """Give the bytes that a token stands for.

    Clauses: DEC-BYTE-3.

    Raises:
        InputError: ``invalid_input``, for a lone surrogate.

    >>> character_bytes("ĠÃ©"), character_bytes("Ġ中") == "Ġ中".encode()
    (b' \\xc3\\xa9', True)
    """
    values = [_BYTES.get(character, -1) for character in token]
    return _utf_8(token) if -1 in values else bytes(values)  # DEC-BYTE-3


def _utf_8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        found = f"U+{ord(text[error.start]):04X}"
        raise InputError("invalid_input", f"the lone surrogate {found} has no UTF-8; replace it") from error
