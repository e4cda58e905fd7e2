"""What the specification leaves open: an expected result with whatever is open taken from the result that was given.

Spans of added characters, alone or first (PRE-1, ENC-3), characters that versions of Unicode treat differently
(TERM-6), which of equally probable segmentations is given (UNI-SEG-3), which rank of a merge listed twice counts
(`bpe_merge_order`), and what depends on how sums of logarithms are rounded (TERM-5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from tokspec.fuzz.ages import has_newer
from tokspec.fuzz.example import texts_of
from tokspec.fuzz.leeway_spans import with_open_spans
from tokspec.fuzz.optimal import Costs, close, costs_of, is_pruning_clear
from tokspec.fuzz.requests import Asked

__all__ = ["allowed"]

Result: TypeAlias = Mapping[str, Any]
Ask: TypeAlias = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Result]

#: How far the cost of an unknown character lies above that of the least probable token.
_UNKNOWN = 10.0

#: Products of counts that floating-point numbers hold exactly.
_EXACT_COUNT = 2**20


def allowed(
    model: Mapping[str, Any], asked: Asked, right: Result, given: Result, choices: Mapping[str, str], ask: Ask
) -> Result | None:
    """Return the result that is expected beside the one that was given; None if no clause says which it is.

    ``ask`` asks the oracle about the model.

    >>> allowed({}, ("pre_tokenize", {"text": " a"}), {"pieces": [["▁", 0, 0]]}, {"pieces": [["▁", 0, 1]]}, {}, max)
    {'pieces': [['▁', 0, 1]]}
    """
    operation, input = asked
    if model.keys() & {"normalizer", "pre_tokenizer"}:
        letters = operation != "normalize" and "byte_level" in str(model.get("pre_tokenizer"))
        if has_newer(texts_of(input), letters):
            return None
    if operation in ("encode", "pre_tokenize"):
        right = with_open_spans(model, asked, right, given, choices.get("offset_unit", "code_point"))
    kind = model.get("type")
    if kind == "bpe" and operation == "encode" and _is_of_other_ranks(model, input, given, choices, ask):
        return None
    if kind == "wordpiece" and operation in _BY_SCORES and _has_large_counts(input):
        return None
    if kind == "unigram":
        if operation in _BY_ROUNDING:
            return right if _is_clear(operation, model, input, ask) else None
        if operation in _WITH_TIES:
            return _WITH_TIES[operation](right, given, input, _Tied(model, choices, ask))
    return right


def _is_of_other_ranks(
    model: Mapping[str, Any], input: Mapping[str, Any], given: Result, choices: Mapping[str, str], ask: Ask
) -> bool:
    """Say whether the result is that of the last places of merges that are listed twice, where any place may count."""
    merges = [tuple(pair) for pair in model.get("merges", ())]
    is_open = choices["bpe_merge_order"] == "lowest_rank" and choices["bpe_pairs"] == "listed"
    if not is_open or len(set(merges)) == len(merges):
        return False
    last = [list(pair) for pair in reversed(dict.fromkeys(reversed(merges)))]
    other = ask("encode", {**model, "merges": last}, input)
    return any(other.get(key, 0) == given.get(key, 1) for key in ("tokens", "ids"))


#: What WordPiece's scores decide, which are quotients of counts (WP-TRAIN-3).
_BY_SCORES = ("train", "training_trace", "training_state", "best_pair", "pair_scores")


def _has_large_counts(input: Mapping[str, Any]) -> bool:
    corpus = input.get("corpus", {})
    return any(count > _EXACT_COUNT for _, count in corpus.get("words", ()))


class _Tied:
    """Which tokens stand for the best segmentation as well as others."""

    def __init__(self, model: Mapping[str, Any], choices: Mapping[str, str], ask: Ask) -> None:
        self._model, self._ask = model, ask
        self.costs: Costs = costs_of(model)
        self.unknown = model.get("unknown_token")
        self.is_open = choices["unigram_tie"] == "any" or not self.costs.exact
        is_apart = self.unknown is not None and not model.get("special_tokens")
        self.has_runs = is_apart and choices["unigram_unknown"] == "run"

    def agree(self, right: Sequence[str], given: Any, text: str = "") -> bool:
        """Say whether two lists of tokens are equally good: they write the same, at the same cost."""
        if not self.is_open or not isinstance(given, list) or not all(isinstance(token, str) for token in given):
            return False
        if self._written(right) == self._written(given):
            return close(self.costs.of(self._known(given)), self.costs.of(self._known(right)))
        if not self.has_runs or not text:
            return False
        pieces = self._ask("pre_tokenize", self._model, {"text": text}).get("pieces", ())
        written = "".join(piece for piece, *_ in pieces)
        return self._lies_on(given, written) and close(self._whole(given, written), self._whole(right, written))

    def _lies_on(self, tokens: Sequence[str], text: str) -> bool:
        """Say whether tokens write a text, the unknown one whatever it has in its place."""
        ends = {0}
        for token in tokens:
            if token == self.unknown:
                ends = set(range(min(ends, default=len(text)) + 1, len(text) + 1))
            else:
                ends = {end + len(token) for end in ends if text.startswith(token, end)}
        return len(text) in ends

    def _whole(self, tokens: Sequence[str], text: str) -> float:
        """Return the cost of tokens, each unknown character at its own (UNI-UNK-3)."""
        known = self._known(tokens)
        dearest = max((cost for cost in self.costs.costs.values() if math.isfinite(cost)), default=0.0)
        return self.costs.of(known) + (len(text) - len("".join(known))) * (dearest + _UNKNOWN)

    def _written(self, tokens: Sequence[str]) -> str:
        return "".join("\0" if token == self.unknown else token for token in tokens)

    def _known(self, tokens: Sequence[str]) -> list[str]:
        return [token for token in tokens if token != self.unknown]


def _of_encoding(right: Result, given: Result, input: Mapping[str, Any], tied: _Tied) -> Result:
    listed = list(tied.costs.costs)
    tokens = given["tokens"] if "tokens" in given else _named(given.get("ids"), listed)
    if tokens is None or tokens == right["tokens"] or not tied.agree(right["tokens"], tokens, input["text"]):
        return right
    ids = {token: id for id, token in enumerate(listed)}
    return {"tokens": tokens, "ids": [ids.get(token) for token in tokens], "spans": given.get("spans")}


def _named(ids: Any, listed: Sequence[str]) -> list[str] | None:
    """Return the tokens of ids; None if one is not an id."""
    known = dict(enumerate(listed))
    return [known[id] for id in ids] if isinstance(ids, list) and all(id in known for id in ids) else None


def _of_segmenting(right: Result, given: Result, input: Mapping[str, Any], tied: _Tied) -> Result:
    return {**right, "tokens": given["tokens"]} if tied.agree(right["tokens"], given.get("tokens")) else right


def _of_table(right: Result, given: Result, input: Mapping[str, Any], tied: _Tied) -> Result:
    rows, others = right["table"], given.get("table")
    if not isinstance(others, list) or len(rows) != len(others):
        return right
    return {"table": [_row(row, other, tied) for row, other in zip(rows, others, strict=True)]}


def _row(row: Any, other: Any, tied: _Tied) -> Any:
    if row and isinstance(other, list) and other and tied.agree(row[0], other[0]):
        return [other[0], row[1]]
    return row


_WITH_TIES: Mapping[str, Callable[[Result, Result, Mapping[str, Any], _Tied], Result]] = {
    "encode": _of_encoding,
    "segment": _of_segmenting,
    "viterbi": _of_table,
}

_BY_ROUNDING = ("train", "training_trace", "prune_step")


def _is_clear(operation: str, model: Mapping[str, Any], input: Mapping[str, Any], ask: Ask) -> bool:
    words = dict(ask("count_words", model, {"corpus": input["corpus"]}).get("words", ()))
    if operation == "prune_step":
        if model.get("weights") == "log_probability":
            return False
        tokens = dict(model["tokens"])
        return is_pruning_clear(words, tokens, input["fraction"], len(tokens) - 1)
    start = ask("initial_vocabulary", model, {"corpus": input["corpus"], "initial_size": input["initial_size"]})
    tokens = dict(start.get("tokens", ()))
    return is_pruning_clear(words, tokens, input["fraction"], input["vocabulary_size"])
