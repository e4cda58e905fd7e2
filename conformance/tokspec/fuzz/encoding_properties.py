"""Properties of encodings of any model: spans, and tokens with their ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from tokspec.fuzz.example import Example, tokens_of
from tokspec.fuzz.soundness import faults
from tokspec.protocol.messages import Answer, Reply
from tokspec.protocol.spans import UNITS

__all__ = ["ALL", "may_drop", "unknown_of"]

Choices = Mapping[str, str]


def _encodes(example: Example, choices: Choices) -> bool:
    return example.operation == "encode"


def _result(reply: Reply) -> Mapping[str, Any]:
    return reply.result if isinstance(reply, Answer) else {}


def unknown_of(model: Mapping[str, Any]) -> str | None:
    """Return a model's unknown token, be it in the vocabulary or not.

    >>> unknown_of({"type": "wordpiece"}), unknown_of({"type": "bpe"})
    ('[UNK]', None)
    """
    found: str | None = model.get("unknown_token", "[UNK]" if model.get("type") == "wordpiece" else None)
    return found


def _tokens_are_known(example: Example, replies: Sequence[Reply], choices: Choices) -> str:
    result = _result(replies[0])
    tokens: list[str | None] = [*tokens_of(example.model)]
    if faults(example) & {"a merge is not listed", "a special token is not listed"}:
        return ""  # whether such a model is refused is another clause's business
    if choices["bpe_unknown_without_token"] == "kept" and "unknown_token" not in example.model:
        if example.model.keys() & {"normalizer", "pre_tokenizer"}:
            return ""  # characters stand as tokens that the text does not have
        tokens = [*tokens, *example.input["text"]]
    tokens = [*tokens, unknown_of(example.model)]  # whether it is in the vocabulary is another clause's business
    strange = [token for token in result.get("tokens", ()) if token not in tokens]
    if strange:
        return f"{strange[0]!r} is not in the vocabulary"
    ids = result.get("ids")
    listed = tokens_of(example.model)
    if ids is None or "tokens" not in result or len(set(listed)) < len(listed):
        return ""
    wrong = [
        (token, id)
        for token, id in zip(result["tokens"], ids, strict=True)
        if id != (listed.index(token) if token in listed else None)
        and (token in listed or token != unknown_of(example.model))
    ]
    return f"{wrong[0][0]!r} has the id {wrong[0][1]}" if wrong else ""


def _spans_are_in_order(example: Example, replies: Sequence[Reply], choices: Choices) -> str:
    result, length = _result(replies[0]), UNITS[choices["offset_unit"]](example.input["text"])
    spans = result.get("spans")
    if spans is None:
        return ""
    if "tokens" in result and len(spans) != len(result["tokens"]):
        return f"{len(spans)} spans for {len(result['tokens'])} tokens"
    spans = [span for span in spans if span[0] != span[1]]  # of added characters alone: not specified
    for start, end in spans:
        if not 0 <= start <= end <= length:
            return f"the span {start}, {end} is not in the text, whose length is {length}"
    for (start, end), (following, last) in pairwise(spans):
        if following < start or last < end:
            return f"the span {following}, {last} stands behind {start}, {end}"
    return ""


def _is_bare(example: Example, choices: Choices) -> bool:
    if not _encodes(example, choices) or choices["offset_unit"] != "code_point" or may_drop(example, choices):
        return False
    return not example.model.keys() & {"normalizer", "pre_tokenizer"}


def _spans_hold_their_tokens(example: Example, replies: Sequence[Reply], choices: Choices) -> str:
    result, text = _result(replies[0]), example.input["text"]
    if "spans" not in result or "tokens" not in result:
        return ""
    prefix = example.model.get("continuing_prefix", "##") if example.model["type"] == "wordpiece" else ""
    covered = 0
    for token, (start, end) in zip(result["tokens"], result["spans"], strict=True):
        found = text[start:end]
        if token != unknown_of(example.model) and found not in (token, token.removeprefix(prefix)):
            return f"{token!r} has the span of {found!r}"
        if start != covered:
            return f"nothing has the span {covered}, {start}"
        covered = end
    return ""


def may_drop(example: Example, choices: Choices) -> bool:
    """Say whether unknown characters leave no trace (BPE-ENC-8).

    >>> may_drop(Example({"type": "bpe"}, "encode", {}), {"bpe_unknown_without_token": "dropped_before_merging"})
    True
    """
    is_dropped = choices["bpe_unknown_without_token"].startswith("dropped")
    return is_dropped and example.model["type"] == "bpe" and "unknown_token" not in example.model


ALL: tuple[dict[str, Any], ...] = (
    {
        "name": "tokens are of the vocabulary, ids their places",
        "clause": "ENC-7",
        "takes": _encodes,
        "broken": _tokens_are_known,
    },
    {"name": "spans are in order and in the text", "clause": "ENC-3", "takes": _encodes, "broken": _spans_are_in_order},
    {"name": "spans hold their tokens", "clause": "TERM-3", "takes": _is_bare, "broken": _spans_hold_their_tokens},
)
