"""Unigram by brute force: all segmentations of a word, compared as exact fractions; pruning likewise.

A probability is a fraction of frequencies, or, where weights are logarithms, an exact sum of them as they are written.
An unknown character costs ten more than the least probable token: such factors of e^-10 are counted beside the fraction.
Pruning compares increases of the loss as products of fractions, and looks again only at words that hold the token.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

from stages import Model, NotCovered, Refused, Tokens, check_numbers, count_words, encode

CHOICES = {
    "encode": ("unigram_tie", "unigram_unknown", "unigram_unknown_score", "unigram_unknown_without_token"),
    "viterbi": ("unigram_tie",),
    "segment": ("unigram_tie",),
}


def logarithm(value: Fraction) -> float:
    """Natural logarithm of a fraction, from 60 digits; minus infinity of 0."""
    if value == 0:
        return -math.inf
    with localcontext() as context:
        context.prec = 60
        return float(Decimal(value.numerator).ln() - Decimal(value.denominator).ln())


@dataclass(frozen=True)
class Probability:
    """A product of tokens' probabilities, compared exactly."""

    factor: Fraction = Fraction(1)  # of frequencies
    exponent: Fraction = Fraction(0)  # sum of weights that are logarithms, and of -10 for each unknown character

    def __mul__(self, other: Probability) -> Probability:
        return Probability(self.factor * other.factor, self.exponent + other.exponent)

    @cached_property
    def log(self) -> float:
        return logarithm(self.factor) + float(self.exponent)

    def __gt__(self, other: Probability) -> bool:
        if self.exponent == other.exponent or 0 in (self.factor, other.factor):
            return self.factor > other.factor
        if self.factor == other.factor:
            return self.exponent > other.exponent
        assert abs(self.log - other.log) > 1e-9, "too close for a logarithm to decide"
        return self.log > other.log


class Vocabulary:
    """Tokens with their weights; frequencies make probabilities of themselves and their sum."""

    def __init__(self, entries: Sequence[tuple[str, float]], logarithms: bool) -> None:
        is_negative = not logarithms and any(weight < 0 for _, weight in entries)
        if is_negative or len({token for token, _ in entries}) != len(entries):
            raise Refused("invalid_model")
        if not logarithms and any(weight < 0 for _, weight in entries):
            raise Refused("invalid_model")  # UNI-MODEL-3
        self.entries = list(entries)
        self.logarithms = logarithms
        total = sum(Fraction(str(weight)) for _, weight in entries)
        self.probability = {
            token: Probability(exponent=Fraction(str(weight)))
            if logarithms
            else Probability(Fraction(str(weight)) / total if total else Fraction(0))
            for token, weight in entries
        }

    def segmentations(self, word: str, without: str | None = None) -> Iterator[list[str]]:
        """All of them, the shorter first token first."""
        if len(word) > 60:
            raise NotCovered("a word too long for naive loops")
        if not word:
            yield []
        for end in range(1, len(word) + 1):
            if word[:end] in self.probability and word[:end] != without:
                for rest in self.segmentations(word[end:], without):
                    yield [word[:end], *rest]

    def product(self, tokens: Sequence[str]) -> Probability:
        value = Probability()
        for token in tokens:
            value = value * self.probability[token]
        return value

    def best(self, word: str) -> list[list[str]]:
        """Every segmentation of the highest probability, in the order of `segmentations`."""
        ranked = [(self.product(tokens), tokens) for tokens in self.segmentations(word)]
        return [tokens for value, tokens in ranked if not any(other > value for other, _ in ranked)]

    def highest(self, word: str, without: str | None = None) -> Probability:
        """Probability of the best segmentation, position by position, for words too long to list all.

        Raises:
            Refused: if there is none.
        """
        best: list[Probability | None] = [Probability(), *[None] * len(word)]
        for end in range(1, len(word) + 1):
            for start in range(end):
                token, before = word[start:end], best[start]
                if before is None or token not in self.probability or token == without:
                    continue
                value, found = before * self.probability[token], best[end]
                if found is None or value > found:
                    best[end] = value
        last = best[-1]
        if last is None:
            raise Refused("no_segmentation")
        return last


