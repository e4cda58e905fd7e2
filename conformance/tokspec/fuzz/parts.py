"""What models of all types are made of: alphabets, special tokens, and what their texts are to be made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from tokspec.formats.tiktoken_ranks import to_bytes
from tokspec.fuzz import stages
from tokspec.fuzz.example import tokens_of
from tokspec.fuzz.texts import Material

__all__ = ["Model", "add_special_tokens", "add_stages", "alphabet", "inserted", "material_of", "special_tokens"]

Model = dict[str, Any]

#: Few symbols each: overlaps are forced. Some are of several bytes or units, marks, or have another form.
_ALPHABETS = (
    *("ab", "abc", "abcd", "ab", "abc"),
    *(
        "aé",
        "àa\u0300",
        "a👋",
        "สวั",
        "ΑΣς",
        "aA",
        "中a",
        "a1",
        "a.b",
        "a b",
        "x\r\n",
        "가각",
        "#a",
        "▁a",
        "a\u0301\u0323",
        "ı\u0130i",
    ),
    *("\U0001d400\U0001d401", "ab\uffee\U00010000", "zZé", "##b", "a\u00e9\u4e2d"),
)

_SPECIAL = (
    *(
        "<s>",
        "</s>",
        "<s>x",
        "[MASK]",
        "[M",
        "<|end|>",
        "<|endoftext|>",
        "[CLS]",
        "s>",
        "<<s>",
        "aa",
        "ab",
        "aba",
        "a",
        "É",
        "İ",
        "A B",
    ),
    *("B.", "a.", "Σ", "<pad>", " x", "é", "▁", "<S>"),
)


#: Special tokens of which one begins, ends or holds another.
_KINDRED = (
    ("<s>", "<s>x", "s>", "<<s>"),
    ("a", "aa", "ab", "aba"),
    ("[M", "[MASK]", "K]"),
    ("<|end|>", "|end|>", "<|end"),
    ("é", "É", "e"),
    ("<s>", "<S>"),
)


def alphabet(random: Random) -> str:
    """Choose an alphabet.

    >>> 1 < len(alphabet(Random(1))) < 6
    True
    """
    return random.choice(_ALPHABETS)


def special_tokens(random: Random) -> list[str]:
    """Choose one to four special tokens; some begin, hold or overlap another.

    >>> 1 <= len(set(special_tokens(Random(1)))) <= 4
    True
    """
    among = random.choice(_KINDRED) if random.random() < 0.4 else _SPECIAL
    return random.sample(among, min(len(among), random.choice((1, 2, 2, 2, 3, 4))))


def inserted(random: Random, tokens: Sequence[str], others: Sequence[str]) -> list[str]:
    """Put tokens that are not there yet before, behind or among others.

    >>> inserted(Random(1), ["a"], ["b", "a"])
    ['b', 'a']
    """
    new = [token for token in tokens if token not in others]
    place = random.choice((0, 0, len(others), random.randrange(len(others) + 1)))
    return [*others[:place], *new, *others[place:]]


def add_special_tokens(random: Random, model: Model, ascii_only: bool = False) -> Model:
    """Return a model special tokens, in its vocabulary as well.

    With ``ascii_only`` none has a character that stands for another byte than its own.

    >>> made = add_special_tokens(Random(1), {"type": "bpe", "vocabulary": []}, ascii_only=True)
    >>> made["vocabulary"] == made["special_tokens"]
    True
    """
    special = special_tokens(random)
    if ascii_only:
        special = [token for token in special if token.isascii()] or ["<s>"]
    key = "tokens" if model["type"] == "unigram" else "vocabulary"
    if key == "tokens":
        listed = tokens_of(model)
        weight = random.choice([weight for _, weight in model[key]] or [-1])
        weights = dict(model[key])
        model[key] = [[token, weights.get(token, weight)] for token in inserted(random, special, listed)]
    else:
        model[key] = inserted(random, special, model[key])
    model["special_tokens"] = special
    return model


def add_stages(random: Random, model: Model) -> Model:
    """Return a model a normalizer, a pre-tokenizer and a decoder, some of them, and perhaps special tokens."""
    if random.random() < 0.5:
        model["normalizer"] = stages.normalizer(random)
    if random.random() < 0.7:
        model["pre_tokenizer"] = stages.pre_tokenizer(random)
    if random.random() < 0.4:
        model["decoder"] = stages.decoder(random, model.get("continuing_prefix", "##"))
    return add_special_tokens(random, model) if random.random() < 0.4 else model


def material_of(model: Mapping[str, Any], symbols: str, plain: float) -> Material:
    """Say what texts for a model are made of: its tokens in the form in which they stand in a text.

    >>> material_of({"type": "bpe", "vocabulary": ["Ġa"], "pre_tokenizer": {"type": "byte_level"}}, "a", 0.5).tokens
    (' a',)
    """
    listed = tokens_of(model)
    special = tuple(model.get("special_tokens", ()))
    prefix = model.get("continuing_prefix", "##") if model.get("type") == "wordpiece" else ""
    as_bytes = "byte_level" in str(model.get("pre_tokenizer", ""))
    texts = [
        _as_bytes(token) if as_bytes else _as_text(token, prefix) for token in listed[-40:] if token not in special
    ]
    return Material(symbols, tuple(text for text in texts if text), special, plain)


def _as_text(token: str, prefix: str) -> str:
    return (token.removeprefix(prefix) if prefix else token).replace("▁", " ")


def _as_bytes(token: str) -> str:
    found = to_bytes(token)
    return token if found is None else found.decode("utf-8", "ignore")
