"""Copies of JSON values, so that what one side keeps the other cannot change, and a result is what it looks like."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from tokspec.base.display import excerpt, shown
from tokspec.base.errors import AdapterFault
from tokspec.protocol.wire import DEEPEST, DIGITS, SURROGATE

__all__ = ["plain"]

_NUMBERS = (int, float)
_LISTS = (list, tuple)

_SMALL = 1 << 62
_BITS = int(DIGITS * 3.32)


def plain(value: Any, depth: int = 0) -> Any:
    """Copy a value into fresh dictionaries and lists of strings, numbers, booleans and None.

    Tuples become lists, and subclasses their base, so that a result in the same process is compared like a program's.

    Raises:
        AdapterFault: ``protocol``, if the value has no place in JSON; bounds are those of :mod:`tokspec.protocol.wire`.

    >>> plain({"spans": [(0, 3)]})
    {'spans': [[0, 3]]}
    >>> plain({"tokens": {"b", "ug"}})
    Traceback (most recent call last):
        ...
    tokspec.base.errors.AdapterFault: protocol: the result holds a value of type set, which JSON does not have
    """
    kind = type(value)
    if kind is not list and kind is not dict:
        if value is None or kind is str or kind is bool:
            return value
        if isinstance(value, _NUMBERS):
            return _number(value)
        if isinstance(value, str):
            return str.__str__(value)
    if depth == DEEPEST:
        raise AdapterFault("protocol", f"the result is nested more than {DEEPEST} levels deep")
    if kind is list or isinstance(value, _LISTS):
        return [  # without a call for each of the many texts and small integers
            item if (its := type(item)) is str or (its is int and -_SMALL < item < _SMALL) else plain(item, depth + 1)
            for item in value
        ]
    if kind is dict or isinstance(value, Mapping):
        return {
            key if type(key) is str and key.isascii() else _key(key): item
            if type(item) is str
            else plain(item, depth + 1)
            for key, item in value.items()
        }
    raise AdapterFault("protocol", f"the result holds a value of type {_type(value)}, which JSON does not have")


def _number(value: float) -> float:
    if isinstance(value, float):
        number = float.__float__(value)
        if not isfinite(number):
            raise AdapterFault("protocol", f"the result holds {number}, which is not JSON")
        return number
    if value.bit_length() > _BITS:
        raise AdapterFault("protocol", f"the result holds a number of more than {DIGITS} digits")
    return int.__int__(value)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise AdapterFault("protocol", f"the result has a key of type {_type(key)}; keys are strings")
    if SURROGATE.search(key):
        raise AdapterFault(
            "protocol", f"the result has the key {excerpt(key)}; a surrogate in a key has no form in JSON"
        )
    return str.__str__(key)


def _type(value: Any) -> str:
    return shown(type(value).__name__)
