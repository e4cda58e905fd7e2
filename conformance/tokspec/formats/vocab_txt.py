"""``vocab.txt``, as BERT was published: a token a line, the number of the line its id.

Stages, special tokens, the unknown token, the continuing prefix and the longest word are told beside the file.

It cannot express, and the writer refuses as ``unsupported``:

* a model that is not WordPiece, or has no vocabulary;
* a lone surrogate, in any string;
* an empty token, or one with white space: loaders strip lines and some split at more than a line feed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokspec.base.errors import DataError, Unsupported
from tokspec.formats.files import beside, lines_of, pack, refuse_surrogates, unpack, white_space, without
from tokspec.formats.neutral import fill_defaults, refuse_untrained

__all__ = ["read", "write"]

FORMAT = "vocab.txt"


def write(content: Mapping[str, Any]) -> dict[str, Any]:
    r"""Write a model of the fixtures as the file.

    Raises:
        Unsupported: the file cannot express the model.

    >>> write({"type": "wordpiece", "vocabulary": ["[UNK]", "hug", "##s"]})["files"]
    {'vocab.txt': '[UNK]\nhug\n##s\n'}
    """
    model = fill_defaults(content)
    refuse_untrained(model, FORMAT, "wordpiece")
    refuse_surrogates(model, FORMAT)
    unfit = [token for token in model["vocabulary"] if white_space(token)]
    if unfit:
        raise Unsupported(f"{FORMAT} has a token a line and cannot hold {unfit[0]!r}: its loaders strip white space")
    return pack({FORMAT: "\n".join([*model["vocabulary"], ""])}, without(model, "vocabulary"))


def read(content: Any) -> dict[str, Any]:
    r"""Read the file; stages, and what is not the default, are those that are told beside it.

    Raises:
        DataError: with the line.

    >>> read({"files": {"vocab.txt": "[UNK]\nhug\n##s\n"}})
    {'type': 'wordpiece', 'vocabulary': ['[UNK]', 'hug', '##s']}
    """
    (data,) = unpack(content, FORMAT)
    tokens: dict[str, int] = {}
    for number, token in enumerate(lines_of(data, FORMAT), start=1):
        if white_space(token):
            raise DataError(f"{token!r} is empty or has white space; a line is a token", FORMAT, number)
        if token in tokens:
            raise DataError(f"{token!r} is on line {tokens[token]} too; tokens are distinct", FORMAT, number)
        tokens[token] = number
    return {"type": "wordpiece", "vocabulary": list(tokens), **beside(content)}
