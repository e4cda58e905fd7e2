"""The choices on which an answer depends: a saved finding is right for every implementation, not only for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tokspec.specification import load_specification

__all__ = ["by_choice"]

Outcome = Mapping[str, Any]


def by_choice(outcome: Callable[[Mapping[str, str]], Outcome], declared: Mapping[str, str]) -> Outcome:
    """Give the outcome under the declared choices, or under every option of those on which it depends.

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
