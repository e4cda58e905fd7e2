"""Spans are compared in one unit, whichever unit each of two implementations counts in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.compare.compare import compare_cases
from tokspec.protocol.spans import convert_spans
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.fixtures import load_suite

UNITS = ("code_point", "byte", "utf16")
CASE = load_suite().cases["encode-span-emoji"]


class Counting(ReferenceAdapter):
    """The reference, counting in one unit and saying that it counts in another."""

    def __init__(self, unit: str, said: str) -> None:
        super().__init__()
        self.unit, self.said = unit, said

    def hello(self) -> Hello:
        return replace(super().hello(), choices={"offset_unit": self.said})

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        return convert_spans(super().run(operation, model, input), input.get("text", ""), self.unit)


def differ(first: Counting, second: Counting) -> int:
    with InProcessSession(first) as left, InProcessSession(second) as right:
        tally = compare_cases(left, right, [CASE])
        assert tally.compared == 1
        return tally.different


@pytest.mark.parametrize("first", UNITS)
@pytest.mark.parametrize("second", UNITS)
def test_implementations_that_count_differently_are_compared_in_one_unit(first: str, second: str) -> None:
    assert differ(Counting(first, first), Counting(second, second)) == 0


def test_spans_that_differ_are_told() -> None:
    assert differ(Counting("byte", "byte"), Counting("utf16", "byte")) == 1


@pytest.mark.parametrize(
    ("unit", "wanted", "span"),
    [
        ("byte", "code_point", [1, 2]),
        ("utf16", "code_point", [1, 2]),
        ("byte", "utf16", [1, 3]),
        ("utf16", "byte", [1, 5]),
    ],
)
def test_every_unit_is_converted_to_every_other(unit: str, wanted: str, span: list[int]) -> None:
    given = {"code_point": [1, 2], "byte": [1, 5], "utf16": [1, 3]}[unit]
    assert convert_spans({"spans": [given]}, "a🙂b", wanted, unit) == {"spans": [span]}
