"""The clause that is named for a difference, where it was once another's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import Refusal
from tokspec.fuzz.budget import Budget
from tokspec.fuzz.campaign import Campaign
from tokspec.fuzz.checker import Checker, Conversations
from tokspec.fuzz.clauses import clause_of
from tokspec.fuzz.example import Example
from tokspec.sessions.in_process import InProcessSession

pytestmark = pytest.mark.slow

REFERENCE = ReferenceAdapter({"bpe_merge_order": "lowest_rank"})
UNTRAINED: dict[str, Any] = {"corpus": {"words": [["ab", 1]]}}
UNIGRAM = {"type": "unigram", "tokens": [["a", 1]]}


@pytest.mark.parametrize("how", ["not refused as", "crash, not refused as", "timeout, not refused as"])
@pytest.mark.parametrize(
    ("model", "operation", "input", "reason", "clause"),
    [
        ({"type": "wordpiece"}, "training_state", {**UNTRAINED, "steps": -1}, "invalid_input", "ERROR-2"),
        ({"type": "bpe"}, "training_state", {**UNTRAINED, "steps": -1}, "invalid_input", "ERROR-2"),
        ({"type": "wordpiece"}, "best_pair", {"corpus": {"words": []}}, "invalid_input", "ERROR-2"),
        ({"type": "bpe"}, "best_pair", {"corpus": {"words": []}}, "invalid_input", "ERROR-2"),
        (UNIGRAM, "loss_increase", {**UNTRAINED, "token": "q"}, "invalid_input", "ERROR-2"),
        (UNIGRAM, "loss_increase", {**UNTRAINED, "token": "a"}, "no_segmentation", "UNI-UNK-2"),
        (UNIGRAM, "loss", UNTRAINED, "no_segmentation", "UNI-UNK-2"),
        (UNIGRAM, "segment", {"word": "b"}, "no_segmentation", "UNI-UNK-2"),
        ({"type": "bpe", "vocabulary": ["a"]}, "encode", {"text": "b"}, "unknown_symbol", "BPE-ENC-8"),
    ],
)
def test_a_refusal_that_is_due_has_its_clause_whatever_comes_instead(
    how: str, model: Any, operation: str, input: Any, reason: str, clause: str
) -> None:
    assert clause_of(Example(model, operation, input), f"{how} {reason}", {}, {}) == clause


MARKED = {"type": "bpe", "vocabulary": ["a"], "pre_tokenizer": {"type": "metaspace"}}
RIGHT = {"tokens": ["a", "a"], "ids": [0, 0], "spans": [[0, 1], [1, 2]]}


@pytest.mark.parametrize(
    ("model", "text", "clause"),
    [
        pytest.param(MARKED, "aa", "BPE-ENC-8", id="the mark is dropped"),
        pytest.param({**MARKED, "vocabulary": ["a", "▁"]}, "aa", "ENC-3", id="nothing is dropped"),
        pytest.param({**MARKED, "vocabulary": ["a", "▁"]}, "a a", "ENC-3", id="a space has a token"),
        pytest.param(
            {"type": "bpe", "vocabulary": ["a"], "normalizer": {"type": "lowercase"}}, "AA", "ENC-3", id="lowercase"
        ),
        pytest.param({"type": "bpe", "vocabulary": ["a"]}, "aab", "BPE-ENC-8", id="a character is dropped"),
        pytest.param({**MARKED, "unknown_token": "a"}, "aa", "ENC-3", id="an unknown token"),
        pytest.param(
            {**MARKED, "vocabulary": ["a", "▁", "é"], "special_tokens": ["é"]}, "aaé", "ENC-3", id="a special token"
        ),
    ],
)
def test_spans_go_wrong_by_what_is_dropped_behind_the_stages(model: Any, text: str, clause: str) -> None:
    given = {**RIGHT, "spans": [[0, 0], [0, 1]]}
    assert clause_of(Example(model, "encode", {"text": text}), "spans", RIGHT, given) == clause


@pytest.mark.parametrize(
    ("kind", "given", "clause"),
    [
        ("tokens", {"tokens": [], "ids": [], "spans": []}, "ADDED-4"),
        ("tokens", {"tokens": ["b"], "ids": [1], "spans": [[0, 1]]}, "ADDED-1"),
        ("crash", {}, "ADDED-1"),
    ],
)
def test_special_tokens_matter_where_they_are_left_though_the_text_has_none(kind: str, given: Any, clause: str) -> None:
    model = {"type": "unigram", "tokens": [["a", 1], ["b", 1]], "special_tokens": ["b"]}
    right = {"tokens": ["a"], "ids": [0], "spans": [[0, 1]]}
    assert clause_of(Example(model, "encode", {"text": "a"}), kind, right, given) == clause


class Crashing(ReferenceAdapter):
    """The reference, but it crashes where it should refuse an input."""

    def run(self, operation: str, model: Any, input: Any) -> Any:
        try:
            return super().run(operation, model, input)
        except Refusal as refusal:
            if refusal.reason == "invalid_input" and operation != "pre_tokenize":
                raise IndexError("list index out of range") from None
            raise


def test_crashes_instead_of_refusals_are_one_clause() -> None:
    judged = Conversations(lambda: InProcessSession(Crashing()))
    families = ("untrained-bpe", "untrained-wordpiece", "unigram")
    found = Campaign([Checker(judged)], 1, Budget(examples=3000), families).run()
    named = {(each.clause, each.kind) for each in found if "not refused" in each.kind}
    assert named == {("ERROR-2", "crash, not refused as invalid_input")}


def test_a_special_token_that_stands_across_itself_is_about_where_it_is_matched() -> None:
    model = {"type": "unigram", "tokens": [["a", 1], ["aa", 1]], "special_tokens": ["aa"]}
    example = Example(model, "encode", {"text": "aaa"})
    right, given = {"tokens": ["aa", "a"], "ids": [1, 0]}, {"tokens": ["a", "aa"], "ids": [0, 1]}
    assert clause_of(example, "tokens", right, given) == "ADDED-2"
    assert clause_of(replace(example, input={"text": "aab"}), "tokens", right, given) == "ADDED-4"


LATE = {
    "type": "bpe",
    "vocabulary": ["a", "Ġ", "ĠaĠ", "Ġa"],
    "merges": [["Ġa", "Ġ"], ["Ġ", "a"]],
    "pre_tokenizer": {"type": "byte_level", "use_regex": False},
}


@pytest.mark.parametrize(
    ("cut", "given", "clause"),
    [
        pytest.param(False, ["Ġa", "Ġa"], "BPE-ENC-3", id="within a piece"),
        pytest.param(True, ["ĠaĠ", "a"], "ENC-1", id="across pieces"),
    ],
)
def test_a_difference_within_a_piece_is_about_the_model(cut: bool, given: list[str], clause: str) -> None:
    model = {**LATE, "pre_tokenizer": {"type": "byte_level", "use_regex": cut}}
    right = REFERENCE.run("encode", REFERENCE.load("tokspec", model), {"text": " a a"})
    assert clause_of(Example(model, "encode", {"text": " a a"}), "tokens", right, {"tokens": given}) == clause


@pytest.mark.parametrize("operation", ["train", "training_trace", "best_pair"])
def test_a_crash_where_a_merge_makes_a_special_token_is_about_that(operation: str) -> None:
    model, input = {"type": "bpe", "special_tokens": ["ab"]}, {"corpus": {"words": [["abc", 1]]}}
    assert clause_of(Example(model, operation, input), "crash", {}, {}) == "BPE-TRAIN-10"
    assert clause_of(Example(model, operation, {"corpus": {"words": [["ac", 1]]}}), "crash", {}, {}) != "BPE-TRAIN-10"


def test_text_that_was_composed_is_about_accents_and_not_about_case() -> None:
    example = Example({"normalizer": {"type": "bert", "lowercase": False}}, "normalize", {"text": "\u212b"})
    assert clause_of(example, "text", {"text": "\u212b"}, {"text": "\u00c5"}) == "NORM-BERT-5"


@pytest.mark.parametrize(("type", "clause"), [("wordpiece", "DEC-BYTE-1"), ("bpe", "DEC-BYTE-2")])
def test_bytes_of_another_model_are_about_the_decoder(type: str, clause: str) -> None:
    model = {"type": type, "vocabulary": ["a\u00e9"], "decoder": {"type": "byte_level"}}
    asked = Example(model, "decode", {"ids": [0]})
    assert clause_of(asked, "text", {"text": "a\ufffd"}, {"text": "a\u00e9"}) == clause


def test_spaces_that_are_cleaned_up_are_about_joining_and_not_about_bytes() -> None:
    asked = Example(
        {"type": "bpe", "vocabulary": ["Ã", "Ġ"], "decoder": {"type": "byte_level"}}, "decode", {"ids": [0, 1]}
    )
    assert clause_of(asked, "text", {"text": "\ufffd "}, {"text": "\ufffd"}) == "DEC-BYTE-1"
    assert clause_of(asked, "text", {"text": "\ufffd "}, {"text": " "}) == "DEC-BYTE-2"
