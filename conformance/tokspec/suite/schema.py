"""The JSON Schema of the fixtures; each of its parts is compiled once.

The operations, and the shapes of their inputs and results, are defined only there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import jsonschema_rs

from tokspec.base.files import fixtures_folder

#: The replacements of lone surrogates while a value is validated; each has its own.
_PRIVATE = {0xD800 + place: 0xF0000 + place for place in range(0x800)}

#: The form of the replacements in a message: the escape of the surrogate.
_SHOWN = {private: f"\\u{surrogate:04x}" for surrogate, private in _PRIVATE.items()}

_LONGEST_MESSAGE = 240
_LONGEST_KEY = 100


@cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((fixtures_folder() / "schema.json").read_text("utf-8"))
    return schema


@cache
def _validator(part: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(_validated(part))


def _validated(part: str) -> Any:
    """Return the schema for a part: the whole one, or the part's definition with the definitions it refers to.

    With all definitions, creating a validator would take ten times as long.
    """
    if part == "":
        return _schema()
    needed: dict[str, Any] = {}
    _add_definition(f"#/$defs/{part}", needed)
    return {**needed, "$ref": f"#/$defs/{part}"}


def _add_definition(reference: str, needed: dict[str, Any]) -> None:
    """Copy the target of a reference to its place, and the targets of its own references to theirs."""
    *above, last = reference.removeprefix("#/").split("/")
    place = needed
    for step in above:
        place = place.setdefault(step, {})
    node = _named(reference)
    if place.get(last) is not node:
        place[last] = node
        for inner in _references(node):
            _add_definition(inner, needed)


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict) and isinstance(node.get("$ref"), str):
        yield node["$ref"]
    for item in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _references(item)


def definitions() -> Mapping[str, Any]:
    """Return the definitions of the schema.

    >>> definitions()["reason"]["enum"][0]
    'unknown_symbol'
    """
    found: Mapping[str, Any] = _schema()["$defs"]
    return found


@cache
def operations() -> tuple[str, ...]:
    """Name the operations, in the order of the protocol's table.

    >>> operations()[:4]
    ('normalize', 'pre_tokenize', 'encode', 'encode_batch')
    """
    return tuple(_schema()["$defs"]["operations"])


def errors(value: Any, part: str = "", *, every: bool = True) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Return the path and the message of every error in a value, by the schema or by a part of it.

    Unknown keys come first, because other keys may be missing because of them. If ``every`` is false, only one error is
    searched for and returned, because a long value may have a million.

    >>> list(errors({"text": 3}, "operations/normalize/input"))
    [(('text',), '3 is not of types "string", "object"')]
    >>> list(errors({"txt": "a"}, "operations/normalize/input"))
    [(('txt',), 'is an unknown key; did you mean text?'), ((), 'lacks the key text')]
    """
    try:
        found = _found(value, part, every)
    except UnicodeEncodeError:  # the validator cannot quote a lone surrogate
        found = _found(_without_surrogates(value), part, every)
    for error in found:
        for key in getattr(error.kind, "unexpected", ()):
            yield (*error.instance_path, key), f"is an unknown key; {_suggestion(key, _known_keys(part, error))}"
    for error in found:
        if not hasattr(error.kind, "unexpected"):
            yield tuple(error.instance_path), _message(error).translate(_SHOWN)


def _found(value: Any, part: str, every: bool) -> list[jsonschema_rs.ValidationError]:
    if every:
        return list(_validator(part).iter_errors(value))
    try:
        _validator(part).validate(value)
    except jsonschema_rs.ValidationError as error:
        return [error]
    return []


def _without_surrogates(value: Any) -> Any:
    """Copy a value with every lone surrogate replaced by a private-use character."""
    if isinstance(value, str):
        return value.translate(_PRIVATE)
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return [_without_surrogates(item) for item in value] if isinstance(value, list | tuple) else value


def _known_keys(part: str, error: jsonschema_rs.ValidationError) -> list[str]:
    """Return the keys that the schema allows at the place of an unknown key."""
    node = _validated(part)
    for step in error.schema_path[:-1]:
        node = node[step] if step != "$ref" else _named(node["$ref"])
    return sorted(node.get("properties", ()))


def _named(reference: str) -> Any:
    node: Any = _schema()
    for step in reference.removeprefix("#/").split("/"):
        node = node[step]
    return node


def _message(error: jsonschema_rs.ValidationError) -> str:
    if hasattr(error.kind, "property"):
        return f"lacks the key {error.kind.property}"
    if hasattr(error.kind, "options") and isinstance(error.instance, str):
        value = _shortened(json.dumps(error.instance))
        return f"{value} is not one of the values; {_suggestion(error.instance, error.kind.options)}"
    if error.kind.name == "falseSchema":
        return f"{_shortened(json.dumps(error.instance))} is not allowed here; leave it out"
    if hasattr(error.kind, "context"):
        return _shortened(_of_alternatives(error.kind.context, len(error.instance_path)))
    return _shortened(error.message)


def _of_alternatives(alternatives: list[list[jsonschema_rs.ValidationError]], depth: int) -> str:
    """Say what a value lacks for each of its possible forms, or that it matches several of them."""
    if not all(alternatives):
        return "has more than one of the allowed forms; keep one"
    said = (("/".join(map(str, each[0].instance_path[depth:])), _message(each[0])) for each in alternatives)
    faults = dict.fromkeys(f"{place}: {message}" if place else message for place, message in said)
    return f"has none of the allowed forms: {'; or '.join(faults)}"


def _suggestion(key: str, known: list[str]) -> str:
    from difflib import get_close_matches  # here, because nobody should need it

    near = get_close_matches(key[:_LONGEST_KEY], known, 1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(known) or 'none'}"


def _shortened(message: str) -> str:
    if len(message) <= _LONGEST_MESSAGE:
        return message
    return message[: _LONGEST_MESSAGE // 2] + " … " + message[-_LONGEST_MESSAGE // 2 :]
