"""``tokenizer.json``: the object that Hugging Face tokenizers save and that many ports load, written and read.

``components`` is the table of its components, ``models`` reads and writes models and added tokens, and ``fields`` has
what both are built from.

A file has to have a model. A model without a type, which has only stages, is written with a BPE model of one token, or
of its added tokens, which no stage looks at. An untrained model is written with an empty vocabulary.

It cannot express, and the writer refuses as ``unsupported``:

* a lone surrogate, in any string;
* an added token that has no id and is not in the vocabulary, and a Unigram model's unknown token that is not in it;
* a Unigram model with a frequency of 0, whose logarithm is not a number.

Whether a metaspace decoder keeps the space at the start of the text is not in the file, except by its scheme: the
writer does what the library itself does (the choice ``metaspace_leading_space``). tokenizers itself numbers added
tokens outside the vocabulary from its size on, whatever the file says.

``tokenizer.json-legacy`` is the object as the library wrote and read it before 0.20, and as many ports still know it.
There are two differences: a merge is one string, its tokens with a space between them, and a metaspace says
``add_prefix_space`` in addition to the scheme that versions since 0.15 know. In addition to what the newer format
cannot express, it cannot express:

* a merge of a token with a space in it, and one that begins with ``#version``, which loaders skip;
* a metaspace that puts its replacement at the start of the input only, or does not split.

The reader accepts both schemas. It accounts for every key: it reads the key, or the key's value changes nothing. It
refuses, and names, keys and values that the specification does not cover. Reading back a file that the suite wrote
gives the same model, with these exceptions: frequencies become logarithms; a BPE model with an unknown token says
whether it fuses several; tokens with ids and special tokens are in the order of their ids; special tokens are
``added_tokens`` unless all added tokens can be listed by their contents alone; a model without a type is a BPE model of
one token, or of its added tokens; and an untrained model has no unknown token if it is Unigram.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, TypeAlias

from tokspec.base.errors import Unsupported
from tokspec.formats.files import refuse_surrogates
from tokspec.formats.neutral import fill_defaults
from tokspec.formats.tokenizer_json.components import KINDS, PADDING, TRUNCATION
from tokspec.formats.tokenizer_json.fields import Form, at, object_at, object_of, optional, part, show, wrong
from tokspec.formats.tokenizer_json.models import read_added_tokens, read_model, write_added_tokens, write_model

__all__ = ["read", "write", "write_legacy"]

FORMAT = "tokenizer.json"
Part: TypeAlias = Mapping[str, Any]

#: The parts of a file that have their own form; each may be null or missing.
_PARTS: Mapping[str, Form] = {
    "truncation": optional(object_of(TRUNCATION)),
    "padding": optional(object_of(PADDING)),
    **{stage: optional(part(partial(KINDS.__getitem__, stage))) for stage in KINDS},
}
_OTHERS = ("version", "added_tokens", "model")


def write(content: Part) -> dict[str, Any]:
    """Write a model of the fixtures as the object of a ``tokenizer.json``.

    Raises:
        Unsupported: the format cannot express the model.

    >>> write({"type": "bpe", "vocabulary": ["u", "g", "ug"], "merges": [["u", "g"]]})["model"]["vocab"]
    {'u': 0, 'g': 1, 'ug': 2}
    """
    model = fill_defaults(content)
    refuse_surrogates(model, FORMAT)
    return {
        "version": "1.0",
        **{name: form.write(model.get(name)) for name, form in _PARTS.items()},
        "added_tokens": write_added_tokens(model),
        "model": write_model(model),
    }


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
    return {**written, **{stage: _legacy(written[stage]) for stage in ("pre_tokenizer", "decoder")}}


def _legacy_merge(left: str, right: str) -> str:
    if " " in left + right:
        raise Unsupported(f"the merge of {left!r} and {right!r} has a space in it, which older versions split at")
    if left.startswith("#version"):
        raise Unsupported(f"the merge of {left!r} and {right!r} begins as a version does, which older versions skip")
    return f"{left} {right}"


def _legacy(value: Any) -> Any:
    """Write every metaspace in a part, at any depth, in the form of older versions."""
    if isinstance(value, list):
        return [_legacy(member) for member in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "Metaspace":
        return _legacy_metaspace(value)
    return {key: _legacy(member) for key, member in value.items()}


def _legacy_metaspace(part: dict[str, Any]) -> dict[str, Any]:
    """Write the keys of the oldest versions and of later ones, because a version ignores keys that it does not know."""
    return {**part, "add_prefix_space": part["prepend_scheme"] != "never"}


def read(content: Any) -> dict[str, Any]:
    """Read the object of a ``tokenizer.json``.

    Raises:
        DataError: a value is not covered or contradicts itself; the error has its key.

    >>> read({"model": {"type": "BPE", "vocab": {"u": 0, "g": 1, "ug": 2}, "merges": ["u g"]}})
    {'type': 'bpe', 'vocabulary': ['u', 'g', 'ug'], 'merges': [['u', 'g']]}
    >>> read({"model": {"type": "BPE", "vocab": {}, "merges": [], "dropout": 0.1}})
    ... # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: tokenizer.json: model.dropout: is 0.1, which is not null, 0 or 1, and dropout between
        them chooses merges at random, which the specification does not cover
    """
    for name in object_at(content, ""):
        if name not in _PARTS and name not in _OTHERS:
            raise wrong("is a key that the specification does not cover", at("", name))
    if content.get("version", "1.0") != "1.0":
        raise wrong(f'is {show(content["version"])}; the suite reads "1.0"', "version")
    if content.get("model") is None:
        raise wrong("is missing; a tokenizer.json has a model", "model")
    model = read_model(content["model"])
    for name, form in _PARTS.items():
        found = form.read(content.get(name), name)
        if found is not None:
            model[name] = found
    return {**model, **read_added_tokens(content.get("added_tokens", []), model)}
