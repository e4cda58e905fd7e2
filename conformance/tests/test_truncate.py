"""Long answers: what is kept of them says what they were, and tells one from another."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import DataError
from tokspec.base.files import write_whole
from tokspec.judge.compare import ABSENT, Difference
from tokspec.judge.runner import Run, make_request
from tokspec.judge.truncate import LONGEST, Extract, truncate_reply
from tokspec.judge.verdicts import Result, Verdict, effective_choices, judge
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.report.failure import describe
from tokspec.report.ndjson import LARGEST, Origin, ndjson, read_report
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite import schema
from tokspec.suite.fixtures import load_suite

CASES = load_suite().cases
BUG = CASES["bpe-toy-encode-bug"]
HELLO = Hello("mine", "1", "C", ("encode",))
CHOICES = effective_choices(HELLO)
ORIGIN = Origin("0.1.0", "ab" * 32, "tokspec run", "tokspec run", "Linux", "14.0.0")

LONG = {"tokens": ["a"] * 20_000}
TEXT = json.dumps(LONG, separators=(",", ":"))
BEGINNING = f"'{TEXT[:200]}'"


def judged(reply: Reply, case: str = "bpe-toy-encode-bug") -> Result:
    return judge(CASES[case], reply, HELLO, CHOICES)


def written(folder: Path, *results: Result) -> list[Result]:
    """Write a report, and give what is read."""
    file = folder / "a.ndjson"
    write_whole(file, b"".join(ndjson(Run(HELLO, CHOICES, results), ORIGIN)))
    return list(read_report(file).run.results)


def test_what_is_not_long_is_kept_as_it_is() -> None:
    longest = Answer({"text": "a" * (LONGEST - len('{"text":""}'))})
    assert truncate_reply(longest) is longest
    assert isinstance(truncate_reply(Answer({"text": longest.result["text"] + "a"})), Extract)
    for reply in (Refused("unsupported", "x" * 100_000), Fault("crash", "x" * 100_000)):
        assert truncate_reply(reply) is reply


@pytest.mark.parametrize(
    "part", ["a", "\0", '"', "é", "€", "😀", "\ud800", 0, -(2**31), 2**62, -1.5e-300, True, None, [], {}]
)
def test_nothing_long_is_taken_for_short(part: Any) -> None:
    """Whatever an answer is made of, an estimate of its length comes before the length."""
    text = part * 12_000 if isinstance(part, str) else part
    for value in (text, [part] * 12_000, [[part]] * 12_000, {str(index): part for index in range(12_000)}):
        answer = {"value": value}
        is_long = len(json.dumps(answer, separators=(",", ":"))) > LONGEST
        assert isinstance(truncate_reply(Answer(answer)), Extract) == is_long


#: The cases about long texts, whose right answers have less room, or are truncated.
LONG_TEXTS = {
    *(f"text-of-more-than-512-tokens{family}" for family in ("", "-wordpiece", "-unigram", "-wordlevel")),
    *(
        f"text-of-more-than-512-tokens-with-a-post-processor{family}"
        for family in ("", "-wordpiece", "-unigram", "-wordlevel")
    ),
    *("count-a-stride", "long-piece-merged", "long-piece-segmented", "long-text-of-added-tokens"),
}


@pytest.mark.slow
def test_every_right_answer_of_the_suite_has_ample_room_but_those_to_long_texts() -> None:
    cases = list(CASES.values())
    questions = [(case.id, question) for case in cases for question in case.questions]
    with InProcessSession(ReferenceAdapter()) as session:
        replies = dict(session.ask([make_request(question) for _, question in questions]))
    answers = [(questions[place][0], reply.result) for place, reply in replies.items() if isinstance(reply, Answer)]
    assert {case for case, answer in answers if 3 * len(json.dumps(answer)) >= LONGEST} == LONG_TEXTS


def test_an_extract_tells_size_beginning_and_digest() -> None:
    sha256 = hashlib.sha256(TEXT.encode()).hexdigest()
    assert truncate_reply(Answer(LONG)) == Extract({"bytes": 80_012, "beginning": BEGINNING, "sha256": sha256})
    assert truncate_reply(Answer({"tokens": ["a"] * 19_999 + ["b"]})) != truncate_reply(Answer(LONG))


def test_a_long_wrong_answer_is_shown_by_its_beginning_before_and_after_it_is_written(tmp_path: Path) -> None:
    result = judged(Answer(LONG))
    assert result.detail == f"wrong answer, in 80012 bytes that begin {BEGINNING}"
    assert (result.reply, result.difference) == (truncate_reply(Answer(LONG)), Difference(("tokens", 0), "b", "a"))
    assert describe(result, "again")[-5:] == [
        '  input     encode "bug"',
        '  expected  tokens: ["b", "ug"]',
        f"  actual    {result.detail}",
        '  first     tokens[0]: expected "b", actual "a"',
        "  again     again",
    ]
    [read] = written(tmp_path, result)
    assert (read.reply, read.difference, describe(read, "again")) == (
        None,
        result.difference,
        describe(result, "again"),
    )


@pytest.mark.parametrize(
    ("answer", "case", "difference"),
    [
        ({"tokens": ["b" * 80_000]}, "bpe-toy-encode-bug", Difference(("tokens", 0), "b", "b" * 200 + " …")),
        (
            {"tokens": ["b", "ug", "x" * 80_000]},
            "bpe-toy-encode-bug",
            Difference(("tokens", 2), ABSENT, "x" * 200 + " …"),
        ),
    ],
)
def test_of_a_long_value_a_difference_keeps_the_beginning(
    tmp_path: Path, answer: Any, case: str, difference: Difference
) -> None:
    result = judged(Answer(answer), case)
    assert result.difference == difference
    assert [read.difference for read in written(tmp_path, result)] == [difference]


def test_of_a_long_key_too(tmp_path: Path) -> None:
    hello = Hello("mine", "1", "C", ("substring_frequencies",))
    case = next(
        case for case in CASES.values() if case.operation == "substring_frequencies" and "expect" in case.outcome
    )
    answer = {**case.outcome["expect"], "frequencies": {**case.outcome["expect"]["frequencies"], "k" * 80_000: 1}}
    result = judge(case, Answer(answer), hello, CHOICES)
    assert result.difference == Difference(("frequencies", "k" * 200 + " …"), ABSENT, 1)
    assert [read.difference for read in written(tmp_path, result)] == [result.difference]


def test_a_long_answer_passes_or_is_refused_like_a_short_one() -> None:
    right = {**BUG.outcome["expect"], "ids": [1] * 100_000}
    passed = judged(Answer(right))
    assert (passed.verdict, passed.detail, passed.reply) == (Verdict.PASS, "", truncate_reply(Answer(right)))
    due = judged(Answer(LONG), "bpe-unknown-token-not-there")
    assert due.detail == f"answers where a refusal as unknown_symbol is expected, in 80012 bytes that begin {BEGINNING}"


def test_of_a_long_value_one_error_is_looked_for() -> None:
    answer = {"tokens": [0] * 400_000}
    result = judged(Answer(answer))
    assert (result.verdict.value, result.detail) == ("protocol", 'tokens/0: 0 is not of types "string", "object"')
    assert len(list(schema.errors({"tokens": [0, 0]}, "operations/encode/result", every=False))) == 1
    assert list(schema.errors({"tokens": ["\ud800"]}, "operations/encode/result", every=False)) == []


def test_a_key_of_the_answer_s_own_is_cut() -> None:
    detail = (
        "k" * 200
        + " and 99800 more characters: is an unknown key; known are attention_mask, ids, overflowing, sequence_ids, spans, special_tokens_mask, tokens, type_ids, word_ids"
    )
    assert judged(Answer({"tokens": [], "k" * 100_000: 1})).detail == detail


@pytest.mark.parametrize(
    "answer",
    [{"tokens": [{"hex": "ff"}]}, {"tokens": [{"hex": "61"}]}, {"hex": "61"}, {"tokens": ["\ud800"]}],
)
def test_what_is_written_can_be_read_whatever_an_adapter_in_this_process_answers(tmp_path: Path, answer: Any) -> None:
    """The byte-safe form of a string is not a string there, and a report would turn it into one."""
    result = judged(Answer(answer))
    [read] = written(tmp_path, result)
    assert read.detail == result.detail
    assert read.reply == (Answer(answer) if answer == {"tokens": ["\ud800"]} else None)


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else "a"


def test_a_deep_answer_is_left_out(tmp_path: Path) -> None:
    result = judged(Answer({"tokens": nested(62)}))
    [read] = written(tmp_path, result)
    assert (read.verdict, read.reply) == (Verdict.PROTOCOL, None)


@pytest.mark.slow
def test_a_report_of_the_whole_suite_can_be_read_whatever_is_answered(tmp_path: Path) -> None:
    answer = Answer({"tokens": ["\x1b" * 5_000, "é" * 400]})
    results = [judge(case, answer, HELLO, CHOICES) for case in CASES.values() if not case.rows]
    assert [read.verdict for read in written(tmp_path, *results)] == [result.verdict for result in results]
    assert (tmp_path / "a.ndjson").stat().st_size < LARGEST * 1024**2


def test_what_is_expected_alone_may_be_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokspec.report.ndjson.LARGEST", 1 / 1024)
    with pytest.raises(DataError) as caught:
        list(ndjson(Run(HELLO, CHOICES, (judged(Answer(LONG)),)), ORIGIN))
    assert str(caught.value) == "the report: would be larger than 0.0009765625 MB; judge fewer cases at once"
