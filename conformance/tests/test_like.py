"""Held to "as specified, or as the origin answers": in verdicts, choices, lists of known failures, and every report."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tokspec.adapter import Hello
from tokspec.adapters.registry import open_session
from tokspec.base.errors import AdapterFault, DataError
from tokspec.judge.known_failures import KnownFailures, digest, read_known_failures
from tokspec.judge.like import Likeness, answer_of
from tokspec.judge.runner import Run, likeness_of, run
from tokspec.judge.scope import shortfalls
from tokspec.judge.verdicts import Result, Verdict, effective_choices, join_rows, judge
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.report.changes import kind_of
from tokspec.report.github import write_annotations, write_outputs
from tokspec.report.junit import junit
from tokspec.report.ndjson import Origin as CameFrom
from tokspec.report.ndjson import ndjson, read_report
from tokspec.report.text import headline, text
from tokspec.results.rows import Listed, MatrixRow, text_matrix
from tokspec.results.site.build import build_site
from tokspec.suite.cases import Case, Model, Suite
from tokspec.suite.fixtures import load_suite
from tokspec.suite.origins import (
    Origin,
    OriginAnswer,
    load_origin,
    load_origins,
    parse_origin,
    read_origin,
    write_origin,
)
from tokspec.suite.specification import load_specification

FIELDS = ("tokens", "ids", "spans")
BUG = {"tokens": ["b", "ug"], "ids": [1, 8], "spans": [[0, 1], [1, 3]]}
FACE = {"ids": [4, 5], "spans": [[0, 2], [2, 3]]}
PAIR = {"ids": [4, 4], "spans": [[0, 1], [0, 1]], "sequence_ids": [0, 1]}
BATCH = {"encodings": [{"ids": [1]}, {"ids": [2]}]}

AS_TOYS = ("as the origin", "as toys 1.2: It is odd.")
WRONG = ("fail", "wrong answer")


def case(outcome: Mapping[str, Any], operation: str = "encode", input: Mapping[str, Any] | None = None) -> Case:
    input = input or {"text": "bug"}
    return Case("one", ("BPE-ENC-1",), "why", (), Model("toy", {}), operation, input, outcome, file="a.yaml", line=1)


def hello(fields: Sequence[str] = FIELDS, **declared: Any) -> Hello:
    operations = ("encode", "encode_batch", "pre_tokenize", "segment")
    return Hello("port", "1", "C", operations, encode_fields=tuple(fields), **declared)


def toys(known: Mapping[str, Any], **choices: str) -> Origin:
    return Origin("toys", "1.2", choices, {"one": OriginAnswer("bug", "It is odd.", known)})


def judged(
    asked: Case, known: Mapping[str, Any], reply: Reply, fields: Sequence[str] = FIELDS, unit: str = "code_point"
) -> tuple[str, str]:
    described = hello(fields, choices={"offset_unit": unit})
    result = judge(asked, reply, described, effective_choices(described))
    liked = Likeness(toys(known)).apply_to(result, reply, described, unit)
    return liked.verdict.value, liked.detail


@pytest.mark.parametrize(
    ("known", "given", "fields", "verdict"),
    [
        ({"ids": [1, 7]}, {**BUG, "ids": [1, 7]}, FIELDS, AS_TOYS),
        ({"ids": [1, 7]}, {"ids": [1, 7]}, ("ids",), AS_TOYS),
        ({"ids": [1, 7]}, {"ids": [1, 7], "tokens": ["b", "ug"]}, FIELDS, AS_TOYS),
        ({"ids": [1, 7], "tokens": ["b", "x"]}, {"ids": [1, 7]}, ("ids",), AS_TOYS),
        ({"ids": [1, 7]}, {**BUG, "ids": [1, 6]}, FIELDS, WRONG),
        ({"ids": [1, 7]}, {**BUG, "ids": [1, 7], "tokens": ["b", "x"]}, FIELDS, WRONG),
        ({"ids": [1, 7]}, {**BUG, "ids": [1, 7], "spans": [[0, 1], [1, 2]]}, FIELDS, WRONG),
        ({"spans": [[0, 0], [1, 3]]}, {**BUG, "ids": [1, 7]}, FIELDS, WRONG),
        ({"ids": [1, 7]}, BUG, FIELDS, ("pass", "")),
    ],
)
def test_an_answer_is_the_origins_in_the_fields_that_both_give(
    known: Mapping[str, Any], given: Mapping[str, Any], fields: Sequence[str], verdict: tuple[str, str]
) -> None:
    assert judged(case({"expect": BUG}), {"result": known}, Answer(given), fields) == verdict


@pytest.mark.parametrize(
    ("unit", "spans", "verdict"),
    [
        ("code_point", [[0, 1], [1, 3]], AS_TOYS),
        ("utf16", [[0, 2], [2, 4]], AS_TOYS),
        ("byte", [[0, 4], [4, 6]], AS_TOYS),
        ("byte", [[0, 1], [1, 3]], WRONG),
    ],
)
def test_spans_of_an_origin_are_compared_in_the_unit_of_the_implementation(
    unit: str, spans: Sequence[Sequence[int]], verdict: tuple[str, str]
) -> None:
    asked = case({"expect": FACE}, input={"text": "🙂ab"})
    known = {"result": {"spans": [[0, 1], [1, 3]]}}
    assert judged(asked, known, Answer({**FACE, "spans": spans}), unit=unit) == verdict


@pytest.mark.parametrize(
    ("spans", "verdict"), [([[0, 1], [2, 3]], AS_TOYS), ([[0, 1], [1, 2]], WRONG), ([[0, 1], [4, 5]], WRONG)]
)
def test_spans_of_an_origin_in_the_second_text_are_those_of_the_second_text(
    spans: Sequence[Sequence[int]], verdict: tuple[str, str]
) -> None:
    asked = case({"expect": PAIR}, input={"text": "a", "pair": "éa"})
    known = {"result": {"spans": [[0, 1], [1, 2]]}}
    given = Answer({**PAIR, "spans": spans})
    assert judged(asked, known, given, ("ids", "spans", "sequence_ids"), "byte") == verdict


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ([{"ids": [1]}, {"ids": [3]}], AS_TOYS),
        ([{"ids": [1]}, {"ids": [4]}], WRONG),
        ([{"ids": [1]}], WRONG),
    ],
)
def test_a_batch_is_compared_encoding_by_encoding(given: Sequence[Mapping[str, Any]], verdict: tuple[str, str]) -> None:
    asked = case({"expect": BATCH}, "encode_batch", {"inputs": [{"text": "a"}, {"text": "b"}]})
    known = {"result": {"encodings": [{"ids": [1]}, {"ids": [3]}]}}
    assert judged(asked, known, Answer({"encodings": list(given)})) == verdict


def test_other_results_are_compared_whole_within_the_tolerance() -> None:
    asked = case({"one_of": [{"tokens": ["a"], "score": 1.0}]}, "segment", {"word": "a"})
    known = {"result": {"score": 2.0}}
    assert judged(asked, known, Answer({"tokens": ["a"], "score": 2.0 + 1e-10})) == AS_TOYS
    assert judged(asked, known, Answer({"tokens": ["b"], "score": 2.0})) == WRONG
    assert judged(asked, known, Answer({"tokens": ["a"], "score": 2.1})) == WRONG


def test_pieces_without_spans_are_compared_by_their_texts() -> None:
    asked = case({"expect": {"pieces": [["a", 0, 1], ["b", 1, 2]]}}, "pre_tokenize", {"text": "ab"})
    known = {"result": {"pieces": [["b", 1, 2]]}}
    assert judged(asked, known, Answer({"pieces": [["b"]]})) == AS_TOYS
    assert judged(asked, known, Answer({"pieces": [["a"]]})) == WRONG


REFUSED = Refused("unknown_symbol", "no u")


@pytest.mark.parametrize(
    ("known", "reply", "verdict"),
    [
        ({"refused": "unknown_symbol"}, REFUSED, AS_TOYS),
        (
            {"refused": "invalid_model"},
            REFUSED,
            ("error", "refused as unknown_symbol where a result is expected: no u"),
        ),
        ({"refused": "unknown_symbol"}, Answer({"ids": [3]}), WRONG),
        ({"refused": "unknown_symbol"}, Refused("unsupported", "later"), ("unsupported", "later")),
        ({"fault": "crash"}, REFUSED, AS_TOYS),
        ({"fault": "crash"}, Fault("crash", "exit status 3"), AS_TOYS),
        ({"fault": "timeout"}, REFUSED, AS_TOYS),
        ({"fault": "crash"}, Fault("timeout", "after 10 s"), ("timeout", "after 10 s")),
        ({"fault": "crash"}, Answer({**BUG, "ids": [3]}), WRONG),
        ({"result": {"ids": [3]}}, Fault("crash", "exit status 3"), ("crash", "exit status 3")),
        ({"result": {"ids": [3]}}, REFUSED, ("error", "refused as unknown_symbol where a result is expected: no u")),
    ],
)
def test_refusals_and_crashes(known: Mapping[str, Any], reply: Reply, verdict: tuple[str, str]) -> None:
    assert judged(case({"expect": BUG}), known, reply) == verdict


ANSWERS = ("fail", "answers where a refusal as invalid_input is expected")


@pytest.mark.parametrize(
    ("given", "fields", "verdict"),
    [
        ({"tokens": ["b"], "ids": [1], "type_ids": [0]}, FIELDS, AS_TOYS),
        ({"ids": [1]}, ("ids",), AS_TOYS),
        ({"tokens": ["x"], "ids": [1]}, FIELDS, ANSWERS),
        ({"type_ids": [0]}, ("type_ids",), ANSWERS),
    ],
)
def test_an_answer_where_a_refusal_is_due(
    given: Mapping[str, Any], fields: Sequence[str], verdict: tuple[str, str]
) -> None:
    known = {"result": {"tokens": ["b"], "ids": [1]}}
    assert judged(case({"error": "invalid_input"}), known, Answer(given), fields) == verdict


def test_the_result_is_whole_but_for_what_its_failure_would_cost() -> None:
    described, asked, reply = hello(), case({"expect": BUG}), Answer({**BUG, "ids": [1, 7]})
    result = judge(asked, reply, described, effective_choices(described))
    liked = Likeness(toys({"result": {"ids": [1, 7]}})).apply_to(result, reply, described, "code_point")
    assert liked == replace(result, verdict=Verdict.AS_ORIGIN, detail=AS_TOYS[1], effects=())
    assert answer_of(result, reply) == {"result": {"ids": [1, 7]}}


@pytest.mark.parametrize(("reply", "verdict"), [(REFUSED, "error"), (Fault("crash", "gone"), "as the origin")])
def test_the_origin_itself_has_to_crash_where_it_crashed(reply: Reply, verdict: str) -> None:
    described = hello()
    result = judge(case({"expect": BUG}), reply, described, effective_choices(described))
    liked = Likeness(toys({"fault": "crash"}), is_origin=True).apply_to(result, reply, described, "code_point")
    assert liked.verdict.value == verdict


def test_a_table_passes_as_the_origin_if_a_row_does_and_none_is_worse() -> None:
    def table(*verdicts: Verdict) -> tuple[str, str]:
        details = {Verdict.AS_ORIGIN: AS_TOYS[1], Verdict.FAIL: "wrong answer", Verdict.UNSUPPORTED: "later"}
        rows = [
            Result(replace(case({}), id=f"one#{number}"), verdict, details.get(verdict, ""), {})
            for number, verdict in enumerate(verdicts, 1)
        ]
        joined = join_rows(case({}), rows)
        return joined.verdict.value, joined.detail

    assert table(Verdict.PASS, Verdict.AS_ORIGIN) == ("as the origin", f"row 2 of 2: {AS_TOYS[1]}")
    assert table(Verdict.UNSUPPORTED, Verdict.AS_ORIGIN)[0] == "as the origin"
    assert table(Verdict.FAIL, Verdict.AS_ORIGIN) == ("fail", "row 1 of 2: wrong answer")


def test_choices_that_are_not_declared_are_those_of_the_origin() -> None:
    origin, defaults = load_origin("tokenizers"), load_specification().defaults()
    spans = {"offset_unit": defaults["offset_unit"]}
    assert origin.choices["unknown_id"] == "skipped" != defaults["unknown_id"]
    assert effective_choices(hello(), origin=origin) == {**defaults, **origin.choices, **spans}
    declared = hello(choices={"unknown_id": "error", "offset_unit": "byte"})
    assert effective_choices(declared, {"unigram_tie": "latest_start"}, origin) == {
        **{**defaults, **origin.choices},
        **{"unknown_id": "error", "offset_unit": "byte", "unigram_tie": "latest_start"},
    }
    other = toys({"fault": "crash"}, offset_unit="byte", unknown_id="skipped")
    assert effective_choices(hello(), origin=other) == {**defaults, "unknown_id": "skipped"}


UNKNOWN = "'tokenisers' is not an origin; did you mean tokenizers? there are sentencepiece, tiktoken, tokenizers"


def test_what_an_implementation_is_held_to() -> None:
    tiktoken, tokenizers = load_origin("tiktoken"), load_origin("tokenizers")
    assert likeness_of(hello(), None, None) is None
    assert likeness_of(hello(like="tiktoken"), None, None) == Likeness(tiktoken)
    assert likeness_of(hello(like="tiktoken"), None, tokenizers) == Likeness(tokenizers)
    itself = KnownFailures(origin=tiktoken)
    assert likeness_of(hello(like="tokenizers"), itself, None) == Likeness(tiktoken, is_origin=True)
    with pytest.raises(AdapterFault) as caught:
        likeness_of(hello(like="tokenisers"), None, None)
    assert (caught.value.kind, caught.value.message) == ("protocol", f"hello: like: {UNKNOWN}")


def test_the_answers_of_origins_are_of_questions_of_the_suite() -> None:
    questions = {question.id for case in load_suite().cases.values() for question in case.questions}
    known = load_specification().choices
    for origin in load_origins().values():
        assert [question for question in origin.answers if question not in questions] == []
        assert [name for name, option in origin.choices.items() if option not in known[name].options] == []
        assert parse_origin(write_origin(origin), origin.file) == origin


FILE = """\
about: "Toys."
origin: "toys"
version: "1.2"
choices: {}
answers:
  - kind: bug
    reason: "It is odd."
    cases:
      "two#2": {refused: "invalid_model"}
      "two#1": {result: {text: {hex: "eda080"}}}
  - kind: crash
    reason: "It falls."
    cases:
      "one": {fault: "crash"}
