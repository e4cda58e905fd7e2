"""What BPE and WordPiece training share: the pairs of a split corpus, and a queue of them that is put right lazily.

A merge touches only the words in which its pair stands. Counts are exact after every merge. The place where a pair
first stands is found only when it is asked for; until then a bound that is never too late is known.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from tokref.model import Pair

__all__ = ["PairQueue", "Place", "Split", "SplitCorpus", "count_pairs", "replace_pair"]

Place = tuple[int, int]
"""Where a pair stands: the word's place in the corpus and, in the word, the place of the pair's first symbol."""

Split = tuple[tuple[str, ...], int]
"""A word as tokens, with its count."""

Key = tuple[float, int, int]
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

    >>> corpus = SplitCorpus([("a", "b", "a", "b")], [3])
    >>> corpus.merge(("a", "b"), "ab"), corpus.splits()
    ({('ab', 'ab')}, ((('ab', 'ab'), 3),))
    """

    def __init__(self, words: Iterable[Sequence[str]], counts: Iterable[int]) -> None:
        self.pair_counts: dict[Pair, int] = {}
        self.token_counts: dict[str, int] = {}
        self.bounds: dict[Pair, Place] = {}  # never after the pair's first place
        self._tokens = [list(word) for word in words]
        self._starts = [list(range(len(tokens))) for tokens in self._tokens]
        self._counts = list(counts)
        self._words: dict[Pair, list[int]] = {}  # heaps of words; some may have lost the pair, or be there twice
        for word, tokens in enumerate(self._tokens):
            for token in tokens:
                self.token_counts[token] = self.token_counts.get(token, 0) + self._counts[word]
            for start, pair in enumerate(pairwise(tokens)):
                self._gain(pair, (word, start))
                self.pair_counts[pair] = self.pair_counts.get(pair, 0) + self._counts[word]

    def splits(self) -> tuple[Split, ...]:
        """Give every word as it is split now, with its count."""
        return tuple((tuple(tokens), count) for tokens, count in zip(self._tokens, self._counts, strict=True))

    def first_place(self, pair: Pair) -> Place | None:
        """Find where a pair stands first, or None where it stands nowhere any more."""
        words = self._words.get(pair, [])
        while words:
            tokens = self._tokens[words[0]]
            for index, found in enumerate(pairwise(tokens)):
                if found == pair:
                    self.bounds[pair] = words[0], self._starts[words[0]][index]
                    return self.bounds[pair]
            heapq.heappop(words)
        return None

    def merge(self, pair: Pair, merged: str) -> set[Pair]:
        """Replace a pair in every word (BPE-TRAIN-9); give the pairs that have gained a place by it."""
        gained: set[Pair] = set()
        for word in sorted(set(self._words.pop(pair, ()))):
            self._merge_in(word, pair, merged, gained)
        return gained

    def _merge_in(self, word: int, pair: Pair, merged: str, gained: set[Pair]) -> None:
        old, count = self._tokens[word], self._counts[word]
        tokens, starts = replace_pair(old, self._starts[word], pair, merged)
        lost = (len(old) - len(tokens)) * count
        if len(tokens) == len(old):
            return
        self._tokens[word], self._starts[word] = tokens, starts
        for token, change in ((pair[0], -lost), (pair[1], -lost), (merged, lost)):
            self.token_counts[token] = self.token_counts.get(token, 0) + change
        for neighbours in pairwise(old):
            self.pair_counts[neighbours] -= count
        for index, neighbours in enumerate(pairwise(tokens)):
            self.pair_counts[neighbours] = self.pair_counts.get(neighbours, 0) + count
            if merged in neighbours:
                self._gain(neighbours, (word, starts[index]))
                gained.add(neighbours)

    def _gain(self, pair: Pair, place: Place) -> None:
        heapq.heappush(self._words.setdefault(pair, []), place[0])
        self.bounds[pair] = min(self.bounds.get(pair, place), place)


def replace_pair(tokens: Sequence[str], starts: Sequence[int], pair: Pair, merged: str) -> tuple[list[str], list[int]]:
    """Replace a pair in one word, from left to right without overlap; starts are those of the tokens.

    Clauses: BPE-TRAIN-9.

    >>> replace_pair(["a", "a", "a"], [0, 1, 2], ("a", "a"), "aa")
    (['aa', 'a'], [0, 2])
    """
    left, right = pair
    new_tokens: list[str] = []
    new_starts: list[int] = []
    index, last = 0, len(tokens) - 1
    while index <= last:
        new_starts.append(starts[index])
        if tokens[index] == left and index < last and tokens[index + 1] == right:
            new_tokens.append(merged)
            index += 2
        else:
            new_tokens.append(tokens[index])
            index += 1
    return new_tokens, new_starts


class PairQueue:
    """Pairs by a key that may only have risen since they were offered; whatever makes it fall offers the pair again.

    >>> queue = PairQueue()
    >>> queue.offer(("a", "b"), (-2, 0, 0))
    >>> queue.offer(("b", "c"), (-1, 0, 1))
    >>> queue.best({("a", "b"): (-1, 7, 0), ("b", "c"): (-1, 0, 1)}.get)
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
