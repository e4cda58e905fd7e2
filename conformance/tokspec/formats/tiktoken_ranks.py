"""``.tiktoken``: the bytes of a token in base64 and its rank, which is its id, on every line.

Special tokens are not in the file: what is told beside it gives each its id, and so fills the gaps in the ranks.
Normalizer, pre-tokenizer and decoder are told beside it too; where nothing is, both are ``byte_level``.

It cannot express, and the writer refuses as ``unsupported``:

* a model that is not BPE, or has no vocabulary;
* a pre-tokenizer that is not byte-level: tokens are bytes;
* an unknown token: there is none among bytes;
* a token that is empty or has a character outside the byte alphabet, unless it is special;
* merges that do not follow from the ranks, see :mod:`tokspec.formats.ranks`: every token of two or more bytes must be
  the product of one merge at most, the one that the tokens of lower ids leave of it, and merges must be listed in the
  order of their products' ids.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from tokspec.base.errors import DataError, Unsupported
from tokspec.formats.byte_characters import from_bytes, to_bytes
from tokspec.formats.files import beside, pack, unpack, without
from tokspec.formats.neutral import fill_defaults
from tokspec.formats.ranks import merges_of, refuse_other_merges
from tokspec.formats.text import lines_of
from tokspec.formats.vocabulary import by_id, refuse_untrained

__all__ = ["read", "write"]

FORMAT = "vocab.tiktoken"
_STAGES = fill_defaults({"pre_tokenizer": {"type": "byte_level"}, "decoder": {"type": "byte_level"}})


def write(content: Mapping[str, Any]) -> dict[str, Any]:
    r"""Write a model of the fixtures as the file.

    Raises:
        Unsupported: the file cannot express the model.

    >>> model = {"type": "bpe", "vocabulary": ["u", "g", "ug"], "merges": [["u", "g"]]}
    >>> write({**model, "pre_tokenizer": {"type": "byte_level"}})["files"]
    {'vocab.tiktoken': 'dQ== 0\nZw== 1\ndWc= 2\n'}
    """
    model = fill_defaults(content)
    refuse_untrained(model, FORMAT, "bpe")
    if model.get("pre_tokenizer", {}).get("type") != "byte_level":
        raise Unsupported(f"{FORMAT} holds bytes, and the pre-tokenizer of this model does not make them")
    if "unknown_token" in model:
        raise Unsupported(f"{FORMAT} has no unknown token, and this model has {model['unknown_token']!r}")
    special = model.get("special_tokens", [])
    ids = {token: id for id, token in enumerate(model["vocabulary"])}
    ordinary = [token for token in ids if token not in special]
    lines = [f"{b64encode(_bytes(token)).decode('ascii')} {ids[token]}\n" for token in ordinary]
    refuse_other_merges(ordinary, model.get("merges", []), FORMAT)
    told = without(model, "vocabulary", "merges", "special_tokens")
    if special:
        told["special_tokens"] = {token: _special_id(token, ids) for token in special}
    return pack({FORMAT: "".join(lines)}, told)


def _bytes(token: str) -> bytes:
    found = to_bytes(token)
    if not found:
        raise Unsupported(f"{FORMAT} holds bytes, and {token!r} stands for none")
    return found


def _special_id(token: str, ids: Mapping[str, int]) -> int:
    if token not in ids:
        raise Unsupported(f"the special token {token!r} is not in the vocabulary")
    return ids[token]


def read(content: Any) -> dict[str, Any]:
    r"""Read the file; merges are those that its ranks imply.

    Raises:
        DataError: with the line, or with what is told beside the file.

    >>> read({"files": {"vocab.tiktoken": "dQ== 0\nZw== 1\ndWc= 2\n"}})["merges"]
    [['u', 'g']]
    """
    (data,) = unpack(content, FORMAT)
    ranks: dict[str, int] = {}
    for number, line in enumerate(lines_of(data, FORMAT), start=1):
        token, rank = _entry(line, number)
        if token in ranks:
            raise DataError(f"the token of {line!r} is there twice; tokens are distinct", FORMAT, number)
        ranks[token] = rank
    told = beside(content, _STAGES)
    special = told.pop("special_tokens", {})
    if not isinstance(special, Mapping):
        raise DataError("is no object of tokens to ids", FORMAT, key="beside.special_tokens")
    merges = [list(merge) for merge in merges_of(sorted(ranks, key=ranks.__getitem__))]
    found = {"type": "bpe", "vocabulary": by_id({**ranks, **special}, FORMAT), "merges": merges, **told}
    return {**found, "special_tokens": list(special)} if special else found


def _entry(line: str, number: int) -> tuple[str, int]:
    try:
        token, rank = line.split(" ")
        return from_bytes(b64decode(token, validate=True)), int(rank)
    except (ValueError, binascii.Error):
        raise DataError(f"{line!r} is no rank; it needs base64, a space and a number", FORMAT, number) from None
