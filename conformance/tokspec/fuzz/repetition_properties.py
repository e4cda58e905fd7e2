"""Properties of asking again: twice, alone, with a corpus written otherwise, with counts scaled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tokspec.fuzz.example import Example
from tokspec.protocol.messages import Answer, Refused, Reply

__all__ = ["ALL"]

Choices = Mapping[str, str]


def _any(example: Example, choices: Choices) -> bool:
    return True


def _again(example: Example, reply: Reply) -> list[Example]:
    return [example]


def _is_same(example: Example, replies: Sequence[Reply], choices: Choices) -> str:
    first, second = replies
    if _told(first) == _told(second):
        return ""
    return f"it is {_shown(first)}, and {_shown(second)} when it is asked again"


def _told(reply: Reply) -> Any:
    """Return what is to be the same again: messages need not be."""
    if isinstance(reply, Answer):
        return reply.result
    return (reply.reason,) if isinstance(reply, Refused) else (reply.kind, "")


def _shown(reply: Reply) -> str:
    if isinstance(reply, Answer):
        return f"answered {reply.result!r}"
    return f"refused as {reply.reason}" if isinstance(reply, Refused) else f"a {reply.kind} ({reply.message})"


def _trains(example: Example, choices: Choices) -> bool:
    is_counted = "words" in example.input.get("corpus", ()) and "min_frequency" not in example.input
    return example.operation == "train" and is_counted and example.model.get("type") in ("bpe", "wordpiece")


def _summed(example: Example, reply: Reply) -> list[Example]:
    """Write words that are listed twice once, with the sum of their counts (BPE-TRAIN-1)."""
    counts: dict[str, int] = {}
    for word, count in example.input["corpus"]["words"]:
        counts[word] = counts.get(word, 0) + count
    return [_with_words(example, [[word, count] for word, count in counts.items()])]


def _scaled(example: Example, reply: Reply) -> list[Example]:
    """Take every count three times: the ranking of pairs stays."""
    return [_with_words(example, [[word, 3 * count] for word, count in example.input["corpus"]["words"]])]


def _with_words(example: Example, words: list[list[Any]]) -> Example:
    return replace(example, input={**example.input, "corpus": {"words": words}})


def _learns_the_same(example: Example, replies: Sequence[Reply], choices: Choices) -> str:
    first, second = (reply.result if isinstance(reply, Answer) else None for reply in replies)
    return "" if first == second else f"it learns {first!r}, and {second!r} from the same words counted otherwise"


ALL: tuple[dict[str, Any], ...] = (
    {
        "name": "twice gives the same",
        "clause": "ERROR-1",
        "repeats": True,
        "takes": _any,
        "more": _again,
        "broken": _is_same,
    },
    {
        "name": "a batch equals one by one",
        "clause": "ERROR-1",
        "repeats": True,
        "takes": _any,
        "more": _again,
        "broken": _is_same,
        "alone": True,
    },
    {
        "name": "equal words are one",
        "clause": "BPE-TRAIN-1",
        "takes": _trains,
        "more": _summed,
        "broken": _learns_the_same,
    },
    {
        "name": "training goes by proportions",
        "clause": "BPE-TRAIN-7",
        "takes": _trains,
        "more": _scaled,
        "broken": _learns_the_same,
    },
)
