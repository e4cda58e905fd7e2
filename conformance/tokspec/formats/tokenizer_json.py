"""``tokenizer.json``: the object that Hugging Face tokenizers save and that many ports load, written and read.

A model without a type, which has stages only, is written with an empty BPE model, and an untrained model with an empty
vocabulary: both load, and their stages work.

It cannot express, and the writer refuses as ``unsupported``:

* a lone surrogate, in any string;
* a special token, or a Unigram model's unknown token, that is not in the vocabulary: its id would have no entry;
* a Unigram model with a frequency of 0, whose logarithm is no number;
* a decoder that keeps the space at the start of the text: the format ties that to a flag of the decoder, and the
  writer takes what the library itself writes (the choice ``metaspace_leading_space``).

``tokenizer.json-legacy`` is the object as the library wrote and read it before 0.20, and as many ports still know it.
There are two differences: a merge is one string, its tokens with a space between them, and a metaspace says
``add_prefix_space`` beside the scheme that versions since 0.15 know. It cannot express, besides what the newer cannot:

* a merge of a token with a space in it;
* a metaspace that puts its replacement at the start of the input only, or does not split.

The reader takes both schemas. Every key is accounted for: taken over, or of a value with which it changes nothing. What
the specification does not cover is refused, and named. Reading back what the suite wrote gives the same model, but for
this: frequencies are logarithms then, a model without a type is an untrained BPE model, and an untrained model has no
unknown token if it is Unigram.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tokspec.base.errors import DataError, Unsupported
from tokspec.formats.files import refuse_surrogates
from tokspec.formats.neutral import by_id, fill_defaults, is_weight, log_probabilities, tokens_of

__all__ = ["read", "write", "write_legacy"]

FORMAT = "tokenizer.json"
Part: TypeAlias = Mapping[str, Any]
Writer: TypeAlias = Callable[[Part], dict[str, Any]]


def write(content: Part) -> dict[str, Any]:
    """Write a model of the fixtures as the object of a ``tokenizer.json``.

    Raises:
        Unsupported: the format cannot express the model.

    >>> write({"type": "bpe", "vocabulary": ["u", "g", "ug"], "merges": [["u", "g"]]})["model"]["vocab"]
    {'u': 0, 'g': 1, 'ug': 2}
    """
    model = fill_defaults(content)
    refuse_surrogates(model, "tokenizer.json")
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _write_added_tokens(model),
        "normalizer": _write_stage(_NORMALIZER_WRITERS, model.get("normalizer")),
        "pre_tokenizer": _write_stage(_PRE_TOKENIZER_WRITERS, model.get("pre_tokenizer")),
        "post_processor": None,
        "decoder": _write_stage(_DECODER_WRITERS, model.get("decoder")),
        "model": _MODEL_WRITERS[model.get("type", "bpe")](model),
    }


def _write_stage(table: Mapping[str, Writer], part: Part | None) -> dict[str, Any] | None:
    return None if part is None else table[part["type"]](part)


def _write_type(name: str) -> Writer:
    """Make the writer of a part that has no parameters."""
    return lambda part: {"type": name}


def _write_bert_normalizer(part: Part) -> dict[str, Any]:
    return {**part, "type": "BertNormalizer"}


def _write_normalizer_sequence(part: Part) -> dict[str, Any]:
    return {
        "type": "Sequence",
        "normalizers": [_write_stage(_NORMALIZER_WRITERS, member) for member in part["normalizers"]],
    }


_NORMALIZER_WRITERS: Mapping[str, Writer] = {
    "nfc": _write_type("NFC"),
    "nfd": _write_type("NFD"),
    "nfkc": _write_type("NFKC"),
    "nfkd": _write_type("NFKD"),
    "lowercase": _write_type("Lowercase"),
    "strip_accents": _write_type("StripAccents"),
    "bert": _write_bert_normalizer,
    "sequence": _write_normalizer_sequence,
}


def _write_byte_level(part: Part) -> dict[str, Any]:
    # The trimming of offsets belongs to a post-processor, which these models have not.
    return {**part, "type": "ByteLevel", "trim_offsets": False}


def _write_metaspace(part: Part) -> dict[str, Any]:
    return {**part, "type": "Metaspace"}


def _write_pre_tokenizer_sequence(part: Part) -> dict[str, Any]:
    members = [_write_stage(_PRE_TOKENIZER_WRITERS, member) for member in part["pre_tokenizers"]]
    return {"type": "Sequence", "pretokenizers": members}


_PRE_TOKENIZER_WRITERS: Mapping[str, Writer] = {
    "bert": _write_type("BertPreTokenizer"),
    "byte_level": _write_byte_level,
    "metaspace": _write_metaspace,
    "whitespace_split": _write_type("WhitespaceSplit"),
    "sequence": _write_pre_tokenizer_sequence,
}

_DECODER_WRITERS: Mapping[str, Writer] = {
    "byte_level": lambda part: {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": False,
        "use_regex": True,
    },
    "metaspace": lambda part: {**part, "type": "Metaspace", "prepend_scheme": "always", "split": True},
    "wordpiece": lambda part: {**part, "type": "WordPiece", "cleanup": False},
}


def _write_bpe(model: Part) -> dict[str, Any]:
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": model.get("unknown_token"),
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": _ids(model),
        "merges": model.get("merges", []),
    }


def _write_wordpiece(model: Part) -> dict[str, Any]:
    return {
        "type": "WordPiece",
        "unk_token": model["unknown_token"],
        "continuing_subword_prefix": model["continuing_prefix"],
        "max_input_chars_per_word": model["max_word_length"],
        "vocab": _ids(model),
    }


def _write_unigram(model: Part) -> dict[str, Any]:
    unknown, ids = model.get("unknown_token"), _ids(model)
    if unknown is not None and ids and unknown not in ids:
        raise Unsupported(f"the unknown token {unknown!r} is not in the vocabulary, and tokenizer.json wants its id")
    unk_id = None if unknown is None else ids.get(unknown)
    return {
        "type": "Unigram",
        "unk_id": unk_id,
        "vocab": log_probabilities(model, "tokenizer.json"),
        "byte_fallback": False,
    }


_MODEL_WRITERS: Mapping[str, Writer] = {"bpe": _write_bpe, "wordpiece": _write_wordpiece, "unigram": _write_unigram}


def _ids(model: Part) -> dict[str, int]:
    """Return every token's position (TERM-9); nothing for a model that is not trained."""
    tokens = model.get("vocabulary") or [token for token, _ in model.get("tokens", [])]
    return {token: position for position, token in enumerate(tokens)}