"""


def origin_of(folder: Path, content: str) -> Origin:
    (folder / "toys.yaml").write_text(content, "utf-8")
    return read_origin(folder / "toys.yaml")


def test_an_origin_is_read(tmp_path: Path) -> None:
    origin = origin_of(tmp_path, FILE)
    refused, result = OriginAnswer("bug", "It is odd.", {"refused": "invalid_model"}), {"text": "\ud800"}
    answers = {
        "two#2": refused,
        "two#1": OriginAnswer("bug", "It is odd.", {"result": result}),
        "one": OriginAnswer("crash", "It falls.", {"fault": "crash"}),
    }
    assert origin == Origin("toys", "1.2", {}, answers, "origins/toys.yaml")
    assert origin.cases == {"two": refused, "one": answers["one"]}
    assert str(origin) == "toys 1.2"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"one": {', '"two#1": {', "origins/toys.yaml:14: answers[1].cases.two#1: has an answer already; keep one"),
        (
            "kind: bug",
            "kind: fault",
            'origins/toys.yaml:6: answers[0].kind: "fault" is not one of the values; known are convention, bug, crash, limit',
        ),
    ],
)
def test_a_wrong_file_of_an_origin_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        origin_of(tmp_path, FILE.replace(old, new))
    assert str(caught.value) == message


HOLE = "added-token-in-a-hole"
HOLE_REASON = load_origin("tokenizers").answers[HOLE].reason
LIKE = f"as tokenizers 0.23.3: {HOLE_REASON}"

ENTRY = f"""\
known_failures:
  - case: "{HOLE}"
    verdict: "fail"
    digest: "0123456789abcdef"
    like: "tokenizers"
