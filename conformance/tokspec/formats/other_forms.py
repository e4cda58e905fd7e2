"""Tokenizer files that the suite does not read, recognized by their content, with advice what to name instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

#: A line of RWKV's vocabulary: an id, a token as Python writes it, and the number of its bytes.
_RWKV = re.compile(rb"""[0-9]+ b?(['"]).*\1 [0-9]+\r?\n""")

#: The first line of the list of tokens that SentencePiece writes next to a model.
_PIECES = re.compile(rb"<unk>\t0\r?\n")

_NAME_JSON = "name the tokenizer.json that was made from it"


def name_bytes(data: bytes) -> str:
    """Name the form of a file, and say what to do; empty if it is not known.

    >>> name_bytes(b"1 '\\\\x00' 1\\n2 '\\\\x01' 1\\n")
    "is RWKV's vocabulary, which is not read; name the tokenizer.json that was made from it"
    >>> name_bytes(b"[UNK]\\nhug\\n")
    ''
    """
    if data.startswith(b"GGUF"):
        return f"is a GGUF file, which is written and not read; {_NAME_JSON}"
    if _RWKV.match(data):
        return f"is RWKV's vocabulary, which is not read; {_NAME_JSON}"
    if _PIECES.match(data):
        return "is the list of tokens that SentencePiece writes next to a model; name the file .model"
    return ""


def name_object(content: Any) -> str:
    """Name the form of a JSON object that is not a tokenizer.json, and say what to do; empty if it is not known.

    >>> name_object({"tokenizer_class": "GPT2Tokenizer"})
    'is a tokenizer_config.json, which has no vocabulary; name the tokenizer.json next to it'
    >>> name_object([])
    ''
    """
    if not isinstance(content, Mapping):
        return ""
    return next((said for is_such, said in _OBJECTS if is_such(content)), "")


def _has(*keys: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda content: all(key in content for key in keys)


def _is_vocabulary(content: Mapping[str, Any]) -> bool:
    return len(content) > 1 and all(type(id) is int for id in content.values())


#: How to recognize an object of each form, and the message about it.
_OBJECTS: tuple[tuple[Callable[[Mapping[str, Any]], bool], str], ...] = (
    (_has("pat_str", "bpe_ranks"), "is a file of ranks for js-tiktoken, which is not read; name the file .tiktoken"),
    (_has("config", "vocab"), "looks like the tekken.json of mistral-common; give --format tekken.json"),
    (
        _has("tokenizer_class"),
        "is a tokenizer_config.json, which has no vocabulary; name the tokenizer.json next to it",
    ),
    (_has("model_type"), "is the config.json of a model; name the tokenizer.json next to it"),
    (_has("bos_token"), "is a special_tokens_map.json, which has no vocabulary; name the tokenizer.json next to it"),
    (_has("vocab", "merges"), "has a vocabulary and merges in a form of its own; name the tokenizer.json"),
    (_is_vocabulary, "is a vocabulary without merges; name the folder that has vocab.json and merges.txt"),
)
