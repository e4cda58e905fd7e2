"""What stands around a model, at random: normalizers, pre-tokenizers, decoders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

__all__ = ["decoder", "normalizer", "pre_tokenizer"]

Part = dict[str, Any]

_PLAIN = ("nfc", "nfd", "nfkc", "nfkd", "lowercase", "strip_accents")


def normalizer(random: Random, depth: int = 2) -> Part:
    """Make a normalizer; a sequence holds others up to the depth.

    >>> normalizer(Random(1), 0)["type"] in (*_PLAIN, "bert")
    True
    """
    chance = random.random()
    if depth and chance < 0.2:
        return {"type": "sequence", "normalizers": _some(random, depth, normalizer)}
    if chance < 0.55:
        return _bert(random)
    return {"type": random.choice(_PLAIN)}


def _some(random: Random, depth: int, make: Callable[[Random, int], Part]) -> list[Part]:
    return [make(random, depth - 1) for _ in range(random.choice((0, 1, 2, 2, 2, 3)))]


def _bert(random: Random) -> Part:
    part: Part = {"type": "bert"}
    for key in ("clean_text", "handle_chinese_chars", "lowercase"):
        _set(random, part, key, (True, False))
    return _set(random, part, "strip_accents", (None, True, False))


def _set(random: Random, part: Part, key: str, values: tuple[Any, ...]) -> Part:
    """Return a key one of the values, or leave it out."""
    if random.random() < 0.7:
        part[key] = random.choice(values)
    return part


def pre_tokenizer(random: Random, depth: int = 2) -> Part:
    """Make a pre-tokenizer; a sequence holds others up to the depth.

    >>> pre_tokenizer(Random(1), 0)["type"] in _CUTS
    True
    """
    if depth and random.random() < 0.25:
        return {"type": "sequence", "pre_tokenizers": _some(random, depth, pre_tokenizer)}
    return _CUTS[random.choice(tuple(_CUTS))](random)


def _byte_level(random: Random) -> Part:
    part = _set(random, {"type": "byte_level"}, "add_prefix_space", (True, False, False))
    return _set(random, part, "use_regex", (True, True, False))


def _metaspace(random: Random) -> Part:
    part = _set(random, {"type": "metaspace"}, "replacement", ("▁", "▁", "_", "Ġ", "a"))
    part = _set(random, part, "prepend_scheme", ("always", "first", "never"))
    return _set(random, part, "split", (True, True, False))


_CUTS: Mapping[str, Callable[[Random], Part]] = {
    "bert": lambda random: {"type": "bert"},
    "byte_level": _byte_level,
    "whitespace_split": lambda random: {"type": "whitespace_split"},
    "metaspace": _metaspace,
}


def decoder(random: Random, prefix: str = "##") -> Part:
    """Make a decoder; ``prefix`` is the model's continuing prefix.

    >>> decoder(Random(1))["type"] in ("byte_level", "metaspace", "wordpiece")
    True
    """
    kind = random.choice(("byte_level", "metaspace", "wordpiece"))
    if kind == "metaspace":
        return _set(random, {"type": kind}, "replacement", ("▁", "▁", "_", "a"))
    if kind == "wordpiece":
        return _set(random, {"type": kind}, "prefix", (prefix, "##", "@", "a"))
    return {"type": kind}