"""


def known_of(folder: Path, content: str) -> KnownFailures:
    (folder / "known.yaml").write_text(content, "utf-8")
    return read_known_failures(folder / "known.yaml", "known.yaml")


def hole(ids: Sequence[int] = (0, 2, 2), like: str = "tokenizers") -> Result:
    """Return the result of an answer to the case that tokenizers answers with 0, 2, 2."""
    described, reply = hello(("ids",)), Answer({"ids": list(ids)})
    result = judge(load_suite().cases[HOLE], reply, described, effective_choices(described))
    return Likeness(load_origin(like)).apply_to(result, reply, described, "code_point") if like else result


def applied(known: KnownFailures, result: Result) -> tuple[str, str]:
    counted = known.apply_to(result, date(2026, 1, 1))
    return counted.verdict.value, counted.detail


def test_a_file_of_an_origin_lists_all_its_answers(tmp_path: Path) -> None:
    known, origin = known_of(tmp_path, 'origin: "tokenizers"\nknown_failures: []\n'), load_origin("tokenizers")
    assert known.origin == origin
    assert {id: entry.reason for id, entry in known.entries.items()} == {
        id: answer.reason for id, answer in origin.cases.items()
    }
    assert applied(known, hole()) == ("known failure", HOLE_REASON)
    assert applied(known, hole([0, 1, 2])) == ("unexpected pass", "passes, but known.yaml:1 lists it as failing")
    assert applied(known, hole([0, 2, 1])) == ("fail", "wrong answer (and not as known.yaml:1 lists it)")


def test_an_entry_fails_as_an_origin_does_for_its_reason(tmp_path: Path) -> None:
    known = known_of(tmp_path, ENTRY.replace("0123456789abcdef", digest(hole(like=""))))
    assert applied(known, hole(like="")) == ("known failure", LIKE)
    assert applied(known, hole([0, 2, 1], like="")) == ("fail", "wrong answer (and not as known.yaml:2 lists it)")


def test_what_passes_as_the_origin_is_not_to_be_listed(tmp_path: Path) -> None:
    failing, skipped = known_of(tmp_path, ENTRY), f'known_failures: []\nunsupported:\n  - "{HOLE}"\n'
    said = "passes as the origin, but known.yaml:2 lists it as failing"
    assert applied(failing, hole()) == ("unexpected pass", said)
    said = "passes as the origin, but known.yaml:3 lists it as unsupported"
    assert applied(known_of(tmp_path, skipped), hole()) == ("unexpected pass", said)
    assert applied(KnownFailures(), hole()) == ("as the origin", LIKE)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('origin: "tokenisers"\nknown_failures: []\n', f"known.yaml:1: origin: {UNKNOWN}"),
        (ENTRY.replace('"tokenizers"', '"tokenisers"'), f"known.yaml:5: known_failures[0].like: {UNKNOWN}"),
        (
            ENTRY.replace(HOLE, "bpe-toy-encode-bug"),
            "known.yaml:5: known_failures[0].like: tokenizers 0.23.3 answers bpe-toy-encode-bug as specified; "
            "give the reason instead",
        ),
    ],
)
def test_a_wrong_origin_in_a_file_is_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        known_of(tmp_path, content)
    assert str(caught.value) == message


def run_of(*results: Result, like: str = "tokenizers 0.23.3") -> Run:
    return Run(hello(("ids",)), effective_choices(hello()), results, like=like)


CAME_FROM = CameFrom("0.1.0", "ab" * 32, "tokspec run --like tokenizers", "tokspec run", "Linux", "14.0.0")
HEADLINE = "port 1 conforms like its origin: 2018 cases = 1841 pass + 177 as tokenizers 0.23.3"


def test_the_headline_names_the_origin_and_its_version() -> None:
    finished = run_of(*[hole([0, 1, 2])] * 1841, *[hole()] * 177)
    assert headline(finished) == HEADLINE
    assert (finished.is_green, finished.holds_list, finished.complaints) == (True, False, ())
    worse = run_of(hole([0, 2, 1]), hole())
    assert headline(worse) == "port 1 does not conform: 2 cases = 1 as tokenizers 0.23.3 + 1 fail"


def test_a_run_shows_something_where_all_is_as_the_origin_answers() -> None:
    finished = run_of(hole())
    assert (finished.is_green, finished.complaints) == (True, ())
    assert headline(finished) == "port 1 conforms like its origin: 1 case = 1 as tokenizers 0.23.3"
    assert [*text(finished, [])][-1].endswith("1 case = 1 as tokenizers 0.23.3\x1b[0m")


def test_what_passes_as_the_origin_is_enough_for_what_is_required() -> None:
    cases = [load_suite().cases[HOLE]]
    assert [*shortfalls(run_of(hole()), cases, ["ADDED-13", "ADDED-13:input"])] == []
    assert [*shortfalls(run_of(hole([0, 2, 1])), cases, ["ADDED-13"])] == [
        f"--require ADDED-13: 0 of 1 cases pass (1 fail): {HOLE}"
    ]


def test_a_report_has_the_origin_of_its_run(tmp_path: Path) -> None:
    file, finished = tmp_path / "a.ndjson", run_of(hole())
    file.write_bytes(b"".join(ndjson(finished, CAME_FROM)))
    header, line, footer = map(json.loads, file.read_text("utf-8").splitlines())
    assert (header["like"], line["verdict"], line["detail"]) == ("tokenizers 0.23.3", "as the origin", LIKE)
    assert {key: count for key, count in footer["counts"].items() if count} == {"as the origin": 1}
    read = read_report(file).run
    assert (read.like, headline(read)) == (finished.like, headline(finished))
    file.write_bytes(b"".join(ndjson(run_of(hole([0, 1, 2]), like=""), CAME_FROM)))
    assert "like" not in json.loads(file.read_text("utf-8").splitlines()[0])


def test_what_passes_as_the_origin_passes_in_junit_and_for_github() -> None:
    finished = run_of(hole(), hole([0, 1, 2]))
    (suite,) = ElementTree.fromstring(junit([(CAME_FROM, finished)]))
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        **{"tests": "2", "failures": "0", "errors": "0", "skipped": "0"},
    }
    assert [*write_annotations(finished, CAME_FROM, 10)] == []
    assert [*write_outputs(finished)][:6] == [
        *("state=conforms like its origin", "conforms=true", "holds=false", "cases=2", "passed=1", "failed=0")
    ]


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ([0, 2, 1], [0, 2, 2], "fixed"),
        ([0, 2, 2], [0, 2, 1], "new"),
        ([0, 1, 2], [0, 2, 2], ""),
        ([0, 2, 2], [0, 1, 2], ""),
    ],
)
def test_changes(old: Sequence[int], new: Sequence[int], kind: str) -> None:
    assert kind_of(hole(old), hole(new), same_fixtures=True) == kind


def test_the_matrix_and_the_site_count_it_as_known(tmp_path: Path) -> None:
    finished = run_of(hole(), hole([0, 1, 2]))
    listed = Listed(impl="port", command=None, built=None, build="", known=KnownFailures(), engine="port")
    rows = [MatrixRow(listed, finished)]
    head, cells = (line.split() for line in [*text_matrix(rows)][:2])
    assert dict(zip(head[-4:], cells[-4:], strict=True)) == {"pass": "1", "known": "1", "fail": "0", "unsupported": "0"}
    build_site([MatrixRow(listed, run_of(hole()))], Suite({HOLE: hole().case}), tmp_path)
    assert HOLE_REASON.partition(" (")[0] in (tmp_path / "impl" / "port" / "index.html").read_text("utf-8")


ADAPTER = """
from dataclasses import replace
from tokspec.adapters.reference import ReferenceAdapter


