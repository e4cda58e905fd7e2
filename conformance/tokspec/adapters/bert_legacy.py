"""The adapter for ``BertTokenizerLegacy``, the BERT tokenizer in Python that transformers carries; version 5.23.0.

A model with the stages of BERT is the whole tokenizer, one with white-space split alone the tokenizer without its basic
part, and one without stages its WordPiece alone. ``normalize`` is the two steps of the basic part that come before
words, and what it then does to each word. Its pieces have no spans, so that ``pre_tokenize`` is not offered.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokspec.adapter import Hello, Unsupported

__all__ = ["BertLegacyAdapter"]

#: The special tokens that the tokenizer has unless it is told that there are none.
_NO_OTHERS: Mapping[str, Any] = dict.fromkeys(("sep_token", "pad_token", "cls_token", "mask_token"))


class BertLegacyAdapter:
    """The BERT tokenizer of transformers in Python: WordPiece behind a basic tokenizer."""

    def __init__(self) -> None:
        self._library: Any = import_module("transformers.models.bert.tokenization_bert_legacy")

    def hello(self) -> Hello:
        """Describe the tokenizer."""
        return Hello(
            name="transformers-BertTokenizerLegacy",
            version=version("transformers"),
            language="Python",
            operations=("normalize", "encode", "decode"),
            formats=("vocab.txt", "tokspec"),
            encode_fields=("tokens", "ids"),
        )

    def load(self, format: str, content: Any) -> Any:
        """Make a tokenizer of a vocabulary, or keep the normalizer of a model without one.

        Raises:
            Unsupported: the model has a stage that the tokenizer has not.
        """
        if format == "tokspec":
            return content
        beside = content["beside"]
        if beside["continuing_prefix"] != "##":
            raise Unsupported("has the continuing prefix ## and no other")
        options = {"unk_token": beside["unknown_token"], "additional_special_tokens": beside.get("special_tokens", [])}
        with TemporaryDirectory() as folder:
            file = Path(folder) / "vocab.txt"
            file.write_bytes(content["files"]["vocab.txt"].encode())
            tokenizer = self._library.BertTokenizerLegacy(str(file), **_basic(beside), **_NO_OTHERS, **options)
        tokenizer.wordpiece_tokenizer.max_input_chars_per_word = beside["max_word_length"]
        return tokenizer, beside

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Unsupported: with the reason.
        """
        return {"normalize": self._normalize, "encode": _encode, "decode": _decode}[operation](model, input)

    def _normalize(self, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        normalizer = model.get("normalizer", {}) if isinstance(model, Mapping) else model[1].get("normalizer", {})
        if normalizer.get("type") != "bert":
            raise Unsupported("has the normalizer of BERT and no other")
        basic = self._library.BasicTokenizer(**_options(normalizer), do_split_on_punc=False)
        text = basic._clean_text(input["text"])
        if basic.tokenize_chinese_chars:
            text = basic._tokenize_chinese_chars(text)
        # What comes next is done to words; the spaces between them stay as they are.
        return {"text": " ".join(" ".join(basic.tokenize(word)) for word in text.split(" "))}


def _basic(beside: Mapping[str, Any]) -> dict[str, Any]:
    """Say the stages of a model as arguments of the tokenizer."""
    normalizer, pre_tokenizer = beside.get("normalizer"), beside.get("pre_tokenizer", {}).get("type")
    if normalizer is None and pre_tokenizer in (None, "whitespace_split"):
        return {"do_basic_tokenize": False}
    if pre_tokenizer != "bert":
        raise Unsupported("has the pre-tokenizer of BERT, or white-space split without a normalizer")
    return _options(normalizer or {"type": "bert", "handle_chinese_chars": False, "lowercase": False})


def _options(normalizer: Mapping[str, Any]) -> dict[str, Any]:
    if normalizer["type"] != "bert" or not normalizer.get("clean_text", True):
        raise Unsupported("has the normalizer of BERT, which always cleans the text, and no other")
    return {
        "do_lower_case": normalizer["lowercase"],
        "tokenize_chinese_chars": normalizer["handle_chinese_chars"],
        "strip_accents": normalizer.get("strip_accents"),
    }


def _encode(model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(model, Mapping):
        raise Unsupported("is WordPiece, and knows no other models")
    tokenizer, _ = model
    tokens = tokenizer.tokenize(input["text"])
    return {"tokens": tokens, "ids": tokenizer.convert_tokens_to_ids(tokens)}


def _decode(model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(model, Mapping) or model[1].get("decoder") != {"type": "wordpiece", "prefix": "##"}:
        raise Unsupported("decodes the tokens of WordPiece models, with the prefix ##")
    tokenizer = model[0]
    tokens = tokenizer.convert_ids_to_tokens(input["ids"]) if "ids" in input else input["tokens"]
    return {"text": tokenizer.convert_tokens_to_string(tokens)}
