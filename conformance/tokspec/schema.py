"""The JSON Schema of the fixtures, compiled once for each of its parts.

The operations, and the shapes of their inputs and results, are defined there and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema_rs

from tokspec.data import fixtures_folder

__all__ = ["errors", "operations"]

_LONGEST_MESSAGE = 240


@cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((fixtures_folder() / "schema.json").read_text("utf-8"))
    return schema


@cache
def _validator(part: str) -> jsonschema_rs.Draft202012Validator:
    whole = _schema()
    schema = whole if part == "" else {"$defs": whole["$defs"], "$ref": f"#/$defs/{part}"}
    return jsonschema_rs.Draft202012Validator(schema)


@cache
def operations() -> tuple[str, ...]:
    """Name the operations, in the order of the protocol's table.

    >>> operations()[:4]
    ('normalize', 'pre_tokenize', 'encode', 'decode')
    """
    return tuple(_schema()["$defs"]["operations"])


def errors(value: Any, part: str = "") -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Give the path and the message of everything in a value that the schema, or a part of it, does not allow.

    >>> list(errors({"text": 3}, "operations/normalize/input"))
    [(('text',), '3 is not of types "string", "object"')]
    """
    for error in _validator(part).iter_errors(value):
        message = error.message
        if len(message) > _LONGEST_MESSAGE:
            message = message[: _LONGEST_MESSAGE // 2] + " … " + message[-_LONGEST_MESSAGE // 2 :]
        yield tuple(error.instance_path), message
