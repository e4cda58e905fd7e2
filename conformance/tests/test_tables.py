"""A case that asks many inputs of one model: one id, one verdict, and the rows that fail are shown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapter import Hello, Refusal, Unsupported
from tokspec.base.errors import AdapterFault, DataError
from tokspec.cli.cases import cases_command
from tokspec.judge.known_failures import KnownFailure, KnownFailures, digest
from tokspec.judge.probe import probe
from tokspec.judge.runner import Run, fail_at_start, run
from tokspec.judge.verdicts import Verdict
from tokspec.judge.verify import verify_run
from tokspec.quality.chance import chance
from tokspec.report.failure import describe
from tokspec.report.junit import junit
from tokspec.report.markdown import markdown
from tokspec.report.ndjson import ndjson, origin, read_report
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.cases import Suite, read_bundle, write_bundle
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification

HEAD = """\
about: "A table for a test."
source: [{rule: "A test."}]
model: {pre_tokenizer: {type: whitespace_split}}
cases:
"""

CASE = """\
  - id: one-table
    clauses: [NORM-1]
    why: "It is needed for a test."
    operation: normalize
    inputs:
      - {text: "a", expect: {text: "a"}}
      - {text: "b", one_of: [{text: "b"}, {text: "B"}]}
      - {text: {hex: "eda080"}, error: invalid_input}
      - {text: "d", by_choice: {unknown_id: {error: {error: unknown_id}, skipped: {expect: {text: ""}}}}}
    verified_by: ["hand: it is plain"]
"""

RIGHT: Mapping[str, Any] = {"a": "a", "b": "B", "\ud800": Refusal("invalid_input", ""), "d": Refusal("unknown_id", "")}


class Scripted:
    """Answers as it is told, and refuses, crashes or hangs likewise."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def hello(self) -> Hello:
        return Hello("scripted", "1", "Python", ("normalize",))

    def load(self, format: str, content: Any) -> Any:
        return content

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(input["text"])
        answer = self.answers[input["text"]]
        if isinstance(answer, Exception):
            raise answer
        return {"text": answer}


def suite(folder: Path, text: str = HEAD + CASE) -> Suite:
    folder.mkdir(exist_ok=True)
    (folder / "x.yaml").write_text(text, "utf-8")
    return load_suite(folder)


@pytest.fixture(name="table")
def _table(tmp_path: Path) -> Suite:
    return suite(tmp_path / "fixtures")


def judged(table: Suite, known: KnownFailures | None = None, **answers: Any) -> Run:
    """Run the table against an adapter that is right but for these answers."""
    with InProcessSession(Scripted({**RIGHT, **answers})) as session:
        return run(session, list(table.cases.values()), known=known)


def outcome(run: Run) -> tuple[str, str]:
    (result,) = run.results
    return result.verdict.value, result.detail


def test_a_table_is_one_case_with_a_question_for_each_row(table: Suite) -> None:
    (case,) = table.cases.values()
    assert (case.id, case.input, case.outcome, len(table)) == ("one-table", {}, {}, 1)
    assert [(row.id, row.row, row.input, row.outcome, row.line) for row in case.questions] == [
        ("one-table#1", 1, {"text": "a"}, {"expect": {"text": "a"}}, 10),
        ("one-table#2", 2, {"text": "b"}, {"one_of": [{"text": "b"}, {"text": "B"}]}, 11),
        ("one-table#3", 3, {"text": "\ud800"}, {"error": "invalid_input"}, 12),
        (
            "one-table#4",
            4,
            {"text": "d"},
            {"by_choice": {"unknown_id": {"error": {"error": "unknown_id"}, "skipped": {"expect": {"text": ""}}}}},
            13,
        ),
    ]
    assert [(row.clauses, row.operation, row.model, row.file) for row in case.rows] == 4 * [
        (case.clauses, "normalize", case.model, "x.yaml")
    ]


def test_a_table_passes_if_all_of_its_rows_do(table: Suite) -> None:
    finished = judged(table)
    assert outcome(finished) == ("pass", "")
    assert finished.results[0].case is table.cases["one-table"]
    assert finished.counts[Verdict.PASS] == 1


def test_every_row_is_a_request(table: Suite) -> None:
    adapter = Scripted(RIGHT)
    with InProcessSession(adapter) as session:
        run(session, list(table.cases.values()))
    assert adapter.asked == ["a", "b", "\ud800", "d"]


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        ({"a": "x"}, ("fail", "row 1 of 4: wrong answer")),
        ({"a": "x", "d": "y"}, ("fail", "row 1 of 4: wrong answer; 1 more: 4")),
        ({"a": "x", "d": Refusal("invalid_input", "no")}, ("error", "row 4 of 4: refused as invalid_input where a refusal as unknown_id is expected: no; 1 more: 1")),
        ({"b": ValueError("oh"), "a": Unsupported("no")}, ("crash", "row 2 of 4: ValueError: oh")),
        ({"b": Unsupported("no b")}, ("unsupported", "row 2 of 4: no b")),
        ({"a": Unsupported("no"), "b": Unsupported("no")}, ("unsupported", "row 1 of 4: no; 1 more: 2")),
        (dict.fromkeys(RIGHT, Unsupported("no")), ("unsupported", "no")),
        (dict.fromkeys(RIGHT, Refusal("no_segmentation", "")), ("error", "row 1 of 4: refused as no_segmentation where a result is expected; 3 more: 2, 3, 4")),
        (dict.fromkeys(RIGHT, ValueError("oh")), ("crash", "every row: ValueError: oh")),
    ],
)  # fmt: skip
def test_the_worst_row_is_the_verdict(table: Suite, answers: Mapping[str, Any], verdict: tuple[str, str]) -> None:
    found, detail = outcome(judged(table, **answers))
    assert (found, detail.partition(" (test_")[0]) == verdict


