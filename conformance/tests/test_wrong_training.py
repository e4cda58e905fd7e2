"""Deliberately wrong trainers, each with one wrong rule: the run fails, and names the clauses of that rule.

Merges are learned by a trainer of its own, as slow and as plain as can be, with a place for each rule: with all of them
right it passes. Unigram training is the reference's with one function exchanged.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest

import tokref
from tokref import Bpe, Choices, Tokenizer, Unigram, WordPiece, Words
from tokspec.adapter import Hello, Refusal, Unsupported
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.judge.runner import Run, run
from tokspec.judge.verdicts import Verdict
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.fixtures import load_suite
from tokspec.suite.selection import select
from tokspec.suite.specification import load_specification

pytestmark = pytest.mark.slow

CASES = load_suite().cases
SPECIFICATION = load_specification()

#: More merges than any case learns: some wrong rules find one to make for ever.
ENDLESS = 300

Pair = tuple[str, str]
Split = tuple[list[str], int]


def characters(word: str, prefix: str) -> list[str]:
    return [prefix + character if place else character for place, character in enumerate(word)]


def replaced(tokens: list[str], pair: Pair, merged: str) -> list[str]:
    result: list[str] = []
    for token in tokens:
        if result and result[-1:] != [merged] and (result[-1], token) == pair:
            result[-1] = merged
        else:
            result.append(token)
    return result


@dataclass(frozen=True)
class Rules:
    """The rules of training by merges; ``prefix`` is empty for BPE."""

    split: Callable[[str, str], list[str]] = characters
    sort: Callable[[Iterable[str]], Iterable[str]] = sorted
    start: Callable[[list[str], list[str]], list[str]] = lambda special, alphabet: special + alphabet
    lines: Callable[[list[Split]], list[Split]] = lambda splits: splits
    pairs: Callable[[list[str]], Iterable[Pair]] = pairwise
    weight: Callable[[int], int] = int
    total: Callable[[int], int] = int
    score: Callable[[int, int, int], float] = lambda count, left, right: count / (left * right)
    order: Callable[[float], float] = operator.neg
    first: Callable[[int], int] = int
    merged: Callable[[str, str, str], str] = lambda left, right, prefix: left + right.removeprefix(prefix)
    replaced: Callable[[list[str], Pair, str], list[str]] = replaced
    append: Callable[[str, list[str]], bool] = lambda token, vocabulary: token not in vocabulary
    enough: Callable[[float, float], bool] = operator.ge
    frequent: Callable[[int, int], bool] = operator.ge
    result: Callable[[list[str], float], list[str]] = lambda vocabulary, size: vocabulary
    words: Callable[[Tokenizer], Tokenizer] = lambda tokenizer: tokenizer


class Trainer(ReferenceAdapter):
    """Learns merges, by rules; the reference reads models and corpora."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self.rules = rules

    def hello(self) -> Hello:
        return replace(super().hello(), operations=tuple(ANSWERS))

    def run(self, operation: str, model: Tokenizer, input: Mapping[str, Any]) -> Mapping[str, Any]:
        if not isinstance(model.model, Bpe | WordPiece):
            raise Unsupported("learns merges")
        words = tokref.read_words(input["corpus"], self.rules.words(model), Choices())
        prefix = model.model.continuing_prefix if isinstance(model.model, WordPiece) else ""
        return ANSWERS[operation](Training(self.rules, words, list(model.special_tokens), prefix, input))


