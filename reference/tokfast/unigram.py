"""Unigram: Viterbi along a trie, and losses of only the words that change (``spec/06-unigram.md``).

The trie holds all tokens with their costs. From each position of a word it is followed character by character, until
no token begins like that. To remove a token is to remove its cost from the trie, which can be put back, so the loss
without a token takes no other table. Costs are added in the order in which tokref adds them, so scores and losses have
the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from operator import itemgetter
from typing import NamedTuple

from tokfast.values import Part, byte_tokens
from tokref.choices import Choices
from tokref.errors import InputError
from tokref.unigram import Segmentation, UnigramTraining, cost_of_unknown, token_costs
from tokref.values import Unigram, Words, unknown_token


class _Node(dict[str, "_Node"]):
    """The tokens that begin alike: how they may go on, and the cost of the one that ends here."""

    __slots__ = ("cost",)

    def __init__(self) -> None:
        super().__init__()
        self.cost: float | None = None


class _Trie:
    """The tokens of a model with their costs."""

    def __init__(self, costs: Mapping[str, float]) -> None:
        self._root = _Node()
        self._longest = max(map(len, costs), default=0)
        self._characters = {token for token in costs if len(token) == 1}
        for token, cost in costs.items():
            self.set_cost(token, cost)

    def set_cost(self, token: str, cost: float | None) -> None:
        """Set the cost of a token; None removes the token."""
        node = self._root
        for character in token:
            if character not in node:
                node[character] = _Node()
            node = node[character]
        node.cost = cost

    def best_path(self, word: str, unknown_cost: float | None = None) -> tuple[list[int], list[float | None]]:
        """Return, for each end position from 0, where the last token of the best segmentation starts, and its cost.

        Of equal costs the one whose last token starts first stays (UNI-SEG-3). With ``unknown_cost`` a character that
        is not a token by itself may become an unknown token (UNI-UNK-3).
        """
        size, longest, root = len(word), self._longest, self._root
        starts = [0] * (size + 1)
        costs: list[float | None] = [None] * (size + 1)
        costs[0] = 0.0
        for start in range(size):
            base = costs[start]
            if base is None:
                continue
            node = root
            for end, character in enumerate(word[start : start + longest], start + 1):
                if character not in node:
                    break
                node = node[character]
                cost = node.cost
                if cost is not None:
                    found = base + cost
                    best = costs[end]
                    if best is None or best > found:
                        starts[end] = start
                        costs[end] = found
            if unknown_cost is not None and word[start] not in self._characters:
                best, found = costs[start + 1], base + unknown_cost
                if best is None or best > found:
                    starts[start + 1], costs[start + 1] = start, found
        return starts, costs

    def segment(self, word: str) -> tuple[list[tuple[int, int]], float]:
        """Return the ranges of the tokens of the best segmentation, and its cost.

        Raises:
            InputError: ``no_segmentation``.
        """
        starts, costs = self.best_path(word)
        if costs[-1] is None:  # UNI-UNK-2
            raise InputError("no_segmentation", f"{word!r} cannot be written with the tokens of the vocabulary")
        return follow_back(starts), costs[-1]


def follow_back(starts: list[int]) -> list[tuple[int, int]]:
    """Return the ranges of the tokens that lead to the last position."""
    ranges: list[tuple[int, int]] = []
    end = len(starts) - 1
    while end > 0:
        ranges.append((starts[end], end))
        end = starts[end]
    return ranges[::-1]


class UnigramEncoder:
    """A Unigram model prepared to encode many pieces.

    >>> encoder = UnigramEncoder(Unigram({"a": 3, "aa": 1}), Choices())
    >>> encoder.ids("aa"), encoder.segment("aa").tokens
    ([0, 0], ('a', 'a'))
    """

    def __init__(self, model: Unigram, choices: Choices) -> None:
        costs = token_costs(model)
        self._model = model
        self._ids = {token: id for token, id in model.vocabulary.items() if token not in model.kinds}
        unused = {token for token, kind in model.kinds.items() if kind == "unused"}
        self._byte_ids = {token: id for token, id in model.vocabulary.items() if token not in unused}
        self._trie = _Trie(costs)
        self._unknown_row: tuple[str, int | None] | None = None  # known when it was needed: it may be refused
        self._without_token = "error" if model.unknown_token is not None else choices.unigram_unknown_without_token
        self._shows_surface = choices.unknown_token_text != "entry"  # ENC-9
        self._unknown_cost: float | None = None
        if choices.unigram_unknown == "run":  # UNI-UNK-3
            self._unknown_cost = cost_of_unknown(model, costs, choices)

    def ids(self, piece: str) -> list[int | None]:
        """Encode a piece to ids alone."""
        ids = [self._ids.get(piece[begin:end]) for begin, end in self._ranges(piece)]
        return ids if None not in ids else [part.id for part in self.parts(piece)]

    def parts(self, piece: str) -> list[Part]:
        """Encode a piece."""
        parts: list[Part] = []
        for begin, end in self._ranges(piece):
            text = piece[begin:end]
            id = self._ids.get(text)
            parts += [Part(text, id, range(begin, end))] if id is not None else self._unknown(piece, begin, end)
        return parts

    def _ranges(self, piece: str) -> list[tuple[int, int]]:
        """Return the ranges of the tokens and of what is unknown."""
        unknown_cost = None if self._model.unknown_token is None else self._unknown_cost
        starts, costs = self._trie.best_path(piece, unknown_cost)
        if costs[-1] is None and self._without_token != "error":  # UNI-UNK-4
            unknown_cost = self._unknown_cost
            starts, costs = self._trie.best_path(piece, unknown_cost)
        if costs[-1] is None:  # UNI-UNK-3
            return [(0, len(piece))]
        ranges = follow_back(starts)
        return ranges if unknown_cost is None else self._fuse_unknown(piece, ranges)

    def _fuse_unknown(self, piece: str, ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Make one range of unknown characters and unknown tokens that are side by side (UNI-UNK-3)."""
        fused: list[tuple[int, int]] = []
        was_unknown = False
        for begin, end in ranges:
            text = piece[begin:end]
            is_unknown = text not in self._ids or text == self._model.unknown_token
            if is_unknown and was_unknown:
                fused[-1] = fused[-1][0], end
            else:
                fused.append((begin, end))
            was_unknown = is_unknown
        return fused

    def _unknown(self, piece: str, begin: int, end: int) -> list[Part]:
        """Return the tokens of the bytes of unknown characters, or else what replaces them."""
        if self._model.byte_fallback:
            found = [(place, byte_tokens(piece[place], self._byte_ids)) for place in range(begin, end)]
            if all(tokens for _, tokens in found):  # UNI-BYTES-1, UNI-BYTES-2
                return [Part(*token, range(place, place + 1)) for place, tokens in found for token in tokens]
        if self._without_token != "error":  # UNI-UNK-4
            return [Part(piece[begin:end], None, range(begin, end))] if self._without_token == "kept" else []
        if self._unknown_row is None:
            self._unknown_row = unknown_token(self._model, piece[begin:end], begin, end)[:2]
        text, id = self._unknown_row
        return [Part(piece[begin:end] if self._shows_surface else text, id, range(begin, end))]

    def segment(self, word: str, initial_score: float = 0.0) -> Segmentation:
        """Return the segmentation of the highest probability, as :func:`tokref.segment` does."""
        ranges, cost = self._trie.segment(word)
        return Segmentation(tuple(word[begin:end] for begin, end in ranges), _finite(initial_score + cost))


