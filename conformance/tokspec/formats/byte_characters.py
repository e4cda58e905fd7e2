"""The alphabet of byte-level tokens: one character for every byte (PRE-BYTE-3)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["from_bytes", "to_bytes"]

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(0x100) if byte not in _PRINTABLE]
_CHARACTERS: Mapping[int, str] = MappingProxyType(
    {byte: chr(byte) for byte in _PRINTABLE} | {byte: chr(0x100 + index) for index, byte in enumerate(_OTHERS)}
)
_BYTES: Mapping[str, int] = MappingProxyType({character: byte for byte, character in _CHARACTERS.items()})


def from_bytes(token: bytes) -> str:
    """Return the characters of bytes.

    >>> from_bytes(b" hug")
    'Ġhug'
    """
    return "".join(_CHARACTERS[byte] for byte in token)


def to_bytes(token: str) -> bytes | None:
    """Return the bytes of a token, or None if one of its characters stands for none.

    >>> to_bytes("Ġhug")
    b' hug'
    >>> to_bytes("▁hug") is None
    True
    """
    return bytes(map(_BYTES.__getitem__, token)) if all(character in _BYTES for character in token) else None
