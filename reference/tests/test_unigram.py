from __future__ import annotations

import math

import documents
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokref import (
    Choices,
    InputError,
    Token,
    Unigram,
    encode_unigram,
    segment,
    segmentations,
    token_probabilities,
    viterbi,
)

FREQUENCIES = st.dictionaries(st.text("ab", min_size=1, max_size=4), st.integers(1, 9), min_size=1, max_size=9)
TOY = {"h": 15, "u": 36, "g": 20, "hu": 15, "ug": 20, "p": 17, "pu": 17, "n": 16, "un": 16, "b": 4, "bu": 4, "s": 5}
TOY |= {"hug": 15, "gs": 5, "ugs": 5}


def model_of(frequencies: dict[str, int], unknown: str | None = None) -> Unigram:
    return Unigram(tuple(frequencies), unknown, tuple(frequencies.values()))


@given(FREQUENCIES, st.text("ab", min_size=1, max_size=8))
def test_segmentation_is_that_of_the_documents(frequencies: dict[str, int], word: str) -> None:
    tokens, score = documents.encode_word(word, documents.costs(frequencies))
    if score is None:
        with pytest.raises(InputError) as caught:
            segment(word, model_of(frequencies), Choices())
        expected = f"no_segmentation: {word!r} cannot be written with the tokens of the vocabulary"
        assert str(caught.value) == expected
    else:
        assert segment(word, model_of(frequencies), Choices()) == (tuple(tokens), score)
        _, from_zero = documents.encode_word(word, documents.costs(frequencies), 0)
        assert segment(word, model_of(frequencies), Choices(unigram_score_start="zero")).value == from_zero


@given(FREQUENCIES, st.text("ab", max_size=8))
def test_the_segmentations_are_all_of_them_and_the_best_is_chosen(frequencies: dict[str, int], word: str) -> None:
    model = model_of(frequencies)
    found = segmentations(word, model)
    assert [list(tokens) for tokens, _ in found] == list(documents.all_segmentations(word, model.vocabulary))
    if found:
        best = max(probability for _, probability in found)
        chosen = dict(found)[segment(word, model, Choices()).tokens]
        assert math.isclose(chosen, best, rel_tol=1e-12)


@given(FREQUENCIES, st.text("ab", max_size=8))
def test_each_row_of_the_table_is_the_best_of_a_beginning(frequencies: dict[str, int], word: str) -> None:
    model = model_of(frequencies)
    for end, row in enumerate(viterbi(word, model, Choices()), 1):
        of_beginning = segmentations(word[:end], model)
        assert (row is None) == (not of_beginning)
        if row is not None:
            assert row.tokens == segment(word[:end], model, Choices()).tokens
            assert dict(of_beginning)[row.tokens] == row.value


def test_the_toy() -> None:
    model = model_of(TOY)
    assert viterbi("unhug", model, Choices()) == [
        (("u",), 36 / 210),
        (("un",), 16 / 210),
        (("un", "h"), 16 / 210 * (15 / 210)),
        (("un", "hu"), 16 / 210 * (15 / 210)),
        (("un", "hug"), 16 / 210 * (15 / 210)),
    ]
    assert [tokens for tokens, _ in segmentations("pug", model)] == [("p", "u", "g"), ("p", "ug"), ("pu", "g")]
    assert token_probabilities(model)["ug"] == 20 / 210


def test_greedy_is_not_best() -> None:
    weights = {"a": -1.0, "b": -1.0, "c": -1.0, "ab": -2.5, "abc": -4.0}
    model = Unigram(tuple(weights), weights=tuple(weights.values()), kind="log_probability")
    assert segment("abc", model, Choices()) == (("a", "b", "c"), 4.0)
    assert token_probabilities(model)["ab"] == math.exp(-2.5)


def test_of_equal_scores_the_token_that_starts_first_stays() -> None:
    model = Unigram(("a", "b", "ab"), weights=(-1.0, -1.0, -2.0), kind="log_probability")
    assert segment("ab", model, Choices(unigram_tie="earliest_start")).tokens == ("ab",)


def test_the_empty_word_is_written_without_tokens() -> None:
    assert segment("", model_of(TOY), Choices()) == ((), 1.0)
    assert segmentations("", model_of(TOY)) == [((), 1.0)]
    assert viterbi("", model_of(TOY), Choices()) == []


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("piece", [Token("<unk>", 0, 0, 5)]),
        ("run", [Token("a", 1, 0, 1), Token("<unk>", 0, 1, 3), Token("ab", 3, 3, 5)]),
    ],
)
def test_a_piece_that_no_segmentation_covers(option: str, expected: list[Token]) -> None:
    model = model_of({"<unk>": 0, "a": 3, "b": 3, "ab": 3}, "<unk>")
    assert encode_unigram("axyab", model, Choices.from_mapping({"unigram_unknown": option})) == expected
    assert encode_unigram("ab", model, Choices.from_mapping({"unigram_unknown": option})) == [Token("ab", 3, 0, 2)]


def test_an_unknown_character_may_be_cheaper_than_two_tokens() -> None:
    model = Unigram(("<unk>", "ab", "bc", "c"), "<unk>", (-0.1, -20.0, -0.1, -20.0), "log_probability")
    run = encode_unigram("abc", model, Choices(unigram_unknown="run"))
    assert [token.text for token in run] == ["<unk>", "bc"]
    assert [token.text for token in encode_unigram("abc", model, Choices())] == ["ab", "c"]


@pytest.mark.parametrize("option", ["piece", "run"])
def test_without_an_unknown_token_the_piece_is_refused(option: str) -> None:
    with pytest.raises(InputError) as caught:
        encode_unigram("ax", model_of({"a": 1}), Choices.from_mapping({"unigram_unknown": option}))
    assert str(caught.value) == "unknown_symbol: 'ax' is unknown and the model has no unknown token"


def test_a_token_that_never_occurs_has_no_probability() -> None:
    model = model_of({"a": 0, "b": 0})
    assert (dict(model.probabilities), segment("ab", model, Choices())) == (
        {"a": 0.0, "b": 0.0},
        (("a", "b"), math.inf),
    )
