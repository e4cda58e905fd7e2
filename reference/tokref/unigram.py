"""Unigram: the initial vocabulary, the model, its segmentations, and training (``spec/06-unigram.md``).

A word is segmented by the Viterbi algorithm: from left to right, the best segmentation up to each position follows
from the best ones up to the positions before it. Training begins with many substrings and removes, step by step, the
tokens whose removal raises the loss least: those without which the words can be written at hardly more cost.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from tokref.alignment import AlignedText
from tokref.bpe import byte_tokens
from tokref.choices import Choices
from tokref.errors import InputError, brief
from tokref.values import Token, Unigram, Words, unknown_token

UNKNOWN_PENALTY = 10.0  # SentencePiece's number, as published
"""How far the cost of an unknown character lies above that of the least probable token (UNI-UNK-3)."""

Costs = Mapping[str, float]
"""The negative logarithm of every token's probability; infinite where the probability is 0."""


class Segmentation(NamedTuple):
    """Tokens that make up a word, and their probability or, from :func:`segment`, their score."""

    tokens: tuple[str, ...]
    value: float


@dataclass(frozen=True)
class UnigramTraining:
    """What is left of the initial vocabulary, and its sizes before the first step and after each."""

    model: Unigram
    sizes: tuple[int, ...]


# The initial vocabulary


def strict_substrings(words: Words) -> dict[str, int]:
    """Return every substring that is shorter than some word that contains it, with its frequency (UNI-INIT-2).

    >>> strict_substrings({"ab": 2, "b": 1})
    {'a': 2, 'b': 3}
    """
    frequencies = _substring_frequencies(words)  # of all places, whole words included
    strict = {word[start:end]: None for word in words for start, end in _ranges(word) if end - start < len(word)}
    return {substring: frequencies[substring] for substring in strict}


def ranked_substrings(words: Words) -> list[tuple[str, int]]:
    """Rank the substrings of two or more characters by falling frequency; the first met of equal ones comes first.

    >>> ranked_substrings({"aba": 1, "ba": 1})
    [('ba', 2), ('ab', 1), ('aba', 1)]
    """
    longer = [row for row in _substring_frequencies(words).items() if len(row[0]) > 1]
    return sorted(longer, key=lambda row: -row[1])  # UNI-INIT-4: the sort is stable


def initial_vocabulary(words: Words, size: int) -> Unigram:
    """Return the model of all characters and of as many substrings as make up the size (UNI-INIT-5).

    All characters are there from the start, so every word can be written, and training only has to take away.

    Special tokens are not added (UNI-INIT-6).

    >>> initial_vocabulary({"aba": 1, "ba": 1}, 3).weights
    {'a': 3, 'b': 2, 'ba': 2}
    """
    frequencies = _substring_frequencies(words)
    characters = {character: frequencies[character] for word in words for character in word}  # UNI-INIT-3
    wanted = max(size - len(characters), 0)
    return Unigram(characters | dict(ranked_substrings(words)[:wanted]))


def _substring_frequencies(words: Words) -> dict[str, int]:
    """Count all substrings (UNI-INIT-1), in the order first met: by word, then start, then end."""
    frequencies: dict[str, int] = {}
    for word, count in words.items():
        for start, end in _ranges(word):
            frequencies[word[start:end]] = frequencies.get(word[start:end], 0) + count
    return frequencies


def _ranges(word: str) -> Iterator[tuple[int, int]]:
    for start in range(len(word)):
        for end in range(start + 1, len(word) + 1):
            yield start, end


# The model


def token_probabilities(model: Unigram) -> dict[str, float]:
    """Return the probability of every token.

    >>> token_probabilities(Unigram({"a": 1, "b": 3}))
    {'a': 0.25, 'b': 0.75}
    """
    if model.kind == "log_probability":  # UNI-MODEL-1
        return {token: math.exp(weight) for token, weight in model.ordinary.items()}
    total = sum(model.weights.values())  # SP-TYPE-3: of all tokens, whatever their kinds
    return {token: frequency / total if total else 0.0 for token, frequency in model.ordinary.items()}  # UNI-PROB-1


