"""``.tiktoken``: each line has the bytes of a token in base64, and its rank, which is its id.

Special tokens are not in the file: ``beside`` gives each its id, and so fills gaps in the ranks. ``beside`` also holds
everything else that a model has. A published file needs its ``pattern`` there, which is short for the way programs use
ranks: they split a text into the matches of the pattern, drop the text between them, use a piece that is a token whole,
and join bytes. Without a pattern or a pre-tokenizer a file is refused, because another pattern would give wrong ids.

It cannot express, and the writer refuses as ``unsupported``:

* a model that is not BPE, or has no vocabulary;
* a pre-tokenizer that is not byte-level, or does not end in one that is: tokens are bytes;
* an unknown token: no byte is unknown;
* a token that has a character outside the byte alphabet, unless it is special;
* merges that do not follow from the ranks: every token of two or more bytes must be the product of one merge at most,
  the one that the tokens of lower ids leave of it, and merges must be listed in the order of their products' ids.

This module also has functions that other formats share: the characters as which bytes are written in a vocabulary, and
the merges that the order of tokens implies. If a format holds only tokens and ranks, a loader merges whichever pair
makes the token of the lowest rank (the choice ``bpe_pairs``). A merge is recovered by splitting its product with the
tokens of lower ranks.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import zip_longest
from types import MappingProxyType
from typing import Any

from tokspec.base.display import shorten
from tokspec.base.errors import DataError, Unsupported
from tokspec.formats.files import beside, lines_of, pack, unpack, without
from tokspec.formats.neutral import by_id, fill_defaults, ids_of, refuse_untrained, tokens_in_id_order

FORMAT = "vocab.tiktoken"

#: The ending of the name of the file that holds ``beside`` for a file of ranks.
BESIDE = ".beside.json"

#: The empty token in a file, as in the ranks published with Whisper.
_EMPTY = "="

#: The alphabet of byte-level tokens: one character for every byte (PRE-BYTE-3).
_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(0x100) if byte not in _PRINTABLE]
_CHARACTERS: Mapping[int, str] = MappingProxyType(
    {byte: chr(byte) for byte in _PRINTABLE} | {byte: chr(0x100 + index) for index, byte in enumerate(_OTHERS)}
)
_BYTES: Mapping[str, int] = MappingProxyType({character: byte for byte, character in _CHARACTERS.items()})


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
    if not _makes_bytes(model.get("pre_tokenizer", {})):
        raise Unsupported(f"{FORMAT} holds tokens of bytes, and those of this model are of characters")
    if "unknown_token" in model:
        raise Unsupported(f"{FORMAT} has no unknown token, and this model has {model['unknown_token']!r}")
    special = model.get("special_tokens", [])
    ids = ids_of(model)
    ordinary = [token for token in tokens_in_id_order(model) if token not in special]
    lines = [f"{b64encode(_bytes(token)).decode('ascii') or _EMPTY} {ids[token]}\n" for token in ordinary]
    refuse_other_merges(ordinary, model.get("merges", []), FORMAT)
    told = without(model, "vocabulary", "merges", "special_tokens")
    if special:
        told["special_tokens"] = {token: _special_id(token, ids) for token in special}
    return pack({FORMAT: "".join(lines)}, _with_pattern(told))


def _makes_bytes(part: Mapping[str, Any]) -> bool:
    """Return whether a pre-tokenizer is byte-level, or is a sequence that ends in one."""
    members = part.get("pre_tokenizers")
    return _makes_bytes(members[-1]) if members else part.get("type") == "byte_level"


def _bytes(token: str) -> bytes:
    found = to_bytes(token)
    if found is None:
        raise Unsupported(f"{FORMAT} holds bytes, and {token!r} represents no bytes")
    return found


def _special_id(token: str, ids: Mapping[str, int]) -> int:
    if token not in ids:
        raise Unsupported(f"the special token {token!r} is not in the vocabulary")
    return ids[token]


def read(content: Any) -> dict[str, Any]:
    r"""Read the file; merges are those that its ranks imply.

    Raises:
        DataError: a line or a key of ``beside`` is wrong; the error has it.

    >>> content = {"files": {"vocab.tiktoken": "dQ== 0\nZw== 1\ndWc= 2\n"}, "beside": {"pattern": r"\w+"}}
    >>> read(content)["merges"]
    [['u', 'g']]
    """
    (data,) = unpack(content, FORMAT)
    ranks: dict[str, int] = {}
    for number, line in enumerate(lines_of(data, FORMAT), start=1):
        token, rank = _entry(line, number)
        if token in ranks:
            raise DataError(f"the token of {shorten(repr(line))} appears twice; tokens are distinct", FORMAT, number)
        ranks[token] = rank
    if not ranks:
        raise DataError("holds no ranks", FORMAT)
    vocabulary = by_id(ranks, FORMAT)
    told = stages_told(content)
    together = by_id({**ranks, **beside(content).get("special_tokens", {})}, FORMAT, "beside.special_tokens")
    special = told.pop("special_tokens", {})
    merges = [list(merge) for merge in merges_of(sorted(ranks, key=ranks.__getitem__))]
    found = {"type": "bpe", "vocabulary": together if special else vocabulary, "merges": merges, **told}
    return {**found, "special_tokens": list(special)} if special else found


def stages_told(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``beside`` of a file as the keys of a model, with its special tokens as an object of ids.

    In a file with a ``pattern`` these are added tokens: they are not in the vocabulary, so no piece is one.

    Raises:
        DataError: nothing says how a text is cut, or a value has a wrong form; its key begins with ``beside``.
    """
    told = beside(content)
    special = told.get("special_tokens", {})
    if not isinstance(special, Mapping):
        raise DataError("is not an object that maps tokens to ids", FORMAT, key="beside.special_tokens")
    by_id(special, FORMAT, "beside.special_tokens")
    if "pattern" not in told and "pre_tokenizer" not in told:
        example = '{"pattern": "…", "special_tokens": {"<|end|>": 5}}'
        how = f"give it in a file of the same name that ends in {BESIDE}, such as {example}"
        raise DataError(f"has no pattern to split a text by; {how}", FORMAT)
    if "pattern" not in told:
        return told
    if "pre_tokenizer" in told:
        raise DataError("is given with a pre_tokenizer; give only one of them", FORMAT, key="beside.pattern")
    if not isinstance(told["pattern"], str):
        raise DataError("is not a string", FORMAT, key="beside.pattern")
    tokens = [{"content": token, "id": id} for token, id in special.items()]
    return {
        **stages_of(told["pattern"]),
        **without(told, "pattern", "special_tokens"),
        **({"added_tokens": tokens} if tokens else {}),
    }


