"""Values as JSON carries them, each checked for its type and returned: what the other modules of this room share.

Each reader returns the value that it is given, made immutable, or refuses it as ``invalid_model``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from tokref.errors import InputError, brief

LARGEST_INTEGER = 2**53 - 1
"""The largest integer that every parser of JSON carries without loss (PROTO-7)."""

LARGEST_ID = 2**32 - 1
"""The largest id of a token (TERM-9)."""

Reader = Callable[[Any], Any]


def read_text(value: Any) -> str:
    """Return a string.

    >>> read_text("[UNK]")
    '[UNK]'
    """
    if not isinstance(value, str):
        refuse(f"{brief(value)} is not a string")
    return value


def read_list(value: Any) -> list[Any]:
    """Return a list of anything.

    >>> read_list((1,))
    [1]
    """
    return list(value) if isinstance(value, list | tuple) else refuse(f"{brief(value)} is not a list")


def read_mapping(what: str, value: Any) -> Mapping[str, Any]:
    """Return an object; ``what`` names it in the refusal of anything else.

    >>> read_mapping("a model", {"type": "bpe"})
    {'type': 'bpe'}
    """
    return value if isinstance(value, Mapping) else refuse(f"{what} is not an object, but {brief(value)}")


def read_boolean(value: Any) -> bool:
    """Return true or false.

    >>> read_boolean(True)
    True
    """
    return value if isinstance(value, bool) else refuse(f"{brief(value)} is neither true nor false")


def read_integer(value: Any, smallest: int) -> int:
    """Return an integer that is not below ``smallest``, nor beyond what JSON carries safely (PROTO-7).

    >>> read_integer(100, smallest=1)
    100
    """
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if not is_integer or not smallest <= value <= LARGEST_INTEGER:
        refuse(f"{brief(value)} is not an integer from {smallest} to 2**53 - 1")
    return int(value)


def read_number(value: Any) -> float:
    """Return a finite number.

    >>> read_number(0.5)
    0.5
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) <= sys.float_info.max:  # an integer may be too large for a float
        refuse(f"{brief(value)} is not a finite number")
    number: float = value
    return number


def without_none(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if value is not None}


def read_keys(what: str, given: Mapping[str, Any], readers: Mapping[str, Reader]) -> dict[str, Any]:
    for key in given:
        if key not in readers:
            refuse(f"{what} has no key {key!r}; give only {', '.join(readers) or 'type'}")
    return {key: readers[key](value) for key, value in without_none(given).items()}


def read_character(value: Any) -> str:
    text = read_text(value)
    return text if len(text) == 1 else refuse(f"{brief(value)} is not one character")


def read_option(*options: str) -> Reader:
    return lambda value: value if value in options else refuse(f"{brief(value)} is not one of {', '.join(options)}")


def read_pair(value: Any) -> tuple[Any, Any]:
    is_pair = isinstance(value, list | tuple) and len(value) == 2
    left, right = value if is_pair else refuse(f"{brief(value)} is not a pair")
    return left, right


def read_tokens(value: Any) -> tuple[str, ...]:
    """Return a list of distinct tokens (TERM-9)."""
    tokens: dict[str, None] = {}
    for token in map(read_text, read_list(value)):  # TERM-7: it may be empty
        if token in tokens:
            refuse(f"{token!r} is listed twice")
        tokens[token] = None
    return tuple(tokens)


def read_id(value: Any) -> int:
    number = read_integer(value, smallest=0)
    return number if number <= LARGEST_ID else refuse(f"{number} is not an id: the largest is {LARGEST_ID}")


def refuse(message: str) -> NoReturn:
    """Refuse a model."""
    raise InputError("invalid_model", message)
