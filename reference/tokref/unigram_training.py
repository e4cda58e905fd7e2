"""Unigram: the loss, and pruning (``spec/06-unigram.md``).

The loss without a token is found by segmenting only the words that use it, and yet has the very bits that the
documents' program gives: products are added one by one in the order of the words, from the first that changes.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate

from tokref.choices import Choices
from tokref.corpus import Words
from tokref.errors import InputError, shown
from tokref.model import Unigram
from tokref.unigram import segment
from tokref.unigram_vocabulary import initial_vocabulary

__all__ = [
    "UnigramTraining",
    "corpus_loss",
    "loss_increase",
    "loss_increases",
    "prune_step",
    "train_unigram",
]


@dataclass(frozen=True)
class UnigramTraining:
    """What is left of the initial vocabulary, and its sizes before the first step and after each."""

    model: Unigram
    sizes: tuple[int, ...]


def corpus_loss(words: Words, model: Unigram, choices: Choices) -> float:
    """Give the loss of a corpus.

    Clauses: UNI-LOSS-1.

    Raises:
        InputError: ``no_segmentation``; ``unsupported``, for a count that no float can hold.

    >>> corpus_loss({"a": 2, "aa": 1}, Unigram(("a",), weights=(3,)), Choices())
    3.0
    """
    return _Losses(words, model, choices).total


def loss_increase(words: Words, model: Unigram, token: str, choices: Choices) -> float:
    """Give what the loss grows by when a token is removed and all other probabilities stay.

    Clauses: UNI-LOSS-2, ERROR-2.

    Raises:
        InputError: ``invalid_input`` for a token that is not there; ``no_segmentation`` for a word that needs it.

    >>> loss_increase({"aa": 1}, Unigram(("a", "aa"), weights=(1, 1)), "aa", Choices())
    0.6931471805599454
    """
    if token not in model.ids:  # ERROR-2
        raise InputError("invalid_input", f"{token!r} is not in the vocabulary and cannot be removed")
    return _Losses(words, model, choices).increase(token)


def loss_increases(words: Words, model: Unigram, choices: Choices) -> dict[str, float]:
    """Give the loss increase of every token that may be removed, in the order of the vocabulary.

    Clauses: UNI-PRUNE-1.

    >>> loss_increases({"aa": 1}, Unigram(("a", "aa"), weights=(1, 1)), Choices())
    {'aa': 0.6931471805599454}
    """
    losses = _Losses(words, model, choices)
    return {token: losses.increase(token) for token in model.vocabulary if len(token) > 1}  # UNI-PRUNE-1


def prune_step(words: Words, model: Unigram, fraction: float, choices: Choices) -> tuple[tuple[str, ...], Unigram]:
    """Remove a fraction of the tokens; give them in the order of removal, and the model that is left.

    Clauses: UNI-PRUNE-2, UNI-PRUNE-3.

    >>> model = Unigram(("a", "aa"), weights=(1, 1))
    >>> removed, left = prune_step({"aa": 1}, model, 0.5, Choices())
    >>> removed, left.probabilities
    (('aa',), {'a': 1.0})
    """
    if not 0 < fraction <= 1:
        raise InputError("invalid_input", f"{fraction!r} is no fraction; give a number above 0 and not above 1")
    increases = loss_increases(words, model, choices)
    ranked = sorted(increases, key=increases.__getitem__)  # UNI-PRUNE-2: the sort is stable
    removed = tuple(ranked[: int(len(model.vocabulary) * fraction)])
    gone = set(removed)
    kept = [entry for entry in zip(model.vocabulary, model.weights, strict=True) if entry[0] not in gone]
    tokens, weights = tuple(token for token, _ in kept), tuple(weight for _, weight in kept)
    return removed, replace(model, vocabulary=tokens, weights=weights)  # UNI-PRUNE-3


def train_unigram(words: Words, initial_size: int, size: int, fraction: float, choices: Choices) -> UnigramTraining:
    """Prune the initial vocabulary until it is no larger than wanted.

    Clauses: UNI-PRUNE-4, UNI-PRUNE-5.

    >>> train_unigram({"aa": 1}, 2, 1, 0.5, Choices()).sizes
    (2, 1)
    """
    model = initial_vocabulary(words, initial_size)
    sizes = [len(model.vocabulary)]
    while sizes[-1] > size:  # UNI-PRUNE-4
        removed, model = prune_step(words, model, fraction, choices)
        if not removed:  # UNI-PRUNE-5
            break
        sizes.append(len(model.vocabulary))
    return UnigramTraining(model, tuple(sizes))


class _Losses:
    """The best segmentation of every word, and what removing a token changes."""

    def __init__(self, words: Words, model: Unigram, choices: Choices) -> None:
        self._words, self._model, self._choices = tuple(words.items()), model, choices
        self._products: list[float] = []
        self._users: dict[str, list[int]] = {}
        for index, (word, count) in enumerate(self._words):
            found = segment(word, model, choices)
            self._products.append(_product(count, found.value))
            for token in dict.fromkeys(found.tokens):
                self._users.setdefault(token, []).append(index)
        self._sums = list(accumulate(self._products, initial=0.0))
        self.total = self._sums[-1]  # UNI-LOSS-1

    def increase(self, token: str) -> float:
        """Give the loss without a token less the loss with it (UNI-LOSS-2)."""
        users = self._users.get(token, [])
        if not users:  # a token that no best segmentation uses takes none away
            return 0.0
        without = self._loss([(user, self._product_without(user, token)) for user in users])
        return 0.0 if without == self.total else without - self.total

    def _product_without(self, index: int, token: str) -> float:
        word, count = self._words[index]
        return _product(count, segment(word, self._model, self._choices, without=token).value)

    def _loss(self, changed: Sequence[tuple[int, float]]) -> float:
        """Add all products up anew from the first that changed; ``sum`` would round otherwise from Python 3.12 on."""
        loss = self._sums[changed[0][0]]
        ends = [index for index, _ in changed[1:]] + [len(self._words)]
        for (index, product), end in zip(changed, ends, strict=True):
            loss = reduce(operator.add, self._products[index + 1 : end], loss + product)
        return loss


def _product(count: int, score: float) -> float:
    if count > sys.float_info.max:
        raise InputError("unsupported", f"{shown(count)} is too large a count for floating point")
    return count * score if count else 0.0  # a word that never occurs adds nothing, also where its score is infinite
