"""The adapter for ``BertTokenizerLegacy``, the BERT tokenizer in Python that transformers carries; version 5.23.0.

A model with the stages of BERT is the whole tokenizer, one with white-space split alone the tokenizer without its basic
part, and one without stages its WordPiece alone. It normalizes in private methods, and its basic part gives words that
are normalized and cut in one, so that neither stage is offered by itself. An encoding has no tokens but ids.

What all of the library's tokenizers in Python do after the model it does too: special tokens of BERT around a text or
two, truncation, padding and masks. So it is asked about these with any model of single characters without stages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokspec.adapter import Hello, Unsupported
from tokspec.published.sharing import split_special_tokens

#: The special tokens that the tokenizer has unless these arguments say that there are none.
_NO_OTHERS: Mapping[str, Any] = dict.fromkeys(("sep_token", "pad_token", "cls_token", "mask_token"))

#: The fields of an encoding, by what the library calls them.
_FIELDS = {
    "ids": "input_ids",
    "type_ids": "token_type_ids",
    "special_tokens_mask": "special_tokens_mask",
    "attention_mask": "attention_mask",
}


class BertLegacyAdapter:
    """The BERT tokenizer of transformers in Python: WordPiece after a basic tokenizer."""

    def __init__(self) -> None:
        self._library: Any = import_module("transformers.models.bert.tokenization_bert_legacy")

    def hello(self) -> Hello:
        """Describe the tokenizer."""
        return Hello(
            name="transformers-BertTokenizerLegacy",
            version=version("transformers"),
            language="Python",
            operations=("encode", "encode_batch", "decode"),
            formats=("vocab.txt",),
            choices={"truncation_odd": "first", "wordpiece_cleanup": "whole_text", "bert_clean_text": "all_c"},
            encode_fields=tuple(_FIELDS),
            encode_options=("pair", "add_special_tokens", "allowed_special"),
            decode_options=("skip_special_tokens",),
            components=("post_processor/bert", "truncation", "padding", "decoder/wordpiece/cleanup"),
        )

    def load(self, format: str, content: Any) -> Any:
        """Make a tokenizer of a vocabulary.

        Raises:
            Unsupported: the model has a stage that the tokenizer lacks.
        """
        beside = content["beside"]
        if beside["continuing_prefix"] != "##":
            raise Unsupported("has the continuing prefix ## and no other")
        tokenizer = self._tokenizer(content["files"]["vocab.txt"], beside, beside["unknown_token"], _basic(beside))
        tokenizer.wordpiece_tokenizer.max_input_chars_per_word = beside["max_word_length"]
        return tokenizer, beside

    def _tokenizer(
        self, vocabulary: str, model: Mapping[str, Any], unknown: str | None, basic: Mapping[str, Any]
    ) -> Any:
        special = model.get("special_tokens", [])
        given = {**_NO_OTHERS, "unk_token": unknown, "additional_special_tokens": special, **_around(model), **basic}
        with TemporaryDirectory() as folder:
            file = Path(folder) / "vocab.txt"
            file.write_bytes(vocabulary.encode())
            tokenizer = self._library.BertTokenizerLegacy(str(file), **given)
        if "padding" in model:
            _refuse_padding(model["padding"], tokenizer.vocab)
            tokenizer.pad_token, tokenizer._pad_token_type_id = model["padding"]["token"], model["padding"]["type_id"]
            tokenizer.padding_side = model["padding"]["direction"]
        if "truncation" in model:
            tokenizer.truncation_side = model["truncation"]["direction"]
        return tokenizer

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Unsupported: with the reason.
        """
        return {"encode": _encode, "encode_batch": _encode_batch, "decode": _decode}[operation](model, input)


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


def _around(model: Mapping[str, Any]) -> dict[str, str]:
    """Say the post-processor of a model as arguments of the tokenizer."""
    part = model.get("post_processor")
    if part is None:
        return {}
    around = {"cls_token": part["cls"][0], "sep_token": part["sep"][0]}
    if any(token not in model.get("special_tokens", ()) for token in around.values()):
        raise Unsupported("treats the tokens that it adds around a text as special tokens inside the text too")
    return around


def _encode(model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
    return _encodings(model, [input], input)[0]


def _encode_batch(model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
    return {"encodings": _encodings(model, input["inputs"], input)}


def _encodings(model: Any, inputs: Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> list[dict[str, Any]]:
    tokenizer, beside = model
    adds = options.get("add_special_tokens", True) and "post_processor" in beside
    texts = [(each["text"], each["pair"]) if "pair" in each else each["text"] for each in inputs]
    returned = dict.fromkeys((f"return_{name}" for name in _FIELDS.values() if name != "input_ids"), True)
    arguments = {"add_special_tokens": adds, **returned, **_truncation(beside), **split_special_tokens(options)}
    found = [
        tokenizer(*text, **arguments) if isinstance(text, tuple) else tokenizer(text, **arguments) for text in texts
    ]
    if "padding" in beside:
        found = _padded(tokenizer, found, beside["padding"])
    return [{field: each[name] for field, name in _FIELDS.items()} for each in found]


def _refuse_padding(part: Mapping[str, Any], ids: Mapping[str, int]) -> None:
    if ids.get(part["token"]) != part["id"]:
        raise Unsupported("pads with a token of the vocabulary, and takes its id")


def _truncation(model: Mapping[str, Any]) -> dict[str, Any]:
    """Say the truncation of a model as arguments of a call."""
    part = model.get("truncation")
    if part is None:
        return {}
    if part["stride"] > 0:
        raise Unsupported("supports no stride, because it gives no overflowing parts")
    return {"truncation": part["strategy"], "max_length": part["max_length"]}


def _padded(tokenizer: Any, found: list[Any], part: Mapping[str, Any]) -> list[dict[str, Any]]:
    fixed = None if part["strategy"] == "batch_longest" else part["strategy"]["fixed"]
    together = {name: [each[name] for each in found] for name in _FIELDS.values()}
    padded = tokenizer.pad(
        together,
        padding="longest" if fixed is None else "max_length",
        max_length=fixed,
        pad_to_multiple_of=part.get("pad_to_multiple_of"),
    )
    return [{name: padded[name][index] for name in _FIELDS.values()} for index in range(len(found))]


def _decode(model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
    tokenizer, beside = model
    decoder = beside.get("decoder", {})
    if decoder.get("type") != "wordpiece" or decoder["prefix"] != "##":
        raise Unsupported("decodes the tokens of WordPiece models, with the prefix ##")
    skips, cleans = input.get("skip_special_tokens", False), bool(decoder.get("cleanup"))
    if "ids" in input:
        text = tokenizer.decode(input["ids"], skip_special_tokens=skips, clean_up_tokenization_spaces=cleans)
        return {"text": text}
    if skips:
        raise Unsupported("leaves out special tokens by their ids")
    text = tokenizer.convert_tokens_to_string(input["tokens"])
    return {"text": tokenizer.clean_up_tokenization(text) if cleans else text}
