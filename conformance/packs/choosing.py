"""Choose the lines of a pack among proposed texts: first those that notice most faults, then some of each kind.

The faults are drawn with a seed of their own, so that those of ``faults.jsonl`` and ``fresh-faults.jsonl`` can measure
what is chosen. They are faults of rules: a sweep asks about every entry of the vocabulary.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heapreplace
from itertools import zip_longest

from asked import Asked
from faults import OF_ENTRIES, Input, draw, plant
from published import Published

from tokref import InputError

#: With which seed faults are drawn, and how many of each tokenizer.
SEED, FAULTS = "training", 200

#: How many lines notice a fault, if there are as many. Each further one counts a quarter of the one before.
TIMES = 4

Proposal = tuple[str, Input]
"""What a text is about, and the input that it is part of."""


def choose(published: Published, proposed: Sequence[Proposal]) -> Iterator[Proposal]:
    """Return proposals in the order of their use: the same for the same tokenizer."""
    order = dict.fromkeys(_by_faults(_noticed(published, [input for _, input in proposed])))
    order |= dict.fromkeys(_by_turns(proposed))
    return (proposed[place] for place in order)


def _noticed(published: Published, inputs: Sequence[Input]) -> list[set[int]]:
    """Return for each input the faults that it notices, by their numbers."""
    asked, noticed = Asked(published, inputs), [set[int]() for _ in inputs]
    for number, fault in enumerate(draw(published, SEED, FAULTS, without=OF_ENTRIES)):
        try:
            faulty = plant(fault, published)
        except InputError:
            continue  # no port is so: the model would be refused
        for place in asked.places(faulty):
            noticed[place].add(number)
    return noticed


def _by_faults(noticed: Sequence[set[int]]) -> Iterator[int]:
    """Return places greedily, each with the most faults that too few places before it notice."""
    times = Counter[int]()

    def worth(place: int) -> float:
        return sum(0.25 ** times[fault] for fault in noticed[place] if times[fault] < TIMES)

    waiting = [(-worth(place), place) for place in range(len(noticed))]
    heapify(waiting)
    while waiting and waiting[0][0]:
        was, place = waiting[0]
        now = -worth(place)  # it only loses worth, so that the others are worth no more than they were
        if now != was:
            heapreplace(waiting, (now, place))
            continue
        heappop(waiting)
        times.update(noticed[place])
        yield place


def _by_turns(proposed: Sequence[Proposal]) -> Iterable[int]:
    """Return the places of proposals, one about each thing in turn."""
    places = defaultdict[str, list[int]](list)
    for place, (about, _) in enumerate(proposed):
        places[about].append(place)
    return (place for row in zip_longest(*places.values()) for place in row if place is not None)
