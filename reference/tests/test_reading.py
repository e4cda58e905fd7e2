"""What is read, what is refused and with which message; whatever is handed in is either answered or refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokref import (
    AddedToken,
    AlignedText,
    Bpe,
    Choices,
    Component,
    InputError,
    Target,
    Tokenizer,
    Unigram,
    WordPiece,
    count_words,
    decode,
    encode,
    from_mapping,
    normalize,
    train_bpe,
    train_unigram,
    train_wordpiece,
)
from tokref.reading import LARGEST_INTEGER, read_integer, read_list, read_number, read_target, read_text, read_words
from tokref.unigram import segmentations, viterbi

from .strategies import JSON, mutations

BPE = {
    "about": "every part has its keys",
    "type": "bpe",
    "vocabulary": ["<s>", "a", "b", "ab"],
    "merges": [["a", "b"]],
    "unknown_token": "<s>",
    "special_tokens": ["<s>"],
    "normalizer": {"type": "sequence", "normalizers": [{"type": "nfkc"}, {"type": "bert", "strip_accents": False}]},
    "pre_tokenizer": {"type": "byte_level", "add_prefix_space": True, "use_regex": False},
    "decoder": {"type": "metaspace", "replacement": "_"},
}
WORDPIECE = {
    "type": "wordpiece",
    "vocabulary": ["[UNK]", "a", "##b"],
    "unknown_token": "[UNK]",
    "continuing_prefix": "##",
    "max_word_length": 5,
    "pre_tokenizer": {"type": "sequence", "pre_tokenizers": [{"type": "whitespace_split"}, {"type": "bert"}]},
    "decoder": {"type": "wordpiece", "prefix": "##"},
}
UNIGRAM = {
    "type": "unigram",
    "tokens": [["<unk>", 0], ["a", 2], ["b", 1.5], ["ab", 3]],
    "weights": "frequency",
    "unknown_token": "<unk>",
    "pre_tokenizer": {"type": "metaspace", "replacement": "_", "prepend_scheme": "first", "split": True},
    "decoder": {"type": "byte_level"},
}
LOGARITHMS = {"type": "unigram", "tokens": [["a", -1.5], ["b", -2], ["ab", -3]], "weights": "log_probability"}
MODELS = [BPE, WORDPIECE, UNIGRAM, LOGARITHMS]
CORPORA = [{"words": [["ab", 2], ["abab", 1], ["ab", 0]], "about": "ab"}, {"texts": ["ab b", "b ab"]}]


def refusal(read: Callable[[], Any]) -> tuple[str, str]:
    with pytest.raises(InputError) as caught:
        read()
    return caught.value.reason, caught.value.message


# Models


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            BPE,
            Tokenizer(
                Bpe({"<s>": 0, "a": 1, "b": 2, "ab": 3}, (("a", "b"),), "<s>"),
                Component(
                    "sequence",
                    {
                        "normalizers": (
                            Component("nfkc"),
                            Component(
                                "bert",
                                {
                                    "clean_text": True,
                                    "handle_chinese_chars": True,
                                    "strip_accents": False,
                                    "lowercase": True,
                                },
                            ),
                        )
                    },
                ),
                Component("byte_level", {"add_prefix_space": True, "use_regex": False}),
                Component("metaspace", {"replacement": "_", "prepend_scheme": "always"}),
                (AddedToken("<s>", 0),),
            ),
        ),
        (
            UNIGRAM,
            Tokenizer(
                Unigram({"<unk>": 0, "a": 2, "b": 1.5, "ab": 3}, "frequency", "<unk>"),
                pre_tokenizer=Component("metaspace", {"replacement": "_", "prepend_scheme": "first", "split": True}),
                decoder=Component("byte_level"),
            ),
        ),
        (LOGARITHMS, Tokenizer(Unigram({"a": -1.5, "b": -2, "ab": -3}, "log_probability"))),
        ({}, Tokenizer()),
        ({"about": "nothing", "decoder": None}, Tokenizer()),
        ({"type": "bpe"}, Tokenizer(Bpe({}, (), None))),
        ({"type": "bpe", "unknown_token": None, "vocabulary": None}, Tokenizer(Bpe())),
        ({"type": "bpe", "special_tokens": ["<s>"]}, Tokenizer(Bpe(), added_tokens=(AddedToken("<s>"),))),
        ({"type": "bpe", "vocabulary": ["", "a"]}, Tokenizer(Bpe({"": 0, "a": 1}))),
        ({"type": "bpe", "vocabulary": [["b", 7], ["a", 0]]}, Tokenizer(Bpe({"b": 7, "a": 0}))),
        (
            {
                "type": "bpe",
                "vocabulary": [["a", 2**32 - 1], ["b", 1]],
                "special_tokens": ["b"],
                "added_tokens": [
                    {"content": "a", "special": False},
                    {"content": "c", "id": 0, "normalized": True, "lstrip": True, "rstrip": True, "single_word": True},
                ],
            },
            Tokenizer(
                Bpe({"a": 2**32 - 1, "b": 1}),
                added_tokens=(
                    AddedToken("b", 1),
                    AddedToken("a", 2**32 - 1, special=False),
                    AddedToken("c", 0, True, True, True, True, True),
                ),
            ),
        ),
        ({"added_tokens": [{"content": "a", "id": 3}]}, Tokenizer(added_tokens=(AddedToken("a", 3),))),
        ({"type": "wordpiece"}, Tokenizer(WordPiece({}, "[UNK]", "##", 100))),
        ({"type": "wordpiece", "continuing_prefix": ""}, Tokenizer(WordPiece(continuing_prefix=""))),
        ({"type": "unigram"}, Tokenizer(Unigram({}, "frequency", None))),
        (
            {"type": "unigram", "tokens": [["a", -745]], "weights": "log_probability"},
            Tokenizer(Unigram({"a": -745}, "log_probability")),
        ),
        ({"special_tokens": ["a"]}, Tokenizer(added_tokens=(AddedToken("a"),))),
        (
            {
                "pre_tokenizer": {
                    "type": "sequence",
                    "pre_tokenizers": [{"type": "whitespace_split"}, {"type": "metaspace"}],
                }
            },
            Tokenizer(
                pre_tokenizer=Component(
                    "sequence",
                    {
                        "pre_tokenizers": (
                            Component("whitespace_split"),
                            Component("metaspace", {"replacement": "▁", "prepend_scheme": "always", "split": True}),
                        )
                    },
                )
            ),
        ),
        (
            {"decoder": {"type": "wordpiece"}},
            Tokenizer(decoder=Component("wordpiece", {"prefix": "##", "cleanup": False})),
        ),
    ],
)
def test_models(content: Any, expected: Tokenizer) -> None:
    assert from_mapping(content) == expected


TYPES = "give one of bpe, wordpiece, unigram, wordlevel"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "the model is not an object, but []"),
        ({"type": []}, f"type [] is unknown; {TYPES}"),
        ({"type": "gpt"}, f"type 'gpt' is unknown; {TYPES}"),
        ({"vocabulary": ["a"]}, f"type None is unknown; {TYPES}"),
        (
            {"type": "bpe", "drops": 0.1},
            "a bpe model has no key 'drops'; give only vocabulary, merges, unknown_token, fuse_unk, byte_fallback, "
            "ignore_merges, dropout, continuing_prefix, end_of_word_suffix, scores",
        ),
        ({"type": "bpe", "dropout": 1.5}, "the dropout 1.5 is not from 0 to 1"),
        ({"type": "bpe", "vocabulary": "ab"}, "'ab' is not a list"),
        ({"type": "bpe", "vocabulary": ["a", 1]}, "1 is not a string"),
        ({"type": "bpe", "vocabulary": ["a", "b", "a"]}, "'a' is listed twice"),
        ({"type": "bpe", "vocabulary": ["", ""]}, "'' is listed twice"),
        ({"type": "bpe", "unknown_token": 0}, "0 is not a string"),
        ({"type": "bpe", "merges": [["a"]]}, "['a'] is not a pair"),
        ({"type": "bpe", "merges": ["ab"]}, "'ab' is not a pair"),
        (
            {"type": "bpe", "vocabulary": ["a", "b"], "merges": [["a", "b"]]},
            "merge ('a', 'b') needs 'ab', which is not in the vocabulary",
        ),
        (
            {"type": "bpe", "vocabulary": ["b", "ab"], "merges": [["a", "b"]]},
            "merge ('a', 'b') needs 'a', which is not in the vocabulary",
        ),
        (
            {"type": "bpe", "vocabulary": ["a", "ab"], "merges": [["a", "b"]]},
            "merge ('a', 'b') needs 'b', which is not in the vocabulary",
        ),
        (
            {"type": "bpe", "vocabulary": ["a"], "special_tokens": ["<s>"]},
            "special token '<s>' is not in the vocabulary",
        ),
        ({"special_tokens": [""]}, "a special token is empty"),
        ({"special_tokens": ["a", "a"]}, "'a' is listed twice"),
        ({"special_tokens": "a"}, "'a' is not a list"),
        ({"type": "bpe", "vocabulary": [["a", 1], "b"]}, "'b' is not a pair"),
        ({"type": "bpe", "vocabulary": [["a", 1], ["b", 1]]}, "'a' and 'b' have the id 1 both"),
        ({"type": "bpe", "vocabulary": [["a", 1], ["a", 2]]}, "'a' is listed twice"),
        ({"type": "bpe", "vocabulary": [["a", 2**32]]}, "4294967296 is not an id: the largest is 4294967295"),
        ({"type": "bpe", "vocabulary": [["a", -1]]}, "-1 is not an integer from 0 to 2**53 - 1"),
        ({"added_tokens": [{"id": 1}]}, "the added token {'id': 1} has no content"),
        ({"added_tokens": [{"content": ""}]}, "the added token {'content': ''} has no content"),
        ({"added_tokens": ["a"]}, "an added token is not an object, but 'a'"),
        (
            {"added_tokens": [{"content": "a", "strip": True}]},
            "an added token has no key 'strip'; give only content, id, special, normalized, lstrip, rstrip, single_word",
        ),
        (
            {"type": "bpe", "vocabulary": ["a"], "added_tokens": [{"content": "b", "lstrip": True}]},
            "added token 'b' is not in the vocabulary and has no id",
        ),
        (
            {"type": "bpe", "vocabulary": ["a"], "added_tokens": [{"content": "a", "id": 1}]},
            "added token 'a' has the id 1, and 0 in the vocabulary",
        ),
        (
            {"type": "bpe", "vocabulary": ["a"], "added_tokens": [{"content": "b", "id": 0}]},
            "added token 'b' has the id 0, which is that of 'a'",
        ),
        (
            {"type": "bpe", "vocabulary": ["a"], "special_tokens": ["a"], "added_tokens": [{"content": "a"}]},
            "special token 'a' is listed twice",
        ),
        ({"type": "wordpiece", "continuing_prefix": 2}, "2 is not a string"),
        ({"type": "wordpiece", "max_word_length": 0}, "0 is not an integer from 1 to 2**53 - 1"),
        ({"type": "wordpiece", "max_word_length": 2**53}, f"{2**53} is not an integer from 1 to 2**53 - 1"),
        ({"type": "wordpiece", "max_word_length": True}, "True is not an integer from 1 to 2**53 - 1"),
        ({"type": "unigram", "tokens": [["a", "x"]]}, "'x' is not a finite number"),
        ({"type": "unigram", "tokens": [["a", True]]}, "True is not a finite number"),
        ({"type": "unigram", "tokens": [["a", math.nan]]}, "nan is not a finite number"),
        ({"type": "unigram", "tokens": [["a", -math.inf]]}, "-inf is not a finite number"),
        ({"type": "unigram", "tokens": [["a", 10**400]]}, "an integer of 1329 bits is not a finite number"),
        (
            {"type": "unigram", "tokens": [["a", 1e308], ["b", 1e308]]},
            "the sum of the frequencies is too large for floating point",
        ),
        (
            {"type": "unigram", "tokens": [["a", 10**308], ["b", 10**308], ["c", 0.5]]},
            "the sum of the frequencies is too large for floating point",
        ),
        (
            {"type": "unigram", "tokens": [["a", -1], ["b", 1000]], "weights": "log_probability"},
            "the probability of 'b' is too large for floating point",
        ),
        ({"type": "unigram", "tokens": [["a", -1]]}, "the frequency of 'a' is below zero"),
        ({"type": "unigram", "tokens": [["a", 1], ["a", 2]]}, "'a' is listed twice"),
        ({"type": "unigram", "weights": "score"}, "'score' is not one of frequency, log_probability"),
        ({"decoder": "wordpiece"}, "a decoder is not an object, but 'wordpiece'"),
        (
            {"decoder": {}},
            "decoder type None is unknown; give one of byte_level, metaspace, wordpiece, byte_fallback, fuse, strip, replace, bpe, ctc, sentencepiece, sequence",
        ),
        (
            {"decoder": {"type": "cut"}},
            "decoder type 'cut' is unknown; give one of byte_level, metaspace, wordpiece, byte_fallback, fuse, strip, replace, bpe, ctc, sentencepiece, sequence",
        ),
        (
            {"decoder": {"type": {}}},
            "decoder type {} is unknown; give one of byte_level, metaspace, wordpiece, byte_fallback, fuse, strip, replace, bpe, ctc, sentencepiece, sequence",
        ),
        ({"decoder": {"type": "byte_level", "x": 1}}, "the decoder byte_level has no key 'x'; give only type"),
        ({"pre_tokenizer": {"type": "metaspace", "replacement": "__"}}, "'__' is not one character"),
        ({"pre_tokenizer": {"type": "metaspace", "replacement": ""}}, "'' is not one character"),
        (
            {"pre_tokenizer": {"type": "metaspace", "prepend_scheme": "last"}},
            "'last' is not one of always, first, never",
        ),
        ({"pre_tokenizer": {"type": "byte_level", "use_regex": 1}}, "1 is neither true nor false"),
        ({"normalizer": {"type": "sequence"}}, "the normalizer sequence needs the key normalizers"),
        (
            {"normalizer": {"type": "replace", "pattern": {"regex": "[a-"}, "content": ""}},
            "the pattern '[a-' has a class without its end",
        ),
        (
            {"normalizer": {"type": "sequence", "normalizers": None}},
            "the normalizer sequence needs the key normalizers",
        ),
        (
            {"pre_tokenizer": {"type": "sequence", "normalizers": []}},
            "the pre_tokenizer sequence has no key 'normalizers'; give only pre_tokenizers",
        ),
    ],
)
def test_a_model_that_contradicts_itself_is_refused(content: Any, message: str) -> None:
    assert refusal(lambda: from_mapping(content)) == ("invalid_model", message)


def nested(times: int) -> Any:
    normalizer: Any = {"type": "lowercase"}
    for _ in range(times):
        normalizer = {"type": "sequence", "normalizers": [normalizer]}
    return normalizer


def test_a_normalizer_that_is_nested_too_deeply_is_refused() -> None:
    normalizer = from_mapping({"normalizer": nested(49)}).normalizer
    assert normalize(AlignedText.from_input("A"), normalizer, Choices()).text == "a"
    message = "the normalizer is nested deeper than 100 levels; flatten its sequences"
    for times in (50, 100_000):
        assert refusal(lambda times=times: from_mapping({"normalizer": nested(times)})) == ("unsupported", message)


# Inputs

LOWERED = from_mapping({"normalizer": {"type": "lowercase"}, "pre_tokenizer": {"type": "bert"}})


def test_words_are_in_the_order_in_which_they_are_met() -> None:
    words = count_words(["the Cat, the", "cat sat", ""], LOWERED, Choices())
    assert list(words.items()) == [("the", 2), ("cat", 2), (",", 1), ("sat", 1)]
    assert read_words({"texts": ["the Cat, the", "cat sat", ""]}, LOWERED, Choices()) == words


def test_words_are_taken_as_they_are_listed_and_counted_together() -> None:
    corpus = {"words": [["Ab b", 2**31], ["c", 0], ["", 1], ["Ab b", 2**31]], "about": "large"}
    assert list(read_words(corpus, LOWERED, Choices()).items()) == [("Ab b", 2**32), ("c", 0), ("", 1)]


def test_special_tokens_are_not_looked_for_in_a_corpus() -> None:
    tokenizer = Tokenizer(pre_tokenizer=Component("bert"), added_tokens=(AddedToken("[MASK]"),))
    assert count_words(["[MASK]"], tokenizer, Choices()) == {"[": 1, "MASK": 1, "]": 1}


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ([], "a corpus is an object with either words or texts"),
        ({}, "a corpus is an object with either words or texts"),
        ({"words": [], "texts": []}, "a corpus is an object with either words or texts"),
        ({"texts": [1]}, "1 is not a string"),
        ({"texts": None}, "None is not a list"),
        ({"texts": "abc"}, "'abc' is not a list"),
        ({"words": 5}, "5 is not a list"),
        ({"words": [3]}, "3 is not a pair"),
        ({"words": ["ab"]}, "'ab' is not a pair"),
        ({"words": [["a", 1, 2]]}, "['a', 1, 2] is not a pair"),
        ({"words": [[["a"], 1]]}, "['a'] is not a string"),
        ({"words": [["a", 2**53]]}, f"{2**53} is not an integer from 0 to 2**53 - 1"),
        ({"words": [["a", -(10**5000)]]}, "an integer of 16610 bits is not an integer from 0 to 2**53 - 1"),
        ({"words": [["a", -1]]}, "-1 is not an integer from 0 to 2**53 - 1"),
        ({"words": [["a", True]]}, "True is not an integer from 0 to 2**53 - 1"),
        ({"words": [["a", 1.5]]}, "1.5 is not an integer from 0 to 2**53 - 1"),
    ],
)
def test_a_corpus_of_another_form_is_refused(corpus: Any, message: str) -> None:
    assert refusal(lambda: read_words(corpus, Tokenizer(), Choices())) == ("invalid_input", message)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"vocabulary_size": 5, "corpus": {}}, Target(5)),
        ({"merge_count": 0}, Target(merge_count=0)),
        ({"vocabulary_size": 5, "merge_count": 3, "min_frequency": 0}, Target(5, 3, 0)),
        ({"min_frequency": 2}, "training needs vocabulary_size or merge_count"),
        ({}, "training needs vocabulary_size or merge_count"),
        ({"merge_count": -1}, "-1 is not an integer from 0 to 2**53 - 1"),
        ({"merge_count": None}, "None is not an integer from 0 to 2**53 - 1"),
        ({"vocabulary_size": 3, "min_frequency": 1.0}, "1.0 is not an integer from 0 to 2**53 - 1"),
    ],
)
def test_targets(given: Any, expected: Target | str) -> None:
    if isinstance(expected, str):
        assert refusal(lambda: read_target(given)) == ("invalid_input", expected)
    else:
        assert read_target(given) == expected


def test_values() -> None:
    assert [read_integer(value, smallest=0) for value in (0, LARGEST_INTEGER)] == [0, 2**53 - 1]
    assert [read_number(value) for value in (0, -1.5, 10**308)] == [0, -1.5, 10**308]
    assert (read_text(""), read_text("\ud800"), read_list([1, "a"]), read_list(())) == ("", "\ud800", [1, "a"], [])


# Any input is answered or refused; there is no third way


def read_and_use(content: Any) -> None:
    tokenizer = from_mapping(content)
    if tokenizer.model is None:
        return
    decode([*tokenizer.model.vocabulary], tokenizer, Choices())
    if isinstance(tokenizer.model, Unigram):
        viterbi("abab", tokenizer.model)
        segmentations("abab", tokenizer.model)
    encode("Abé ab\u4e2d <s>b", tokenizer, Choices(bpe_unknown_without_token="kept", unigram_unknown="run"))


def read_and_train(corpus: Any) -> None:
    tokenizer = from_mapping({"normalizer": {"type": "nfc"}, "pre_tokenizer": {"type": "byte_level"}})
    words = read_words(corpus, tokenizer, Choices())
    train_bpe(words, [], Target(merge_count=2), Choices())
    train_wordpiece(words, [], Target(merge_count=2), "##")
    train_unigram(words, 9, 3, 0.5)


def refused(use: Callable[[Any], None], value: Any) -> str:
    """Return the reason for which a value is refused, or nothing."""
    try:
        use(value)
    except InputError as error:
        return error.reason
    return ""


@pytest.mark.parametrize(
    ("content", "reason"), [(BPE, ""), (WORDPIECE, ""), (UNIGRAM, ""), (LOGARITHMS, "unknown_symbol")]
)
def test_the_models_are_answered(content: Any, reason: str) -> None:
    assert refused(read_and_use, content) == reason


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_corpora_are_answered(corpus: Any) -> None:
    assert refused(read_and_train, corpus) == ""


@settings(max_examples=300)
@given(JSON)
def test_any_value_is_answered_or_refused(value: Any) -> None:
    refused(read_and_use, value)
    refused(read_and_train, value)


@settings(max_examples=600)
@given(st.sampled_from(MODELS).flatmap(mutations))
def test_a_model_with_one_change_is_answered_or_refused(content: Any) -> None:
    refused(read_and_use, content)


@settings(max_examples=300)
@given(st.sampled_from(CORPORA).flatmap(mutations))
def test_a_corpus_with_one_change_is_answered_or_refused(corpus: Any) -> None:
    refused(read_and_train, corpus)
