"""The adapter for ``gigatoken``, written for version 0.10.0.

The library loads ``tokenizer.json``: byte-level BPE, and BPE with a fallback to bytes, each with all bytes in the
vocabulary. It gives ids; a token is the entry of the vocabulary that an id names. Decoding gives bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode
from tokspec.published.fastokens import names_in
from tokspec.published.tokie import ids_in

#: The options that the library takes, measured with version 0.10.0.
CHOICES: dict[str, str] = {}

#: What the library reads of a model; of what it does not know it says so.
COMPONENTS = ("added_tokens", "normalizer", "pre_tokenizer", "model/bpe", "post_processor", "decoder", "vocabulary_ids")


#: What it says of a model that it cannot have.
_UNSUPPORTED = ("Byte remapping failed", "Unsupported model type", "Unsupported normalizer type")


class GigatokenAdapter:
    """``gigatoken``: BPE of ``tokenizer.json``, in Rust."""

    def __init__(self) -> None:
        self._library: Any = import_module("gigatoken")

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="gigatoken",
            version=version("gigatoken"),
            language="Rust",
            operations=("encode", "decode"),
            formats=("tokenizer.json",),
            choices=CHOICES,
            encode_fields=("tokens", "ids"),
            components=COMPONENTS,
            reads_file=True,
        )

    def load(self, format: str, content: Any) -> tuple[Any, Mapping[str, int], Mapping[int, str]]:
        """Load a ``tokenizer.json``.

        Raises:
            Refusal: ``unsupported``, for what the library does not know, and ``invalid_model``.
        """
        try:
            return self._library.Tokenizer.from_json(json.dumps(content)), ids_in(content), names_in(content)
        except (RuntimeError, ValueError) as error:
            if any(said in str(error) for said in ("byte_fallback is set but the vocab has no", "expected u32")):
                raise Refusal("invalid_model", str(error).partition("\n")[0]) from error
            if not any(said in str(error) for said in _UNSUPPORTED):
                raise
            raise Unsupported(str(error).partition("\n")[0]) from error

    def encoder(self, model: tuple[Any, Mapping[str, int], Mapping[int, str]]) -> Callable[[str], list[int]]:
        """Return a function from a text to its ids, for callers that encode millions of texts."""
        encode = model[0].encode
        return lambda text: [int(id) for id in encode(text)]

    def run(
        self, operation: str, model: tuple[Any, Mapping[str, int], Mapping[int, str]], input: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``unsupported`` with the reason, and ``invalid_input`` for ids whose bytes are not UTF-8.
        """
        require_unicode(input)
        tokenizer, vocabulary, names = model
        if operation == "encode":
            ids = [int(id) for id in tokenizer.encode(input["text"])]
            return {"tokens": [names.get(id, "") for id in ids], "ids": ids}
        known = input["ids"] if "ids" in input else [vocabulary.get(token) for token in input["tokens"]]
        if None in known:
            raise Unsupported("decodes ids, and a token that is not in the vocabulary has none")
        try:
            return {"text": tokenizer.decode(list(known)).decode("utf-8")}
        except UnicodeDecodeError as error:
            raise Refusal("invalid_input", "gives bytes, and these are not UTF-8") from error
