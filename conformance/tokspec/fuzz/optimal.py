"""Which segmentations a Unigram model allows as the best, computed from the model's numbers and nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

__all__ = ["Costs", "close", "costs_of", "is_pruning_clear"]

#: Sums of costs that differ by no more are the same sum, rounded otherwise (TERM-5).
TOLERANCE = 1e-9


def close(left: float, right: float) -> bool:
    """Say whether two sums agree.

    >>> close(0.1 + 0.2, 0.3), close(1.0, 1.001), close(math.inf, math.inf)
    (True, False, True)
    """
    return left == right or abs(left - right) <= TOLERANCE * max(1.0, abs(right))


@dataclass(frozen=True)
class Costs:
    """The negative logarithm of every token's probability; ``exact`` if sums of a few are not rounded."""

    costs: Mapping[str, float]
    exact: bool = False

    def of(self, tokens: Iterable[str]) -> float:
        """Return the cost of a segmentation; infinite if it has a token that is none.

        >>> Costs({"a": 1.0, "ab": 1.5}).of(["a", "ab"]), Costs({}).of(["a"])
        (2.5, inf)
        """
        return math.fsum(self.costs.get(token, math.inf) for token in tokens)

    def forward(self, word: str, without: str | None = None) -> list[float]:
        """Return the lowest cost of the word up to each position, from 0; infinite where there is none.

        >>> Costs({"a": 1.0, "ab": 1.5}).forward("ab")
        [0.0, 1.0, 1.5]
        """
        best = [0.0] + [math.inf] * len(word)
        for end in range(1, len(word) + 1):
            for start in range(end):
                token = word[start:end]
                if token in self.costs and token != without:
                    best[end] = min(best[end], best[start] + self.costs[token])
        return best

    def best(self, word: str, without: str | None = None) -> float:
        """Return the lowest cost of a segmentation; infinite if there is none.

        >>> Costs({"a": 1.0, "b": 1.0, "ab": 1.5}).best("ab", without="ab")
        2.0
        """
        return self.forward(word, without)[-1]

    def is_best(self, word: str, tokens: Sequence[str]) -> bool:
        """Say whether tokens write a word, and none write it with a higher probability.

        >>> Costs({"a": 1.0, "b": 1.0, "ab": 1.5}).is_best("ab", ["a", "b"])
        False
        """
        return "".join(tokens) == word and close(self.of(tokens), self.best(word))

    def may_use(self, word: str, token: str) -> bool:
        """Say whether a best segmentation of a word, or one as good, has a token.

        >>> Costs({"a": 1.0, "b": 1.0, "ab": 2.0}).may_use("ab", "ab")
        True
        """
        ahead, size = self.forward(word), len(word)
        behind = Costs({key[::-1]: cost for key, cost in self.costs.items()}).forward(word[::-1])
        starts = (at for at in range(size) if word.startswith(token, at))
        least = min((ahead[at] + self.costs[token] + behind[size - at - len(token)] for at in starts), default=math.inf)
        return math.isfinite(least) and (least < ahead[size] or close(least, ahead[size]))


def costs_of(model: Mapping[str, Any]) -> Costs:
    """Read the costs of a Unigram model.

    >>> costs_of({"type": "unigram", "tokens": [["a", -1.5]], "weights": "log_probability"})
    Costs(costs={'a': 1.5}, exact=True)
    """
    weights = dict(model.get("tokens", ()))
    if model.get("weights") == "log_probability":
        exact = all(float(weight * 4096).is_integer() and abs(weight) < 1024 for weight in weights.values())
        return Costs({token: -weight for token, weight in weights.items()}, exact)
    total = sum(weights.values())
    return Costs({token: -math.log(weight / total) if weight else math.inf for token, weight in weights.items()})


def is_pruning_clear(words: Mapping[str, int], tokens: Mapping[str, float], fraction: float, target: int) -> bool:
    """Say whether no pruning step on the way to a target depends on how sums of logarithms are rounded.

    ``tokens`` are frequencies; with a target of the vocabulary's size less 1 there is one step.

    >>> is_pruning_clear({"ab": 1}, {"a": 2, "b": 2, "ab": 1, "ba": 1}, 0.5, 3)
    True
    """
    while len(tokens) > target:
        costs = costs_of({"tokens": [[token, weight] for token, weight in tokens.items()]})
        increases = [(_increase(costs, words, token), token) for token in tokens if len(token) > 1]
        increases.sort(key=lambda row: row[0])
        count = int(len(tokens) * fraction)
        for (low, _), (high, _) in pairwise(increases[: count + 1]):
            if not low == high == 0.0 and close(low, high):
                return False
        removed = {token for _, token in increases[:count]}
        if not removed:
            break
        tokens = {token: weight for token, weight in tokens.items() if token not in removed}
    return True


def _increase(costs: Costs, words: Mapping[str, int], token: str) -> float:
    """Return the loss increase of a token: 0 only if no word may use it, however sums are rounded."""
    users = [word for word, count in words.items() if count and costs.may_use(word, token)]
    if not users:
        return 0.0
    increase = sum(words[word] * (costs.best(word, token) - costs.best(word)) for word in users)
    return max(increase, 5e-324)
