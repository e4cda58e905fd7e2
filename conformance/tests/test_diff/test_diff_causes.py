"""Causes: what is said of a difference, told by whole replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokspec.compare.causes import cause_of, compare_replies, count_different_tokens
from tokspec.compare.tally import Tally
from tokspec.judge.verdicts import Verdict
from tokspec.protocol.messages import Answer, Fault, Refused, Reply


def cause(text: str, operation: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    input = {"ids": [1]} if operation.startswith("decode") else {"text": text}
    return str(cause_of(compare_replies(operation, input, Answer(a), Answer(b)), text))


def tokens(*names: str) -> dict[str, list[str]]:
    return {"tokens": list(names)}


ENCODED: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any], str]] = {
    "one token becomes two": ("bugs", tokens("bugs"), tokens("bug", "s"), "cuts where A does not, at letters (latin)"),
    "two become one": ("a  b", tokens("a", "Ġ", "Ġb"), tokens("a", "ĠĠb"), "does not cut where A does, at white space"),
    "two instead of one": ("a  b", tokens("a", "ĠĠb"), tokens("a", "Ġ", "Ġb"), "cuts where A does not, at white space"),
    "a line feed": ("\n\n", tokens("ĊĊ"), tokens("Ċ", "Ċ"), "cuts where A does not, at white space"),
    "a byte": ("🙂", tokens("ðŁĻĤ"), tokens("ðŁ", "ĻĤ"), "cuts where A does not, at parts of characters"),
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
    "none at all": ("bug", tokens("bug"), tokens(), "no tokens"),
    "some where there are none": ("\n", tokens(), tokens("Ċ"), "tokens where A has none"),
    "many less at the end": ("a b c d", tokens("a", "b", "c", "d"), tokens("a"), "fewer tokens at the end"),
    "a space before the first": ("bug a", tokens("bug", "Ġa"), tokens("Ġbug", "Ġa"), "puts 'Ġ' before a token"),
    "no space before the first": ("bug", tokens("▁bug"), tokens("bug"), "does not put '▁' before a token"),
    "other ids": ("bug", {"tokens": ["bug"], "ids": [3]}, {"tokens": ["bug"], "ids": [4]}, "the same tokens, other ids"),
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
    text, a, b, expected = ENCODED[name]
    assert cause(text, "encode", a, b) == f"encode: {expected}"


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


STREAMED: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any], str]] = {
    "later": ({"parts": ["a", "b"], "end": ""}, {"parts": ["", "ab"], "end": ""}, "gives the same text later"),
    "at the end": ({"parts": ["a"], "end": ""}, {"parts": [""], "end": "a"}, "gives the same text later"),
    "sooner": ({"parts": ["", "ab"]}, {"parts": ["a", "b"]}, "gives the same text sooner"),
    "one part less": ({"parts": ["a", ""]}, {"parts": ["a"]}, "the same text in another number of parts"),
    "lost": (
        {"parts": ["a", ""], "end": "é"},
        {"parts": ["a", ""], "end": ""},
        "fewer characters in all parts, at letters (latin)",
    ),
    "half": (
        {"parts": ["", "é"]},
        {"parts": ["\ufffd", "\ufffd"]},
        "other characters in all parts, at letters (latin)",
    ),
}


@pytest.mark.parametrize(("a", "b", "said"), STREAMED.values(), ids=list(STREAMED))
def test_a_cause_of_a_stream_tells_whether_text_or_time_is_wrong(
    a: Mapping[str, Any], b: Mapping[str, Any], said: str
) -> None:
    assert cause("", "decode_stream", a, b) == f"decode_stream: {said}"


@pytest.mark.parametrize(("text", "a", "b", "expected"), NORMALIZED)
@pytest.mark.parametrize("operation", ["normalize", "decode"])
def test_texts(text: str, a: str, b: str, expected: str, operation: str) -> None:
    assert cause(text, operation, {"text": a}, {"text": b}) == f"{operation}: {expected}"


def test_pieces() -> None:
    cut = cause("a-b", "pre_tokenize", {"pieces": [["a-b", 0, 3]]}, {"pieces": [["a", 0, 1], ["-b", 1, 3]]})
    assert cut == "pre_tokenize: cuts where A does not, at punctuation"
    moved = cause("a b", "pre_tokenize", {"pieces": [["b", 2, 3]]}, {"pieces": [["b", 1, 3]]})
    assert moved == "pre_tokenize: the same pieces, other spans, at letters (latin)"


BUG = Answer({"tokens": ["bug"], "ids": [3], "spans": [[0, 3]]})
NONE = Refused("unsupported", "is not offered")


@pytest.mark.parametrize(
    ("a", "b", "verdict", "detail", "expected"),
    [
        (BUG, Answer({"ids": [3]}), Verdict.PASS, "", ""),
        (Answer({"ids": [3]}), BUG, Verdict.PASS, "", ""),
        (BUG, Answer({"ids": [4]}), Verdict.FAIL, "other answers", "encode: other tokens"),
        (Answer({"ids": [3]}), Answer({"tokens": ["bug"]}), Verdict.UNSUPPORTED, "A gives ids, B gives tokens", ""),
        (BUG, NONE, Verdict.UNSUPPORTED, "B: is not offered", ""),
        (NONE, NONE, Verdict.UNSUPPORTED, "A: is not offered; B: is not offered", ""),
        (Fault("crash", "there"), Fault("crash", "here"), Verdict.UNSUPPORTED, "A crashes, and so does B", ""),
        (Refused("unknown_symbol", "b"), Refused("unknown_symbol", ""), Verdict.PASS, "", ""),
        (BUG, Fault("crash", "exit status 3"), Verdict.CRASH, "A answers, B crashes", "encode: B crashes: exit status 3"),
        (BUG, Fault("timeout", "10 s"), Verdict.TIMEOUT, "A answers, B takes too long", "encode: B takes too long: 10 s"),
        (
            BUG,
            Fault("crash", "bad pointer 0x7f3a in /tmp/tmpq8_s7x/core"),
            Verdict.CRASH,
            "A answers, B crashes",
            "encode: B crashes: bad pointer N in …",
        ),
        (
            Fault("crash", "is recorded"),
            BUG,
            Verdict.FAIL,
            "A crashes, B answers",
            "encode: A crashes: is recorded",
        ),
        (
            Refused("unknown_symbol", "b"),
            Fault("protocol", "x; standard error ends 'y'"),
            Verdict.PROTOCOL,
            "A refuses as unknown_symbol, B breaks the protocol",
            "encode: A refuses as unknown_symbol; B breaks the protocol: x",
        ),
        (
            Refused("unknown_symbol", ""),
            Refused("invalid_input", ""),
            Verdict.ERROR,
            "A refuses as unknown_symbol, B refuses as invalid_input",
            "encode: A refuses as unknown_symbol; B refuses as invalid_input",
        ),
    ],
)  # fmt: skip
def test_replies(a: Reply, b: Reply, verdict: Verdict, detail: str, expected: str) -> None:
    outcome = compare_replies("encode", {"text": "bug"}, a, b)
    assert (outcome.verdict, outcome.detail) == (verdict, detail)
    assert (str(cause_of(outcome, "bug")) if outcome.differs else "") == expected


def test_spans_are_compared_in_one_unit() -> None:
    one, utf16, byte = (Answer({"spans": [span]}) for span in ([1, 2], [2, 3], [4, 5]))
    for other, unit in ((utf16, "utf16"), (byte, "byte")):
        for a, b, units in ((one, other, ("code_point", unit)), (other, one, (unit, "code_point"))):
            assert compare_replies("encode", {"text": "🙂b"}, a, b, units).verdict is Verdict.PASS
        assert compare_replies("encode", {"text": "🙂b"}, one, other).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("a", "b", "count"),
    [("abc", "abd", 1), ("abc", "xyz", 3), ("abc", "abc d", 2), ("", "a", 1), ("abbbc", "abbc", 1), ("ab", "", 2)],
)
def test_tokens_that_differ(a: str, b: str, count: int) -> None:
    assert count_different_tokens(a, b) == count


def test_the_first_stage_that_differs_and_the_shortest_text_are_what_is_shown() -> None:
    tally = Tally()
    for text in ("Bugs", "Bug", "Bugged"):
        small = {"text": text.lower()}
        outcomes = [
            compare_replies("normalize", {"text": text}, Answer(small), Answer({"text": text})),
            compare_replies("encode", {"text": text}, Answer(tokens(text.lower())), Answer(tokens("[UNK]"))),
            compare_replies("decode", {"ids": [1]}, Answer(small), Answer({"text": "?"})),
        ]
        tally.note("texts/words", f"texts/words:{text}", text, outcomes, ([1], [2]))
    assert (tally.texts, tally.different, tally.tokens, tally.different_tokens) == (3, 3, [3, 3], 3)
    assert [(str(group.cause), group.example.text, group.texts, group.first) for group in tally.causes] == [
        ("decode: fewer characters, at letters (latin)", "Bug", 3, "texts/words:Bugs"),
        ("normalize: another character, at letters (latin)", "Bug", 3, "texts/words:Bugs"),
    ]
    assert tally.sections["encode/texts/words"].different == 3


def test_crashes_at_two_places_are_one_cause() -> None:
    tally = Tally()
    for place in ("line 1 column 7", "line 1 column 31"):
        outcome = compare_replies("encode", {"text": "a"}, BUG, Fault("crash", f"bad pattern at {place}"))
        tally.note("inputs", "a:1", "a", [outcome])
    assert [str(each.cause) for each in tally.causes] == ["encode: B crashes: bad pattern at line N column N"]


def test_causes_and_reasons_without_end_are_bounded() -> None:
    tally = Tally()
    for number in range(600):
        fault = Fault("crash", f"status {number}")
        outcomes = [compare_replies("encode", {"text": "a"}, BUG, fault)]
        outcomes.append(compare_replies("decode", {"ids": [1]}, BUG, Refused("unsupported", f"{number} is too large")))
        tally.note("inputs", f"a:{number}", "a", outcomes)
    assert (len(tally.groups), len(tally.left)) == (501, 51)
    assert (tally.left["other reasons"], str(tally.causes[0].cause)) == (550, "encode: something else")
    assert (tally.causes[0].texts, tally.different) == (100, 600)


VOCABULARY = dict(enumerate(["a", "ab", "Ġ", "Ġb", "▁", "é", "[CLS]"]))
PAIRS = st.lists(st.tuples(st.text("abé Ġ", min_size=1), *[st.lists(st.sampled_from([*VOCABULARY, 99]))] * 2))


@pytest.mark.slow
@given(PAIRS)
def test_ids_of_one_vocabulary_are_counted_as_whole_replies_are(pairs: list[tuple[str, list[int], list[int]]]) -> None:
    """The digest alone is another: it is made of the ids."""
    by_ids, by_replies = Tally(), Tally()
    for number, (text, a, b) in enumerate(pairs):
        if a != b:
            one, other = (Answer({"tokens": [VOCABULARY.get(id) for id in ids], "ids": ids}) for ids in (a, b))
            by_ids.note_ids("inputs", f"a:{number}", text, (a, b), VOCABULARY)
            outcome = compare_replies("encode", {"text": text}, one, other)
            by_replies.note("inputs", f"a:{number}", text, [outcome], (a, b))
    for tally in (by_ids, by_replies):
        for section in tally.sections.values():
            section.digest = 0
    assert by_ids.to_json() == by_replies.to_json()
