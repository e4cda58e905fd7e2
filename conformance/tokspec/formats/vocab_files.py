"""The plain text files of published models: ``vocab.json`` with ``merges.txt``, and ``vocab.txt``.

``vocab.json+merges.txt`` is the form in which GPT-2 was published: every token's id, and one merge per line in order of
rank. ``beside`` holds stages, special tokens and the unknown token. The files cannot express, and the writer refuses as
``unsupported``:

* a model that is not BPE, or has no vocabulary;
* a lone surrogate, in any string;
* a merge of an empty token, or of one with white space, because loaders split a line there;
* a merge whose line begins with ``#version``, because loaders skip it.

``vocab.txt`` is the form in which BERT was published: one token per line, whose number is its id. ``beside`` holds
stages, special tokens, the unknown token, the continuing prefix and the longest word. It cannot express, and the writer
refuses as ``unsupported``:

* a model that is not WordPiece, or has no vocabulary;
* a lone surrogate, in any string;
* an empty token, or one with white space, because loaders strip lines, and some split at more than a line feed;
* ids that are not the positions of their tokens.

``beside`` also holds everything else that a model has, such as added tokens and a post-processor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tokspec.base.display import shorten
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
from tokspec.formats.neutral import by_id, fill_defaults, ids_of, refuse_ids, refuse_untrained

VOCABULARY, MERGES = "vocab.json", "merges.txt"
BPE_FORMAT = f"{VOCABULARY}+{MERGES}"
_VERSION = "#version"

WORDPIECE_FORMAT = "vocab.txt"


def write_bpe(content: Mapping[str, Any]) -> dict[str, Any]:
    r"""Write a model of the fixtures as the two files.

    Raises:
        Unsupported: the files cannot express the model.

    >>> write_bpe({"type": "bpe", "vocabulary": ["u", "g", "ug"], "merges": [["u", "g"]]})["files"]
    {'vocab.json': '{"u": 0, "g": 1, "ug": 2}\n', 'merges.txt': '#version: 0.2\nu g\n'}
    """
    model = fill_defaults(content)
    refuse_untrained(model, BPE_FORMAT, "bpe")
    refuse_surrogates(model, BPE_FORMAT)
    lines = [f"{_VERSION}: 0.2", *(_line(*merge) for merge in model.get("merges", []))]
    return pack(
        {VOCABULARY: dump_json(ids_of(model)), MERGES: "\n".join([*lines, ""])}, without(model, "vocabulary", "merges")
    )


def _line(left: str, right: str) -> str:
    if white_space(left) or white_space(right):
        raise Unsupported(f"{MERGES} cannot hold the merge of {left!r} and {right!r}: its loaders split at white space")
    if left.startswith(_VERSION):
        raise Unsupported(f"{MERGES} cannot hold a merge of {left!r}: its loaders skip lines that begin so")
    return f"{left} {right}"


def read_bpe(content: Any) -> dict[str, Any]:
    r"""Read the two files; the stages are those in ``beside``.

    Raises:
        DataError: a file is wrong; the error has file and line.

    >>> read_bpe({"files": {"vocab.json": '{"u": 0, "g": 1, "ug": 2}', "merges.txt": "u g\n"}})
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
            what = f"{shorten(repr(line))} is not a merge; it needs two tokens with one space between them"
            raise DataError(what, MERGES, number)
        yield merge


def write_wordpiece(content: Mapping[str, Any]) -> dict[str, Any]:
    r"""Write a model of the fixtures as the file.

    Raises:
        Unsupported: the file cannot express the model.

    >>> write_wordpiece({"type": "wordpiece", "vocabulary": ["[UNK]", "hug", "##s"]})["files"]
    {'vocab.txt': '[UNK]\nhug\n##s\n'}
    """
    model = fill_defaults(content)
    refuse_untrained(model, WORDPIECE_FORMAT, "wordpiece")
    refuse_surrogates(model, WORDPIECE_FORMAT)
    refuse_ids(model, WORDPIECE_FORMAT)
    unfit = [token for token in model["vocabulary"] if white_space(token)]
    if unfit:
        raise Unsupported(
            f"{WORDPIECE_FORMAT} has a token a line and cannot hold {unfit[0]!r}: its loaders strip white space"
        )
    return pack({WORDPIECE_FORMAT: "\n".join([*model["vocabulary"], ""])}, without(model, "vocabulary"))


def read_wordpiece(content: Any) -> dict[str, Any]:
    r"""Read the file; stages, and values other than the defaults, come from ``beside``.

    Raises:
        DataError: the file is wrong; the error has the line.

    >>> read_wordpiece({"files": {"vocab.txt": "[UNK]\nhug\n##s\n"}})
    {'type': 'wordpiece', 'vocabulary': ['[UNK]', 'hug', '##s']}
    """
    (data,) = unpack(content, WORDPIECE_FORMAT)
    tokens: dict[str, int] = {}
    for number, token in enumerate(lines_of(data, WORDPIECE_FORMAT), start=1):
        if white_space(token):
            what = "is empty or has white space; a line is a token"
            raise DataError(f"{shorten(repr(token))} {what}", WORDPIECE_FORMAT, number)
        if token in tokens:
            what = f"is on line {tokens[token]} too; tokens are distinct"
            raise DataError(f"{shorten(repr(token))} {what}", WORDPIECE_FORMAT, number)
        tokens[token] = number
    return {"type": "wordpiece", "vocabulary": list(tokens), **beside(content)}
