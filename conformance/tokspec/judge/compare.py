"""Comparison of a result with the expected one, and the first place where they differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Place: TypeAlias = tuple[str | int, ...]

RELATIVE = ABSOLUTE = 1e-9


class _Absent:
    """The placeholder in a :class:`Difference` where there is no value."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT = _Absent()


@dataclass(frozen=True)
class Difference:
    """The first place in which two results differ: a path such as ``("tokens", 1)`` and the value at it in both."""

    path: Place
    expected: Any
    actual: Any


def resolve(outcome: Mapping[str, Any], choices: Mapping[str, str]) -> Mapping[str, Any]:
    """Follow ``by_choice`` to the outcome for the declared options, which is ``expect``, ``one_of`` or ``error``.

    >>> resolve({"by_choice": {"unknown_id": {"error": {"error": "unknown_id"}, "skipped": {"expect": {"text": ""}}}}},
    ...         {"unknown_id": "skipped"})
    {'expect': {'text': ''}}
    """
    while "by_choice" in outcome:
        ((name, options),) = outcome["by_choice"].items()
        outcome = options[choices[name]]
    return outcome


def choices_in(outcome: Mapping[str, Any]) -> Iterator[str]:
    """Name the choices on which an outcome depends; a name may occur more than once.

    >>> list(choices_in({"by_choice": {"unknown_id": {"error": {"error": "unknown_id"}, "skipped": {"expect": {}}}}}))
    ['unknown_id']
    """
    for name, options in outcome.get("by_choice", {}).items():
        yield name
        for inner in options.values():
            yield from choices_in(inner)


def first_difference(expected: Any, actual: Any, tolerance: Mapping[str, float]) -> Difference | None:
    """Find the first difference of two values, in reading order; real numbers agree by TERM-5, integers exactly.

    >>> first_difference({"tokens": ["b", "ug"]}, {"tokens": ["b", "u", "g"]}, {})
    Difference(path=('tokens', 1), expected='ug', actual='u')
    >>> first_difference({"loss": 169.80283910873771}, {"loss": 169.80283910873773}, {}) is None
    True
    """
    if expected == actual and repr(expected) == repr(actual):  # this tells all JSON values apart, even 1 and true
        return None
    return _Comparison(tolerance).difference((), expected, actual)


class _Comparison:
    def __init__(self, tolerance: Mapping[str, float]) -> None:
        narrowed = bool(tolerance)
        self.relative = tolerance.get("relative", 0.0 if narrowed else RELATIVE)
        self.absolute = tolerance.get("absolute", 0.0 if narrowed else ABSOLUTE)

    def difference(self, path: Place, expected: Any, actual: Any) -> Difference | None:
        if type(expected) is str and type(actual) is str:
            return None if expected == actual else Difference(path, expected, actual)
        if isinstance(expected, Mapping) and isinstance(actual, Mapping):
            return self.mappings(path, expected, actual)
        if _is_list(expected) and _is_list(actual):
            return self.lists(path, expected, actual)
        if _is_number(expected) and _is_number(actual):
            same = self.numbers(expected, actual)
        else:
            same = type(expected) is type(actual) and expected == actual
        return None if same else Difference(path, expected, actual)

    def mappings(self, path: Place, expected: Mapping[str, Any], actual: Mapping[str, Any]) -> Difference | None:
        for key in [*expected, *(key for key in actual if key not in expected)]:
            found = self.difference((*path, key), expected.get(key, ABSENT), actual.get(key, ABSENT))
            if found:
                return found
        return None

    def lists(self, path: Place, expected: Sequence[Any], actual: Sequence[Any]) -> Difference | None:
        for index in range(max(len(expected), len(actual))):
            left = expected[index] if index < len(expected) else ABSENT
            right = actual[index] if index < len(actual) else ABSENT
            found = self.difference((*path, index), left, right)
            if found:
                return found
        return None

    def numbers(self, expected: float, actual: float) -> bool:
        if isinstance(expected, int):  # a count or an id, in whatever form an implementation writes it
            return expected == actual
        try:
            return math.isfinite(actual) and math.isclose(
                actual, expected, rel_tol=0.0, abs_tol=max(self.absolute, self.relative * abs(expected))
            )
        except OverflowError:
            return False


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
