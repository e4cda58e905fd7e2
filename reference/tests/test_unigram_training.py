from __future__ import annotations

from collections import Counter

import documents
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import WORDS

from tokref import (
    Choices,
    InputError,
    Unigram,
    corpus_loss,
    initial_vocabulary,
    loss_increase,
    loss_increases,
    prune_step,
    ranked_substrings,
    strict_substrings,
    train_unigram,
)

TOY = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
SOME_WORDS = WORDS.filter(bool) | st.dictionaries(
    st.text("abcd", min_size=1, max_size=7), st.integers(1, 9), min_size=1, max_size=8
)


def entries(model: Unigram) -> list[tuple[str, float]]:
    return list(zip(model.vocabulary, model.weights, strict=True))


@given(SOME_WORDS, st.integers(0, 40))
def test_the_initial_vocabulary_is_that_of_the_documents(words: dict[str, int], size: int) -> None:
    assert entries(initial_vocabulary(words, size)) == list(documents.initial_frequencies(words, size).items())


@given(SOME_WORDS, st.integers(0, 60))
def test_losses_have_the_bits_of_the_documents(words: dict[str, int], size: int) -> None:
    model = initial_vocabulary(words, size)
    costs = documents.costs(documents.initial_frequencies(words, size))
    assert dict(model.costs) == costs
    assert corpus_loss(words, model, Choices()) == documents.loss(words, costs)
    increases = documents.loss_increases(words, costs)
    assert list(loss_increases(words, model, Choices()).items()) == list(increases.items())
    assert all(loss_increase(words, model, token, Choices()) == increases[token] for token in increases)


@settings(max_examples=25)
@given(SOME_WORDS, st.integers(5, 40), st.sampled_from([0.05, 0.1, 0.2, 0.5, 1.0]))
def test_pruning_is_that_of_the_documents(words: dict[str, int], size: int, fraction: float) -> None:
    left, sizes, removed = documents.prune(words, size, 4, fraction)
    training = train_unigram(words, size, 4, fraction, Choices())
    assert (entries(training.model), list(training.sizes)) == (list(left.items()), sizes)
    model, found = initial_vocabulary(words, size), list[str]()
    for _ in sizes[1:]:
        step, model = prune_step(words, model, fraction, Choices())
        found += step
    assert found == removed


@given(SOME_WORDS)
def test_substrings_are_counted_by_place(words: dict[str, int]) -> None:
    all_places: Counter[str] = Counter()
    strict = set()
    for word, count in words.items():
        for start in range(len(word)):
            for end in range(start + 1, len(word) + 1):
                all_places[word[start:end]] += count
                strict |= {word[start:end]} if end - start < len(word) else set()
    assert strict_substrings(words) == {substring: all_places[substring] for substring in strict}
    assert dict(ranked_substrings(words)) == {key: value for key, value in all_places.items() if len(key) > 1}


def test_the_toy() -> None:
    frequencies = strict_substrings(TOY)
    assert frequencies == {
        **{"h": 15, "u": 36, "g": 20, "hu": 15, "ug": 20, "p": 17, "pu": 17, "n": 16, "un": 16, "b": 4, "bu": 4},
        **{"s": 5, "hug": 15, "gs": 5, "ugs": 5},
    }
    model = Unigram(tuple(frequencies), weights=tuple(frequencies.values()))
    assert loss_increase(TOY, model, "pu", Choices()) == 0.0
    assert round(loss_increase(TOY, model, "hug", Choices()), 1) == 23.5
    assert round(corpus_loss(TOY, model, Choices(unigram_score_start="zero")), 1) == 169.8


def test_substrings_of_equal_frequency_stand_as_they_are_met() -> None:
    assert ranked_substrings({"abc": 1, "bca": 1}) == [("bc", 2), ("ab", 1), ("abc", 1), ("bca", 1), ("ca", 1)]


def test_removing_what_is_not_there_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        loss_increase({}, Unigram(("a",), weights=(1,)), "b", Choices())
    assert str(caught.value) == "invalid_input: 'b' is not in the vocabulary and cannot be removed"


def test_a_word_that_needs_the_token_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        loss_increase({"aa": 1}, Unigram(("aa",), weights=(1,)), "aa", Choices())
    assert str(caught.value) == "no_segmentation: 'aa' cannot be written with the tokens of the vocabulary"


def test_a_count_beyond_floating_point_is_refused() -> None:
    words = {"ab": 10**400, "b": 1}
    model = initial_vocabulary(words, 9)
    assert entries(model) == [("a", 10**400), ("b", 10**400 + 1), ("ab", 10**400)]
    with pytest.raises(InputError) as caught:
        corpus_loss(words, model, Choices())
    assert str(caught.value) == "unsupported: an integer of 1329 bits is too large a count for floating point"


@pytest.mark.parametrize("fraction", [0, -0.1, 1.5])
def test_a_fraction_outside_of_zero_to_one_is_refused(fraction: float) -> None:
    with pytest.raises(InputError) as caught:
        prune_step({}, Unigram(), fraction, Choices())
    assert str(caught.value) == f"invalid_input: {fraction!r} is no fraction; give a number above 0 and not above 1"


def test_training_ends_when_nothing_can_be_removed() -> None:
    training = train_unigram({"abc": 1}, 6, 1, 0.5, Choices())
    assert (training.model.vocabulary, training.sizes) == (("a", "b", "c"), (6, 3))
    assert train_unigram({"abcdefgh": 1}, 9, 8, 0.1, Choices()).sizes == (9,)
    assert train_unigram({}, 9, 0, 0.1, Choices()).sizes == (0,)


def test_a_word_that_never_occurs_adds_nothing() -> None:
    words = {"ab": 0, "b": 2}
    model = initial_vocabulary(words, 9)
    assert corpus_loss(words, model, Choices()) == 2.0
    assert loss_increases(words, model, Choices()) == {"ab": 0.0}
