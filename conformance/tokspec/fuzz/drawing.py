"""What strategies are made of in addition to Hypothesis's own: options by weight, chances, and sequences of steps.

Options are lists for ``st.sampled_from``, the simplest first: one that is listed more often is drawn more often. An
optional part begins with a choice of few values, which the shrinker exchanges for nothing and keeps the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

_Item = TypeVar("_Item")


def weighted(*shares: tuple[int, Sequence[_Item]]) -> list[_Item]:
    """Return options of which each list takes about its share; a list that is longer than it is taken once.

    >>> weighted((4, "ab"), (1, "c"))
    ['a', 'b', 'a', 'b', 'c']
    """
    found: list[_Item] = []
    for share, options in shares:
        found += [*options] * max(1, round(share / max(1, len(options))))
    return found


def chance(draw: st.DrawFn, percent: int) -> bool:
    """Say yes about so often; the simplest is no."""
    if percent > 50:
        return draw(st.integers(0, max(1, round(100 / (100 - percent)) - 1))) > 0
    last = round(100 / percent) - 1
    return draw(st.integers(0, last)) == last


@st.composite
def maybe(draw: st.DrawFn, strategy: st.SearchStrategy[_Item], last: int) -> _Item | None:
    """Draw nothing, or one time in ``last + 1`` something."""
    return draw(strategy) if draw(st.integers(0, last)) == last else None


#: Each step is the last with probability 1/``_ONE_IN``.
_ONE_IN = 6


def steps(draw: st.DrawFn, most: int) -> Iterator[int]:
    """Yield the numbers of at most ``most`` steps, for lists of which each member depends on those before."""
    for number in range(most):
        if draw(st.integers(0, _ONE_IN - 1)) == 0:
            return
        yield number


# Options that one model has and the next does not: ``st.sampled_from`` checks and hashes them all when it is made,
# which takes longer than to draw; strategies for their places are made once.


def pick(draw: st.DrawFn, options: Sequence[_Item]) -> _Item:
    """Draw one of some options."""
    return options[draw(st.integers(0, len(options) - 1))]


def pick_some(draw: st.DrawFn, options: Sequence[_Item], least: int = 0, most: int = 12) -> list[_Item]:
    """Draw a list of some options."""
    return [options[place] for place in draw(_places(len(options), least, most))]


def pick_lists(
    draw: st.DrawFn, options: Sequence[_Item], lists: int, least: int = 0, most: int = 12
) -> list[list[_Item]]:
    """Draw at most ``lists`` lists of some options."""
    drawn = draw(_lists_of_places(len(options), lists, least, most))
    return [[options[place] for place in places] for places in drawn]


@cache
def _places(count: int, least: int, most: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, count - 1), min_size=least, max_size=most)


@cache
def _lists_of_places(count: int, lists: int, least: int, most: int) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(_places(count, least, most), max_size=lists)
