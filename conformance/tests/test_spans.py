"""Spans are compared in one unit, whichever unit each of two implementations counts in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.packs.cases_compared import CasesCompared, cases_compared
from tokspec.protocol.spans import convert_spans
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.fixtures import load_suite

UNITS = ("code_point", "byte", "utf16")
CASE = load_suite().cases["encode-span-emoji"]


class Counting(ReferenceAdapter):
    """The reference, counting in another unit."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        return convert_spans(super().run(operation, model, input), input.get("text", ""), self.unit)


def compare(first: str, second: str, units: tuple[str, str]) -> CasesCompared:
    with InProcessSession(Counting(first)) as left, InProcessSession(Counting(second)) as right:
        return cases_compared(left, right, [CASE], units)


@pytest.mark.parametrize("first", UNITS)
@pytest.mark.parametrize("second", UNITS)
def test_implementations_that_count_differently_are_compared_in_one_unit(first: str, second: str) -> None:
    assert compare(first, second, (first, second)) == CasesCompared(same=1)


def test_spans_that_differ_are_told() -> None:
    assert compare("byte", "utf16", ("byte", "byte")).changed


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
