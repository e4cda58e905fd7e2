"""The adapter for ``ClvpTokenizer``, byte-level BPE in Python that transformers carries; version 5.23.0.

It is the tokenizer of GPT-2 in Python, which the library no longer has under that name, after a normalizer of English
that the adapter takes away. What all of the library's tokenizers in Python do around a model is asked of its BERT.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokspec.adapter import Hello, Unsupported, require_unicode
from tokspec.published.sharing import split_special_tokens

#: The options that the tokenizer takes, measured with version 5.23.0.
CHOICES = {
    "bpe_merge_order": "lowest_rank",
    "bpe_merge_places": "all",
    "bpe_pairs": "listed",
    "bpe_unknown_without_token": "kept",
}

#: The special tokens that the tokenizer has unless these arguments say that there are none.
_NO_OTHERS: Mapping[str, Any] = dict.fromkeys(("bos_token", "eos_token", "pad_token"))


class ClvpAdapter:
    """The tokenizer of CLVP in transformers: byte-level BPE, in Python."""

    def __init__(self) -> None:
        self._library: Any = import_module("transformers.models.clvp.tokenization_clvp")

    def hello(self) -> Hello:
        """Describe the tokenizer."""
        return Hello(
            name="transformers-ClvpTokenizer",
            version=version("transformers"),
            language="Python",
            operations=("encode", "decode"),
            formats=("vocab.json+merges.txt",),
            choices=CHOICES,
            encode_fields=("tokens", "ids"),
            encode_options=("allowed_special",),
            decode_options=("skip_special_tokens",),
            components=("vocabulary_ids",),
        )

    def load(self, format: str, content: Any) -> Any:
        """Make a tokenizer of a vocabulary and merges.

        Raises:
            Unsupported: the model has a stage that the tokenizer lacks.
        """
        files, beside = content["files"], content["beside"]
        if "normalizer" in beside:
            raise Unsupported("has no normalizer but its own")
        if beside.get("pre_tokenizer") != {"type": "byte_level", "add_prefix_space": False, "use_regex": True}:
            raise Unsupported("has the pattern of GPT-2 before bytes, and no other pre-tokenizer")
        with TemporaryDirectory() as folder:
            paths = [Path(folder) / name for name in ("vocab.json", "merges.txt")]
            for path in paths:
                path.write_bytes(files[path.name].encode())
            tokenizer = self._library.ClvpTokenizer(
                *map(str, paths),
                unk_token=beside.get("unknown_token"),
                additional_special_tokens=beside.get("special_tokens", []),
                **_NO_OTHERS,
            )
        return tokenizer, beside.get("decoder", {}).get("type") == "byte_level"

    def run(self, operation: str, model: tuple[Any, bool], input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Unsupported: with the reason.
        """
        require_unicode(input)
        tokenizer, decodes = model
        if operation == "encode":
            tokens = tokenizer.tokenize(input["text"], **split_special_tokens(input))
            return {"tokens": tokens, "ids": tokenizer.convert_tokens_to_ids(tokens)}
        if not decodes:
            raise Unsupported("decodes bytes, and puts no spaces between tokens")
        skips = input.get("skip_special_tokens", False)
        if "ids" in input:
            return {"text": tokenizer.decode(input["ids"], skip_special_tokens=skips)}
        if skips:
            raise Unsupported("leaves out special tokens by their ids")
        return {"text": tokenizer.convert_tokens_to_string(input["tokens"])}
