"""What the specification leaves open is taken from the answer that was given, and nothing else is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.fuzz.tolerance import Answers, allowed
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


def expected(model: Any, operation: str, input: Any, right: Any, given: Any, **choices: str) -> Any:
    """Return what is expected beside an answer, under the defaults and other options of choices."""
    held = {**load_specification().defaults(), **choices}
    return allowed(Answers(model, operation, input, right, given, held, ask))


RUN = {"unigram_tie": "earliest_start", "unigram_unknown": "run", "bpe_merge_order": "lowest_rank"}


@pytest.mark.parametrize(
    ("model", "text", "right", "given", "due"),
    [
        pytest.param(UNKNOWN_BESIDE, "bbb", BEFORE, BEHIND, BEHIND, id="an unknown run on the other side"),
        pytest.param(
            {**UNKNOWN_BESIDE, "special_tokens": ["a"]}, "bbb", BEFORE, BEHIND, BEHIND, id="a special token elsewhere"
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
    model: Mapping[str, Any], text: str, right: Any, given: Any, due: Any
) -> None:
    assert expected(model, "encode", {"text": text}, right, given, **RUN) == due


#: The unknown token is a letter of the text, and so may stand for itself.
SPELLED = {"type": "unigram", "unknown_token": "a", "tokens": [["a", 2], ["aa", 1]]}

#: Whatever holds the unknown token has the probability 0.
NEVER = {"type": "unigram", "unknown_token": "u", "tokens": [["u", 0], ["a", 1], ["b", 0], ["ab", 0]]}

#: "aaau" as the unknown token and aa: the third a is as unknown as the first.
RUNS = {"type": "unigram", "unknown_token": "<unk>", "tokens": [["<unk>", 1], ["aa", 1]]}
MARKED = {**UNKNOWN_BESIDE, "special_tokens": ["<s>"], "tokens": [*UNKNOWN_BESIDE["tokens"], ["<s>", 1]]}  # type: ignore[misc]


@pytest.mark.parametrize(
    ("model", "text", "right", "given", "choices", "is_open"),
    [
        pytest.param(
            SPELLED, "aaa", ["a", "aa"], ["aa", "a"], {"unigram_tie": "any"}, True, id="a tie of the unknown token"
        ),
        pytest.param(SPELLED, "aaa", ["a", "aa"], ["a", "a", "a"], {"unigram_tie": "any"}, False, id="not a tie"),
        pytest.param(
            NEVER, "uab", ["u", "ab"], ["u", "a", "b"], {"unigram_tie": "any"}, True, id="all of probability 0"
        ),
        pytest.param(
            MARKED,
            "<s>bbb",
            ["<s>", "▁", "<unk>", "bb"],
            ["<s>", "▁", "bb", "<unk>"],
            RUN,
            True,
            id="behind a special token",
        ),
        pytest.param(
            MARKED,
            "<s>bbb",
            ["<s>", "▁", "<unk>", "bb"],
            ["▁", "bb", "<unk>"],
            RUN,
            False,
            id="a special token is missing",
        ),
        pytest.param(
            RUNS, "xaay", ["<unk>", "aa", "<unk>"], ["<unk>", "<unk>", "aa", "<unk>"], RUN, False, id="a run is one"
        ),
    ],
)
def test_ties_with_unknown_tokens_are_open(
    model: Any, text: str, right: list[str], given: list[str], choices: Any, is_open: bool
) -> None:
    listed = [token for token, _ in model["tokens"]]
    wanted, got = (
        {"tokens": tokens, "ids": [listed.index(token) for token in tokens], "spans": [[0, 0]] * len(tokens)}
        for tokens in (right, given)
    )
    found = expected(model, "encode", {"text": text}, wanted, got, **choices)
    assert found in ((got, None) if is_open else (wanted,))


@pytest.mark.parametrize(("given", "is_open"), [(LONG_FIRST, True), (SINGLE, False)])
def test_ties_behind_a_normalizer_are_open(given: dict[str, Any], is_open: bool) -> None:
    """The tokens stand for what the normalizer makes of the text."""
    model = {**EITHER_END, "normalizer": {"type": "lowercase"}}
    found = expected(model, "encode", {"text": "AaA"}, SHORT_FIRST, given, unigram_tie="any")
    assert found == (given if is_open else SHORT_FIRST)


def test_the_same_tokens_may_stand_for_other_stretches_of_an_unknown_run() -> None:
    tokens = {"tokens": ["<unk>", "aa"], "ids": [0, 1]}
    right, given = {**tokens, "spans": [[0, 1], [1, 3]]}, {**tokens, "spans": [[0, 2], [2, 3]]}
    once = {"text": "xaa"}
    assert expected(RUNS, "encode", once, right, given, **RUN) == right
    either = {"tokens": ["<unk>", "aa", "<unk>"], "ids": [0, 1, 0]}
    first, second = {**either, "spans": [[0, 1], [1, 3], [3, 5]]}, {**either, "spans": [[0, 2], [2, 4], [4, 5]]}
    assert expected(RUNS, "encode", {"text": "xaaay"}, first, second, **RUN) == second


def test_pairs_of_words_that_do_not_occur_may_stand_anywhere() -> None:
    input = {"corpus": {"words": [["ab", 0], ["cd", 2]]}}
    rows = [["a", "##b", 0.0], ["c", "##d", 0.5]]
    right, given = {"pairs": rows}, {"pairs": rows[::-1]}
    assert expected({"type": "wordpiece"}, "pair_scores", input, right, given) == given
    assert expected({"type": "wordpiece"}, "pair_scores", input, right, {"pairs": rows[:1]}) == right
    often = {"corpus": {"words": [["ab", 1], ["cd", 2]]}}
    assert expected({"type": "wordpiece"}, "pair_scores", often, right, given) == right


def test_the_span_of_an_added_character_is_open_and_no_other() -> None:
    right = {"pieces": [["▁", 0, 0], ["a", 0, 1]]}
    given = {"pieces": [["▁", 0, 1], ["a", 1, 2]]}
    assert expected({}, "pre_tokenize", {"text": "a"}, right, given) == {"pieces": [["▁", 0, 1], ["a", 0, 1]]}


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
    assert expected(model, "encode", {"text": text}, right, {"spans": [given]}, offset_unit=unit) == (
        {"spans": [given]} if is_open else right
    )


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
    right = {"spans": [[0, 1]]}
    found = expected({"normalizer": {"type": "bert"}}, "encode", {"text": text}, right, {"spans": [given]})
    assert found == ({"spans": [given]} if is_open else right)


def test_a_character_of_a_newer_unicode_is_open_where_a_stage_looks_at_its_kind() -> None:
    result = {"text": "\U00011db0"}
    assert expected({"normalizer": {"type": "lowercase"}}, "normalize", result, result, {"text": ""}) is None
    assert expected({}, "normalize", result, result, {"text": ""}) == result


LARGE = {"corpus": {"words": [["ab", 2**25 + 1]]}}


@pytest.mark.parametrize("operation", ["train", "training_trace", "training_state", "best_pair", "pair_scores"])
def test_scores_of_large_counts_are_open(operation: str) -> None:
    right, given = {"words": [["ab", 2**25 + 1]]}, dict[str, Any](words=[])
    assert expected({"type": "wordpiece"}, operation, LARGE, right, given) is None


@pytest.mark.parametrize("operation", ["count_words", "base_vocabulary"])
def test_large_counts_by_themselves_are_not(operation: str) -> None:
    right, given = {"words": [["ab", 2**25 + 1]]}, dict[str, Any](words=[])
    assert expected({"type": "wordpiece"}, operation, LARGE, right, given) == right


@pytest.mark.parametrize(("cut", "is_open"), [("aa", True), ("a", False)])
def test_ties_in_what_overflows_are_open(cut: str, is_open: bool) -> None:
    right = {**SHORT_FIRST, "tokens": ["a"], "overflowing": [{"tokens": ["a"]}]}
    given = {**right, "overflowing": [{"tokens": [cut]}]}
    found = expected({**EITHER_END, "truncation": {"max_length": 1}}, "encode", {"text": "aa"}, right, given)
    assert found == (None if is_open else right)


@pytest.mark.parametrize(
    ("given", "is_open"),
    [
        ([["aa", "a"], ["a", "aa"]], True),
        ([["a", "aa"], ["a", "aa"]], False),
        ([["a", "aa"], ["a", "a", "a"]], False),
        ([["a", "aa"]], False),
    ],
)
def test_segmentations_that_tie_are_listed_in_any_order(given: list[list[str]], is_open: bool) -> None:
    right, input = {"segmentations": [["a", "aa"], ["aa", "a"]]}, {"word": "aaa", "nbest_size": 2}
    found = expected(EITHER_END, "nbest", input, right, {"segmentations": given})
    assert found == ({"segmentations": given} if is_open else right)


@pytest.mark.parametrize(
    ("ids", "is_open"), [([1, 0], True), ([0, 1], True), ([0, 0, 0], False), ([1, 0, 0], False), ([7], False)]
)
def test_parts_of_equally_probable_tokens_are_open(ids: list[int], is_open: bool) -> None:
    right, input = {"ids": [0, 1]}, {"parts": [{"text": "aaa"}]}
    found = expected(EITHER_END, "encode_parts", input, right, {"ids": ids})
    assert found == ({"ids": ids} if is_open else right)
    assert expected(EXACT, "encode_parts", input, right, {"ids": ids}, unigram_tie="earliest_start") == right


def test_either_place_of_a_merge_that_is_listed_twice_counts_in_parts() -> None:
    right, input = {"ids": [3, 2]}, {"parts": [{"text": "abc"}]}
    for ids, due in (([0, 4], None), ([0, 1, 2], right)):
        found = expected(LISTED_TWICE, "encode_parts", input, right, {"ids": ids}, bpe_merge_order="lowest_rank")
        assert found == due


def test_nothing_is_said_of_parts_that_tie_where_they_are_cut() -> None:
    model, input = {**EITHER_END, "truncation": {"max_length": 1}}, {"parts": [{"text": "aaa"}]}
    assert expected(model, "encode_parts", input, {"ids": [0]}, {"ids": [1]}) is None


@pytest.mark.parametrize(
    ("post_processor", "is_open"),
    [({"type": "byte_level", "add_prefix_space": False}, False), ({"type": "byte_level", "trim_offsets": False}, True)],
)
def test_an_empty_span_is_open_unless_trimming_made_it_empty(post_processor: Any, is_open: bool) -> None:
    model = {"type": "bpe", "vocabulary": ["▁", "a", " "], "pre_tokenizer": {"type": "metaspace"}}
    spaces = {"type": "bpe", "vocabulary": [" "], "post_processor": post_processor}
    right = ask("encode", spaces, {"text": " "})
    given = {**right, "spans": [[0, 0]]}
    assert right["spans"] == ([[0, 1]] if is_open else [[1, 1]])
    assert expected(spaces, "encode", {"text": " "}, right, given) == right
    marked = {**model, "post_processor": post_processor}
    right = ask("encode", marked, {"text": "a"})
    given = {**right, "spans": [[0, 1], [0, 1]]}
    assert expected(marked, "encode", {"text": "a"}, right, given) == given
