"""``vocab.json`` and ``merges.txt``, as GPT-2 was published: every token's id, and a merge a line in order of rank.

Stages, special tokens and the unknown token are told beside the files.

The files cannot express, and the writer refuses as ``unsupported``:

* a model that is not BPE, or has no vocabulary;
* a lone surrogate, in any string;
* a merge of an empty token, or of one with white space: loaders split a line there;
* a merge whose line begins with ``#version``: loaders skip it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tokspec.base.errors import DataError, Unsupported
from tokspec.formats.files import (
    beside,
    dump_json,
    lines_of,
    load_json,
    pack,
    refuse_surrogates,
    unpack,
    white_space,
    without,
)
from tokspec.formats.neutral import by_id, fill_defaults, refuse_untrained

__all__ = ["read", "write"]

VOCABULARY, MERGES = "vocab.json", "merges.txt"
FORMAT = f"{VOCABULARY}+{MERGES}"
_VERSION = "#version"


def write(content: Mapping[str, Any]) -> dict[str, Any]:
    r"""Write a model of the fixtures as the two files.

    Raises:
        Unsupported: the files cannot express the model.

    >>> write({"type": "bpe", "vocabulary": ["u", "g", "ug"], "merges": [["u", "g"]]})["files"]
    {'vocab.json': '{"u": 0, "g": 1, "ug": 2}\n', 'merges.txt': '#version: 0.2\nu g\n'}
    """
    model = fill_defaults(content)
    refuse_untrained(model, FORMAT, "bpe")
    refuse_surrogates(model, FORMAT)
    ids = {token: position for position, token in enumerate(model["vocabulary"])}
    lines = [f"{_VERSION}: 0.2", *(_line(*merge) for merge in model.get("merges", []))]
    return pack({VOCABULARY: dump_json(ids), MERGES: "\n".join([*lines, ""])}, without(model, "vocabulary", "merges"))


def _line(left: str, right: str) -> str:
    if white_space(left) or white_space(right):
        raise Unsupported(f"{MERGES} cannot hold the merge of {left!r} and {right!r}: its loaders split at white space")
    if left.startswith(_VERSION):
        raise Unsupported(f"{MERGES} cannot hold a merge of {left!r}: its loaders skip lines that begin so")
    return f"{left} {right}"


def read(content: Any) -> dict[str, Any]:
    r"""Read the two files; stages are those that are told beside them.

    Raises:
        DataError: with file and line.

    >>> read({"files": {"vocab.json": '{"u": 0, "g": 1, "ug": 2}', "merges.txt": "u g\n"}})
    {'type': 'bpe', 'vocabulary': ['u', 'g', 'ug'], 'merges': [['u', 'g']]}
    """
    vocabulary, merges = unpack(content, VOCABULARY, MERGES)
    tokens = by_id(load_json(vocabulary, VOCABULARY), VOCABULARY)
    found = {"type": "bpe", "vocabulary": tokens, "merges": list(_merges(lines_of(merges, MERGES)))}
    return {**found, **beside(content)}


def _merges(lines: list[str]) -> Iterator[list[str]]:
    for number, line in enumerate(lines, start=1):
        if line.startswith(_VERSION):
            continue
        merge = line.split(" ")
        if len(merge) != 2 or any(white_space(part) for part in merge):
            raise DataError(f"{line!r} is no merge; it needs two tokens with one space between them", MERGES, number)
        yield merge
