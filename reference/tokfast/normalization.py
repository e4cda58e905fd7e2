"""Normalization of whole texts at once, with spans only where they are wanted.

Without spans, each normalizer is one call into Python's C code: ``str.lower``, ``unicodedata.normalize``, or
``str.translate`` by a table that asks tokref once for each character. With spans, a text that no normalizer changes
keeps its own; any other text is cut before each space, and tokref aligns each part by itself. No normalizer looks
across that border, so equal parts are aligned once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import partial
from typing import Any

from tokfast.values import Cache
from tokref.alignment import AlignedText, Span
from tokref.choices import Choices
from tokref.normalization import normalize, strip_marks
from tokref.values import Component

__all__ = ["Normalizer"]

_Step = Callable[[str], str]


class Normalizer:
    """A normalizer of tokref, or none, prepared for many texts.

    >>> Normalizer(Component("lowercase"), Choices()).align("a É", 5)
    ('a é', [(5, 6), (6, 7), (7, 8)])
    >>> Normalizer(Component("nfc"), Choices()).align("a", 5)
    ('a', None)
    """

    def __init__(self, component: Component | None, choices: Choices) -> None:
        self._component = component
        self._choices = choices
        self._steps = _steps(component, choices)
        self._aligned = Cache(self._align_part)

    def apply(self, text: str) -> str:
        """Return the normalized text."""
        for step in self._steps:
            text = step(text)
        return text

    def align(self, text: str, start: int) -> tuple[str, list[Span] | None]:
        """Return the normalized text, and the span of each character in the input; None where nothing was changed."""
        if all(step(text) == text for step in self._steps):
            return text, None
        words = text.split(" ")
        texts: list[str] = []
        spans: list[Span] = []
        for place, word in enumerate(words):
            part = " " + word if place > 0 else word
            if place + 1 < len(words):  # the space behind, as an added character may take its place from it
                output, inner = self._aligned[part + " "]
                output, inner = output[:-1], inner[:-1]
            else:
                output, inner = self._aligned[part]
            texts.append(output)
            spans += [(start + begin, start + end) for begin, end in inner]
            start += len(part)
        return "".join(texts), spans

    def _align_part(self, part: str) -> tuple[str, tuple[Span, ...]]:
        aligned = normalize(AlignedText.from_input(part), self._component, self._choices)
        return aligned.text, aligned.spans


def _steps(component: Component | None, choices: Choices) -> list[_Step]:
    """Return what a normalizer does to a text, one function after the other."""
    if component is None:
        return []
    if component.type == "sequence":
        return [step for inner in component.parameters["normalizers"] for step in _steps(inner, choices)]
    if component.type == "bert":
        return _bert_steps(choices, **component.parameters)
    if component.type == "lowercase":
        return [_lower_plainly if choices.final_sigma == "plain" else str.lower]
    if component.type == "strip_accents":
        return [_each_character(partial(strip_marks, choices=choices))]
    return [partial(unicodedata.normalize, component.type.upper())]  # type: ignore[arg-type]  # nfc, nfd, nfkc, nfkd


def _bert_steps(
    choices: Choices,
    clean_text: bool,
    handle_chinese_chars: bool,
    strip_accents: bool | None,
    lowercase: bool,
) -> list[_Step]:
    """Return the four steps of BERT's normalizer. The first two and the removal of marks look at one character."""
    steps: list[_Step] = []
    for key, is_wanted in (("clean_text", clean_text), ("handle_chinese_chars", handle_chinese_chars)):
        if is_wanted:
            off: dict[str, Any] = dict.fromkeys(
                ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"), False
            )
            alone = Component("bert", off | {key: True})
            steps.append(_each_character(partial(normalize, normalizer=alone, choices=choices)))
    if lowercase if strip_accents is None else strip_accents:
        steps.append(partial(unicodedata.normalize, "NFD"))
        steps.append(_each_character(partial(strip_marks, choices=choices, categories="Mn")))
    return [*steps, *_steps(Component("lowercase"), choices)] if lowercase else steps


def _each_character(rewrite: Callable[[AlignedText], AlignedText]) -> _Step:
    """Make a function of texts out of one of tokref that looks at each character by itself."""
    table: Cache[int, str] = Cache(lambda code_point: rewrite(AlignedText.from_input(chr(code_point))).text)
    return lambda text: text.translate(table)


def _lower_plainly(text: str) -> str:
    return text.replace("Σ", "σ").lower()