def segment(word: str, model: Unigram, initial_score: float = 0.0) -> Segmentation:
    """Return the segmentation with the highest probability, and its score, as :func:`tokref.segment` does.

    >>> segment("aa", Unigram({"a": 3, "aa": 1}))
    Segmentation(tokens=('a', 'a'), value=0.5753641449035618)
    """
    return UnigramEncoder(model, Choices()).segment(word, initial_score)


def corpus_loss(words: Words, model: Unigram, initial_score: float = 0.0) -> float:
    """Return the loss of a corpus, as :func:`tokref.corpus_loss` does.

    >>> corpus_loss({"a": 2, "aa": 1}, Unigram({"a": 3}), 1.0)
    3.0
    """
    trie = _Trie(token_costs(model))
    loss = 0.0
    for word, count in words.items():
        score = initial_score + trie.segment(word)[1]
        loss += count * score if count else 0.0  # UNI-LOSS-1
    return _finite(loss)


def loss_increase(words: Words, model: Unigram, token: str) -> float:
    """Return what the loss grows by when a token is removed, as :func:`tokref.unigram.loss_increase` does.

    >>> loss_increase({"aa": 1}, Unigram({"a": 1, "aa": 1}), "aa")
    0.6931471805599453
    """
    if token not in model.ordinary:  # ERROR-2
        raise InputError("invalid_input", f"{token!r} is not in the vocabulary and cannot be removed")
    return _finite(_Losses(words, token_costs(model)).increase(token))


