"""A failing case as people see it: every line of it, for each kind of failure and for hostile answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.judge.verdicts import Result, Verdict, effective_choices, judge, not_run
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.report.failure import brief, describe
from tokspec.suite.cases import Case, Model
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification

HELLO = Hello("mine", "1", "Python", ("encode",), encode_fields=("tokens", "ids", "spans"))
CLAUSE = load_specification().clauses["BPE-ENC-1"].text

CLAUSE_AND_WHY = f"""\
  BPE-ENC-1 (MUST) {CLAUSE}
  why       It is needed for a test.
"""


def case(outcome: Mapping[str, Any], operation: str, input: Mapping[str, Any]) -> Case:
    return Case(
        id="one",
        clauses=("BPE-ENC-1",),
        why="It is needed for a test.",
        source=(),
        model=Model("toy", {}),
        operation=operation,
        input=input,
        outcome=outcome,
        stated=(),
        worked=(),
        tolerance={},
        tags=(),
        verified_by=("hand",),
        file="toy.yaml",
        line=7,
    )


def judged(
    outcome: Mapping[str, Any], reply: Reply, operation: str = "encode", input: Mapping[str, Any] | None = None
) -> Result:
    asked = case(outcome, operation, {"text": "bug"} if input is None else input)
    return judge(asked, reply, HELLO, effective_choices(HELLO))


def tokens(expected: list[str], actual: list[str]) -> Result:
    return judged({"expect": {"tokens": expected}}, Answer({"tokens": actual}))


def check(result: Result, rest: str, stage: str = "") -> None:
    """Check every line: the first three are always of the same form, and ``rest`` is what follows."""
    head = f"{result.verdict.value.upper()} one  (toy.yaml:7)\n"
    assert "\n".join(describe(result, "tokspec run --select one", stage)) + "\n" == head + CLAUSE_AND_WHY + rest


def test_tokens_stand_below_each_other_and_the_first_difference_is_marked() -> None:
    check(
        tokens(["b", "ug", "s"], ["b", "u", "g", "s"]),
        """\
  input     encode "bug"
  expected  tokens: "b" "ug" "s"
  actual    tokens: "b" "u"  "g" "s"
                        ^^^^
  first     tokens[1]: expected "ug", actual "u"
  again     tokspec run --select one
""",
    )


def test_wide_characters_take_two_columns() -> None:
    result = tokens(["東京", "タワー", "👋"], ["東", "京", "タワー"])
    check(
        result,
        """\
  input     encode "bug"
  expected  tokens: "東京" "タワー" "👋"
  actual    tokens: "東"   "京"     "タワー"
                    ^^^^^^
  first     tokens[0]: expected "東京", actual "東"
  again     tokspec run --select one
""",
    )


def test_a_list_that_ends_too_soon_or_too_late() -> None:
    check(
        tokens(["b", "ug"], ["b"]),
        """\
  input     encode "bug"
  expected  tokens: "b" "ug"
  actual    tokens: "b"
                        ^^^^
  first     tokens[1]: expected "ug", actual nothing
  again     tokspec run --select one
""",
    )
    assert brief(tokens(["b"], ["b", ""])) == 'tokens[1]: expected nothing, actual ""'


def test_of_a_long_list_the_surroundings_are_shown() -> None:
    right = [str(number) for number in range(30)]
    check(
        tokens(right, [*right[:15], "x", *right[16:]]),
        """\
  input     encode "bug"
  expected  tokens: … "10" "11" "12" "13" "14" "15" "16" "17" "18" "19" "20" …
  actual    tokens: … "10" "11" "12" "13" "14" "x"  "16" "17" "18" "19" "20" …
                                               ^^^^
  first     tokens[15]: expected "15", actual "x"
  again     tokspec run --select one
""",
    )


def test_hostile_tokens_cannot_move_the_cursor_hide_or_pretend() -> None:
    hostile = ["\x1b[2J", "\rok", "\u202egub", "\u200b", "\ud800", "[red]b[/red]", "<b>"]
    check(
        tokens(["b"], hostile),
        """\
  input     encode "bug"
  expected  tokens: "b"
  actual    tokens: "\\u001b[2J" "\\rok" "\\u202egub" "\\u200b" "\\ud800" "[red]b[/red]" …
                    ^^^^^^^^^^^
  first     tokens[0]: expected "b", actual "\\u001b[2J"
  again     tokspec run --select one
""",
    )


def test_huge_tokens_are_cut() -> None:
    huge = "x" * 100_000
    cut = f'"{"x" * 29} … {"x" * 29}"'
    check(
        tokens([huge], ["b"]),
        f"""\
  input     encode "bug"
  expected  tokens: {cut}
  actual    tokens: "b"
                    {"^" * 63}
  first     tokens[0]: expected {cut}, actual "b"
  again     tokspec run --select one
""",
    )


def test_a_difference_within_an_item() -> None:
    result = judged({"expect": {"spans": [[0, 1], [1, 3]]}}, Answer({"spans": [[0, 1], [1, 2]]}))
    check(
        result,
        """\
  input     encode "bug"
  expected  spans: [0, 1] [1, 3]
  actual    spans: [0, 1] [1, 2]
                          ^^^^^^
  first     spans[1][1]: expected 3, actual 2
  again     tokspec run --select one
""",
    )


def test_a_field_that_is_missing_and_one_that_is_no_list() -> None:
    result = judged({"expect": {"tokens": ["b"], "ids": [1]}}, Answer({"tokens": ["b"]}))
    check(
        result,
        """\
  input     encode "bug"
  expected  ids: [1]
  actual    ids: nothing
  first     ids: expected [1], actual nothing
  again     tokspec run --select one
