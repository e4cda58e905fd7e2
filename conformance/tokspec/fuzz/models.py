"""Models at random, in families: each is small, and made so that its rules get into each other's way.

Alphabets of two to four symbols force overlaps. Merges are grown from words, so that they can be reached, or drawn from
all tokens, so that they cannot; lists are shuffled, repeat themselves and make one product in several ways. Scores tie,
nearly tie, and are sums that binary fractions hold exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tokspec.fuzz import bpe_models, stages, unigram_models, wordpiece_models
from tokspec.fuzz.parts import Model, alphabet, material_of, special_tokens
from tokspec.fuzz.texts import Material

__all__ = ["FAMILIES", "Generated", "model"]


@dataclass(frozen=True)
class Generated:
    """A model in the neutral form, what texts for it are made of, and the family that it belongs to."""

    family: str
    model: Mapping[str, Any]
    material: Material = field(default_factory=Material)


def model(random: Random, family: str) -> Generated:
    """Make a model of a family, which is a key of ``FAMILIES``.

    >>> model(Random(5), "unigram").model["type"]
    'unigram'
    """
    made, symbols = FAMILIES[family](random)
    material = material_of(made, symbols, random.choice((0.3, 0.6, 0.9)))
    return Generated(
        family, made, replace(material, plain=0.05, focus=_FOCUS[family]) if family in _FOCUS else material
    )


def _stages(random: Random) -> tuple[Model, str]:
    """Stages without a model."""
    made: Model = {}
    which = random.choice(("normalizer", "pre_tokenizer", "decoder", "all", "none"))
    if which in ("normalizer", "all"):
        made["normalizer"] = stages.normalizer(random)
    if which in ("pre_tokenizer", "all"):
        made["pre_tokenizer"] = stages.pre_tokenizer(random)
    if which in ("decoder", "all"):
        made["decoder"] = stages.decoder(random)
    return made, alphabet(random)


def _normalizer(random: Random) -> tuple[Model, str]:
    """A normalizer by itself, for texts that it turns on."""
    return {"normalizer": stages.normalizer(random, random.choice((0, 0, 1)))}, "abA"


def _cut(random: Random) -> tuple[Model, str]:
    """A pre-tokenizer by itself, for texts that it turns on."""
    return {"pre_tokenizer": stages.pre_tokenizer(random, random.choice((0, 0, 1)))}, "ab1"


#: What normalizers turn on, and what pre-tokenizers do.
_NORMALIZED = (
    *("combining sequences", "combining sequences", "hangul", "hangul", "case", "final sigma"),
    *("composition exclusions", "marks", "accents", "capitals", "ideographs", "kana", "white space", "categories"),
    *("invisible characters", "scripts", "recent characters", "letters", "emoji", "carriage returns", "surrogates"),
    "compatibility characters",
)
_CUT = (
    *("white space", "white space", "spaces", "spaces", "contractions", "contractions", "numbers", "other numbers"),
    *("punctuation", "punctuation", "words", "letters", "letters", "runs", "categories", "scripts", "marks"),
    *(
        "invisible characters",
        "recent characters",
        "carriage returns",
        "emoji",
        "replacement characters",
        "capitals",
        "surrogates",
    ),
)

_FOCUS: Mapping[str, tuple[str, ...]] = {"normalizer": _NORMALIZED, "pre-tokenizer": _CUT}


def _sweep(random: Random) -> tuple[Model, str]:
    """One stage by itself, for texts of many characters or many lists of tokens."""
    chance = random.random()
    if chance < 0.35:
        return {"normalizer": stages.normalizer(random, 0)}, "ab"
    if chance < 0.6:
        return {"decoder": stages.decoder(random)}, "ab"
    return {"pre_tokenizer": stages.pre_tokenizer(random, 0)}, "ab"


def _untrained(type: str) -> Callable[[Random], tuple[Model, str]]:
    def make(random: Random) -> tuple[Model, str]:
        made: Model = {"type": type}
        if type == "wordpiece" and random.random() < 0.4:
            made["continuing_prefix"] = random.choice(("#", "@", "##a", "a", "@@@"))
        if random.random() < 0.35:
            made["special_tokens"] = special_tokens(random)
        if random.random() < 0.4:
            made["pre_tokenizer"] = stages.pre_tokenizer(random)
        if random.random() < 0.25:
            made["normalizer"] = stages.normalizer(random)
        return made, alphabet(random)

    return make


#: How a model and its alphabet are made, by the name of the family.
FAMILIES: Mapping[str, Callable[[Random], tuple[Model, str]]] = {
    "stages": _stages,
    "sweep": _sweep,
    "normalizer": _normalizer,
    "pre-tokenizer": _cut,
    "bpe": bpe_models.plain,
    "bpe-special": bpe_models.with_special_tokens,
    "bpe-stages": bpe_models.with_stages,
    "bpe-ranks": bpe_models.by_ranks,
    "bpe-bytes": bpe_models.of_bytes,
    "bpe-all-bytes": bpe_models.of_all_bytes,
    "bpe-metaspace": bpe_models.with_metaspace,
    "bpe-broken": bpe_models.broken,
    "wordpiece": wordpiece_models.plain,
    "wordpiece-bert": wordpiece_models.bert,
    "wordpiece-stages": wordpiece_models.with_stages,
    "unigram": unigram_models.plain,
    "unigram-metaspace": unigram_models.with_metaspace,
    "unigram-stages": unigram_models.with_stages,
    "unigram-broken": unigram_models.broken,
    "untrained-bpe": _untrained("bpe"),
    "untrained-wordpiece": _untrained("wordpiece"),
    "untrained-unigram": _untrained("unigram"),
}
