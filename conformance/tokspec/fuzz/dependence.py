"""The choices on which an answer depends: a saved finding is right for every implementation, not only for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate, islice, pairwise
from typing import Any

from tokspec.fuzz.example import Example
from tokspec.fuzz.optimal import Costs, costs_of
from tokspec.suite.specification import load_specification

__all__ = ["by_choice", "with_ties"]

Outcome = Mapping[str, Any]


def by_choice(outcome: Callable[[Mapping[str, str]], Outcome], declared: Mapping[str, str]) -> Outcome:
    """Return the outcome under the declared choices, or under every option of those on which it depends.

    ``outcome`` gives it for options of all choices. A choice matters if another option of it alone changes the outcome;
    those that matter are then taken together.

    >>> text = {"skipped": "", "error": "?"}
    >>> by_choice(lambda choices: {"expect": {"text": text[choices["unknown_id"]]}}, {"unknown_id": "error"})
    ... # doctest: +NORMALIZE_WHITESPACE
    {'by_choice': {'unknown_id': {'error': {'expect': {'text': '?'}}, 'skipped': {'expect': {'text': ''}}}}}
    """
    choices = load_specification().choices
    right = outcome(declared)
    matter = [
        name
        for name in declared
        if name != "offset_unit"
        and any(outcome({**declared, name: option}) != right for option in choices[name].options)
    ]
    return _nested(outcome, dict(declared), matter)


def _nested(outcome: Callable[[Mapping[str, str]], Outcome], declared: Mapping[str, str], matter: list[str]) -> Outcome:
    if not matter:
        return outcome(declared)
    name, *others = matter
    options = load_specification().choices[name].options
    return {"by_choice": {name: {option: _nested(outcome, {**declared, name: option}, others) for option in options}}}


#: Segmentations that are listed beside one another; an outcome with more is no case for a person, and stays as it is.
_MOST = 32


def with_ties(outcome: Outcome, example: Example) -> Outcome:
    """Return an outcome in which all equally probable segmentations are right where the choice ``unigram_tie`` is any.

    >>> tokens = [["a", -1.0], ["b", -1.0], ["ab", -2.0]]
    >>> model = {"type": "unigram", "tokens": tokens, "weights": "log_probability"}
    >>> tied = with_ties({"expect": {"tokens": ["ab"], "score": 3.0}}, Example(model, "segment", {"word": "ab"}))
    >>> tied["by_choice"]["unigram_tie"]["any"]
    {'one_of': [{'tokens': ['a', 'b'], 'score': 3.0}, {'tokens': ['ab'], 'score': 3.0}]}
    """
    model, word = example.model, example.input.get("word", example.input.get("text", ""))
    is_whole = example.operation == "segment" or not model.keys() & {"normalizer", "pre_tokenizer", "special_tokens"}
    if model.get("type") != "unigram" or example.operation not in ("segment", "encode") or not is_whole:
        return outcome
    costs = costs_of(model)
    tied = list(islice((tokens for tokens in _written(word, costs) if costs.is_best(word, tokens)), _MOST + 1))
    return _with_ties(outcome, tied, list(costs.costs)) if 1 < len(tied) <= _MOST else outcome


def _with_ties(outcome: Outcome, tied: list[list[str]], vocabulary: list[str]) -> Outcome:
    if "by_choice" in outcome:
        ((name, options),) = outcome["by_choice"].items()
        inner = {option: _with_ties(value, tied, vocabulary) for option, value in options.items()}
        return {"by_choice": {name: inner}}
    expected = outcome.get("expect", {})
    if expected.get("tokens") not in tied:
        return outcome
    every = [_as(expected, tokens, vocabulary) for tokens in tied]
    return {"by_choice": {"unigram_tie": {"any": {"one_of": every}, "earliest_start": outcome}}}


def _as(expected: Mapping[str, Any], tokens: list[str], vocabulary: list[str]) -> dict[str, Any]:
    """Write a segmentation in the form of an expected result."""
    ends = [0, *accumulate(map(len, tokens))]
    forms = {
        "tokens": tokens,
        "ids": [vocabulary.index(token) for token in tokens],
        "spans": [list(span) for span in pairwise(ends)],
    }
    return {key: forms.get(key, value) for key, value in expected.items()}


def _written(word: str, costs: Costs, start: int = 0) -> Iterator[list[str]]:
    """Return every way to write the rest of a word."""
    if start == len(word):
        yield []
    for end in range(start + 1, len(word) + 1):
        if word[start:end] in costs.costs:
            yield from ([word[start:end], *rest] for rest in _written(word, costs, end))