def nbest(vocabulary: Vocabulary, word: str, size: int) -> list[list[str]]:
    """The most probable segmentation, then the next, as long as no two are equally probable."""
    if size < 0:
        raise Refused("invalid_input")  # UNI-NBEST-3
    if size == 0:
        return []
    left = list(vocabulary.segmentations(word))
    if not left:
        raise Refused("no_segmentation")
    found: list[list[str]] = []
    while left and len(found) < size:
        best = [tokens for tokens in left if not any(vocabulary.product(o) > vocabulary.product(tokens) for o in left)]
        if len(best) > 1:
            raise NotCovered("segmentations in either order")
        found += best
        left.remove(best[0])
    return found


def earliest_start(candidates: Sequence[list[str]]) -> list[str]:
    """Of equal segmentations, the one whose last token starts first, and so on towards the front."""
    return max(candidates, key=lambda tokens: [len(token) for token in reversed(tokens)])


def by_tie(candidates: list[list[str]], choices: Mapping[str, str]) -> list[list[str]]:
    return [earliest_start(candidates)] if candidates and choices["unigram_tie"] == "earliest_start" else candidates


def placed(tokens: Sequence[str], spelled: Sequence[str]) -> Tokens:
    found, at = [], 0
    for token, text in zip(tokens, spelled, strict=True):
        found.append((token, at, at + len(text)))
        at += len(text)
    return found


def encode_piece(model: Model, vocabulary: Vocabulary, choices: Mapping[str, str], piece: str) -> list[Tokens]:
    unknown = model.get("unknown_token")
    known = vocabulary.probability
    if choices["unigram_unknown"] == "piece" or unknown is None or unknown not in known:
        best = by_tie(vocabulary.best(piece), choices) if any(True for _ in vocabulary.segmentations(piece)) else []
        if best:
            return [placed(tokens, tokens) for tokens in best]
        way = choices["unigram_unknown_without_token"]
        if unknown is None and way != "error":
            return without_unknown_token(vocabulary, choices, piece, way)
        if unknown is None or unknown not in known:
            raise Refused("unknown_symbol")
        return [[(unknown, 0, len(piece))]]
    return encode_run(vocabulary, choices, piece, unknown)


def without_unknown_token(vocabulary: Vocabulary, choices: Mapping[str, str], piece: str, way: str) -> list[Tokens]:
    """Put an unknown token that no text spells, and then take it out or put the characters for it."""
    nothing = "\0"
    whole: list[Tokens] = [[(nothing, 0, len(piece))]]
    found = whole if choices["unigram_unknown"] == "piece" else encode_run(vocabulary, choices, piece, nothing)
    shown = [[(piece[a:b] if token == nothing else token, a, b) for token, a, b in tokens] for tokens in found]
    if way == "kept":
        return shown
    return [[token for token in tokens if token[0] in vocabulary.probability] for tokens in shown]


def encode_run(vocabulary: Vocabulary, choices: Mapping[str, str], piece: str, unknown: str) -> list[Tokens]:
    known = vocabulary.probability
    least = None
    for token, value in known.items():
        if token == unknown and choices["unigram_unknown_score"] == "known":
            continue
        if value.factor > 0 and (least is None or least > value):
            least = value
    if least is None:
        raise NotCovered("an unknown character where every probability is 0")
    cost = least * Probability(exponent=Fraction(-10))
    extended = Vocabulary(vocabulary.entries, vocabulary.logarithms)
    extended.probability.update({character: cost for character in piece if character not in known})
    results: list[Tokens] = []
    for tokens in by_tie(extended.best(piece), choices):
        run: Tokens = []
        for token, start, end in placed(tokens, tokens):
            if token in known and token != unknown:
                run.append((token, start, end))
            elif run and run[-1][0] == unknown:
                run[-1] = (unknown, run[-1][1], end)
            else:
                run.append((unknown, start, end))
        if run not in results:
            results.append(run)
    return results


