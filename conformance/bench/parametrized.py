"""The suite's cases as one test that pytest parametrizes: as little as somebody would write who has no plugin.

It asks the reference and compares what has one right answer; it knows no tolerance.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import Refusal
from tokspec.judge.compare import resolve
from tokspec.judge.verdicts import effective_choices
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite

ADAPTER = ReferenceAdapter()
CHOICES = effective_choices(ADAPTER.hello())
CASES = [*load_suite().cases.values()]
MODELS = {case.model.name: case.model.content for case in CASES}

#: Operations whose results are compared as they are, beside encoding.
COMPARED = ("normalize", "pre_tokenize", "decode", "count_words")


@cache
def model(name: str) -> Any:
    return ADAPTER.load("tokspec", MODELS[name])


def ask(case: Case) -> Any:
    return ADAPTER.run(case.operation, model(case.model.name), case.input)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    for row in case.questions:
        wanted = resolve(row.outcome, CHOICES)
        if "error" in wanted:
            with pytest.raises(Refusal, match=wanted["error"]):
                ask(row)
        elif "expect" in wanted and row.operation == "encode":
            found = ask(row)
            for field in wanted["expect"].keys() & {"tokens", "ids", "spans"}:
                assert found[field] == wanted["expect"][field]
        elif "expect" in wanted and row.operation in COMPARED:
            assert ask(row) == wanted["expect"]
        else:
            ask(row)
