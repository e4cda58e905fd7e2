"""The model in a ``tokenizer.json`` and its added tokens, which both define tokens and their ids.

A model without a type is the first of BPE, WordPiece, WordLevel and Unigram that fits, as in tokenizers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokspec.base.errors import Unsupported
from tokspec.formats import is_as_before_limits
from tokspec.formats.neutral import added_tokens_of, by_id, ids_of, is_weight, log_probabilities
from tokspec.formats.tokenizer_json.fields import (
    BOOLEAN,
    COUNT,
    FORMAT,
    ID,
    NOTHING,
    TEXT,
    Component,
    Field,
    Form,
    Kinds,
    at,
    checked,
    list_of,
    object_at,
    optional,
    read_component,
    read_part,
    same,
    show,
    write_component,
    write_part,
    wrong,
)


def _read_merges(value: Any, key: str) -> list[list[str]]:
    """Read merges: pairs, or in the older form strings with a space between the tokens, perhaps with a version line."""
    if not isinstance(value, list):
        raise wrong("is not a list", key)
    joined = bool(value) and isinstance(value[0], str)
    what = "two tokens with a space between them" if joined else "a pair of tokens"
    merges = []
    for index, merge in enumerate(value):
        if joined and isinstance(merge, str) and merge.startswith("#version"):
            continue
        parts = merge if not joined else merge.split(" ") if isinstance(merge, str) else None
        if not (isinstance(parts, list) and len(parts) == 2 and all(isinstance(part, str) for part in parts)):
            raise wrong(f"is {show(merge)}, which is not {what}", f"{key}[{index}]")
        merges.append(list(parts))
    return merges


def _read_weighted(value: Any, key: str) -> list[list[Any]]:
    """Read the tokens of a Unigram model with their logarithms."""
    if not isinstance(value, list):
        raise wrong("is not a list of pairs of a token and a logarithm", key)
    for index, entry in enumerate(value):
        if not (isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str) and is_weight(entry[1])):
            raise wrong(f"is {show(entry)}, which is not a pair of a token and a logarithm", f"{key}[{index}]")
    return [list(entry) for entry in value]


_VOCABULARY = Field("vocab", "vocabulary", Form(lambda value, key: by_id(value, FORMAT, key)))
_AFFIX = Form(lambda value, key: optional(TEXT).read(value, key) or None)
_FLAG = Form(lambda value, key: bool(optional(BOOLEAN).read(value, key)), bool, BOOLEAN.values)
_DROPOUT = checked(
    "null, 0 or 1, and dropout between them chooses merges at random, which the specification does not cover",
    lambda value: value is None or (type(value) in (int, float) and value in (0, 1)),
)
_BPE = Component(
    "BPE",
    "bpe",
    (
        Field("dropout", "dropout", Form(lambda value, key: _DROPOUT.read(value, key) or None), None, None),
        Field("unk_token", "unknown_token", optional(TEXT), None, None),
        Field("continuing_subword_prefix", "continuing_prefix", _AFFIX, None, None),
        Field("end_of_word_suffix", "end_of_word_suffix", _AFFIX, None, None),
        Field("fuse_unk", "fuse_unk", _FLAG, False),
        *(Field(name, name, _FLAG, False, False) for name in ("byte_fallback", "ignore_merges")),
        _VOCABULARY,
        Field("merges", "merges", Form(_read_merges)),
    ),
)
_WORDPIECE = Component(
    "WordPiece",
    "wordpiece",
    (
        Field("unk_token", "unknown_token", TEXT),
        Field("continuing_subword_prefix", "continuing_prefix", TEXT),
        Field("max_input_chars_per_word", "max_word_length", COUNT),
        _VOCABULARY,
    ),
)
_WORDLEVEL = Component("WordLevel", "wordlevel", (Field("unk_token", "unknown_token", TEXT), _VOCABULARY))
_UNIGRAM = Component(
    "Unigram",
    "unigram",
    (
        Field("unk_id", "unknown_token", optional(COUNT), None, None),
        Field("byte_fallback", "byte_fallback", BOOLEAN, False, False),
        Field("vocab", "tokens", Form(_read_weighted)),
    ),
)
MODELS = Kinds((_BPE, _WORDPIECE, _WORDLEVEL, _UNIGRAM))


def read_model(part: Any) -> dict[str, Any]:
    """Read the model; if it has no tokens, it is not trained, and the vocabulary is left out.

    Raises:
        DataError: a value is missing or wrong; the error has its key.

    >>> read_model({"vocab": {"u": 0, "g": 4}, "merges": ["u g"]})
    {'type': 'bpe', 'vocabulary': [['u', 0], ['g', 4]], 'merges': [['u', 'g']]}
    """
    found = read_part(MODELS, {"type": _implied_type(part), **part} if isinstance(part, Mapping) else part, "model")
    if found["type"] == "unigram":
        found = _named_unknown(found)
    if "unknown_token" not in found and found.get("fuse_unk") is False:
        del found["fuse_unk"]  # there is nothing to fuse; with an unknown token, leaving it out would be a choice
    if found.get("vocabulary") or found.get("tokens") or found.get("merges"):
        return found
    return {key: value for key, value in found.items() if key not in ("vocabulary", "merges", "tokens", "weights")}


def _implied_type(part: Mapping[str, Any]) -> str:
    """Return the type of a model that does not state it, by its vocabulary and the keys that each type requires."""
    if isinstance(part.get("vocab"), list):
        return "Unigram"
    for component in (_BPE, _WORDPIECE, _WORDLEVEL):
        if all(field.theirs in part for field in component.fields if field.absent is NOTHING):
            return component.theirs
    return "BPE"


def _named_unknown(found: dict[str, Any]) -> dict[str, Any]:
    tokens, unknown = found["tokens"], found.pop("unknown_token", None)
    found["weights"] = "log_probability"
    if unknown is None:
        return found
    if unknown >= len(tokens):
        raise wrong(f"is {unknown}, which is not an id of the {len(tokens)} tokens", "model.unk_id")
    return {**found, "unknown_token": tokens[unknown][0]}


#: The vocabulary of a file whose model has only stages. The file has to have a model, and even a reader that loads
#: every published file may refuse a model without a token; no stage looks at it.
_STAGES_ALONE = {"<unk>": 0}


def write_model(model: Mapping[str, Any]) -> dict[str, Any]:
    """Write the model.

    Raises:
        Unsupported: it cannot be expressed.
    """
    ids, kind = ids_of(model), model.get("type", "bpe")
    if "type" not in model and not is_as_before_limits():
        ids = {token["content"]: token["id"] for token in added_tokens_of(model)} or _STAGES_ALONE
    if len(ids) < len(model.get("vocabulary") or ()):
        raise Unsupported(f"the vocabulary lists a token twice, and {FORMAT} has it as keys of an object")
    said = {**model, "type": kind, "vocabulary": ids, "merges": model.get("merges", [])}
    if kind == "unigram":
        unknown = model.get("unknown_token")
        if unknown is not None and ids and unknown not in ids:
            raise Unsupported(f"the unknown token {unknown!r} is not in the vocabulary, and {FORMAT} wants its id")
        said["unknown_token"] = None if unknown is None else ids.get(unknown)
        said["tokens"] = log_probabilities(model, FORMAT)
    return write_part(MODELS, said)


ADDED_TOKEN = Component(
    "",
    "",
    (
        Field("id", "id", ID),
        Field("content", "content", TEXT),
        *same(("single_word", "lstrip", "rstrip", "normalized", "special"), BOOLEAN),
    ),
)
_OBJECTS = list_of(Form(object_at))
#: The flags of a token that the fixtures list by its content alone.
_SHORT = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


def read_added_tokens(listed: Any, model: Mapping[str, Any]) -> dict[str, Any]:
    """Read the added tokens, and return them as the ``special_tokens`` or the ``added_tokens`` of the model.

    Raises:
        DataError: a value is missing or wrong; the error has its key.

    >>> token = {"id": 0, "content": "<s>", **_SHORT}
    >>> read_added_tokens([token], {"type": "bpe", "vocabulary": ["<s>"]})
    {'special_tokens': ['<s>']}
    >>> read_added_tokens([token], {"type": "bpe", "vocabulary": ["u"]})
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: tokenizer.json: added_tokens[0].id: is 0, the id of "u" too
    """
    ids = ids_of(model)
    tokens = {id: token for token, id in ids.items()}
    keys: dict[str, str] = {}
    found, short = [], True
    for index, value in enumerate(_OBJECTS.read(listed, "added_tokens")):
        key = f"added_tokens[{index}]"
        added = read_component(ADDED_TOKEN, value, key)
        content, id = added["content"], added["id"]
        if not content:
            raise wrong("is empty", at(key, "content"))
        if content in keys:
            raise wrong(f"is {show(content)}, as that of {keys[content]}", at(key, "content"))
        if ids.get(content, id) != id:
            raise wrong(f"is {id}, and {show(content)} has the id {ids[content]} in the vocabulary", at(key, "id"))
        if tokens.setdefault(id, content) != content:
            raise wrong(f"is {id}, the id of {show(tokens[id])} too", at(key, "id"))
        keys[content] = key
        found.append(added)
        plain = all(added[flag] == value for flag, value in _SHORT.items())
        # Without a vocabulary, only the special tokens have ids.
        short = short and plain and (content in ids if ids else id == index)
    if not found:
        return {}
    return {"special_tokens": [token["content"] for token in found]} if short else {"added_tokens": found}


def write_added_tokens(model: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Write the added tokens in the order of their ids, because tokenizers numbers those outside the vocabulary so.

    Raises:
        Unsupported: one has no id.
    """
    added = added_tokens_of(model)
    for token in added:
        if token["id"] is None:
            kind = "special" if token["content"] in model.get("special_tokens", ()) else "added"
            raise Unsupported(f"the {kind} token {token['content']!r} is not in the vocabulary")
    return [write_component(ADDED_TOKEN, token) for token in sorted(added, key=lambda token: token["id"])]
