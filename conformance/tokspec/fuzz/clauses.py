"""The clause that a difference is about, as near as the smallest example says.

What an example still has after shrinking is needed to show the difference: a normalizer in it matters, and so does a
special token. So the parts that are left, and how the two answers differ, lead to the clause. It is a proposal: who
makes a case of the example decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tokspec.fuzz import clauses_of_encoding, clauses_of_stages
from tokspec.fuzz.example import Example, has_surrogate, texts_of, tokens_of
from tokspec.fuzz.recent import is_recent

__all__ = ["clause_of"]

Answer: TypeAlias = Mapping[str, Any]


def clause_of(example: Example, kind: str, right: Answer, given: Answer) -> str:
    """Name the clause; ``right`` and ``given`` are results, empty where there is none, and ``kind`` how they differ.

    >>> clause_of(Example({}, "decode", {"tokens": ["a", "b"]}), "text", {"text": "a b"}, {"text": "ab"})
    'DEC-7'
    """
    if kind.endswith("refused as invalid_model"):
        return "BPE-MODEL-3" if example.model.get("merges") and not _has_double(example.model) else "TERM-10"
    if kind.endswith("refused as invalid_input") and has_surrogate(example.input):
        return "PRE-BYTE-6"
    if example.model.keys() & {"normalizer", "pre_tokenizer"} and is_recent(texts_of(example.input)):
        return "TERM-6"
    by_operation = _BY_OPERATION.get(example.operation)
    if by_operation is not None:
        return by_operation(example, kind, right, given)
    return _of_training(example, kind, right, given)


def _has_double(model: Mapping[str, Any]) -> bool:
    tokens = tokens_of(model)
    return len(set(tokens)) < len(tokens)


_BY_OPERATION: Mapping[str, Callable[[Example, str, Answer, Answer], str]] = {
    "normalize": clauses_of_stages.of_normalizing,
    "pre_tokenize": clauses_of_stages.of_pre_tokenizing,
    "decode": clauses_of_stages.of_decoding,
    "encode": clauses_of_encoding.of_encoding,
}


def _of_training(example: Example, kind: str, right: Answer, given: Answer) -> str:
    kind_of_model = example.model.get("type", "")
    if "not refused as" in kind:  # be it that it answers, or that it crashes
        refusal = _REFUSED.get((example.operation, kind.rpartition(" ")[2]))
        if refusal is not None:
            return refusal
    if kind.startswith("crash") and kind_of_model == "bpe" and _makes_special(example):
        return "BPE-TRAIN-10"
    if example.operation == "best_pair" and kind.startswith("refused"):
        return {"bpe": "BPE-TRAIN-7", "wordpiece": "WP-TRAIN-4"}[kind_of_model]
    if example.operation == "train" and kind_of_model == "bpe":
        return _of_bpe_vocabulary(example, right, given)
    if example.operation == "base_vocabulary" and example.model.get("special_tokens"):
        return {"bpe": "BPE-TRAIN-3", "wordpiece": "WP-TRAIN-2"}[kind_of_model]
    if example.operation == "base_vocabulary" and kind_of_model == "wordpiece":
        return (
            "WP-TRAIN-2" if sorted(right.get("vocabulary", ())) == sorted(given.get("vocabulary", ())) else "WP-TRAIN-1"
        )
    return _TABLE.get((example.operation, kind_of_model)) or _TABLE.get((example.operation, ""), "ERROR-1")


def _makes_special(example: Example) -> bool:
    """Say whether a merge may make a token that is there already, as a special one."""
    words = [word for word, _ in example.input.get("corpus", {}).get("words", example.input.get("words", ()))]
    return any(token in word for token in example.model.get("special_tokens", ()) for word in words)


def _of_bpe_vocabulary(example: Example, right: Answer, given: Answer) -> str:
    mine, other = right.get("merges"), given.get("merges")
    if mine == other:
        same = sorted(right.get("vocabulary", ())) == sorted(given.get("vocabulary", ()))
        return "BPE-TRAIN-3" if example.model.get("special_tokens") else "BPE-TRAIN-2" if same else "BPE-TRAIN-10"
    if mine is None or other is None:
        return "BPE-TRAIN-11"
    if len(mine) != len(other) and mine[: len(other)] == other[: len(mine)]:
        return "BPE-TRAIN-12" if not mine and example.input.get("vocabulary_size") is not None else "BPE-TRAIN-11"
    counts = {count for _, count in example.input["corpus"].get("words", ())}
    return "BPE-TRAIN-13" if counts and max(counts) > 2**20 else "BPE-TRAIN-8" if len(counts) <= 1 else "BPE-TRAIN-7"


#: Refusals that are due, by operation and reason.
_REFUSED = {
    **{(operation, "no_segmentation"): "UNI-UNK-2" for operation in ("segment", "loss", "loss_increase")},
    **{
        (operation, "invalid_input"): "ERROR-2"
        for operation in ("best_pair", "training_state", "pair_frequencies", "pair_scores", "loss_increase")
    },
}

_TABLE: Mapping[tuple[str, str], str] = {
    ("count_words", ""): "BPE-TRAIN-1",
    ("base_vocabulary", "bpe"): "BPE-TRAIN-2",
    ("training_state", "bpe"): "BPE-TRAIN-9",
    ("training_state", "wordpiece"): "WP-TRAIN-5",
    ("pair_frequencies", "bpe"): "BPE-TRAIN-5",
    ("pair_scores", "wordpiece"): "WP-TRAIN-3",
    ("best_pair", "bpe"): "BPE-TRAIN-8",
    ("best_pair", "wordpiece"): "WP-TRAIN-4",
    ("train", "wordpiece"): "WP-TRAIN-4",
    ("train", "unigram"): "UNI-PRUNE-2",
    ("training_trace", "bpe"): "BPE-TRAIN-7",
    ("training_trace", "wordpiece"): "WP-TRAIN-3",
    ("training_trace", "unigram"): "UNI-PRUNE-4",
    ("substring_frequencies", "unigram"): "UNI-INIT-1",
    ("ranked_substrings", "unigram"): "UNI-INIT-4",
    ("initial_vocabulary", "unigram"): "UNI-INIT-5",
    ("token_probabilities", "unigram"): "UNI-PROB-1",
    ("segmentations", "unigram"): "UNI-SEG-1",
    ("viterbi", "unigram"): "UNI-SEG-4",
    ("segment", "unigram"): "UNI-SEG-2",
    ("loss", "unigram"): "UNI-LOSS-1",
    ("loss_increase", "unigram"): "UNI-LOSS-2",
    ("prune_step", "unigram"): "UNI-PRUNE-2",
}