def _with_pattern(told: dict[str, Any]) -> dict[str, Any]:
    """Replace the stages that a pattern stands for, if there are no others, by the pattern for :func:`stages_told`."""
    first = (told.get("pre_tokenizer", {}).get("pre_tokenizers") or [{}])[0]
    pattern = first.get("pattern", {}).get("regex")
    if pattern is None or "special_tokens" in told:
        return told
    added = {token["content"]: token.get("id") for token in told.get("added_tokens", ())}
    beside = {"pattern": pattern, **({"special_tokens": added} if added else {})}
    stood_for = without(fill_defaults({"type": "bpe", **stages_told({"beside": beside})}), "type")
    if None in added.values() or any(told.get(key) != stage for key, stage in stood_for.items()):
        return told
    return {**without(told, *stood_for), **beside}


def stages_of(pattern: str) -> dict[str, Any]:
    """Return the stages around the merges in programs that use ranks, as the keys of a model.

    >>> stages_of("hug")["pre_tokenizer"]["pre_tokenizers"][0]
    {'type': 'split', 'pattern': {'regex': 'hug'}, 'behavior': 'removed', 'invert': True}
    """
    split = {"type": "split", "pattern": {"regex": pattern}, "behavior": "removed", "invert": True}
    return {
        "pre_tokenizer": {
            "type": "sequence",
            "pre_tokenizers": [split, {"type": "byte_level", "use_regex": False}],
        },
        "decoder": {"type": "byte_level"},
        "ignore_merges": True,
    }


