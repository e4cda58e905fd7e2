"""Telling texts for a tokenizer: one for each thing that it tells apart, and no two for the same.

Texts are proposed in the order of what they are about: what its pattern cuts, what its normalizer changes, its added
tokens whole and cut, characters of all kinds, the suite's own texts, and its vocabulary. A proposed text is taken if it
shows something that no text before it shows. The same tokenizer gives the same texts.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Hashable, Iterator, Mapping
from itertools import groupby, product
from random import Random
from typing import Any

from tokfast import FastTokenizer
from tokspec.base.errors import DataError
from tokspec.compare.named_texts import load_texts
from tokspec.fuzz.characters import has_newer
from tokspec.fuzz.pattern_classes import CharacterClass, read_lexicon

#: How many texts about each thing are proposed at most.
MOST = {"pattern": 320, "normalizer": 160, "added tokens": 240, "characters": 200, "texts": 120}

#: How many random texts are lines of the vocabulary, for the numbers of MOST about the other things.
OF_VOCABULARY = 960

#: By what texts differ where a tokenizer has no pattern.
_NO_PATTERN = r"\p{L}+|\p{M}+|\p{N}+|\p{P}+|\p{S}+|\s+|\p{C}+"

#: How long a text is at most, in characters, and how many tokens of the vocabulary one line has.
_LONGEST, _TOKENS = 100, 8


class Telling:
    """The texts of a tokenizer; ``model`` is its neutral form, and ``name`` seeds what is drawn."""

    def __init__(self, name: str, model: Mapping[str, Any], fast: FastTokenizer, options: Mapping[str, str]) -> None:
        self._random, self._model, self._fast, self._options = Random(name), model, fast, options
        self._name = name

    def texts(self) -> Iterator[tuple[str, str]]:
        """Return all texts but those of the vocabulary, each with what it is about."""
        seen: set[str] = set()
        for about, most in MOST.items():
            shown, left = set[Hashable](), most
            for text, shows in self._proposals(about):
                if left and text not in seen and (not shown.issuperset(shows)):
                    shown.update(shows)
                    seen.add(text)
                    left -= 1
                    yield about, text

    def of_vocabulary(self) -> Iterator[str]:
        """Return lines of tokens of the vocabulary without end but its own: the longest first, then any."""
        tokens = self._fast.tokenizer.vocabulary
        known = {token.content for token in self._fast.tokenizer.added_tokens}
        ids = sorted(id for token, id in tokens.items() if token not in known)
        longest = sorted(ids, key=lambda id: (-len(self._text_of(id)), id))[:80]
        rest = [id for id in ids if id not in {*longest}]
        self._random.shuffle(rest)
        line: list[str] = []
        for id in (*longest, *rest):
            text = self._text_of(id)
            if text and "\ufffd" not in text and len(text) <= _LONGEST:
                line.append(text)
            if len(line) == _TOKENS or sum(map(len, line)) > _LONGEST:
                yield "".join(line) if self._random.random() < 0.3 else " ".join(map(str.strip, line))
                line = []

    def drawn(self, seed: str) -> Iterator[tuple[str, str]]:
        """Return random texts of the same kinds without end, each with its kind, most of the vocabulary."""
        random, kinds = Random(f"{seed} for {self._name}"), [*MOST, "vocabulary"]
        tokens = self._fast.tokenizer.vocabulary
        ids, added = sorted(tokens.values()), [token.content for token in self._fast.tokenizer.added_tokens]
        members = "".join(each.members for each in self._classes()[0])
        named = [each.text for each in load_texts()]
        while True:
            kind = random.choices(kinds, [*MOST.values(), OF_VOCABULARY])[0]
            if kind == "pattern":
                yield kind, "".join(random.choices(members, k=random.randint(1, 9)))
            elif kind == "normalizer":
                yield kind, f"a{_any_character(random)}b"
            elif kind == "added tokens" and added:
                yield kind, random.choice([*_around(random.choice(added))])[1]
            elif kind == "characters":
                character = _any_character(random)
                yield kind, f"{character}a {character * 2}"
            elif kind == "texts":
                whole = random.choice(named)
                start = random.randrange(len(whole) + 1)
                yield kind, whole[start : start + _LONGEST]
            elif kind == "vocabulary":
                line = [self._text_of(id) for id in random.choices(ids, k=_TOKENS)]
                text = "".join(line) if random.random() < 0.3 else " ".join(map(str.strip, line))
                yield kind, text.replace("\ufffd", "")

    def _text_of(self, id: int) -> str:
        return self._fast.decode(self._fast.tokens_of([id]))

    def _proposals(self, about: str) -> Iterator[tuple[str, set[Hashable]]]:
        return {
            "pattern": self._of_pattern,
            "normalizer": self._of_normalizer,
            "added tokens": self._of_added_tokens,
            "characters": self._of_characters,
            "texts": self._of_texts,
        }[about]()

    # What the pattern cuts

    def _of_pattern(self) -> Iterator[tuple[str, set[Hashable]]]:
        classes, ways = self._classes()
        by_character = {character: number for number, each in enumerate(classes) for character in each.members}
        members = "".join(each.members for each in classes)
        texts = [
            *members,
            *("".join(pair) for way in ways for pair in product(way, repeat=2)),
            *("".join(self._random.choices(members, k=self._random.randint(3, 9))) for _ in range(4000)),
        ]
        for text in texts:
            yield text, set(self._cuts(text, by_character))

    def _cuts(self, text: str, classes: Mapping[str, int]) -> Iterator[Hashable]:
        """What a text shows: of each piece the runs of classes in it, and what stands before and behind."""
        for _, start, end in self._fast.pre_tokenize(text):
            runs = tuple(kind for kind, _ in groupby(text[start:end], lambda each: classes.get(each, -1)))
            yield classes.get(text[start - 1 : start], -1), runs[:3], classes.get(text[end : end + 1], -1)

    def _classes(self) -> tuple[list[CharacterClass], list[str]]:
        pattern = "|".join(patterns(self._model.get("pre_tokenizer"))) or _NO_PATTERN
        try:
            lexicon = read_lexicon(pattern, self._options)
        except DataError:  # it tells characters apart by more than sets
            lexicon = read_lexicon(_NO_PATTERN, self._options)
        return list(lexicon.classes), lexicon.ways

    # What the normalizer changes

    def _of_normalizer(self) -> Iterator[tuple[str, set[Hashable]]]:
        for code in range(sys.maxunicode + 1):
            character = chr(code)
            if unicodedata.category(character) in ("Cn", "Cs", "Co") or has_newer(character):
                continue
            text = f"a{character}b"
            normalized = self._fast.normalize(text)
            if normalized != text:
                inner = normalized.removeprefix("a").removesuffix("b")
                kinds = tuple(map(unicodedata.category, inner[:3]))
                yield text, {(unicodedata.category(character), _script(character), len(inner), kinds)}
        for marks in product("\u0301\u0323\u0327\u3099", repeat=2):
            text = "e" + "".join(marks) + "x"
            if self._fast.normalize(text) != text:
                yield text, {("marks", self._fast.normalize(text))}

    # Added tokens, whole and cut

    def _of_added_tokens(self) -> Iterator[tuple[str, set[Hashable]]]:
        tokens = [token.content for token in self._fast.tokenizer.added_tokens]
        some = tokens[:24] + self._random.sample(tokens[24:], min(16, len(tokens[24:])))
        for number, token in enumerate(some):
            for how, text in _around(token):
                if number < 8 or how in ("inside", "alone"):
                    yield text, {(token, how)}
        for how in ("inside", "spaces", "lines", "case"):
            around = [dict(_around(token))[how] for token in some]
            for start in range(0, len(around), _TOKENS):
                text = "".join(around[start : start + _TOKENS])
                yield text, {text}
        for token in dict.fromkeys(token[:length] for token in tokens for length in (1, 2, 3)):
            yield f"x{token}y", {("cut", token)}

    # Characters of all kinds

    def _of_characters(self) -> Iterator[tuple[str, set[Hashable]]]:
        for code in range(sys.maxunicode + 1):
            character = chr(code)
            category = unicodedata.category(character)
            if category not in ("Cn", "Cs", "Co") and not has_newer(character):
                yield f"{character}a {character * 2}", {(category, _script(character))}
        for text in ("\ue000", "\U0010ffff", "\ufffe", "\0", "a\0b", "\r\n\r\n", "👩‍👩‍👧‍👦", "🇺🇳🇺", "é" * 40, "a" * 90):
            yield text, {text}

    def _of_texts(self) -> Iterator[tuple[str, set[Hashable]]]:
        for named in load_texts():
            yield named.text[:_LONGEST], {named.id}


def _around(token: str) -> Iterator[tuple[str, str]]:
    """Return an added token in its positions, whole and cut, each with what it is called."""
    yield "inside", f"a{token}b"
    yield "alone", token
    yield "spaces", f" {token} "
    yield "lines", f"a\n{token}\nb"
    yield "twice", token * 2
    yield "start cut", token[1:]
    yield "end cut", token[:-1]
    yield "split", f"{token[: len(token) // 2]} {token[len(token) // 2 :]}"
    yield "case", f"a{token.swapcase()}b"
    yield "wide", f"a{''.join(chr(ord(each) + 0xFEE0) if '!' <= each <= '~' else each for each in token)}b"
    yield "mark", f"a{token}\u0301b"


def patterns(stage: Mapping[str, Any] | None) -> Iterator[str]:
    """Return the regular expressions of a pre-tokenizer."""
    if not stage:
        return
    if stage["type"] == "sequence":
        for each in stage["pre_tokenizers"]:
            yield from patterns(each)
    if "regex" in stage.get("pattern", {}):
        yield stage["pattern"]["regex"]
    if stage["type"] == "byte_level" and stage.get("use_regex", True):
        yield r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def _script(character: str) -> str:
    """Return the first word of a character's name, which mostly is its script."""
    return unicodedata.name(character, "").partition(" ")[0].partition("-")[0]


def _any_character(random: Random) -> str:
    while True:
        character = chr(random.randrange(sys.maxunicode + 1))
        if unicodedata.category(character) not in ("Cn", "Cs", "Co") and not has_newer(character):
            return character
