"""Causes: what is said of a difference, told by whole outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.judge.verdicts import Verdict
from tokspec.packs.asking import Asked
from tokspec.packs.causes import cause_of
from tokspec.packs.findings import Findings
from tokspec.packs.judging import Judge, Outcome, tokens_that_differ
from tokspec.packs.record import OPERATIONS, Input, Record
from tokspec.protocol.messages import Answer, Fault, Refused, Reply

HELLO = Hello("mytok", "1", "C", operations=OPERATIONS, encode_fields=("tokens", "ids", "spans"))
JUDGE = Judge(HELLO, "code_point", "code_point")


def outcome(text: str, operation: str, expected: Mapping[str, Any], reply: Reply) -> Outcome:
    record = Record(Input("texts/words", "one", text), {operation: expected})
    (found,) = JUDGE.outcomes(Asked(record, {operation: reply}))
    return found


def tokens(*names: str) -> dict[str, list[str]]:
    return {"tokens": list(names)}


ENCODED: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any], str]] = {
    "one token becomes two": ("bugs", tokens("bugs"), tokens("bug", "s"), "cuts where the pack does not, at letters (latin)"),
    "two become one": ("a  b", tokens("a", "Ġ", "Ġb"), tokens("a", "ĠĠb"), "does not cut where the pack does, at white space"),
    "two instead of one": ("a  b", tokens("a", "ĠĠb"), tokens("a", "Ġ", "Ġb"), "cuts where the pack does not, at white space"),
    "a line feed": ("\n\n", tokens("ĊĊ"), tokens("Ċ", "Ċ"), "cuts where the pack does not, at white space"),
    "a byte": ("🙂", tokens("ðŁĻĤ"), tokens("ðŁ", "ĻĤ"), "cuts where the pack does not, at parts of characters"),
    "a letter of that look": ("Ġuż", tokens("Ġuż"), tokens("[UNK]"), "another token, at letters (latin)"),
    "a capital": ("É", tokens("é"), tokens("[UNK]"), "another token, at letters (latin)"),
    "the character for a space": ("a b", tokens("▁a", "▁b"), tokens("▁a", "[UNK]"), "another token, at white space"),
    "another token": ("bug", tokens("bug"), tokens("pug"), "another token, at letters (latin)"),
    "an ideograph": ("水", tokens("水"), tokens("[UNK]"), "another token, at letters (cjk)"),
    "a symbol": ("🙂", tokens("🙂"), tokens("[UNK]"), "another token, at symbols"),
    "one more at the start": ("bug", tokens("bug"), tokens("[CLS]", "bug"), "more tokens at the start: '[CLS]'"),
    "one more at the end": ("bug", tokens("bug"), tokens("bug", "</s>"), "more tokens at the end: '</s>'"),
    "some at both ends": ("bug", tokens("b", "ug"), tokens("[CLS]", "b", "ug", "[SEP]"), "more tokens at the start: '[CLS]', at the end: '[SEP]'"),
    "less at both ends": ("bug", tokens("<s>", "<s>", "bug", "</s>"), tokens("bug"), "fewer tokens at the start: '<s>' '<s>', at the end: '</s>'"),
    "padding": ("bug", tokens("bug"), tokens("bug", "0", "0", "0"), "more tokens at the end"),
    "one less at the start": ("bug", tokens("[CLS]", "bug"), tokens("bug"), "fewer tokens at the start: '[CLS]'"),
    "one less at the end": ("bug", tokens("bug", "</s>"), tokens("bug"), "fewer tokens at the end: '</s>'"),
    "none at all": ("bug", tokens("bug"), tokens(), "no tokens"),
    "some where there are none": ("\n", tokens(), tokens("Ċ"), "tokens where the pack has none"),
    "many less at the end": ("a b c d", tokens("a", "b", "c", "d"), tokens("a"), "fewer tokens at the end"),
    "a space before the first": ("bug a", tokens("bug", "Ġa"), tokens("Ġbug", "Ġa"), "puts 'Ġ' before a token"),
    "no space before the first": ("bug", tokens("▁bug"), tokens("bug"), "does not put '▁' before a token"),
    "other ids": (
        "bug",
        {"tokens": ["bug"], "ids": [3]},
        {"tokens": ["bug"], "ids": [4]},
        "the same tokens, other ids",
    ),
    "ids alone": ("bug", {"ids": [3, 4]}, {"ids": [5, 4]}, "other tokens"),
    "an unknown id": ("bug", {"ids": [None]}, {"ids": [4]}, "other tokens"),
    "other spans": (
        "a é",
        {"tokens": ["a", "é"], "spans": [[0, 1], [2, 3]]},
        {"tokens": ["a", "é"], "spans": [[0, 1], [1, 3]]},
        "the same tokens, other spans, at letters (latin)",
    ),
    "a span more": (
        "ab",
        {"tokens": ["a", "b"], "spans": [[0, 1]]},
        {"tokens": ["a", "b"], "spans": [[0, 1], [1, 2]]},
        "the same tokens, other spans, at the end",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ENCODED)
def test_encodings(name: str) -> None:
    text, expected, actual, cause = ENCODED[name]
    assert str(cause_of(outcome(text, "encode", expected, Answer(actual)))) == f"encode: {cause}"


NORMALIZED = [
    ("a\u0301", "á", "a\u0301", "other characters, at letters (latin)"),
    ("Bug", "bug", "Bug", "another character, at letters (latin)"),
    ("bug", "bug", "bu", "fewer characters, at letters (latin)"),
    ("bug", "bug", "bug ", "more characters, at white space"),
    ("bug", "bug", "b ug", "more characters, at white space"),
    ("a\u200db", "ab", "a\u200db", "more characters, at invisible characters"),
    ("a1", "a1", "a", "fewer characters, at numbers"),
    ("é", "e", "e\u0301", "more characters, at marks (combining)"),
    ("", "", "x", "more characters, at letters (latin)"),
    ("\ue000", "\ue000", "", "fewer characters, at private use"),
    ("\U000e0080", "\U000e0080", "?", "another character, at unassigned characters"),
    ("\x01", "\x01", "", "fewer characters, at controls"),
]


@pytest.mark.parametrize(("text", "expected", "actual", "cause"), NORMALIZED)
@pytest.mark.parametrize("operation", ["normalize", "decode"])
def test_texts(text: str, expected: str, actual: str, cause: str, operation: str) -> None:
    record = Record(Input("texts/words", "one", text), {operation: {"text": expected}, "encode": {"ids": [1]}})
    (found,) = JUDGE.outcomes(Asked(record, {operation: Answer({"text": actual})}))
    assert str(cause_of(found)) == f"{operation}: {cause}"


def test_pieces() -> None:
    cut = outcome("a-b", "pre_tokenize", {"pieces": [["a-b", 0, 3]]}, Answer({"pieces": [["a", 0, 1], ["-b", 1, 3]]}))
    assert str(cause_of(cut)) == "pre_tokenize: cuts where the pack does not, at punctuation"
    moved = outcome("a b", "pre_tokenize", {"pieces": [["b", 2, 3]]}, Answer({"pieces": [["b", 1, 3]]}))
    assert str(cause_of(moved)) == "pre_tokenize: the same pieces, other spans, at letters (latin)"


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (Fault("crash", "exit status 3"), "encode: crash: exit status 3"),
        (Fault("timeout", "took 10 s"), "encode: timeout: took 10 s"),
        (Refused("unknown_symbol", "b"), "encode: error: refuses as unknown_symbol: b"),
        (Refused("unknown_symbol", ""), "encode: error: refuses as unknown_symbol"),
        (
            Answer({"tokens": [["bug"]]}),
            'encode: protocol: tokens/0: ["bug"] is not of types "string", "object"',
        ),
    ],
)
def test_no_proper_answer(reply: Reply, cause: str) -> None:
    assert str(cause_of(outcome("bug", "encode", tokens("bug"), reply))) == cause


@pytest.mark.parametrize(
    ("record", "reply", "verdict", "detail"),
    [
        ({"refused": {"encode": "unknown_symbol"}}, Refused("unknown_symbol", "here"), Verdict.PASS, ""),
        (
            {"refused": {"encode": "unknown_symbol"}},
            Answer({"tokens": []}),
            Verdict.FAIL,
            "answers where the pack has a refusal as unknown_symbol",
        ),
        (
            {"refused": {"encode": "unknown_symbol"}},
            Refused("invalid_input", ""),
            Verdict.ERROR,
            "refuses as invalid_input",
        ),
        ({"unanswered": {"encode": "crash"}}, Fault("crash", "another place"), Verdict.PASS, ""),
        ({"unanswered": {"encode": "crash"}}, Fault("timeout", "10 s"), Verdict.TIMEOUT, "10 s"),
        (
            {"unanswered": {"encode": "crash"}},
            Answer({"tokens": []}),
            Verdict.FAIL,
            "answers where the pack has a crash",
        ),
        (
            {"unanswered": {"encode": "crash"}},
            Refused("unsupported", ""),
            Verdict.UNSUPPORTED,
            "gives no reason",
        ),
    ],
)
def test_who_has_refused_or_failed_is_held_to_it(
    record: dict[str, Any], reply: Reply, verdict: Verdict, detail: str
) -> None:
    whole = Record(Input("texts/words", "one", "bug"), {}, **record)
    (found,) = JUDGE.outcomes(Asked(whole, {"encode": reply}))
    assert (found.verdict, found.detail) == (verdict, detail)
    wanted = {"error": "unknown_symbol"} if "refused" in record else {"expect": {"fault": "crash"}}
    assert found.wanted == wanted


def test_an_answer_where_there_was_none_is_a_cause() -> None:
    record = Record(Input("texts/words", "one", "bug"), {}, unanswered={"encode": "crash"})
    (found,) = JUDGE.outcomes(Asked(record, {"encode": Answer({"tokens": ["bug"]})}))
    assert str(cause_of(found)) == "encode: answers where the pack has a crash"


def test_to_what_was_not_offered_nobody_is_held() -> None:
    record = Record(Input("texts/words", "one", "bug"), {}, unanswered={"encode": "unsupported"})
    assert list(JUDGE.outcomes(Asked(record, {"encode": Answer({"tokens": ["bug"]})}))) == []


@pytest.mark.parametrize(
    ("expected", "actual", "count"),
    [("abc", "abd", 1), ("abc", "xyz", 3), ("abc", "abc d", 1), ("", "a", 1), ("abbbc", "abbc", 1), ("ab", "", 2)],
)
def test_tokens_that_differ(expected: str, actual: str, count: int) -> None:
    assert tokens_that_differ(expected, actual) == count


def test_findings_take_the_first_stage_that_differs_and_the_shortest_text() -> None:
    findings = Findings()
    for text in ("Bugs", "Bug", "Bugged"):
        results = {
            "normalize": {"text": text.lower()},
            "encode": {"tokens": [text.lower()]},
            "decode": {"text": text.lower()},
        }
        record = Record(Input("texts/words", text, text), results)
        replies = {
            "normalize": Answer({"text": text}),
            "encode": Answer(tokens("[UNK]")),
            "decode": Answer({"text": "?"}),
        }
        findings.note(record, JUDGE.outcomes(Asked(record, replies)))
    assert (findings.texts, findings.texts_that_differ) == (3, 3)
    assert (findings.tokens, findings.tokens_that_differ) == (3, 3)
    assert [(str(group.cause), group.example.record.input.text, group.texts) for group in findings.causes] == [
        ("decode: fewer characters, at letters (latin)", "Bug", 3),
        ("normalize: another character, at letters (latin)", "Bug", 3),
    ]
    assert findings.tallies["encode", "texts/words"].different == 3


def test_a_text_without_tokens_has_none_that_differ() -> None:
    findings = Findings()
    record = Record(Input("texts/words", "empty", ""), {"encode": {"tokens": []}})
    findings.note(record, JUDGE.outcomes(Asked(record, {"encode": Answer(tokens("<s>", "</s>"))})))
    assert (findings.texts_that_differ, findings.tokens, findings.tokens_that_differ) == (1, 0, 0)
