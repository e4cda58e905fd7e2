"""What keeps something from one request to the next is found, and called by its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from itertools import permutations
from typing import Any

import pytest

from tokspec.adapter import Adapter, Refusal, Unsupported
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.judge.runner import Run, run
from tokspec.judge.verdicts import Verdict
from tokspec.judge.verify import STARTS, count_requests, verify_run
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.selection import select

#: The quick tests ask in one order, the slow ones in others.
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]

CASES = ["bpe-toy-encode-bug", "bpe-toy-encode-mug", "bpe-toy-encode-thug", "bpe-toy-encode-unhug"]


class Leaking(ReferenceAdapter):
    """The reference, which remembers how often it was asked."""

    asked = 0

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked += 1
        return super().run(operation, model, input)


class Forgetting(Leaking):
    """Refuses whatever comes after the second request."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        result = super().run(operation, model, input)
        if self.asked > 2:
            raise Refusal("unknown_symbol")
        return result


class Jealous(Leaking):
    """Needs to have been asked something before."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        result = super().run(operation, model, input)
        return {"tokens": ["?"]} if self.asked == 1 else result


class Complaining(ReferenceAdapter):
    """Refuses with another message every time; that is no other answer."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        raise Refusal("unknown_symbol", os.urandom(4).hex())


def cases() -> list[Case]:
    return select(load_suite().cases.values(), CASES)


def judged(adapter: Callable[[], Adapter]) -> tuple[Run, Run]:
    def start() -> InProcessSession:
        return InProcessSession(adapter())

    with start() as session:
        first = run(session, cases())
    return first, verify_run(first, start)


def outcomes(run: Run) -> list[tuple[str, str]]:
    return [(result.verdict.value, result.detail) for result in run.results]


def test_what_answers_the_same_keeps_its_verdicts() -> None:
    first, again = judged(ReferenceAdapter)
    assert again == first
    assert [result.verdict for result in again.results] == [Verdict.PASS] * 4


def test_refusals_may_say_something_else_each_time() -> None:
    first, again = judged(Complaining)
    assert again == first


def test_answers_that_depend_on_what_was_asked_before() -> None:
    first, again = judged(Forgetting)
    assert [result.verdict.value for result in first.results] == ["pass", "pass", "error", "error"]
    assert [verdict for verdict, _ in outcomes(again)] == ["state leak"] * 4
    assert outcomes(again)[2][1] == (
        'was {"refused as": "unknown_symbol"} at first, '
        'and {"tokens": ["[UNK]", "hug"], "ids": [0, 10], "spans": [[0, 1], [1, 4]], "type_id … on_mask": [1, 1], '
        '"word_ids": [0, 0], "sequence_ids": [0, 0], '
        '"overflowing": []} in the shuffled order of seed 0'
    )


def test_answers_that_are_right_only_in_company() -> None:
    first, again = judged(Jealous)
    assert [result.verdict.value for result in first.results] == ["fail", "pass", "pass", "pass"]
    assert [verdict for verdict, _ in outcomes(again)] == ["state leak"] * 4
    companies = [detail.rpartition('{"tokens": ["?"]} ')[2] for _, detail in outcomes(again)]
    assert companies[1:] == [
        "alone, in a new process",
        "in the shuffled order of seed 0",
        "in the shuffled order of seed 0, backwards",
    ]


class After(ReferenceAdapter):
    """Has another answer to some texts where others were asked before: ever, or right before."""

    def __init__(self, poisoned: str, poison: str, *, is_healed: bool = False, at_once: bool = False) -> None:
        super().__init__()
        self.poisoned, self.poison, self.is_healed, self.at_once = poisoned, poison, is_healed, at_once
        self.before: list[str] = []

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        before = self.before[-1:] if self.at_once else self.before
        is_other = input["text"] == self.poisoned and (self.poison in before) is not self.is_healed
        self.before.append(input["text"])
        return {"tokens": ["?"]} if is_other else super().run(operation, model, input)


def leaks(adapter: Callable[[], Adapter], seed: int, *patterns: str) -> tuple[list[str], int]:
    """Return the texts of which the answers leak, and how many sessions were opened to find them."""
    opened = []

    def start() -> InProcessSession:
        opened.append(InProcessSession(adapter()))
        return opened[-1]

    with start() as session:
        first = run(session, select(load_suite().cases.values(), patterns))
    found = verify_run(first, start, seed)
    return [result.case.input["text"] for result in found.results if result.verdict is Verdict.STATE_LEAK], len(
        opened
    ) - 1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("is_healed", [False, True], ids=["poisoned", "healed"])
def test_of_two_requests_each_is_asked_before_the_other(is_healed: bool, seed: int) -> None:
    cases = select(load_suite().cases.values(), ["bpe-toy-encode-*"])
    texts = list(dict.fromkeys(case.input["text"] for case in cases))
    for one, other in permutations(texts[:2]):
        found, _ = leaks(partial(After, one, other, is_healed=is_healed), seed, "bpe-toy-encode-*")
        assert found == [case.input["text"] for case in cases if case.input["text"] == one]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_answer_that_depends_on_the_request_right_before(seed: int) -> None:
    texts = [case.input["text"] for case in select(load_suite().cases.values(), ["bpe-toy-encode-*"])]
    found, _ = leaks(lambda: After(texts[1], texts[0], at_once=True), seed, "bpe-toy-encode-*")
    assert found == [texts[1]]


class Picky(ReferenceAdapter):
    """Answers nothing but one text."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        if input["text"] != "bug":
            raise Unsupported("no bug")
        return super().run(operation, model, input)


@pytest.mark.slow
def test_what_is_unsupported_needs_no_start_of_its_own() -> None:
    assert leaks(Picky, 0, "bpe-toy-encode-*") == ([], 3)
    found, opened = leaks(ReferenceAdapter, 0, "bpe-encode-*")
    assert (found, opened) == ([], 2 + STARTS)


def test_progress_comes_to_what_was_counted() -> None:
    with InProcessSession(Picky()) as session:
        first = run(session, cases())
    done: list[int] = []
    verify_run(first, lambda: InProcessSession(Picky()), progress=done.append)
    assert (sum(done), count_requests(first)) == (13, 13)
