"""Properties of BPE: merges reach its encodings and can do nothing more for them; those worth learning were learned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from tokspec.fuzz.example import Example
from tokspec.protocol.messages import Answer, Reply

__all__ = ["ALL"]

Choices = Mapping[str, str]
Pair = tuple[str, str]
Split = tuple[list[str], int]


def _is_one_piece(example: Example, choices: Choices) -> bool:
    """Take encodings of a text that is one piece of known characters."""
    model = example.model
    bare = not model.keys() & {"normalizer", "pre_tokenizer", "special_tokens"}
    if not bare or example.operation != "encode" or model.get("type") != "bpe" or not model.get("vocabulary"):
        return False
    if model.get("unknown_token", "\0") in example.input["text"]:
        return False  # whether it is one with its neighbours is another clause's business
    return all(character in model["vocabulary"] for character in example.input["text"])


def _tokens(replies: Sequence[Reply]) -> list[str]:
    reply = replies[0]
    return list(reply.result["tokens"]) if isinstance(reply, Answer) else []


def _is_reached(example: Example, replies: Sequence[Reply], choices: Choices) -> str:
    tokens, text = _tokens(replies), example.input["text"]
    if "".join(tokens) != text:
        return f"the tokens are {''.join(tokens)!r} together"
    makes = _products(example.model, choices)
    for token in tokens:
        if not _can_be_made(token, makes):
            return f"no merges lead to {token!r}"
    return ""


def _products(model: Mapping[str, Any], choices: Choices) -> set[Pair] | None:
    """Return the pairs that may be merged; None means whatever makes a token."""
    if choices["bpe_pairs"] == "in_vocabulary":
        return None
    return {(left, right) for left, right in model.get("merges", ())}


def _can_be_made(token: str, makes: set[Pair] | None) -> bool:
    if len(token) == 1 or makes is None:
        return True
    splits = ((token[:at], token[at:]) for at in range(1, len(token)))
    return any(pair in makes and all(_can_be_made(part, makes) for part in pair) for pair in splits)


def _is_done(example: Example, replies: Sequence[Reply], choices: Choices) -> str:
    """Say which merge is left to do; with a single pass one may be."""
    makes, known = _products(example.model, choices), set(example.model["vocabulary"])
    for left, right in pairwise(_tokens(replies)):
        if left + right == example.model.get("unknown_token"):
            continue
        if (left, right) in makes if makes is not None else left + right in known:
            return f"{left!r} and {right!r} are left, which are to be merged"
    return ""


def _is_finished(example: Example, choices: Choices) -> bool:
    order = choices["bpe_merge_order"] == "lowest_rank" or choices["bpe_pairs"] == "in_vocabulary"
    return order and _is_one_piece(example, choices)


def _trains(example: Example, choices: Choices) -> bool:
    is_bpe = example.operation == "train" and example.model.get("type") == "bpe"
    return is_bpe and "words" in example.input["corpus"]


def _is_worth_it(example: Example, replies: Sequence[Reply], choices: Choices) -> str:
    """Learn the merges again: each is to be of the highest count at its time, and not below ``min_frequency``."""
    splits = _split(example)
    for left, right in _merges(replies):
        counts = _counts(splits)
        most = max(counts.values(), default=0)
        if counts[left, right] < most or most < example.input.get("min_frequency", 1):
            return f"{left!r} and {right!r} stand side by side {counts[left, right]} times, and others {most} times"
        splits = [(_merged(split, (left, right)), count) for split, count in splits]
    return ""


def _goes_on(example: Example, replies: Sequence[Reply], choices: Choices) -> str:
    """Learn the merges again: there is to be nothing left then that the target allows (BPE-TRAIN-11)."""
    merges, splits = _merges(replies), _split(example)
    tokens = {*example.model.get("special_tokens", ()), *(symbol for split, _ in splits for symbol in split)}
    tokens |= {left + right for left, right in merges}
    for pair in merges:
        splits = [(_merged(split, pair), count) for split, count in splits]
    done = {"merge_count": len(merges), "vocabulary_size": len(tokens)}
    if any(name in example.input and example.input[name] <= size for name, size in done.items()):
        return ""
    counts = _counts(splits)
    pair, most = max(counts.items(), key=lambda row: row[1], default=(("", ""), 0))
    if most < max(1, example.input.get("min_frequency", 1)):
        return ""
    return f"it ends after {len(merges)} merges, and {pair[0]!r} and {pair[1]!r} stand side by side {most} times"


def _merges(replies: Sequence[Reply]) -> list[Pair]:
    reply = replies[0]
    return [(left, right) for left, right in reply.result["merges"]] if isinstance(reply, Answer) else []


def _split(example: Example) -> list[Split]:
    return [(list(word), count) for word, count in example.input["corpus"]["words"]]


def _counts(splits: Sequence[Split]) -> Counter[Pair]:
    counts = Counter[Pair]()
    for split, count in splits:
        for pair in pairwise(split):
            counts[pair] += count
    return counts


def _merged(split: Sequence[str], pair: Pair) -> list[str]:
    done: list[str] = []
    at = 0
    while at < len(split):
        found = tuple(split[at : at + 2]) == pair
        done.append(split[at] + split[at + 1] if found else split[at])
        at += 2 if found else 1
    return done


ALL: tuple[dict[str, Any], ...] = (
    {"name": "merges lead to every token", "clause": "BPE-ENC-9", "takes": _is_one_piece, "broken": _is_reached},
    {"name": "no merge is left to do", "clause": "BPE-ENC-3", "takes": _is_finished, "broken": _is_done},
    {"name": "every merge had the highest count", "clause": "BPE-TRAIN-7", "takes": _trains, "broken": _is_worth_it},
    {"name": "training goes on while it may", "clause": "BPE-TRAIN-11", "takes": _trains, "broken": _goes_on},
)
