"""Corpora at random: few words of few symbols, so that pairs overlap, scores tie and tokens are made twice."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from tokspec.fuzz import characters
from tokspec.fuzz.texts import Material, text

__all__ = ["corpus", "words"]

#: Counts: small ones that tie, others that do not, and those at which 24, 31, 32 and 53 bits end.
_SMALL = (1, 1, 1, 2, 2, 3, 4, 5)
_LARGE = (0, 7, 12, 100, 2**24 + 1, 2**31 - 1, 2**31, 2**32 + 1)


#: Words that look like prefixes or tokens, sort otherwise elsewhere, are of several units, or name what objects have.
_ODD = (
    *("#", "####", "##a", "a##b", "[UNK]", "Zz", "aZ", "é", "\U00010000", "\uffee", "👋🏽", "e\u0301", "\r\n"),
    *("a1", "b20", "c07"),
    *characters.NAMES,
)


def corpus(random: Random, material: Material, used: set[str] | None = None) -> Mapping[str, Any]:
    """Make a corpus of words with counts, or of texts.

    >>> corpus(Random(3), Material("ab")).keys() <= {"words", "texts"}
    True
    """
    if random.random() < 0.25:
        return {"texts": [_text(random, material, used) for _ in range(random.randrange(0, 4))]}
    return {"words": words(random, material)}


def _text(random: Random, material: Material, used: set[str] | None) -> str:
    """Make a text; now and then one that is an odd word, whatever cuts it."""
    return random.choice(_ODD) if random.random() < 0.08 else text(random, material, used)


def words(random: Random, material: Material) -> list[list[Any]]:
    """Make words with counts; one may be listed twice.

    >>> all(count >= 0 for _, count in words(Random(1), Material("ab")))
    True
    """
    most = random.choice((2, 3, 4, 6, 9))
    listed = [[_word(random, material), _count(random)] for _ in range(random.randrange(1, most + 1))]
    if random.random() < 0.15:
        listed.append([random.choice(listed)[0], _count(random)])
    if random.random() < 0.04:
        listed = [[word, 0] for word, _ in listed]
    return listed if random.random() > 0.03 else []


def _word(random: Random, material: Material) -> str:
    if material.special and random.random() < 0.1:
        return random.choice(material.special)
    if random.random() < 0.05:
        return random.choice(_ODD)
    symbol = random.choice(material.alphabet)
    if random.random() < 0.2:
        return symbol * random.randrange(1, 6)
    return "".join(random.choice(material.alphabet) for _ in range(random.randrange(1, 7)))


def _count(random: Random) -> int:
    return random.choice(_SMALL) if random.random() < 0.85 else random.choice(_LARGE)
