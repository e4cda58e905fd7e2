"""The weights of Unigram models as logarithms, which is what every format but the suite's own holds (UNI-PROB-1)."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum, log
from sys import float_info
from typing import Any

from tokspec.base.errors import Unsupported

__all__ = ["is_weight", "log_probabilities"]


def is_weight(value: Any) -> bool:
    """Tell whether a value that was read is a number that a double holds.

    >>> [is_weight(value) for value in (-1.5, 0, True, "1", float("nan"), 10**400)]
    [True, True, False, False, False, False]
    """
    return type(value) in (int, float) and abs(value) <= float_info.max


def log_probabilities(model: Mapping[str, Any], format: str) -> list[list[Any]]:
    """Return [token, natural logarithm of its probability] for the tokens of a model with every default filled in.

    Raises:
        Unsupported: a frequency of 0 has no logarithm.

    >>> log_probabilities({"tokens": [["a", 1], ["b", 1]], "weights": "frequency"}, "tokenizer.json")
    [['a', -0.6931471805599453], ['b', -0.6931471805599453]]
    """
    tokens = model.get("tokens", [])
    if model["weights"] == "log_probability":
        return [[token, weight] for token, weight in tokens]
    total = fsum(weight for _, weight in tokens)
    without = [token for token, weight in tokens if weight <= 0]
    if without:
        raise Unsupported(f"the frequency of {without[0]!r} has no logarithm, and {format} holds logarithms")
    return [[token, log(weight / total)] for token, weight in tokens]