def token_costs(model: Unigram) -> dict[str, float]:
    """Return the cost of every token: the lower, the more probable (UNI-SCORE-2).

    The product of many probabilities is soon smaller than the least number that floating point has. Their logarithms
    are added instead, and the segmentation with the largest product is the one with the smallest sum.

    >>> token_costs(Unigram({"a": -1.5, "b": -2.5}, "log_probability"))
    {'a': 1.5, 'b': 2.5}
    """
    if model.kind == "log_probability":  # UNI-MODEL-1
        return {token: -weight for token, weight in model.ordinary.items()}
    return {token: -math.log(value) if value else math.inf for token, value in token_probabilities(model).items()}


def segmentations(word: str, model: Unigram) -> list[Segmentation]:
    """Return all ways to write a word as tokens, with their probabilities, shorter first tokens first (UNI-SEG-1).

    Raises:
        InputError: ``invalid_input``, where a probability is too large.

    >>> segmentations("aa", Unigram({"a": 3, "aa": 1}))
    [Segmentation(tokens=('a', 'a'), value=0.5625), Segmentation(tokens=('aa',), value=0.25)]
    """
    probabilities = token_probabilities(model)
    return [Segmentation(tokens, _multiply(tokens, probabilities)) for tokens in _ways(word, probabilities)]


def nbest(word: str, model: Unigram, size: int) -> list[tuple[str, ...]]:
    """Return the most probable segmentations of a word, the most probable first (UNI-NBEST-1).

    Raises:
        InputError: ``no_segmentation``.

    >>> nbest("aa", Unigram({"a": 3, "aa": 1}), 1)
    [('a', 'a')]
    """
    if size < 0:  # UNI-NBEST-3
        raise InputError("invalid_input", f"{size} is no number of segmentations; give one from 0")
    if size == 0:
        return []
    costs = token_costs(model)
    ways = _ways(word, costs)
    if not ways:  # UNI-UNK-2
        raise InputError("no_segmentation", f"{word!r} cannot be written with the tokens of the vocabulary")
    return sorted(ways, key=lambda tokens: sum(costs[token] for token in tokens))[:size]


def _ways(word: str, known: Container[str]) -> list[tuple[str, ...]]:
    """Return all segmentations of a word; ``ways[start]`` lists those of ``word[start:]``."""
    ways: dict[int, list[tuple[str, ...]]] = {len(word): [()]}
    for start in reversed(range(len(word))):
        ends = [end for end in range(start + 1, len(word) + 1) if word[start:end] in known]
        ways[start] = [(word[start:end], *rest) for end in ends for rest in ways[end]]
    return ways[0]


def _multiply(tokens: tuple[str, ...], probabilities: Mapping[str, float]) -> float:
    value = math.prod(probabilities[token] for token in tokens)  # UNI-PROB-2
    if not math.isfinite(value):  # UNI-LOSS-3
        raise InputError("invalid_input", f"the probability of {brief(list(tokens))} is too large for floating point")
    return value


def viterbi(word: str, model: Unigram) -> list[Segmentation | None]:
    """Return the best segmentation of the word up to each end position 1, 2, …, with its probability (UNI-SEG-4).

    >>> viterbi("ab", Unigram({"a": 1, "ab": 3}))
    [Segmentation(tokens=('a',), value=0.25), Segmentation(tokens=('ab',), value=0.75)]
    """
    probabilities = token_probabilities(model)
    best = _best_up_to(word, token_costs(model))
    table: list[Segmentation | None] = []
    for end in range(1, len(word) + 1):
        tokens = tuple(word[start:stop] for start, stop in _follow_back(best, end))
        table.append(Segmentation(tokens, _multiply(tokens, probabilities)) if best[end] is not None else None)
    return table


def _finite(value: float) -> float:
    if math.isinf(value):  # UNI-LOSS-3
        raise InputError("invalid_input", "the answer is infinite: a word needs a token of probability 0")
    return value


