"""Normalization of whole texts at once, with spans only where they are wanted.

Without spans, each normalizer is one call into C code: ``str.lower``, a normal form of Unicode, ``str.replace``, or
``str.translate`` by a table that asks tokref once for each character. With spans, those that replace, put in front or
cut off move the spans as they move the text. The others change characters in their place: a text that they leave
unchanged keeps its spans. None of them looks across a space, so a text that is still the input is cut before each
space, and tokref aligns equal parts once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain, groupby
from typing import Any, Protocol

import regex

from tokfast.charsmap import CharacterMapNormalizer
from tokfast.patterns import find_matches, replace_matches
from tokfast.pre_tokenization import write_bytes
from tokfast.sentencepiece import SentencePieceNormalizer
from tokfast.values import Cache, Piece, cover
from tokref.alignment import AlignedText, Span
from tokref.choices import Choices
from tokref.normalization import NMT, Form, normalize, strip_marks
from tokref.patterns import Pattern
from tokref.values import Component

SPACE_AT_START = regex.compile(r"\p{White_Space}*")
SPACE_AT_END = regex.compile(r"(?r)\p{White_Space}*")  # from the end of the text to its start

#: The form that takes characters apart in the same way, and puts nothing together again.
DECOMPOSED: Mapping[Form, Form] = {"NFC": "NFD", "NFD": "NFD", "NFKC": "NFKD", "NFKD": "NFKD"}

LONG_RUN = regex.compile(r"[\p{M}\uff9e\uff9f]{32}")  # of marks, and of letters that are marks in two of the forms


class Normalizer:
    """A normalizer of tokref, or none, prepared for many texts.

    >>> Normalizer(Component("lowercase"), Choices()).align(Piece("a É", 5, None, False))
    Piece(text='a é', start=5, spans=[(5, 6), (6, 7), (7, 8)], is_first=False)
    >>> Normalizer(Component("nfc"), Choices()).align(Piece("a", 5, None, False))
    Piece(text='a', start=5, spans=None, is_first=False)
    """

    def __init__(self, component: Component | None, choices: Choices) -> None:
        self._steps = [_step(one, choices) for one in _flatten(component)]

    def apply(self, text: str) -> str:
        """Return the normalized text."""
        for step in self._steps:
            text = step.apply(text)
        return text

    def align(self, piece: Piece) -> Piece:
        """Return the normalized text with the spans of its characters, or None where each is still in its place."""
        for step in self._steps:
            piece = step.align(piece)
        return piece


class _Step(Protocol):
    """A normalizer that is not a sequence."""

    def apply(self, text: str) -> str: ...

    def align(self, piece: Piece) -> Piece: ...


def _flatten(component: Component | None) -> list[Component]:
    if component is None:
        return []
    if component.type != "sequence":
        return [component]
    return [one for inner in component.parameters["normalizers"] for one in _flatten(inner)]


def _step(component: Component, choices: Choices) -> _Step:
    if component.type in _MOVING:
        return _MOVING[component.type](choices, **component.parameters)
    return _InPlace(component, choices)


class _Replace:
    """Replaces the matches of a pattern (NORM-REPLACE-1); an empty match does not count (NORM-REPLACE-2)."""

    def __init__(self, choices: Choices, pattern: Pattern, content: str) -> None:
        self._pattern = pattern.compile(choices)
        self._string = "" if pattern.is_regex else pattern.source
        self._content = content

    def apply(self, text: str) -> str:
        if self._string:
            return text.replace(self._string, self._content)
        return replace_matches(self._pattern, self._content, text)

    def align(self, piece: Piece) -> Piece:
        content = self._content
        if self._string and len(self._string) == len(content) == 1:  # each takes the place of one
            return piece._replace(text=self.apply(piece.text))
        matches = find_matches(self._pattern, piece.text)
        if not matches:
            return piece
        old, spans = piece.spans_of_characters(), list[Span]()
        place = 0
        for begin, end in matches:
            spans += old[place:begin]
            spans += [cover(old[begin:end])] * len(content)
            place = end
        spans += old[place:]
        return piece._replace(text=self.apply(piece.text), spans=spans)


class _Prepend:
    """Puts a prefix before a text that is not empty (NORM-PREPEND-1)."""

    def __init__(self, choices: Choices, prefix: str) -> None:
        self._prefix = prefix

    def apply(self, text: str) -> str:
        return text and self._prefix + text

    def align(self, piece: Piece) -> Piece:
        if not piece.text:
            return piece
        spans = piece.spans_of_characters()
        point = spans[0][0], spans[0][0]  # an added character takes no room
        return piece._replace(text=self._prefix + piece.text, spans=[*[point] * len(self._prefix), *spans])


class _Strip:
    """Removes white space from the ends of a text (NORM-STRIP-1)."""

    def __init__(self, choices: Choices, left: bool, right: bool) -> None:
        self._left = left
        self._right = right

    def apply(self, text: str) -> str:
        begin, end = self._range(text)
        return text[begin:end]

    def align(self, piece: Piece) -> Piece:
        return piece.cut(*self._range(piece.text))._replace(is_first=piece.is_first)

    def _range(self, text: str) -> tuple[int, int]:
        before = SPACE_AT_START.match(text) if self._left else None
        begin = before.end() if before else 0
        behind = SPACE_AT_END.match(text, begin) if self._right else None
        return begin, behind.start() if behind else len(text)


class _InPlace:
    """Changes characters in their place: a normal form, lower case, BERT's normalizer, without marks."""

    def __init__(self, component: Component, choices: Choices) -> None:
        self._component = component
        self._choices = choices
        self._functions = _functions(component, choices)
        self._words = Cache(self._align_word)

    def apply(self, text: str) -> str:
        for function in self._functions:
            text = function(text)
        return text

    def align(self, piece: Piece) -> Piece:
        if self.apply(piece.text) == piece.text:
            return piece
        if piece.spans is not None:
            aligned = AlignedText(piece.text, tuple(piece.spans))
            aligned = normalize(aligned, self._component, self._choices)
            return piece._replace(text=aligned.text, spans=aligned.spans)
        return self._align_words(piece)

    def _align_words(self, piece: Piece) -> Piece:
        start, words = piece.start, piece.text.split(" ")
        texts: list[str] = []
        spans: list[Span] = []
        for place, word in enumerate(words):
            part = " " + word if place > 0 else word
            if place + 1 < len(words):  # the next space, as an added character may take its place from it
                output, inner = self._words[part + " "]
                output, inner = output[:-1], inner[:-1]
            else:
                output, inner = self._words[part]
            texts.append(output)
            spans += [(start + begin, start + end) for begin, end in inner]
            start += len(part)
        return piece._replace(text="".join(texts), spans=spans)

    def _align_word(self, word: str) -> tuple[str, tuple[Span, ...]]:
        aligned = normalize(AlignedText.from_input(word), self._component, self._choices)
        return aligned.text, aligned.spans


