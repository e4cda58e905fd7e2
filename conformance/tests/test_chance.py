"""Implementations that know nothing: what they reply, what they pass, and that they meet no clause and no operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tokspec.cli import tokspec
from tokspec.protocol.messages import Answer, Refused
from tokspec.quality.chance import IMPLEMENTATIONS, KNOW_NOTHING, Chance, chance, replies
from tokspec.suite import schema
from tokspec.suite.cases import Case, Suite
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification

pytestmark = pytest.mark.slow

CASES = load_suite().cases
BUG = CASES["bpe-toy-encode-bug"]
ANSWERING = ("empty", "constant", "echo", "characters")


def refused(reason: str, case: Case = BUG) -> Case:
    return replace(case, outcome={"error": reason})


def suite(*cases: Case) -> Suite:
    return Suite({f"case-{number}": replace(case, id=f"case-{number}") for number, case in enumerate(cases)})


def rows(*cases: Case) -> dict[str, dict[str, int]]:
    """Return what passes anything, by row."""
    found = chance(suite(*cases))
    return {row.name: {name: count for name, count in row.passed.items() if count} for row in found}


def encoding(text: str, *tokens: str, clause: str = "BPE-ENC-1") -> Case:
    return replace(BUG, clauses=(clause,), input={"text": text}, outcome={"expect": {"tokens": list(tokens)}})


def asked(operation: str, input: Mapping[str, Any]) -> Case:
    return replace(BUG, operation=operation, input=input)


def test_no_clause_and_no_operation_of_the_suite_is_met_by_chance() -> None:
    found = chance(load_suite())
    assert [(row.name, row.met_by) for row in found if row.met_by] == []
    operations = list(schema.operations())
    assert [row.name for row in found[: len(operations)]] == operations
    named = [
        clause for clause in load_specification().clauses if any(clause in case.clauses for case in CASES.values())
    ]
    assert [row.name for row in found[len(operations) :]] == named
    assert all(tuple(row.passed) == tuple(KNOW_NOTHING) for row in found)


def test_whoever_refuses_and_whoever_answers_are_all_tried() -> None:
    reasons = [reason for reason in load_specification().reasons if reason != "unsupported"]
    assert list(IMPLEMENTATIONS) == [*reasons, *ANSWERING]
    assert list(KNOW_NOTHING) == [*IMPLEMENTATIONS, "fitted"]


@pytest.mark.parametrize("name", ANSWERING)
def test_every_answer_has_a_valid_shape(name: str) -> None:
    wrong = [
        (question.id, reply, error)
        for case in CASES.values()
        for question in case.questions
        for reply in replies(name, question)
        for error in schema.errors(
            reply.result if isinstance(reply, Answer) else None, f"operations/{question.operation}/result"
        )
    ]
    assert wrong == []


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_what_is_expected_changes_no_reply(name: str) -> None:
    assert replies(name, BUG) == replies(name, refused("unknown_symbol"))


REPLIES: list[tuple[str, str, Mapping[str, Any], list[Mapping[str, Any]]]] = [
    ("empty", "normalize", {"text": "Hug"}, [{"text": ""}]),
    ("constant", "normalize", {"text": "Hug"}, [{"text": "a"}]),
    ("echo", "normalize", {"text": "Hug"}, [{"text": "Hug"}]),
    ("characters", "normalize", {"text": "Hug"}, [{"text": "Hug"}]),
    ("empty", "pre_tokenize", {"text": "a b"}, [{"pieces": []}]),
    ("constant", "pre_tokenize", {"text": "a b"}, [{"pieces": [["a", 0, 1]]}]),
    ("echo", "pre_tokenize", {"text": "a b"}, [{"pieces": [["a b", 0, 3]]}]),
    ("characters", "pre_tokenize", {"text": "hi"}, [{"pieces": [["h", 0, 1], ["i", 1, 2]]}]),
    ("echo", "decode", {"tokens": ["b", "ug"]}, [{"text": "bug"}]),
    ("echo", "decode", {"ids": [1, 8]}, [{"text": ""}]),
    ("echo", "count_words", {"corpus": {"words": [["hug", 10], ["pug", 5]]}}, [{"words": [["hug", 10], ["pug", 5]]}]),
    ("echo", "count_words", {"corpus": {"texts": ["hug pug"]}}, [{"words": [["hug pug", 7]]}]),
    ("characters", "base_vocabulary", {"corpus": {"texts": ["hu"]}}, [{"vocabulary": ["h", "u"]}]),
    ("constant", "training_state", {"corpus": {"words": []}}, [{"vocabulary": ["a"], "words": [[["a"], 1]]}]),
    ("empty", "best_pair", {"corpus": {"words": []}}, [{"pair": ["", ""], "count": 0}, {"pair": ["", ""], "score": 0}]),
    ("empty", "training_trace", {"corpus": {"words": []}}, [{"steps": []}, {"sizes": []}]),
    ("constant", "viterbi", {"word": "hug"}, [{"table": [[["a"], 1]]}]),
    ("echo", "segmentations", {"word": "hug"}, [{"segmentations": [[["hug"], 3]]}]),
    ("constant", "token_probabilities", {}, [{"probabilities": {"a": 1}}]),
    ("echo", "substring_frequencies", {"corpus": {"words": [["hug", 10], ["pug", 5]]}}, [{"frequencies": {"hug": 10, "pug": 5}, "total": 15}]),
    ("empty", "loss", {"corpus": {"words": []}}, [{"loss": 0}]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "operation", "input", "results"), REPLIES)
def test_replies(name: str, operation: str, input: Mapping[str, Any], results: list[Mapping[str, Any]]) -> None:
    assert replies(name, asked(operation, input)) == [Answer(result) for result in results]


def test_keys_that_may_be_left_out_are_left_out_in_every_way() -> None:
    found = [
        reply.result
        for reply in replies("constant", asked("train", {"corpus": {"words": []}}))
        if isinstance(reply, Answer)
    ]
    assert [tuple(result) for result in found] == [
        ("vocabulary", "merges", "tokens"),
        ("vocabulary", "merges"),
        ("vocabulary", "tokens"),
        ("merges", "tokens"),
        ("vocabulary",),
        ("merges",),
        ("tokens",),
    ]


def test_refusals() -> None:
    assert replies("invalid_model", BUG) == [Refused("invalid_model", "")]


def test_a_clause_of_refusals_alone_is_met_by_who_refuses_everything() -> None:
    row = {"unknown_symbol": 2, "fitted": 2}
    assert rows(refused("unknown_symbol"), refused("unknown_symbol")) == {
        "encode": row,
        "BPE-ENC-1": row,
        "BPE-ENC-3": row,
    }
    assert chance(suite(refused("unknown_symbol")))[0] == Chance(
        "encode", 1, {name: int(name in ("unknown_symbol", "fitted")) for name in KNOW_NOTHING}
    )


def test_the_nearest_input_that_is_taken_separates() -> None:
    assert rows(refused("unknown_symbol"), BUG)["BPE-ENC-1"] == {"unknown_symbol": 1, "fitted": 1}
    assert [row.met_by for row in chance(suite(refused("unknown_symbol"), BUG))] == [(), (), ()]


@pytest.mark.parametrize(
    ("case", "met_by"),
    [
        (encoding("bug", "b", "ug"), ("fitted",)),
        (encoding("bug"), ("empty", "fitted")),
        (encoding("bug", "a"), ("constant", "fitted")),
        (encoding("bug", "bug"), ("echo", "fitted")),
        (encoding("bug", "b", "u", "g"), ("characters", "fitted")),
        (encoding("a", "a"), ("constant", "echo", "characters", "fitted")),
    ],
)
def test_one_case_alone_is_met_by_one_constant(case: Case, met_by: tuple[str, ...]) -> None:
    assert [row.met_by for row in chance(suite(case))] == [met_by, met_by]


def test_one_reply_for_each_operation_is_fitted() -> None:
    loss = replace(BUG, operation="loss", input={"corpus": {"words": []}}, outcome={"expect": {"loss": 7.5}})
    assert rows(BUG, loss)["BPE-ENC-1"] == {"fitted": 2}
    assert rows(BUG, loss, replace(loss, outcome={"expect": {"loss": 7.0}}))["BPE-ENC-1"] == {"fitted": 2}


def test_any_of_several_results_may_be_fitted() -> None:
    either = replace(BUG, outcome={"one_of": [{"tokens": ["b", "ug"]}, {"tokens": ["bu", "g"]}]})
    assert rows(either, encoding("bug", "bu", "g"), encoding("bug", "b", "ug", "s"))["encode"] == {"fitted": 2}


def test_an_implementation_declares_the_option_that_suits_it() -> None:
    """Under ``error`` the refusal passes both cases, under ``skipped`` nothing and the echo do."""
    options = {"error": {"error": "unknown_id"}, "skipped": {"expect": {"text": ""}}}
    case = replace(
        BUG, clauses=("DEC-3",), operation="decode", input={"ids": [7]}, outcome={"by_choice": {"unknown_id": options}}
    )
    passing = {"unknown_id": 2, "empty": 2, "echo": 2, "characters": 2, "fitted": 2}
    assert rows(case, case) == {"decode": passing, "DEC-3": passing}


def test_one_declaration_holds_for_all_cases() -> None:
    """Nothing is right under ``skipped`` for the one and under ``error`` for the other, and nobody declares both."""
    first = {"error": {"error": "unknown_id"}, "skipped": {"expect": {"text": ""}}}
    second = {"error": {"expect": {"text": ""}}, "skipped": {"error": "unknown_id"}}
    cases = [
        replace(
            BUG,
            clauses=("DEC-3",),
            operation="decode",
            input={"ids": [7]},
            outcome={"by_choice": {"unknown_id": options}},
        )
        for options in (first, second)
    ]
    assert rows(*cases)["DEC-3"] == {"unknown_id": 1, "empty": 1, "echo": 1, "characters": 1, "fitted": 1}


HEAD = """\
about: "A file for a test."
source: [{rule: "a test"}]
model: {type: bpe, vocabulary: ["a", "b"], merges: []}
cases:
"""


def written(id: str, text: str, outcome: str) -> str:
    return f"""\
  - id: {id}
    clauses: [BPE-ENC-8]
    why: "It is needed for a test."
    operation: encode
    input: {{text: "{text}"}}
    {outcome}
    verified_by: ["hand"]
