"""The adapter for ``subword-nmt``, the byte-pair encoding of words with which it began; version 0.3.8.

The library has merges and no vocabulary, so tokens have no ids and no character is unknown. Its codes of version 0.1,
which are those without a line that names another version, mark the end of a word by a separate symbol; merges that do
not name that symbol are the fixtures' merges. Its trainer marks the last character instead, which no model of the
fixtures expresses, and is not offered; the counting of pairs in it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from io import StringIO
from typing import Any

from tokspec.adapter import Hello, Unsupported

#: The options that the library takes, measured with version 0.3.8.
CHOICES = {
    "bpe_merge_order": "lowest_rank",
    "bpe_merge_places": "all",
    "bpe_pairs": "listed",
    "bpe_unknown_without_token": "kept",
}

#: What follows every token of a word but the last.
_SEPARATOR = "@@"

#: The symbol that stands for the end of a word.
_END = "</w>"

#: What the library does not have, by the key of the model.
_STAGES = {"normalizer": "normalizer", "pre_tokenizer": "pre-tokenizer", "unknown_token": "unknown token"}


class SubwordNmtAdapter:
    """``subword-nmt``: merges of characters within words."""

    def __init__(self) -> None:
        self._apply: Any = import_module("subword_nmt.apply_bpe")
        self._learn: Any = import_module("subword_nmt.learn_bpe")

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="subword-nmt",
            version=version("subword-nmt"),
            language="Python",
            operations=("encode", "pair_frequencies"),
            formats=("vocab.json+merges.txt", "tokspec"),
            choices=CHOICES,
        )

    def load(self, format: str, content: Any) -> Any:
        """Read the merges as codes; a model without merges is kept as it is.

        Raises:
            Unsupported: the model has a stage, an unknown token, or a merge of the library's end of a word.
        """
        if format == "tokspec":
            return content
        beside = content["beside"]
        for stage in _STAGES:
            if stage in beside:
                raise Unsupported(f"has merges within words, and no {_STAGES[stage]}")
        codes = content["files"]["merges.txt"].split("\n", 1)[1]
        vocabulary = json.loads(content["files"]["vocab.json"])
        needed = [token for line in codes.splitlines() for token in (*line.split(" "), line.replace(" ", ""))]
        if any(token not in vocabulary for token in (*needed, *beside.get("special_tokens", []))):
            raise Unsupported("has codes and no vocabulary, so that a model cannot contradict itself")
        if _END in codes.split():
            raise Unsupported(f"has {_END} for the end of a word, which is a token of a merge of this model")
        glossaries = [re.escape(token) for token in beside.get("special_tokens", [])]
        return self._apply.BPE(
            StringIO(codes), merges=codes.count("\n"), separator=_SEPARATOR, glossaries=glossaries or None
        )

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Unsupported: with the reason.
        """
        return {"encode": self._encode, "pair_frequencies": self._pairs}[operation](model, input)

    def _encode(self, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(model, self._apply.BPE):
            raise Unsupported("has merges within words, and knows no other models")
        *others, last = model.segment_tokens([input["text"]]) or [""]
        tokens = [token.removesuffix(_SEPARATOR) for token in others]
        return {"tokens": [*tokens, last] if last else tokens}

    def _pairs(self, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(model, Mapping) or "texts" in input["corpus"] or input.get("steps", 0) or "first" in input:
            raise Unsupported("counts all the pairs of words, before any merge")
        counts, _ = self._learn.get_pair_statistics([(tuple(word), count) for word, count in input["corpus"]["words"]])
        return {"pairs": [[*pair, count] for pair, count in counts.items()]}