def segment(word: str, model: Unigram, initial_score: float = 0.0) -> Segmentation:
    """Return the segmentation with the highest probability (UNI-SEG-2), and its score.

    Raises:
        InputError: ``no_segmentation``; ``invalid_input``, where the score is infinite (UNI-LOSS-3).

    >>> segment("aa", Unigram({"a": 3, "aa": 1}))
    Segmentation(tokens=('a', 'a'), value=0.5753641449035618)
    """
    tokens, cost = _segment(word, token_costs(model))
    return Segmentation(tokens, _finite(initial_score + cost))  # UNI-SCORE-2


class _Last(NamedTuple):
    """The last token of the best segmentation up to a position: where it starts, and the cost of the whole."""

    start: int
    cost: float


def _segment(word: str, costs: Costs) -> tuple[tuple[str, ...], float]:
    """Return the tokens of the best segmentation, and what they cost together."""
    best = _best_up_to(word, costs)
    last = best[len(word)]
    if last is None:  # UNI-UNK-2
        raise InputError("no_segmentation", f"{word!r} cannot be written with the tokens of the vocabulary")
    return tuple(word[start:end] for start, end in _follow_back(best, len(word))), last.cost


def _best_up_to(word: str, costs: Costs, unknown_cost: float | None = None) -> list[_Last | None]:
    """Find the best segmentation up to every position of the word, from 0 to its length.

    Starts are tried from left to right, and only a lower cost replaces what is there. So of equal costs the one whose
    last token starts first stays: the option ``earliest_start``, and as good as any (UNI-SEG-3). With ``unknown_cost``
    a character that is not a token by itself may also become an unknown token.
    """
    best: list[_Last | None] = [_Last(0, 0.0), *[None] * len(word)]  # before the word is nothing, at no cost
    longest = max(map(len, costs), default=0) or 1  # a character may be unknown where there are no tokens at all
    for start in range(len(word)):
        before = best[start]
        if before is None:
            continue
        for end in range(start + 1, min(start + longest, len(word)) + 1):  # what is longer is not a token
            cost = costs.get(word[start:end])
            if cost is None and end == start + 1:  # UNI-UNK-3
                cost = unknown_cost
            if cost is None:
                continue
            there = best[end]
            if there is None or before.cost + cost < there.cost:
                best[end] = _Last(start, before.cost + cost)
    return best


def _follow_back(best: list[_Last | None], end: int) -> list[tuple[int, int]]:
    """Return the ranges of the tokens that lead to an end position, in the order of the word."""
    ranges: list[tuple[int, int]] = []
    while (last := best[end]) is not None and end > 0:
        ranges.insert(0, (last.start, end))
        end = last.start
    return ranges


def encode_unigram(piece: AlignedText, model: Unigram, choices: Choices) -> list[Token]:
    """Encode one piece.

    Raises:
        InputError: ``unknown_symbol``.

    >>> model = Unigram({"<unk>": 1, "a": 4}, unknown_token="<unk>")
    >>> [token.text for token in encode_unigram(AlignedText.from_input("ax"), model, Choices(unigram_unknown="run"))]
    ['a', '<unk>']
    """
    costs, vocabulary = token_costs(model), model.vocabulary
    unknown_cost = cost_of_unknown(model, costs, choices) if _takes_unknown(piece.text, model, costs, choices) else None
    best = _best_up_to(piece.text, costs, unknown_cost)
    if best[-1] is None:  # UNI-UNK-3: the piece is unknown as a whole
        return _unknown(piece, 0, len(piece.text), model, choices)
    tokens: list[Token] = []
    for begin, end in _join_unknown(piece.text, _follow_back(best, len(piece.text)), model, costs, unknown_cost):
        text = piece.text[begin:end]
        if text in costs:
            tokens.append(Token(text, vocabulary[text], *piece.span(begin, end)))
        else:
            tokens += _unknown(piece, begin, end, model, choices)
    return tokens


