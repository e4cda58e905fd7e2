"""Reading ``tokenizer.json``, of the newer schema and the older, into the model of the fixtures.

Every key is accounted for: taken over, or of a value with which it changes nothing. What the specification does not
cover is refused, and named.

Reading back what the suite wrote gives the same model, but for this: frequencies are logarithms then, a model without
a type is an untrained BPE model, and an untrained model has no unknown token if it is Unigram.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tokspec.base.errors import DataError
from tokspec.formats.reading_stages import DECODERS, NORMALIZERS, PRE_TOKENIZERS, Kind, list_at, read_part, refuse_other
from tokspec.formats.vocabulary import by_id, tokens_of
from tokspec.formats.weights import is_weight

__all__ = ["read"]

FORMAT = "tokenizer.json"

#: Keys of the whole file that the specification has nothing for, and the values with which they say nothing.
_FIXED: Mapping[str, tuple[Any, ...]] = {
    "version": ("1.0",),
    "truncation": (None,),
    "padding": (None,),
    "post_processor": (None,),
}
_TAKEN = ("added_tokens", "normalizer", "pre_tokenizer", "decoder", "model")


def read(content: Any) -> dict[str, Any]:
    """Read the object of a ``tokenizer.json``.

    Raises:
        DataError: with the key of what is not covered or contradicts itself.

    >>> read({"model": {"type": "BPE", "vocab": {"u": 0, "g": 1, "ug": 2}, "merges": ["u g"]}})
    {'type': 'bpe', 'vocabulary': ['u', 'g', 'ug'], 'merges': [['u', 'g']]}
    >>> read({"model": {"type": "BPE", "vocab": {}, "merges": [], "dropout": 0.1}})
    ... # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: tokenizer.json: model.dropout: is 0.1, which the specification
        does not cover; it reads null
    """
    refuse_other(content, _FIXED, _TAKEN, "")
    model = _model(content.get("model"))
    for stage, kinds in (("normalizer", NORMALIZERS), ("pre_tokenizer", PRE_TOKENIZERS), ("decoder", DECODERS)):
        part = read_part(kinds, content.get(stage), stage)
        if part is not None:
            model[stage] = part
    special = _special_tokens(content, model)
    return {**model, "special_tokens": special} if special else model


def _model(part: Any) -> dict[str, Any]:
    found = read_part(_MODELS, part, "model")
    if found is None:
        raise DataError("is missing; a tokenizer.json has a model", FORMAT, key="model")
    model = _FINISH[found["type"]](found)
    return {key: value for key, value in model.items() if value is not None}


_MODELS: Mapping[str, Kind] = {
    "BPE": Kind(
        "bpe",
        takes={"vocab": "vocabulary", "merges": "merges", "unk_token": "unknown_token"},
        fixed={
            "dropout": (None,),
            "continuing_subword_prefix": (None, ""),
            "end_of_word_suffix": (None, ""),
            "fuse_unk": (False,),
            "byte_fallback": (False,),
            "ignore_merges": (False,),
        },
    ),
    "WordPiece": Kind(
        "wordpiece",
        takes={
            "vocab": "vocabulary",
            "unk_token": "unknown_token",
            "continuing_subword_prefix": "continuing_prefix",
            "max_input_chars_per_word": "max_word_length",
        },
    ),
    "Unigram": Kind("unigram", takes={"vocab": "tokens", "unk_id": "unknown_token"}, fixed={"byte_fallback": (False,)}),
}


def _bpe(model: dict[str, Any]) -> dict[str, Any]:
    listed = list_at(model, "merges", "model")
    merges = [_merge(merge, f"model.merges[{rank}]") for rank, merge in enumerate(listed)]
    tokens = by_id(model.get("vocabulary", {}), FORMAT, "model.vocab")
    return {**model, "vocabulary": tokens, "merges": merges} if tokens or merges else _untrained(model)


def _wordpiece(model: dict[str, Any]) -> dict[str, Any]:
    tokens = by_id(model.get("vocabulary", {}), FORMAT, "model.vocab")
    return {**model, "vocabulary": tokens} if tokens else _untrained(model)


def _untrained(model: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in model.items() if key not in ("vocabulary", "merges", "tokens")}


def _unigram(model: dict[str, Any]) -> dict[str, Any]:
    tokens, unknown = model.get("tokens"), model.get("unknown_token")
    if not isinstance(tokens, list) or not all(map(_is_weighted, tokens)):
        raise DataError("is no list of pairs of a token and a logarithm", FORMAT, key="model.vocab")
    if unknown is not None and (type(unknown) is not int or not 0 <= unknown < len(tokens)):
        raise DataError(f"is {unknown!r}, which is no id of the {len(tokens)} tokens", FORMAT, key="model.unk_id")
    model = {**model, "weights": "log_probability", "unknown_token": None if unknown is None else tokens[unknown][0]}
    return model if tokens else _untrained({**model, "weights": None})


def _is_weighted(entry: Any) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str) and is_weight(entry[1])


_FINISH: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "bpe": _bpe,
    "wordpiece": _wordpiece,
    "unigram": _unigram,
}


def _merge(merge: Any, key: str) -> list[str]:
    """Take a pair, or its older form: one string with a space between the tokens."""
    parts = merge.split(" ") if isinstance(merge, str) else merge
    if not isinstance(parts, list) or len(parts) != 2:
        raise DataError(f"is {merge!r}, which is no merge of two tokens", FORMAT, key=key)
    return parts


#: The flags of an added token and the values with which it is a special token as SPECIAL-1 to SPECIAL-3 have it.
_FLAGS: Mapping[str, tuple[Any, ...]] = {
    "single_word": (False,),
    "lstrip": (False,),
    "rstrip": (False,),
    "normalized": (False,),
    "special": (True,),
}


def _special_tokens(content: Mapping[str, Any], model: Mapping[str, Any]) -> list[str]:
    added = list_at(content, "added_tokens", "") if "added_tokens" in content else []
    ids = {token: id for id, token in enumerate(tokens_of(model))}
    return [_special_token(token, ids, index) for index, token in enumerate(added)]


def _special_token(token: Any, ids: Mapping[str, int], index: int) -> str:
    key = f"added_tokens[{index}]"
    refuse_other(token, _FLAGS, ("id", "content"), key)
    content, id = token.get("content"), token.get("id")
    if not isinstance(content, str):
        raise DataError("has no content", FORMAT, key=key)
    # Without a vocabulary the special tokens are all that has an id.
    if id != (ids.get(content) if ids else index):
        message = f"gives {content!r} the id {id}; the specification covers tokens of the model's own vocabulary only"
        raise DataError(message, FORMAT, key=key)
    return content
