"""The adapter for ``fastokens``, written for version 0.3.5.

The library loads ``tokenizer.json`` and refuses what it does not know of it. It gives ids, and no tokens or offsets:
those of its encodings raise ``NotImplementedError``. Its ``overflowing`` is "always empty", as it says itself, and not
given: what truncation cuts off is lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode

#: The options that the library takes, measured with version 0.3.5.
CHOICES = {
    "bpe_merge_order": "lowest_rank",
    "bpe_pairs": "listed",
    "bpe_unknown_without_token": "dropped_after_merging",
    "join_without_decoder": "nothing",
    "unknown_id": "skipped",
    "final_sigma": "plain",
    "special_not_allowed": "passed_over",
}

#: What the library reads of a model; of what it does not know it says so.
COMPONENTS = (
    *("vocabulary_ids", "added_tokens", "normalizer/replace", "normalizer/prepend", "pre_tokenizer/split"),
    *("pre_tokenizer/digits", "model/bpe", "post_processor/template", "post_processor/byte_level"),
    *("post_processor/sequence", "decoder/byte_fallback", "decoder/fuse", "decoder/strip", "decoder/replace"),
    *("decoder/sequence", "truncation", "padding"),
)


#: The fields of an encoding.
_FIELDS = ("ids", "type_ids", "attention_mask", "special_tokens_mask")


class FastokensAdapter:
    """``fastokens``: the encoding of ``tokenizer.json``, in Rust."""

    def __init__(self) -> None:
        # each of its tokenizers holds megabytes; those of a suite together would fill the memory
        self._made = lru_cache(8)(import_module("fastokens").Tokenizer.from_json_str)

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="fastokens",
            version=version("fastokens"),
            language="Python, Rust",
            operations=("encode", "encode_batch", "encode_parts", "decode"),
            formats=("tokenizer.json",),
            choices=CHOICES,
            encode_fields=_FIELDS,
            encode_options=("add_special_tokens", "allowed_special"),
            decode_options=("skip_special_tokens",),
            components=COMPONENTS,
            reads_file=True,
        )

    def load(self, format: str, content: Any) -> str:
        """Load a ``tokenizer.json``.

        Raises:
            Refusal: ``unsupported``, for what the library does not know, and ``invalid_model``.
        """
        try:
            file = json.dumps(content)
            self._made(file)
        except ValueError as error:
            if any(said in str(error) for said in ("error building added-tokens", "expected u32")):
                raise Refusal("invalid_model", str(error)) from error
            if "unsupported" not in str(error):
                raise
            raise Unsupported(str(error)) from error
        return file

    def encoder(self, model: str) -> Callable[[str], list[int]]:
        """Return a function from a text to its ids, for callers that encode millions of texts."""
        encode = self._made(model).encode
        return lambda text: encode(text).ids

    def run(self, operation: str, model: str, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``unknown_symbol``, and ``unsupported`` with the reason.
        """
        require_unicode(input)
        tokenizer = self._made(model)
        try:
            if operation == "decode":
                return {"text": _decode(tokenizer, input)}
            adds = input.get("add_special_tokens", True)
            if operation == "encode_parts":
                return {"ids": _encode_parts(tokenizer, input["parts"], adds)}
            allowed = input.get("allowed_special", "all")
            if allowed not in ("all", []):
                raise Unsupported("finds all special tokens in a text or none")
            options = {} if allowed == "all" else {"split_special_tokens": True}
            if operation == "encode":
                return _encoding(tokenizer.encode(input["text"], add_special_tokens=adds, **options))
            texts = [each["text"] for each in input["inputs"]]
            found = tokenizer.encode_batch(texts, add_special_tokens=adds, **options)
            return {"encodings": [_encoding(each) for each in found]}
        except ValueError as error:
            if "in vocabulary" in str(error):
                raise Refusal("unknown_symbol", str(error)) from error
            raise


def _encode_parts(tokenizer: Any, parts: list[Mapping[str, Any]], adds: bool) -> list[int]:
    if adds:
        raise Unsupported("puts nothing around parts")
    if any("ids" in part for part in parts):
        raise Unsupported("takes texts, and no ids")
    return list(tokenizer.encode_segments([(part["text"], part.get("trusted", False)) for part in parts]).ids)


def _decode(tokenizer: Any, input: Mapping[str, Any]) -> str:
    skips = input.get("skip_special_tokens", False)
    if "tokens" in input:
        if skips:
            raise Unsupported("decodes ids where special tokens are skipped, and no tokens")
        return str(tokenizer.decode_tokens(input["tokens"]))
    if any(id >= 2**32 for id in input["ids"]):
        raise Unsupported("takes ids of 32 bits, as its library in Rust has them")
    return str(tokenizer.decode(input["ids"], skip_special_tokens=skips))


def _encoding(encoding: Any) -> dict[str, Any]:
    return {field: list(getattr(encoding, field)) for field in _FIELDS}