def _takes_unknown(word: str, model: Unigram, costs: Costs, choices: Choices) -> bool:
    """Whether a character of a piece may become an unknown token next to other tokens (UNI-UNK-3)."""
    if choices.unigram_unknown == "piece":
        return False
    if model.unknown_token is not None:
        return True
    # There is no token to replace it. So characters are given up only in a word that cannot be written without that.
    is_given_up = choices.unigram_unknown_without_token != "error"  # UNI-UNK-4
    return is_given_up and _best_up_to(word, costs)[-1] is None


def _join_unknown(
    word: str, ranges: list[tuple[int, int]], model: Unigram, costs: Costs, unknown_cost: float | None
) -> list[tuple[int, int]]:
    """Join unknown characters that are side by side, and the unknown token where a text spells it (UNI-UNK-3)."""
    joined: list[tuple[int, int]] = []
    was_unknown = False
    for begin, end in ranges:
        text = word[begin:end]
        is_unknown = unknown_cost is not None and (text not in costs or text == model.unknown_token)
        if is_unknown and was_unknown:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((begin, end))
        was_unknown = is_unknown
    return joined


def cost_of_unknown(model: Unigram, costs: Costs, choices: Choices) -> float:
    """Return the cost of an unknown character: more than that of any token whose probability is above 0 (UNI-UNK-3).

    Were it less, an unknown token would take the place of tokens that are there.

    >>> model = Unigram({"<unk>": -90.0, "a": -1.0}, "log_probability", unknown_token="<unk>")
    >>> [cost_of_unknown(model, token_costs(model), Choices(unigram_unknown_score=of)) for of in ("all", "known")]
    [100.0, 11.0]
    """
    if choices.unigram_unknown_score == "known":
        costs = {token: cost for token, cost in costs.items() if token != model.unknown_token}
    return UNKNOWN_PENALTY + max(filter(math.isfinite, costs.values()), default=0.0)


def _unknown(piece: AlignedText, begin: int, end: int, model: Unigram, choices: Choices) -> list[Token]:
    """Return the tokens of the bytes of unknown characters, or else what replaces them."""
    found = [byte_tokens(piece, place, model) for place in range(begin, end)]
    if all(found):  # UNI-BYTES-1, UNI-BYTES-2
        return [token for tokens in found for token in tokens]
    if model.unknown_token is None and choices.unigram_unknown_without_token == "dropped":  # UNI-UNK-4
        return []
    if model.unknown_token is None and choices.unigram_unknown_without_token == "kept":
        return [Token(piece.text[begin:end], None, *piece.span(begin, end))]
    token = unknown_token(model, piece.text[begin:end], *piece.span(begin, end))
    # A decoder that copies what it does not know needs the characters; the id says all the same that it is unknown.
    return [token if choices.unknown_token_text == "entry" else token._replace(text=piece.text[begin:end])]  # ENC-9


# Training


class _SegmentedWord(NamedTuple):
    """A word of the corpus, its count, its best segmentation, and what that costs."""

    word: str
    occurrences: int
    tokens: tuple[str, ...]
    cost: float


def _segment_words(words: Words, costs: Costs) -> list[_SegmentedWord]:
    return [_SegmentedWord(word, count, *_segment(word, costs)) for word, count in words.items()]


def corpus_loss(words: Words, model: Unigram, initial_score: float = 0.0) -> float:
    """Return the loss of a corpus (UNI-LOSS-1).

    Each word counts by its best segmentation alone, as in the documents. The algorithm as it was first published adds
    up the probabilities of all segmentations.

    Raises:
        InputError: ``no_segmentation``; ``invalid_input``, where the loss is infinite (UNI-LOSS-3).

    >>> corpus_loss({"a": 2, "aa": 1}, Unigram({"a": 3}), 1.0)
    3.0
    """
    costs = token_costs(model)
    loss = 0.0
    for word, count in words.items():
        score = initial_score + _segment(word, costs)[1]  # UNI-SCORE-2
        loss += count * score if count else 0.0  # 0 times infinity is NaN
    return _finite(loss)


