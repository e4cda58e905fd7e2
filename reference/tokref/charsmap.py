"""SentencePiece's character map: prefixes of the text in a double-array trie, each with what it becomes (NORM-MAP-1).

The map is one block of bytes. Its first four give the size of the trie; the units of the trie follow, four bytes each,
least significant byte first; what is left are the replacements, each ended by a zero byte.

A double array keeps a whole trie in one list of units, of 32 bits each. There are two kinds, distinguished by bit 31:

    bits     31  30-10   9          8                   7-0
    node     0   offset  times 256  a prefix ends here  label: the byte that leads to this node
    value    1   where a replacement begins, in bytes from the first one

The children of a node at place ``p`` have the base ``p ^ offset``, and the child for a byte is at ``base ^ byte``. The
children of all nodes lie among one another, so a unit at such a place may be another node's child, and it is this one's
only if its label is the byte. What a prefix becomes is where the child for byte 0 would be, at the base itself. It is a
value, and values have bit 31, so their label is not a byte and no text leads to them. An unused place must hold a value
too, because a unit of 0 would be a child for U+0000.
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
        """Return how many characters at a place are replaced, and by what; 0 if none are.

        In this map "a" becomes "xy": the root has the base 1, the child for "a" is at 1 ^ 0x61, and its own base is 2.

        >>> units = [IS_VALUE] * 0x61
        >>> units[0], units[1 ^ 0x61], units[2] = 1 << 10, (2 ^ 1 ^ 0x61) << 10 | 1 << 8 | 0x61, IS_VALUE | 0
        >>> CharacterMap(tuple(units), b"xy\\0").longest("ba", 1)
        (1, 'xy')
        """
        found = 0, ""
        base = _offset(self.unit(0))  # the root has no label
        for end in range(place, len(text)):
            for byte in text[end].encode("utf-8", "surrogatepass"):  # NORM-MAP-3
                child = base ^ byte
                unit = self.unit(child)
                if _label(unit) != byte:  # this node has no child for the byte
                    return found
                base = child ^ _offset(unit)
            if _ends_prefix(unit):
                found = end + 1 - place, self.replacement(_value(self.unit(base)))
        return found

    def unit(self, place: int) -> int:
        """Return a unit; beyond the trie there is nothing, which is a value and so no child."""
        return self.units[place] if place < len(self.units) else IS_VALUE

    def replacement(self, place: int) -> str:
        """Return the replacement that begins at a place; what is not UTF-8 in it is replaced."""
        end = self.replacements.find(b"\0", place)
        return self.replacements[place : end if end >= 0 else None].decode("utf-8", "replace")


IS_VALUE = 1 << 31
"""The bit that tells a value from a node."""

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


def _label(unit: int) -> int:
    """Return the byte that leads to a node; of a value it is larger than any byte."""
    return unit & (IS_VALUE | 0xFF)


def _ends_prefix(unit: int) -> bool:
    return unit >> 8 & 1 == 1


def _offset(unit: int) -> int:
    """Return what leads from a node to its children, which may be so far away that it counts in steps of 256."""
    offset, is_far = unit >> 10, unit >> 9 & 1
    return offset * 256 if is_far else offset


def _value(unit: int) -> int:
    return unit & ~IS_VALUE