""",
    )
    decoded = judged({"expect": {"text": "a b"}}, Answer({"text": "a\u200bb"}), "decode", {"ids": [1], "x": 2})
    check(
        decoded,
        """\
  input     decode {"ids": [1], "x": 2}
  expected  text: "a b"
  actual    text: "a\\u200bb"
  first     text: expected "a b", actual "a\\u200bb"
  again     tokspec run --select one
""",
    )


def test_keys_of_an_answer_are_not_to_be_trusted_either() -> None:
    expected = {"frequencies": {"h": 15}, "total": 15}
    answer = {"frequencies": {"h": 15, "\x1b[2J" + "u" * 10_000: 1}, "total": 15}
    result = judged({"expect": expected}, Answer(answer), "substring_frequencies", {})
    check(
        result,
        f"""\
  input     substring_frequencies {{}}
  expected  frequencies: {{"h": 15}}
  actual    frequencies: {{"h": 15, "\\u001b[2J{"u" * 10} … {"u" * 25}": 1}}
  first     frequencies.\\u001b[2J{"u" * 21} … {"u" * 30}: expected nothing, actual 1
  again     tokspec run --select one
""",
    )


def test_one_of_several_right_answers() -> None:
    either = {"one_of": [{"tokens": ["p", "ug"]}, {"tokens": ["pu", "g"]}]}
    check(
        judged(either, Answer({"tokens": ["p", "u", "g"]})),
        """\
  input     encode "bug"
  expected  tokens: "p" "ug"
  actual    tokens: "p" "u"  "g"
                        ^^^^
  first     tokens[1]: expected "ug", actual "u"
            (shown against the first of 2 right answers; none of them is given)
  again     tokspec run --select one
""",
    )


def test_the_stage_that_diverges() -> None:
    stage = "normalize agrees with the reference; what follows differs"
    check(
        tokens(["b"], ["u"]),
        f"""\
  input     encode "bug"
  expected  tokens: "b"
  actual    tokens: "u"
                    ^^^
  first     tokens[0]: expected "b", actual "u"
  stage     {stage}
  again     tokspec run --select one
""",
        stage,
    )


@pytest.mark.parametrize(
    ("due", "expected"),
    [
        ({"expect": {"tokens": ["b"]}}, '{"tokens": ["b"]}'),
        ({"one_of": [{"tokens": ["b"]}, {"tokens": []}]}, '[{"tokens": ["b"]}, {"tokens": []}]'),
        ({"error": "unknown_symbol"}, '{"refused as": "unknown_symbol"}'),
    ],
)
@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Fault("crash", "exit status 3"), "exit status 3"),
        (Fault("timeout", "no reply within 10 seconds"), "no reply within 10 seconds"),
        (Answer({"tokens": "bug\x1b[2J"}), 'tokens: "bug\\u001b[2J" is not of type "array"'),
    ],
    ids=["crash", "timeout", "protocol"],
)
def test_a_fault(due: Mapping[str, Any], expected: str, reply: Reply, problem: str) -> None:
    result = judged(due, reply)
    assert brief(result) == problem
    check(
        result,
        f"""\
  input     encode "bug"
  expected  {expected}
  problem   {problem}
  again     tokspec run --select one
""",
    )


def test_a_refusal_with_a_hostile_message() -> None:
    result = judged({"expect": {"tokens": ["b"]}}, Refused("unknown_symbol", "\x1b]0;owned\x07\n" + "m" * 100_000))
    start = "refused as unknown_symbol where a result is expected: "
    problem = f"{start}\\u001b]0;owned\\u0007\\u000a{'m' * 235} … {'m' * 300}"
    assert brief(result) == problem
    check(
        result,
        f"""\
  input     encode "bug"
  expected  {{"tokens": ["b"]}}
  problem   {problem}
  again     tokspec run --select one
""",
    )


def test_an_answer_where_a_refusal_is_due() -> None:
    check(
        judged({"error": "unknown_symbol"}, Answer({"tokens": ["b", "\r"]})),
        """\
  input     encode "bug"
  expected  {"refused as": "unknown_symbol"}
  problem   answers where a refusal as unknown_symbol is expected
  actual    {"tokens": ["b", "\\r"]}
  again     tokspec run --select one
""",
    )


def test_a_case_that_was_never_asked_and_a_text_that_is_not_to_be_seen() -> None:
    asked = case({"expect": {"tokens": ["b"]}}, "encode", {"text": "\u202eb\x00" + "u" * 1000})
    check(
        not_run(asked, effective_choices(HELLO), "the run ended"),
        f"""\
  input     encode "\\u202eb\\u0000{"u" * 66} … {"u" * 79}"
  expected  {{"tokens": ["b"]}}
  problem   the run ended
  again     tokspec run --select one
""",
    )


def test_the_command_cannot_hide_either() -> None:
    lines = describe(tokens(["b"], ["u"]), "tokspec run --cmd 'a\nb\x1b[2J'")
    assert lines[-1] == "  again     tokspec run --cmd 'a\\u000ab\\u001b[2J'"


def test_a_table_that_passes_though_it_is_listed_says_how_many_rows_it_has() -> None:
    case = next(case for case in load_suite().cases.values() if len(case.rows) == 3)
    lines = describe(Result(case, Verdict.UNEXPECTED_PASS, "passes, but is listed", {}), "again")
    assert f"  input     {case.operation} in 3 rows" in lines
