"""Characters that versions of Unicode since 14.0 assign or change: TERM-6 asks for those of 13.0 or a later one."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["has_newer"]

#: Ranges that 14.0 assigned.
_SINCE_14 = (
    "61D-61D 870-88E 890-891 898-89F 8B5-8B5 8C8-8D2 C3C-C3C C5D-C5D CDD-CDD 170D-170D 1715-1715 171F-171F "
    "180F-180F 1AC1-1ACE 1B4C-1B4C 1B7D-1B7E 1DFA-1DFA 20C0-20C0 2C2F-2C2F 2C5F-2C5F 2E53-2E5D 9FFD-9FFF A7C0-A7C1 "
    "A7D0-A7D1 A7D3-A7D3 A7D5-A7D9 A7F2-A7F4 FBC2-FBC2 FD40-FD4F FDCF-FDCF FDFE-FDFF 10570-1057A 1057C-1058A "
    "1058C-10592 10594-10595 10597-105A1 105A3-105B1 105B3-105B9 105BB-105BC 10780-10785 10787-107B0 107B2-107BA "
    "10F70-10F89 11070-11075 110C2-110C2 116B9-116B9 11740-11746 11AB0-11ABF 12F90-12FF2 16A70-16ABE 16AC0-16AC9 "
    "1AFF0-1AFF3 1AFF5-1AFFB 1AFFD-1AFFE 1B11F-1B122 1CF00-1CF2D 1CF30-1CF46 1CF50-1CFC3 1D1E9-1D1EA 1DF00-1DF1E "
    "1E290-1E2AE 1E7E0-1E7E6 1E7E8-1E7EB 1E7ED-1E7EE 1E7F0-1E7FE 1F6DD-1F6DF 1F7F0-1F7F0 1F979-1F979 1F9CC-1F9CC "
    "1FA7B-1FA7C 1FAA9-1FAAC 1FAB7-1FABA 1FAC3-1FAC5 1FAD7-1FAD9 1FAE0-1FAE7 1FAF0-1FAF6 2A6DE-2A6DF 2B735-2B738 "
)

#: Ranges in which later versions assigned characters, gaps included.
_SINCE_15 = (
    "CF3-CF3 ECE-ECE 10EFD-10EFF 1123F-11241 11B00-11B09 11F00-11F59 1342F-1342F 13439-13455 1B132-1B132 "
    "1B155-1B155 1D2C0-1D2D3 1DF25-1DF2A 1E030-1E08F 1E4D0-1E4F9 1F6DC-1F6DC 1F774-1F77F 1F7D9-1F7D9 1FA75-1FA77 "
    "1FA87-1FA8F 1FAAD-1FAAF 1FABB-1FABF 1FACE-1FACF 1FADA-1FADF 1FAE8-1FAEF 1FAF7-1FAF8 2B739-2B73F 31350-323AF "
    "2FFC-2FFF 31EF-31EF 2EBF0-2EE5D 897-897 1B4E-1B4F 1B7F-1B7F 1C89-1C8A 2427-2429 31E4-31E5 A7CB-A7D2 A7DA-A7DC "
    "10D40-10D8F 10EC2-10EFC 105C0-105F3 11380-113E2 116D0-116E3 11BC0-11BF9 11F5A-11F5A 13460-143FA 16100-16139 "
    "16D40-16D79 1CC00-1CEFF 1E5D0-1E5FF 1F8B2-1F8C1 1FAC6-1FAC6 1FBCB-1FBEF 323B0-3347F "
)

#: Characters whose category a version since 14.0 changed.
_CHANGED = "295-295 1734-1734 1171E-1171E"

_RANGES = [part.partition("-")[::2] for part in (_SINCE_14 + _SINCE_15 + _CHANGED).split()]
_NEWER = re.compile("[" + "".join(f"\\U{int(low, 16):08x}-\\U{int(high, 16):08x}" for low, high in _RANGES) + "]")


def has_newer(text: str, letters: bool = True) -> bool:
    """Say whether a text has a character of which versions of Unicode since 13.0 do not agree.

    Those that no version assigns yet count too: the next one may. Without ``letters`` those that can only become
    ideographs do not: it matters nowhere but where letters are told from other characters.

    >>> has_newer("abc"), has_newer("\u061d"), has_newer("\U0002a6de"), has_newer("\U0002a6de", letters=False)
    (False, True, True, False)
    >>> has_newer("\u1734")  # Mn until 13.0, and Mc since
    True
    """
    if text.isascii():
        return False
    if not letters:
        text = _IDEOGRAPHS.sub("", text)
    return bool(_NEWER.search(text)) or any(_is_open(character) for character in text)


_IDEOGRAPHS = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fffd]")


def _is_open(character: str) -> bool:
    """Say whether a code point may be assigned one day: those that are never are not."""
    number = ord(character)
    is_never = number & 0xFFFE == 0xFFFE or 0xFDD0 <= number <= 0xFDEF
    return not is_never and unicodedata.category(character) == "Cn"