def _increase(token: str, words: list[_SegmentedWord], costs: Costs) -> float:
    """Add up what each word costs more without the token; where scores start makes no difference (UNI-LOSS-2)."""
    affected = [word for word in words if token in word.tokens]
    if not affected:
        return 0.0
    without = {other: cost for other, cost in costs.items() if other != token}
    increase = 0.0
    for word, count, _, cost in affected:
        _, cost_without = _segment(word, without)
        if count and cost_without > cost:  # not where both are infinite
            increase += count * (cost_without - cost)
    return increase


def loss_increase(words: Words, model: Unigram, token: str) -> float:
    """Return what the loss grows by when a token is removed and all other probabilities stay (UNI-LOSS-2).

    Raises:
        InputError: ``invalid_input``, for a token that is not there (ERROR-2), or where the increase is infinite
            (UNI-LOSS-3); ``no_segmentation``, for a word that cannot be written without it (UNI-UNK-2).

    >>> loss_increase({"aa": 1}, Unigram({"a": 1, "aa": 1}), "aa")
    0.6931471805599453
    """
    if token not in model.ordinary:  # ERROR-2
        raise InputError("invalid_input", f"{token!r} is not in the vocabulary and cannot be removed")
    costs = token_costs(model)
    return _finite(_increase(token, _segment_words(words, costs), costs))


def loss_increases(words: Words, model: Unigram) -> dict[str, float]:
    """Return the loss increase of every token that may be removed, in the order of the vocabulary.

    >>> loss_increases({"aa": 1}, Unigram({"a": 1, "aa": 1}))
    {'aa': 0.6931471805599453}
    """
    costs = token_costs(model)
    segmented = _segment_words(words, costs)
    # Removing a token changes only the words whose best segmentation uses it: only those are segmented again. It is the
    # one shortcut of this reference; without it training would take some twenty times as long.
    users: dict[str, list[_SegmentedWord]] = {}
    for word in segmented:
        for token in set(word.tokens):
            users.setdefault(token, []).append(word)
    # Without its characters a model could not write every word any more.
    removable = [token for token in costs if len(token) != 1]  # UNI-PRUNE-1
    return {token: _increase(token, users.get(token, []), costs) for token in removable}


def prune_step(words: Words, model: Unigram, fraction: float) -> tuple[tuple[str, ...], Unigram]:
    """Remove a fraction of the tokens; return them in the order of removal, and the model that is left.

    Raises:
        InputError: ``invalid_input``, for a fraction that is not above 0 and up to 1; ``no_segmentation``.

    >>> prune_step({"aa": 1}, Unigram({"a": 1, "aa": 1}), 0.5)
    (('aa',), Unigram(weights={'a': 1}, kind='frequency', unknown_token=None, byte_fallback=False))
    """
    if not 0 < fraction <= 1:  # ERROR-3
        raise InputError("invalid_input", f"{fraction!r} is not a fraction; give a number above 0 and up to 1")
    increases = loss_increases(words, model)
    # In binary floating point, in which 0.29 of 100 tokens are 28.
    number = int(len(model.ordinary) * fraction)  # UNI-PRUNE-6
    removed = sorted(increases, key=lambda token: increases[token])[:number]  # UNI-PRUNE-2: the sort is stable
    left = {token: weight for token, weight in model.ordinary.items() if token not in removed}
    # UNI-PRUNE-3: with the tokens that are gone the sum of all frequencies is smaller, and all probabilities are larger
    return tuple(removed), replace(model, weights=left, ids=None)


def train_unigram(words: Words, initial_size: int, size: int, fraction: float) -> UnigramTraining:
    """Prune the initial vocabulary until it is no larger than wanted.

    >>> train_unigram({"aa": 1}, 2, 1, 0.5).sizes
    (2, 1)
    """
    model = initial_vocabulary(words, initial_size)
    sizes = [len(model.weights)]
    while sizes[-1] > size:  # UNI-PRUNE-4
        removed, model = prune_step(words, model, fraction)
        # What is left are characters, or the fraction of so few tokens is less than one.
        if not removed:  # UNI-PRUNE-5
            break
        sizes.append(len(model.weights))
    return UnigramTraining(model, tuple(sizes))
