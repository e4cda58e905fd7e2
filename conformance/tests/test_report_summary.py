"""The summary of a run, whole: the headline, the table with its columns, and why something is unsupported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click
import pytest

from tokspec.adapter import Hello
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Result, Verdict, join_rows
from tokspec.report.text import headline, reasons, rows, table, text
from tokspec.suite.cases import Case, Model


def result(verdict: Verdict, *clauses: str, detail: str = "") -> Result:
    case = Case(
        id="one",
        clauses=clauses or ("BPE-ENC-1",),
        why="It is needed for a test.",
        source=(),
        model=Model("toy", {}),
        operation="encode",
        input={},
        outcome={"expect": {}},
        stated=(),
        worked=(),
        tolerance={},
        tags=(),
        verified_by=("hand",),
        file="toy.yaml",
        line=1,
    )
    return Result(case, verdict, detail, {"expect": {}})


def ended(results: Sequence[Result], name: str = "mine", version: str = "1.0", problems: tuple[str, ...] = ()) -> Run:
    return Run(Hello(name, version, "C", ("encode",)), {}, tuple(results), problems)


#: One result of each kind, in several chapters; the table counts a case in the chapter of its first clause.
MIXED = [
    result(Verdict.PASS, "TERM-1"),
    result(Verdict.PASS, "BPE-ENC-1"),
    result(Verdict.FAIL, "BPE-ENC-1", "BPE-ENC-3"),
    result(Verdict.KNOWN_FAILURE, "BPE-ENC-6", "TERM-1"),
    result(Verdict.UNSUPPORTED, "UNI-SEG-2"),
    result(Verdict.NOT_RUN, "UNI-SEG-2"),
]


@pytest.mark.parametrize(
    ("run", "line"),
    [
        (ended([result(Verdict.PASS)]), "mine 1.0 conforms: 1 case = 1 pass"),
        (ended([result(Verdict.PASS)] * 3), "mine 1.0 conforms: 3 cases = 3 pass"),
        (ended([]), "mine 1.0 does not conform: 0 cases = none"),
        (ended([result(Verdict.UNSUPPORTED)] * 2), "mine 1.0 does not conform: 0 of 2 cases asked = none, 2 unsupported"),
        (ended([result(Verdict.PASS)], problems=("stale",)), "mine 1.0 does not conform: 1 case = 1 pass"),
        (
            ended(MIXED),
            "mine 1.0 does not conform: 4 of 6 cases asked = 2 pass + 1 fail + 1 known failure, 1 unsupported, 1 not run",
        ),
        (ended([result(Verdict.PASS)], "mine", ""), "mine conforms: 1 case = 1 pass"),
        (ended([result(Verdict.PASS)], "\x1b[2Jm\r", "\u202e1"), "\\u001b[2Jm\\u000d \\u202e1 conforms: 1 case = 1 pass"),
        (ended([result(Verdict.PASS)], "m" * 100_000), f"{'m' * 80} … {'m' * 76} 1.0 conforms: 1 case = 1 pass"),
    ],
)  # fmt: skip
def test_the_headline(run: Run, line: str) -> None:
    assert headline(run) == line


def test_the_table_shows_chapters_and_the_clauses_that_are_not_met() -> None:
    expected = """\
chapter         pass  fail  known failure  unsupported  not run  held
00-terms           1     ·              ·            ·        ·  complete
04-bpe             1     1              1            ·        ·  partial
  BPE-ENC-1        1     1              ·            ·        ·  partial
  BPE-ENC-3        ·     1              ·            ·        ·  none
06-unigram         ·     ·              ·            1        1  none
  UNI-SEG-2        ·     ·              ·            1        1  none
all                2     1              1            1        1  partial

profile         pass  fail  known failure  unsupported  not run  held
documents          2     1              1            1        1  partial
tokenizer.json     2     1              1            1        1  partial
sentencepiece      2     1              1            1        1  partial
tiktoken           2     1              ·            ·        ·  partial"""
    assert table(ended(MIXED)) == expected.splitlines()


def test_the_table_shows_every_clause_if_that_is_wanted() -> None:
    expected = """\
