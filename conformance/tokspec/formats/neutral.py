"""The suite's own format, ``tokspec``: the model as the fixtures write it, with every default filled in.

It expresses every model. Parts that a model lacks (a normalizer, an unknown token, the vocabulary of an untrained
model) are absent; ``about`` is for readers of the fixtures and is left out.

This module also has functions that the other formats use on a model in this form: its tokens in the order of their ids,
whether it is trained, and the weights of a Unigram model as logarithms, which every format except this one holds
(UNI-PROB-1).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum, log
from sys import float_info
from typing import Any

from tokspec.base.display import compact, shorten, visible
from tokspec.base.errors import DataError, Unsupported
from tokspec.suite.components import covers, members_of, needed_components, row_of

_STAGES = ("normalizer", "pre_tokenizer", "post_processor", "decoder")


def fill_defaults(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a deep copy of a model with every default filled in and without its ``about``.

    >>> fill_defaults({"about": "a toy", "type": "wordpiece", "decoder": {"type": "wordpiece"}})
    ... # doctest: +NORMALIZE_WHITESPACE
    {'type': 'wordpiece', 'unknown_token': '[UNK]', 'continuing_prefix': '##', 'max_word_length': 100,
     'decoder': {'type': 'wordpiece', 'prefix': '##'}}
    """
    model = _with_defaults("model", content)
    model.pop("about", None)
    for stage in _STAGES:
        if stage in model:
            model[stage] = _filled(stage, model[stage])
    for part in ("truncation", "padding"):
        if part in model:
            model[part] = _with_defaults(part, model[part])
    if "added_tokens" in model:
        model["added_tokens"] = [_with_defaults("added_token", token) for token in model["added_tokens"]]
    return {key: _copied(value) for key, value in model.items()}


def read(content: Any) -> dict[str, Any]:
    """Return a content as a model.

    Raises:
        DataError: it is not an object.

    >>> read({"type": "bpe"})
    {'type': 'bpe'}
    """
    if not isinstance(content, Mapping):
        raise DataError("is not an object", "tokspec")
    return dict(content)


def _copied(value: Any) -> Any:
    """Copy a JSON value deeply; copy.deepcopy is slow, and a vocabulary is long."""
    if isinstance(value, Mapping):
        return {key: _copied(member) for key, member in value.items()}
    return (
        [_copied(member) if isinstance(member, list) else member for member in value]
        if isinstance(value, list)
        else value
    )


def _filled(stage: str, part: Mapping[str, Any]) -> dict[str, Any]:
    filled, members = _with_defaults(stage, part), members_of(stage)
    if members in filled:
        filled[members] = [_filled(stage, member) for member in filled[members]]
    for template in ("single", "pair"):
        if template in filled:
            filled[template] = [{"type_id": 0, **item} for item in filled[template]]
    return filled