def loss_increases(words: Words, model: Unigram) -> dict[str, float]:
    """Return the loss increase of every token that may be removed, in the order of the vocabulary.

    >>> loss_increases({"aa": 1}, Unigram({"a": 1, "aa": 1}))
    {'aa': 0.6931471805599453}
    """
    losses = _Losses(words, token_costs(model))
    return {token: losses.increase(token) for token in model.ordinary if len(token) != 1}  # UNI-PRUNE-1


def prune_step(words: Words, model: Unigram, fraction: float) -> tuple[tuple[str, ...], Unigram]:
    """Remove a fraction of the tokens, as :func:`tokref.prune_step` does.

    >>> prune_step({"aa": 1}, Unigram({"a": 1, "aa": 1}), 0.5)[0]
    ('aa',)
    """
    if not 0 < fraction <= 1:  # ERROR-2
        raise InputError("invalid_input", f"{fraction!r} is not a fraction; give a number above 0 and up to 1")
    increases = loss_increases(words, model)
    number = int(len(model.ordinary) * fraction)  # UNI-PRUNE-6
    removed = dict.fromkeys(sorted(increases, key=increases.__getitem__)[:number])  # UNI-PRUNE-2: the sort is stable
    left = {token: weight for token, weight in model.ordinary.items() if token not in removed}
    return tuple(removed), replace(model, weights=left, ids=None)  # UNI-PRUNE-3


def initial_vocabulary(words: Words, size: int) -> Unigram:
    """Return the model of all characters and the most frequent substrings, as tokref's function does.

    >>> initial_vocabulary({"aba": 1, "ba": 1}, 3).weights
    {'a': 3, 'b': 2, 'ba': 2}
    """
    characters: dict[str, int] = {}
    longer: dict[str, int] = {}
    for word, count in words.items():
        size_of_word = len(word)
        for start, character in enumerate(word):
            characters[character] = characters.get(character, 0) + count  # UNI-INIT-3
            for end in range(start + 2, size_of_word + 1):
                substring = word[start:end]
                longer[substring] = longer.get(substring, 0) + count
    ranked = sorted(longer.items(), key=itemgetter(1), reverse=True)  # UNI-INIT-4: the sort is stable in reverse, too
    return Unigram(characters | dict(ranked[: max(size - len(characters), 0)]))  # UNI-INIT-5


def train_unigram(words: Words, initial_size: int, size: int, fraction: float) -> UnigramTraining:
    """Prune the initial vocabulary until it is no larger than wanted, as :func:`tokref.train_unigram` does.

    >>> train_unigram({"aa": 1}, 2, 1, 0.5).sizes
    (2, 1)
    """
    model = initial_vocabulary(words, initial_size)
    sizes = [len(model.weights)]
    while sizes[-1] > size:  # UNI-PRUNE-4
        removed, model = prune_step(words, model, fraction)
        if not removed:  # UNI-PRUNE-5
            break
        sizes.append(len(model.weights))
    return UnigramTraining(model, tuple(sizes))


class _User(NamedTuple):
    """A word whose best segmentation uses a token, with its frequency and its cost."""

    word: str
    frequency: int
    cost: float


class _Losses:
    """The words that use each token, and what removing a token costs them (UNI-LOSS-2)."""

    def __init__(self, words: Words, costs: Mapping[str, float]) -> None:
        self._costs = costs
        self._trie = _Trie(costs)
        self._users: dict[str, list[_User]] = {}
        for word, count in words.items():
            ranges, cost = self._trie.segment(word)
            user = _User(word, count, cost)
            for token in {word[begin:end] for begin, end in ranges}:
                self._users.setdefault(token, []).append(user)

    def increase(self, token: str) -> float:
        """Return the loss without a token less the loss with it."""
        self._trie.set_cost(token, None)
        increase = 0.0
        for word, frequency, cost in self._users.get(token, ()):
            without = self._trie.segment(word)[1]
            if frequency and without > cost:  # not where both are infinite
                increase += frequency * (without - cost)
        self._trie.set_cost(token, self._costs[token])
        return increase


def _finite(value: float) -> float:
    if math.isinf(value):  # UNI-LOSS-3
        raise InputError("invalid_input", "the answer is infinite: a word needs a token of probability 0")
    return value
