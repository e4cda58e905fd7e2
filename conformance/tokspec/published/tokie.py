"""The adapter for ``tokie``, written for version 0.1.4.

The library loads ``tokenizer.json`` from a file and answers ids. Its tokens are decoded texts, and none of an added
token. Its offsets are documented as bytes of the normalized text, which are not spans (TERM-3), and so are not among
the fields. It offers no stage by itself and trains nothing.

It does not read ``truncation`` and ``padding`` in a file. Its callers ask for them by ``enable_truncation`` and
``enable_padding``, and the adapter calls these with what the model says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode
from tokspec.base.errors import MissingModule
from tokspec.published.sharing import ids_in

#: The options that the library takes, measured with version 0.1.4.
CHOICES = {
    "bpe_pairs": "in_vocabulary",
    "merge_outside_vocabulary": "ignored",
    "duplicate_token": "last_place",
    "join_without_decoder": "nothing",
    "unigram_tie": "earliest_start",
    "unigram_unknown": "run",
    "metaspace_leading_space": "removed",
    "final_sigma": "plain",
}

#: What the library's errors, which are all of one type, say when they are refusals. A model whose type it does not know
#: is read as one of BPE.
_REASONS = {
    "vocab should be object": "unsupported",
    "merges should be array": "unsupported",
    "Unigram vocab is empty": "invalid_model",
}

#: What the library does something about. It passes over what is not among them: of splits and templates it knows those
#: of some published models, and the ids of a vocabulary have to be its places.
COMPONENTS = ("added_tokens", "model/bpe/ignore_merges", "model/unigram/byte_fallback", "truncation", "padding")


#: The tokenizer, and the ids of its tokens.
_Model: TypeAlias = tuple[Any, Mapping[str, int]]


#: The fields of an encoding; older versions have fewer.
_FIELDS = ("tokens", "ids", "type_ids", "special_tokens_mask", "attention_mask")

#: What ``enable_truncation`` calls the strategies of a file.
_STRATEGIES = {"LongestFirst": "longest_first", "OnlyFirst": "only_first", "OnlySecond": "only_second"}


class TokieAdapter:
    """``tokie``: BPE, WordPiece and Unigram, in Rust.

    Raises:
        MissingModule: the library is older than what is called here, so that every request would crash.
    """

    def __init__(self) -> None:
        self._library: Any = import_module("tokie")
        if not hasattr(self._library, "Encoding"):
            raise MissingModule(f"tokie {version('tokie')} has no encodings")

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="tokie",
            version=version("tokie"),
            language="Python, Rust",
            operations=("encode", "encode_batch", "decode", "decode_bytes"),
            formats=("tokenizer.json",),
            choices=CHOICES,
            encode_fields=tuple(field for field in _FIELDS if hasattr(self._library.Encoding, field)),
            encode_options=("pair", "add_special_tokens"),
            components=COMPONENTS,
            reads_file=True,
        )

    def load(self, format: str, content: Any) -> _Model:
        """Load a ``tokenizer.json``.

        Raises:
            Refusal: ``unsupported``, for a type of model that the library lacks; ``invalid_model``, for a Unigram model
                without tokens.
        """
        with TemporaryDirectory() as folder:
            file = Path(folder) / "tokenizer.json"
            file.write_text(json.dumps(content), "utf-8")
            try:
                return _shaped(self._library.Tokenizer.from_json(str(file)), content), ids_in(content)
            except self._library.TokieError as error:
                for part, reason in _REASONS.items():
                    if part in str(error):
                        raise Refusal(reason, str(error)) from error
                raise

    def encoder(self, model: _Model) -> Callable[[str], list[int]]:
        """Return a function from a text to its ids, for callers that encode millions of texts."""
        encode = model[0].encode
        return lambda text: encode(text, add_special_tokens=False).ids

    def run(self, operation: str, model: _Model, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``invalid_input`` where the library gives no text, as it documents of bytes that are not UTF-8;
                ``unsupported`` with the reason.
        """
        require_unicode(input)
        tokenizer, vocabulary = model
        adds = input.get("add_special_tokens", True)
        if operation == "encode":
            if "pair" in input:
                return _encoding(tokenizer.encode_pair(input["text"], input["pair"], add_special_tokens=adds))
            return _encoding(tokenizer.encode(input["text"], add_special_tokens=adds))
        if operation == "encode_batch":
            if any("pair" in each for each in input["inputs"]):
                raise Unsupported("encodes texts in a batch, and no pairs")
            texts = [each["text"] for each in input["inputs"]]
            found = tokenizer.encode_batch(texts, add_special_tokens=adds)
            return {"encodings": [_encoding(each) for each in found]}
        ids: list[Any] = input["ids"] if "ids" in input else [vocabulary.get(token) for token in input["tokens"]]
        if None in ids:
            raise Unsupported("decodes ids, and a token that is not in the vocabulary has none")
        if any(id >= 2**32 for id in ids):
            raise Unsupported("takes ids of 32 bits, as its library in Rust has them")
        if operation == "decode_bytes":
            return {"bytes": tokenizer.decode_bytes(list(ids)).hex()}
        text = tokenizer.decode(list(ids))
        if text is None:
            raise Refusal("invalid_input", "gives no text for bytes that are not UTF-8")
        return {"text": text}


def _shaped(tokenizer: Any, content: Mapping[str, Any]) -> Any:
    """Have a tokenizer truncate and pad as a file says."""
    if truncation := content.get("truncation"):
        tokenizer.enable_truncation(
            truncation["max_length"],
            stride=truncation["stride"],
            strategy=_STRATEGIES[truncation["strategy"]],
            direction=truncation["direction"].lower(),
        )
    if padding := content.get("padding"):
        strategy = padding["strategy"]
        tokenizer.enable_padding(
            direction=padding["direction"].lower(),
            pad_id=padding["pad_id"],
            pad_type_id=padding["pad_type_id"],
            length=strategy["Fixed"] if isinstance(strategy, Mapping) else None,
            pad_to_multiple_of=padding["pad_to_multiple_of"],
        )
    return tokenizer


def _encoding(encoding: Any) -> dict[str, Any]:
    return {field: getattr(encoding, field) for field in _FIELDS if hasattr(encoding, field)}
