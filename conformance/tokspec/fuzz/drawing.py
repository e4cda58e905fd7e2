"""Building blocks of strategies in addition to Hypothesis's own: weighted options, chances, and sequences of steps.

Options are lists for ``st.sampled_from``, the simplest first: an option that is listed more often is drawn more often.
An optional part starts with a choice between a few values, which the shrinker can replace by nothing without changing
the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

_Item = TypeVar("_Item")


def weighted(*shares: tuple[int, Sequence[_Item]]) -> list[_Item]:
    """Return options in which each list has about its share; a list that is longer than its share occurs once.

    >>> weighted((4, "ab"), (1, "c"))
    ['a', 'b', 'a', 'b', 'c']
    """
    found: list[_Item] = []
    for share, options in shares:
        found += [*options] * max(1, round(share / max(1, len(options))))
    return found


def chance(draw: st.DrawFn, percent: int) -> bool:
    """Draw true in about ``percent`` of cases; the simplest value is false."""
    if percent > 50:
        return draw(st.integers(0, max(1, round(100 / (100 - percent)) - 1))) > 0
    last = round(100 / percent) - 1
    return draw(st.integers(0, last)) == last


@st.composite
def maybe(draw: st.DrawFn, strategy: st.SearchStrategy[_Item], last: int) -> _Item | None:
    """Draw from a strategy one time in ``last + 1``, otherwise None."""
    return draw(strategy) if draw(st.integers(0, last)) == last else None


#: Each step is the last with probability 1/``_ONE_IN``.
_ONE_IN = 6


def steps(draw: st.DrawFn, most: int) -> Iterator[int]:
    """Yield the numbers of at most ``most`` steps, for lists in which each member depends on those before."""
    for number in range(most):
        if draw(st.integers(0, _ONE_IN - 1)) == 0:
            return
        yield number


# Options that differ from model to model: ``st.sampled_from`` checks and hashes all of them when it is created, which
# takes longer than drawing, so these functions draw their places, with strategies that are created once.


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
