"""``tokenizer.json``: the object that Hugging Face tokenizers save and that many ports load.

A model without a type, which has stages only, is written with an empty BPE model, and an untrained model with an empty
vocabulary: both load, and their stages work.

It cannot express, and refuses as ``unsupported``:

* a lone surrogate, in any string;
* a special token, or a Unigram model's unknown token, that is not in the vocabulary: its id would have no entry;
* a Unigram model with a frequency of 0, whose logarithm is no number;
* a decoder that keeps the space at the start of the text: the format ties that to a flag of the decoder, and the
  writer takes what the library itself writes (the choice ``metaspace_leading_space``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tokspec.base.errors import Unsupported
from tokspec.formats.neutral import fill_defaults
from tokspec.formats.text import refuse_surrogates
from tokspec.formats.weights import log_probabilities

__all__ = ["write"]

Part: TypeAlias = Mapping[str, Any]
Writer: TypeAlias = Callable[[Part], dict[str, Any]]


def write(content: Part) -> dict[str, Any]:
    """Write a model of the fixtures as the object of a ``tokenizer.json``.

    Raises:
        Unsupported: the format cannot express the model.

    >>> write({"type": "bpe", "vocabulary": ["u", "g", "ug"], "merges": [["u", "g"]]})["model"]["vocab"]
    {'u': 0, 'g': 1, 'ug': 2}
    """
    model = fill_defaults(content)
    refuse_surrogates(model, "tokenizer.json")
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _added_tokens(model),
        "normalizer": _stage(_NORMALIZERS, model.get("normalizer")),
        "pre_tokenizer": _stage(_PRE_TOKENIZERS, model.get("pre_tokenizer")),
        "post_processor": None,
        "decoder": _stage(_DECODERS, model.get("decoder")),
        "model": _MODELS[model.get("type", "bpe")](model),
    }


def _stage(table: Mapping[str, Writer], part: Part | None) -> dict[str, Any] | None:
    return None if part is None else table[part["type"]](part)


def _named(name: str) -> Writer:
    """Make the writer of a part that has no parameters."""
    return lambda part: {"type": name}


def _bert_normalizer(part: Part) -> dict[str, Any]:
    return {**part, "type": "BertNormalizer"}


def _normalizer_sequence(part: Part) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": [_stage(_NORMALIZERS, member) for member in part["normalizers"]]}


_NORMALIZERS: Mapping[str, Writer] = {
    "nfc": _named("NFC"),
    "nfd": _named("NFD"),
    "nfkc": _named("NFKC"),
    "nfkd": _named("NFKD"),
    "lowercase": _named("Lowercase"),
    "strip_accents": _named("StripAccents"),
    "bert": _bert_normalizer,
    "sequence": _normalizer_sequence,
}


def _byte_level(part: Part) -> dict[str, Any]:
    # The trimming of offsets belongs to a post-processor, which these models have not.
    return {**part, "type": "ByteLevel", "trim_offsets": False}


def _metaspace(part: Part) -> dict[str, Any]:
    return {**part, "type": "Metaspace"}


def _pre_tokenizer_sequence(part: Part) -> dict[str, Any]:
    members = [_stage(_PRE_TOKENIZERS, member) for member in part["pre_tokenizers"]]
    return {"type": "Sequence", "pretokenizers": members}


_PRE_TOKENIZERS: Mapping[str, Writer] = {
    "bert": _named("BertPreTokenizer"),
    "byte_level": _byte_level,
    "metaspace": _metaspace,
    "whitespace_split": _named("WhitespaceSplit"),
    "sequence": _pre_tokenizer_sequence,
}

_DECODERS: Mapping[str, Writer] = {
    "byte_level": lambda part: {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": False,
        "use_regex": True,
    },
    "metaspace": lambda part: {**part, "type": "Metaspace", "prepend_scheme": "always", "split": True},
    "wordpiece": lambda part: {**part, "type": "WordPiece", "cleanup": False},
}


def _bpe(model: Part) -> dict[str, Any]:
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": model.get("unknown_token"),
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": _ids(model),
        "merges": model.get("merges", []),
    }


def _wordpiece(model: Part) -> dict[str, Any]:
    return {
        "type": "WordPiece",
        "unk_token": model["unknown_token"],
        "continuing_subword_prefix": model["continuing_prefix"],
        "max_input_chars_per_word": model["max_word_length"],
        "vocab": _ids(model),
    }


def _unigram(model: Part) -> dict[str, Any]:
    unknown, ids = model.get("unknown_token"), _ids(model)
    if unknown is not None and ids and unknown not in ids:
        raise Unsupported(f"the unknown token {unknown!r} is not in the vocabulary, and tokenizer.json wants its id")
    unk_id = None if unknown is None else ids.get(unknown)
    return {
        "type": "Unigram",
        "unk_id": unk_id,
        "vocab": log_probabilities(model, "tokenizer.json"),
        "byte_fallback": False,
    }


_MODELS: Mapping[str, Writer] = {"bpe": _bpe, "wordpiece": _wordpiece, "unigram": _unigram}


def _ids(model: Part) -> dict[str, int]:
    """Return every token's position (TERM-4); nothing for a model that is not trained."""
    tokens = model.get("vocabulary") or [token for token, _ in model.get("tokens", [])]
    return {token: position for position, token in enumerate(tokens)}


def _added_tokens(model: Part) -> list[dict[str, Any]]:
    special, ids = model.get("special_tokens", []), _ids(model)
    # Without a vocabulary there is nothing to contradict: the special tokens are all that has an id.
    ids = ids or {token: position for position, token in enumerate(special)}
    outside = [token for token in special if token not in ids]
    if outside:
        raise Unsupported(f"the special token {outside[0]!r} is not in the vocabulary")
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return [{"id": ids[token], "content": token, **flags} for token in special]
