"""The parts of a ``tokenizer.json`` as a grammar: what each kind is called in the fixtures, and what its keys are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tokspec.base.errors import DataError

__all__ = ["DECODERS", "NORMALIZERS", "PRE_TOKENIZERS", "Kind", "list_at", "read_part", "refuse_other"]

FORMAT = "tokenizer.json"


@dataclass(frozen=True)
class Kind:
    """What a part of the file is in the fixtures.

    ``takes`` gives the names of keys there; ``fixed`` gives the values with which a key says nothing, and with others
    it is refused; ``ignores`` are keys that say nothing whatever they are; ``members`` is the key of a list of parts.
    """

    type: str
    takes: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    ignores: tuple[str, ...] = ()
    members: tuple[str, str] = ("", "")
    finish: Callable[[Mapping[str, Any], dict[str, Any]], dict[str, Any]] = lambda part, found: found


def read_part(kinds: Mapping[str, Kind], part: Any, key: str) -> dict[str, Any] | None:
    """Read a part of one of the kinds; None if there is none.

    Raises:
        DataError: with the key, if the specification does not cover the part.

    >>> read_part(NORMALIZERS, {"type": "Sequence", "normalizers": [{"type": "NFC"}]}, "normalizer")
    {'type': 'sequence', 'normalizers': [{'type': 'nfc'}]}
    >>> read_part(NORMALIZERS, {"type": "Precompiled"}, "normalizer")
    ... # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: tokenizer.json: normalizer: is of type "Precompiled", which the specification does not
        cover; it reads NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, BertNormalizer, Sequence
    """  # noqa: E501
    if part is None:
        return None
    if not isinstance(part, Mapping):
        raise DataError("is no object", FORMAT, key=key)
    name = part.get("type")
    if not isinstance(name, str) or name not in kinds:
        raise _uncovered(f"is of type {_shown(name)}", kinds, key)
    kind = kinds[name]
    members, ours = kind.members
    refuse_other(part, kind.fixed, ("type", members, *kind.takes, *kind.ignores), key)
    found = {"type": kind.type, **{name: part[theirs] for theirs, name in kind.takes.items() if theirs in part}}
    if members:
        found[ours] = [
            read_part(kinds, member, f"{key}.{members}[{index}]")
            for index, member in enumerate(list_at(part, members, key))
        ]
    return kind.finish(part, found)


def list_at(part: Mapping[str, Any], name: str, key: str) -> list[Any]:
    """Return the list that a part has under a name.

    Raises:
        DataError: it has none there.

    >>> list_at({"merges": ["u g"]}, "merges", "model")
    ['u g']
    """
    found = part.get(name)
    if not isinstance(found, list):
        raise DataError("is no list", FORMAT, key=f"{key}.{name}".removeprefix("."))
    return found


def refuse_other(part: Any, fixed: Mapping[str, tuple[Any, ...]], known: Iterable[str], key: str) -> None:
    """Refuse keys that are neither known nor fixed, and values of fixed keys that say something.

    Raises:
        DataError: with the key.
    """
    if not isinstance(part, Mapping):
        raise DataError("is no object", FORMAT, key=key)
    for name, value in part.items():
        here = f"{key}.{name}".removeprefix(".")
        if name in fixed and value not in fixed[name]:
            raise _uncovered(f"is {_shown(value)}", map(_shown, fixed[name]), here)
        if name not in fixed and name not in known:
            raise DataError("is a key that the specification does not cover", FORMAT, key=here)


def _uncovered(what: str, covered: Iterable[str], key: str) -> DataError:
    return DataError(f"{what}, which the specification does not cover; it reads {', '.join(covered)}", FORMAT, key=key)


def _shown(value: Any) -> str:
    shown = json.dumps(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"


def _metaspace(part: Mapping[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Take the scheme of older versions, which said only whether the replacement is put before a text."""
    if "prepend_scheme" in found or part.get("add_prefix_space") is not False:
        return found
    return {**found, "prepend_scheme": "never"}


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


NORMALIZERS: Mapping[str, Kind] = {
    **{name: Kind(name.lower()) for name in ("NFC", "NFD", "NFKC", "NFKD")},
    "Lowercase": Kind("lowercase"),
    "StripAccents": Kind("strip_accents"),
    "BertNormalizer": Kind("bert", _same("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")),
    "Sequence": Kind("sequence", members=("normalizers", "normalizers")),
}
PRE_TOKENIZERS: Mapping[str, Kind] = {
    "BertPreTokenizer": Kind("bert"),
    # The trimming of offsets belongs to the post-processor of this name.
    "ByteLevel": Kind("byte_level", _same("add_prefix_space", "use_regex"), ignores=("trim_offsets",)),
    "Metaspace": Kind(
        "metaspace",
        _same("replacement", "prepend_scheme", "split"),
        ignores=("add_prefix_space", "str_rep"),
        finish=_metaspace,
    ),
    "WhitespaceSplit": Kind("whitespace_split"),
    "Sequence": Kind("sequence", members=("pretokenizers", "pre_tokenizers")),
}
DECODERS: Mapping[str, Kind] = {
    "ByteLevel": Kind("byte_level", ignores=("add_prefix_space", "trim_offsets", "use_regex")),
    # Whether the space at the start stays is the choice metaspace_leading_space, and not of the model.
    "Metaspace": Kind(
        "metaspace",
        _same("replacement"),
        {"prepend_scheme": ("always", "first"), "add_prefix_space": (True,)},
        ("split", "str_rep"),
    ),
    "WordPiece": Kind("wordpiece", _same("prefix"), {"cleanup": (False,)}),
}
