"""The reference passes every case, whatever it declares."""

from __future__ import annotations

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.judge.runner import run
from tokspec.judge.verdicts import Verdict
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification

#: Every option but the unit of offsets, which the reference has one of.
OPTIONS = [
    {choice.name: option}
    for choice in load_specification().choices.values()
    for option in choice.options
    if choice.name != "offset_unit"
]


def name(options: dict[str, str]) -> str:
    return "-".join(f"{choice}={option}" for choice, option in options.items())


@pytest.mark.parametrize("options", OPTIONS, ids=name)
def test_every_case_passes_with_each_option(options: dict[str, str]) -> None:
    with InProcessSession(ReferenceAdapter(options)) as session:
        finished = run(session, list(load_suite().cases.values()))
    assert [(result.case.id, result.detail) for result in finished.results if result.verdict is not Verdict.PASS] == []
