from __future__ import annotations

from typing import Any

import pytest

from tokref import Choices, InputError, Tokenizer, count_words, from_mapping, read_words

BERT = from_mapping({"normalizer": {"type": "lowercase"}, "pre_tokenizer": {"type": "bert"}})


def test_words_stand_in_the_order_in_which_they_are_met() -> None:
    assert list(count_words(["the Cat, the", "cat sat", ""], BERT, Choices()).items()) == [
        ("the", 2),
        ("cat", 2),
        (",", 1),
        ("sat", 1),
    ]


def test_a_word_that_is_listed_twice_is_counted_together() -> None:
    corpus = {"words": [["Ab", 2**31], ["c", 0], ["Ab", 2**31]], "about": "large"}
    assert list(read_words(corpus, BERT, Choices()).items()) == [("Ab", 2**32), ("c", 0)]


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ([], "a corpus is an object with either words or texts"),
        ({}, "a corpus is an object with either words or texts"),
        ({"words": [], "texts": []}, "a corpus is an object with either words or texts"),
        ({"texts": [1]}, "1 is to be a string"),
        ({"texts": None}, "None is to be a list"),
        ({"texts": "abc"}, "'abc' is to be a list"),
        ({"words": 5}, "5 is to be a list"),
        ({"words": [3]}, "3 is to be a pair"),
        ({"words": ["ab"]}, "'ab' is to be a pair"),
        ({"words": [["a", 1, 2]]}, "['a', 1, 2] is to be a pair"),
        ({"words": [[["a"], 1]]}, "['a'] is to be a string"),
        ({"words": [["a", -(10**5000)]]}, "an integer of 16610 bits is no count; give an integer from 0"),
        ({"words": [["a", -1]]}, "-1 is no count; give an integer from 0"),
        ({"words": [["a", True]]}, "True is no count; give an integer from 0"),
        ({"words": [["a", 1.5]]}, "1.5 is no count; give an integer from 0"),
    ],
)
def test_a_corpus_of_another_form_is_refused(corpus: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_words(corpus, Tokenizer(), Choices())
    assert (caught.value.reason, caught.value.message) == ("invalid_input", message)
