"""The suite's own truth: what its cases claim of the documents and of arithmetic is recomputed."""

from __future__ import annotations

from typing import Any

import pytest
from conformance.tests.printed import at, relation

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.judge.compare import first_difference
from tokspec.judge.runner import run
from tokspec.judge.verdicts import Verdict
from tokspec.protocol.replies import Answer
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.arithmetic import arithmetic
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification

CASES = list(load_suite().cases.values())


def outcome(case: Case) -> Any:
    """What pointers point into: the value of ``expect`` or ``one_of``, or the tree of options."""
    return next(iter(case.outcome.values()))


@pytest.mark.parametrize("case", [case for case in CASES if case.stated], ids=lambda case: case.id)
def test_what_documents_print_relates_to_the_right_value_as_said(case: Case) -> None:
    said = [entry["relation"] for entry in case.stated]
    values = [(entry, at(outcome(case), entry["at"])) for entry in case.stated]
    assert [relation(entry["printed"], value) for entry, value in values] == said


@pytest.mark.parametrize("case", [case for case in CASES if case.stated], ids=lambda case: case.id)
def test_what_is_stated_names_documents_of_the_case(case: Case) -> None:
    """Whether they print it, ``conformance/documents/compare.py`` tells where they are at hand."""
    assert case.documents
    for entry in case.stated:
        assert set(entry.get("in", case.documents)) <= set(case.documents)


def default_path(case: Case) -> str:
    """Return the pointer to what is right under the default options; where there are no choices, "" for the whole."""
    path, found = "", case.outcome
    while "by_choice" in found:
        ((name, options),) = found["by_choice"].items()
        default = load_specification().choices[name].default
        found = options[default]
        path += f"/{name}/{default}/{next(iter(found))}"
    return path


def test_what_documents_print_is_reached_without_any_option() -> None:
    """A plain run gives every printed figure that is right, as one of several answers where several are right."""
    stated = [case for case in CASES if any(entry["relation"] != "erratum" for entry in case.stated)]
    results = run(InProcessSession(ReferenceAdapter()), stated).results
    assert [(result.case.id, result.verdict) for result in results] == [(case.id, Verdict.PASS) for case in stated]
    reached = [(case, entry) for case in stated for entry in case.stated if entry["relation"] != "erratum"]
    assert [
        (case.id, each["at"]) for case, each in reached if not each["at"].startswith(f"{default_path(case)}/")
    ] == []
    losses = {
        result.case.id: (result.case.input.get("initial_score", 0), round(result.reply.result["loss"], 1))
        for result in results
        if result.case.operation == "loss" and isinstance(result.reply, Answer)
    }
    assert losses == {
        "unigram-four-upper-loss-from-1": (1, 413.1),
        "unigram-four-lower-loss-from-1": (1, 413.4),
        "unigram-toy-loss-from-0": (0, 169.8),
    }


@pytest.mark.parametrize("case", [case for case in CASES if case.worked], ids=lambda case: case.id)
def test_arithmetic_gives_the_expected_numbers(case: Case) -> None:
    for entry in case.worked:
        computed = arithmetic(entry["from"])
        difference = first_difference(computed, at(outcome(case), entry["at"]), {"relative": 1e-14, "absolute": 1e-14})
        assert difference is None, (entry, computed)


def test_every_erratum_of_a_figure_is_carried_by_a_case() -> None:
    carried = {entry["erratum"] for case in CASES for entry in case.stated if "erratum" in entry}
    prose = {"E-20"}
    assert set(load_specification().errata) - prose <= carried


def test_every_document_has_printed_results() -> None:
    documents = set(load_specification().documents)
    assert {document for case in CASES if case.stated for document in case.documents} == documents
