"""Byte-Pair Encoding, training (``spec/04-bpe.md``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tokref.choices import Choices
from tokref.corpus import Words
from tokref.errors import InputError
from tokref.model import Pair
from tokref.pairs import Key, PairQueue, Split, SplitCorpus, count_pairs

__all__ = ["BpeTraining", "Target", "base_vocabulary", "best_bpe_pair", "bpe_state", "train_bpe"]


@dataclass(frozen=True)
class Target:
    """When training stops: at a size of the vocabulary, a number of merges, or below a count.

    >>> Target(merge_count=3).min_frequency
    1
    """

    vocabulary_size: int | None = None
    merge_count: int | None = None
    min_frequency: int = 1

    def is_reached(self, vocabulary_size: int, merge_count: int) -> bool:
        """Say whether nothing more is wanted."""
        by_size = self.vocabulary_size is not None and vocabulary_size >= self.vocabulary_size
        return by_size or (self.merge_count is not None and merge_count >= self.merge_count)


@dataclass(frozen=True)
class BpeTraining:
    """What training learned, and how it left the corpus: steps are merges with the count that each had."""

    vocabulary: tuple[str, ...]
    steps: tuple[tuple[str, str, int], ...]
    corpus: SplitCorpus

    @cached_property
    def words(self) -> tuple[Split, ...]:
        """Every word as training left it, with its count."""
        return self.corpus.splits()


def base_vocabulary(words: Words, special_tokens: Sequence[str] = ()) -> tuple[str, ...]:
    """Give the special tokens, then every character once, by code point.

    Clauses: BPE-TRAIN-2, BPE-TRAIN-3.

    >>> base_vocabulary({"hug": 10, "bun": 4}, ["<s>"])
    ('<s>', 'b', 'g', 'h', 'n', 'u')
    """
    characters = sorted(set().union(*words))  # BPE-TRAIN-2: a word is a row of characters
    return tuple(dict.fromkeys([*special_tokens, *characters]))  # BPE-TRAIN-3


def train_bpe(words: Words, special_tokens: Sequence[str], target: Target, choices: Choices) -> BpeTraining:
    """Learn merges until the target is reached.

    Clauses: BPE-TRAIN-4, BPE-TRAIN-7, BPE-TRAIN-8, BPE-TRAIN-9, BPE-TRAIN-10, BPE-TRAIN-11, BPE-TRAIN-12.

    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> train_bpe(words, [], Target(merge_count=3), Choices()).steps
    (('u', 'g', 20), ('u', 'n', 16), ('h', 'ug', 15))
    """
    ids = {token: index for index, token in enumerate(base_vocabulary(words, special_tokens))}
    corpus = SplitCorpus(words, words.values())  # BPE-TRAIN-4: a word is the sequence of its characters
    key = _KEYS[choices.bpe_training_tie](corpus, ids)
    queue = PairQueue()
    for pair in corpus.pair_counts:
        queue.offer(pair, key(pair))
    steps: list[tuple[str, str, int]] = []
    while not target.is_reached(len(ids), len(steps)):  # BPE-TRAIN-11, BPE-TRAIN-12
        best = queue.best(lambda pair: key(pair) if corpus.stands(pair) else None)
        if best is None or corpus.pair_counts[best] < target.min_frequency:  # BPE-TRAIN-11
            break
        steps.append((*best, corpus.pair_counts[best]))
        merged = best[0] + best[1]
        ids.setdefault(merged, len(ids))  # BPE-TRAIN-10
        for pair in corpus.merge(best, merged)[1]:
            queue.offer(pair, key(pair))
    return BpeTraining(tuple(ids), tuple(steps), corpus)


def bpe_state(words: Words, special_tokens: Sequence[str], steps: int, choices: Choices) -> BpeTraining:
    """Give training as it stands after a number of merges, or after the last if there are not so many.

    Clauses: ERROR-2.

    Raises:
        InputError: ``invalid_input``, for a negative number of steps.

    >>> bpe_state({"hug": 1}, [], 1, Choices()).words
    ((('hu', 'g'), 1),)
    """
    if steps < 0:  # ERROR-2
        raise InputError("invalid_input", f"{steps} steps cannot have been done; give a number from 0")
    return train_bpe(words, special_tokens, Target(merge_count=steps), choices)


def best_bpe_pair(state: BpeTraining, choices: Choices) -> tuple[Pair, int] | None:
    """Give the pair that would be merged next with its count, or None where no pair is left.

    Clauses: BPE-TRAIN-7, BPE-TRAIN-8.

    >>> best_bpe_pair(bpe_state({"hug": 1}, [], 0, Choices()), Choices())
    (('h', 'u'), 1)
    """
    counts = count_pairs(state.words)
    if not counts:
        return None
    ids = {token: index for index, token in enumerate(state.vocabulary)}
    met = {pair: index for index, pair in enumerate(counts)}
    ties: Mapping[str, Callable[[Pair], tuple[int, ...]]] = {
        "first_met": lambda pair: (met[pair],),
        "smallest_ids": lambda pair: (ids[pair[0]], ids[pair[1]]),
    }
    tie = ties[choices.bpe_training_tie]  # BPE-TRAIN-8
    best = min(counts, key=lambda pair: (-counts[pair], tie(pair)))  # BPE-TRAIN-7
    return best, counts[best]


def _first_met(corpus: SplitCorpus, ids: Mapping[str, int]) -> Callable[[Pair], Key]:
    return lambda pair: (-corpus.pair_counts[pair], corpus.first(pair))


def _smallest_ids(corpus: SplitCorpus, ids: Mapping[str, int]) -> Callable[[Pair], Key]:
    return lambda pair: (-corpus.pair_counts[pair], ids[pair[0]], ids[pair[1]])


_KEYS = {"first_met": _first_met, "smallest_ids": _smallest_ids}  # BPE-TRAIN-8
