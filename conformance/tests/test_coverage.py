"""What stands behind each clause, and how ``tokspec dev coverage`` prints it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tokspec.adapters.reference import functions_by_clause
from tokspec.cli import tokspec
from tokspec.quality.coverage import ClauseRow, coverage
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import Clause, load_specification

FIXTURES = """\
about: "A file for a test."
source: [{rule: "a test"}]
model: {type: bpe, vocabulary: ["a", "b"], merges: []}
cases:
  - id: two-letters
    clauses: [BPE-ENC-1, ENC-7]
    why: "It is needed for a test."
    operation: encode
    input: {text: "ab"}
    expect: {tokens: ["a", "b"]}
    verified_by: ["hand"]
  - id: one-letter
    clauses: [BPE-ENC-1]
    why: "It is needed for a test."
    operation: encode
    input: {text: "a"}
    expect: {tokens: ["a"]}
    verified_by: ["hand"]
"""


def clause(id: str, level: str = "MUST") -> Clause:
    return Clause(id, level, "A rule.", "a test", "00-terms", 1)


@pytest.fixture
def fixtures(tmp_path: Path) -> Path:
    (tmp_path / "x.yaml").write_text(FIXTURES)
    return tmp_path


@pytest.fixture
def specified(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Reduce the specification, as far as coverage looks at it, to a few clauses."""

    def specified(*clauses: Clause) -> None:
        small = replace(load_specification(), clauses={clause.id: clause for clause in clauses})
        monkeypatch.setattr("tokspec.quality.coverage.load_specification", lambda: small)

    return specified


def printed(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(tokspec, ["dev", "coverage", *arguments], standalone_mode=False, catch_exceptions=False)
    return result.return_value, result.output


def test_a_row_holds_a_clause_with_its_cases_and_functions(fixtures: Path, specified: Callable[..., None]) -> None:
    specified(clause("BPE-ENC-1"), clause("ENC-7"), clause("ENC-9", "RETIRED"), clause("PROTO-4", "SHOULD"))
    assert coverage(load_suite(fixtures), {"ENC-7": ["encode"]}) == [
        ClauseRow(clause("BPE-ENC-1"), ["two-letters", "one-letter"], ()),
        ClauseRow(clause("ENC-7"), ["two-letters"], ["encode"]),
        ClauseRow(clause("PROTO-4", "SHOULD"), [], ()),
    ]


@pytest.mark.parametrize(
    ("clause", "cases", "functions", "lacks"),
    [
        (clause("ENC-7"), ["one"], ["encode"], ()),
        (clause("ENC-7"), [], ["encode"], ("cases",)),
        (clause("ENC-7"), ["one"], [], ("a function",)),
        (clause("ENC-7"), [], [], ("cases", "a function")),
        (clause("ENC-7", "SHOULD"), [], [], ()),
        (clause("ENC-7", "MAY"), [], [], ()),
        (clause("PROTO-1"), [], [], ()),
        (clause("ERROR-1"), [], [], ()),
        (clause("ERROR-2"), [], [], ("cases", "a function")),
        (clause("TERM-5"), [], [], ()),
        (clause("TERM-4"), [], [], ("cases", "a function")),
    ],
    ids=lambda value: value.id if isinstance(value, Clause) else None,
)
def test_what_a_clause_lacks(clause: Clause, cases: list[str], functions: list[str], lacks: tuple[str, ...]) -> None:
    assert ClauseRow(clause, cases, functions).lacks == lacks


def test_a_covered_suite_is_printed_whole(fixtures: Path, specified: Callable[..., None]) -> None:
    specified(clause("BPE-ENC-1"), clause("ENC-7"), clause("PROTO-4", "SHOULD"))
    assert printed("--fixtures", str(fixtures)) == (
        0,
        "BPE-ENC-1  MUST      2 cases  bpe.encode_bpe\n"
        "ENC-7      MUST      1 cases  pipeline._added\n"
        "PROTO-4    SHOULD    0 cases  —\n"
        "3 clauses: 2 with cases, 0 lacking something\n",
    )


def test_cases_are_named_below_their_clauses(fixtures: Path, specified: Callable[..., None]) -> None:
    specified(clause("BPE-ENC-1"), clause("ENC-7"))
    assert printed("--cases", "--fixtures", str(fixtures)) == (
        0,
        "BPE-ENC-1  MUST      2 cases  bpe.encode_bpe\n"
        "           two-letters\n"
        "           one-letter\n"
        "ENC-7      MUST      1 cases  pipeline._added\n"
        "           two-letters\n"
        "2 clauses: 2 with cases, 0 lacking something\n",
    )


def test_what_is_lacking_is_said_and_is_exit_status_1(fixtures: Path, specified: Callable[..., None]) -> None:
    specified(clause("BPE-ENC-1"), clause("BPE-ENC-3"), clause("UNI-NEW-1"))
    assert printed("--fixtures", str(fixtures)) == (
        1,
        "BPE-ENC-1  MUST      2 cases  bpe.encode_bpe\n"
        "BPE-ENC-3  MUST      0 cases  bpe.merge_symbols  LACKS cases\n"
        "UNI-NEW-1  MUST      0 cases  —  LACKS cases and a function\n"
        "3 clauses: 1 with cases, 2 lacking something\n",
    )


def test_functions_are_named_in_the_order_of_the_source(fixtures: Path, specified: Callable[..., None]) -> None:
    specified(clause("PRE-BYTE-6"))
    assert functions_by_clause()["PRE-BYTE-6"] == ("pre_tokenization.utf_8", "pre_tokenization._write_bytes")
    assert printed("--fixtures", str(fixtures))[1].splitlines()[0] == (
        "PRE-BYTE-6  MUST      0 cases  pre_tokenization.utf_8, pre_tokenization._write_bytes  LACKS cases"
    )


def test_the_suite_lacks_nothing_and_every_clause_has_its_line() -> None:
    status, output = printed()
    clauses = [clause for clause in load_specification().clauses.values() if clause.level != "RETIRED"]
    assert [line.split()[:2] for line in output.splitlines()[:-1]] == [[clause.id, clause.level] for clause in clauses]
    without = {clause.id for clause in clauses} - {
        name for case in load_suite().cases.values() for name in case.clauses
    }
    assert output.splitlines()[-1] == (
        f"{len(clauses)} clauses: {len(clauses) - len(without)} with cases, 0 lacking something"
    )
    assert status == 0
