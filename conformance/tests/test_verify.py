"""What keeps something from one request to the next is found, and called by its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from tokspec.adapter import Adapter, Refusal
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.judge.runner import Run, run
from tokspec.judge.verdicts import Verdict
from tokspec.judge.verify import verify_run
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.selection import select

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
        '"overflowing": []} in shuffled order 1 of seed 0'
    )


def test_answers_that_are_right_only_in_company() -> None:
    first, again = judged(Jealous)
    assert [result.verdict.value for result in first.results] == ["fail", "pass", "pass", "pass"]
    assert [verdict for verdict, _ in outcomes(again)] == ["state leak"] * 4
    assert outcomes(again)[3][1] == (
        'was {"tokens": ["un", "hug"], "ids": [9, 10], "spans": [[0, 2], [2, 5]], "type_ids": … on_mask": [1, 1], '
        '"word_ids": [0, 0], "sequence_ids": [0, 0], '
        '"overflowing": []} at first, and {"tokens": ["?"]} alone, newly started'
    )
