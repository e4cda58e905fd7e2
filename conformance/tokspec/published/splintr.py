"""The adapter for ``splintr-rs``, written for version 0.22.0.

The library loads ``tokenizer.json`` and refuses what it does not know of it. It gives ids, and no tokens.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from typing import Any, TypeAlias

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode
from tokspec.published.sharing import ids_in, steps_of, streamed

#: The options that the library takes, measured with version 0.22.0.
CHOICES = {
    "bpe_merge_order": "lowest_rank",
    "bpe_pairs": "listed",
    "bpe_unknown_without_token": "dropped_after_merging",
    "merge_outside_vocabulary": "ignored",
    "duplicate_token": "last_place",
    "unigram_tie": "earliest_start",
    "unigram_unknown": "run",
    "unigram_unknown_without_token": "dropped",
    "join_without_decoder": "nothing",
    "metaspace_leading_space": "removed",
    "unknown_id": "skipped",
    "final_sigma": "plain",
}

#: What the library acts on. It ignores the rest: whether an added token is found in normalized text, or as a whole
#: word; the pre-tokenizer and the bytes of Unigram.
COMPONENTS = (
    *("added_tokens/content", "added_tokens/id", "added_tokens/special", "added_tokens/lstrip", "added_tokens/rstrip"),
    *("vocabulary_ids", "normalizer/replace", "normalizer/prepend", "normalizer/strip", "normalizer/precompiled"),
    *("normalizer/nmt", "pre_tokenizer/split", "pre_tokenizer/digits", "pre_tokenizer/punctuation"),
    *("pre_tokenizer/whitespace", "model/bpe/ignore_merges", "model/bpe/fuse_unk", "model/bpe/byte_fallback"),
    *("model/bpe/end_of_word_suffix", "post_processor"),
    *("decoder/byte_fallback", "decoder/fuse", "decoder/strip", "decoder/replace", "decoder/bpe", "decoder/sequence"),
    *("decoder/metaspace", "decoder/wordpiece"),
)


#: A file, and the ids of its tokens.
_Model: TypeAlias = tuple[bytes, Mapping[str, int]]


#: What it says of a model that contradicts itself, as it thinks.
_INVALID = ("could not determine the unk token id", "is listed in model.vocab with id", "expected u32")


class SplintrAdapter:
    """``splintr``: BPE, WordPiece and Unigram, in Rust."""

    def __init__(self) -> None:
        # each of its tokenizers holds megabytes; those of a suite together would fill the memory
        self._made = lru_cache(8)(import_module("splintr").from_json_bytes)

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="splintr",
            version=version("splintr-rs"),
            language="Python, Rust",
            operations=("encode", "encode_batch", "decode", "decode_bytes", "decode_stream"),
            formats=("tokenizer.json",),
            choices=CHOICES,
            encode_fields=("ids",),
            encode_options=("add_special_tokens", "allowed_special", "disallowed_special"),
            decode_options=("skip_special_tokens", "id_steps", "end", "beside"),
            components=COMPONENTS,
            reads_file=True,
        )

    def load(self, format: str, content: Any) -> _Model:
        """Load a ``tokenizer.json``.

        Raises:
            Refusal: ``unsupported``, for what the library does not know, and ``invalid_model``.
        """
        try:
            file = json.dumps(content).encode()
            self._made(file)
        except ValueError as error:
            if any(said in str(error) for said in _INVALID):
                raise Refusal("invalid_model", str(error)) from error
            if "unsupported" not in str(error):
                raise
            raise Unsupported(str(error)) from error
        return file, ids_in(content)

    def encoder(self, model: _Model) -> Callable[[str], list[int]]:
        """Return a function from a text to its ids, for callers that encode millions of texts."""
        encode: Callable[[str], list[int]] = self._made(model[0]).encode_raw
        return encode

    def run(self, operation: str, model: _Model, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``unknown_id``, and ``unsupported`` with the reason.
        """
        require_unicode(input)
        tokenizer, vocabulary = self._made(model[0]), model[1]
        try:
            if operation == "decode":
                return {"text": _decode(tokenizer, vocabulary, input)}
            if operation == "decode_bytes":
                _require_32_bits(input["ids"])
                return {"bytes": tokenizer.decode_bytes(input["ids"]).hex()}
            if operation == "decode_stream":
                return _decode_stream(tokenizer, input)
            adds = input.get("add_special_tokens", True)
            if operation == "encode":
                return {"ids": _encode(tokenizer, input, adds)}
            if input.get("allowed_special", "all") != "all" or input.get("disallowed_special"):
                raise Unsupported("finds all special tokens in batches")
            if not adds:
                raise Unsupported("encodes batches with what its post-processor adds, and not without")
            found = tokenizer.encode_batch([each["text"] for each in input["inputs"]])
            return {"encodings": [{"ids": ids} for ids in found]}
        except ValueError as error:
            if "out of range" in str(error):
                raise Refusal("unknown_id", str(error)) from error
            if "cannot be streamed" in str(error) or "would bypass" in str(error):  # its decoder
                raise Unsupported(str(error)) from error
            raise


def _encode(tokenizer: Any, input: Mapping[str, Any], adds: bool) -> list[int]:
    text, allowed = input["text"], input.get("allowed_special", "all")
    refused = input.get("disallowed_special", [])
    if allowed == "all" and refused in ([], "all"):  # all that are not allowed: none
        return list((tokenizer.encode if adds else tokenizer.encode_raw)(text))
    if not adds:
        raise Unsupported("adds what its post-processor adds where not all special tokens are found")
    if allowed == [] and not refused:
        return list(tokenizer.encode_ordinary(text))
    if allowed == "all" or refused != "all":
        raise Unsupported("refuses all special tokens that are not allowed, and no others")
    try:
        return list(tokenizer.encode_allowed_special(text, allowed))
    except ValueError as error:
        if "allow-list" not in str(error):
            raise
        raise Refusal("invalid_input", str(error)) from error


def _decode(tokenizer: Any, vocabulary: Mapping[str, int], input: Mapping[str, Any]) -> str:
    ids = input["ids"] if "ids" in input else [vocabulary.get(token) for token in input["tokens"]]
    if None in ids:
        raise Unsupported("decodes ids, and a token that is not in the vocabulary has none")
    _require_32_bits(id for id in ids if id is not None)
    skips = input.get("skip_special_tokens", False)
    return str((tokenizer.decode if skips else tokenizer.decode_with_special)(ids))


def _decode_stream(tokenizer: Any, input: Mapping[str, Any]) -> dict[str, Any]:
    _require_32_bits(id for step in steps_of(input) for id in step)
    skips = input.get("skip_special_tokens", False)
    new = tokenizer.streaming_decoder if skips else tokenizer.streaming_decoder_with_special

    def add(decoder: Any, step: Sequence[int]) -> str:
        return (decoder.add_tokens(step) if "id_steps" in input else decoder.add_token(*step)) or ""

    return streamed(input, new, add, lambda decoder: str(decoder.flush()))


def _require_32_bits(ids: Iterable[int]) -> None:
    if any(id >= 2**32 for id in ids):
        raise Unsupported("takes ids of 32 bits, as its library in Rust has them")
