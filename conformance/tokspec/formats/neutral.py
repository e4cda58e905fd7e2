"""The suite's own format, ``tokspec``: the model as the fixtures write it, with every default filled in.

It expresses every model. Parts that a model has not (a normalizer, an unknown token, the vocabulary of an untrained
model) are absent; ``about`` is for readers of the fixtures and is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokspec.base.errors import DataError

__all__ = ["fill_defaults", "read"]

#: The defaults of the tables in ``spec/01-normalization.md``, ``02-pre-tokenization.md`` and ``07-decoding.md``.
_NORMALIZERS: Mapping[str, Mapping[str, Any]] = {
    "bert": {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
}
_PRE_TOKENIZERS: Mapping[str, Mapping[str, Any]] = {
    "byte_level": {"add_prefix_space": False, "use_regex": True},
    "metaspace": {"replacement": "▁", "prepend_scheme": "always", "split": True},
}
_DECODERS: Mapping[str, Mapping[str, Any]] = {
    "metaspace": {"replacement": "▁"},
    "wordpiece": {"prefix": "##"},
}
#: The defaults that ``spec/05-wordpiece.md`` gives in its prose, and the documents' kind of weights.
_MODELS: Mapping[str, Mapping[str, Any]] = {
    "wordpiece": {"unknown_token": "[UNK]", "continuing_prefix": "##", "max_word_length": 100},
    "unigram": {"weights": "frequency"},
}
_STAGES = (("normalizer", _NORMALIZERS), ("pre_tokenizer", _PRE_TOKENIZERS), ("decoder", _DECODERS))
#: The members of a ``sequence``, by the stage that it belongs to.
_MEMBERS = {"normalizer": "normalizers", "pre_tokenizer": "pre_tokenizers"}


def fill_defaults(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a deep copy of a model with every default filled in and without its ``about``.

    >>> fill_defaults({"about": "a toy", "type": "wordpiece", "decoder": {"type": "wordpiece"}})
    ... # doctest: +NORMALIZE_WHITESPACE
    {'type': 'wordpiece', 'unknown_token': '[UNK]', 'continuing_prefix': '##', 'max_word_length': 100,
     'decoder': {'type': 'wordpiece', 'prefix': '##'}}
    """
    model = _with_defaults(content, _MODELS)
    model.pop("about", None)
    for stage, table in _STAGES:
        if stage in model:
            model[stage] = _filled(model[stage], table, _MEMBERS.get(stage, ""))
    return {key: _copied(value) for key, value in model.items()}


def read(content: Any) -> dict[str, Any]:
    """Return the model that a content is.

    Raises:
        DataError: it is no object.

    >>> read({"type": "bpe"})
    {'type': 'bpe'}
    """
    if not isinstance(content, Mapping):
        raise DataError("is no object", "tokspec")
    return dict(content)


def _copied(value: Any) -> Any:
    """Copy what JSON can hold, at every depth; a vocabulary is long, and copy.deepcopy takes its time."""
    if isinstance(value, Mapping):
        return {key: _copied(member) for key, member in value.items()}
    return (
        [_copied(member) if isinstance(member, list) else member for member in value]
        if isinstance(value, list)
        else value
    )


def _filled(part: Mapping[str, Any], table: Mapping[str, Mapping[str, Any]], members: str) -> dict[str, Any]:
    filled = _with_defaults(part, table)
    if members in filled:
        filled[members] = [_filled(member, table, members) for member in filled[members]]
    return filled


def _with_defaults(part: Mapping[str, Any], table: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Put the defaults of the part's type behind its ``type`` and what the part itself says over them."""
    kind = {"type": part["type"]} if "type" in part else {}
    return {**kind, **table.get(part.get("type", ""), {}), **part}
