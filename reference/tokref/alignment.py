"""Text that remembers where each of its characters stood in the original input.

Spans are half-open and count code points of the input (TERM-3). Text that no stage has rewritten carries only
its start: alignment is paid for by the stages that change something.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

__all__ = ["AlignedText", "PlainText", "Span", "Unit"]

Span = tuple[int, int]
"""Start and end in the original input, in code points, half-open."""

Unit = tuple[str, int, int]
"""A step of a rewriting: an output, and the half-open range of characters that it replaces; an empty range inserts."""


@dataclass(frozen=True, slots=True)
class AlignedText:
    """A text, where it begins in the input, and the span of each character; without spans, one after the other.

    >>> AlignedText("Hello", 7).span(1, 3)
    (8, 10)
    """

    text: str
    start: int = 0
    spans: Sequence[Span] | None = None

    def span(self, begin: int, end: int) -> Span:
        """Give the room in the input of the characters from ``begin`` to ``end``; inserted ones take none.

        >>> AlignedText("▁a", 0, ((0, 0), (2, 3))).span(0, 2)
        (2, 3)
        """
        if self.spans is None:
            return self.start + begin, self.start + end
        first, last = begin, end - 1
        while first < last and self.spans[first][0] == self.spans[first][1]:
            first += 1
        while last > first and self.spans[last][0] == self.spans[last][1]:
            last -= 1
        return self.spans[first][0], self.spans[last][1]

    def cut(self, begin: int, end: int) -> AlignedText:
        """Give the characters from ``begin`` to ``end``, at least one, with their alignment.

        >>> AlignedText("a bc").cut(2, 4)
        AlignedText(text='bc', start=2, spans=None)
        """
        start = self.start if begin == 0 else self.span(begin, end)[0]
        return AlignedText(self.text[begin:end], start, None if self.spans is None else self.spans[begin:end])

    def replaced(self, text: str) -> AlignedText:
        """Exchange the characters one for one.

        >>> AlignedText("a b", 3).replaced("a▁b")
        AlignedText(text='a▁b', start=3, spans=None)
        """
        return replace(self, text=text)

    def rewritten(self, units: Iterable[Unit]) -> AlignedText:
        """Build the text anew out of units in the order of the text.

        Every character of an output gets the span of all that the unit replaces.

        >>> AlignedText("ﬁx").rewritten([("fi", 0, 1), ("", 1, 2), ("!", 2, 2)])
        AlignedText(text='fi!', start=0, spans=((0, 1), (0, 1), (2, 2)))
        """
        outputs: list[str] = []
        spans: list[Span] = []
        for output, begin, end in units:
            outputs.append(output)
            if output:
                room = self.span(begin, end) if begin < end else self._point(begin)
                spans += [room] * len(output)
        return AlignedText("".join(outputs), self.start, tuple(spans))

    def prefixed(self, prefix: str) -> AlignedText:
        """Put characters before the text that take no room in the input.

        >>> AlignedText("a", 4).prefixed("▁")
        AlignedText(text='▁a', start=4, spans=((4, 4), (4, 5)))
        """
        first, after = self.start, self.start + len(self.text)
        own = (
            self.spans if self.spans is not None else zip(range(first, after), range(first + 1, after + 1), strict=True)
        )
        return AlignedText(prefix + self.text, self.start, (*[self._point(0)] * len(prefix), *own))

    def _point(self, position: int) -> Span:
        """Give the empty span before a character, or after the last."""
        if self.spans is None:
            return self.start + position, self.start + position
        if position < len(self.spans):
            return self.spans[position][0], self.spans[position][0]
        end = self.spans[-1][1] if self.spans else self.start
        return end, end


@dataclass(frozen=True, slots=True)
class PlainText(AlignedText):
    """A text of which nobody will ask where its characters stood: it is rewritten without that.

    >>> PlainText("a").prefixed("▁")
    PlainText(text='▁a', start=0, spans=None)
    """

    def prefixed(self, prefix: str) -> AlignedText:
        """Put characters before the text."""
        return self.replaced(prefix + self.text)
