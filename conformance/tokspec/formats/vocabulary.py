"""Checks that every format of files makes of a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokspec.base.errors import DataError, Unsupported

__all__ = ["by_id", "refuse_untrained", "tokens_of"]


def tokens_of(model: Mapping[str, Any]) -> list[str]:
    """Return the tokens of a model of any type in the order of their ids (TERM-4); none if it is not trained.

    >>> tokens_of({"type": "unigram", "tokens": [["h", 15], ["u", 36]]})
    ['h', 'u']
    """
    return list(model.get("vocabulary") or [token for token, _ in model.get("tokens", [])])


def refuse_untrained(model: Mapping[str, Any], format: str, *types: str) -> None:
    """Refuse a model that is of none of the types, or has no vocabulary.

    Raises:
        Unsupported: naming what the format holds.

    >>> refuse_untrained({"type": "bpe"}, "vocab.txt", "wordpiece")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.Unsupported: unsupported: vocab.txt holds wordpiece models, and this one is of type bpe
    """
    kind = model.get("type")
    if kind not in types:
        what = "has no type" if kind is None else f"is of type {kind}"
        raise Unsupported(f"{format} holds {' and '.join(types)} models, and this one {what}")
    if not tokens_of(model):
        raise Unsupported(f"{format} holds a vocabulary, and this model is not trained")


def by_id(ids: Any, file: str, key: str = "") -> list[str]:
    """Return the tokens of an object of token to id in the order of their ids.

    Raises:
        DataError: the ids are not 0, 1, 2, …, each once (TERM-4).

    >>> by_id({"b": 1, "a": 0}, "vocab.json")
    ['a', 'b']
    >>> by_id({"b": 1}, "vocab.json")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: vocab.json: gives no token the id 0; ids are positions, counted from 0
    """
    if not isinstance(ids, Mapping) or any(type(id) is not int for id in ids.values()):
        raise DataError("is no object of tokens to ids", file, key=key)
    tokens = {id: token for token, id in ids.items()}
    missing = next((id for id in range(len(ids)) if id not in tokens), None)
    if missing is not None:
        raise DataError(f"gives no token the id {missing}; ids are positions, counted from 0", file, key=key)
    return [tokens[id] for id in range(len(ids))]