chapter         pass  fail  known failure  unsupported  not run  held
00-terms           1     ·              ·            ·        ·  complete
  TERM-1           1     ·              1            ·        ·  partial
04-bpe             1     1              1            ·        ·  partial
  BPE-ENC-1        1     1              ·            ·        ·  partial
  BPE-ENC-3        ·     1              ·            ·        ·  none
  BPE-ENC-6        ·     ·              1            ·        ·  none
06-unigram         ·     ·              ·            1        1  none
  UNI-SEG-2        ·     ·              ·            1        1  none
all                2     1              1            1        1  partial"""
    assert table(ended(MIXED), every_clause=True)[:10] == expected.splitlines()


def test_passes_have_their_column_even_if_there_are_none() -> None:
    assert table(ended([result(Verdict.CRASH)])) == [
        "chapter         pass  crash  held",
        "04-bpe             ·      1  none",
        "  BPE-ENC-1        ·      1  none",
        "all                ·      1  none",
        "",
        "profile         pass  crash  held",
        "documents          ·      1  none",
        "tokenizer.json     ·      1  none",
        "sentencepiece      ·      1  none",
        "tiktoken           ·      1  none",
    ]


def test_chapters_add_up_to_the_run() -> None:
    (_, heads), *others = rows(ended(MIXED), every_clause=True)
    chapters = [cells for name, cells in others if not name.startswith(" ")]
    counts = [[0 if cell == "·" else int(cell) for cell in cells[:-1]] for cells in chapters]
    assert heads == ["pass", "fail", "known failure", "unsupported", "not run", "held"]
    assert [sum(column) for column in zip(*counts[:-1], strict=True)] == counts[-1]


def test_reasons_are_counted_and_the_commonest_comes_first() -> None:
    results = [result(Verdict.UNSUPPORTED, detail=detail) for detail in ("no train", "no spans", "no spans")]
    assert reasons(ended([*results, result(Verdict.FAIL, detail="no tokens")])) == [
        "    2  no spans",
        "    1  no train",
    ]


def test_reasons_are_not_to_be_trusted() -> None:
    hostile = [result(Verdict.UNSUPPORTED, detail=detail) for detail in ("\x1b[2J\r\n", "no " + "x" * 100_000)]
    assert reasons(ended(hostile)) == ["    1  \\u001b[2J\\u000d\\u000a", f"    1  no {'x' * 77} … {'x' * 80}"]


def test_what_passes_without_its_spans_is_told() -> None:
    passed = [result(Verdict.PASS), *[result(Verdict.PASS, detail="gives no spans of this text")] * 2]
    lines = list(map(click.unstyle, text(ended(passed), [])))
    assert lines[:2] == ["2 counted as passed without a field that is not given: gives no spans of this text", ""]
    assert lines[-1] == "mine 1.0 conforms: 3 cases = 3 pass"


def test_ten_reasons_have_a_line_and_then_how_many_are_left() -> None:
    details = [f"no operation {number}" for number in range(13) for _ in range(14 - number)]
    run = ended([result(Verdict.UNSUPPORTED, detail=detail) for detail in details])
    lines = list(text(run, []))
    assert lines[: lines.index("")] == [
        "unsupported, and why:",
        *(f"   {14 - number:>2}  no operation {number}" for number in range(10)),
        "    9  for 3 other reasons; --report FILE has the reason of each case",
    ]
    assert reasons(run, 13) == reasons(run)
    assert reasons(run, 12)[-1] == "    2  for 1 other reason; --report FILE has the reason of each case"


def test_a_reason_of_rows_is_that_of_cases() -> None:
    one, two = (result(Verdict.UNSUPPORTED, detail="no train") for _ in range(2))
    row = replace(two, case=replace(two.case, id="table#2"))
    table = join_rows(two.case, [result(Verdict.PASS), row])
    assert table.detail == "row 2 of 2: no train"
    assert reasons(ended([one, table])) == ["    2  no train"]
