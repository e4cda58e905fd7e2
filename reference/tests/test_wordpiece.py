from __future__ import annotations

import documents
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import HASH_WORDS, WORDS

from tokref import (
    InputError,
    Token,
    WordPiece,
    best_wordpiece_pair,
    encode_wordpiece,
    score_pairs,
    train_wordpiece,
    wordpiece_alphabet,
    wordpiece_state,
)


@given(WORDS | HASH_WORDS, st.integers(0, 16))
def test_training_is_that_of_the_documents(words: dict[str, int], size: int) -> None:
    vocabulary, steps, splits = documents.train_wordpiece(words, ["[UNK]"], size)
    training = train_wordpiece(words, ["[UNK]"], size)
    assert (list(training.vocabulary), list(training.steps)) == (vocabulary, steps)
    assert [list(tokens) for tokens, _ in training.words] == list(splits.values())


@given(st.dictionaries(st.text("abcd", min_size=1, max_size=6), st.integers(1, 9), max_size=8))
def test_states_and_scores_are_those_of_the_documents(words: dict[str, int]) -> None:
    _, steps, splits = documents.train_wordpiece(words, [], 40)
    final = wordpiece_state(words, [], len(steps))
    assert list(score_pairs(final.words).items()) == list(documents.pair_scores(words, splits).items())
    for done, (left, right, score) in enumerate(steps):
        assert best_wordpiece_pair(wordpiece_state(words, [], done)) == ((left, right), score)


@given(
    st.text("ab", max_size=9),
    st.sets(st.text("ab", min_size=1, max_size=3)),
    st.sets(st.text("ab", min_size=1, max_size=3)),
)
def test_encoding_is_that_of_the_documents(word: str, first: set[str], later: set[str]) -> None:
    vocabulary = ["[UNK]", *sorted(first), *(f"##{token}" for token in sorted(later))]
    tokens = encode_wordpiece(word, WordPiece(tuple(vocabulary)))
    assert [token.text for token in tokens] == documents.encode_wordpiece(word, vocabulary)


def test_the_alphabet_has_both_forms() -> None:
    assert wordpiece_alphabet({"ab": 1, "ba": 1, "a": 1}, ["[UNK]"]) == ("[UNK]", "##a", "##b", "a", "b")
    assert wordpiece_alphabet({"ab": 1}, [], "@") == ("@b", "a")


def test_a_token_that_two_merges_make_is_listed_once() -> None:
    training = train_wordpiece({"#": 3, "####": 3}, [], 9)
    assert [(left, right) for left, right, _ in training.steps] == [("###", "###"), ("####", "###"), ("#", "#####")]
    assert training.vocabulary == ("#", "###", "####", "#####")


def test_words_that_never_occur_have_pairs_of_score_zero() -> None:
    assert train_wordpiece({"ab": 0}, [], 9).steps == (("a", "##b", 0.0),)


def test_no_pair_is_best_where_none_is_left() -> None:
    assert best_wordpiece_pair(wordpiece_state({"a": 1}, [], 0)) is None


def test_negative_steps_are_refused() -> None:
    with pytest.raises(InputError, match=r"^invalid_input: -2 steps cannot have been done; give a number from 0$"):
        wordpiece_state({}, [], -2)


def test_a_piece_that_cannot_be_cut_is_unknown_as_a_whole() -> None:
    model = WordPiece(("hug", "##s", "[UNK]"))
    assert encode_wordpiece("hugs", model) == [Token("hug", 0, 0, 3), Token("##s", 1, 3, 4)]
    assert encode_wordpiece("hugx", model) == [Token("[UNK]", 2, 0, 4)]


def test_a_long_piece_is_unknown() -> None:
    model = WordPiece(("a", "##a", "[UNK]"))
    assert len(encode_wordpiece("a" * 100, model)) == 100
    assert encode_wordpiece("a" * 101, model) == [Token("[UNK]", 2, 0, 101)]


def test_without_the_unknown_token_a_piece_that_needs_it_is_refused() -> None:
    model = WordPiece(("a",))
    assert encode_wordpiece("a", model) == [Token("a", 0, 0, 1)]
    with pytest.raises(InputError) as caught:
        encode_wordpiece("b", model)
    assert str(caught.value) == (
        "unknown_symbol: 'b' is unknown and the unknown token '[UNK]' is not in the vocabulary"
    )
