"""Properties of decoding what was encoded: the text comes back wherever the rules of both add up to that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from tokspec.formats.tiktoken_ranks import from_bytes
from tokspec.fuzz.encoding_properties import may_drop, unknown_of
from tokspec.fuzz.example import Example, has_surrogate, tokens_of
from tokspec.protocol.messages import Answer, Reply

__all__ = ["ALL"]

Choices = Mapping[str, str]

_BYTES = frozenset(from_bytes(bytes([byte])) for byte in range(256))


def _takes(example: Example, choices: Choices, decoder: str) -> bool:
    model = example.model
    if example.operation != "encode" or model.get("decoder", {}).get("type") != decoder:
        return False
    is_written_so = "normalizer" not in model or _is_normal(example.input["text"])
    return is_written_so and _DECODERS[decoder](example, choices) is not None


def _is_normal(text: str) -> bool:
    """Say whether every normalizer leaves a text as it is: it is of small letters and what else ASCII has."""
    return text.isascii() and text.isprintable() and text == text.lower()


def _of_bytes(example: Example, choices: Choices) -> str | None:
    """Return every text that has UTF-8, if the model has all bytes (DEC-BYTE-1, BPE-BYTE-1, PRE-BYTE-4)."""
    model, text = example.model, example.input["text"]
    cut, special = model.get("pre_tokenizer", {}), model.get("special_tokens", ())
    if cut.get("type") != "byte_level" or not _BYTES.issubset(tokens_of(model)) or has_surrogate(example.input):
        return None
    if not all(token.isascii() and token.isprintable() and " " not in token for token in special):
        return None  # decoding takes its characters for other bytes
    if not cut.get("add_prefix_space"):
        return str(text)
    return None if special else " " * bool(text and not text.startswith(" ")) + text


def _of_marks(example: Example, choices: Choices) -> str | None:
    """Return a text that does not begin with a space, with the space of the added mark, if that stays."""
    model, text = example.model, str(example.input["text"])
    cut = model.get("pre_tokenizer", {})
    mark = cut.get("replacement", "▁")
    if cut.get("type") != "metaspace" or "special_tokens" in model or mark in text or not text or text[0] == " ":
        return None
    if model["decoder"].get("replacement", "▁") != mark or may_drop(example, choices):
        return None
    is_marked = cut.get("prepend_scheme", "always") != "never"
    return " " * (is_marked and choices["metaspace_leading_space"] == "kept") + text


def _of_words(example: Example, choices: Choices) -> str | None:
    """Return words with one space between them, without punctuation and prefixes (DEC-WP-1)."""
    model, text = example.model, example.input["text"]
    prefix = model.get("continuing_prefix", "##")
    cut = model.get("pre_tokenizer", {}).get("type")
    if model.get("type") != "wordpiece" or cut not in ("bert", "whitespace_split") or "special_tokens" in model:
        return None
    plain = text == " ".join(text.split()) and text.replace(" ", "").isalnum()
    is_same = model["decoder"].get("prefix", "##") == prefix
    return str(text) if plain and is_same and prefix not in text else None


_DECODERS: Mapping[str, Callable[[Example, Choices], str | None]] = {
    "byte_level": _of_bytes,
    "metaspace": _of_marks,
    "wordpiece": _of_words,
}


def _decoding(example: Example, reply: Reply) -> list[Example]:
    result = reply.result if isinstance(reply, Answer) else {}
    key = "ids" if "ids" in result else "tokens"
    if key not in result or None in result[key] or _may_lose(example.model, result[key]):
        return []
    return [Example(example.model, "decode", {key: result[key]}, example.origin)]


def _may_lose(model: Mapping[str, Any], given: Sequence[Any]) -> bool:
    """Say whether decoding cannot give the text: a token is the unknown one, or a later mark is in the first."""
    if model["decoder"]["type"] == "byte_level":
        return False
    listed = tokens_of(model)
    tokens = [listed[one] if isinstance(one, int) and 0 <= one < len(listed) else one for one in given]
    mark = model["decoder"].get("replacement", "▁")
    return unknown_of(model) in tokens or (bool(tokens) and isinstance(tokens[0], str) and mark in tokens[0][1:])


def _is_decoded(example: Example, replies: Sequence[Reply], choices: Choices) -> str:
    if len(replies) < 2 or not isinstance(replies[1], Answer):
        return ""
    right, given = _DECODERS[example.model["decoder"]["type"]](example, choices), replies[1].result.get("text")
    return "" if right == given else f"{example.input['text']!r} is encoded, and decoded to {given!r}"


ALL: tuple[dict[str, Any], ...] = tuple(
    {
        "name": name,
        "clause": clause,
        "takes": partial(_takes, decoder=decoder),
        "more": _decoding,
        "broken": _is_decoded,
    }
    for name, clause, decoder in (
        ("what is encoded is decoded again", "DEC-BYTE-1", "byte_level"),
        ("spaces are decoded from their marks", "DEC-META-1", "metaspace"),
        ("words are decoded from their parts", "DEC-WP-1", "wordpiece"),
    )
)
