"""What BPE and WordPiece training share: the pairs of a split corpus, and a queue of them that is put right lazily.

All symbols of the corpus stand in one row, with a gap before and after every word. A merge goes to the places of its
pair alone. That another pair has lost a place by it is found only when that pair is counted again: until then its count
may be too large and its first place too early, never the other way.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from tokref.model import Pair

__all__ = ["Key", "PairQueue", "Split", "SplitCorpus", "count_pairs"]

Split = tuple[tuple[str, ...], int]
"""A word as tokens, with its count."""

Key = tuple[float, ...]
"""What the queue is sorted by, the smallest first."""


def count_pairs(splits: Iterable[Split]) -> dict[Pair, int]:
    """Count all pairs anew, in the order in which each is first met.

    Clauses: BPE-TRAIN-5, BPE-TRAIN-6.

    >>> count_pairs([(("a", "a", "a"), 2), (("b", "a"), 1)])
    {('a', 'a'): 4, ('b', 'a'): 1}
    """
    counts: dict[Pair, int] = {}
    for tokens, count in splits:  # BPE-TRAIN-6
        for pair in pairwise(tokens):  # BPE-TRAIN-5: every place, overlapping ones included
            counts[pair] = counts.get(pair, 0) + count
    return counts


class SplitCorpus:
    """The words of a corpus as tokens, with what training asks of them.

    A place is one in the row of all symbols: that of an earlier word, or further left in a word, is smaller.

    >>> corpus = SplitCorpus([("a", "b", "c")], [3])
    >>> corpus.merge(("a", "b"), "ab"), corpus.splits()
    ([('ab', 'c')], ((('ab', 'c'), 3),))
    """

    def __init__(self, words: Iterable[Sequence[str]], counts: Iterable[int]) -> None:
        self.token_counts: dict[str, int] = defaultdict(int)
        self._tokens = [""]  # empty in the gaps, and where a token was merged into the one before
        self._counts = [0]  # at every place that of its word
        self._gaps = [0]
        symbols: dict[str, str] = {}  # equal ones are one string, which is quick to compare
        for word, count in zip(words, counts, strict=True):
            self._tokens += [symbols.setdefault(symbol, symbol) for symbol in word]
            self._gaps.append(len(self._tokens))
            self._tokens.append("")
            self._counts += [count] * (len(word) + 1)
        self._widths = [1] * len(self._tokens)  # in symbols, at the first and the last place of every token
        self._places: dict[Pair, list[int]] = defaultdict(list)  # rising; some of them may have lost the pair
        for place, pair in enumerate(pairwise(self._tokens)):
            self.token_counts[pair[0]] += self._counts[place]
            if pair[0] and pair[1]:
                self._places[pair].append(place)
        self.pair_counts = {pair: self._sum(places) for pair, places in self._places.items()}

    def splits(self) -> tuple[Split, ...]:
        """Give every word as it is split now, with its count."""
        words = [(self._tokens[begin:end], self._counts[end]) for begin, end in pairwise(self._gaps)]
        return tuple((tuple(filter(None, tokens)), count) for tokens, count in words)

    def first(self, pair: Pair) -> int:
        """Give the first place of a pair as far as it is known."""
        return self._places[pair][0]

    def recount(self, pair: Pair) -> bool:
        """Forget the places at which a pair does not stand any more; say whether it stands anywhere."""
        (left, right), tokens, widths = pair, self._tokens, self._widths
        places = self._places.pop(pair, ())
        standing = [at for at in places if tokens[at] == left and tokens[at + widths[at]] == right]
        self._keep(pair, standing)
        return bool(standing)

    def merge(self, pair: Pair, merged: str) -> list[Pair]:
        """Replace a pair from left to right (BPE-TRAIN-9); give the pairs that have gained a place by it."""
        (left, right), tokens, widths = pair, self._tokens, self._widths
        befores: dict[str, list[int]] = defaultdict(list)
        afters: dict[str, list[int]] = defaultdict(list)
        count = 0
        for place in self._places.pop(pair):
            middle = place + widths[place]
            if tokens[place] != left or tokens[middle] != right:
                continue  # one of the two was merged since, perhaps with the same token on its other side
            start, end = place - widths[place - 1], middle + widths[middle]
            tokens[place], tokens[middle] = merged, ""
            widths[place] = widths[end - 1] = end - place
            befores[tokens[start]].append(start)
            afters[tokens[end]].append(place)
            count += self._counts[place]
        for token, change in ((left, -count), (right, -count), (merged, count)):
            self.token_counts[token] += change
        del self.pair_counts[pair]
        gained = [((token, merged), places) for token, places in befores.items() if token]
        gained += [((merged, token), places) for token, places in afters.items() if token]
        for neighbours, places in gained:
            self._keep(neighbours, sorted(self._places.get(neighbours, []) + places))
        return [neighbours for neighbours, _ in gained]

    def _keep(self, pair: Pair, places: list[int]) -> None:
        if places:
            self._places[pair], self.pair_counts[pair] = places, self._sum(places)
        else:
            self.pair_counts.pop(pair, None)

    def _sum(self, places: list[int]) -> int:
        return sum(map(self._counts.__getitem__, places))


class PairQueue:
    """Pairs by a key that may only have risen since they were offered; whatever makes it fall offers the pair again.

    >>> queue = PairQueue()
    >>> queue.offer(("a", "b"), (-2, 1))
    >>> queue.offer(("b", "c"), (-1, 2))
    >>> queue.best({("a", "b"): (-1, 7), ("b", "c"): (-1, 2)}.get)
    ('b', 'c')
    """

    def __init__(self) -> None:
        self._heap: list[tuple[Key, Pair]] = []
        self._offered: dict[Pair, Key] = {}

    def offer(self, pair: Pair, key: Key) -> None:
        """Put a pair in, unless it is in already with a key that is as small."""
        if pair not in self._offered or key < self._offered[pair]:
            self._offered[pair] = key
            heapq.heappush(self._heap, (key, pair))

    def best(self, key_now: Callable[[Pair], Key | None]) -> Pair | None:
        """Give the pair of the smallest key; a pair without a key is gone, and one whose key has risen goes back."""
        while self._heap:
            key, pair = self._heap[0]
            now = key_now(pair) if self._offered.get(pair) == key else None
            if now == key:
                return pair
            if now is not None:
                self._offered[pair] = now
                heapq.heapreplace(self._heap, (now, pair))
                continue
            heapq.heappop(self._heap)
            if self._offered.get(pair) == key:
                del self._offered[pair]
        return None
