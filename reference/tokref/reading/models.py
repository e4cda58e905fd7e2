"""Models: each type with its keys, and what contradicts itself in one."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tokref.bpe import join_symbols
from tokref.choices import Choices
from tokref.decoding import BYTE_TOKEN
from tokref.errors import InputError
from tokref.reading.shapes import (
    Reader,
    read_boolean,
    read_id,
    read_integer,
    read_keys,
    read_list,
    read_mapping,
    read_number,
    read_option,
    read_pair,
    read_text,
    read_tokens,
    refuse,
)
from tokref.values import Bpe, Kind, Model, Unigram, WordLevel, WordPiece, number_tokens

PIECE_TYPES: tuple[Kind, ...] = ("control", "user_defined", "unused", "byte")
"""The types that a token may have, besides the ordinary one and that of the unknown token (SP-TYPE-1)."""


def _bpe(given: Mapping[str, Any], choices: Choices) -> Bpe:
    readers: Mapping[str, Reader] = {
        "vocabulary": partial(read_vocabulary, choices=choices),
        "merges": _read_merges,
        "unknown_token": read_text,
        "fuse_unk": read_boolean,
        "byte_fallback": read_boolean,
        "ignore_merges": read_boolean,
        "dropout": _read_dropout,
        "continuing_prefix": read_text,
        "end_of_word_suffix": read_text,
        "scores": _read_scores,
    }
    found = read_keys("a bpe model", given, readers)
    if "scores" in found:
        found["scores"] = _zip_scores(found["scores"], found.get("vocabulary", {}))
    model = Bpe(**found)
    merges: list[tuple[str, str]] = []
    for left, right in model.merges:  # BPE-MODEL-3
        product = join_symbols((left, right), model)
        missing = [token for token in (left, right, product) if token not in model.vocabulary]
        if missing and choices.merge_outside_vocabulary == "refused":
            refuse(f"merge {(left, right)!r} needs {missing[0]!r}, which is not in the vocabulary")
        if not missing:
            merges.append((left, right))
    return replace(model, merges=tuple(merges))


def _wordpiece(given: Mapping[str, Any], choices: Choices) -> WordPiece:
    readers: Mapping[str, Reader] = {
        "vocabulary": partial(read_vocabulary, choices=choices),
        "unknown_token": read_text,
        "continuing_prefix": read_text,  # WP-MODEL-2: it may be empty
        "max_word_length": partial(read_integer, smallest=1),  # WP-MODEL-3
    }
    return WordPiece(**read_keys("a wordpiece model", given, readers))


def _unigram(given: Mapping[str, Any], choices: Choices) -> Unigram:
    readers: Mapping[str, Reader] = {
        "tokens": _read_weights,
        "weights": read_option("frequency", "log_probability"),
        "unknown_token": read_text,
        "byte_fallback": read_boolean,
    }
    names = {"weights": "kind"}
    found = read_keys("a unigram model", given, readers)
    rows = found.pop("tokens", [])
    ids = read_vocabulary([token for token, _ in rows], choices)
    model = Unigram(dict(rows), **{names.get(key, key): value for key, value in found.items()})
    if len(ids) < len(rows):
        model = replace(model, ids=ids)
    if model.kind == "frequency":
        _check_frequencies(model)
    else:
        _check_logarithms(model)
    return model


def _check_frequencies(model: Unigram) -> None:
    for token, frequency in model.weights.items():
        if frequency < 0:  # UNI-MODEL-3
            refuse(f"the frequency of {token!r} is below zero")
    try:
        is_finite = sum(model.weights.values()) <= sys.float_info.max
    except OverflowError:  # an integer that is too large for a float is added to one
        is_finite = False
    if not is_finite:
        refuse("the sum of the frequencies is too large for floating point")


def _check_logarithms(model: Unigram) -> None:
    for token, logarithm in model.weights.items():
        if logarithm > math.log(sys.float_info.max):
            refuse(f"the probability of {token!r} is too large for floating point")


def _wordlevel(given: Mapping[str, Any], choices: Choices) -> WordLevel:
    readers: Mapping[str, Reader] = {
        "vocabulary": partial(read_vocabulary, choices=choices),
        "unknown_token": read_text,
    }
    return WordLevel(**read_keys("a wordlevel model", given, readers))


def read_piece_types(value: Any) -> dict[Kind, tuple[str, ...]]:
    """Return the tokens of each type that is not the ordinary one (SP-TYPE-1)."""
    found = read_keys("piece_types", read_mapping("piece_types", value), dict.fromkeys(PIECE_TYPES, read_tokens))
    return {kind: found[kind] for kind in PIECE_TYPES if found.get(kind)}


def set_types(model: Model, types: Mapping[Kind, tuple[str, ...]]) -> Model:
    """Give the tokens of a model their types; that of the unknown token needs no list (SP-TYPE-2)."""
    if not isinstance(model, Bpe | Unigram):
        refuse("piece_types are for models of the types bpe and unigram")
    kinds: dict[str, Kind] = {}
    vocabulary = model.vocabulary
    for kind, tokens in types.items():
        for token in tokens:
            if token in kinds or token == model.unknown_token:  # SP-TYPE-1
                refuse(f"{token!r} has two types of pieces, {kinds.get(token, 'unknown')} and {kind}")
            if token not in vocabulary:
                refuse(f"the {kind} piece {token!r} is not in the vocabulary")
            if not token:
                refuse(f"a {kind} piece is empty")
            if kind == "byte" and not BYTE_TOKEN.fullmatch(token):
                refuse(f"the byte piece {token!r} is not of the form <0x41>")
            kinds[token] = kind
    if model.unknown_token is not None and model.unknown_token in vocabulary:
        kinds[model.unknown_token] = "unknown"
    return replace(model, kinds=kinds)


MODELS: Mapping[str, Callable[[Mapping[str, Any], Choices], Model]] = {
    "bpe": _bpe,
    "wordpiece": _wordpiece,
    "unigram": _unigram,
    "wordlevel": _wordlevel,
}


# The parts of a model


def read_vocabulary(value: Any, choices: Choices) -> dict[str, int]:
    """Return the ids of a list of tokens, or of pairs of a token and its id (TERM-9)."""
    entries = read_list(value)
    if not any(isinstance(entry, list | tuple) for entry in entries):
        texts = [read_text(entry) for entry in entries]
        if len(set(texts)) < len(texts) and choices.duplicate_token == "last_place":  # TERM-10
            return number_tokens(texts)
        return number_tokens(read_tokens(entries))
    pairs = [read_pair(entry) for entry in entries]
    tokens = read_tokens([token for token, _ in pairs])
    found: dict[int, str] = {}
    for token, id in zip(tokens, (read_id(id) for _, id in pairs), strict=True):
        if id in found:
            refuse(f"{found[id]!r} and {token!r} have the id {id} both")
        found[id] = token
    return {token: id for id, token in found.items()}


def _read_merges(value: Any) -> tuple[tuple[str, str], ...]:
    return tuple((read_text(left), read_text(right)) for left, right in map(read_pair, read_list(value)))


def _read_dropout(value: Any) -> float:
    number = read_number(value)
    if not 0 <= number <= 1:  # BPE-DROPOUT-2
        refuse(f"the dropout {number} is not from 0 to 1")
    if 0 < number < 1:
        raise InputError("unsupported", f"the dropout {number} leaves out merges at random, which is not specified")
    return number


def _read_scores(value: Any) -> list[float]:
    return [read_number(score) for score in read_list(value)]


def _zip_scores(scores: Sequence[float], vocabulary: Mapping[str, int]) -> dict[str, float]:
    """Give every token of a vocabulary its score (SP-SCORE-2)."""
    if len(scores) != len(vocabulary):
        refuse(f"there are {len(scores)} scores, and {len(vocabulary)} tokens")
    return dict(zip(vocabulary, scores, strict=True))


def _read_weights(value: Any) -> list[tuple[str, float]]:
    return [(read_text(token), read_number(weight)) for token, weight in map(read_pair, read_list(value))]
