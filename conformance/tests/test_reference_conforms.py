"""The reference passes every case, whatever it declares."""

from __future__ import annotations

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.fixtures import load_suite
from tokspec.runner import run
from tokspec.sessions import InProcessSession
from tokspec.specification import load_specification
from tokspec.verdicts import Verdict

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
