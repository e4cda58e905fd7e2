"""The answer to ``hello``: an implementation's description of itself, as an object of JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tokspec.adapter import Hello
from tokspec.base.errors import AdapterFault
from tokspec.protocol.wire import excerpt

__all__ = ["PROTOCOL", "greeting", "parse_hello"]

PROTOCOL = 1

_ENCODE_FIELDS = ("tokens", "ids", "spans")


def greeting(hello: Hello) -> dict[str, Any]:
    """Write the answer to ``hello``, which :func:`parse_hello` reads; nothing is checked.

    >>> greeting(Hello("mytok", "0.3", "C", operations=("encode",)))["formats"]
    ('tokspec',)
    """
    return {"protocol": PROTOCOL, **{key: getattr(hello, key) for key in _HELLO if key != "protocol"}}


def parse_hello(message: Mapping[str, Any]) -> Hello:
    """Read the answer to ``hello``; keys that the protocol does not know are left alone.

    Raises:
        AdapterFault: ``protocol``, naming the key that is missing or not of its type.

    >>> parse_hello({"protocol": 1, "name": "mytok", "version": "0.3", "language": "C",
    ...              "operations": ["encode"], "formats": ["tokspec"]}).name
    'mytok'
    """
    for key, (needed, is_valid, what) in _HELLO.items():
        if key not in message:
            if needed:
                raise AdapterFault("protocol", f"the answer to hello has no {key}; it needs {what}")
        elif not is_valid(message[key]):
            found = excerpt(repr(message[key]))
            raise AdapterFault("protocol", f"the answer to hello has a wrong {key}: {found}; it needs {what}")
    given = {key: message[key] for key in _HELLO if key in message and key != "protocol"}
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    return Hello(**values)


def _strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_string(value: object) -> bool:
    return isinstance(value, str)


#: For each key whether it is needed, the check of its value, and how the value is described.
_HELLO: Mapping[str, tuple[bool, Callable[[Any], bool], str]] = {
    "protocol": (True, lambda value: type(value) is int and value == PROTOCOL, f"the number {PROTOCOL}"),
    "name": (True, _is_string, "a string"),
    "version": (True, _is_string, "a string"),
    "language": (True, _is_string, "a string"),
    "operations": (True, _strings, "a list of strings"),
    "formats": (True, _strings, "a list of strings"),
    "choices": (False, lambda value: isinstance(value, dict) and _strings([*value.values()]), "an object of strings"),
    "encode_fields": (
        False,
        lambda value: _strings(value) and set(value) <= set(_ENCODE_FIELDS),
        f"a list out of {', '.join(_ENCODE_FIELDS)}",
    ),
    "unicode": (False, _is_string, "a string"),
    "other_trainers": (
        False,
        lambda value: isinstance(value, dict) and _strings([*value.values()]),
        "an object of strings",
    ),
}
