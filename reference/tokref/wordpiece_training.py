"""WordPiece, training (``spec/05-wordpiece.md``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tokref.corpus import Words
from tokref.errors import InputError
from tokref.model import Pair
from tokref.pairs import Key, PairQueue, Split, SplitCorpus, count_pairs

__all__ = [
    "WordPieceTraining",
    "best_wordpiece_pair",
    "score_pairs",
    "split_wordpiece",
    "train_wordpiece",
    "wordpiece_alphabet",
    "wordpiece_state",
]


@dataclass(frozen=True)
class WordPieceTraining:
    """What training learned, and how it left the words: steps are merges with the score that each had."""

    vocabulary: tuple[str, ...]
    steps: tuple[tuple[str, str, float], ...]
    words: tuple[Split, ...]


def split_wordpiece(word: str, prefix: str = "##") -> tuple[str, ...]:
    """Split a word into its characters, all but the first with the continuing prefix.

    >>> split_wordpiece("hug")
    ('h', '##u', '##g')
    """
    return tuple(prefix + character if index else character for index, character in enumerate(word))


def wordpiece_alphabet(words: Words, special_tokens: Sequence[str] = (), prefix: str = "##") -> tuple[str, ...]:
    """Give the special tokens, then every character in the forms in which it is met, by code point.

    Clauses: WP-TRAIN-1, WP-TRAIN-2.

    >>> wordpiece_alphabet({"aba": 1}, ["[UNK]"])
    ('[UNK]', '##a', '##b', 'a')
    """
    alphabet = sorted({symbol for word in words for symbol in split_wordpiece(word, prefix)})  # WP-TRAIN-1
    return tuple(dict.fromkeys([*special_tokens, *alphabet]))  # WP-TRAIN-2


def score_pairs(splits: Iterable[Split]) -> dict[Pair, float]:
    """Score all pairs anew, in the order in which each is first met.

    Clauses: WP-TRAIN-3.

    >>> score_pairs([(("a", "##b"), 2), (("a",), 2)])
    {('a', '##b'): 0.25}
    """
    splits = tuple(splits)
    tokens = _count_tokens(splits)
    return {pair: _score(count, tokens[pair[0]], tokens[pair[1]]) for pair, count in count_pairs(splits).items()}


def train_wordpiece(
    words: Words,
    special_tokens: Sequence[str] = (),
    vocabulary_size: int | None = None,
    prefix: str = "##",
    merge_count: int | None = None,
) -> WordPieceTraining:
    """Merge pairs until the vocabulary has the given size, or so many merges are done.

    Clauses: WP-TRAIN-4, WP-TRAIN-5, WP-TRAIN-6, WP-TRAIN-7.

    >>> train_wordpiece({"hug": 10, "hugs": 5}, vocabulary_size=6).vocabulary
    ('##g', '##s', '##u', 'h', 'hu', 'hug')
    """
    vocabulary = dict.fromkeys(wordpiece_alphabet(words, special_tokens, prefix))
    corpus = SplitCorpus([split_wordpiece(word, prefix) for word in words], words.values())
    queue = _Scores(corpus)
    steps: list[tuple[str, str, float]] = []
    while (vocabulary_size is None or len(vocabulary) < vocabulary_size) and len(steps) != merge_count:
        best = queue.best()
        if best is None:  # WP-TRAIN-7
            break
        steps.append((*best, -queue.key(best)[0]))
        merged = best[0] + best[1].removeprefix(prefix)  # WP-TRAIN-5
        vocabulary.setdefault(merged)  # WP-TRAIN-6
        queue.merge(best, merged)
    return WordPieceTraining(tuple(vocabulary), tuple(steps), corpus.splits())


def wordpiece_state(words: Words, special_tokens: Sequence[str], steps: int, prefix: str = "##") -> WordPieceTraining:
    """Give training as it stands after a number of merges, or after the last if there are not so many.

    Clauses: ERROR-2.

    Raises:
        InputError: ``invalid_input``, for a negative number of steps.

    >>> wordpiece_state({"hug": 1}, [], 1).words
    ((('hu', '##g'), 1),)
    """
    if steps < 0:  # ERROR-2
        raise InputError("invalid_input", f"{steps} steps cannot have been done; give a number from 0")
    return train_wordpiece(words, special_tokens, prefix=prefix, merge_count=steps)


def best_wordpiece_pair(state: WordPieceTraining) -> tuple[Pair, float] | None:
    """Give the pair that would be merged next with its score, or None where no pair is left.

    Clauses: WP-TRAIN-4.

    >>> best_wordpiece_pair(wordpiece_state({"hug": 10, "hugs": 5}, [], 0))
    (('h', '##u'), 0.06666666666666667)
    """
    scores = score_pairs(state.words)
    met = {pair: index for index, pair in enumerate(scores)}
    best = min(scores, key=lambda pair: (-scores[pair], met[pair]), default=None)  # WP-TRAIN-4
    return None if best is None else (best, scores[best])


class _Scores:
    """Pairs by falling score, then by first place (WP-TRAIN-4).

    A merge lowers the counts of its two tokens, so that the score of every pair with one of them may rise.
    """

    def __init__(self, corpus: SplitCorpus) -> None:
        self._corpus = corpus
        self._tokens = _count_tokens(corpus.splits())
        self._queue = PairQueue()
        self._pairs: dict[str, set[Pair]] = {}
        self._offer(corpus.pair_counts)

    def key(self, pair: Pair) -> Key:
        score = _score(self._corpus.pair_counts[pair], self._tokens[pair[0]], self._tokens[pair[1]])
        return -score, self._corpus.first(pair)

    def best(self) -> Pair | None:
        return self._queue.best(lambda pair: self.key(pair) if self._corpus.stands(pair) else None)

    def merge(self, pair: Pair, merged: str) -> None:
        count, gained = self._corpus.merge(pair, merged)
        for token, change in ((pair[0], -count), (pair[1], -count), (merged, count)):
            self._tokens[token] += change
        self._offer(gained)
        for token in {*pair}:
            self._pairs[token] = set(filter(self._corpus.stands, self._pairs[token]))
            self._offer(self._pairs[token])

    def _offer(self, pairs: Iterable[Pair]) -> None:
        for pair in tuple(pairs):
            self._queue.offer(pair, self.key(pair))
            for token in pair:
                self._pairs.setdefault(token, set()).add(pair)


def _count_tokens(splits: Iterable[Split]) -> Counter[str]:
    tokens: Counter[str] = Counter()
    for split, count in splits:
        for token in split:
            tokens[token] += count
    return tokens


def _score(count: int, left: int, right: int) -> float:
    """Divide once, as the documents' program does: equal scores are then equal to the last bit (WP-TRAIN-3)."""
    return count / (left * right) if left * right else 0.0
