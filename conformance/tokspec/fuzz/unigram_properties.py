"""Properties of Unigram: what is segmented is segmented in the best way, by the model's own numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokspec.fuzz.example import Example, tokens_of
from tokspec.fuzz.optimal import close, costs_of
from tokspec.protocol.messages import Answer, Reply

__all__ = ["ALL"]

Choices = Mapping[str, str]


#: Texts that are longer take too long: every substring of them is looked up.
_LONGEST = 200


def _takes(example: Example, choices: Choices) -> bool:
    model = example.model
    if model.get("type") != "unigram" or not model.get("tokens") or len(example.input.get("text", "")) > _LONGEST:
        return False
    if example.operation == "segment":
        return True
    bare = not model.keys() & {"normalizer", "pre_tokenizer", "special_tokens"}
    return bare and example.operation == "encode"


def _broken(example: Example, replies: Sequence[Reply], choices: Choices) -> str:
    reply = replies[0]
    tokens = list(reply.result["tokens"]) if isinstance(reply, Answer) else []
    word = example.input.get("word", example.input.get("text", ""))
    listed = tokens_of(example.model)
    if example.model.get("unknown_token") in tokens or len(set(listed)) < len(listed):
        return ""
    costs = costs_of(example.model)
    if "".join(tokens) != word:
        return f"the tokens are {''.join(tokens)!r} together"
    if not close(costs.of(tokens), costs.best(word)):
        return f"the tokens cost {costs.of(tokens)!r}, the best {costs.best(word)!r}"
    return ""


ALL: tuple[dict[str, Any], ...] = (
    {"name": "the segmentation is the best", "clause": "UNI-SEG-2", "takes": _takes, "broken": _broken},
)