def _with_defaults(stage: str, part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part with the defaults of its type after its ``type``, overridden by the part's own values."""
    kind = {"type": part["type"]} if "type" in part else {}
    return {**kind, **row_of(stage, part.get("type", "")).defaults, **part}


def ids_of(model: Mapping[str, Any]) -> dict[str, int]:
    """Return the id of every token in the vocabulary of a model of any type (TERM-9); none if it is not trained.

    >>> ids_of({"type": "unigram", "tokens": [["h", 15], ["u", 36]]})
    {'h': 0, 'u': 1}
    >>> ids_of({"type": "bpe", "vocabulary": [["u", 4], ["h", 2]]})
    {'u': 4, 'h': 2}
    """
    if has_ids(model):
        return dict(model["vocabulary"])
    return {token: position for position, token in enumerate(tokens_in_id_order(model))}


def has_ids(model: Mapping[str, Any]) -> bool:
    """Return whether the vocabulary of a model lists tokens with their ids, which are not their positions.

    >>> has_ids({"vocabulary": [["u", 4]]}), has_ids({"vocabulary": ["u"]})
    (True, False)
    """
    vocabulary = model.get("vocabulary") or [None]
    return isinstance(vocabulary[0], list)


def tokens_in_id_order(model: Mapping[str, Any]) -> list[str]:
    """Return the tokens in the vocabulary of a model of any type in the order of their ids.

    >>> tokens_in_id_order({"type": "bpe", "vocabulary": [["u", 4], ["h", 2]]})
    ['h', 'u']
    """
    if has_ids(model):
        return [token for token, _ in sorted(model["vocabulary"], key=lambda entry: entry[1])]
    return list(model.get("vocabulary") or [token for token, _ in model.get("tokens", [])])


def added_tokens_of(model: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the special and the added tokens of a model, all as added tokens, with flags and ids.

    Without a vocabulary, special tokens are numbered, because nothing else has an id. A token without an id gets none.

    >>> added_tokens_of({"vocabulary": ["<s>"], "special_tokens": ["<s>"]})
    ... # doctest: +NORMALIZE_WHITESPACE
    [{'special': True, 'normalized': False, 'lstrip': False, 'rstrip': False, 'single_word': False,
      'content': '<s>', 'id': 0}]
    """
    special = model.get("special_tokens", [])
    ids = ids_of(model) or {token: position for position, token in enumerate(special)}
    listed = [*({"content": token} for token in special), *model.get("added_tokens", [])]
    flags = row_of("added_token").defaults
    return [{**flags, **token, "id": token.get("id", ids.get(token["content"]))} for token in listed]


def refuse_untrained(model: Mapping[str, Any], format: str, *types: str) -> None:
    """Refuse a model that has none of the types, or no vocabulary.

    Raises:
        Unsupported: the format cannot hold the model; the message says what it holds.

    >>> refuse_untrained({"type": "bpe"}, "vocab.txt", "wordpiece")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.Unsupported: unsupported: vocab.txt holds wordpiece models, and this one is of type bpe
    """
    kind = model.get("type")
    if kind not in types:
        what = "has no type" if kind is None else f"is of type {kind}"
        raise Unsupported(f"{format} holds {' and '.join(types)} models, and this one {what}")
    if not tokens_in_id_order(model):
        raise Unsupported(f"{format} holds a vocabulary, and this model is not trained")


def refuse_ids(model: Mapping[str, Any], format: str) -> None:
    """Refuse a model whose vocabulary has ids.

    Raises:
        Unsupported: in the format, a token's id is its position.
    """
    if has_ids(model):
        raise Unsupported(f"{format} has no ids: they are the positions of its tokens, and those of this model are not")


def refuse_components(model: Mapping[str, Any], format: str, *expressed: str) -> None:
    """Refuse a model that needs components, as ``hello`` names them, other than those that the format expresses.

    Raises:
        Unsupported: there is one; the message names the first.

    >>> refuse_components({"truncation": {"max_length": 9}}, "vocab.gguf", "decoder")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.Unsupported: unsupported: vocab.gguf has no place for truncation, which this model needs
    """
    for name in needed_components(model):
        if not covers(expressed, name):
            raise Unsupported(f"{format} has no place for {name}, which this model needs")


def by_id(ids: Any, file: str, key: str = "") -> list[Any]:
    """Return the tokens of an object from token to id in the order of ids, with the ids unless these are positions.

    Raises:
        DataError: an id is not an integer of 32 bits, or two tokens have it.

    >>> by_id({"b": 1, "a": 0}, "vocab.json"), by_id({"b": 4, "a": 0}, "vocab.json")
    (['a', 'b'], [['a', 0], ['b', 4]])
    >>> by_id({"a": 1, "b": 1}, "vocab.json")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: vocab.json: b: is 1, the id of "a" too
    """
    if not isinstance(ids, Mapping):
        raise DataError("is not an object", file, key=key)
    tokens: dict[int, str] = {}
    for token, id in ids.items():
        if type(id) is not int or not 0 <= id < 2**32:
            message = f"is {shorten(compact(id))}, which is not an integer from 0 to 4294967295"
        elif id in tokens:
            message = f"is {id}, the id of {shorten(compact(tokens[id]))} too"
        else:
            tokens[id] = token
            continue
        raise DataError(message, file, key=f"{key}.{shorten(visible(token))}".removeprefix("."))
    pairs = sorted(tokens.items())
    if all(id == position for position, (id, _) in enumerate(pairs)):
        return [token for _, token in pairs]
    return [[token, id] for id, token in pairs]


def is_weight(value: Any) -> bool:
    """Return whether a value that was read is a number that a double can hold.

    >>> [is_weight(value) for value in (-1.5, 0, True, "1", float("nan"), 10**400)]
    [True, True, False, False, False, False]
    """
    return type(value) in (int, float) and abs(value) <= float_info.max


def log_probabilities(model: Mapping[str, Any], format: str) -> list[list[Any]]:
    """Return [token, natural logarithm of its probability] for the tokens of a model with every default filled in.

    Raises:
        Unsupported: a frequency of 0 has no logarithm.

    >>> log_probabilities({"tokens": [["a", 1], ["b", 1]], "weights": "frequency"}, "tokenizer.json")
    [['a', -0.6931471805599453], ['b', -0.6931471805599453]]
    """
    tokens = model.get("tokens", [])
    if model["weights"] == "log_probability":
        return [[token, weight] for token, weight in tokens]
    total = fsum(weight for _, weight in tokens)
    without = [token for token, weight in tokens if weight <= 0]
    if without:
        raise Unsupported(f"the frequency of {without[0]!r} has no logarithm, and {format} holds logarithms")
    return [[token, log(weight / total)] for token, weight in tokens]
