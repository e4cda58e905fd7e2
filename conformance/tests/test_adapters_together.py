"""All implementations, judged once: the figures that are recorded of them, and the verdicts of those that are alike.

Two that make the same choices may differ only where one refuses, or in what is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from tokspec.cli import tokspec as group
from tokspec.results.matrix_command import write_reports
from tokspec.results.rows import MatrixRow, matrix, read_list
from tokspec.suite.fixtures import load_suite

ADAPTERS = Path(__file__).parents[1] / "adapters"
SUITE = load_suite()

pytestmark = [pytest.mark.interop, pytest.mark.slow]

#: The verdicts of a case that say nothing against another implementation: it was not asked, or differs as is recorded.
ASIDE = {"unsupported", "known failure", "as the origin"}


class Judged(NamedTuple):
    """A report: its file, what its implementation chooses, and each case with its verdict and reply."""

    file: Path
    choices: Mapping[str, str]
    replies: Mapping[str, tuple[str, Any]]


def read(file: Path) -> Judged:
    first, *rows = map(json.loads, file.read_text("utf-8").splitlines())
    cases = {row["case"]: (row["verdict"], row.get("reply")) for row in rows if "case" in row}
    return Judged(file, told_apart(first["choices"]), cases)


def told_apart(choices: Mapping[str, str]) -> Mapping[str, str]:
    """Leave the order of merges out where any pair in the vocabulary is merged: there it makes no difference."""
    aside = {"bpe_merge_order"} if choices["bpe_pairs"] == "in_vocabulary" else set()
    return {name: option for name, option in choices.items() if name not in aside}


@pytest.fixture(scope="module")
def rows() -> list[MatrixRow]:
    """All implementations of the list, judged by all cases: ten minutes."""
    return list(matrix(read_list(ADAPTERS / "adapters.yaml"), SUITE))


@pytest.fixture(scope="module")
def reports(rows: list[MatrixRow], tmp_path_factory: pytest.TempPathFactory) -> list[Judged]:
    folder = tmp_path_factory.mktemp("reports")
    write_reports(rows, folder, SUITE.hash)
    return [read(file) for file in sorted(folder.glob("*.ndjson"))]


def test_none_is_missing_and_each_conforms(rows: list[MatrixRow]) -> None:
    assert [(row.listed.name, row.missing) for row in rows if not row.run] == []
    assert [row.run.hello.name for row in rows if row.run and not row.run.is_green] == []


def test_the_recorded_figures_are_those_of_this_run(rows: list[MatrixRow], record_passes: Any) -> None:
    """They change with every case, and are made again for a release: python conformance/adapters/record_passes.py."""
    made = record_passes.figures(SUITE, rows)
    assert len(made) == 4
    for file, text in made.items():
        assert file.read_text("utf-8") == text


def alike(reports: list[Judged]) -> list[tuple[Judged, Judged]]:
    return [(one, other) for one, other in combinations(reports, 2) if one.choices == other.choices]


def test_some_make_the_same_choices(reports: list[Judged]) -> None:
    assert len(alike(reports)) >= 3


def test_they_get_the_same_verdicts(reports: list[Judged]) -> None:
    for one, other in alike(reports):
        both = {case for case in one.replies if not {one.replies[case][0], other.replies[case][0]} & ASIDE}
        differing = sorted(case for case in both if one.replies[case][0] != other.replies[case][0])
        assert (one.file.stem, other.file.stem, differing) == (one.file.stem, other.file.stem, [])


def test_the_command_that_compares_shows_no_other_difference(reports: list[Judged]) -> None:
    seen = []
    for one, other in alike(reports):
        result = CliRunner().invoke(group, ["report", "--compare", str(one.file), str(other.file)])
        seen += re.findall(r"^[a-z ]+?  +(?:\d+ cases, )?([a-z ]+) → ([a-z ]+): ", result.stdout, re.MULTILINE)
    assert seen
    assert [verdicts for verdicts in seen if not ASIDE & set(verdicts)] == []


def questions(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what a line of a report has of each question that was answered and failed."""
    return [each for each in row.get("rows", [row]) if "ok" in each.get("reply", {})]


def has_wrong_ids(question: Mapping[str, Any]) -> bool:
    expected, given = question["expected"], question["reply"]["ok"].get("ids")
    right = [expected["expect"]] if "expect" in expected else expected.get("one_of", [])
    return bool(right) and all("ids" in each and each["ids"] != given for each in right)


def test_a_reason_that_says_that_the_ids_are_right_is_true(reports: list[Judged]) -> None:
    wrong = []
    for report in reports:
        rows = [json.loads(line) for line in report.file.read_text("utf-8").splitlines()]
        told = [row for row in rows if row.get("verdict") == "known failure" and "ids are right" in row["detail"]]
        wrong += [(report.file.stem, row["case"]) for row in told if any(map(has_wrong_ids, questions(row)))]
    assert wrong == []