_MOVING: Mapping[str, Callable[..., _Step]] = {
    "replace": _Replace,
    "prepend": _Prepend,
    "strip": _Strip,
    "precompiled": CharacterMapNormalizer,
    "sentencepiece": SentencePieceNormalizer,
}


def _functions(component: Component, choices: Choices) -> list[Callable[[str], str]]:
    """Return what a normalizer does to a text, one function after the other."""
    if component.type == "bert":
        return _bert_functions(choices, **component.parameters)
    if component.type == "lowercase":
        return [_lower_plainly if choices.final_sigma == "plain" else str.lower]
    if component.type == "strip_accents":
        return [_each_character(partial(strip_marks, choices=choices))]
    if component.type == "nmt":
        return [lambda text: text.translate(NMT)]
    if component.type == "byte_level":
        return [write_bytes]
    return [partial(unicode_form, component.type.upper())]  # type: ignore[arg-type]  # nfc, nfd, nfkc, nfkd


def _bert_functions(
    choices: Choices,
    clean_text: bool,
    handle_chinese_chars: bool,
    strip_accents: bool | None,
    lowercase: bool,
) -> list[Callable[[str], str]]:
    """Return the four functions of BERT's normalizer. The first two and the removal of marks look at one character."""
    functions: list[Callable[[str], str]] = []
    for key, is_wanted in (("clean_text", clean_text), ("handle_chinese_chars", handle_chinese_chars)):
        if is_wanted:
            off: dict[str, Any] = dict.fromkeys(
                ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"), False
            )
            alone = Component("bert", off | {key: True})
            functions.append(_each_character(partial(normalize, normalizer=alone, choices=choices)))
    if lowercase if strip_accents is None else strip_accents:
        functions.append(partial(unicode_form, "NFD"))
        functions.append(_each_character(partial(strip_marks, choices=choices, categories="Mn")))
    return [*functions, *_functions(Component("lowercase"), choices)] if lowercase else functions


def unicode_form(form: Form, text: str) -> str:
    """Write a text in one of the four forms.

    A long run of marks is sorted first. Python's own function takes quadratic time for marks that are out of order.

    >>> unicode_form("NFC", "e\u0301") == "é"
    True
    """
    if LONG_RUN.search(text):
        apart = "".join(unicodedata.normalize(DECOMPOSED[form], character) for character in text)
        runs = groupby(apart, lambda character: unicodedata.combining(character) > 0)
        text = "".join(chain.from_iterable(sorted(run, key=unicodedata.combining) for _, run in runs))
    return unicodedata.normalize(form, text)


def _each_character(rewrite: Callable[[AlignedText], AlignedText]) -> Callable[[str], str]:
    """Make a function of texts out of one of tokref that looks at each character by itself."""
    table: Cache[int, str] = Cache(lambda code_point: rewrite(AlignedText.from_input(chr(code_point))).text)
    return lambda text: text.translate(table)


def _lower_plainly(text: str) -> str:
    return text.replace("Σ", "σ").lower()
