"""What an update of the known failures leaves alone: everything that people wrote, however they laid it out."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokspec.adapter import Hello
from tokspec.base.display import compact
from tokspec.base.errors import DataError
from tokspec.judge.known_failures import KnownFailure, KnownFailures, digest, parse_known_failures
from tokspec.judge.known_failures_update import UNEXPLAINED, update_known_failures
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Result, Verdict
from tokspec.protocol.messages import Answer, Refused, Reply
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.strict_yaml import parse_yaml

SUITE = load_suite().cases
CASES = sorted(SUITE.values(), key=lambda case: case.id)[:6]
A, B = CASES[0].id, CASES[1].id

REPLIES: dict[str, tuple[Verdict, Reply]] = {
    "right": (Verdict.PASS, Answer({"tokens": []})),
    "wrong": (Verdict.FAIL, Answer({"tokens": ["a"]})),
    "wrong otherwise": (Verdict.FAIL, Answer({"tokens": ["b"]})),
    "refused": (Verdict.ERROR, Refused("unknown_symbol", "a")),
    "not offered": (Verdict.UNSUPPORTED, Refused("unsupported", "a")),
}
OLD, NEW = "0123456789abcdef", "wrong"


def result(case: Case, reply: str) -> Result:
    return Result(case, REPLIES[reply][0], "as it is", {}, REPLIES[reply][1])


def read(text: str) -> KnownFailures:
    return parse_known_failures(parse_yaml(text, "known.yaml"))


def after(text: str, results: list[Result]) -> str:
    """Update after a run with these results."""
    known = read(text)
    judged = tuple(known.apply_to(each, date(2030, 1, 1)) for each in results)
    return update_known_failures(text, known, Run(Hello("x", "1", "C", ()), {}, judged), SUITE)


def entry(case: str, reason: str = '"none"', more: str = "") -> str:
    return f'  - case: "{case}"\n    verdict: error\n    digest: "{OLD}"\n    reason: {reason}\n{more}'


def anew(text: str) -> str:
    """Write what is seen now in place of what was seen in an entry: once."""
    seen = digest(result(CASES[0], NEW))
    return text.replace("verdict: error\n", 'verdict: "fail"\n', 1).replace(f'"{OLD}"', f'"{seen}"', 1)


LOOKS_LIKE_A_FIELD = {
    "reason": entry(A, '"printed the wrong verdict: merges in one pass, digest: none"'),
    "comment": entry(A, '"x"  # my verdict: this is, digest: x'),
    "comment above": "  # verdict: mine\n" + entry(A),
    "link": entry(A, more='    link: "https://x.org/?a,verdict: b"\n'),
    "folded": entry(A, ">\n      the\n      verdict: error\n      # digest: none\n"),
    "literal": entry(A, "|-\n      digest: none\n      - case: x\n"),
    "two lines": entry(A, '"the\n      verdict: error"'),
}


@pytest.mark.parametrize("text", LOOKS_LIKE_A_FIELD.values(), ids=LOOKS_LIKE_A_FIELD)
def test_only_the_two_values_are_replaced(text: str) -> None:
    text = "known_failures:\n" + text
    assert after(text, [result(CASES[0], NEW)]) == anew(text)


def test_values_of_every_style_are_replaced() -> None:
    text = f"known_failures:\n- case: {A}\n  'verdict':   'error' # so\n  digest: >- # it is\n   {OLD}\n  reason: x\n"
    assert after(text, [result(CASES[0], NEW)]) == (
        f"known_failures:\n- case: {A}\n  'verdict':   \"fail\" # so\n"
        f'  digest: "{digest(result(CASES[0], NEW))}" # it is\n  reason: x\n'
    )


def test_a_new_entry_stands_as_those_that_are_there() -> None:
    text = f"known_failures:\n- {{case: {B}, verdict: fail, digest: {OLD}, reason: x}}\n"
    assert after(text, [result(CASES[0], NEW)]).splitlines()[:3] == [
        "known_failures:",
        f'- case: "{A}"',
        '  verdict: "fail"',
    ]


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ('"one\\ntwo"', '"one\\ntwo"'),
        ("|\n      one\n      two", '"one\\ntwo\\n"'),
        ('"no\\u200Bspace, \\"é\\""', '"no\\u200bspace, \\"é\\""'),
    ],
    ids=["line break", "block", "invisible"],
)
def test_a_reason_that_is_retired_is_one_line_of_visible_characters(reason: str, shown: str) -> None:
    text = "known_failures:\n" + entry(A, reason)
    assert after(text, [result(CASES[0], "right")]) == (
        f"known_failures: []\n  # {A} passes now; it was listed because: {shown}\n"
    )


def test_what_is_not_offered_any_more_is_retired() -> None:
    text = "known_failures:\n" + entry(A) + entry(B)
    assert after(text, [result(CASES[0], "not offered"), result(CASES[2], "not offered")]) == (
        f'known_failures:\n{entry(B)}  # {A} is unsupported now; it was listed because: "none"\n'
    )


def test_comments_below_an_empty_list_stay_below() -> None:
    text = "# known_failures:\n---\n'known_failures': []  # none\n\n  # a was here\n"
    assert after(text, []) == text
    begun = after(text, [result(CASES[0], NEW)]).splitlines()
    assert begun[:3] + begun[-2:] == [
        "# known_failures:",
        "---",
        "'known_failures':  # none",
        "",
        "  # a was here",
    ]


def test_what_looks_like_a_comment_moves_with_its_text() -> None:
    text = "known_failures:\n" + entry(B, "|\n      one\n      # two\n") + "  # of a\n" + entry(A)
    assert after(text, []) == ("known_failures:\n  # of a\n" + entry(A) + entry(B, "|\n      one\n      # two\n"))


FLOW = f"{{case: {A}, verdict: fail, digest: {OLD}, reason: x}}"
IN_LINES = "begin a line with `known_failures:`, and one below it with `- case:` for each entry"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"known_failures: [{FLOW}]\n", 1),
        (f"known_failures: [\n  {FLOW}\n]\n", 2),
        (f"{{known_failures: [{FLOW}]}}\n", 1),
        ("{known_failures: []}\n", 1),
        ("known_failures:\n  []\n", 2),
        (f"known_failures:\n  - {FLOW}\n  -\n    {FLOW.replace(A, B)}\n", 4),
        (f"? known_failures\n: - {FLOW}\n", 2),
    ],
)
def test_a_list_that_is_not_in_lines_is_refused(text: str, line: int) -> None:
    with pytest.raises(DataError) as caught:
        after(text, [])
    assert str(caught.value) == f"known.yaml:{line}: is not updated: its list is not in lines; {IN_LINES}"


def test_what_could_not_be_moved_unharmed_is_refused() -> None:
    with pytest.raises(DataError) as caught:
        after("known_failures:\n\n" + entry(B) + entry(A, "|+\n      one"), [])
    assert str(caught.value) == (
        f"known.yaml: is not updated: {A} would not be read as it is meant; "
        "write its entry plainly, each value in one line"
    )


def test_what_would_not_be_yaml_is_refused() -> None:
    with pytest.raises(DataError) as caught:
        after("known_failures:\n" + entry(B) + "...\n", [result(CASES[2], NEW)])
    assert str(caught.value).startswith("known.yaml: is not updated: it could not be read then (is not YAML: ")


def test_a_file_that_was_changed_meanwhile_is_refused() -> None:
    text = "known_failures:\n" + entry(A)
    for changed in ("", text.replace("none", "some")):
        with pytest.raises(DataError) as caught:
            update_known_failures(
                changed, KnownFailures("known.yaml", read(text).entries), Run(Hello("x", "1", "C", ()), {}, ()), SUITE
            )
        assert str(caught.value) == ("known.yaml: is not updated: it was changed while the cases ran; run them again")


HOSTILE = st.lists(st.sampled_from([*"ab#:,-'\"{}[]\\ é", "verdict: fail", ", digest: x", " # ", "known_failures:"]))
WORDS = HOSTILE.map("".join)
REASONS = st.lists(
    st.sampled_from([*"ab#:,'\\ \n", "verdict: x", "\u200b", "\u2028", "\U000e0041", "😀"]), min_size=1
).map("".join)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, dict[str, list[str]]]:
    """Write entries of some cases, one of them gone, in any order and style; and give the comments by case."""
    indent = " " * draw(st.sampled_from([0, 2, 3]))
    cases = draw(st.permutations([*(case.id for case in CASES), "gone"]))[: draw(st.integers(0, 6))]
    comments: dict[str, list[str]] = {}
    lines = ["# above", "known_failures:" if cases else "known_failures: []"]
    for number, case in enumerate(cases):
        comments[case] = [f"# {number}{side} {draw(WORDS)}".rstrip() for side in "abc"]
        lines += ["", f"{indent}{comments[case][0]}", *draw(entries(indent, case, *comments[case][1:]))]
    return "\n".join([*lines, f"{indent}# below", ""]), comments


@st.composite
def entries(draw: st.DrawFn, indent: str, case: str, beside: str, below: str) -> list[str]:
    seen = draw(st.sampled_from([REPLIES["wrong"], REPLIES["refused"]]))
    fields = {
        "verdict": seen[0].value,
        "digest": draw(st.sampled_from([OLD, digest(Result(CASES[0], seen[0], "", {}, seen[1]))])),
        "reason": draw(REASONS),
    }
    if draw(st.booleans()):
        fields["link"] = f"https://x.org/{draw(WORDS)}"
    order = [("case", case), *draw(st.permutations([*fields.items()]))]
    first, *others = [f"{key}: {draw(values(value))}" for key, value in order]
    if draw(st.booleans()):
        return [f"{indent}- {{{', '.join([first, *others])}}} {beside}", f"{indent}{below}"]
    return [f"{indent}- {first} {beside}", *(f"{indent}  {other}" for other in others), f"{indent}{below}"]


@st.composite
def values(draw: st.DrawFn, value: str) -> str:
    """Write a value in double quotes, or in single ones where it can be."""
    plain = value.isprintable() and draw(st.booleans())
    return "'" + value.replace("'", "''") + "'" if plain else compact(value)


@settings(deadline=None)
@given(files(), st.dictionaries(st.sampled_from(range(len(CASES))), st.sampled_from([*REPLIES])))
def test_an_update_says_what_was_seen_and_keeps_the_rest(
    file: tuple[str, dict[str, list[str]]], replies: dict[int, str]
) -> None:
    text, comments = file
    results = [result(CASES[index], reply) for index, reply in replies.items()]
    wanted = {case: entry for case, entry in read(text).entries.items() if case != "gone"}
    for each in results:
        case = each.case.id
        if each.verdict in (Verdict.FAIL, Verdict.ERROR):
            seen = {"verdict": each.verdict.value, "digest": digest(each)}
            wanted[case] = replace(wanted.get(case, KnownFailure(case, "", "", UNEXPLAINED)), **seen)
        else:
            wanted.pop(case, None)
    text = after(text, results)
    now = [replace(entry, line=0) for entry in read(text).entries.values()]
    assert now == [replace(wanted[case], line=0) for case in sorted(wanted)]
    kept = [comment for case in comments for comment in comments[case] if case in wanted]
    above = [of_case[0] for of_case in comments.values()]
    assert [comment for comment in ["# above", "# below", *kept, *above] if comment not in text] == []
    assert after(text, results) == text
