"""A tokenizer that is an object in this process, asked as its user would ask it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tokspec.adapter import Hello, Unsupported, require_unicode
from tokspec.formats.user_model import UserModel

__all__ = ["ObjectAdapter", "model_of"]

#: The format that stands for an object that needs no loading.
_FORMAT = "object"


class ObjectAdapter:
    """Calls ``encode`` and ``decode`` of an object, or the object itself, with nothing but a text or ids.

    ``encode`` may return ids, tokens, or what Hugging Face tokenizers return. Stages are asked of an object that has
    them as ``normalizer`` and ``pre_tokenizer``.

    >>> adapter = ObjectAdapter(lambda text: text.split())
    >>> adapter.run("encode", None, {"text": "a bug"})
    {'tokens': ['a', 'bug']}
    >>> adapter.hello().operations
    ('encode',)
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def hello(self) -> Hello:
        """Describe the object by its type, and by the package that it comes from."""
        kind = type(self._tokenizer)
        offered = tuple(name for name, find in _FINDERS.items() if find(self._tokenizer) is not None)
        try:
            release = version(kind.__module__.partition(".")[0])
        except PackageNotFoundError:
            release = ""
        fields = ("tokens", "ids", "spans")
        return Hello(_name(self._tokenizer), release, "Python", offered, (_FORMAT,), encode_fields=fields)

    def load(self, format: str, content: Any) -> None:
        """Do nothing: the object is there."""

    def run(self, operation: str, model: None, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Perform an operation.

        Raises:
            Unsupported: the object has no such stage, or takes nothing of that kind.
        """
        require_unicode(input)
        call = _FINDERS[operation](self._tokenizer)
        if call is None:
            raise Unsupported(f"{_name(self._tokenizer)} has nothing for {operation}")
        return _RESULTS[operation](call, input)


def model_of(tokenizer: Any) -> UserModel:
    """Return what stands for the object's model: its hash is of what the object says of itself, if it says anything.

    >>> model_of(lambda text: text.split()).name
    '<lambda>'
    """
    said = ""
    for name in ("to_str", "get_vocab"):
        if callable(method := getattr(tokenizer, name, None)):
            said = json.dumps(method(), sort_keys=True, default=repr)
            break
    return UserModel(_FORMAT, {}, _name(tokenizer), hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest())


def _name(tokenizer: Any) -> str:
    kind = type(tokenizer)
    return getattr(tokenizer, "__name__", "") or f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def _encode_of(tokenizer: Any) -> Any:
    return getattr(tokenizer, "encode", None) or (tokenizer if callable(tokenizer) else None)


def _stage(stage: str, method: str) -> Callable[[Any], Any]:
    return lambda tokenizer: getattr(getattr(tokenizer, stage, None), method, None)


_FINDERS: Mapping[str, Callable[[Any], Any]] = {
    "normalize": _stage("normalizer", "normalize_str"),
    "pre_tokenize": _stage("pre_tokenizer", "pre_tokenize_str"),
    "encode": _encode_of,
    "decode": lambda tokenizer: getattr(tokenizer, "decode", None),
}


def _encoded(call: Callable[[str], Any], input: Mapping[str, Any]) -> dict[str, Any]:
    found = call(input["text"])
    if hasattr(found, "ids") and hasattr(found, "tokens") and hasattr(found, "offsets"):
        return {"tokens": list(found.tokens), "ids": list(found.ids), "spans": list(found.offsets)}
    found = list(found)
    if all(isinstance(each, str) for each in found):
        return {"tokens": found}
    return {"ids": [int(each) for each in found]}


def _decoded(call: Callable[[Any], Any], input: Mapping[str, Any]) -> dict[str, Any]:
    if "ids" not in input:
        raise Unsupported("decodes ids")
    return {"text": call(input["ids"])}


_RESULTS: Mapping[str, Callable[[Any, Mapping[str, Any]], Mapping[str, Any]]] = {
    "normalize": lambda call, input: {"text": call(input["text"])},
    "pre_tokenize": lambda call, input: {"pieces": [(piece, *span) for piece, span in call(input["text"])]},
    "encode": _encoded,
    "decode": _decoded,
}
