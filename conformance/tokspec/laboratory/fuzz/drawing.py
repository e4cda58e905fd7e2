"""Choices that strategies are made of, so that drawing is quick and what is drawn shrinks well.

A list or a text is one string choice, whose characters are numbers that a table of the caller reads: Hypothesis draws a
string at once, 80 % of it from the first 256 characters of its alphabet, and shrinks it by leaving out and lowering
characters. Tables therefore hold what is plain in their first 256 places, repeated, and what is odd behind them. An
optional part begins with a branch of few values (``maybe``): the shrinker exchanges it for nothing and keeps the rest.

What is drawn for a first difference is drawn by a backend that does nothing else (``BACKEND``). Hypothesis's own keeps
a tree of what was drawn, and makes five of six examples by changing the one before: with examples of thousands of
choices it finds fewer differences in the same time. Shrinking and replay are Hypothesis's own. Backends are an
interface that may move (``pyproject.toml`` bounds the version): where it has, Hypothesis's own is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st

__all__ = ["BACKEND", "PLAIN", "Draw", "chance", "coded", "coded_lists", "codes", "maybe", "number", "pick", "table"]

Draw: TypeAlias = Callable[[st.SearchStrategy[Any]], Any]
_Item = TypeVar("_Item")

#: Places of a table that hold what is plain.
PLAIN = 256

#: The first code point of the alphabet: none behind it is a surrogate, and they shrink in their own order.
_BASE = 0x4E00


@cache
def number(last: int) -> st.SearchStrategy[int]:
    """Draw an integer from 0 to ``last``, which is the simplest at 0."""
    return st.integers(0, last)


@cache
def coded(places: int, least: int = 0, most: int = 12) -> st.SearchStrategy[str]:
    """Draw a string of codes of a table with so many places; :func:`codes` reads it."""
    alphabet = st.characters(min_codepoint=_BASE, max_codepoint=_BASE + places - 1)
    return st.text(alphabet, min_size=least, max_size=most)


@cache
def coded_lists(places: int, most: int, least: int = 0, longest: int = 12) -> st.SearchStrategy[list[str]]:
    """Draw a list of strings of codes."""
    return st.lists(coded(places, least, longest), max_size=most)


def codes(drawn: str) -> list[int]:
    r"""Return the codes of a string that was drawn.

    >>> codes("\u4e00\u4e02")
    [0, 2]
    """
    return [ord(character) - _BASE for character in drawn]


def pick(draw: Draw, options: Sequence[_Item]) -> _Item:
    """Choose an option; the first is the simplest, and one that is listed twice is twice as likely."""
    return options[draw(number(len(options) - 1))]


def chance(draw: Draw, percent: int) -> bool:
    """Say yes about so often, with a choice of few values; the simplest is no."""
    if percent > 50:
        return bool(draw(number(max(1, round(100 / (100 - percent)) - 1))) > 0)
    last = round(100 / percent) - 1
    return bool(draw(number(last)) == last)


@st.composite
def maybe(draw: Draw, strategy: st.SearchStrategy[Any], last: int) -> Any:
    """Draw nothing, or one time in ``last + 1`` something."""
    return draw(strategy) if draw(number(last)) == last else None


def table(*shares: tuple[int, Iterable[_Item]]) -> list[_Item]:
    """Fill the plain places of a table: each list takes a share of them, repeated as often as it fits.

    >>> table((2, "a"), (1, "b"))[:4]
    ['a', 'a', 'b', 'a']
    """
    found: list[_Item] = []
    for share, items in shares:
        listed = list(items)
        found += [listed[at % len(listed)] for at in range(share if listed else 0)]
    return (found * (PLAIN // len(found) + 1))[:PLAIN]


# The backend

try:
    from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider
except ImportError:  # pragma: no cover
    BACKEND = "hypothesis"
else:
    BACKEND = "tokspec-random"

    class RandomProvider(HypothesisProvider):
        """Draws booleans, integers and strings uniformly; strings take 80 % from the first 256 characters."""

        def draw_boolean(self, p: float = 0.5) -> bool:
            """Draw True with the probability ``p``."""
            assert self._random is not None
            return self._random.random() < p

        def draw_integer(self, min_value: int | None = None, max_value: int | None = None, **others: Any) -> int:
            """Draw an integer of a range; without one, as Hypothesis does."""
            assert self._random is not None
            if min_value is None or max_value is None:
                return super().draw_integer(min_value, max_value, **others)
            return min_value + int(self._random.random() * (max_value - min_value + 1))

        def draw_string(self, intervals: Any, *, min_size: int = 0, max_size: int = 12) -> str:
            """Draw a string whose length is distributed as Hypothesis's are."""
            assert self._random is not None
            random, last = self._random.random, len(intervals)
            average = min(max(min_size * 2, min_size + 5), 0.5 * (min_size + max_size))
            goes_on, size = 1 - 1 / (1 + average - min_size), min_size
            while size < max_size and random() < goes_on:
                size += 1
            plain = min(last, 256)
            places = [
                int(random() * plain) if last == plain or random() < 0.8 else plain + int(random() * (last - plain))
                for _ in range(size)
            ]
            return "".join([intervals.char_in_shrink_order(place) for place in places])

    AVAILABLE_PROVIDERS[BACKEND] = f"{__name__}.{RandomProvider.__name__}"
