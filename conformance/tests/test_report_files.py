"""Reports: written, read again, cut off, changed, converted and compared."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tokspec.adapter import Hello
from tokspec.base.errors import DataError
from tokspec.base.files import write_whole
from tokspec.judge.compare import Difference
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Result, Verdict, effective_choices, join_rows, judge, not_run
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.report.changes import changes, lines
from tokspec.report.github import write_annotations
from tokspec.report.junit import junit
from tokspec.report.markdown import markdown
from tokspec.report.ndjson import Origin, Report, ndjson, read_report
from tokspec.report.text import text
from tokspec.suite import schema
from tokspec.suite.fixtures import load_suite

CASES = load_suite().cases

#: A token that would colour a terminal, return the carriage, hide, turn the line round, and be markup.
HOSTILE = "\x1b[31m\r\u200b\u202e<b>`|*</b>\ud800"

HELLO = Hello("wicked\x1b[2J", "1|0", "C", operations=("encode",))

ORIGIN = Origin(
    "0.1.0", "ab" * 32, "tokspec run --report a.ndjson", "tokspec run", "Linux x86_64, CPython 3.11.7", "14.0.0"
)

REPLIES: Mapping[str, Reply] = {
    "bpe-toy-encode-bug": Answer({"tokens": ["b", "ug"], "ids": [1, 7], "spans": [[0, 1], [1, 3]]}),
    "bpe-toy-encode-mug": Answer({"tokens": [HOSTILE, "ug"]}),
    "bpe-toy-encode-thug": Fault("crash", "exit status 3"),
    "bpe-toy-encode-unhug": Refused("unsupported", "not <today>"),
    "unigram-toy-encode-unknown": Refused("invalid_input", HOSTILE),
}


def run_of(replies: Mapping[str, Reply], problems: Sequence[str] = ()) -> Run:
    choices = effective_choices(HELLO)
    results = [judge(CASES[case], reply, HELLO, choices) for case, reply in replies.items() if case in CASES]
    return Run(HELLO, choices, tuple(results), tuple(problems))


RUN = run_of(REPLIES, ["known.yaml:5: x is not a case of the suite"])


def written(folder: Path, run: Run = RUN, name: str = "a.ndjson") -> Path:
    file = folder / name
    write_whole(file, b"".join(ndjson(run, ORIGIN)))
    return file


def report(run: Run, name: str = "a") -> Report:
    return Report(name, ORIGIN, run)


def seen(result: Result) -> tuple[object, ...]:
    case = result.case
    shared = (case.id, case.operation, case.clauses, case.file, case.line, result.verdict)
    if result.verdict is Verdict.PASS:
        return shared
    return (*shared, case.why, case.input, result.detail, result.expected, result.reply, result.difference)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    read = read_report(written(tmp_path), "a.ndjson")
    assert (read.file, read.origin) == ("a.ndjson", ORIGIN)
    assert (read.run.hello, read.run.choices, read.run.problems) == (RUN.hello, RUN.choices, RUN.problems)
    assert [seen(result) for result in read.run.results] == [seen(result) for result in RUN.results]
    assert [result.verdict.value for result in RUN.results] == ["pass", "fail", "crash", "unsupported"]


def test_a_report_is_ascii_and_its_lines_are_json(tmp_path: Path) -> None:
    content = written(tmp_path).read_bytes().decode("ascii")
    header, bug, mug, *_, footer = map(json.loads, content.splitlines())
    assert list(header) == [
        "tokspec_report", "suite", "fixtures", "command", "again", "machine", "unicode", "implementation", "choices", "cases",
    ]  # fmt: skip
    assert bug == {
        "case": "bpe-toy-encode-bug",
        "operation": "encode",
        "clauses": list(CASES["bpe-toy-encode-bug"].clauses),
        "verdict": "pass",
        "file": "bpe/toy-encoding.yaml",
        "line": CASES["bpe-toy-encode-bug"].line,
        "asks": ["model input"],
    }
    assert mug["effects"] == ["model input"]
    hostile = {"hex": HOSTILE.encode("utf-8", "surrogatepass").hex()}
    assert mug["reply"] == {"ok": {"tokens": [hostile, "ug"]}}
    assert mug["difference"] == {"path": ["tokens", 0], "expected": "[UNK]", "actual": hostile}
    zeros = dict.fromkeys((verdict.value for verdict in Verdict), 0)
    assert footer == {
        "counts": {**zeros, "pass": 1, "fail": 1, "crash": 1, "unsupported": 1},
        "problems": ["known.yaml:5: x is not a case of the suite"],
        "conforms": False,
    }


LINES = b"".join(ndjson(RUN, ORIGIN)).decode("ascii").splitlines(keepends=True)
HEAD, FIRST, SECOND, *MORE, FOOT = LINES


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "r: is empty; tokspec run --report writes a report"),
        (HEAD, "r: ends after 0 of 4 cases and without its counts: it was cut off; run again"),
        (HEAD + FIRST, "r: ends after 1 of 4 cases and without its counts: it was cut off; run again"),
        ("".join(LINES[:-1]), "r: ends after 4 of 4 cases and without its counts: it was cut off; run again"),
        (HEAD + FOOT, "r:2: has counts that do not match its lines; it was changed or cut; run again"),
        (HEAD + FIRST + FIRST + SECOND + MORE[0] + FOOT, "r:6: has counts that do not match its lines; it was changed or cut; run again"),
        (HEAD + FIRST * 2 + "".join([*MORE, FOOT]).replace('"fail":1', '"fail":0').replace('"pass":1', '"pass":2'), "r: has a case twice; it was changed; run again"),
        ("".join(LINES).replace('"conforms":false', '"conforms":true'), "r:6: has counts that do not match its lines; it was changed or cut; run again"),
        ("".join(LINES).replace('"tokspec_report":1', '"tokspec_report":2'), "r: is a report of form 2, and this suite reads 1; run again"),
        ("".join(LINES).replace('"verdict":"pass"', '"verdict":"passed"'), 'r:2: verdict: "passed" is not one of the values; did you mean pass?'),
        ("".join(LINES).replace('"verdict":"pass"', '"verdict":"fail"'), "r:2: lacks the key expected"),
        ("".join(LINES).replace("BPE-ENC-1", "BPE-ENC-999"), "r:2: BPE-ENC-999 is not a clause of this version of the suite; use the version that wrote the report"),
        ("".join(LINES).replace('"line":', '"lime":', 1), "r:2: lime: is an unknown key; did you mean line?"),
        (HEAD + "[" * 100_000 + "\n" + FOOT, "r:2: a line is nested more than 64 levels deep: '" + "[" * 200 + "' and 99800 more bytes; was it cut off?"),
        (HEAD + FIRST[:40], f"r:2: a line is not JSON (Expecting ':' delimiter at character 41): {FIRST[:40]!r}; was it cut off?"),
        ("\ufeff" + HEAD, "r:1: begins with a byte-order mark; save it as UTF-8 without one"),
    ],
)  # fmt: skip
def test_a_report_that_is_not_whole_is_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "r.ndjson"
    file.write_text(content, "utf-8")
    with pytest.raises(DataError) as caught:
        read_report(file, "r")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "change",
    [
        {"expected": {"error": "unknown_symbol"}},
        {"expected": {"expect": {}}},
        {"expected": {"one_of": [{"text": ""}, {"tokens": ["[UNK]", "ug"]}]}},
        {"reply": {"refused": {"reason": "unsupported", "message": ""}}},
        {"reply": {"ok": {}}},
        {"reply": {"ok": {"tokens": "x"}}},
        {"difference": {"path": ["tokens", "x"]}},
        {"difference": {"path": ["tokens", "x"], "expected": "[UNK]"}},
        {"difference": {"path": ["tokens", 0.0], "expected": "[UNK]", "actual": "x"}},
        {"difference": {"path": ["tokens", -2], "expected": "[UNK]", "actual": "x"}},
        {"difference": {"path": ["tokens", 0], "expected": "other", "actual": "x"}},
        {"difference": {"path": ["tokens", 0], "expected": "[UNK]", "actual": "other"}},
        {"difference": {"path": ["tokens", 0], "expected": "[UNK]"}},
        {"difference": {"path": [], "expected": {"tokens": ["[UNK]", "ug"]}, "actual": {"tokens": ["x", "ug"]}}},
    ],
)
def test_a_difference_is_that_of_its_line(tmp_path: Path, change: Mapping[str, object]) -> None:
    line = json.loads(SECOND) | {"reply": {"ok": {"tokens": ["x", "ug"]}}}
    line["difference"] = {"path": ["tokens", 0], "expected": "[UNK]", "actual": "x"}
    file = tmp_path / "r.ndjson"
    file.write_text(HEAD + FIRST + json.dumps(line) + "\n" + "".join([*MORE, FOOT]))
    read = read_report(file).run.results[1]
    assert read.difference == Difference(("tokens", 0), "[UNK]", "x")
    file.write_text(HEAD + FIRST + json.dumps({**line, **change}) + "\n" + "".join([*MORE, FOOT]))
    with pytest.raises(DataError) as caught:
        read_report(file, "r")
    message = "is not the difference between the expected answer and the given one; the line was changed; run again"
    assert str(caught.value) == f"r:3: difference: {message}"


def test_a_report_that_is_too_large_is_none(tmp_path: Path) -> None:
    with (tmp_path / "r.ndjson").open("wb") as file:
        file.truncate(65 * 1024**2)
    with pytest.raises(DataError) as caught:
        read_report(tmp_path / "r.ndjson", "r")
    assert str(caught.value) == "r: is larger than 64 MB; tokspec run --report writes no such report; run again"


def test_every_cut_of_a_report_is_seen(tmp_path: Path) -> None:
    whole = "".join(LINES)
    file = tmp_path / "r.ndjson"
    for end in {*range(0, len(whole) - 1, 29), *(match.end() for match in re.finditer("\n", whole[:-1]))}:
        file.write_text(whole[:end], "ascii")
        with pytest.raises(DataError):
            read_report(file)


def test_a_pipe_is_no_report(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match=r"^p: is not a regular file$"):
        read_report(tmp_path / "pipe", "p")


ALLOWED = {
    "testsuites": set(),
    "testsuite": {"name", "tests", "failures", "errors", "skipped"},
    "testcase": {"name", "classname"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "skipped": {"message"},
    "properties": set(),
    "property": {"name", "value"},
}


def test_junit_holds_what_its_schema_allows_and_counts_it() -> None:
    text = junit([(ORIGIN, RUN)])
    assert not re.search("[^\n -~]", text)
    document = ElementTree.fromstring(text)
    for element in document.iter():
        assert set(element.attrib) <= ALLOWED[element.tag]
    suite = document.find("testsuite")
    assert suite is not None
    assert suite.attrib == {
        "name": "tokspec wicked\\u001b[2J 1|0", "tests": "5", "failures": "1", "errors": "2", "skipped": "1",
    }  # fmt: skip
    assert [element.attrib for element in suite.findall("properties/property")] == [
        {"name": "state", "value": "does not conform"}
    ]
    shown = [
        (case.get("name"), [(child.tag, child.get("message")) for child in case]) for case in suite.iter("testcase")
    ]
    assert shown == [
        ("bpe-toy-encode-bug", []),
        ("bpe-toy-encode-mug", [("properties", None), ("failure", "fail: wrong answer")]),
        ("bpe-toy-encode-thug", [("properties", None), ("error", "crash: exit status 3")]),
        ("bpe-toy-encode-unhug", [("skipped", "unsupported: not <today>")]),
        (
            "the run",
            [
                (
                    "error",
                    "wicked\\u001b[2J 1|0 does not conform: 3 of 4 cases asked = 1 pass + 1 fail + 1 crash, 1 unsupported",
                )
            ],
        ),
    ]
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert (failure.text or "").splitlines()[-1] == "  again     tokspec run --select bpe-toy-encode-mug"


def test_junit_shows_what_fails_without_a_failing_case() -> None:
    nothing = run_of({"bpe-toy-encode-unhug": Refused("unsupported", "")})
    stale = run_of({"bpe-toy-encode-bug": REPLIES["bpe-toy-encode-bug"]}, ["k.yaml:5: x is not a case of the suite"])
    document = ElementTree.fromstring(junit([(ORIGIN, nothing), (ORIGIN, stale)]))
    errors = [(error.get("message"), error.text) for error in document.iter("error")]
    assert errors == [
        (
            "wicked\\u001b[2J 1|0 does not conform: 0 of 1 case asked = none, 1 unsupported",
            "\nno case passed, and a run that shows nothing is not a pass\n",
        ),
        ("wicked\\u001b[2J 1|0 does not conform: 1 case = 1 pass", "\nk.yaml:5: x is not a case of the suite\n"),
    ]


def test_every_verdict_has_its_element() -> None:
    case, choices = CASES["bpe-toy-encode-bug"], effective_choices(HELLO)
    results = [replace(not_run(case, choices, "why"), verdict=verdict) for verdict in Verdict]
    document = ElementTree.fromstring(junit([(ORIGIN, Run(HELLO, choices, tuple(results)))]))
    tags = [[child.tag for child in case] for case in document.iter("testcase")]
    assert dict(zip((verdict.value for verdict in Verdict), tags, strict=True)) == {
        "pass": [],
        "as the origin": [],
        "unexpected pass": ["failure"],
        "fail": ["failure"],
        "error": ["failure"],
        "crash": ["error"],
        "timeout": ["error"],
        "protocol": ["error"],
        "state leak": ["failure"],
        "known failure": ["skipped"],
        "unsupported": ["skipped"],
        "not run": ["skipped"],
    }


def test_markdown_takes_nothing_for_markup() -> None:
    text = markdown([(ORIGIN, RUN)], show=1)
    assert text.splitlines()[:16] == [
        r"## wicked\\u001b\[2J 1\|0 does not conform\: 3 of 4 cases asked = 1 pass + 1 fail + 1 crash, 1 unsupported",
        "",
        "| chapter | pass | fail | crash | unsupported | held |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
        "| **04-bpe** | 1 | 1 | 1 | 1 | partial |",
        "| BPE-ENC-3 | 1 | · | 1 | 1 | partial |",
        "| BPE-ENC-6 | · | 1 | 1 | · | none |",
        "| **all** | 1 | 1 | 1 | 1 | partial |",
        "",
        "| profile | pass | fail | crash | unsupported | held |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
        "| **documents** | 1 | 1 | 1 | 1 | partial |",
        "| **tokenizer.json** | 1 | 1 | 1 | 1 | partial |",
        "| **sentencepiece** | 1 | 1 | 1 | 1 | partial |",
        "| **tiktoken** | 1 | · | · | 1 | partial |",
        "",
    ]  # fmt: skip
    assert "<summary>FAIL bpe-toy-encode-mug" in text
    assert "… and 1 more.\n" in text
    assert not re.search("[\x1b\r\u200b\u202e\ud800]", text)
    assert text.endswith("tokspec 0.1.0, fixtures abababababab, Linux x86\\_64, CPython 3.11.7\n")


def test_markdown_mentions_nobody_and_links_no_issue() -> None:
    name = "@everyone a/b#1 #2 gh-3 www.example.com x@y.org C#"
    text = markdown([(ORIGIN, replace(RUN, hello=replace(HELLO, name=name), faults=("@me",)))], show=1)
    assert text.splitlines()[0] == (
        "## <code>@</code>everyone a/b<code>#</code>1 <code>#</code>2 gh<code>-</code>3 www\\.example.com "
        "x<code>@</code>y.org C# 1\\|0 does not conform\\: 3 of 4 cases asked = 1 pass + 1 fail + 1 crash, 1 unsupported"
    )
    assert "- outside the cases: <code>@</code>me" in text.splitlines()


def test_a_fence_is_longer_than_any_in_its_lines() -> None:
    run = run_of({"bpe-toy-encode-bug": Answer({"tokens": ["`````"]})})
    assert "\n``````text\n" in markdown([(ORIGIN, run)], show=1)


BEFORE = run_of(
    {
        "bpe-toy-encode-bug": REPLIES["bpe-toy-encode-bug"],
        "bpe-toy-encode-hugs": Answer(CASES["bpe-toy-encode-hugs"].outcome["expect"]),
        "bpe-toy-encode-mug": REPLIES["bpe-toy-encode-mug"],
        "bpe-toy-encode-thug": REPLIES["bpe-toy-encode-thug"],
        "bpe-toy-encode-unhug": REPLIES["bpe-toy-encode-unhug"],
    }
)


def test_what_changed_is_said_by_cause() -> None:
    wrong = Answer({"tokens": ["?"]})
    after = run_of(
        {
            "bpe-toy-encode-bug": wrong,
            "bpe-toy-encode-hugs": wrong,
            "bpe-toy-encode-mug": Refused("unsupported", ""),
            "bpe-toy-encode-thug": wrong,
        }
    )
    old, new = report(BEFORE, "old"), report(after, "new")
    new = replace(new, origin=replace(ORIGIN, fixtures="cd" * 32))
    assert list(lines(old, new, changes(old, new))) == [
        "old: wicked\\u001b[2J 1|0 does not conform: 4 of 5 cases asked = 2 pass + 1 fail + 1 crash, 1 unsupported",
        "new: wicked\\u001b[2J 1|0 does not conform: 3 of 4 cases asked = 3 fail, 1 unsupported",
        "the fixtures differ: abababababab and cdcdcdcdcdcd",
        "new            2 cases, pass → fail: wrong answer: bpe-toy-encode-bug, bpe-toy-encode-hugs",
        "otherwise      crash → fail: wrong answer: bpe-toy-encode-thug",
        "fixed          fail → unsupported: wrong answer: bpe-toy-encode-mug",
        "stale          unsupported → absent: not <today>: bpe-toy-encode-unhug",
        "2 new: no longer conforms, or is new and does not conform",
        "1 otherwise: does not conform, as before, but has another answer",
        "1 fixed: conforms now",
        "1 stale: is only in the older report",
    ]


def test_a_case_that_is_gone_though_the_fixtures_are_the_same_is_lost() -> None:
    old, new = report(BEFORE, "old"), report(run_of({"bpe-toy-encode-mug": REPLIES["bpe-toy-encode-mug"]}), "new")
    assert [str(change) for change in changes(old, new)] == [
        "lost           bpe-toy-encode-bug: pass → absent",
        "lost           bpe-toy-encode-hugs: pass → absent",
        "lost           bpe-toy-encode-thug: crash → absent",
        "lost           bpe-toy-encode-unhug: unsupported → absent",
        "still failing  bpe-toy-encode-mug: fail → fail",
    ]


def test_what_stayed_is_one_line() -> None:
    same = report(run_of({"bpe-toy-encode-bug": REPLIES["bpe-toy-encode-bug"]}))
    assert changes(same, same) == []
    assert list(lines(same, same, []))[-1] == "the same verdicts in all 1 cases"


def test_what_cannot_be_compared_is_said() -> None:
    old = report(BEFORE)
    other = replace(old, origin=replace(ORIGIN, suite="0.2.0", fixtures="cd" * 32))
    other = replace(other, run=replace(BEFORE, choices={**BEFORE.choices, "unknown_id": "skipped"}))
    assert list(lines(old, other, []))[2:5] == [
        "the suite differs: 0.1.0 and 0.2.0",
        "the fixtures differ: abababababab and cdcdcdcdcdcd",
        "the choice unknown_id differs: error and skipped",
    ]


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("before", "utf-8")
    file.chmod(0o640)
    write_whole(file, "after")
    assert (file.read_text("utf-8"), file.stat().st_mode & 0o777) == ("after", 0o640)
    link = tmp_path / "link"
    link.symlink_to(file)
    write_whole(link, b"through the link")
    assert (link.is_symlink(), file.read_text("utf-8")) == (True, "through the link")
    with pytest.raises(DataError) as caught:
        write_whole(tmp_path / "no" / "a.txt", "x")
    assert str(caught.value) == f"{tmp_path / 'no' / 'a.txt'}: cannot be written: No such file or directory"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "link"]


def test_what_was_there_stays_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.txt"
    file.write_text("before", "utf-8")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"cannot be written: No space left on device$"):
        write_whole(file, "after")
    assert (file.read_text("utf-8"), len(list(tmp_path.iterdir()))) == ("before", 1)


def written_lines(run: Run) -> list[dict[str, object]]:
    return [json.loads(line) for line in b"".join(ndjson(run, ORIGIN)).splitlines()]


def test_every_line_of_a_report_is_as_its_schema_says() -> None:
    """With every verdict, a table with its rows, and faults beside the cases."""
    table = next(case for case in CASES.values() if case.rows)
    rows = [replace(not_run(row, RUN.choices, "why"), verdict=Verdict.FAIL) for row in table.questions]
    verdicts = [replace(RUN.results[0], verdict=verdict, detail="why") for verdict in Verdict]
    run = replace(RUN, results=(*RUN.results, *verdicts, join_rows(table, rows)), faults=("hangs",))
    found = written_lines(run)
    assert {line["verdict"] for line in found if "case" in line} == {verdict.value for verdict in Verdict}
    assert "rows" in found[-2]
    assert found[-1]["faults"] == ["hangs"]
    for line in found:
        assert list(schema.errors(line, "report/line")) == []
        assert [path for path, _ in schema.errors({**line, "another": 1}, "report/line")] == [("another",)]


def test_faults_beside_the_cases_are_read_again_and_told(tmp_path: Path) -> None:
    run = replace(RUN, faults=("keeps \x1b[2J state",))
    read = read_report(written(tmp_path, run)).run
    assert read.faults == run.faults
    lines = list(text(read, ()))
    told = lines.index("outside the cases:")
    assert lines[told : told + 3] == ["outside the cases:", "  keeps \\u001b[2J state", ""]
    assert "- outside the cases: keeps \\\\u001b\\[2J state" in markdown([(ORIGIN, read)], 10).splitlines()


@pytest.mark.parametrize(("failing", "problems", "cases"), [(3, 0, 3), (10, 0, 10), (11, 0, 9), (9, 1, 9), (10, 1, 8)])
def test_annotations_are_as_many_as_are_shown(failing: int, problems: int, cases: int) -> None:
    ids = [case.id for case in CASES.values() if case.operation == "encode"][:failing]
    run = run_of({id: Fault("crash", "exit status 3") for id in ids}, ["x"] * problems)
    rest = [f"{failing - cases} more cases failed; the reports have them."] * (cases < failing)
    said = [line.partition("::")[2].partition("::")[2] for line in write_annotations(run, ORIGIN, 20)]
    assert (len(said), said[cases:]) == (cases + problems + len(rest), ["x"] * problems + rest)
