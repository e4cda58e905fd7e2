"""The border: the neutral model, a mapping of plain values, to a :class:`~tokref.model.Tokenizer`.

Whatever is unknown, of a wrong type or contradicts itself is refused; nothing is skipped in silence. A value of None
is the same as a missing one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tokref import fields
from tokref.components import read_decoder, read_normalizer, read_pre_tokenizer
from tokref.errors import InputError, shown
from tokref.model import Bpe, Tokenizer, Unigram, WordPiece

__all__ = ["from_mapping"]

_Readers = Mapping[str, Callable[[Any], Any]]

_AROUND: _Readers = {
    "normalizer": read_normalizer,
    "pre_tokenizer": read_pre_tokenizer,
    "decoder": read_decoder,
    "special_tokens": fields.distinct_texts,
}


def from_mapping(content: Mapping[str, Any]) -> Tokenizer:
    """Read a model as ``fixtures/schema.json`` describes it.

    Clauses: TERM-4, BPE-MODEL-1.

    Raises:
        InputError: ``invalid_model``, naming the key or token at fault; ``unsupported``, for a normalizer or
            pre-tokenizer that is nested too deeply.

    >>> from_mapping({"type": "bpe", "vocabulary": ["a"], "merges": [["a", "b"]]})
    Traceback (most recent call last):
        ...
    tokref.errors.InputError: invalid_model: merge ('a', 'b') needs 'b', which is not in the vocabulary
    """
    given = {key: value for key, value in fields.mapping("the model", content).items() if value is not None}
    given.pop("about", None)
    around = {key: read(given.pop(key)) for key, read in _AROUND.items() if key in given}
    kind = given.pop("type", None)
    if kind is None and not given:
        return Tokenizer(**around)
    if not isinstance(kind, str) or kind not in _MODELS:
        raise InputError("invalid_model", f"type {shown(kind)} is unknown; give one of {', '.join(_MODELS)}")
    model = _MODELS[kind](given)
    missing = [token for token in around.get("special_tokens", ()) if model.vocabulary and token not in model.ids]
    if missing:
        raise InputError("invalid_model", f"special token {missing[0]!r} is not in the vocabulary")
    return Tokenizer(model, **around)


def _bpe(given: dict[str, Any]) -> Bpe:
    readers: _Readers = {
        "vocabulary": fields.distinct_texts,
        "merges": fields.pairs_of_texts,
        "unknown_token": fields.text,
    }
    model = Bpe(**fields.read("a bpe model", given, readers))
    for left, right in model.merges:  # BPE-MODEL-1
        _require(((left, right, left + right)), model, f"merge {(left, right)!r}")
    return model


def _require(tokens: Iterable[str], model: Bpe, what: str) -> None:
    for token in tokens:
        if token not in model.ids:
            raise InputError("invalid_model", f"{what} needs {token!r}, which is not in the vocabulary")


def _wordpiece(given: dict[str, Any]) -> WordPiece:
    readers: _Readers = {
        "vocabulary": fields.distinct_texts,
        "unknown_token": fields.text,
        "continuing_prefix": fields.text,
        "max_word_length": fields.positive,
    }
    return WordPiece(**fields.read("a wordpiece model", given, readers))


def _unigram(given: dict[str, Any]) -> Unigram:
    readers: _Readers = {
        "tokens": fields.weighted_texts,
        "weights": fields.one_of("frequency", "log_probability"),
        "unknown_token": fields.text,
    }
    found = fields.read("a unigram model", given, readers)
    tokens, kind = found.get("tokens", ()), found.get("weights", "frequency")
    model = Unigram(
        fields.distinct_texts([token for token, _ in tokens]),  # TERM-4
        found.get("unknown_token"),
        tuple(weight for _, weight in tokens),
        kind,
    )
    _WEIGHT_CHECKS[kind](model)
    return model


def _check_frequencies(model: Unigram) -> None:
    below = [token for token, weight in zip(model.vocabulary, model.weights, strict=True) if weight < 0]
    if below:
        raise InputError("invalid_model", f"the frequency of {below[0]!r} is below zero")
    try:
        is_finite = model.total <= sys.float_info.max
    except OverflowError:  # an integer that no float can hold is to be added to a float
        is_finite = False
    if not is_finite:
        raise InputError("invalid_model", "the sum of the frequencies is too large for floating point")


def _check_logarithms(model: Unigram) -> None:
    largest = math.log(sys.float_info.max)
    above = [token for token, weight in zip(model.vocabulary, model.weights, strict=True) if weight > largest]
    if above:
        raise InputError("invalid_model", f"the probability of {above[0]!r} is too large for floating point")


_WEIGHT_CHECKS = {"frequency": _check_frequencies, "log_probability": _check_logarithms}

_MODELS: Mapping[str, Callable[[dict[str, Any]], Any]] = {"bpe": _bpe, "wordpiece": _wordpiece, "unigram": _unigram}
