from __future__ import annotations

import math
from typing import Any

import pytest

from tokref import (
    Bpe,
    ByteLevel,
    Choices,
    InputError,
    Metaspace,
    PreTokenizerSequence,
    Tokenizer,
    UnicodeForm,
    Unigram,
    WhitespaceSplit,
    WordPiece,
    bert_normalizer,
    from_mapping,
)


def test_a_bpe_model() -> None:
    content = {
        "about": "a toy",
        "type": "bpe",
        "vocabulary": ["<s>", "a", "b", "ab"],
        "merges": [["a", "b"]],
        "unknown_token": None,
        "special_tokens": ["<s>"],
        "normalizer": {"type": "sequence", "normalizers": [{"type": "nfkc"}]},
        "pre_tokenizer": {"type": "byte_level", "add_prefix_space": True},
    }
    tokenizer = from_mapping(content)
    assert tokenizer.model == Bpe(("<s>", "a", "b", "ab"), None, (("a", "b"),))
    assert tokenizer.normalizer == type(tokenizer.normalizer)((UnicodeForm("NFKC"),))  # type: ignore[misc, call-arg]
    assert (tokenizer.pre_tokenizer, tokenizer.special_tokens) == (ByteLevel(add_prefix_space=True), ("<s>",))


def test_a_wordpiece_model_has_its_defaults() -> None:
    assert from_mapping({"type": "wordpiece"}) == Tokenizer(WordPiece((), "[UNK]", "##", 100))
    assert from_mapping({"normalizer": {"type": "bert"}}) == Tokenizer(normalizer=bert_normalizer())


def test_a_unigram_model() -> None:
    content = {"type": "unigram", "tokens": [["a", -0.5]], "weights": "log_probability", "unknown_token": "<unk>"}
    assert from_mapping(content) == Tokenizer(Unigram(("a",), "<unk>", (-0.5,), "log_probability"))


def test_a_sequence_of_pre_tokenizers() -> None:
    parts = [{"type": "whitespace_split"}, {"type": "metaspace", "prepend_scheme": "first", "split": False}]
    expected = PreTokenizerSequence((WhitespaceSplit(), Metaspace("▁", "first", False)))
    assert from_mapping({"pre_tokenizer": {"type": "sequence", "pre_tokenizers": parts}}).pre_tokenizer == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "[] is no object, as the model is to be"),
        ({"type": []}, "type [] is unknown; give one of bpe, wordpiece, unigram"),
        ({"type": "gpt"}, "type 'gpt' is unknown; give one of bpe, wordpiece, unigram"),
        ({"vocabulary": ["a"]}, "type None is unknown; give one of bpe, wordpiece, unigram"),
        (
            {"type": "bpe", "dropout": 0.1},
            "a bpe model has no key 'dropout'; give only vocabulary, merges, unknown_token",
        ),
        ({"type": "bpe", "vocabulary": "ab"}, "'ab' is to be a list"),
        ({"type": "bpe", "vocabulary": ["a", 1]}, "1 is to be a string"),
        ({"type": "bpe", "vocabulary": ["a", "b", "a"]}, "'a' is listed twice"),
        ({"type": "bpe", "vocabulary": ["a", ""]}, "a token is empty"),
        ({"type": "bpe", "merges": [["a"]]}, "['a'] is to be a pair"),
        (
            {"type": "bpe", "vocabulary": ["a", "b"], "merges": [["a", "b"]]},
            "merge ('a', 'b') needs 'ab', which is not in the vocabulary",
        ),
        (
            {"type": "bpe", "vocabulary": ["b", "ab"], "merges": [["a", "b"]]},
            "merge ('a', 'b') needs 'a', which is not in the vocabulary",
        ),
        (
            {"type": "bpe", "vocabulary": ["a"], "special_tokens": ["<s>"]},
            "special token '<s>' is not in the vocabulary",
        ),
        ({"special_tokens": [""]}, "a token is empty"),
        ({"type": "wordpiece", "max_word_length": 0}, "0 is to be an integer from 1"),
        ({"type": "unigram", "tokens": [["a", "x"]]}, "'x' is to be a finite number"),
        ({"type": "unigram", "tokens": [["a", math.nan]]}, "nan is to be a finite number"),
        ({"type": "unigram", "tokens": [["a", 10**400]]}, "an integer of 1329 bits is to be a finite number"),
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
        ({"type": "unigram", "weights": "score"}, "'score' is to be one of frequency, log_probability"),
        ({"decoder": "wordpiece"}, "'wordpiece' is no object, as a decoder is to be"),
        (
            {"decoder": {"type": "ctc"}},
            "decoder type 'ctc' is unknown; give one of byte_level, metaspace, wordpiece",
        ),
        ({"decoder": {"type": "byte_level", "x": 1}}, "the decoder byte_level has no key 'x'; give only type"),
        ({"pre_tokenizer": {"type": "metaspace", "replacement": "__"}}, "'__' is to be one character"),
        ({"pre_tokenizer": {"type": "byte_level", "use_regex": 1}}, "1 is to be true or false"),
        ({"normalizer": {"type": "sequence"}}, "the normalizer sequence needs the key normalizers"),
        (
            {"normalizer": {"type": "sequence", "normalizers": None}},
            "the normalizer sequence needs the key normalizers",
        ),
        (
            {"pre_tokenizer": {"type": "sequence", "normalizers": []}},
            "the pre_tokenizer sequence has no key 'normalizers'; give only pre_tokenizers",
        ),
        ({"decoder": {"type": {}}}, "decoder type {} is unknown; give one of byte_level, metaspace, wordpiece"),
    ],
)
def test_what_contradicts_itself_is_refused(content: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        from_mapping(content)
    assert (caught.value.reason, caught.value.message) == ("invalid_model", message)


def nested(times: int) -> Any:
    normalizer: Any = {"type": "lowercase"}
    for _ in range(times):
        normalizer = {"type": "sequence", "normalizers": [normalizer]}
    return normalizer


def test_a_normalizer_that_is_nested_too_deeply_is_refused() -> None:
    normalizer = from_mapping({"normalizer": nested(49)}).normalizer
    assert normalizer is not None
    assert normalizer.normalize("A", Choices()) == "a"
    for times in (50, 100_000):
        with pytest.raises(InputError) as caught:
            from_mapping({"normalizer": nested(times)})
        message = "the normalizer is nested deeper than 100 levels; put one after the other"
        assert (caught.value.reason, caught.value.message) == ("unsupported", message)


def test_a_frequency_too_small_beside_the_others_has_no_probability() -> None:
    model = from_mapping({"type": "unigram", "tokens": [["a", 5e-324], ["b", 1e308]]}).model
    assert isinstance(model, Unigram)
    assert (model.probabilities, model.costs) == ({"a": 0.0, "b": 1.0}, {"a": math.inf, "b": 0.0})
