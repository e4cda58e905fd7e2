"""Unigram: the model, its segmentations and encoding (``spec/06-unigram.md``)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from tokref.choices import Choices
from tokref.errors import InputError
from tokref.model import Token, Unigram

__all__ = ["Segmentation", "encode_unigram", "segment", "segmentations", "token_probabilities", "viterbi"]

UNKNOWN_PENALTY = 10.0
"""How far the cost of an unknown character lies above that of the least probable token (UNI-UNK-1)."""


class Segmentation(NamedTuple):
    """Tokens that make up a word, and their probability or, from :func:`segment`, their score."""

    tokens: tuple[str, ...]
    value: float


def token_probabilities(model: Unigram) -> Mapping[str, float]:
    """Give the probability of every token.

    Clauses: UNI-PROB-1.

    >>> token_probabilities(Unigram(("a", "b"), weights=(1, 3)))
    {'a': 0.25, 'b': 0.75}
    """
    return model.probabilities


def segmentations(word: str, model: Unigram) -> list[Segmentation]:
    """List all ways to write a word as tokens, with their probabilities.

    Clauses: UNI-PROB-2, UNI-SEG-1.

    >>> segmentations("aa", Unigram(("a", "aa"), weights=(3, 1)))
    [Segmentation(tokens=('a', 'a'), value=0.5625), Segmentation(tokens=('aa',), value=0.25)]
    """
    found: list[Segmentation] = []
    completes = _completing(word, model)
    waiting: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    while waiting:
        start, tokens = waiting.pop()
        if start == len(word):
            found.append(Segmentation(tokens, _probability(tokens, model)))
        ends = range(min(start + model.longest, len(word)), start, -1)  # UNI-SEG-1: the shortest is taken up first
        waiting += [
            (end, (*tokens, word[start:end])) for end in ends if completes[end] and word[start:end] in model.ids
        ]
    return found


def viterbi(word: str, model: Unigram, choices: Choices) -> list[Segmentation | None]:
    """Give the best segmentation of the word up to each end position 1, 2, … with its probability.

    Clauses: UNI-SEG-4.

    >>> viterbi("ab", Unigram(("a", "ab"), weights=(1, 3)), Choices())
    [Segmentation(tokens=('a',), value=0.25), Segmentation(tokens=('ab',), value=0.75)]
    """
    starts, scores = best_path(word, model, choices)
    table: list[Segmentation | None] = []
    for end in range(1, len(word) + 1):
        tokens = tuple(word[begin:stop] for begin, stop in _ranges(starts, end))
        table.append(None if scores[end] is None else Segmentation(tokens, _probability(tokens, model)))
    return table


def segment(word: str, model: Unigram, choices: Choices, without: str | None = None) -> Segmentation:
    """Give the segmentation of the highest probability, and its score; ``without`` is a token not to be used.

    Clauses: UNI-SEG-2, UNI-SEG-3, UNI-SCORE-1, UNI-UNK-2.

    Raises:
        InputError: ``no_segmentation``.

    >>> segment("aa", Unigram(("a", "aa"), weights=(3, 1)), Choices())
    Segmentation(tokens=('a', 'a'), value=1.5753641449035616)
    """
    starts, scores = best_path(word, model, choices, without)
    score = scores[-1]
    if score is None:  # UNI-UNK-2
        raise InputError("no_segmentation", f"{word!r} cannot be written with the tokens of the vocabulary")
    return Segmentation(tuple(word[begin:end] for begin, end in _ranges(starts, len(word))), score)


def encode_unigram(piece: str, model: Unigram, choices: Choices) -> list[Token]:
    """Encode one piece; the tokens' ranges count in it.

    Clauses: UNI-UNK-1, UNI-ENC-1.

    Raises:
        InputError: ``unknown_symbol``.

    >>> encode_unigram("ax", Unigram(("<unk>", "a"), "<unk>", (0, 1)), Choices(unigram_unknown="run"))
    [Token(text='a', id=1, start=0, end=1), Token(text='<unk>', id=0, start=1, end=2)]
    """
    may_be_unknown = choices.unigram_unknown == "run" and model.unknown_token is not None
    unknown_cost = model.highest_cost + UNKNOWN_PENALTY if may_be_unknown else None
    starts, scores = best_path(piece, model, choices, unknown_cost=unknown_cost)
    if scores[-1] is None:  # UNI-UNK-1
        return [model.unknown(piece, 0)]
    tokens: list[Token] = []
    for begin, end in _ranges(starts, len(piece)):
        text = piece[begin:end]
        token = Token(text, model.ids[text], begin, end) if text in model.ids else model.unknown(text, begin)
        if may_be_unknown and tokens and tokens[-1].text == token.text == model.unknown_token:
            tokens[-1] = tokens[-1]._replace(end=end)  # one with the unknown token before it
        else:
            tokens.append(token)
    return tokens


def best_path(
    word: str,
    model: Unigram,
    choices: Choices,
    without: str | None = None,
    unknown_cost: float | None = None,
) -> tuple[list[int], list[float | None]]:
    """Give, for each end position from 0, where the last token of the best segmentation starts, and the score.

    Of equal scores the one whose last token starts first stays (UNI-SEG-3): starts are gone through from left to
    right, and only a better score takes the place of one that stands. That is one of ``any``, too.
    """
    size, longest, root = len(word), model.longest, model.beginnings
    starts = [0] * (size + 1)
    scores: list[float | None] = [None] * (size + 1)
    scores[0] = {"one": 1.0, "zero": 0.0}[choices.unigram_score_start]  # UNI-SCORE-1
    for start in range(size):
        base = scores[start]
        if base is None:
            continue
        inner = root
        for end, character in enumerate(word[start : start + longest], start + 1):
            if character not in inner:
                break  # no token begins so
            inner = inner[character]
            cost = inner.cost
            if cost is not None and (without is None or word[start:end] != without):
                best = scores[end]
                if best is None or best > base + cost:
                    starts[end], scores[end] = start, base + cost
        if unknown_cost is not None and word[start] not in model.costs:  # UNI-UNK-1
            best = scores[start + 1]
            if best is None or best > base + unknown_cost:
                starts[start + 1], scores[start + 1] = start, base + unknown_cost
    return starts, scores


def _ranges(starts: list[int], end: int) -> list[tuple[int, int]]:
    """Follow the starts back from an end."""
    ranges: list[tuple[int, int]] = []
    while end > 0:
        ranges.append((starts[end], end))
        end = starts[end]
    return ranges[::-1]


def _completing(word: str, model: Unigram) -> list[bool]:
    """Say for each position whether the rest of the word can be written from there."""
    completes = [False] * len(word) + [True]
    for start in range(len(word) - 1, -1, -1):
        ends = range(start + 1, min(start + model.longest, len(word)) + 1)
        completes[start] = any(completes[end] and word[start:end] in model.ids for end in ends)
    return completes


def _probability(tokens: tuple[str, ...], model: Unigram) -> float:
    return math.prod(model.probabilities[token] for token in tokens)  # UNI-PROB-2
