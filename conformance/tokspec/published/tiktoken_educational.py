"""The adapter for ``tiktoken._educational``, the readable byte-pair encoding that tiktoken carries; version 0.14.0.

It is in Python, has no special tokens, and trains. Its training gives ranks, those of all 256 bytes first; a merge is
read off them as from any file of ranks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode
from tokspec.formats.tiktoken_ranks import from_bytes, merges_of, to_bytes
from tokspec.published.sharing import NO_RANKS, Ranks, read_ranks

#: The options that the program takes, measured with version 0.14.0.
CHOICES = {
    "bpe_training_tie": "first_met",
    "bpe_pairs": "in_vocabulary",
    "bpe_merge_order": "lowest_rank",
    "unknown_id": "error",
}


#: Words are fed as often as they count; more than this takes too long.
_MOST_WORDS = 1_000_000


class EducationalAdapter:
    """``SimpleBytePairEncoding`` of tiktoken."""

    def __init__(self) -> None:
        self._library: Any = import_module("tiktoken._educational")
        self._pattern: str = import_module("tiktoken_ext.openai_public").r50k_pat_str

    def hello(self) -> Hello:
        """Describe the program."""
        return Hello(
            name="tiktoken._educational",
            version=version("tiktoken"),
            language="Python",
            operations=("encode", "decode", "decode_bytes", "train"),
            formats=("vocab.tiktoken", "tokspec"),
            choices=CHOICES,
            encode_fields=("tokens", "ids"),
            components=("vocabulary_ids", "model/bpe/ignore_merges"),
        )

    def load(self, format: str, content: Any) -> Any:
        """Make an encoding of ranks; a model to be trained is kept unchanged.

        Raises:
            Unsupported: the model is not BPE, or has a stage that the program lacks.
        """
        if format == "tokspec":
            return _untrained(content)
        ranks = read_ranks(content, self._pattern)
        encoding = self._library.SimpleBytePairEncoding(pat_str=ranks.pattern, mergeable_ranks=ranks.ranks)
        return encoding, ranks

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``unknown_symbol``, ``unknown_id``, and ``unsupported`` with the reason.
        """
        require_unicode(input)
        if operation == "train":
            return self._train(model, input)
        if not isinstance(model, tuple):
            raise Unsupported("encodes and decodes bytes by their ranks, and this model has none")
        encoding, ranks = model
        return _RUN[operation](encoding, ranks, input)

    def _train(self, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        if isinstance(model, tuple):
            raise Unsupported("trains models without a vocabulary")
        if "min_frequency" in input:
            raise Unsupported("has no least frequency of a pair")
        data, pattern = self._data(model, input["corpus"])
        sizes = [0x100 + input["merge_count"]] if "merge_count" in input else []
        sizes += [input["vocabulary_size"]] if "vocabulary_size" in input else []
        try:
            ranks = self._library.bpe_train(data, min(sizes), pattern, visualise=None)
        except ValueError as error:
            if "vocab_size must be at least 256" not in str(error):
                raise
            raise Refusal("invalid_input", str(error)) from error
        tokens = [from_bytes(token) for token in ranks]
        return {"vocabulary": tokens, "merges": list(merges_of(tokens))}

    def _data(self, model: Mapping[str, Any], corpus: Mapping[str, Any]) -> tuple[str, str]:
        """Return one text, which the program trains on, and the pattern that cuts it into the words of the corpus."""
        if "words" in corpus:
            if sum(count for _, count in corpus["words"]) > _MOST_WORDS:
                reason = f"a word is repeated by its count, but the counts add up to more than {_MOST_WORDS}"
                raise Unsupported(f"takes a text, so {reason}")
            if any(count == 0 for _, count in corpus["words"]):
                raise Unsupported("takes a text, and a word with the count 0 stands in none")
            words = [word for word, count in corpus["words"] for _ in range(count)]
            present = set().union(*words)
            separator = next(character for character in map(chr, range(0x10FFFF)) if character not in present)
            return separator.join(words), f"[^{re.escape(separator)}]+"
        if model.get("pre_tokenizer", {}).get("type") != "byte_level" or len(corpus["texts"]) != 1:
            raise Unsupported("trains on one text, cut by a pattern")
        return corpus["texts"][0], self._pattern


def _untrained(content: Mapping[str, Any]) -> Mapping[str, Any]:
    if content.get("type") != "bpe":
        raise Unsupported("knows BPE models")
    if "vocabulary" in content:
        raise Unsupported(NO_RANKS)
    for part in ("normalizer", "special_tokens"):
        if part in content:
            raise Unsupported(f"has no {part.replace('_', ' ')}")
    return content


def _encode(encoding: Any, ranks: Ranks, input: Mapping[str, Any]) -> dict[str, Any]:
    if any(token in input["text"] for token in ranks.special_tokens):
        raise Unsupported("has no special tokens, and there is one in this text")
    try:
        ids = encoding.encode(input["text"], visualise=None)
    except KeyError as error:
        raise Refusal("unknown_symbol", str(error)) from error
    names = ranks.tokens()
    return {"tokens": [names[id] for id in ids], "ids": ids}


def _decode(encoding: Any, ranks: Ranks, input: Mapping[str, Any]) -> dict[str, Any]:
    _refuse_special(ranks, input)
    try:
        ids = input["ids"] if "ids" in input else [ranks.ranks[_bytes(token)] for token in input["tokens"]]
        return {"text": encoding.decode(ids)}
    except KeyError as error:
        raise Refusal("unknown_id", str(error)) from error


def _bytes(token: str) -> bytes:
    known = to_bytes(token)
    if known is None:
        raise Unsupported(f"decodes bytes, and {token!r} represents no bytes")
    return known


def _decode_bytes(encoding: Any, ranks: Ranks, input: Mapping[str, Any]) -> dict[str, Any]:
    _refuse_special(ranks, input)
    try:
        return {"bytes": encoding.decode_bytes(input["ids"]).hex()}
    except KeyError as error:
        raise Refusal("unknown_id", str(error)) from error


def _refuse_special(ranks: Ranks, input: Mapping[str, Any]) -> None:
    if not set(ranks.special_tokens.values()).isdisjoint(input.get("ids", ())):
        raise Unsupported("has no special tokens, and an id is that of one")
    if not ranks.decodes:
        raise Unsupported("decodes bytes, and puts no spaces between tokens")


_RUN: Mapping[str, Callable[[Any, Ranks, Mapping[str, Any]], dict[str, Any]]] = {
    "encode": _encode,
    "decode": _decode,
    "decode_bytes": _decode_bytes,
}
