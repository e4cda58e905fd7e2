"""The models as values, and what is looked up in them (``spec/00-terms.md``, chapters 4 to 6)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from tokref.decoding import Decoder
from tokref.errors import InputError
from tokref.normalization import Normalizer
from tokref.pre_tokenization import PreTokenizer

__all__ = ["Beginnings", "Bpe", "Pair", "Token", "Tokenizer", "Unigram", "WordPiece"]

Pair = tuple[str, str]
"""Two tokens that stand side by side."""


class Token(NamedTuple):
    """A token, its id (None for one that has no entry), and its half-open range of code points."""

    text: str
    id: int | None
    start: int
    end: int


@dataclass(frozen=True)
class _Vocabulary:
    """What every model has: distinct tokens, whose ids are their positions (TERM-4)."""

    vocabulary: tuple[str, ...] = ()
    unknown_token: str | None = None

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """The id of every token; tokens are equal when their code points are (TERM-2)."""
        return {token: index for index, token in enumerate(self.vocabulary)}

    @cached_property
    def longest(self) -> int:
        """The length of the longest token, in code points."""
        return max(map(len, self.vocabulary), default=0)

    def unknown(self, symbols: str, start: int) -> Token:
        """Give the unknown token for a stretch of a piece.

        Raises:
            InputError: ``unknown_symbol``, where the model has no such token.
        """
        if self.unknown_token is None:
            raise InputError("unknown_symbol", f"{symbols!r} is unknown and the model has no unknown token")
        if self.unknown_token not in self.ids:  # BPE-MODEL-2, WP-MODEL-1
            message = f"{symbols!r} is unknown and the unknown token {self.unknown_token!r} is not in the vocabulary"
            raise InputError("unknown_symbol", message)
        return Token(self.unknown_token, self.ids[self.unknown_token], start, start + len(symbols))


@dataclass(frozen=True)
class Bpe(_Vocabulary):
    """A Byte-Pair Encoding model; a merge's rank is its position.

    >>> Bpe(("b", "g", "u", "ug"), merges=(("u", "g"),)).ranks
    {('u', 'g'): (0,)}
    """

    merges: tuple[Pair, ...] = ()

    @cached_property
    def ranks(self) -> Mapping[Pair, tuple[int, ...]]:
        """The ranks of every merge, rising: training may learn a merge twice."""
        ranks: dict[Pair, list[int]] = {}
        for rank, pair in enumerate(self.merges):
            ranks.setdefault(pair, []).append(rank)
        return {pair: tuple(found) for pair, found in ranks.items()}

    @cached_property
    def first_ranks(self) -> Mapping[Pair, int]:
        """The first rank of every merge."""
        return {pair: found[0] for pair, found in self.ranks.items()}

    def rank_after(self, pair: Pair, rank: int) -> int | None:
        """Give the rank of a merge that comes next after a rank, or None where none does."""
        return next((later for later in self.ranks[pair] if later > rank), None)


@dataclass(frozen=True)
class WordPiece(_Vocabulary):
    """A WordPiece model; ``max_word_length`` is in code points.

    >>> WordPiece(("hug", "##s")).continuing_prefix
    '##'
    """

    unknown_token: str | None = "[UNK]"
    continuing_prefix: str = "##"
    max_word_length: int = 100


class Beginnings(dict[str, "Beginnings"]):
    """What tokens begin alike: how they may go on, by the next character, and the cost of the one that ends here."""

    __slots__ = ("cost",)

    def __init__(self) -> None:
        super().__init__()
        self.cost: float | None = None

    def __missing__(self, character: str) -> Beginnings:
        self[character] = inner = Beginnings()
        return inner


@dataclass(frozen=True)
class Unigram(_Vocabulary):
    """A Unigram model; each token has a frequency, or the natural logarithm of its probability.

    >>> Unigram(("a", "b"), weights=(1, 3)).probabilities
    {'a': 0.25, 'b': 0.75}
    """

    weights: tuple[float, ...] = ()
    kind: Literal["frequency", "log_probability"] = "frequency"

    @cached_property
    def total(self) -> float:
        """The sum of the frequencies of the vocabulary."""
        return sum(self.weights)

    @cached_property
    def probabilities(self) -> Mapping[str, float]:
        """The probability of every token (UNI-PROB-1)."""
        return dict(zip(self.vocabulary, map(self._probability, self.weights), strict=True))

    @cached_property
    def costs(self) -> Mapping[str, float]:
        """The negative logarithm of every token's probability; infinite where that is 0."""
        return dict(zip(self.vocabulary, map(self._cost, self.weights), strict=True))

    @cached_property
    def beginnings(self) -> Beginnings:
        """All tokens with their costs, to be read character by character."""
        root = Beginnings()
        for token, cost in self.costs.items():
            inner = root
            for character in token:
                inner = inner[character]
            inner.cost = cost
        return root

    @cached_property
    def highest_cost(self) -> float:
        """The cost of the least probable token that occurs at all; 0 where none does."""
        return max(filter(math.isfinite, self.costs.values()), default=0.0)

    def _probability(self, weight: float) -> float:
        if self.kind == "log_probability":
            return math.exp(weight)
        return weight / self.total if weight else 0.0  # UNI-PROB-1

    def _cost(self, weight: float) -> float:
        if self.kind == "log_probability":
            return -weight
        return -math.log(weight / self.total) if self._probability(weight) else math.inf


@dataclass(frozen=True)
class Tokenizer:
    """A model with all that stands around it; without a model it can still normalize, pre-tokenize and decode.

    >>> Tokenizer(special_tokens=("<s>",)).model is None
    True
    """

    model: Bpe | WordPiece | Unigram | None = None
    normalizer: Normalizer | None = None
    pre_tokenizer: PreTokenizer | None = None
    decoder: Decoder | None = None
    special_tokens: tuple[str, ...] = ()