def test_long_lists_of_rows_are_cut(tmp_path: Path) -> None:
    rows = "".join(f'      - {{text: "{number}", expect: {{text: "a"}}}}\n' for number in range(20))
    before, _, after = CASE.partition('      - {text: "a"')
    text = HEAD + before + rows + after[after.index("    verified_by") :]
    finished = judged(suite(tmp_path, text), **{str(number): "x" if number else "a" for number in range(20)})
    assert outcome(finished) == ("fail", "row 2 of 20: wrong answer; 18 more: 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, …")
    assert [line[:12].strip() for line in describe(finished.results[0], "…")[3:]] == [
        "rows",
        "input",
        "expected",
        "actual",
        "first",
        *(f"row {number}" for number in range(3, 8)),
        "again",
    ]


def test_a_failing_table_shows_its_worst_row_and_names_the_others(table: Suite) -> None:
    (result,) = judged(table, a="x", d="y").results
    assert describe(result, "tokspec run") == [
        "FAIL one-table  (x.yaml:5)",
        f"  NORM-1 (MUST) {load_specification().clauses['NORM-1'].text}",
        "  why       It is needed for a test.",
        "  rows      row 1 of 4: wrong answer; 1 more: 4",
        '  input     normalize "a"',
        '  expected  text: "a"',
        '  actual    text: "x"',
        '  first     text: expected "a", actual "x"',
        '  row 4     "d": answers where a refusal as unknown_id is expected',
        "  again     tokspec run",
    ]


def test_a_report_is_read_as_it_was_written(table: Suite, tmp_path: Path) -> None:
    came_from = origin("tokspec run", "tokspec run", "0" * 64)
    for answers in ({}, {"a": "x", "d": "y"}, {"b": Unsupported("no")}, {"b": ValueError("oh")}):
        finished = judged(table, **answers)
        file = tmp_path / "report.ndjson"
        file.write_bytes(b"".join(ndjson(finished, came_from)))
        read = read_report(file).run
        (old,), (new,) = finished.results, read.results
        assert (new.verdict, new.detail, new.expected, new.reply) == (old.verdict, old.detail, old.expected, old.reply)
        assert [row.case.row for row in new.rows] == [row.case.row for row in old.telling]
        assert old.verdict.conforms or describe(new, "again") == describe(old, "again")
        assert list(ndjson(read, came_from)) == file.read_bytes().splitlines(keepends=True)


def test_other_reports_show_the_rows(table: Suite) -> None:
    runs = [(origin("tokspec run", "tokspec run", "0" * 64), judged(table, a="x", d="y"))]
    for text in (junit(runs), markdown(runs, 10)):
        assert "rows      row 1 of 4: wrong answer; 1 more: 4" in text
        assert "one-table" in text
    assert junit(runs).count("<testcase") == 1


def known(finished: Run) -> KnownFailures:
    (result,) = finished.results
    return KnownFailures(
        "k.yaml", {"one-table": KnownFailure("one-table", result.verdict.value, digest(result), "why")}
    )


def test_a_known_failure_is_that_of_these_rows(table: Suite) -> None:
    listed = known(judged(table, a="x"))
    assert outcome(judged(table, listed, a="x")) == ("known failure", "why")
    assert outcome(judged(table, listed, a="x", d="y"))[0] == "fail"
    assert outcome(judged(table, listed, a="y"))[0] == "fail"
    assert outcome(judged(table, listed, b="x"))[0] == "fail"
    (passing,) = judged(table, listed).results
    assert passing.verdict is Verdict.UNEXPECTED_PASS
    assert [line[:12].strip() for line in describe(passing, "…")[2:]] == ["why", "input", "problem", "again"]
    assert listed.entries["one-table"].is_past(date.max) is False