class Training:
    """One training, as far as it is asked for."""

    def __init__(self, rules: Rules, words: Words, special: list[str], prefix: str, input: Mapping[str, Any]) -> None:
        self.rules, self.prefix, self.input = rules, prefix, input
        self.least = input.get("min_frequency", 1)
        self.splits = [(rules.split(word, prefix), count) for word, count in words.items()]
        alphabet = rules.sort(dict.fromkeys(token for tokens, _ in self.splits for token in tokens))
        self.vocabulary, self.merges = list(dict.fromkeys(rules.start(special, list(alphabet)))), list[Pair]()
        if input.get("steps", 0) < 0:
            raise Refusal("invalid_input", "negative steps")
        trained = "vocabulary_size" in input or "merge_count" in input
        self.size = input.get("vocabulary_size", math.inf)
        number = input.get("merge_count", ENDLESS if trained else input.get("steps", 0))
        while not rules.enough(len(self.vocabulary), self.size) and len(self.merges) < number and self.merged():
            pass

    def merged(self) -> bool:
        """Make the next merge, if there is one."""
        best, rules = self.best(), self.rules
        if best is None or not (self.prefix or rules.frequent(best[1], self.least)):
            return False
        merged = rules.merged(*best[0], self.prefix)
        self.merges.append(best[0])
        self.vocabulary += [merged] * rules.append(merged, self.vocabulary)
        self.splits = [(rules.replaced(tokens, best[0], merged), count) for tokens, count in self.splits]
        return True

    def best(self) -> tuple[Pair, Any] | None:
        values = self.values()
        met = {pair: place for place, pair in enumerate(values)}
        best = min(values, key=lambda pair: (self.rules.order(values[pair]), self.rules.first(met[pair])), default=None)
        return None if best is None else (best, values[best])

    def values(self) -> dict[Pair, Any]:
        """Give the count or the score of every pair."""
        rules, tokens, pairs = self.rules, dict[str, int](), dict[Pair, int]()
        for split, count in rules.lines(self.splits):
            for token in split:
                tokens[token] = tokens.get(token, 0) + rules.weight(count)
            for pair in rules.pairs(split):
                pairs[pair] = rules.total(pairs.get(pair, 0) + rules.weight(count))
        if not self.prefix:
            return dict(pairs)
        return {
            (left, right): rules.score(count, tokens[left], tokens[right]) if count else 0.0
            for (left, right), count in pairs.items()
        }


def trained(training: Training) -> dict[str, Any]:
    vocabulary = training.rules.result(training.vocabulary, training.size)
    return {"vocabulary": vocabulary} if training.prefix else {"vocabulary": vocabulary, "merges": training.merges}


def best_pair(training: Training) -> dict[str, Any]:
    best = training.best()
    if best is None:
        raise Refusal("invalid_input", "no pair is left")
    return {"pair": best[0], "score" if training.prefix else "count": best[1]}


def pairs(training: Training) -> dict[str, Any]:
    return {"pairs": [[*pair, value] for pair, value in training.values().items()][: training.input.get("first")]}


ANSWERS: Mapping[str, Callable[[Training], dict[str, Any]]] = {
    "train": trained,
    "base_vocabulary": lambda training: {"vocabulary": training.vocabulary},
    "training_state": lambda training: {"vocabulary": training.vocabulary, "words": training.splits},
    "pair_frequencies": pairs,
    "pair_scores": pairs,
    "best_pair": best_pair,
}


# Wrong rules


def apart(tokens: list[str]) -> Iterable[Pair]:
    """Give pairs that do not overlap with the same pair before."""
    last: tuple[int, Pair | None] = (-2, None)
    for place, pair in enumerate(pairwise(tokens)):
        if (place - 1, pair) != last:
            last = place, pair
            yield pair


def in_one_line(splits: list[Split]) -> list[Split]:
    return [([token for tokens, _ in splits for token in tokens], 1)]


def once(tokens: list[str], pair: Pair, merged: str) -> list[str]:
    places = [place for place, other in enumerate(pairwise(tokens)) if other == pair]
    return [*tokens[: places[0]], merged, *tokens[places[0] + 2 :]] if places else tokens


def wrapped(count: int) -> int:
    return (count + 2**31) % 2**32 - 2**31


def cut(vocabulary: list[str], size: float) -> list[str]:
    return vocabulary if size == math.inf else vocabulary[: int(size)]


