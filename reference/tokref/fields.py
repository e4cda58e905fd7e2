"""Readers of plain values: each gives what it was handed, made immutable, or refuses it.

The reason is ``invalid_model``; those that corpora are read with take another.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from tokref.errors import InputError, shown

__all__ = [
    "boolean",
    "character",
    "distinct_texts",
    "items",
    "mapping",
    "one_of",
    "pair",
    "pairs_of_texts",
    "positive",
    "read",
    "text",
    "weighted_texts",
]


def read(what: str, given: Mapping[str, Any], readers: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """Read every key by its reader; None counts as missing.

    >>> read("a decoder", {"prefix": "##"}, {"prefix": text})
    {'prefix': '##'}
    """
    for key in given:
        if key not in readers:
            raise InputError("invalid_model", f"{what} has no key {key!r}; give only {', '.join(readers) or 'type'}")
    return {key: readers[key](value) for key, value in given.items() if value is not None}


def mapping(what: str, value: Any) -> Mapping[str, Any]:
    """Take a mapping.

    >>> mapping("the model", {"type": "bpe"})
    {'type': 'bpe'}
    """
    return value if isinstance(value, Mapping) else _refuse(value, f"is no object, as {what} is to be")


def text(value: Any, reason: str = "invalid_model") -> str:
    """Take a string.

    >>> text("[UNK]")
    '[UNK]'
    """
    return value if isinstance(value, str) else _refuse(value, "is to be a string", reason)


def character(value: Any) -> str:
    """Take a string of one code point.

    >>> character("▁")
    '▁'
    """
    return value if isinstance(value, str) and len(value) == 1 else _refuse(value, "is to be one character")


def boolean(value: Any) -> bool:
    """Take true or false.

    >>> boolean(True)
    True
    """
    return value if isinstance(value, bool) else _refuse(value, "is to be true or false")


def positive(value: Any) -> int:
    """Take an integer from 1.

    >>> positive(100)
    100
    """
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    number: int = value if is_integer and value >= 1 else _refuse(value, "is to be an integer from 1")
    return number


def one_of(*options: str) -> Callable[[Any], str]:
    """Make a reader that takes one of the given strings.

    >>> one_of("first", "never")("first")
    'first'
    """
    return lambda value: value if value in options else _refuse(value, f"is to be one of {', '.join(options)}")


def distinct_texts(value: Any) -> tuple[str, ...]:
    """Take a list of strings, none of them empty, none twice (TERM-4).

    >>> distinct_texts(["a", "b"])
    ('a', 'b')
    """
    texts = tuple(map(text, items(value)))
    if "" in texts:
        raise InputError("invalid_model", "a token is empty")
    if len(set(texts)) < len(texts):
        twice = next(token for token, count in Counter(texts).items() if count > 1)
        raise InputError("invalid_model", f"{twice!r} is listed twice")
    return texts


def pairs_of_texts(value: Any) -> tuple[tuple[str, str], ...]:
    """Take a list of pairs of strings.

    >>> pairs_of_texts([["u", "g"]])
    (('u', 'g'),)
    """
    return tuple((text(left), text(right)) for left, right in map(pair, items(value)))


def weighted_texts(value: Any) -> tuple[tuple[str, float], ...]:
    """Take a list of pairs of a string and a finite number.

    >>> weighted_texts([["ug", 20]])
    (('ug', 20),)
    """
    return tuple((text(token), _number(weight)) for token, weight in map(pair, items(value)))


def items(value: Any, reason: str = "invalid_model") -> list[Any] | tuple[Any, ...]:
    """Take a list of anything.

    >>> items([1])
    [1]
    """
    return value if isinstance(value, list | tuple) else _refuse(value, "is to be a list", reason)


def pair(value: Any, reason: str = "invalid_model") -> tuple[Any, Any]:
    """Take a list of two things.

    >>> pair(["hug", 10])
    ('hug', 10)
    """
    is_pair = isinstance(value, list | tuple) and len(value) == 2
    left, right = value if is_pair else _refuse(value, "is to be a pair", reason)
    return left, right


def _number(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_finite = is_number and abs(value) <= sys.float_info.max  # an integer that no float can hold is not, either
    number: float = value if is_finite else _refuse(value, "is to be a finite number")
    return number


def _refuse(value: Any, wanted: str, reason: str = "invalid_model") -> Any:
    raise InputError(reason, f"{shown(value)} {wanted}")
