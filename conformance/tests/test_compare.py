"""Comparing results: whole values, real numbers by TERM-5, and what each choice resolves to."""

from __future__ import annotations

from typing import Any

import pytest

from tokspec.judge.compare import ABSENT, Difference, first_difference, resolve


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"tokens": ["a"]}, {"tokens": ["a"]}),
        ({"pieces": [["a", 0, 1]]}, {"pieces": (("a", 0, 1),)}),
        ({"loss": 169.8}, {"loss": 169.8 * (1 + 9e-10)}),
        ({"increase": 0.0}, {"increase": -9e-10}),
        ({"count": 20}, {"count": 20.0}),
        ({"a": 1, "b": None}, {"b": None, "a": 1}),
    ],
)
def test_equal(expected: Any, actual: Any) -> None:
    assert first_difference(expected, actual, {}) is None


@pytest.mark.parametrize(
    ("expected", "actual", "path", "left", "right"),
    [
        ({"tokens": ["a", "b"]}, {"tokens": ["a"]}, ("tokens", 1), "b", ABSENT),
        ({"tokens": ["a"]}, {"tokens": ["a", "b"]}, ("tokens", 1), ABSENT, "b"),
        ({"tokens": ["é"]}, {"tokens": ["e\u0301"]}, ("tokens", 0), "é", "e\u0301"),
        ({"tokens": ["ab"]}, {"tokens": "ab"}, ("tokens",), ["ab"], "ab"),
        ({"text": ""}, {}, ("text",), "", ABSENT),
        ({"text": ""}, {"text": "", "more": 1}, ("more",), ABSENT, 1),
        ({"count": 1}, {"count": True}, ("count",), 1, True),
        ({"count": 1}, {"count": "1"}, ("count",), 1, "1"),
        ({"count": 2**53 + 1}, {"count": 2**53}, ("count",), 2**53 + 1, 2**53),
        ({"count": 2**32 + 1}, {"count": 2.0**32 + 4}, ("count",), 2**32 + 1, 2.0**32 + 4),
        ({"loss": 169.8}, {"loss": 169.8 * (1 + 2e-9)}, ("loss",), 169.8, 169.8 * (1 + 2e-9)),
        ({"loss": 169.8}, {"loss": float("inf")}, ("loss",), 169.8, float("inf")),
        ({"loss": 1.5}, {"loss": 10**400}, ("loss",), 1.5, 10**400),
        ({"ids": [None]}, {"ids": [0]}, ("ids", 0), None, 0),
    ],
)
def test_first_difference(expected: Any, actual: Any, path: Any, left: Any, right: Any) -> None:
    assert first_difference(expected, actual, {}) == Difference(path, left, right)


def test_nan_is_never_right() -> None:
    found = first_difference({"loss": 1.0}, {"loss": float("nan")}, {"absolute": 1e9})
    assert found is not None
    assert found.path == ("loss",)


def test_a_case_narrows_and_widens_the_tolerance() -> None:
    assert first_difference(1.0, 1.0 + 1e-12, {"relative": 1e-14}) == Difference((), 1.0, 1.0 + 1e-12)
    assert first_difference(1.0, 1.4, {"absolute": 0.5}) is None


def test_choices_nest() -> None:
    outcome = {"by_choice": {"a": {"x": {"by_choice": {"b": {"p": {"error": "one"}, "q": {"error": "two"}}}}, "y": {}}}}
    assert resolve(outcome, {"a": "x", "b": "q"}) == {"error": "two"}
