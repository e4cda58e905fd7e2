"""The adapter for ``gigatoken``, written for version 0.10.0.

The library loads ``tokenizer.json``: byte-level BPE, and BPE with a fallback to bytes, each with all bytes in the
vocabulary. Its tokenizer knows ids and bytes. Texts, tokens, masks and what is put around a text are those of its
``as_hf``, which has the interface of transformers; which special tokens are found is chosen in its ``as_tiktoken``,
which has that of tiktoken and puts nothing around a text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode

#: The options that the library takes, measured with version 0.10.0.
CHOICES: dict[str, str] = {}

#: What the library reads of a model; of what it does not know it says so.
COMPONENTS = (
    *("added_tokens", "normalizer", "pre_tokenizer", "model/bpe", "decoder", "vocabulary_ids"),
    *("post_processor/template", "post_processor/byte_level", "post_processor/sequence"),
)


#: What it says of a model that it cannot have.
_UNSUPPORTED = ("Byte remapping failed", "Unsupported model type", "Unsupported normalizer type")


class _Model:
    """A tokenizer and its two other interfaces, which take milliseconds to make for a large vocabulary."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    @cached_property
    def like_transformers(self) -> Any:
        return self.tokenizer.as_hf()

    @cached_property
    def like_tiktoken(self) -> Any:
        return self.tokenizer.as_tiktoken()


class GigatokenAdapter:
    """``gigatoken``: BPE of ``tokenizer.json``, in Rust."""

    def __init__(self) -> None:
        self._library: Any = import_module("gigatoken")

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="gigatoken",
            version=version("gigatoken"),
            language="Python, Rust",
            operations=("encode", "encode_batch", "decode", "decode_bytes"),
            formats=("tokenizer.json",),
            choices=CHOICES,
            encode_fields=("tokens", "ids", "attention_mask"),
            encode_options=("add_special_tokens", "allowed_special", "disallowed_special"),
            decode_options=("skip_special_tokens",),
            components=COMPONENTS,
            reads_file=True,
        )

    def load(self, format: str, content: Any) -> _Model:
        """Load a ``tokenizer.json``.

        Raises:
            Refusal: ``unsupported``, for what the library does not know, and ``invalid_model``.
        """
        try:
            return _Model(self._library.Tokenizer.from_json(json.dumps(content)))
        except (RuntimeError, ValueError) as error:
            if any(said in str(error) for said in ("byte_fallback is set but the vocab has no", "expected u32")):
                raise Refusal("invalid_model", str(error).partition("\n")[0]) from error
            if not any(said in str(error) for said in _UNSUPPORTED):
                raise
            raise Unsupported(str(error).partition("\n")[0]) from error

    def encoder(self, model: _Model) -> Callable[[str], list[int]]:
        """Return a function from a text to its ids, for callers that encode millions of texts."""
        encode = model.tokenizer.encode
        return lambda text: [int(id) for id in encode(text)]

    def run(self, operation: str, model: _Model, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``invalid_input`` for a special token that is disallowed, and ``unsupported`` with the reason.
        """
        require_unicode(input)
        if operation == "decode_bytes":
            return {"bytes": model.tokenizer.decode(_ids(input)).hex()}
        wrapped = model.like_transformers
        if operation == "decode":
            return {"text": _decode(wrapped, input)}
        texts = [each["text"] for each in input["inputs"]] if operation == "encode_batch" else [input["text"]]
        if "allowed_special" in input or "disallowed_special" in input:
            found = _as_tiktoken(model, wrapped, texts, input)
        else:
            found = _as_transformers(wrapped, texts, input, operation == "encode_batch")
        return {"encodings": found} if operation == "encode_batch" else found[0]


def _as_transformers(wrapped: Any, texts: list[str], input: Mapping[str, Any], is_batch: bool) -> list[dict[str, Any]]:
    adds = input.get("add_special_tokens", True)
    found = wrapped(texts if is_batch else texts[0], add_special_tokens=adds)
    rows = (found["input_ids"], found["attention_mask"])
    pairs = zip(*rows, strict=True) if is_batch else [rows]
    return [{"tokens": wrapped.convert_ids_to_tokens(ids), "ids": ids, "attention_mask": mask} for ids, mask in pairs]


def _as_tiktoken(model: _Model, wrapped: Any, texts: list[str], input: Mapping[str, Any]) -> list[dict[str, Any]]:
    if input.get("add_special_tokens", True) and wrapped.num_special_tokens_to_add() > 0:
        raise Unsupported("puts nothing around a text where it is chosen which special tokens are found in it")
    allowed, disallowed = input.get("allowed_special", "all"), input.get("disallowed_special", ())
    try:
        rows = model.like_tiktoken.encode_batch(texts, allowed_special=allowed, disallowed_special=disallowed)
    except NotImplementedError as error:  # which its documentation says of a special token that is neither
        raise Unsupported(str(error)) from error
    except ValueError as error:
        if "disallowed special token" not in str(error):
            raise
        raise Refusal("invalid_input", str(error).partition("\n")[0]) from error
    return [{"tokens": wrapped.convert_ids_to_tokens(ids), "ids": ids} for ids in rows]


def _decode(wrapped: Any, input: Mapping[str, Any]) -> str:
    skips = input.get("skip_special_tokens", False)
    if "ids" in input:
        return str(wrapped.decode(_ids(input), skip_special_tokens=skips))
    if skips:
        raise Unsupported("leaves out special tokens by their ids")
    return str(wrapped.convert_tokens_to_string(input["tokens"]))


def _ids(input: Mapping[str, Any]) -> list[int]:
    if any(id >= 2**32 for id in input["ids"]):
        raise Unsupported("takes ids of 32 bits, as its library in Rust has them")
    return list(input["ids"])
