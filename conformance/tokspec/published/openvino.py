"""The adapter for ``openvino-tokenizers``, written for version 2026.4.1.0.

The library makes of a tokenizer of transformers two graphs for OpenVINO: one from texts to ids, one from ids to texts.
The adapter has transformers read a ``tokenizer.json`` for any model, converts that, and asks the graphs. What is added
around a text and what is skipped in ids is chosen when they are made, so that there is a graph for either.

The graphs know ids, and no tokens or offsets. They fill up every batch, so that there are no batches as other libraries
have them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode
from tokspec.published.sharing import ids_in_cpp

#: The options that the library takes, measured with version 2026.4.1.0.
CHOICES = {"unknown_id": "skipped", "final_sigma": "plain"}

#: What the library reads of a model. Truncation and padding are options of a conversion, and are not read of a file.
COMPONENTS = ("added_tokens", "normalizer", "pre_tokenizer", "model", "post_processor", "decoder", "vocabulary_ids")

#: What its errors say of models that it cannot convert. The first two are of models without an added token, the third
#: of Unigram models without an unknown token: the converter gives a node too few inputs, which the node refuses.
_UNSUPPORTED = (
    "input_size == 11",
    "get_input_element_type(input_index",
    "Unable to cast Python instance of type <class 'NoneType'>",
    "Cannot find unknown token",
    "is not supported",
    "not supported yet",
    "is not implemented yet",
    "does not support yet",
    "of supported post-tokenizers type",
)

#: What the reader of the file says of a model that contradicts itself.
_INVALID = ("expected u32", "out of vocabulary", "Dropout should be between")


class OpenvinoAdapter:
    """``openvino-tokenizers``: graphs made of ``tokenizer.json``, in C++."""

    def __init__(self) -> None:
        self._convert: Any = import_module("openvino_tokenizers").convert_tokenizer
        self._read: Any = import_module("transformers").PreTrainedTokenizerFast
        self._core: Any = import_module("openvino").Core()
        # a graph holds megabytes; those of a suite together would fill the memory
        self._made = lru_cache(8)(self._make)

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="openvino-tokenizers",
            version=version("openvino-tokenizers"),
            language="Python, C++",
            operations=("encode", "decode"),
            formats=("tokenizer.json",),
            choices=CHOICES,
            encode_fields=("ids", "attention_mask"),
            encode_options=("add_special_tokens",),
            decode_options=("skip_special_tokens",),
            components=COMPONENTS,
            reads_file=True,
            like="tokenizers",
        )

    def load(self, format: str, content: Any) -> str:
        """Load a ``tokenizer.json``.

        Raises:
            Refusal: ``unsupported``, for what the library does not convert, and ``invalid_model``.
        """
        file = json.dumps(content)
        self._made(file, True)
        return file

    def encoder(self, model: str) -> Callable[[str], list[int]]:
        """Return a function from a text to its ids, for callers that encode millions of texts."""
        encode = self._made(model, False)[0]
        return lambda text: encode([text])["input_ids"][0].tolist()

    def run(self, operation: str, model: str, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``unsupported`` with the reason.
        """
        require_unicode(input)
        if operation == "decode":
            ids = ids_in_cpp(input, 31)
            decode = self._made(model, input.get("skip_special_tokens", False))[1]
            return {"text": str(decode([ids])["string_output"][0])}
        found = self._made(model, input.get("add_special_tokens", True))[0]([input["text"]])
        return {"ids": found["input_ids"][0].tolist(), "attention_mask": found["attention_mask"][0].tolist()}

    def _make(self, file: str, special: bool) -> tuple[Any, Any]:
        """Make the graphs of a file, which add special tokens and skip them, or neither."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "tokenizer.json"
            path.write_text(file, "utf-8")
            try:
                tokenizer = self._read(tokenizer_file=str(path))
            except Exception as error:  # the library tokenizers, which reads the file, raises the built-in Exception
                if any(part in str(error) for part in _INVALID):
                    raise Refusal("invalid_model", str(error)) from error
                raise
        options = {"with_detokenizer": True, "add_special_tokens": special, "skip_special_tokens": special}
        try:
            encode, decode = self._convert(tokenizer, clean_up_tokenization_spaces=False, **options)
        except Exception as error:  # its errors have five types, of three libraries
            said = " ".join(str(error).split())
            if any(part in said for part in _UNSUPPORTED):
                raise Unsupported(_without_places(said)) from error
            raise
        return self._core.compile_model(encode, "CPU"), self._core.compile_model(decode, "CPU")


def _without_places(said: str) -> str:
    """Cut the places in source files, which are those of the machine that built the library, out of a message."""
    return re.sub(r" failed at \S+", " failed", said)
