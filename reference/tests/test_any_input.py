"""Whatever is handed in is answered, or refused; there is no third way."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import JSON, mutations

from tokref import (
    Choices,
    InputError,
    Target,
    Tokenizer,
    Unigram,
    decode,
    encode,
    from_mapping,
    read_words,
    segmentations,
    train_bpe,
    train_unigram,
    train_wordpiece,
    viterbi,
)

TEXT = "Abé ab\u4e2d <s>b"
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
CORPORA = [{"words": [["ab", 2], ["abab", 1], ["ab", 0]], "about": "ab"}, {"texts": ["ab b", "b ab"]}]
SPLIT = from_mapping({"normalizer": {"type": "nfc"}, "pre_tokenizer": {"type": "byte_level"}})


def read_and_use(content: Any) -> None:
    tokenizer = from_mapping(content)
    if tokenizer.model is None:
        return
    decode([*tokenizer.model.vocabulary], tokenizer, Choices())
    if isinstance(tokenizer.model, Unigram):
        viterbi("abab", tokenizer.model, Choices())
        segmentations("abab", tokenizer.model)
    encode(TEXT, tokenizer, Choices(bpe_unknown_without_token="kept", unigram_unknown="run"))


def read_and_train(corpus: Any) -> None:
    words = read_words(corpus, SPLIT, Choices())
    train_bpe(words, [], Target(merge_count=2), Choices())
    train_wordpiece(words, merge_count=2)
    train_unigram(words, 9, 3, 0.5, Choices())


def answered_or_refused(use: Any, value: Any) -> str:
    try:
        use(value)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("content", [BPE, WORDPIECE, UNIGRAM, LOGARITHMS])
def test_the_models_are_right(content: Any) -> None:
    tokenizer = from_mapping(content)
    assert isinstance(tokenizer, Tokenizer)
    assert answered_or_refused(read_and_use, content).partition(":")[0] in ("", "unknown_symbol")


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_corpora_are_right(corpus: Any) -> None:
    assert answered_or_refused(read_and_train, corpus) == ""


@settings(max_examples=300)
@given(JSON)
def test_any_value_is_answered_or_refused(value: Any) -> None:
    answered_or_refused(read_and_use, value)
    answered_or_refused(read_and_train, value)


@settings(max_examples=600)
@given(st.sampled_from([BPE, WORDPIECE, UNIGRAM, LOGARITHMS]).flatmap(mutations))
def test_a_model_with_one_change_is_answered_or_refused(content: Any) -> None:
    answered_or_refused(read_and_use, content)


@settings(max_examples=300)
@given(st.sampled_from(CORPORA).flatmap(mutations))
def test_a_corpus_with_one_change_is_answered_or_refused(corpus: Any) -> None:
    answered_or_refused(read_and_train, corpus)
