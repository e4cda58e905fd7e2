"""Text whose characters know where they came from.

Every character of an aligned text carries a span: the code points of the original input that it was made from. A stage
that rewrites a text says, step by step, which characters an output replaces, and the output takes over their spans. A
character that a stage adds has an empty span, so it takes no room in the input.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

Span = tuple[int, int]
"""Start and end in the original input, in code points; the end is excluded (TERM-3)."""

Step = tuple[str, int, int]
"""One step of a rewriting: an output, and the range of characters it replaces; an empty range inserts."""


@dataclass(frozen=True)
class AlignedText:
    """A text with a span for each character.

    ``is_first`` says that nothing of the input comes before this text: no special token, no other piece, and nothing
    that a pre-tokenizer dropped. Only ``metaspace`` asks for it (PRE-META-4).
    """

    text: str
    spans: tuple[Span, ...]
    is_first: bool = True

    @classmethod
    def from_input(cls, text: str, start: int = 0) -> AlignedText:
        """Align a stretch of the input that begins at ``start``.

        >>> AlignedText.from_input("bc", 1)
        AlignedText(text='bc', spans=((1, 2), (2, 3)), is_first=False)
        """
        places = range(start, start + len(text))
        return cls(text, tuple((place, place + 1) for place in places), start == 0)  # TERM-3

    def span(self, begin: int, end: int) -> Span:
        """Return what the characters from ``begin`` to ``end``, at least one, cover in the input.

        Added characters take no room (ENC-3): the span of nothing else is empty.

        >>> AlignedText("▁a", ((0, 0), (2, 3))).span(0, 2)
        (2, 3)
        """
        spans = self.spans[begin:end]
        filled = [(start, stop) for start, stop in spans if start < stop] or spans[:1]
        return filled[0][0], filled[-1][1]

    def cut(self, begin: int, end: int) -> AlignedText:
        """Return the characters from ``begin`` to ``end``.

        >>> AlignedText.from_input("abc").cut(1, 3)
        AlignedText(text='bc', spans=((1, 2), (2, 3)), is_first=False)
        """
        return AlignedText(self.text[begin:end], self.spans[begin:end], self.is_first and begin == 0)

    def replace_each(self, old: str, new: str) -> AlignedText:
        """Replace one character by another, everywhere.

        >>> AlignedText.from_input("a b").replace_each(" ", "▁").text
        'a▁b'
        """
        return replace(self, text=self.text.replace(old, new))

    def prefix(self, character: str) -> AlignedText:
        """Add a character before the text.

        >>> AlignedText.from_input("a").prefix("▁")
        AlignedText(text='▁a', spans=((0, 0), (0, 1)), is_first=True)
        """
        return replace(self, text=character + self.text, spans=(self._point(0), *self.spans))

    def rewrite(self, steps: Iterable[Step]) -> AlignedText:
        """Rebuild the text from steps that go through it from left to right, so spans stay in order (ENC-6).

        Every character of an output gets the span of all that the step replaces.

        >>> AlignedText.from_input("ﬁx").rewrite([("fi", 0, 1), ("", 1, 2), ("!", 2, 2)])
        AlignedText(text='fi!', spans=((0, 1), (0, 1), (2, 2)), is_first=True)
        """
        text, spans = "", list[Span]()
        for output, begin, end in steps:
            text += output
            if output:
                spans += [self.span(begin, end) if begin < end else self._point(begin)] * len(output)
        return replace(self, text=text, spans=tuple(spans))

    def _point(self, place: int) -> Span:
        """Return the empty span before the character at a place, or after the last character."""
        if place < len(self.spans):
            return self.spans[place][0], self.spans[place][0]
        end = self.spans[-1][1] if self.spans else 0
        return end, end
