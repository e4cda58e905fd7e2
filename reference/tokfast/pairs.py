"""What the training of BPE and of WordPiece share: the pairs of a split corpus, and a queue of them.

All symbols of the corpus are in one row, with a gap before and after every word. A merge visits only the places of its
pair. The places that other pairs lose by it are not looked for: they are found when the training asks whether a pair
still occurs, and until then the first place of a pair may be too early, but never too late. So the keys in the queue
may be too small, but never too large, and a key is checked when its pair comes up.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from tokref.bpe import Split
from tokref.values import Pair

Key = tuple[int, ...]
"""What the queue is sorted by, smallest first."""


class SplitCorpus:
    """The words of a corpus as tokens, with the counts and places of their pairs.

    A place counts in the row of all symbols, so it is smaller in an earlier word, and further left in a word.

    >>> corpus = SplitCorpus([("a", "b", "c")], [3])
    >>> corpus.merge(("a", "b"), "ab"), corpus.splits()
    ((3, [('ab', 'c')]), ((('ab', 'c'), 3),))
    """

    def __init__(self, words: Iterable[Sequence[str]], counts: Iterable[int]) -> None:
        self._tokens = [""]  # empty in the gaps, and where a token was merged into the one before
        self._counts = [0]  # at every place that of its word
        self._gaps = [0]
        symbols: dict[str, str] = {}  # equal ones are one string, which is quick to compare
        for word, count in zip(words, counts, strict=True):
            self._tokens += map(symbols.setdefault, word, word)
            self._gaps.append(len(self._tokens))
            self._tokens.append("")
            self._counts += [count] * (len(word) + 1)
        self._widths = [1] * len(self._tokens)  # in symbols, at the first and the last place of every token
        self._places: dict[Pair, list[int]] = defaultdict(list)  # rising; some of them may have lost the pair
        for place, pair in enumerate(pairwise(self._tokens)):
            if pair[0] and pair[1]:
                self._places[pair].append(place)
        self.pair_counts = Counter({pair: self._sum(places) for pair, places in self._places.items()})

    def splits(self) -> tuple[Split, ...]:
        """Return every word as it is split now, with its count."""
        words = [(self._tokens[begin:end], self._counts[end]) for begin, end in pairwise(self._gaps)]
        return tuple((tuple(filter(None, tokens)), count) for tokens, count in words)

    def token_counts(self) -> Counter[str]:
        """Return how often every token occurs in the corpus."""
        counts: Counter[str] = Counter()
        for token, count in zip(self._tokens, self._counts, strict=True):
            if token:
                counts[token] += count
        return counts

    def first(self, pair: Pair) -> int:
        """Return the first place of a pair, or an earlier one that it has lost."""
        return self._places[pair][0]

    def stands(self, pair: Pair) -> bool:
        """Forget the places before the first at which a pair still occurs, and say whether there is one."""
        (left, right), tokens, widths = pair, self._tokens, self._widths
        places = self._places.get(pair, [])
        lost = 0
        for place in places:
            if tokens[place] == left and tokens[place + widths[place]] == right:
                break
            lost += 1
        del places[:lost]
        return bool(places)

    def merge(self, pair: Pair, merged: str) -> tuple[int, list[Pair]]:
        """Replace a pair from left to right (BPE-TRAIN-9); return how often, and the pairs that gained a place."""
        (left, right), tokens, widths = pair, self._tokens, self._widths
        befores: dict[str, list[int]] = defaultdict(list)
        afters: dict[str, list[int]] = defaultdict(list)
        for place in self._places.pop(pair):
            middle = place + widths[place]
            if tokens[place] != left or tokens[middle] != right:
                continue  # one of the two was merged since, perhaps with the same token on its other side
            start, end = place - widths[place - 1], middle + widths[middle]
            tokens[place], tokens[middle] = merged, ""
            widths[place] = widths[end - 1] = end - place
            befores[tokens[start]].append(start)
            afters[tokens[end]].append(place)
        count = sum(map(self._sum, afters.values()))
        changes = [((token, left), (token, merged), places) for token, places in befores.items() if token]
        changes += [((right, token), (merged, token), places) for token, places in afters.items() if token]
        for change in changes:
            self._move(*change)
        del self.pair_counts[pair]
        return count, [gaining for _, gaining, _ in changes]

    def _move(self, losing: Pair, gaining: Pair, places: list[int]) -> None:
        count = self._sum(places)
        self.pair_counts[losing] -= count
        self.pair_counts[gaining] += count
        self._places[gaining] = sorted(self._places.get(gaining, []) + places)

    def _sum(self, places: list[int]) -> int:
        return sum(map(self._counts.__getitem__, places))


class PairQueue:
    """Pairs sorted by their keys. A key may rise while its pair waits; a pair whose key falls is to be offered again.

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
        """Return the pair with the smallest key, or None.

        ``key_now`` returns the key of a pair as it is now, or None for a pair that is gone.
        """
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
