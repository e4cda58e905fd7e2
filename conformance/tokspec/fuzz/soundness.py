"""What makes an example one of which the specification speaks, and what one lacks of that.

Some models contradict themselves on purpose: a clause says how they are refused. All others are to stay as they are
meant to be while an example is shrunk, lest it show what no clause says anything of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tokspec.fuzz.example import Example, tokens_of

__all__ = ["faults"]

#: What cannot be asked of a model that has not been trained.
_BY_TOKENS = frozenset(
    ("encode", "segment", "segmentations", "viterbi", "token_probabilities", "loss", "loss_increase", "prune_step")
)


def faults(example: Example) -> frozenset[str]:
    """Name what is wrong with an example's model, or its words; nothing is, usually.

    >>> sorted(faults(Example({"type": "bpe", "special_tokens": ["<s>"]}, "encode", {"text": "a"})))
    ['a special token is not listed', 'no tokens']
    >>> sorted(faults(Example({"type": "bpe", "special_tokens": ["<s>"]}, "train", {"merge_count": 1})))
    []
    """
    words = example.input.get("corpus", {}).get("words", ())
    found = {"a word is empty"} if any(not word for word, _ in words) else set()
    model, listed = example.model, tokens_of(example.model)
    if "type" not in model or not (listed or example.operation in _BY_TOKENS):
        return frozenset(found | ({"merges without tokens"} if model.get("merges") else set()))
    known = set(listed)
    found |= {name for name, is_so in _FAULTS.items() if is_so(model, known)}
    return frozenset(found | ({"a token is listed twice"} if len(known) < len(listed) else set()))


def _has_foreign_special(model: Mapping[str, Any], known: set[str]) -> bool:
    """A special token is also in the vocabulary (spec/03-added-tokens.md)."""
    return not known.issuperset(model.get("special_tokens", ()))


def _has_foreign_merge(model: Mapping[str, Any], known: set[str]) -> bool:
    """A merge's parts and product are in the vocabulary, or the model is refused (BPE-MODEL-3)."""
    return any(not known.issuperset((left, right, left + right)) for left, right in model.get("merges", ()))


def _has_foreign_unknown(model: Mapping[str, Any], known: set[str]) -> bool:
    """An unknown token that is given is in the vocabulary, or texts that need it are refused (BPE-MODEL-2)."""
    return "unknown_token" in model and model["unknown_token"] not in known


def _has_negative_frequency(model: Mapping[str, Any], known: set[str]) -> bool:
    rows = model.get("tokens", ())
    return model.get("weights") != "log_probability" and any(weight < 0 for _, weight in rows)


_FAULTS: Mapping[str, Callable[[Mapping[str, Any], set[str]], bool]] = {
    "no tokens": lambda model, known: not known,
    "a special token is not listed": _has_foreign_special,
    "a merge is not listed": _has_foreign_merge,
    "the unknown token is not listed": _has_foreign_unknown,
    "a frequency is negative": _has_negative_frequency,
}
