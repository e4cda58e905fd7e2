"""Pre-tokenization by stages, each of which is one run of a pattern over its text.

That ``byte_level`` writes a piece in bytes is left to the model's encoder and to the counting of words, because then
equal pieces are written once; only where another stage follows are the bytes written at once. Patterns run in the
package regex: a translation of the text to letter classes, by which they could run in the module re, takes longer than
it saves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import regex

from tokfast.patterns import find_cuts
from tokfast.values import Piece
from tokref.choices import Choices
from tokref.patterns import Pattern
from tokref.pre_tokenization import BERT, BYTE_CHARACTERS, NO_WHITE_SPACE, PUNCTUATION, SCRIPTS, WORDS, utf_8
from tokref.values import Component

# PRE-BYTE-1: contractions come after letters and numbers, which begin differently, as most pieces are of letters.
GPT_2 = regex.compile(
    r" ?\p{L}+"
    r"| ?\p{N}+"
    r"|'(?:s|t|re|ve|m|ll|d)"
    r"| ?[^\p{White_Space}\p{L}\p{N}]+"
    r"|\p{White_Space}+(?!\P{White_Space})"
    r"|\p{White_Space}+"
)
NUMBERS = regex.compile(r"\p{N}+")
NUMBER = regex.compile(r"\p{N}")
PUNCTUATION_MARK = regex.compile(rf"[{PUNCTUATION}]")


@dataclass(frozen=True)
class _Stage:
    """How a pre-tokenizer cuts: what it replaces and adds first, its pattern, and what happens to the matches.

    Without a pattern the text stays whole. Where the behavior, which is one of ``split``, is None, the matches are the
    pieces.
    """

    pattern: regex.Pattern[str] | None = None
    behavior: str | None = None
    invert: bool = False
    space: str = " "
    """What a space becomes."""
    prefix: str = ""
    """What is put before a text that does not begin with it."""
    only_first: bool = False
    """Whether the prefix is for the first text of the input alone."""
    writes_bytes: bool = False

    def texts(self, text: str, is_first: bool) -> list[str]:
        """Return the texts of the pieces alone."""
        text = self._rewrite(text, is_first)
        if self.pattern is None:
            return [text]
        if self.behavior is None:
            return self.pattern.findall(text, concurrent=False)  # a quarter faster than with other threads let in
        return [text[begin:end] for begin, end in self._ranges(text)]

    def split(self, piece: Piece) -> list[Piece]:
        """Return the pieces of a piece of the stage before."""
        text = self._rewrite(piece.text, piece.is_first)
        spans = piece.spans
        if len(text) > len(piece.text):  # an added character takes no room
            spans = piece.spans_of_characters()
            spans = [(spans[0][0], spans[0][0]), *spans]
        start, is_first = piece.start, piece.is_first
        if self.pattern is None:
            return [Piece(text, start, spans, is_first)]
        return [
            Piece(
                text[begin:end],
                start + begin,
                None if spans is None else spans[begin:end],
                is_first and begin == 0,
            )
            for begin, end in self._ranges(text)
        ]

    def _rewrite(self, text: str, is_first: bool) -> str:
        if self.space != " ":
            text = text.replace(" ", self.space)  # PRE-META-1
        if (is_first or not self.only_first) and not text.startswith(self.prefix):  # PRE-BYTE-4, PRE-META-2
            text = self.prefix + text
        return text

    def _ranges(self, text: str) -> list[tuple[int, int]]:
        """Return where the pieces are."""
        assert self.pattern is not None
        if self.behavior is None:
            return [match.span() for match in self.pattern.finditer(text, concurrent=False)]
        matches = find_cuts(self.pattern, text)
        if self.behavior == "removed" and self.invert:  # PRE-SPLIT-6
            return [(begin, end) for begin, end in matches if begin < end]
        parts = _alternate(matches, len(text))
        if self.behavior == "removed":  # PRE-SPLIT-2
            return [(begin, end) for begin, end, is_match in parts if not is_match]
        if self.invert:  # PRE-SPLIT-6
            parts = [(begin, end, not is_match) for begin, end, is_match in parts]
        cuts = _CUTS[self.behavior]
        starts = [begin for (_, _, before), (begin, _, here) in pairwise(parts) if cuts(before, here)]
        return [(begin, end) for begin, end in pairwise([0, *starts, len(text)]) if begin < end]


_CUTS: Mapping[str, Callable[[bool, bool], bool]] = {
    "isolated": lambda before, here: True,
    "merged_with_previous": lambda before, here: before or not here,  # PRE-SPLIT-3
    "merged_with_next": lambda before, here: here or not before,  # PRE-SPLIT-4
    "contiguous": lambda before, here: before != here,  # PRE-SPLIT-5
}
"""Whether a text is cut between two parts, by whether each is a match."""


class PreTokenizer:
    """A pre-tokenizer of tokref, or none, prepared for many texts.

    >>> component = Component("byte_level", {"add_prefix_space": False, "use_regex": True})
    >>> gpt_2 = PreTokenizer(component, Choices())
    >>> gpt_2.texts("I am", is_first=True), gpt_2.writes_bytes
    (['I', ' am'], True)
    """

    def __init__(self, component: Component | None, choices: Choices) -> None:
        self._stages = _stages(component, choices)
        self._asks_for_first = any(stage.only_first for stage in self._stages[1:])
        self.writes_bytes = bool(self._stages) and self._stages[-1].writes_bytes
        """Whether the pieces are still to be written in bytes."""

    def texts(self, text: str, is_first: bool) -> list[str]:
        """Return the texts of the pieces of a text alone."""
        if self._asks_for_first:
            return [piece.text for piece in self.split(Piece(text, 0, None, is_first))]
        texts = [text] if text else []  # PRE-2
        for place, stage in enumerate(self._stages):
            if place > 0 and self._stages[place - 1].writes_bytes:
                texts = [write_bytes(piece) for piece in texts]
            if len(texts) == 1:
                texts = stage.texts(texts[0], is_first)
            else:
                texts = [part for piece in texts for part in stage.texts(piece, is_first)]
        if self.writes_bytes:
            utf_8("".join(texts))  # a lone surrogate is refused before any piece is encoded
        return texts

    def split(self, text: Piece) -> list[Piece]:
        """Return the pieces of a text, which is itself given as a piece."""
        pieces = [text] if text.text else []  # PRE-2
        for place, stage in enumerate(self._stages):
            if place > 0 and self._stages[place - 1].writes_bytes:
                pieces = [write_piece(piece) for piece in pieces]
            pieces = [part for piece in pieces for part in stage.split(piece)]
        if self.writes_bytes:
            utf_8("".join([piece.text for piece in pieces]))
        return pieces


def _alternate(matches: list[tuple[int, int]], length: int) -> list[tuple[int, int, bool]]:
    """Return the parts of a text, each with whether it is a match."""
    parts: list[tuple[int, int, bool]] = []
    place = 0
    for begin, end in matches:
        if place < begin:
            parts.append((place, begin, False))
        parts.append((begin, end, True))
        place = end
    if place < length:
        parts.append((place, length, False))
    return parts


def write_bytes(text: str) -> str:
    """Return the character of each byte of a text's UTF-8 (PRE-BYTE-3).

    >>> write_bytes(" é")
    'ĠÃ©'
    """
    return utf_8(text).decode("latin-1").translate(BYTE_CHARACTERS)


def write_piece(piece: Piece) -> Piece:
    """Return a piece written in bytes, each with the span of its character."""
    rows = zip(piece.text, piece.spans_of_characters(), strict=True)
    spans = [span for character, span in rows for _ in utf_8(character)]
    return piece._replace(text=write_bytes(piece.text), spans=spans)


def _stages(component: Component | None, choices: Choices) -> list[_Stage]:
    if component is None:
        return []
    if component.type == "sequence":
        return [stage for inner in component.parameters["pre_tokenizers"] for stage in _stages(inner, choices)]
    return [_STAGES[component.type](choices, **component.parameters)]


def _byte_level(choices: Choices, add_prefix_space: bool, use_regex: bool) -> _Stage:
    prefix = " " if add_prefix_space else ""
    return _Stage(GPT_2 if use_regex else None, prefix=prefix, writes_bytes=True)


def _metaspace(choices: Choices, replacement: str, prepend_scheme: str, split: bool) -> _Stage:
    pattern = regex.compile(rf"(?s).[^{regex.escape(replacement)}]*") if split else None  # PRE-META-3
    prefix = "" if prepend_scheme == "never" else replacement
    return _Stage(pattern, space=replacement, prefix=prefix, only_first=prepend_scheme == "first")


def _split(choices: Choices, pattern: Pattern, behavior: str, invert: bool) -> _Stage:
    return _Stage(pattern.compile(choices), behavior, invert)  # PRE-SPLIT-1


def _digits(choices: Choices, individual_digits: bool) -> _Stage:
    return _Stage(NUMBER if individual_digits else NUMBERS, "isolated")  # PRE-DIGITS-1


def _fixed_length(choices: Choices, length: int) -> _Stage:
    length = min(length, 2**31 - 1)  # no text is as long, and the package regex counts no further
    return _Stage(regex.compile(rf"(?s).{{1,{length}}}"))  # PRE-FIXED-1


@cache
def _scripts() -> regex.Pattern[str]:
    """Return a pattern of stretches of one script, each with what goes with every script (PRE-SCRIPTS-1)."""
    sets = {name: rf"\p{{Script={name}}}" for name in SCRIPTS if name not in ("Hiragana", "Katakana")}
    sets["Common"] = r"[\p{Script=Common}--[ ー]]"
    sets["Han"] = r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]"  # PRE-SCRIPTS-2
    joining = rf"[^{''.join(sets.values())}]"  # PRE-SCRIPTS-3
    stretches = "|".join(rf"{one}[{one}{joining}]*+" for one in sets.values())
    return regex.compile(rf"(?V1){joining}*+(?:{stretches})|{joining}+")


_STAGES: Mapping[str, Callable[..., _Stage]] = {
    "bert": lambda choices: _Stage(BERT),
    "byte_level": _byte_level,
    "metaspace": _metaspace,
    "whitespace_split": lambda choices: _Stage(NO_WHITE_SPACE),
    "split": _split,
    "digits": _digits,
    "punctuation": lambda choices, behavior: _Stage(PUNCTUATION_MARK, behavior),  # PRE-PUNCT-1
    "whitespace": lambda choices: _Stage(WORDS),
    "char_delimiter_split": lambda choices, delimiter: _Stage(regex.compile(regex.escape(delimiter)), "removed"),
    "fixed_length": _fixed_length,
    "unicode_scripts": lambda choices: _Stage(_scripts()),
}
