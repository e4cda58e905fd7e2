"""SentencePiece's character map: prefixes of the text in a double-array trie, each with what it becomes (NORM-MAP-1).

The map is one block of bytes. Its first four give the size of the trie; the units of the trie follow, four bytes each,
least significant byte first; what is left are the replacements, each ended by a zero byte.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokref.alignment import Step
from tokref.errors import InputError


@dataclass(frozen=True)
class CharacterMap:
    """The units of the trie, and the replacements."""

    units: tuple[int, ...]
    replacements: bytes

    def steps(self, text: str) -> list[Step]:
        """Replace, from left to right, the longest prefix of what is left that the map has (NORM-MAP-2).

        A character at which no prefix of the map begins is copied.
        """
        steps: list[Step] = []
        place = 0
        while place < len(text):
            length, replacement = self.longest(text, place)
            steps.append((replacement, place, place + length) if length else (text[place], place, place + 1))
            place += length or 1
        return steps

    def longest(self, text: str, place: int) -> tuple[int, str]:
        """Return how many characters at a place are replaced, and by what; 0 if none are."""
        found = 0, ""
        node = _offset(self.unit(0))
        for end in range(place, len(text)):
            for byte in text[end].encode("utf-8", "surrogatepass"):  # NORM-MAP-3
                node ^= byte
                unit = self.unit(node)
                if unit & 0x800000FF != byte:
                    return found
                node ^= _offset(unit)
            if unit >> 8 & 1:  # here a prefix ends
                found = end + 1 - place, self.replacement(self.unit(node) & 0x7FFFFFFF)
        return found

    def unit(self, place: int) -> int:
        """Return a unit; one that is beyond the trie has no byte and no offset."""
        return self.units[place] if place < len(self.units) else 0x80000000

    def replacement(self, place: int) -> str:
        """Return the replacement that begins at a place; what is not UTF-8 in it is replaced."""
        end = self.replacements.find(b"\0", place)
        return self.replacements[place : end if end >= 0 else None].decode("utf-8", "replace")


NO_MAP = CharacterMap((), b"")
"""The map that replaces nothing."""


def read_map(content: bytes) -> CharacterMap:
    """Read a map (NORM-MAP-1); an empty one replaces nothing.

    Raises:
        InputError: ``invalid_model``, where the sizes contradict each other.

    >>> read_map(b"").steps("ab")
    [('a', 0, 1), ('b', 1, 2)]
    """
    if not content:
        return NO_MAP
    size = int.from_bytes(content[:4], "little")
    if size % 4 or 4 + size > len(content):  # so is what is shorter than the size itself
        raise InputError("invalid_model", f"a character map of {len(content)} bytes says that its trie has {size}")
    trie = content[4 : 4 + size]
    units = tuple(int.from_bytes(trie[place : place + 4], "little") for place in range(0, size, 4))
    return CharacterMap(units, content[4 + size :])


def _offset(unit: int) -> int:
    """Return what leads from a node to its children; with the ninth bit it counts in steps of 256."""
    return unit >> 10 << ((unit & 0x200) >> 6)