WRONG = [
    (
        "BPE-TRAIN-1",
        "BPE-TRAIN-1",
        "texts that are not normalized",
        Rules(words=lambda model: replace(model, normalizer=None)),
    ),
    (
        "BPE-TRAIN-1",
        "BPE-TRAIN-1",
        "texts that are not cut",
        Rules(words=lambda model: replace(model, pre_tokenizer=None)),
    ),
    ("BPE-TRAIN-2", "BPE-TRAIN-2", "an alphabet as it is met", Rules(sort=list)),
    (
        "BPE-TRAIN-3",
        "BPE-TRAIN-2 BPE-TRAIN-3",
        "special tokens at the end",
        Rules(start=lambda special, alphabet: alphabet + special),
    ),
    (
        "BPE-TRAIN-3",
        "BPE-TRAIN-2 BPE-TRAIN-3",
        "special tokens that are forgotten",
        Rules(start=lambda special, alphabet: alphabet),
    ),
    ("BPE-TRAIN-5", "BPE-TRAIN-5", "overlapping places counted once", Rules(pairs=apart)),
    ("BPE-TRAIN-5", "BPE-TRAIN-5 BPE-TRAIN-9", "words counted once", Rules(weight=lambda count: 1)),
    ("BPE-TRAIN-6", "BPE-TRAIN-6", "pairs across words", Rules(lines=in_one_line)),
    ("BPE-TRAIN-7", "BPE-TRAIN-5 BPE-TRAIN-7", "the rarest pair first", Rules(order=float)),
    ("BPE-TRAIN-8", "BPE-TRAIN-8 BPE-TRAIN-11", "the last of equal pairs", Rules(first=operator.neg)),
    ("BPE-TRAIN-9", "BPE-TRAIN-9", "one place of a pair in a word", Rules(replaced=once)),
    ("BPE-TRAIN-10", "BPE-TRAIN-10", "the same token twice", Rules(append=lambda token, vocabulary: True)),
    ("BPE-TRAIN-11", "BPE-TRAIN-8 BPE-TRAIN-11", "one token too many", Rules(enough=operator.gt)),
    ("BPE-TRAIN-11", "BPE-TRAIN-11", "a lowest count that does not suffice", Rules(frequent=operator.gt)),
    ("BPE-TRAIN-11", "BPE-TRAIN-11", "a lowest count that is ignored", Rules(frequent=lambda count, least: True)),
    ("BPE-TRAIN-12", "BPE-TRAIN-12", "a vocabulary that is cut to its target", Rules(result=cut)),
    ("BPE-TRAIN-13", "BPE-TRAIN-13", "counts of 32 bits", Rules(total=wrapped)),
    ("WP-TRAIN-1", "WP-TRAIN-1", "an alphabet without prefixes", Rules(split=lambda word, prefix: list(word))),
    ("WP-TRAIN-2", "BPE-TRAIN-1 WP-TRAIN-1 WP-TRAIN-2", "an alphabet as it is met", Rules(sort=list)),
    ("WP-TRAIN-3", "WP-TRAIN-3", "scores that are counts", Rules(score=lambda count, left, right: count)),
    (
        "WP-TRAIN-3",
        "WP-TRAIN-3",
        "scores divided by the sum",
        Rules(score=lambda count, left, right: count / (left + right)),
    ),
    ("WP-TRAIN-3", "WP-TRAIN-3", "words counted once", Rules(weight=lambda count: 1)),
    ("WP-TRAIN-4", "WP-TRAIN-3 WP-TRAIN-4", "the last of equal pairs", Rules(first=operator.neg)),
    (
        "WP-TRAIN-5",
        "WP-TRAIN-1 WP-TRAIN-4 WP-TRAIN-5 WP-TRAIN-6",
        "prefixes inside of tokens",
        Rules(merged=lambda left, right, prefix: left + right),
    ),
    ("WP-TRAIN-6", "WP-TRAIN-6", "the same token twice", Rules(append=lambda token, vocabulary: True)),
    ("WP-TRAIN-7", "WP-TRAIN-3 WP-TRAIN-5 WP-TRAIN-7", "one token too many", Rules(enough=operator.gt)),
]


# Unigram: exchanged functions of the reference

INCREASES, PRUNE = tokref.loss_increases, tokref.prune_step


def last_of_equals(words: Words, model: Unigram, choices: Choices) -> dict[str, float]:
    return dict(reversed(INCREASES(words, model, choices).items()))


def unweighted(words: Words, model: Unigram, choices: Choices) -> float:
    return sum(tokref.segment(word, model, choices).value for word in words)


def renormalized(words: Words, model: Unigram, token: str, choices: Choices) -> float:
    """Compute the probabilities anew without the token."""
    kept = [row for row in zip(model.vocabulary, model.weights, strict=True) if row[0] != token]
    left = replace(model, vocabulary=tuple(row[0] for row in kept), weights=tuple(row[1] for row in kept))
    return tokref.corpus_loss(words, left, choices) - tokref.corpus_loss(words, model, choices)


def rounding_up(words: Words, model: Unigram, fraction: float, choices: Choices) -> Any:
    size = len(model.vocabulary)
    return PRUNE(words, model, min(1.0, (math.ceil(size * fraction) + 0.5) / size), choices)