class Port(ReferenceAdapter):
    like = ""

    def hello(self):
        described = super().hello()
        return replace(described, name="port", version="1", choices={}, encode_fields=("ids",), like=self.like)

    def run(self, operation, model, input):
        return {"ids": [0, 2, 2]} if input["text"] == "a<s>b" else super().run(operation, model, input)


class Naming(Port):
    like = "tokenizers"


class Misnaming(Port):
    like = "tokenisers"
"""

BOTH = ("--select", HOLE, "--select", "bpe-toy-encode-bug")
LAST = "port 1 conforms like its origin: 2 cases = 1 pass + 1 as tokenizers 0.23.3"


TRY = "try tokspec smoke --impl ports:Misnaming"
MISNAMED = f"ports:Misnaming: cannot be asked: protocol: hello: like: {UNKNOWN}; {TRY}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ports.py").write_text(ADAPTER, "utf-8")
    return tmp_path


def started(folder: Path, *words: str) -> tuple[int, list[str], list[str]]:
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("words", [["ports:Port", "--like", "tokenizers"], ["ports:Naming"]])
def test_run_takes_the_origin_of_the_option_or_of_hello(folder: Path, words: Sequence[str]) -> None:
    status, lines, noted = started(folder, "tokspec", "run", *BOTH, "--report", "a.ndjson", "--impl", *words)
    assert (status, lines[-1], noted) == (0, LAST, [])
    status, lines, _ = started(folder, "tokspec", "report", "a.ndjson")
    assert (status, lines[-1]) == (0, LAST)


@pytest.mark.slow
def test_without_an_origin_its_answers_fail(folder: Path) -> None:
    status, lines, _ = started(folder, "tokspec", "run", *BOTH, "--impl", "ports:Port")
    assert (status, lines[-1]) == (1, "port 1 does not conform: 2 cases = 1 pass + 1 fail")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ports:Port", "--like", "tokenisers"], f"--like: {UNKNOWN}"),
        (["ports:Misnaming"], MISNAMED),
    ],
)
def test_an_unknown_origin_is_refused_in_one_line(folder: Path, words: Sequence[str], message: str) -> None:
    assert started(folder, "tokspec", "run", *BOTH, "--impl", *words) == (2, [], [f"tokspec: {message}"])


@pytest.mark.slow
def test_the_answers_of_an_origin_are_not_updated_by_a_run(folder: Path) -> None:
    (folder / "known.yaml").write_text('origin: "tokenizers"\nknown_failures: []\n', "utf-8")
    words = ("--known-failures", "known.yaml", "--update-known-failures", "--impl", "ports:Port")
    said = "tokspec: known.yaml: origin: lists the answers of fixtures/origins, which a run does not write; "
    said += "record them with python conformance/adapters/record_origins.py tokenizers"
    assert started(folder, "tokspec", "run", *words) == (2, [], [said])


@pytest.mark.slow
def test_pytest_takes_the_origin_of_hello(folder: Path) -> None:
    words = ("--tokspec-select", HOLE, "--tokspec-select", "bpe-toy-encode-bug", "-q", "-p", "no:cacheprovider")
    status, lines, _ = started(folder, "pytest", "--tokspec", "ports:Naming", *words)
    assert (status, lines[-1].partition(" in ")[0]) == (0, "2 passed")
    status, lines, noted = started(folder, "pytest", "--tokspec", "ports:Misnaming", *words)
    assert (status, lines + noted) == (4, [f"ERROR: {MISNAMED}", ""])


REAL = '''
from dataclasses import replace
from tokspec.published.huggingface import TokenizersAdapter


class Port(TokenizersAdapter):
    """The library under another name, with ids alone, and no choices."""

    def hello(self):
        return replace(super().hello(), name="port", version="1", choices={}, encode_fields=("ids",))


class Buggy(Port):
    """Loses the last of many ids, decodes no capitals, and takes the first piece twice where there are three."""

    def run(self, operation, model, input):
        result = super().run(operation, model, input)
        if operation == "encode" and len(result["ids"]) > 9:
            result = {**result, "ids": result["ids"][:-1]}
        elif operation == "decode" and any(map(str.isupper, result["text"])):
            result = {**result, "text": result["text"].lower()}
        elif operation == "pre_tokenize" and len(result["pieces"]) == 3:
            result = {**result, "pieces": [result["pieces"][0], *result["pieces"]]}
        return result
'''


def replies(result: Result) -> list[Reply | None]:
    return [row.reply for row in result.rows or (result,)]


@pytest.mark.slow
def test_a_port_of_a_real_library_is_green_and_fails_where_it_has_bugs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ports.py").write_text(REAL, "utf-8")
    monkeypatch.chdir(tmp_path)

    def judge_port(name: str) -> Run:
        with open_session(f"ports:{name}", None) as session:
            return run(session, [*load_suite().cases.values()], like=load_origin("tokenizers"))

    right, buggy = judge_port("Port"), judge_port("Buggy")
    assert (right.state, right.is_green, right.problems) == ("conforms like its origin", True, ())
    assert {each.verdict.value for each in right.results} == {"pass", "as the origin", "unsupported"}
    touched = [
        one.case.id
        for one, other in zip(right.results, buggy.results, strict=True)
        if replies(one) != replies(other)
        if {one.verdict, other.verdict} != {Verdict.UNSUPPORTED}  # asks for none of the fields that it gives
    ]
    assert [result.case.id for result in buggy.failed] == touched
    assert {result.verdict.value for result in buggy.failed} == {"fail"}
    assert {result.case.operation for result in buggy.failed} == {"encode", "decode", "pre_tokenize"}
