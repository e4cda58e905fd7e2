"""The clause of a difference in encoding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import Refusal
from tokspec.fuzz.example import Example, tokens_of

__all__ = ["of_encoding"]

Answer: TypeAlias = Mapping[str, Any]


def of_encoding(example: Example, kind: str, right: Answer, given: Answer) -> str:
    """Name the clause of a difference between encodings.

    >>> example = Example({"type": "bpe", "vocabulary": ["a"]}, "encode", {"text": "aa"})
    >>> of_encoding(example, "ids", {"tokens": ["a", "a"], "ids": [0, 0]}, {"tokens": ["a", "a"], "ids": [1, 1]})
    'ENC-7'
    """
    model, text = example.model, example.input["text"]
    if kind == "ids" and _tokens(example, given) == right.get("tokens"):
        return "ENC-7"
    special = [token for token in model.get("special_tokens", ()) if _overlaps(token, text)]
    if kind.endswith("refused as unknown_symbol") and not kind.startswith("refused") and len(special) < 2:
        return _UNREFUSED[model["type"]](model)
    if kind == "spans":
        if _is_dropped(model, text):
            return "BPE-ENC-8"
        return "ENC-3" if set(model) & {"normalizer", "pre_tokenizer"} else "TERM-3"
    if special:
        return _of_special(special, text, right, given)
    if model.get("special_tokens"):  # none is in the text, and without them nothing differs
        return "ADDED-4" if right.get("tokens") and given.get("tokens") == [] else "ADDED-1"
    if "pre_tokenizer" not in model and _is_dropped(model, text):
        return "BPE-ENC-9" if text in model.get("vocabulary", ()) else "BPE-ENC-8"
    if not text or (right and not right.get("tokens")):
        return "ENC-4"
    if "normalizer" in model or "pre_tokenizer" in model:
        return _of_pieces(example, right, given)
    return _BY_TYPE[model["type"]](example, right, given)


def _of_pieces(example: Example, right: Answer, given: Answer) -> str:
    """Name the clause by the first piece that differs, if both answers keep to the pieces."""
    model, text = example.model, example.input["text"]
    try:
        pieces = _KEEPING.run("pre_tokenize", _KEEPING.load("tokspec", model), {"text": text})["pieces"]
    except Refusal:
        return "ENC-1"
    bare = {key: value for key, value in model.items() if key not in ("normalizer", "pre_tokenizer")}
    waiting = [_tokens(example, answer) for answer in (right, given)]
    for piece, *_ in pieces:
        of_piece = [_written(piece, tokens) for tokens in waiting]
        if None in of_piece:
            return "ENC-1"
        first, second = ({"tokens": tokens} for tokens in of_piece)
        if first != second:
            return _BY_TYPE[model["type"]](replace(example, model=bare, input={"text": piece}), first, second)
        waiting = [tokens[len(taken or ()) :] for tokens, taken in zip(waiting, of_piece, strict=True)]
    return "ENC-1"


def _written(piece: str, tokens: list[str]) -> list[str] | None:
    """Return those of the first tokens that write a piece; None if they go beyond it."""
    ends = accumulate(map(len, tokens))
    count = next((number for number, end in enumerate(ends, 1) if end >= len(piece)), 0)
    return tokens[:count] if "".join(tokens[:count]) == piece else None


def _tokens(example: Example, given: Answer) -> list[str]:
    """Return the tokens of an answer; of one that has ids alone, those that they stand for."""
    if "tokens" in given:
        return list(given["tokens"])
    known = tokens_of(example.model)
    return [known[id] if isinstance(id, int) and id < len(known) else "" for id in given.get("ids", ())]


#: The clause by which a text is refused, for each type of model.
_UNREFUSED: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "bpe": lambda model: "BPE-MODEL-2" if "unknown_token" in model else "BPE-ENC-8",
    "wordpiece": lambda model: "WP-MODEL-1",
    "unigram": lambda model: "UNI-UNK-3",
}


def _is_dropped(model: Mapping[str, Any], text: str) -> bool:
    """Say whether a character without a token is in what the stages make of a text, and no unknown token is there."""
    if model["type"] != "bpe" or "unknown_token" in model:
        return False
    try:
        return None in _KEEPING.run("encode", _KEEPING.load("tokspec", model), {"text": text})["ids"]
    except Refusal:
        return False


#: It gives a character without a token as one that has no id.
_KEEPING = ReferenceAdapter({"bpe_unknown_without_token": "kept"})


def _overlaps(token: str, text: str) -> bool:
    return token in text or token.lower() in text.lower()


def _of_special(special: list[str], text: str, right: Answer, given: Answer) -> str:
    if len(special) > 1 or _stands_across_itself(special[0], text):
        return "ADDED-2"
    (token,) = special
    before, found, after = text.partition(token)
    if found and (before[-1:].isspace() or after[:1].isspace()):
        return "ADDED-3"
    return "ADDED-4" if found and (before or after) and token in given.get("tokens", ()) else "ADDED-1"


def _stands_across_itself(token: str, text: str) -> bool:
    return sum(text.startswith(token, place) for place in range(len(text))) > text.count(token)


def _of_bpe(example: Example, right: Answer, given: Answer) -> str:
    model, text = example.model, example.input["text"]
    vocabulary, merges, unknown = model.get("vocabulary", []), model.get("merges", []), model.get("unknown_token")
    strange = [character not in vocabulary for character in text]
    if any(strange):
        if unknown is None:
            return "BPE-ENC-8"
        if unknown not in vocabulary:
            return "BPE-MODEL-2"
        return "BPE-ENC-7" if any(left and after for left, after in pairwise(strange)) and not merges else "BPE-ENC-6"
    if unknown is not None and unknown in text:
        return "BPE-ENC-6"
    if not merges:
        return "BPE-ENC-1" if all(len(token) == 1 for token in vocabulary) else "BPE-ENC-2"
    if len(merges) == 1:
        return "BPE-ENC-4" if len(set(text)) == 1 and len(text) > 2 else "BPE-ENC-9"
    return "BPE-ENC-5" if len(given.get("tokens", ())) != len(right.get("tokens", ())) else "BPE-ENC-3"


def _of_wordpiece(example: Example, right: Answer, given: Answer) -> str:
    model, text = example.model, example.input["text"]
    if not right:
        return "WP-MODEL-1"
    if len(text) >= model.get("max_word_length", 100):
        return "WP-ENC-4"
    return "WP-ENC-2" if model.get("unknown_token", "[UNK]") in right["tokens"] else "WP-ENC-1"


def _of_unigram(example: Example, right: Answer, given: Answer) -> str:
    model, text = example.model, example.input["text"]
    tokens = set(tokens_of(model))
    if not right or model.get("unknown_token") in right["tokens"] or any(character not in tokens for character in text):
        return "UNI-UNK-3"
    return "UNI-SEG-2"


_BY_TYPE: Mapping[str, Callable[[Example, Answer, Answer], str]] = {
    "bpe": _of_bpe,
    "wordpiece": _of_wordpiece,
    "unigram": _of_unigram,
}
