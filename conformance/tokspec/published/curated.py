"""The adapter for ``curated-tokenizers``, written for version 2.0.1: its byte-level BPE and its WordPiece.

Its WordPiece takes one word, and says -1 where no piece fits; who calls it makes the unknown token of that. Its third
processor is SentencePiece itself, and not asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode

#: The options that the library takes, measured with version 2.0.1.
CHOICES = {"bpe_merge_order": "lowest_rank", "bpe_merge_places": "all", "bpe_pairs": "listed", "unknown_id": "error"}

#: What the library's errors, which are all of one type, say when they are refusals.
_REASONS = {
    "Vocabulary does not contain byte": "unknown_symbol",
    "Unknown piece identifier": "unknown_id",
    "not in vocabulary": "invalid_model",
    "codec can't decode": "invalid_input",
}


class CuratedAdapter:
    """``curated-tokenizers``: byte-level BPE and WordPiece, in Cython and C++."""

    def __init__(self) -> None:
        self._library: Any = import_module("curated_tokenizers")

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="curated-tokenizers",
            version=version("curated-tokenizers"),
            language="Python, C++",
            operations=("encode", "decode"),
            formats=("vocab.json+merges.txt", "vocab.txt"),
            choices=CHOICES,
            encode_fields=("tokens", "ids"),
            components=("vocabulary_ids",),
        )

    def load(self, format: str, content: Any) -> Any:
        """Make a processor of a vocabulary, with merges or without.

        Raises:
            Refusal: ``unsupported``, for a stage that the library lacks; ``invalid_model``, for a merge outside the
                vocabulary.
        """
        beside = content["beside"]
        if "normalizer" in beside:
            raise Unsupported("has no normalizers")
        if format == "vocab.txt":
            _refuse_words(beside)
            return self._library.WordPieceProcessor(content["files"]["vocab.txt"].splitlines()), beside
        if beside.get("pre_tokenizer") != {"type": "byte_level", "add_prefix_space": False, "use_regex": True}:
            raise Unsupported("has the pattern of GPT-2 before bytes, and no other pre-tokenizer")
        ids = json.loads(content["files"]["vocab.json"])
        merges = [tuple(line.split(" ")) for line in content["files"]["merges.txt"].splitlines()[1:]]
        try:
            return self._library.ByteBPEProcessor(ids, merges), beside
        except (KeyError, ValueError) as error:
            raise Refusal("invalid_model", str(error)) from error

    def run(self, operation: str, model: tuple[Any, Mapping[str, Any]], input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``unknown_symbol``, ``unknown_id``, ``invalid_input`` for bytes that are not UTF-8, and
                ``unsupported`` with the reason.
        """
        require_unicode(input)
        processor, beside = model
        if isinstance(processor, self._library.WordPieceProcessor):
            if operation == "encode":
                return _encode(processor, beside, input)
            if beside.get("decoder", {}).get("type") != "wordpiece" or "tokens" in input:
                raise Unsupported("joins the pieces of a word by their ids")
            return {"text": processor.decode(input["ids"])}
        try:
            return _encode(processor, beside, input) if operation == "encode" else _decode(processor, beside, input)
        except ValueError as error:
            for part, reason in _REASONS.items():
                if part in str(error):
                    raise Refusal(reason, str(error)) from error
            raise


def _refuse_words(beside: Mapping[str, Any]) -> None:
    if "pre_tokenizer" in beside:
        raise Unsupported("takes one word, and has no pre-tokenizer")
    if beside["continuing_prefix"] != "##":
        raise Unsupported("has the continuing prefix ## and no other")


def _encode(processor: Any, beside: Mapping[str, Any], input: Mapping[str, Any]) -> dict[str, Any]:
    if any(token in input["text"] for token in beside.get("special_tokens", ())):
        raise Unsupported("has no special tokens, and there is one in this text")
    ids, tokens = processor.encode(input["text"])
    if -1 in ids:  # that is how the library says it
        raise Refusal("unknown_symbol", f"has no piece for a part of {input['text']!r}")
    return {"tokens": tokens, "ids": ids}


def _decode(processor: Any, beside: Mapping[str, Any], input: Mapping[str, Any]) -> dict[str, Any]:
    if beside.get("decoder", {}).get("type") != "byte_level":
        raise Unsupported("decodes bytes, and puts no spaces between tokens")
    ids = input["ids"] if "ids" in input else [processor.piece_to_id(token) for token in input["tokens"]]
    if None in ids:
        raise Unsupported("decodes ids, and a token that is not in the vocabulary has none")
    return {"text": processor.decode_from_ids(ids)}
