"""The adapter for ``Tekkenizer`` of mistral-common, written for version 1.13.1: a wrapper of tiktoken.

Its vocabulary begins with all 256 bytes in their order, and its special tokens come before that and are never found in
a text. So models with all bytes are offered, without special tokens.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode
from tokspec.formats.tiktoken_ranks import to_bytes
from tokspec.published.sharing import Ranks, read_ranks

#: The options that the library takes, measured with version 1.13.1.
CHOICES = {"bpe_pairs": "in_vocabulary", "bpe_merge_order": "lowest_rank", "unknown_id": "error"}

_BYTES = [bytes([byte]) for byte in range(256)]


class TekkenAdapter:
    """``Tekkenizer`` of mistral-common: byte-level BPE by ranks, by tiktoken."""

    def __init__(self) -> None:
        self._library: Any = import_module("mistral_common.tokens.tokenizers.tekken")
        self._base: Any = import_module("mistral_common.tokens.tokenizers.base")
        self._pattern: str = import_module("tiktoken_ext.openai_public").r50k_pat_str

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="mistral-common-Tekkenizer",
            version=version("mistral-common"),
            language="Python",
            operations=("encode", "decode"),
            formats=("vocab.tiktoken", "tekken.json"),
            choices=CHOICES,
            encode_fields=("tokens", "ids"),
            encode_options=("allowed_special",),
            components=("model/bpe/ignore_merges",),
        )

    def load(self, format: str, content: Any) -> tuple[Any, Ranks]:
        """Make a tokenizer of ranks.

        Raises:
            Unsupported: the model has a stage that the library lacks, or does not have all bytes first.
        """
        if format == "tekken.json":
            return self._own_file(content)
        ranks = read_ranks(content, self._pattern)
        if ranks.special_tokens:
            raise Unsupported("has special tokens before its vocabulary, and finds none in a text")
        tokens = sorted(ranks.ranks, key=ranks.ranks.__getitem__)
        if tokens[:256] != _BYTES:
            raise Unsupported("has a vocabulary that begins with all 256 bytes")
        vocab = [
            {"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(tokens)
        ]
        tekken = self._library.Tekkenizer(vocab, [], ranks.pattern, len(vocab), 0, self._base.TokenizerVersion.v7)
        return tekken, ranks

    def _own_file(self, content: Any) -> tuple[Any, Ranks]:
        """Load the object of a user's own file, by the library's reader of files, and name its ids."""
        with TemporaryDirectory() as folder:
            file = Path(folder) / "tekken.json"
            file.write_text(json.dumps(content), "utf-8")
            tekken = self._library.Tekkenizer.from_file(file)
        count = tekken.num_special_tokens
        ordinary = {tekken.id_to_byte_piece(id): id for id in range(count, tekken.n_words)}
        return tekken, Ranks(ordinary, {tekken.id_to_piece(id): id for id in range(count)}, "", decodes=True)

    def run(self, operation: str, model: tuple[Any, Ranks], input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``unknown_id``, and ``unsupported`` with the reason.
        """
        require_unicode(input)
        tekken, ranks = model
        if operation == "encode":
            if input.get("allowed_special") and ranks.special_tokens:
                raise Unsupported("finds no special token in a text")
            ids = tekken.encode(input["text"], bos=False, eos=False)
            names = ranks.tokens()
            return {"tokens": [names[id] for id in ids], "ids": ids}
        if not ranks.decodes:
            raise Unsupported("decodes bytes, and puts no spaces between tokens")
        try:
            ids = input["ids"] if "ids" in input else [_id(ranks, token) for token in input["tokens"]]
            return {"text": tekken.decode(list(ids), self._base.SpecialTokenPolicy.KEEP)}
        except KeyError as error:
            raise Refusal("unknown_id", str(error)) from error


def _id(ranks: Ranks, token: str) -> int:
    if token in ranks.special_tokens:
        return ranks.special_tokens[token]
    known = to_bytes(token)
    if known is None:
        raise Unsupported(f"decodes bytes, and {token!r} represents no bytes")
    return ranks.ranks[known]