def _write_added_tokens(model: Part) -> list[dict[str, Any]]:
    special, ids = model.get("special_tokens", []), _ids(model)
    # Without a vocabulary there is nothing to contradict: the special tokens are all that has an id.
    ids = ids or {token: position for position, token in enumerate(special)}
    outside = [token for token in special if token not in ids]
    if outside:
        raise Unsupported(f"the special token {outside[0]!r} is not in the vocabulary")
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return [{"id": ids[token], "content": token, **flags} for token in special]


def write_legacy(content: Part) -> dict[str, Any]:
    """Write a model of the fixtures as the object of an older ``tokenizer.json``.

    Raises:
        Unsupported: the format cannot express the model.

    >>> write_legacy({"type": "bpe", "vocabulary": ["u", "g", "ug"], "merges": [["u", "g"]]})["model"]["merges"]
    ['u g']
    """
    written = write(content)
    model = written["model"]
    if model["type"] == "BPE":
        model["merges"] = [_legacy_merge(*merge) for merge in model["merges"]]
    for stage in ("pre_tokenizer", "decoder"):
        written[stage] = _legacy_stage(written[stage])
    return written


def _legacy_merge(left: str, right: str) -> str:
    if " " in left + right:
        raise Unsupported(f"the merge of {left!r} and {right!r} has a space in it, which older versions split at")
    return f"{left} {right}"


def _legacy_stage(part: dict[str, Any] | None) -> dict[str, Any] | None:
    if part is None:
        return None
    if part["type"] == "Sequence":
        return {**part, "pretokenizers": [_legacy_stage(member) for member in part["pretokenizers"]]}
    return _legacy_metaspace(part) if part["type"] == "Metaspace" else part


