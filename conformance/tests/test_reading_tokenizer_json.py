"""Reading ``tokenizer.json``: every key is taken over, says nothing, or is refused and named."""

from __future__ import annotations

from typing import Any

import pytest

from tokspec.base.errors import DataError
from tokspec.formats import read

BPE: dict[str, Any] = {"type": "BPE", "vocab": {"u": 0, "g": 1, "ug": 2}, "merges": [["u", "g"]]}
UNIGRAM: dict[str, Any] = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.5]]}
SPECIAL = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


def complaint(content: Any) -> str:
    with pytest.raises(DataError) as caught:
        read("tokenizer.json", content)
    return str(caught.value)


def test_a_whole_tokenizer() -> None:
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": 2, "content": "ug", **SPECIAL}],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "BertNormalizer", "lowercase": False}]},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {**BPE, "dropout": None, "unk_token": "u", "continuing_subword_prefix": "", "fuse_unk": False},
    }  # fmt: skip
    bert = {"type": "bert", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": False}
    assert read("tokenizer.json", content) == {
        "type": "bpe",
        "vocabulary": ["u", "g", "ug"],
        "merges": [["u", "g"]],
        "unknown_token": "u",
        "special_tokens": ["ug"],
        "normalizer": {"type": "sequence", "normalizers": [{"type": "nfd"}, bert]},
        "pre_tokenizer": {"type": "byte_level", "add_prefix_space": True, "use_regex": True},
        "decoder": {"type": "byte_level"},
    }


def test_a_unigram_model() -> None:
    assert read("tokenizer.json", {"model": UNIGRAM}) == {
        "type": "unigram",
        "tokens": [["<unk>", 0.0], ["a", -1.5]],
        "weights": "log_probability",
        "unknown_token": "<unk>",
    }


@pytest.mark.parametrize(
    ("part", "scheme"),
    [
        ({"add_prefix_space": True}, "always"),
        ({"add_prefix_space": False, "str_rep": "▁"}, "never"),
        ({"add_prefix_space": True, "prepend_scheme": "first"}, "first"),
        ({}, "always"),
    ],
)
def test_a_metaspace_of_any_age(part: dict[str, Any], scheme: str) -> None:
    content = {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", **part}, "model": BPE}
    assert read("tokenizer.json", content)["pre_tokenizer"] == {
        "type": "metaspace",
        "replacement": "▁",
        "prepend_scheme": scheme,
        "split": True,
    }


def nested(depth: int) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "NFC"}
    for _ in range(depth):
        part = {"type": "Sequence", "normalizers": [part]}
    return part


NOT = "which the specification does not cover"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "is no object"),
        ({}, "model: is missing; a tokenizer.json has a model"),
        ({"model": []}, "model: is no object"),
        ({"model": {"type": "WordLevel"}}, f'model: is of type "WordLevel", {NOT}; it reads BPE, WordPiece, Unigram'),
        ({"model": {"type": []}}, f"model: is of type [], {NOT}; it reads BPE, WordPiece, Unigram"),
        ({"model": {**BPE, "dropout": 0.1}}, f"model.dropout: is 0.1, {NOT}; it reads null"),
        ({"model": {**BPE, "fuse_unk": True}}, f"model.fuse_unk: is true, {NOT}; it reads false"),
        ({"model": {**BPE, "byte_fallback": True}}, f"model.byte_fallback: is true, {NOT}; it reads false"),
        ({"model": {**BPE, "speed": 3}}, "model.speed: is a key that the specification does not cover"),
        ({"model": {**BPE, "vocab": {"u": 1}}}, "model.vocab: gives no token the id 0; ids are positions, counted from 0"),
        ({"model": {**BPE, "merges": None}}, "model.merges: is no list"),
        ({"model": {**BPE, "merges": ["u  g"]}}, "model.merges[0]: is 'u  g', which is no merge of two tokens"),
        ({"model": {**BPE, "merges": [["u", 3]]}}, 'merges.0.1: 3 is not of types "string", "object"'),
        ({"model": {**UNIGRAM, "unk_id": 2}}, "model.unk_id: is 2, which is no id of the 2 tokens"),
        ({"model": {**UNIGRAM, "vocab": [["a"]]}}, "model.vocab: is no list of pairs of a token and a logarithm"),
        ({"model": BPE, "post_processor": {"type": "ByteLevel"}}, f'post_processor: is {{"type": "ByteLevel"}}, {NOT}; it reads null'),
        ({"model": BPE, "normalizer": {"type": "Sequence"}}, "normalizer.normalizers: is no list"),
        (
            {"model": BPE, "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend"}]}},
            f'normalizer.normalizers[0]: is of type "Prepend", {NOT}; it reads NFC, NFD, NFKC, NFKD, Lowercase, '
            "StripAccents, BertNormalizer, Sequence",
        ),
        (
            {"model": BPE, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "a"}}},
            f'pre_tokenizer: is of type "Split", {NOT}; it reads BertPreTokenizer, ByteLevel, Metaspace, '
            "WhitespaceSplit, Sequence",
        ),
        (
            {"model": BPE, "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"}},
            f'decoder.prepend_scheme: is "never", {NOT}; it reads "always", "first"',
        ),
        ({"model": BPE, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}}, f"decoder.cleanup: is true, {NOT}; it reads false"),
        ({"model": {**UNIGRAM, "vocab": [["a", float("nan")]]}}, "model.vocab: is no list of pairs of a token and a logarithm"),
        ({"model": BPE, "normalizer": nested(1000)}, "is nested too deep"),
        ({"model": BPE, "added_tokens": {}}, "added_tokens: is no list"),
        ({"model": BPE, "added_tokens": [3]}, "added_tokens[0]: is no object"),
        ({"model": BPE, "added_tokens": [{"id": 0}]}, "added_tokens[0]: has no content"),
        (
            {"model": BPE, "added_tokens": [{"id": 0, "content": "u", **SPECIAL, "lstrip": True}]},
            f"added_tokens[0].lstrip: is true, {NOT}; it reads false",
        ),
        (
            {"model": BPE, "added_tokens": [{"id": 3, "content": "<s>", **SPECIAL}]},
            "added_tokens[0]: gives '<s>' the id 3; the specification covers tokens of the model's own vocabulary only",
        ),
    ],
)  # fmt: skip
def test_what_the_specification_does_not_cover_is_named(content: Any, message: str) -> None:
    assert complaint(content) == f"tokenizer.json: {message}"
