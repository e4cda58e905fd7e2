from __future__ import annotations

import documents
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import WORDS

from tokref import Choices, InputError, Target, base_vocabulary, best_bpe_pair, bpe_state, count_pairs, train_bpe

TOY = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
TIES = ["first_met", "smallest_ids"]


@pytest.mark.parametrize("tie", TIES)
@given(words=WORDS, merges=st.integers(0, 12), min_frequency=st.integers(0, 3))
def test_training_is_that_of_the_documents(tie: str, words: dict[str, int], merges: int, min_frequency: int) -> None:
    choices = Choices.from_mapping({"bpe_training_tie": tie})
    vocabulary, steps, splits = documents.train_bpe(
        words, ["<s>"], lambda size, done: done < merges, min_frequency, tie == "smallest_ids"
    )
    training = train_bpe(words, ["<s>"], Target(merge_count=merges, min_frequency=min_frequency), choices)
    assert (list(training.vocabulary), list(training.steps)) == (vocabulary, steps)
    assert [list(tokens) for tokens, _ in training.words] == list(splits.values())


@given(words=st.dictionaries(st.text("abc", min_size=1, max_size=7), st.integers(0, 3), max_size=8))
def test_training_to_a_size_is_that_of_the_documents_and_so_are_its_states(words: dict[str, int]) -> None:
    vocabulary, steps, _ = documents.train_bpe(words, [], lambda size, done: size < 12)
    training = train_bpe(words, [], Target(vocabulary_size=12), Choices())
    assert (list(training.vocabulary), list(training.steps)) == (vocabulary, steps)
    for done, (left, right, count) in enumerate(steps):
        assert best_bpe_pair(bpe_state(words, [], done, Choices()), Choices()) == ((left, right), count)


@given(WORDS)
def test_counting_is_that_of_the_documents(words: dict[str, int]) -> None:
    splits = {word: list(word) for word in words}
    expected = documents.pair_frequencies(words, splits)
    assert list(count_pairs(bpe_state(words, [], 0, Choices()).words).items()) == list(expected.items())


def test_the_toy() -> None:
    training = train_bpe(TOY, [], Target(vocabulary_size=10), Choices())
    assert training.vocabulary == ("b", "g", "h", "n", "p", "s", "u", "ug", "un", "hug")
    assert training.steps == (("u", "g", 20), ("u", "n", 16), ("h", "ug", 15))
    assert training.words == (
        (("hug",), 10),
        (("p", "ug"), 5),
        (("p", "un"), 12),
        (("b", "un"), 4),
        (("hug", "s"), 5),
    )


def test_ties() -> None:
    words = {"bc": 1, "aa": 1, "ab": 1}
    assert train_bpe(words, [], Target(merge_count=1), Choices()).steps == (("b", "c", 1),)
    smallest = Choices(bpe_training_tie="smallest_ids")
    assert train_bpe(words, [], Target(merge_count=1), smallest).steps == (("a", "a", 1),)
    assert train_bpe(words, ["c"], Target(merge_count=1), smallest).steps == (("a", "a", 1),)
    assert best_bpe_pair(bpe_state(words, [], 0, smallest), smallest) == (("a", "a"), 1)


def test_overlapping_places_count_and_are_merged_from_the_left() -> None:
    training = train_bpe({"aaaaa": 2}, [], Target(merge_count=1), Choices())
    assert (training.steps, training.words) == ((("a", "a", 8),), ((("aa", "aa", "a"), 2),))


def test_a_merged_token_that_is_there_already_is_listed_once() -> None:
    training = train_bpe({"ab": 2, "abc": 1}, ["ab"], Target(merge_count=2), Choices())
    assert training.vocabulary == ("ab", "a", "b", "c", "abc")
    assert training.steps == (("a", "b", 3), ("ab", "c", 1))


def test_training_stops() -> None:
    assert train_bpe(TOY, [], Target(vocabulary_size=3), Choices()).steps == ()
    assert train_bpe(TOY, [], Target(vocabulary_size=99), Choices()).steps[-1] == ("b", "un", 4)
    assert train_bpe(TOY, [], Target(99, min_frequency=16), Choices()).steps == (("u", "g", 20), ("u", "n", 16))
    assert train_bpe({"ab": 0}, [], Target(99), Choices()).steps == ()
    assert train_bpe({}, ["<s>"], Target(99), Choices()).vocabulary == ("<s>",)


def test_counts_beyond_32_bits() -> None:
    assert train_bpe({"ab": 2**31, "abc": 2**63}, [], Target(merge_count=1), Choices()).steps == (
        ("a", "b", 2**31 + 2**63),
    )


def test_a_special_token_that_is_a_character_stands_once() -> None:
    assert base_vocabulary({"ba": 1}, ["b", "<s>"]) == ("b", "<s>", "a")


def test_no_pair_is_best_where_none_is_left() -> None:
    assert best_bpe_pair(bpe_state({"ab": 1}, [], 5, Choices()), Choices()) is None


def test_negative_steps_are_refused() -> None:
    with pytest.raises(InputError, match=r"^invalid_input: -1 steps cannot have been done; give a number from 0$"):
        bpe_state(TOY, [], -1, Choices())
