"""What stands behind each clause, and how ``tokspec dev coverage`` prints it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tokspec.cli import tokspec
from tokspec.quality.coverage import DOORS, REASONS, ClauseRow, coverage, doors_of, functions_by_clause
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
        ClauseRow(clause("BPE-ENC-1"), ["two-letters", "one-letter"], (), {"encode": 2}),
        ClauseRow(
            clause("ENC-7"),
            ["two-letters"],
            ["encode"],
            {"encode": 1},
            {"bpe": {"encode": 1}, "wordpiece": {}, "unigram": {}, "wordlevel": {}},
        ),
        ClauseRow(clause("PROTO-4", "SHOULD"), [], (), {}),
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
    assert ClauseRow(clause, cases, functions, dict.fromkeys(("encode",) * len(cases), 1)).lacks == lacks


@pytest.mark.parametrize(
    ("clause", "operations", "lacks"),
    [
        (clause("ENC-7"), {"encode_batch": 1}, ()),
        (clause("NORM-1"), {"normalize": 1}, ("a case of encode",)),
        (clause("NORM-1", "SHOULD"), {"normalize": 1}, ("a case of encode",)),
        (clause("NORM-1", "SHOULD"), {}, ()),
        (clause("DEC-7"), {"decode_stream": 1}, ("a case of decode",)),
        (clause("DEC-STREAM-1"), {"decode_stream": 1}, ()),
        (clause("TERM-2"), {"encode": 1}, ("a case of decode", "a case of train")),
        (clause("UNI-SEG-4"), {"viterbi": 1}, ()),
        (clause("UNI-SEG-2"), {"segment": 1}, ("a case of encode", "a case of train")),
        (clause("ERROR-2"), {"best_pair": 1}, ()),
        (clause("ERROR-1"), {}, ()),
    ],
    ids=lambda value: value.id if isinstance(value, Clause) else None,
)
def test_a_clause_lacks_a_case_at_each_of_its_doors(
    clause: Clause, operations: dict[str, int], lacks: tuple[str, ...]
) -> None:
    assert ClauseRow(clause, ["one"] * len(operations), ["encode"], operations).lacks == lacks


@pytest.mark.slow
def test_every_clause_of_a_tokenizer_has_doors_and_no_reason_is_left_over() -> None:
    """A reason is for a door that is there and that no case asks."""
    rows = coverage(load_suite(), functions_by_clause())
    without = {row.clause.id for row in rows if not doors_of(row.clause.id)}
    assert {id for id in without if not id.startswith("PROTO-")} == {"TERM-5", "ERROR-1", "ERROR-2"}
    assert {*REASONS} == {(row.clause.id, door) for row in rows for door in row.shut}
    assert [name for name in DOORS if not any(row.clause.id.startswith(name) for row in rows)] == []
    lines = printed("--operations")[1].splitlines()
    place = next(place for place, line in enumerate(lines) if line.split()[0] == "UNI-SEG-4")
    assert lines[place + 1].strip() == "encode: only viterbi gives the table"


def test_a_covered_suite_is_printed_whole(fixtures: Path, specified: Callable[..., None]) -> None:
    specified(clause("BPE-ENC-1"), clause("ENC-7"), clause("PROTO-4", "SHOULD"))
    assert printed("--fixtures", str(fixtures)) == (
        0,
        "BPE-ENC-1  MUST      2 cases  bpe.encode_bpe\n"
        "ENC-7      MUST      1 cases  pipeline._added\n"
        "PROTO-4    SHOULD    0 cases  —\n"
        "3 clauses: 2 with cases, 0 lacking something\n",
    )


def test_operations_are_counted_and_doors_that_no_case_asks_have_a_reason(
    fixtures: Path, specified: Callable[..., None]
) -> None:
    text = (fixtures / "x.yaml").read_text()
    text = text.replace("clauses: [BPE-ENC-1]", "clauses: [BPE-ENC-1, DEC-7, UNI-SEG-4]")
    (fixtures / "x.yaml").write_text(text)
    specified(clause("BPE-ENC-1"), clause("DEC-7"), clause("UNI-SCORE-2"), clause("UNI-SEG-4"))
    assert printed("--operations", "--fixtures", str(fixtures)) == (
        1,
        "BPE-ENC-1    encode 2\n"
        "DEC-7        encode 1\n"
        "             decode: LACKS a case\n"
        "             decode_stream: LACKS a case\n"
        "UNI-SCORE-2  —\n"
        "UNI-SEG-4    encode 1\n"
        "4 clauses: 3 with cases, 2 lacking something\n",
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


def test_families_are_printed_with_what_lacks_a_case(fixtures: Path, specified: Callable[..., None]) -> None:
    specified(clause("BPE-ENC-1"), clause("ENC-7"))
    assert printed("--families", "--fixtures", str(fixtures)) == (
        1,
        "ENC-7  bpe        encode 1\n"
        "       wordpiece  LACKS a case\n"
        "       unigram    LACKS a case\n"
        "       wordlevel  LACKS a case\n"
        "1 clauses of every family: 1 lacking a case of a family\n",
    )


def test_every_common_clause_has_a_case_of_every_family() -> None:
    rows = [row for row in coverage(load_suite(), {}) if row.families and row.cases]
    assert [(row.clause.id, name) for row in rows for name, counts in row.families.items() if not counts] == []
