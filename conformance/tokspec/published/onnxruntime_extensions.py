"""The adapter for ``onnxruntime-extensions``, written for version 0.15.2.

Its ``pp_api.Tokenizer``, which ONNX Runtime GenAI uses, reads a folder with ``tokenizer.json`` and
``tokenizer_config.json``. The second says by ``tokenizer_class`` which tokenizer to make; the adapter writes the class
of transformers for any file, and for Unigram models, which that one does not load, that of T5 with its
unknown token and nothing put around a text.

It knows ids and texts, and no tokens or offsets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokspec.adapter import Hello, Unsupported, require_unicode
from tokspec.published.sharing import ids_in_cpp

#: The options that the library takes, measured with version 0.15.2.
CHOICES = {"join_without_decoder": "nothing", "unknown_id": "skipped", "byte_level_added_tokens": "utf_8"}

#: The class that a folder names, by the type of its model. Of any other type the library reads merges that are not
#: there: most times it then says that it cannot parse a line, and sometimes it answers, so that no two runs are alike.
_CLASSES = {"BPE": "PreTrainedTokenizerFast", "Unigram": "T5Tokenizer"}

#: What the library says of a Unigram model without an unknown token.
_UNSUPPORTED = ("type must be number, but is null",)

#: What the library reads of a model.
COMPONENTS = ("vocabulary_ids",)


class OnnxruntimeExtensionsAdapter:
    """``onnxruntime-extensions``: BPE and Unigram of ``tokenizer.json``, in C++."""

    def __init__(self) -> None:
        self._new: Callable[[str], Any] = import_module("onnxruntime_extensions.pp_api").Tokenizer

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="onnxruntime-extensions",
            version=version("onnxruntime-extensions"),
            language="Python, C++",
            operations=("encode", "encode_batch", "decode"),
            formats=("tokenizer.json",),
            choices=CHOICES,
            encode_fields=("ids",),
            encode_options=("add_special_tokens",),
            decode_options=("skip_special_tokens",),
            components=COMPONENTS,
            reads_file=True,
            like="tokenizers",
        )

    def load(self, format: str, content: Any) -> Any:
        """Load a ``tokenizer.json``.

        Raises:
            Refusal: ``unsupported``, for a type of model that the library lacks, Unigram without an unknown token, and
                ids with which the library answers in one run and crashes in another.
        """
        kind = content["model"].get("type")
        if kind not in _CLASSES:
            raise Unsupported(f"knows models of BPE and Unigram, and reads merges that one of {kind} does not have")
        if reason := _unsafe_ids(content):
            raise Unsupported(f"answers in one run and crashes in another: {reason}")
        config = {"tokenizer_class": _CLASSES[kind], **_around(content["model"])}
        with TemporaryDirectory() as folder:
            for name, written in (("tokenizer.json", content), ("tokenizer_config.json", config)):
                (Path(folder) / name).write_text(json.dumps(written), "utf-8")
            try:
                return self._new(folder)
            except Exception as error:  # its one type of error is the built-in Exception itself
                if any(said in str(error) for said in _UNSUPPORTED):
                    raise Unsupported(" ".join(str(error).split())) from error
                raise

    def encoder(self, model: Any) -> Callable[[str], list[int]]:
        """Return a function from a text to its ids, for callers that encode millions of texts."""
        model.update_options({"add_special_tokens": False})
        tokenize = model.tokenize
        return lambda text: [int(id) for id in tokenize(text)]

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``unsupported`` with the reason.
        """
        require_unicode(input)
        if operation == "decode":
            ids = ids_in_cpp(input, 32)
            model.update_options({"skip_special_tokens": input.get("skip_special_tokens", False)})
            return {"text": model.detokenize(ids)[0]}
        model.update_options({"add_special_tokens": input.get("add_special_tokens", True)})
        if operation == "encode":
            return {"ids": [int(id) for id in model.tokenize(input["text"])]}
        texts = [each["text"] for each in input["inputs"]]
        return {"encodings": [{"ids": [int(id) for id in ids]} for ids in model.tokenize(texts)]}


def _unsafe_ids(content: Mapping[str, Any]) -> str:
    """Describe the ids because of which the library would touch memory that is not its own; empty if there are none.

    >>> _unsafe_ids({"model": {"vocab": {"a": 0, "b": 2}}, "added_tokens": [{"id": 1, "content": "<s>"}]})
    'the id of an added token is between those of the vocabulary'
    >>> _unsafe_ids({"model": {"vocab": {"a": 0, "b": 2}}, "added_tokens": [{"id": 2, "content": "b"}]})
    ''
    """
    vocabulary = content["model"]["vocab"]
    if not isinstance(vocabulary, Mapping):
        return ""
    largest = max(vocabulary.values(), default=0)
    if 2**31 <= largest < 2**32:
        return "an id needs 32 bits"
    added = content.get("added_tokens", ())
    is_filled = any(0 <= each["id"] < largest and each["content"] not in vocabulary for each in added)
    return "the id of an added token is between those of the vocabulary" if is_filled else ""


def _around(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a ``tokenizer_config.json`` says of a Unigram model besides its class."""
    unknown = model.get("unk_id")
    if model["type"] != "Unigram" or unknown is None:
        return {}
    return {"unk_token": model["vocab"][unknown][0], "add_bos_token": False, "add_eos_token": False}