"""


LEGEND = """\
unknown_symbol   refuses everything as unknown_symbol
no_segmentation  refuses everything as no_segmentation
unknown_id       refuses everything as unknown_id
invalid_model    refuses everything as invalid_model
invalid_input    refuses everything as invalid_input
empty            answers with nothing: no tokens, the empty text, 0
constant         answers the same whatever it is asked: the token "a", the text "a", 1
echo             answers with what it is given: the text is the one token, the one piece and the text
characters       answers with the characters of what it is given
fitted           gives every request of an operation the same reply: what most of the cases counted here expect

                  unknown            no  unknown  invalid  invalid
           cases   symbol  segmentation       id    model    input  empty  constant  echo  characters  fitted
"""


@pytest.fixture
def printed(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    def printed(*cases: str) -> tuple[int, str]:
        (tmp_path / "x.yaml").write_text(HEAD + "".join(cases))
        result = CliRunner().invoke(
            tokspec, ["dev", "coverage", "--chance", "--fixtures", str(tmp_path)], standalone_mode=False
        )
        return result.return_value, result.output

    return printed


def test_the_command_says_who_meets_what(printed: Callable[..., tuple[int, str]]) -> None:
    status, output = printed(written("refused", "ax", "error: unknown_symbol"))
    assert output.splitlines()[-4:] == [
        "encode         1        1             ·        ·        ·        ·      ·         ·     ·           ·       1  MET BY CHANCE",
        "BPE-ENC-8      1        1             ·        ·        ·        ·      ·         ·     ·           ·       1  MET BY CHANCE",
        "",
        "2 operations and clauses: 2 met by chance: encode by unknown_symbol, fitted; BPE-ENC-8 by unknown_symbol, fitted",
    ]
    assert status == 1


def test_the_command_is_content_with_a_case_beside(printed: Callable[..., tuple[int, str]]) -> None:
    taken = written("taken", "ab", 'expect: {tokens: ["a", "b"]}')
    status, output = printed(written("refused", "ax", "error: unknown_symbol"), taken)
    assert output == LEGEND + (
        "encode         2        1             ·        ·        ·        ·      ·         ·     ·           1       1\n"
        "BPE-ENC-8      2        1             ·        ·        ·        ·      ·         ·     ·           1       1\n"
        "\n"
        "2 operations and clauses: 0 met by chance\n"
    )
    assert status == 0


def test_operations_and_chance_are_counted_apart() -> None:
    result = CliRunner().invoke(tokspec, ["dev", "coverage", "--chance", "--operations"], standalone_mode=False)
    assert str(result.exception) == "--operations, --families and --chance count in different ways; give one"
