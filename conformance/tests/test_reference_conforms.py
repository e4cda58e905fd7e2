"""The reference passes every case, whatever it declares.

All cases with each option take a minute: the slow tests ask them. The quick ones ask a sample with each option.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.judge.compare import choices_in
from tokspec.judge.runner import run
from tokspec.judge.verdicts import Verdict
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification

#: Every option but the unit of offsets, which the reference has one of.
OPTIONS = [
    pytest.param(choice.name, option, id=f"{choice.name}={option}")
    for choice in load_specification().choices.values()
    for option in choice.options
    if choice.name != "offset_unit"
]

#: The sample has one of so many cases of an operation, and of those that depend on the choice, beginning with the first.
STEP = 60
STEP_OF_CHOICE = 3


@cache
def by_operation() -> dict[str, list[Case]]:
    found = defaultdict(list)
    for case in load_suite().cases.values():
        found[case.operation].append(case)
    return dict(found)


@cache
def by_choice() -> dict[str, list[Case]]:
    """Return the cases whose outcome, or that of one of whose rows, depends on each choice; a choice may have none."""
    found = defaultdict(list)
    for case in load_suite().cases.values():
        for choice in {name for question in case.questions for name in choices_in(question.outcome)}:
            found[choice].append(case)
    return dict(found)


def sample(choice: str) -> list[Case]:
    """Return cases that depend on a choice, and cases of each operation: the first of either, and every ``STEP``-th."""
    some = [
        *by_choice().get(choice, [])[::STEP_OF_CHOICE],
        *(case for cases in by_operation().values() for case in cases[::STEP]),
    ]
    return list({case.id: case for case in some}.values())


def failures(adapter: ReferenceAdapter, cases: list[Case]) -> list[tuple[str, object]]:
    with InProcessSession(adapter) as session:
        finished = run(session, cases)
    return [(result.case.id, result.detail) for result in finished.results if result.verdict is not Verdict.PASS]


@cache
def failures_of_all(declared: frozenset[tuple[str, str]]) -> list[tuple[str, object]]:
    return failures(
        ReferenceAdapter(dict(declared - {("offset_unit", "code_point")})), list(load_suite().cases.values())
    )


@pytest.mark.slow
@pytest.mark.parametrize(("choice", "option"), OPTIONS)
def test_every_case_passes_with_each_option(choice: str, option: str) -> None:
    # The reference declares an option of every choice, so that all the defaults, said or not, are one run.
    assert failures_of_all(frozenset(ReferenceAdapter({choice: option}).hello().choices.items())) == []


@pytest.mark.parametrize(("choice", "option"), OPTIONS)
def test_a_sample_of_each_operation_passes_with_each_option(choice: str, option: str) -> None:
    assert failures(ReferenceAdapter({choice: option}), sample(choice)) == []


def test_the_sample_has_every_operation_and_what_depends_on_the_choice() -> None:
    for choice in by_choice():
        asked = sample(choice)
        assert {case.operation for case in asked} == {*by_operation()}
        assert {case.id for case in asked} & {case.id for case in by_choice()[choice]}
