"""A tokenizer: the model, the stages around it and the added tokens, which the others have to agree with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tokref.choices import Choices
from tokref.errors import brief
from tokref.reading.components import (
    read_decoder,
    read_normalizer,
    read_padding,
    read_post_processor,
    read_pre_tokenizer,
    read_truncation,
)
from tokref.reading.models import MODELS, read_piece_types, set_types
from tokref.reading.shapes import (
    Reader,
    read_boolean,
    read_id,
    read_keys,
    read_list,
    read_mapping,
    read_text,
    read_tokens,
    refuse,
    without_none,
)
from tokref.values import AddedToken, Kind, Model, Tokenizer


def from_mapping(content: Mapping[str, Any], choices: Choices = Choices()) -> Tokenizer:  # noqa: B008 - immutable
    """Read a model as ``fixtures/schema.json`` describes it.

    Raises:
        InputError: ``invalid_model``, naming the key or token at fault; ``unsupported``, for a component that is
            nested too deeply.

    >>> from_mapping({"type": "bpe", "vocabulary": ["a"], "merges": [["a", "b"]]})
    Traceback (most recent call last):
        ...
    tokref.errors.InputError: invalid_model: merge ('a', 'b') needs 'b', which is not in the vocabulary
    """
    given = without_none(read_mapping("the model", content))
    given.pop("about", None)
    stages = {key: reader(given.pop(key)) for key, reader in _STAGES.items() if key in given}
    kind = given.pop("type", None)
    special_tokens = stages.pop("special_tokens", ())
    if kind is None and not given:
        added_tokens = add_ids((*special_tokens, *stages.pop("added_tokens", ())), {})
        return Tokenizer(added_tokens=added_tokens, **stages)
    if not isinstance(kind, str) or kind not in MODELS:
        refuse(f"type {brief(kind)} is unknown; give one of {', '.join(MODELS)}")
    has_types = "piece_types" in given
    types = read_piece_types(given.pop("piece_types", {}))
    model = MODELS[kind](given, choices)
    if has_types:  # SP-TYPE-2: the unknown token has a type, even if no other has
        model = set_types(model, types)
    _tell_types(stages, model, types)
    added_tokens = add_ids((*special_tokens, *stages.pop("added_tokens", ())), model.vocabulary)
    return Tokenizer(model, added_tokens=added_tokens, **stages)


def _tell_types(stages: dict[str, Any], model: Model, types: Mapping[Kind, tuple[str, ...]]) -> None:
    """Tell SentencePiece's normalizer and decoder which types the tokens have (SP-NORM-2, SP-DEC-1)."""
    told: Mapping[str, Mapping[str, Any]] = {
        "normalizer": {"symbols": types.get("user_defined", ())},
        "decoder": {
            "control": types.get("control", ()),
            "byte": types.get("byte", ()),
            "unknown_token": model.unknown_token,
        },
    }
    for stage, parameters in told.items():
        component = stages.get(stage)
        if component is not None and component.type == "sentencepiece":
            stages[stage] = replace(component, parameters={**component.parameters, **parameters})


def read_special_tokens(value: Any) -> tuple[AddedToken, ...]:
    """Return the short form of added tokens, whose flags are the defaults (ADDED-14)."""
    tokens = read_tokens(value)
    if "" in tokens:  # SPECIAL-5
        refuse("a special token is empty")
    return tuple(AddedToken(token) for token in tokens)


def _read_added_token(value: Any) -> AddedToken:
    flags = ("special", "normalized", "lstrip", "rstrip", "single_word")
    readers: dict[str, Reader] = {"content": read_text, "id": read_id, **dict.fromkeys(flags, read_boolean)}
    found = read_keys("an added token", read_mapping("an added token", value), readers)
    if not found.get("content"):  # ADDED-14
        refuse(f"the added token {brief(value)} has no content")
    return AddedToken(**found)


def read_added_tokens(value: Any) -> tuple[AddedToken, ...]:
    return tuple(map(_read_added_token, read_list(value)))


def add_ids(added_tokens: Sequence[AddedToken], vocabulary: Mapping[str, int]) -> tuple[AddedToken, ...]:
    """Give every added token the id that it has in the vocabulary, or check its own (ADDED-14).

    Where there is no vocabulary, as for training, it needs none.
    """
    ids, known = {id: token for token, id in vocabulary.items()}, dict[str, AddedToken]()
    for token in added_tokens:
        is_short = token == AddedToken(token.content)
        what = f"{'special' if is_short else 'added'} token {token.content!r}"
        id = vocabulary.get(token.content, token.id)  # ADDED-12, ADDED-13
        if token.content in known:  # ADDED-14
            refuse(f"{what} is listed twice")
        if vocabulary and id is None:  # SPECIAL-5
            refuse(f"{what} is not in the vocabulary{'' if is_short else ' and has no id'}")
        if token.id is not None and token.id != id:
            refuse(f"{what} has the id {token.id}, and {id} in the vocabulary")
        if id is not None and ids.setdefault(id, token.content) != token.content:
            refuse(f"{what} has the id {id}, which is that of {ids[id]!r}")
        known[token.content] = replace(token, id=id)
    return tuple(known.values())


_STAGES: Mapping[str, Reader] = {
    "normalizer": read_normalizer,
    "pre_tokenizer": read_pre_tokenizer,
    "decoder": read_decoder,
    "special_tokens": read_special_tokens,
    "added_tokens": read_added_tokens,
    "post_processor": read_post_processor,
    "truncation": read_truncation,
    "padding": read_padding,
}