def _legacy_metaspace(part: dict[str, Any]) -> dict[str, Any]:
    if part["prepend_scheme"] == "first":
        raise Unsupported("older versions have no metaspace for the start of the input only")
    if not part["split"]:
        raise Unsupported("older versions have no metaspace that does not split")
    return {**part, "add_prefix_space": part["prepend_scheme"] == "always"}


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
    _refuse_other(content, _FIXED, _TAKEN, "")
    model = _read_model(content.get("model"))
    for stage, kinds in (("normalizer", _NORMALIZERS), ("pre_tokenizer", _PRE_TOKENIZERS), ("decoder", _DECODERS)):
        part = _read_part(kinds, content.get(stage), stage)
        if part is not None:
            model[stage] = part
    special = _read_special_tokens(content, model)
    return {**model, "special_tokens": special} if special else model


@dataclass(frozen=True)
class _Kind:
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


def _read_part(kinds: Mapping[str, _Kind], part: Any, key: str) -> dict[str, Any] | None:
    """Read a part of one of the kinds; None if there is none.

    Raises:
        DataError: with the key, if the specification does not cover the part.

    >>> _read_part(_NORMALIZERS, {"type": "Sequence", "normalizers": [{"type": "NFC"}]}, "normalizer")
    {'type': 'sequence', 'normalizers': [{'type': 'nfc'}]}
    >>> _read_part(_NORMALIZERS, {"type": "Precompiled"}, "normalizer")
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
    _refuse_other(part, kind.fixed, ("type", members, *kind.takes, *kind.ignores), key)
    found = {"type": kind.type, **{name: part[theirs] for theirs, name in kind.takes.items() if theirs in part}}
    if members:
        found[ours] = [
            _read_part(kinds, member, f"{key}.{members}[{index}]")
            for index, member in enumerate(_list_at(part, members, key))
        ]
    return kind.finish(part, found)


def _list_at(part: Mapping[str, Any], name: str, key: str) -> list[Any]:
    """Return the list that a part has under a name.

    Raises:
        DataError: it has none there.

    >>> _list_at({"merges": ["u g"]}, "merges", "model")
    ['u g']
    """
    found = part.get(name)
    if not isinstance(found, list):
        raise DataError("is no list", FORMAT, key=f"{key}.{name}".removeprefix("."))
    return found


def _refuse_other(part: Any, fixed: Mapping[str, tuple[Any, ...]], known: Iterable[str], key: str) -> None:
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


def _read_metaspace(part: Mapping[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Take the scheme of older versions, which said only whether the replacement is put before a text."""
    if "prepend_scheme" in found or part.get("add_prefix_space") is not False:
        return found
    return {**found, "prepend_scheme": "never"}


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_NORMALIZERS: Mapping[str, _Kind] = {
    **{name: _Kind(name.lower()) for name in ("NFC", "NFD", "NFKC", "NFKD")},
    "Lowercase": _Kind("lowercase"),
    "StripAccents": _Kind("strip_accents"),
    "BertNormalizer": _Kind("bert", _same("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")),
    "Sequence": _Kind("sequence", members=("normalizers", "normalizers")),
}
_PRE_TOKENIZERS: Mapping[str, _Kind] = {
    "BertPreTokenizer": _Kind("bert"),
    # The trimming of offsets belongs to the post-processor of this name.
    "ByteLevel": _Kind("byte_level", _same("add_prefix_space", "use_regex"), ignores=("trim_offsets",)),
    "Metaspace": _Kind(
        "metaspace",
        _same("replacement", "prepend_scheme", "split"),
        ignores=("add_prefix_space", "str_rep"),
        finish=_read_metaspace,
    ),
    "WhitespaceSplit": _Kind("whitespace_split"),
    "Sequence": _Kind("sequence", members=("pretokenizers", "pre_tokenizers")),
}
_DECODERS: Mapping[str, _Kind] = {
    "ByteLevel": _Kind("byte_level", ignores=("add_prefix_space", "trim_offsets", "use_regex")),
    # Whether the space at the start stays is the choice metaspace_leading_space, and not of the model.
    "Metaspace": _Kind(
        "metaspace",
        _same("replacement"),
        {"prepend_scheme": ("always", "first"), "add_prefix_space": (True,)},
        ("split", "str_rep"),
    ),
    "WordPiece": _Kind("wordpiece", _same("prefix"), {"cleanup": (False,)}),
}