def _entry(line: str, number: int) -> tuple[str, int]:
    try:
        token, rank = line.split(" ")
        return ("" if token == _EMPTY else from_bytes(b64decode(token, validate=True))), int(rank)
    except (ValueError, binascii.Error):
        what = f"{shorten(repr(line))} is not a rank; it needs base64, a space and a number"
        raise DataError(what, FORMAT, number) from None


def from_bytes(token: bytes) -> str:
    """Return the characters that stand for bytes.

    >>> from_bytes(b" hug")
    'Ġhug'
    """
    return "".join(_CHARACTERS[byte] for byte in token)


def to_bytes(token: str) -> bytes | None:
    """Return the bytes of a token, or None if one of its characters stands for no byte.

    >>> to_bytes("Ġhug")
    b' hug'
    >>> to_bytes("▁hug") is None
    True
    """
    return bytes(map(_BYTES.__getitem__, token)) if all(character in _BYTES for character in token) else None


def merges_of(tokens: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Return the merge of every token that the tokens before it leave as two parts, in the order of the tokens.

    >>> list(merges_of(["u", "g", "h", "ug", "hug"]))
    [('u', 'g'), ('h', 'ug')]
    """
    ranks = {token: rank for rank, token in enumerate(tokens)}
    for rank, token in enumerate(tokens):
        parts = _split(token, ranks, rank)
        if len(parts) == 2 and all(part in ranks for part in parts):
            yield parts[0], parts[1]


def _split(token: str, ranks: Mapping[str, int], limit: int) -> list[str]:
    """Split a token into symbols and apply every merge with a rank below the limit, the lowest first."""
    parts: list[str] = list(token)  # a part that was merged into the one before is empty
    after, before = list(range(1, len(parts) + 1)), list(range(-1, len(parts) - 1))
    waiting: list[tuple[int, int, str]] = []  # possible merges: rank, place and product

    def wait(left: int, right: int) -> None:
        if left >= 0 and right < len(parts):
            made = parts[left] + parts[right]
            if (rank := ranks.get(made, limit)) < limit:
                heappush(waiting, (rank, left, made))

    for place in range(len(parts) - 1):
        wait(place, place + 1)
    while waiting:
        _, left, made = heappop(waiting)
        right = after[left]
        if not parts[left] or right >= len(parts) or parts[left] + parts[right] != made:
            continue  # one of the two was merged with another part
        parts[left], parts[right], after[left] = made, "", after[right]
        if after[right] < len(parts):
            before[after[right]] = left
        wait(before[left], left)
        wait(left, after[left])
    return [part for part in parts if part]


def refuse_other_merges(tokens: Sequence[str], merges: Sequence[Sequence[str]], format: str) -> None:
    """Refuse merges that are not those that the tokens imply.

    Raises:
        Unsupported: a merge differs; the message names the first.

    >>> refuse_other_merges(["a", "b", "ab"], [], "a file of ranks")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.Unsupported: unsupported: a file of ranks merges 'a' and 'b', but the model's list of merges ends there
    """  # noqa: E501
    for implied, listed in zip_longest(merges_of(tokens), map(tuple, merges)):
        if listed is None:
            left, right = implied
            raise Unsupported(f"{format} merges {left!r} and {right!r}, but the model's list of merges ends there")
        if implied != listed:
            left, right = listed
            raise Unsupported(f"{format} has no merges, and its ranks do not merge {left!r} and {right!r} there")
