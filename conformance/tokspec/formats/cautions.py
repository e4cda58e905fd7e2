"""Warnings, before a comparison, about parts of a user's file that can only fail, or that fail in other libraries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tokspec.base.display import compact
from tokspec.base.json_values import DEEPEST, deeper_than
from tokspec.formats.tiktoken_ranks import from_bytes
from tokspec.formats.user_model import UserModel

#: Syntax that few regular-expression engines have, with its name.
_RARE = (
    (re.compile(r"(?<!\\)([*+?]|\{[0-9,]+\})\+"), "a possessive quantifier"),
    (re.compile(r"\(\?>"), "an atomic group"),
    (re.compile(r"\[[^\]]*&&"), "an intersection of classes"),
    (re.compile(r"\[\[:\w+:\]"), "a POSIX class"),
    (re.compile(r"\\[hGK]"), "an escape that few engines have"),
)

#: A character class, in which a quantifier is a plain character.
_CLASS = re.compile(r"\[(?:[^\]\\]|\\.)*\]")


def cautions_of(model: UserModel) -> list[str]:
    """Return a sentence for each part of a tokenizer.json that can only fail; for other formats there are none.

    >>> content = {"model": {"type": "Unigram", "vocab": [["a", -1.0]]}}
    >>> cautions_of(UserModel("tokenizer.json", content, "t.json", ""))
    ['model.unk_id is missing: a text with a character that no token has cannot be encoded']
    """
    if not model.format.startswith("tokenizer.json") or deeper_than(DEEPEST, _stages(model)):
        return []  # every reader refuses a file that is nested this deeply
    return [*_of_unknown(model.content["model"]), *_of_bytes(model.content), *_of_special(model.content),
            *_of_patterns(model.content)]  # fmt: skip


def _stages(model: UserModel) -> list[Any]:
    return [model.content.get(name) for name in ("normalizer", "pre_tokenizer", "post_processor", "decoder")]


def _of_unknown(model: Mapping[str, Any]) -> Iterator[str]:
    if model.get("type") == "Unigram" and model.get("unk_id") is None and not model.get("byte_fallback"):
        yield "model.unk_id is missing: a text with a character that no token has cannot be encoded"


def _of_bytes(content: Mapping[str, Any]) -> Iterator[str]:
    model = content["model"]
    vocab = model.get("vocab") or {}
    tokens = {row[0] for row in vocab} if isinstance(vocab, list) else {*vocab}
    if model.get("byte_fallback"):
        wanted = [f"<0x{byte:02X}>" for byte in range(256) if byte > 127 or chr(byte) not in tokens]
        yield from _missing(wanted, tokens)
    elif _uses_bytes(content.get("pre_tokenizer")) or _uses_bytes(content.get("normalizer")):
        yield from _missing([from_bytes(bytes([byte])) for byte in range(256)], tokens)


def _missing(wanted: list[str], tokens: set[str]) -> Iterator[str]:
    missing = [token for token in wanted if token not in tokens]
    if missing:
        many = f"{len(missing)} tokens of bytes, first " if len(missing) > 1 else "the token of a byte, "
        yield f"model.vocab lacks {many}{compact(missing[0])}: a text with such a byte loses it, or cannot be encoded"


def _uses_bytes(component: Any) -> bool:
    if isinstance(component, Mapping):
        return component.get("type") == "ByteLevel" or any(map(_uses_bytes, component.values()))
    return isinstance(component, list) and any(map(_uses_bytes, component))


def _of_special(content: Mapping[str, Any]) -> Iterator[str]:
    merges = content["model"].get("merges") or []
    made = {merge.replace(" ", "", 1) if isinstance(merge, str) else "".join(merge) for merge in merges}
    for token in content.get("added_tokens") or []:
        text = token["content"]
        if token.get("special") and len(text) > 1 and (text in made or from_bytes(text.encode()) in made):
            yield (
                f"merges can spell the special token {compact(text)}: where special tokens are not looked for, a "
                "user's text becomes it"
            )


def _of_patterns(content: Mapping[str, Any]) -> Iterator[str]:
    for stage in ("normalizer", "pre_tokenizer"):
        for pattern in _patterns(content.get(stage)):
            outside = _CLASS.sub("[]", pattern)
            if found := [name for rare, name in _RARE if rare.search(pattern if "class" in name else outside)]:
                yield f"the pattern of {stage} has {' and '.join(found)}, which other libraries may not read"


def _patterns(component: Any) -> Iterator[str]:
    if isinstance(component, Mapping):
        if isinstance(component.get("Regex"), str):
            yield component["Regex"]
        for inner in component.values():
            yield from _patterns(inner)
    elif isinstance(component, list):
        for inner in component:
            yield from _patterns(inner)