#: Keys of the whole file that the specification has nothing for, and the values with which they say nothing.
_FIXED: Mapping[str, tuple[Any, ...]] = {
    "version": ("1.0",),
    "truncation": (None,),
    "padding": (None,),
    "post_processor": (None,),
}
_TAKEN = ("added_tokens", "normalizer", "pre_tokenizer", "decoder", "model")


def _read_model(part: Any) -> dict[str, Any]:
    found = _read_part(_MODELS, part, "model")
    if found is None:
        raise DataError("is missing; a tokenizer.json has a model", FORMAT, key="model")
    model = _FINISH[found["type"]](found)
    return {key: value for key, value in model.items() if value is not None}


_MODELS: Mapping[str, _Kind] = {
    "BPE": _Kind(
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
    "WordPiece": _Kind(
        "wordpiece",
        takes={
            "vocab": "vocabulary",
            "unk_token": "unknown_token",
            "continuing_subword_prefix": "continuing_prefix",
            "max_input_chars_per_word": "max_word_length",
        },
    ),
    "Unigram": _Kind(
        "unigram", takes={"vocab": "tokens", "unk_id": "unknown_token"}, fixed={"byte_fallback": (False,)}
    ),
}


def _read_bpe(model: dict[str, Any]) -> dict[str, Any]:
    listed = _list_at(model, "merges", "model")
    merges = [_read_merge(merge, f"model.merges[{rank}]") for rank, merge in enumerate(listed)]
    tokens = by_id(model.get("vocabulary", {}), FORMAT, "model.vocab")
    return {**model, "vocabulary": tokens, "merges": merges} if tokens or merges else _untrained(model)


def _read_wordpiece(model: dict[str, Any]) -> dict[str, Any]:
    tokens = by_id(model.get("vocabulary", {}), FORMAT, "model.vocab")
    return {**model, "vocabulary": tokens} if tokens else _untrained(model)


def _untrained(model: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in model.items() if key not in ("vocabulary", "merges", "tokens")}


def _read_unigram(model: dict[str, Any]) -> dict[str, Any]:
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
    "bpe": _read_bpe,
    "wordpiece": _read_wordpiece,
    "unigram": _read_unigram,
}


def _read_merge(merge: Any, key: str) -> list[str]:
    """Take a pair, or its older form: one string with a space between the tokens."""
    parts = merge.split(" ") if isinstance(merge, str) else merge
    if not isinstance(parts, list) or len(parts) != 2:
        raise DataError(f"is {merge!r}, which is no merge of two tokens", FORMAT, key=key)
    return parts


#: The flags of an added token and the values with which it is a special token as ADDED-1 to ADDED-3 have it.
_FLAGS: Mapping[str, tuple[Any, ...]] = {
    "single_word": (False,),
    "lstrip": (False,),
    "rstrip": (False,),
    "normalized": (False,),
    "special": (True,),
}


def _read_special_tokens(content: Mapping[str, Any], model: Mapping[str, Any]) -> list[str]:
    added = _list_at(content, "added_tokens", "") if "added_tokens" in content else []
    ids = {token: id for id, token in enumerate(tokens_of(model))}
    return [_read_special_token(token, ids, index) for index, token in enumerate(added)]


def _read_special_token(token: Any, ids: Mapping[str, int], index: int) -> str:
    key = f"added_tokens[{index}]"
    _refuse_other(token, _FLAGS, ("id", "content"), key)
    content, id = token.get("content"), token.get("id")
    if not isinstance(content, str):
        raise DataError("has no content", FORMAT, key=key)
    # Without a vocabulary the special tokens are all that has an id.
    if id != (ids.get(content) if ids else index):
        message = f"gives {content!r} the id {id}; the specification covers tokens of the model's own vocabulary only"
        raise DataError(message, FORMAT, key=key)
    return content