class Remembering(Scripted):
    """Answers "a" otherwise after it was asked "b"."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        if input["text"] == "a" and "b" in self.asked:
            return {"text": "x"}
        return super().run(operation, model, input)


def verified(table: Suite, make: type[Scripted]) -> tuple[str, str]:
    with InProcessSession(make(RIGHT)) as session:
        finished = run(session, list(table.cases.values()))
    return outcome(verify_run(finished, lambda: InProcessSession(make(RIGHT))))


def test_rows_are_asked_again(table: Suite) -> None:
    assert verified(table, Scripted) == ("pass", "")
    verdict, detail = verified(table, Remembering)
    assert verdict == "state leak"
    assert detail.startswith('row 1 of 4: was {"text": "a"} at first, and {"text": "x"} ')


def test_a_program_that_cannot_start_fails_the_table_once(table: Suite) -> None:
    finished = fail_at_start("x", list(table.cases.values()), AdapterFault("crash", "exit status 1"))
    assert outcome(finished) == ("crash", "every row: before hello: exit status 1")


def test_a_table_that_is_not_run(table: Suite, tmp_path: Path) -> None:
    with InProcessSession(Scripted(RIGHT)) as session:
        finished = run(session, list(table.cases.values()), max_failures=0)
    assert outcome(finished) == ("not run", "the run ended after 0 failures")
    file = tmp_path / "report.ndjson"
    file.write_bytes(b"".join(ndjson(finished, origin("tokspec run", "tokspec run", "0" * 64))))
    assert outcome(read_report(file).run) == outcome(finished)


def test_the_bundle_has_the_rows(table: Suite, tmp_path: Path) -> None:
    file = tmp_path / "bundle.json"
    write_bundle(file, table, load_specification())
    (written,) = json.loads(file.read_text("utf-8"))["cases"]
    assert {"input", "outcome", "rows"}.isdisjoint(written)
    assert written["inputs"][2] == {
        "input": {"text": {"hex": "eda080"}},
        "outcome": {"error": "invalid_input"},
        "line": 12,
    }
    assert read_bundle(file).cases == {
        "one-table": replace(table.cases["one-table"], source=tuple(table.cases["one-table"].source))
    }


def test_a_probe_asks_the_rows(table: Suite) -> None:
    with InProcessSession(Scripted({**RIGHT, "d": ""})) as session:
        found = probe(session, list(table.cases.values()))
    (finding,) = (finding for finding in found.findings if finding.choice == "unknown_id")
    assert (finding.options, list(finding.telling)) == (("skipped",), ["one-table#4"])
    assert finding.doubt == "that it is skipped and not error rests on one case, one-table#4"


def test_a_trivial_implementation_has_to_pass_every_row(tmp_path: Path) -> None:
    echo = CASE.replace('{hex: "eda080"}, error: invalid_input', '"c", expect: {text: "c"}').replace('"B"', '"bb"')
    passing = '"d", expect: {text: "d"}}'
    rows: Sequence[tuple[str, bool]] = ((passing, True), (passing.replace('text: "d"}', 'text: "e"}'), False))
    for number, (row, passes) in enumerate(rows):
        at = echo.index('"d", by_choice')
        text = HEAD + echo[:at] + row + echo[echo.index("\n", at) :]
        (found, *_) = chance(suite(tmp_path / str(number), text))
        assert (found.name, found.cases, found.passed["echo"]) == ("normalize", 1, int(passes))


def test_it_is_shown_with_its_rows(table: Suite, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases_command.main(["one-table", "--fixtures", str(tmp_path / "fixtures")], standalone_mode=False)
    shown = capsys.readouterr().out
    assert '  asked     #1 normalize {"text": "a"}\n  expected  {"text": "a"}\n' in shown
    assert '  asked     #2 normalize {"text": "b"}\n  one of    {"text": "b"}\n  one of    {"text": "B"}\n' in shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CASE + '    input: {text: "a"}\n', "x.yaml:5: cases[0]: has inputs, so it cannot have input"),
        (CASE + "    error: invalid_input\n", "x.yaml:5: cases[0]: has inputs, so it cannot have error"),
        (CASE + '    worked: [{at: "/text", from: "1"}]\n', "x.yaml:5: cases[0]: has inputs, so it cannot have worked"),
        (CASE.replace(', expect: {text: "a"}', ""), "x.yaml:10: cases[0].inputs[0]: needs exactly one of expect, one_of, by_choice, error"),
        (CASE.replace('text: "a", expect: {text: "a"}', 'text: "a", expect: {text: "a"}, error: invalid_input'), "x.yaml:10: cases[0].inputs[0]: needs exactly one of expect, one_of, by_choice, error"),
        (CASE.replace('text: "a", expect: {text: "a"}', 'txt: "a", expect: {text: "a"}'), "x.yaml:10: cases[0].inputs[0].txt: is an unknown key; did you mean text?"),
        (CASE.replace('expect: {text: "a"}', 'expect: {tokens: []}'), "x.yaml:10: cases[0].inputs[0].expect.tokens: is an unknown key; known are text"),
        (CASE.replace("unknown_id: {", "unknown_ids: {"), "x.yaml:13: cases[0].inputs[3].by_choice.unknown_ids: is not a choice of spec/08-choices.md"),
        (CASE.replace('{text: "B"}', "{}"), "x.yaml:11: cases[0].inputs[1].one_of[1]: lacks the key text"),
        (CASE[: CASE.index("      - {text: \"b\"")] + CASE[CASE.index("    verified_by") :], 'x.yaml:10: cases[0].inputs: [{"expect":{"text":"a"},"text":"a"}] has less than 2 items'),
    ],
)  # fmt: skip
def test_a_table_that_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as error:
        suite(tmp_path, HEAD + text)
    assert str(error.value) == message