def keeping(words: Words, model: Unigram, fraction: float, choices: Choices) -> Any:
    """Keep the probabilities, with the weights that belong to them."""
    removed, left = PRUNE(words, model, fraction, choices)
    return removed, Kept(
        left.vocabulary, left.unknown_token, left.weights, left.kind, getattr(model, "sum", model.total)
    )


@dataclass(frozen=True)
class Kept(Unigram):
    """A model that remembers a total."""

    sum: float = 0.0

    @property
    def total(self) -> float:  # type: ignore[override]
        return self.sum


def by_text(words: Words) -> list[tuple[str, int]]:
    return sorted(RANKED(words), key=lambda row: (-row[1], row[0]))


def shorter_words_alone(words: Words) -> dict[str, int]:
    """Count a substring only where it is shorter than the word."""
    found: dict[str, int] = {}
    for word, count in words.items():
        for start in range(len(word)):
            for end in range(start + 1, len(word) + (start > 0)):
                found[word[start:end]] = found.get(word[start:end], 0) + count
    return found


RANKED = tokref.ranked_substrings

UNIGRAM = "tokref.unigram_training"

WRONG_UNIGRAM: list[tuple[str, str, str, Mapping[str, Any]]] = [
    ("clause:UNI-INIT-*", "UNI-INIT-3 UNI-INIT-4", "equal substrings by their text", {"tokref.ranked_substrings": by_text, "tokref.unigram_vocabulary.ranked_substrings": by_text}),
    ("clause:UNI-INIT-*", "UNI-INIT-1 UNI-INIT-2", "whole words not counted", {"tokref.strict_substrings": shorter_words_alone}),
    ("loss", "UNI-UNK-2 UNI-LOSS-1", "a loss of words counted once", {"tokref.corpus_loss": unweighted}),
    ("loss_increase", "UNI-UNK-2 UNI-LOSS-2 ERROR-2", "probabilities anew for each token", {"tokref.loss_increase": renormalized}),
    ("clause:UNI-PRUNE-*", "UNI-PRUNE-1 UNI-PRUNE-2", "the last of equal tokens", {f"{UNIGRAM}.loss_increases": last_of_equals}),
    ("clause:UNI-PRUNE-*", "UNI-PRUNE-1 UNI-PRUNE-2 UNI-PRUNE-3 UNI-PRUNE-4 UNI-PRUNE-5", "a number rounded up", {"tokref.prune_step": rounding_up, f"{UNIGRAM}.prune_step": rounding_up}),
    ("clause:UNI-PRUNE-*", "UNI-PRUNE-3", "probabilities that stay", {"tokref.prune_step": keeping, f"{UNIGRAM}.prune_step": keeping}),
]  # fmt: skip


def judged(adapter: ReferenceAdapter, *patterns: str) -> Run:
    with InProcessSession(adapter) as session:
        return run(session, select(CASES.values(), patterns))


def blamed(finished: Run) -> set[str]:
    """Name the clauses that the failing cases are about."""
    return {result.case.clauses[0] for result in finished.results if not result.verdict.conforms}


@pytest.mark.parametrize(("asked", "clauses", "name", "rules"), WRONG, ids=[f"{row[0]} {row[2]}" for row in WRONG])
def test_one_wrong_rule_is_found_and_named(asked: str, clauses: str, name: str, rules: Rules) -> None:
    finished = judged(Trainer(rules), f"clause:{asked}")
    assert not finished.conforms
    assert set(clauses.split()) <= blamed(finished)


@pytest.mark.parametrize(
    ("asked", "clauses", "name", "exchanged"), WRONG_UNIGRAM, ids=[row[2] for row in WRONG_UNIGRAM]
)
def test_one_wrong_function_is_found_and_named(
    asked: str, clauses: str, name: str, exchanged: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, function in exchanged.items():
        monkeypatch.setattr(place, function)
    finished = judged(ReferenceAdapter(), asked)
    assert not finished.conforms
    assert set(clauses.split()) <= blamed(finished)


def test_the_right_rules_pass() -> None:
    asked = [case for case in CASES.values() if case.operation in ANSWERS and case.model.content["type"] != "unigram"]
    with InProcessSession(Trainer(Rules())) as session:
        finished = run(session, asked)
    assert [(result.case.id, result.detail) for result in finished.results if result.verdict is not Verdict.PASS] == []
    assert len(asked) > 90
