"""What the specification leaves open is taken from the answer that was given, and nothing else is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.fuzz.leeway import allowed
from tokspec.suite.specification import load_specification

REFERENCE = ReferenceAdapter()

#: "▁bbb" as ▁, one unknown character and bb, which may stand on either side.
UNKNOWN_BESIDE = {
    "type": "unigram",
    "unknown_token": "<unk>",
    "tokens": [["<unk>", 1], ["▁", 3], ["a", 1], ["babb", 4], ["bb", 2]],
    "pre_tokenizer": {"type": "metaspace"},
}
BEFORE = {"tokens": ["▁", "<unk>", "bb"], "ids": [1, 0, 4], "spans": [[0, 0], [0, 1], [1, 3]]}
BEHIND = {"tokens": ["▁", "bb", "<unk>"], "ids": [1, 4, 0], "spans": [[0, 0], [0, 2], [2, 3]]}

MANY = {"tokens": ["▁", *["<unk>", "bb"] * 50]}

#: "aaa" as a and aa, either first; logarithms that sums do not round.
EITHER_END = {"type": "unigram", "tokens": [["a", 2], ["aa", 1]]}
EXACT = {"type": "unigram", "tokens": [["a", -0.5], ["aa", -0.75]], "weights": "log_probability"}
SHORT_FIRST = {"tokens": ["a", "aa"], "ids": [0, 1], "spans": [[0, 1], [1, 3]]}
LONG_FIRST = {"tokens": ["aa", "a"], "ids": [1, 0], "spans": [[0, 2], [2, 3]]}
SINGLE = {"tokens": ["a", "a", "a"], "ids": [0, 0, 0], "spans": [[0, 1], [1, 2], [2, 3]]}

#: (a, b) stands before and behind (b, c).
LISTED_TWICE = {
    "type": "bpe",
    "vocabulary": ["a", "b", "c", "ab", "bc"],
    "merges": [["a", "b"], ["b", "c"], ["a", "b"]],
}
BY_THE_FIRST = {"tokens": ["ab", "c"], "ids": [3, 2], "spans": [[0, 2], [2, 3]]}
BY_THE_LAST = {"tokens": ["a", "bc"], "ids": [0, 4], "spans": [[0, 1], [1, 3]]}
BY_NEITHER = {"tokens": ["a", "b", "c"], "ids": [0, 1, 2], "spans": [[0, 1], [1, 2], [2, 3]]}


def ask(operation: str, model: Mapping[str, Any], input: Mapping[str, Any]) -> Mapping[str, Any]:
    return REFERENCE.run(operation, REFERENCE.load("tokspec", model), input)


@pytest.mark.parametrize(
    ("model", "text", "right", "given", "expected"),
    [
        pytest.param(UNKNOWN_BESIDE, "bbb", BEFORE, BEHIND, BEHIND, id="an unknown run on the other side"),
        pytest.param(
            {**UNKNOWN_BESIDE, "special_tokens": ["a"]}, "bbb", BEFORE, BEHIND, BEFORE, id="special tokens cut the text"
        ),
        pytest.param(
            UNKNOWN_BESIDE, "zbb" * 50, MANY, {"tokens": [*MANY["tokens"], "a"]}, MANY, id="many unknown runs"
        ),
        pytest.param(EITHER_END, "aaa", SHORT_FIRST, LONG_FIRST, LONG_FIRST, id="a tie that rounding decides"),
        pytest.param(EITHER_END, "aaa", SHORT_FIRST, SINGLE, SHORT_FIRST, id="no tie"),
        pytest.param(EXACT, "aaa", SHORT_FIRST, LONG_FIRST, SHORT_FIRST, id="a tie that a choice decides"),
        pytest.param(LISTED_TWICE, "abc", BY_THE_FIRST, BY_THE_LAST, None, id="a merge listed twice"),
        pytest.param(LISTED_TWICE, "abc", BY_THE_FIRST, BY_NEITHER, BY_THE_FIRST, id="no rank of a merge"),
    ],
)
def test_what_is_open_is_taken_from_the_answer(
    model: Mapping[str, Any], text: str, right: Any, given: Any, expected: Any
) -> None:
    choices = {
        **load_specification().defaults(),
        "unigram_tie": "earliest_start",
        "unigram_unknown": "run",
        "bpe_merge_order": "lowest_rank",
    }
    assert allowed(model, ("encode", {"text": text}), right, given, choices, ask) == expected


def test_the_span_of_an_added_character_is_open_and_no_other() -> None:
    right = {"pieces": [["▁", 0, 0], ["a", 0, 1]]}
    given = {"pieces": [["▁", 0, 1], ["a", 1, 2]]}
    asked = ("pre_tokenize", {"text": "a"})
    assert allowed({}, asked, right, given, {}, ask) == {"pieces": [["▁", 0, 1], ["a", 0, 1]]}


@pytest.mark.parametrize(
    ("text", "cut", "given", "unit", "is_open"),
    [
        pytest.param("中a", None, [0, 2], "code_point", True, id="a token that begins with the space behind it"),
        pytest.param("中a", None, [0, 3], "code_point", False, id="another end"),
        pytest.param("中\u0301a", None, [0, 3], "code_point", True, id="a mark between them"),
        pytest.param("中a", None, [0, 4], "byte", True, id="in bytes"),
        pytest.param("ba", None, [0, 2], "code_point", False, id="no ideograph"),
        pytest.param("中a", "whitespace_split", [0, 2], "code_point", False, id="the space is dropped"),
    ],
)
def test_where_a_token_starts_behind_an_ideograph_is_open(
    text: str, cut: str | None, given: list[int], unit: str, is_open: bool
) -> None:
    model = {"normalizer": {"type": "bert"}, **({"pre_tokenizer": {"type": cut}} if cut else {})}
    end = {"code_point": len(text), "byte": len(text.encode())}[unit]
    right = {"spans": [[end - 1, end]]}
    allowed_now = allowed(model, ("encode", {"text": text}), right, {"spans": [given]}, {"offset_unit": unit}, ask)
    assert allowed_now == ({"spans": [given]} if is_open else right)


@pytest.mark.parametrize(
    ("text", "given", "is_open"),
    [
        pytest.param("a中", [0, 2], True, id="a token that ends with the space before it"),
        pytest.param("a\u0301中", [0, 3], True, id="a mark between them"),
        pytest.param("a中中", [0, 3], False, id="another end"),
        pytest.param("ab", [0, 2], False, id="no ideograph"),
    ],
)
def test_where_a_token_ends_before_an_ideograph_is_open(text: str, given: list[int], is_open: bool) -> None:
    asked, right = ("encode", {"text": text}), {"spans": [[0, 1]]}
    found = allowed({"normalizer": {"type": "bert"}}, asked, right, {"spans": [given]}, {}, ask)
    assert found == ({"spans": [given]} if is_open else right)


def test_a_character_of_a_newer_unicode_is_open_where_a_stage_looks_at_its_kind() -> None:
    asked, result = ("normalize", {"text": "\U00011db0"}), {"text": "\U00011db0"}
    assert allowed({"normalizer": {"type": "lowercase"}}, asked, result, {"text": ""}, {}, ask) is None
    assert allowed({}, asked, result, {"text": ""}, {}, ask) == result


LARGE = {"corpus": {"words": [["ab", 2**20 + 1]]}}


@pytest.mark.parametrize("operation", ["train", "training_trace", "training_state", "best_pair", "pair_scores"])
def test_scores_of_large_counts_are_open(operation: str) -> None:
    right, given = {"words": [["ab", 2**20 + 1]]}, dict[str, Any](words=[])
    assert allowed({"type": "wordpiece"}, (operation, LARGE), right, given, {}, ask) is None


@pytest.mark.parametrize("operation", ["count_words", "base_vocabulary"])
def test_large_counts_by_themselves_are_not(operation: str) -> None:
    right, given = {"words": [["ab", 2**20 + 1]]}, dict[str, Any](words=[])
    assert allowed({"type": "wordpiece"}, (operation, LARGE), right, given, {}, ask) == right
