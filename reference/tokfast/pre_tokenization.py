"""Pre-tokenization by stages, each of which is one run of a pattern over its text.

That ``byte_level`` writes a piece in bytes is left to the model's encoder and to the counting of words, because then
equal pieces are written once; only where another stage follows are the bytes written at once. Patterns run in the
package regex: a translation of the text to letter classes, by which they could run in the module re, takes longer than
it saves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import regex

from tokfast.values import Piece
from tokref.pre_tokenization import BERT, BYTE_CHARACTERS, NO_WHITE_SPACE, utf_8
from tokref.values import Component

__all__ = ["PreTokenizer", "write_bytes", "write_piece"]

# PRE-BYTE-1: contractions stand behind letters and numbers, which begin differently, as most pieces are of letters.
GPT_2 = regex.compile(
    r" ?\p{L}+"
    r"| ?\p{N}+"
    r"|'(?:s|t|re|ve|m|ll|d)"
    r"| ?[^\p{White_Space}\p{L}\p{N}]+"
    r"|\p{White_Space}+(?!\P{White_Space})"
    r"|\p{White_Space}+"
)
WHOLE = regex.compile(r"(?s).+")


@dataclass(frozen=True)
class _Stage:
    """How a pre-tokenizer cuts: what it replaces and adds first, and the pattern of its pieces."""

    pattern: regex.Pattern[str]
    space: str = " "
    """What a space becomes."""
    prefix: str = ""
    """What is put before a text that does not begin with it."""
    only_first: bool = False
    """Whether the prefix is for the first text of the input alone."""
    drops: bool = False
    """Whether the pattern leaves out anything."""
    writes_bytes: bool = False

    def texts(self, text: str, is_first: bool) -> list[str]:
        """Return the texts of the pieces alone."""
        rewritten = self._rewrite(text, is_first)
        return self.pattern.findall(rewritten, concurrent=False)  # a quarter faster than with other threads let in

    def split(self, piece: Piece) -> Iterator[Piece]:
        """Return the pieces of a piece of the stage before."""
        _, start, spans, is_first = piece
        text = self._rewrite(piece.text, is_first)
        if len(text) > len(piece.text):  # an added character takes no room
            spans = piece.spans_of_characters()
            spans = [(spans[0][0], spans[0][0]), *spans]
        for match in self.pattern.finditer(text, concurrent=False):
            begin, end = match.span()
            inner = None if spans is None else spans[begin:end]
            yield Piece(match.group(), start + begin, inner, is_first and begin == 0)

    def _rewrite(self, text: str, is_first: bool) -> str:
        if self.space != " ":
            text = text.replace(" ", self.space)  # PRE-META-1
        if (is_first or not self.only_first) and not text.startswith(self.prefix):  # PRE-BYTE-4, PRE-META-2
            text = self.prefix + text
        return text


class PreTokenizer:
    """A pre-tokenizer of tokref, or none, prepared for many texts.

    >>> gpt_2 = PreTokenizer(Component("byte_level", {"add_prefix_space": False, "use_regex": True}))
    >>> gpt_2.texts("I am", is_first=True), gpt_2.writes_bytes
    (['I', ' am'], True)
    """

    def __init__(self, component: Component | None) -> None:
        self._stages = _stages(component) or [_Stage(WHOLE)]
        self._checks = any(stage.writes_bytes for stage in self._stages)
        self.writes_bytes = self._stages[-1].writes_bytes
        """Whether the pieces are still to be written in bytes."""

    def texts(self, text: str, is_first: bool) -> list[str]:
        """Return the texts of the pieces of a text alone."""
        self._check(text)
        texts = [text] if text else []  # PRE-2
        for place, stage in enumerate(self._stages):
            if not texts:
                break
            if place > 0 and self._stages[place - 1].writes_bytes:
                texts = [write_bytes(piece) for piece in texts]
            first, *others = texts
            texts = stage.texts(first, is_first)
            is_first = is_first and bool(texts) and (not stage.drops or first.startswith(texts[0]))
            texts += [part for other in others for part in stage.texts(other, False)]
        return texts

    def split(self, text: Piece) -> Iterator[Piece]:
        """Return the pieces of a text, which is itself given as a piece."""
        self._check(text.text)
        pieces = iter([text] if text.text else [])  # PRE-2
        for place, stage in enumerate(self._stages):
            if place > 0 and self._stages[place - 1].writes_bytes:
                pieces = map(write_piece, pieces)
            pieces = chain.from_iterable(map(stage.split, pieces))
        return pieces

    def _check(self, text: str) -> None:
        if self._checks:
            utf_8(text)  # a lone surrogate is refused before any piece is encoded


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


def _stages(component: Component | None) -> list[_Stage]:
    if component is None:
        return []
    if component.type == "sequence":
        return [stage for inner in component.parameters["pre_tokenizers"] for stage in _stages(inner)]
    return [_STAGES[component.type](**component.parameters)]


def _byte_level(add_prefix_space: bool, use_regex: bool) -> _Stage:
    prefix = " " if add_prefix_space else ""
    return _Stage(GPT_2 if use_regex else WHOLE, prefix=prefix, writes_bytes=True)


def _metaspace(replacement: str, prepend_scheme: str, split: bool) -> _Stage:
    pattern = regex.compile(rf"(?s).[^{regex.escape(replacement)}]*") if split else WHOLE  # PRE-META-3
    prefix = "" if prepend_scheme == "never" else replacement
    return _Stage(pattern, replacement, prefix, only_first=prepend_scheme == "first")


_STAGES: Mapping[str, Callable[..., _Stage]] = {
    "bert": lambda: _Stage(BERT, drops=True),
    "byte_level": _byte_level,
    "metaspace": _metaspace,
    "whitespace_split": lambda: _Stage(NO_WHITE_SPACE, drops=True),
}
