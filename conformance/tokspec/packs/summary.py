"""A model in short: what a pack says of it, and what two are compared by without being there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from tokspec.base.errors import Unsupported
from tokspec.formats.neutral import added_tokens_of, ids_of
from tokspec.formats.user_model import UserModel

__all__ = ["Parts", "parts_of", "summary"]

#: Characters of a setting that is given as it is; a longer one, such as a compiled table, by its hash.
_LONGEST = 200

#: The keys of a tokenizer.json that are no settings, and of the model in it.
_NO_SETTINGS = ("model", "added_tokens", "version")
_LISTS = ("vocab", "merges")


class Parts:
    """What a model consists of: tokens by id, merges in order, special tokens by id, and settings by path."""

    def __init__(
        self, vocabulary: Mapping[int, str], merges: list[Any], special: Mapping[int, str], settings: dict[str, Any]
    ) -> None:
        self.vocabulary, self.merges, self.special, self.settings = vocabulary, merges, special, settings


def parts_of(own: UserModel) -> Parts:
    """Take a model apart; one that cannot be looked into has no parts.

    >>> own = UserModel("vocab.txt", {"files": {"vocab.txt": "[UNK]\\nhug"}}, "bert.txt", "")
    >>> parts_of(own).vocabulary
    {0: '[UNK]', 1: 'hug'}
    """
    if own.format.startswith("tokenizer.json"):
        return _of_object(own.content)
    try:
        model = own.neutral
    except Unsupported:
        return Parts({}, [], {}, {})
    vocabulary = {id: token for token, id in ids_of(model).items()}
    special = {token["id"]: token["content"] for token in added_tokens_of(model) if token["id"] is not None}
    lists = ("vocabulary", "tokens", "merges", "special_tokens", "added_tokens")
    settings = {key: value for key, value in model.items() if key not in lists}
    return Parts(vocabulary, model.get("merges", []), special, _flat(settings))


def _of_object(content: Mapping[str, Any]) -> Parts:
    model = content["model"]
    vocab = model.get("vocab") or {}
    listed = enumerate(entry[0] for entry in vocab) if isinstance(vocab, list) else ((i, t) for t, i in vocab.items())
    added = [token for token in content.get("added_tokens") or [] if isinstance(token, dict)]
    special = {token["id"]: token["content"] for token in added}
    flags = {f"added_tokens.{token['content']}": _flags(token) for token in added}
    settings = {key: value for key, value in content.items() if key not in _NO_SETTINGS}
    settings["model"] = {key: value for key, value in model.items() if key not in _LISTS}
    if isinstance(vocab, list):
        settings["model"]["scores"] = _digest(vocab)
    merges = [merge.split(" ") if isinstance(merge, str) else merge for merge in model.get("merges") or []]
    return Parts({**dict(sorted(listed)), **special}, merges, special, {**_flat(settings), **flags})


def _flags(token: Mapping[str, Any]) -> str:
    return " ".join(key for key, value in sorted(token.items()) if value is True)


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Return every setting by its path; long ones by their hashes."""
    if isinstance(value, Mapping) and value:
        return {key: each for name, inner in value.items() for key, each in _flat(inner, f"{path}{name}.").items()}
    if isinstance(value, list) and value:
        return {key: each for index, inner in enumerate(value) for key, each in _flat(inner, f"{path}{index}.").items()}
    short = not isinstance(value, str) or len(value) <= _LONGEST
    return {path.removesuffix("."): value if short else f"sha256 {_digest(value)}"}


def summary(own: UserModel) -> dict[str, Any]:
    """Return what a pack says of a model: its file by name and hash, its sizes, hashes, special tokens and settings."""
    parts = parts_of(own)
    return {
        "file": own.name,
        "format": own.format,
        "sha256": own.sha256,
        "vocabulary": {"size": len(parts.vocabulary), "sha256": _digest(sorted(parts.vocabulary.items()))},
        "merges": {"size": len(parts.merges), "sha256": _digest(parts.merges)},
        "special_tokens": {str(id): token for id, token in sorted(parts.special.items())},
        "settings": parts.settings,
    }


def _digest(value: str | Iterable[Any]) -> str:
    text = value if isinstance(value, str) else json.dumps(list(value), separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
