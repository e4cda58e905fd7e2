"""The parts around a model, read from plain values by the type that they name: one table a stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from tokref import fields
from tokref.bert_normalization import bert_normalizer
from tokref.decoding import ByteLevelDecoder, Decoder, MetaspaceDecoder, WordPieceDecoder
from tokref.errors import InputError, shown
from tokref.normal_forms import UnicodeForm
from tokref.normalization import EachCharacter, Lowercase, Normalizer, NormalizerSequence, strip_accents
from tokref.pre_tokenization import (
    BertPreTokenizer,
    ByteLevel,
    Metaspace,
    PreTokenizer,
    PreTokenizerSequence,
    WhitespaceSplit,
)

__all__ = ["read_decoder", "read_normalizer", "read_pre_tokenizer"]


_DEEPEST = 100
"""How many levels of lists and objects a component may have: each is a call within a call, here and in use."""


class _Type(NamedTuple):
    """How a component is made, and the readers of its parameters."""

    make: Callable[..., Any]
    parameters: Mapping[str, Callable[[Any], Any]] = {}


def read_normalizer(value: Any) -> Normalizer:
    """Read a normalizer.

    >>> read_normalizer({"type": "nfc"})
    UnicodeForm(form='NFC')
    """
    normalizer: Normalizer = _component("normalizer", value, _NORMALIZERS)
    return normalizer


def read_pre_tokenizer(value: Any) -> PreTokenizer:
    """Read a pre-tokenizer.

    >>> read_pre_tokenizer({"type": "byte_level", "use_regex": False})
    ByteLevel(add_prefix_space=False, use_regex=False)
    """
    pre_tokenizer: PreTokenizer = _component("pre_tokenizer", value, _PRE_TOKENIZERS)
    return pre_tokenizer


def read_decoder(value: Any) -> Decoder:
    """Read a decoder.

    >>> read_decoder({"type": "wordpiece"})
    WordPieceDecoder(prefix='##')
    """
    decoder: Decoder = _component("decoder", value, _DECODERS)
    return decoder


def _component(stage: str, value: Any, types: Mapping[str, _Type]) -> Any:
    if _is_deeper(value, _DEEPEST):
        raise InputError("unsupported", f"the {stage} is nested deeper than {_DEEPEST} levels; put one after the other")
    given = dict(fields.mapping(f"a {stage}", value))
    name = given.pop("type", None)
    if not isinstance(name, str) or name not in types:
        raise InputError("invalid_model", f"{stage} type {shown(name)} is unknown; give one of {', '.join(types)}")
    component = types[name]
    found = fields.read(f"the {stage} {name}", given, component.parameters)
    if name == "sequence" and not found:
        raise InputError("invalid_model", f"the {stage} sequence needs the key {', '.join(component.parameters)}")
    return component.make(**found)


def _is_deeper(value: Any, levels: int) -> bool:
    """Go down level by level: a value may be nested deeper than calls can be."""
    level = [value]
    for _ in range(levels):
        level = [inner for outer in level for inner in _inside(outer)]
    return bool(level)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _metaspace(split: bool = True, **others: Any) -> Metaspace:
    return Metaspace(split_at_replacement=split, **others)


def _list_of(read: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    return lambda value: tuple(map(read, fields.items(value)))


_NORMALIZERS: Mapping[str, _Type] = {
    "nfc": _Type(partial(UnicodeForm, "NFC")),
    "nfd": _Type(partial(UnicodeForm, "NFD")),
    "nfkc": _Type(partial(UnicodeForm, "NFKC")),
    "nfkd": _Type(partial(UnicodeForm, "NFKD")),
    "lowercase": _Type(Lowercase),
    "strip_accents": _Type(partial(EachCharacter, strip_accents)),
    "bert": _Type(
        bert_normalizer,
        dict.fromkeys(("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"), fields.boolean),
    ),
    "sequence": _Type(NormalizerSequence, {"normalizers": _list_of(read_normalizer)}),
}

_PRE_TOKENIZERS: Mapping[str, _Type] = {
    "bert": _Type(BertPreTokenizer),
    "byte_level": _Type(ByteLevel, {"add_prefix_space": fields.boolean, "use_regex": fields.boolean}),
    "metaspace": _Type(
        _metaspace,
        {
            "replacement": fields.character,
            "prepend_scheme": fields.one_of("always", "first", "never"),
            "split": fields.boolean,
        },
    ),
    "whitespace_split": _Type(WhitespaceSplit),
    "sequence": _Type(PreTokenizerSequence, {"pre_tokenizers": _list_of(read_pre_tokenizer)}),
}

_DECODERS: Mapping[str, _Type] = {
    "byte_level": _Type(ByteLevelDecoder),
    "metaspace": _Type(MetaspaceDecoder, {"replacement": fields.character}),
    "wordpiece": _Type(WordPieceDecoder, {"prefix": fields.text}),
}
