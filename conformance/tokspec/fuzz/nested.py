"""Values of JSON in each other: where those of a type are, stretches of lists, and copies with one value changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

__all__ = ["Path", "at", "dictionaries", "paths", "put", "stretches", "without"]

Path: TypeAlias = tuple[str | int, ...]
"""Keys and places, from the outside."""


def paths(value: Any, type: Any, path: Path = ()) -> Iterator[Path]:
    """Return the paths of all values of a type, or one of several; a boolean is no integer.

    >>> list(paths({"a": [1, "b", True]}, int))
    [('a', 0)]
    """
    if isinstance(value, type) and not isinstance(value, bool):
        yield path
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, type, (*path, key))


def dictionaries(value: Any) -> Iterator[Path]:
    """Return the paths of all objects, the outer ones first.

    >>> list(dictionaries({"a": [{}]}))
    [(), ('a', 0)]
    """
    return paths(value, Mapping)


def at(value: Any, path: Path) -> Any:
    """Return what is at a path.

    >>> at({"a": [1, 2]}, ("a", 1))
    2
    """
    for step in path:
        value = value[step]
    return value


def put(value: Any, path: Path, new: Any) -> Any:
    """Copy a value with another at a path.

    >>> put({"a": [1, 2]}, ("a", 1), 3)
    {'a': [1, 3]}
    """
    if not path:
        return new
    if isinstance(value, list):
        return [put(item, path[1:], new) if index == path[0] else item for index, item in enumerate(value)]
    return {key: put(item, path[1:], new) if key == path[0] else item for key, item in value.items()}


def without(value: Any, path: Path) -> Any:
    """Copy a value without what is at a path.

    >>> without({"a": {"b": 1, "c": 2}}, ("a", "b"))
    {'a': {'c': 2}}
    """
    inner = at(value, path[:-1])
    return put(value, path[:-1], {key: item for key, item in inner.items() if key != path[-1]})


def stretches(length: int) -> Iterator[tuple[int, int]]:
    """Return stretches of a length that together cover it: all, halves, quarters, … and single places.

    >>> list(stretches(2))
    [(0, 2), (0, 1), (1, 2)]
    """
    size = length
    while size:
        yield from ((start, min(start + size, length)) for start in range(0, length, size))
        size //= 2