def substrings(words: Mapping[str, int], shortest: int, strict: bool) -> dict[str, int]:
    """Frequencies of substrings in the order first met: by word, then start, then end."""
    counts: dict[str, int] = {}
    for word in words:
        for start in range(len(word)):
            for end in range(start + shortest, len(word) + 1):
                counts.setdefault(word[start:end], 0)
    for substring in counts:
        counts[substring] = sum(
            count for word, count in words.items() for i in range(len(word)) if word.startswith(substring, i)
        )
    if strict:
        return {s: n for s, n in counts.items() if any(s in word and len(s) < len(word) for word in words)}
    return counts


def ranked(words: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(substrings(words, 2, False).items(), key=lambda item: -item[1])  # stable: of equals the first met


def initial(words: Mapping[str, int], size: int) -> list[tuple[str, float]]:
    characters = {s: n for s, n in substrings(words, 1, False).items() if len(s) == 1}
    return [*characters.items(), *ranked(words)[: max(0, size - len(characters))]]


class Increases:
    """What the loss of a corpus rises by without each token, as exact products of ratios."""

    def __init__(self, vocabulary: Vocabulary, words: Mapping[str, int]) -> None:
        self.vocabulary, self.words = vocabulary, words
        self.before = {word: vocabulary.highest(word) for word in words}

    def of(self, token: str) -> Probability:
        value = Probability()
        for word, count in self.words.items():
            if token not in word:
                continue
            after, before = self.vocabulary.highest(word, token), self.before[word]
            if after == before:
                continue
            if after.factor == 0 and count:
                raise Refused("invalid_input")  # UNI-LOSS-3
            if count > 10**6:
                raise NotCovered("a power too large to write out")
            factor = (before.factor / after.factor) ** count
            value = value * Probability(factor, (before.exponent - after.exponent) * count)
        return value


def prune(vocabulary: Vocabulary, words: Mapping[str, int], fraction: float) -> list[str]:
    increases = Increases(vocabulary, words)
    rising = [(token, increases.of(token)) for token, _ in vocabulary.entries if len(token) != 1]
    number = math.floor(fraction * len(vocabulary.entries))  # UNI-PRUNE-6: in floating point
    removed: list[str] = []
    for _ in range(min(number, len(rising))):
        least = rising[0]
        for one in rising[1:]:
            if least[1] > one[1]:
                least = one
        rising.remove(least)
        removed.append(least[0])
    return removed


def train(words: Mapping[str, int], request: Mapping[str, Any]) -> tuple[list[tuple[str, float]], list[int]]:
    entries = initial(words, request["initial_size"])
    sizes = [len(entries)]
    while len(entries) > request["vocabulary_size"]:
        removed = prune(Vocabulary(entries, False), words, request["fraction"])
        if not removed:
            break
        entries = [entry for entry in entries if entry[0] not in removed]
        sizes.append(len(entries))
    return entries, sizes


def finite(number: float) -> float:
    """Return the number.

    Raises:
        Refused: where it is infinite (UNI-LOSS-3).
    """
    if math.isinf(number):
        raise Refused("invalid_input")
    return number


def refuse_overflow(vocabulary: Vocabulary, tokens: Sequence[str]) -> None:
    """Refuse a product that overflows on its way, multiplied from left to right (UNI-LOSS-3)."""
    reached = 1.0
    for token in tokens:
        reached *= float_of(vocabulary.probability[token])
        if math.isinf(reached):
            raise Refused("invalid_input")


def float_of(value: Probability) -> float:
    """A floating-point number.

    Raises:
        Refused: where it is too large (UNI-LOSS-3).
    """
    try:
        return float(value.factor) if value.exponent == 0 else math.exp(value.log)
    except OverflowError:
        raise Refused("invalid_input") from None


def recompute(operation: str, model: Model, request: Mapping[str, Any], choices: Mapping[str, str]) -> list[Any]:
    """All right results.

    Raises:
        Refused: where the specification refuses.
        NotCovered: for another operation, or what is beyond exact fractions.
    """
    check_numbers(operation, request)
    words = count_words(model, request["corpus"]) if "corpus" in request else {}
    if operation == "count_words":
        return [{"words": [list(item) for item in words.items()]}]
    if operation == "substring_frequencies":
        frequencies = substrings(words, 1, True)
        return [{"frequencies": frequencies, "total": sum(frequencies.values())}]
    if operation == "ranked_substrings":
        found = [list(item) for item in ranked(words)]
        return [{"substrings": found[: request.get("first")], "count": len(found)}]
    if operation == "initial_vocabulary":
        tokens = initial(words, request["initial_size"])
        shown = [list(item) for item in tokens][: request.get("first")]
        return [{"tokens": shown, "total": sum(weight for _, weight in tokens)}]
    if operation in ("train", "training_trace"):
        entries, sizes = train(words, request)
        return [{"tokens": [list(entry) for entry in entries]} if operation == "train" else {"sizes": sizes}]
    vocabulary = Vocabulary([tuple(entry) for entry in model["tokens"]], model.get("weights") == "log_probability")
    start = request.get("initial_score", 0)
    if operation == "encode":
        return encoded(model, vocabulary, request["text"], choices)
    if operation == "token_probabilities":
        return [{"probabilities": {token: float_of(value) for token, value in vocabulary.probability.items()}}]
    if operation == "segmentations":
        for tokens in vocabulary.segmentations(request["word"]):
            refuse_overflow(vocabulary, tokens)
        all_ = [[tokens, float_of(vocabulary.product(tokens))] for tokens in vocabulary.segmentations(request["word"])]
        return [{"segmentations": all_}]
    if operation == "nbest":
        return [{"segmentations": nbest(vocabulary, request["word"], request["nbest_size"])}]
    if operation == "viterbi":
        return viterbi(vocabulary, request["word"], choices)
    if operation == "segment":
        if not any(True for _ in vocabulary.segmentations(request["word"])):
            raise Refused("no_segmentation")
        best = by_tie(vocabulary.best(request["word"]), choices)
        return [{"tokens": tokens, "score": finite(start - vocabulary.product(tokens).log)} for tokens in best]
    if operation == "loss":
        scores = {word: start - vocabulary.highest(word).log for word in words}
        return [{"loss": finite(sum(count * scores[word] for word, count in words.items() if count))}]
    if operation == "loss_increase":
        if request["token"] not in vocabulary.probability:
            raise Refused("invalid_input")
        return [{"increase": Increases(vocabulary, words).of(request["token"]).log}]
    if operation == "prune_step":
        removed = prune(vocabulary, words, request["fraction"])
        return [{"removed": removed, "size": len(vocabulary.entries) - len(removed)}]
    raise NotCovered(operation)


def encoded(model: Model, vocabulary: Vocabulary, text: str, choices: Mapping[str, str]) -> list[Any]:
    """Every combination of best segmentations of the pieces, each tried by its number."""
    sizes: list[int] = []

    def nth(numbers: Sequence[int]) -> Any:
        at = iter(numbers)

        def one(piece: str) -> Tokens:
            candidates = encode_piece(model, vocabulary, choices, piece)
            sizes.append(len(candidates))
            return candidates[next(at, 0)]

        return encode(model, [token for token, _ in vocabulary.entries], text, one)

    first = nth([])
    counts = list(sizes)
    return [first, *map(nth, list(product(*map(range, counts)))[1:])]


def viterbi(vocabulary: Vocabulary, word: str, choices: Mapping[str, str]) -> list[Any]:
    """The table; of tied segmentations of one end position all are right, in every combination of one such place."""
    rows: list[list[Any]] = []
    for end in range(1, len(word) + 1):
        best = by_tie(vocabulary.best(word[:end]), choices)
        rows.append([[tokens, float_of(vocabulary.product(tokens))] for tokens in best] or [None])
    tables: list[list[Any]] = [[]]
    for row in rows:
        tables = [[*table, entry] for table in tables for entry in row]
    return [{"table": table} for table in tables]
