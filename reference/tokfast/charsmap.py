"""SentencePiece's character map, a dictionary of two characters at a time (``spec/01-normalization.md``).

Which prefix of the map is at a place seldom depends on more than the character there and the next one, and a text has
few different pairs of characters. So the answer for each pair is kept, and the trie is only followed for a pair that is
new, or where a prefix may go on after it.
"""

from __future__ import annotations

from tokfast.values import Cache, Piece
from tokref.alignment import AlignedText, Step
from tokref.charsmap import CharacterMap
from tokref.choices import Choices


class CharacterMapNormalizer:
    """A character map of tokref, prepared for many texts.

    >>> CharacterMapNormalizer(Choices(), CharacterMap((), b"")).apply("ab")
    'ab'
    """

    def __init__(self, choices: Choices, charsmap: CharacterMap) -> None:
        self._map = charsmap
        self._pairs: Cache[str, tuple[int, str] | None] = Cache(self._look_up)

    def apply(self, text: str) -> str:
        """Return the text with all replacements (NORM-MAP-2)."""
        return "".join([output for output, _, _ in self.steps(text)])

    def align(self, piece: Piece) -> Piece:
        """Return the same of a text with spans (NORM-MAP-4)."""
        aligned = AlignedText(piece.text, tuple(piece.spans_of_characters())).rewrite(self.steps(piece.text))
        return piece._replace(text=aligned.text, spans=aligned.spans)

    def steps(self, text: str) -> list[Step]:
        """Return what each stretch of a text becomes, as :meth:`tokref.charsmap.CharacterMap.steps` does."""
        steps: list[Step] = []
        place, size, pairs = 0, len(text), self._pairs
        while place < size:
            found = pairs[text[place : place + 2]]
            length, replacement = self._longest(text, place) if found is None else found
            steps.append((replacement, place, place + length))
            place += length
        return steps

    def _look_up(self, pair: str) -> tuple[int, str] | None:
        """Return how many characters are replaced or copied, and by what; None if what follows may change that."""
        if len(pair) == 2 and self._goes_on(pair):
            return None
        return self._longest(pair, 0)

    def _longest(self, text: str, place: int) -> tuple[int, str]:
        length, replacement = self._map.longest(text, place)
        return (length, replacement) if length else (1, text[place])

    def _goes_on(self, pair: str) -> bool:
        """Say whether a prefix of the map that is longer than the pair may begin with it."""
        unit = self._map.unit
        node = _offset(unit(0))
        for byte in pair.encode("utf-8", "surrogatepass"):
            node ^= byte
            if unit(node) & 0x800000FF != byte:
                return False
            node ^= _offset(unit(node))
        return any(unit(node ^ byte) & 0x800000FF == byte for byte in range(1, 256))


def _offset(unit: int) -> int:
    """Return what leads from a node to its children (NORM-MAP-1)."""
    return unit >> 10 << ((unit & 0x200) >> 6)
