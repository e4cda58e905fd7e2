"""Special tokens that a request allows or disallows, prompts in parts, and bytes and offsets, by ways of their own.

A text is cut at what is allowed by one regular expression; ids come from the program of BPE, which is given a model
without what is not allowed. Bytes are read off the table of characters, and an offset is the length of the text before
it, decoded anew for each token.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

import bpe
from stages import CHARACTER_OF_BYTE, Model, NotCovered, Refused

CHOICES = {
    "encode": (*bpe.CHOICES["encode"], "special_not_allowed"),
    "encode_batch": (*bpe.CHOICES["encode"], "special_not_allowed"),
    "encode_parts": (*bpe.CHOICES["encode"], "special_not_allowed"),
    "decode_bytes": ("unknown_id", "byte_level_added_tokens"),
    "decode_with_offsets": ("unknown_id", "byte_level_added_tokens"),
}

BYTE_OF_CHARACTER = {character: byte for byte, character in CHARACTER_OF_BYTE.items()}
OPTIONS = ("allowed_special", "disallowed_special")
FLAGS = ("normalized", "lstrip", "rstrip", "single_word")


def recompute(
    operation: str, model: Model, request: Mapping[str, Any], choices: Mapping[str, str]
) -> list[dict[str, Any]]:
    if operation == "encode":
        return [encode(model, request, choices)]
    if operation == "encode_batch":
        options = {key: request[key] for key in OPTIONS if key in request}
        return [{"encodings": [encode(model, {**each, **options}, choices) for each in request["inputs"]]}]
    if operation == "encode_parts":
        return [{"ids": encode_parts(model, request, choices)}]
    if operation == "decode_bytes":
        return [{"bytes": b"".join(parts_of(model, request["ids"], choices)).hex()}]
    if operation == "decode_with_offsets":
        return [with_offsets(parts_of(model, request["ids"], choices))]
    raise NotCovered(operation)


def encode(model: Model, request: Mapping[str, Any], choices: Mapping[str, str]) -> dict[str, Any]:
    text, ids = request["text"], ids_of(model)
    added = [{"special": True, "content": token} for token in model.get("special_tokens", [])]
    added += [{"special": True, **token} for token in model.get("added_tokens", [])]
    special = {token["content"] for token in added if token["special"]}
    allowed = request.get("allowed_special", "all")
    allowed = special if allowed == "all" else special & set(allowed)
    disallowed = request.get("disallowed_special", [])
    disallowed = special - allowed if disallowed == "all" else set(disallowed)
    if any(re.search(re.escape(token), text) for token in disallowed):
        raise Refused("invalid_input")
    hidden, others = special - allowed, {token["content"] for token in added if not token["special"]}
    passed = hidden if choices["special_not_allowed"] == "passed_over" else set[str]()
    wanted = sorted(allowed | others | passed, key=len, reverse=True)
    parts = re.split(f"({'|'.join(map(re.escape, wanted))})", text) if wanted else [text]
    while at := next((place for place in range(1, len(parts), 2) if parts[place] in passed), 0):
        parts[at - 1 : at + 2] = ["".join(parts[at - 1 : at + 2])]
    ordinary = {key: value for key, value in model.items() if key in ("type", "vocabulary", "merges", "pre_tokenizer")}
    ordinary["vocabulary"] = [token for token in model["vocabulary"] if token not in hidden]
    ordinary["merges"] = [pair for pair in model["merges"] if hidden.isdisjoint((*pair, "".join(pair)))]
    tokens, spans, place = list[str](), list[list[int]](), 0
    for number, part in enumerate(parts):
        if number % 2:
            tokens.append(part)
            spans.append([place, place + len(part)])
        elif part:
            (found,) = bpe.recompute("encode", ordinary, {"text": part}, choices)
            tokens += found["tokens"]
            spans += [[place + start, place + end] for start, end in found["spans"]]
        place += len(part)
    return {"tokens": tokens, "ids": [ids[token] for token in tokens], "spans": spans}


#: What a model may have whose prompts are computed.
_PLAIN = {"about", "type", "vocabulary", "merges", "special_tokens", "added_tokens", "post_processor"}


def encode_parts(model: Model, request: Mapping[str, Any], choices: Mapping[str, str]) -> list[int]:
    if not model.keys() <= _PLAIN or any(token.get(key) for token in model.get("added_tokens", ()) for key in FLAGS):
        raise NotCovered("more than tokens")
    ids = list[int]()
    for part in request["parts"]:
        if "ids" in part:
            if not set(part["ids"]) <= set(ids_of(model).values()):
                raise Refused("unknown_id")
            ids += part["ids"]
        else:
            allowed = "all" if part.get("trusted") else []
            ids += encode(model, {"text": part["text"], "allowed_special": allowed}, choices)["ids"]
    if "post_processor" not in model or not request.get("add_special_tokens", True):
        return ids
    named = {each["name"]: each["ids"] for each in model["post_processor"]["special_tokens"]}
    return [
        id
        for item in model["post_processor"]["single"]
        for id in (named[item["special"]] if "special" in item else ids)
    ]


def ids_of(model: Model) -> dict[str, int]:
    ids = {token: id for id, token in enumerate(model["vocabulary"])}
    return ids | {token["content"]: token["id"] for token in model.get("added_tokens", [])}


def parts_of(model: Model, ids: Sequence[int], choices: Mapping[str, str]) -> list[bytes]:
    parts = {id: bytes(map(BYTE_OF_CHARACTER.get, token, repeat(0))) for token, id in ids_of(model).items()}
    if choices["byte_level_added_tokens"] == "utf_8":
        parts |= {token["id"]: token["content"].encode("utf-8") for token in model.get("added_tokens", [])}
    if choices["unknown_id"] == "error" and not set(ids) <= set(parts):
        raise Refused("unknown_id")
    return [parts[id] for id in ids if id in parts]


def with_offsets(parts: Sequence[bytes]) -> dict[str, Any]:
    try:
        text = b"".join(parts).decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("invalid_input") from None
    # what a decoder leaves off at the end is a character that is not whole
    before = [b"".join(parts[:count]).decode("utf-8", errors="ignore") for count in range(len(parts))]
    return {"text": text, "offsets": [len(each) for each in before]}
