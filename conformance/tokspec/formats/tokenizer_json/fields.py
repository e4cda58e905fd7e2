"""Conversion between a part of a ``tokenizer.json`` and the same part of the fixtures, both ways by one table.

A :class:`Component` is a part of one type, a :class:`Field` one of its keys, a :class:`Form` the form of its value.
Reading accounts for every key: it is a field, it has no effect, or it is refused and named. A key without which
tokenizers does not load a file has to be present.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from tokspec.base.display import shorten, visible
from tokspec.base.errors import DataError

FORMAT = "tokenizer.json"

#: Marks a missing value where None is a value.
NOTHING: Any = object()


@dataclass(frozen=True)
class Form:
    """The form of a value: ``read`` takes a value with its key, which an error names; ``write`` is the inverse.

    ``values`` maps all possible values in the file to those in the fixtures; it is empty if there are many.
    """

    read: Callable[[Any, str], Any]
    write: Callable[[Any], Any] = lambda value: value
    values: Mapping[Any, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Field:
    """A key in the file, its name in the fixtures, and its form.

    ``absent`` is the value of the fixtures if the file has no such key; without one, the key has to be present.
    ``unsaid`` is the value that the fixtures do not write.
    """

    theirs: str
    ours: str
    form: Form
    absent: Any = NOTHING
    unsaid: Any = NOTHING


@dataclass(frozen=True)
class Component:
    """A part of one type, by its name in the file and in the fixtures.

    ``silent`` are keys without effect, with the values that are written; ``ignored`` are such keys that are only read.
    ``finish`` takes the part in the file, the result of reading it, and the key, and returns the final result.
    """

    theirs: str
    ours: str
    fields: tuple[Field, ...] = ()
    silent: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    ignored: tuple[str, ...] = ()
    finish: Callable[[Mapping[str, Any], dict[str, Any], str], dict[str, Any]] = lambda part, found, key: found


@dataclass(frozen=True)
class Kinds:
    """The components that are possible in one place."""

    components: tuple[Component, ...]


def read_part(kinds: Kinds, part: Any, key: str) -> dict[str, Any]:
    """Read a part that states its type.

    Raises:
        DataError: a value is wrong or not covered; the error has its key.

    >>> read_part(Kinds((Component("NFC", "nfc"),)), {"type": "NFC"}, "normalizer")
    {'type': 'nfc'}
    >>> read_part(Kinds((Component("NFC", "nfc"),)), {"type": "NFD"}, "normalizer")
    ... # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: tokenizer.json: normalizer: is of type "NFD", which the specification does not cover;
        it reads NFC
    """
    if "type" not in object_at(part, key):
        raise wrong("is missing", at(key, "type"))
    name = part["type"]
    known = {component.theirs: component for component in kinds.components}
    if not isinstance(name, str) or name not in known:
        reads = f"it reads {', '.join(known)}"
        raise wrong(f"is of type {show(name)}, which the specification does not cover; {reads}", key)
    return read_component(known[name], part, key)


def read_component(component: Component, part: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Read a part that is known to be a component."""
    known = {field.theirs for field in component.fields}
    for name in part:
        if name not in known and name not in component.silent and name not in component.ignored and name != "type":
            raise wrong("is a key that the specification does not cover", at(key, name))
    found = {"type": component.ours} if component.ours else {}
    for field_ in component.fields:
        value = field_.absent
        if field_.theirs in part:
            value = field_.form.read(part[field_.theirs], at(key, field_.theirs))
        elif value is NOTHING:
            raise wrong("is missing", at(key, field_.theirs))
        if value != field_.unsaid:
            found[field_.ours] = value
    return component.finish(part, found, key)


def write_part(kinds: Kinds, part: Mapping[str, Any]) -> dict[str, Any]:
    """Write a part of the fixtures in which every default is filled in.

    >>> write_part(Kinds((Component("Digits", "digits", (Field("individual_digits", "individual_digits", BOOLEAN),)),)),
    ...            {"type": "digits", "individual_digits": True})
    {'type': 'Digits', 'individual_digits': True}
    """
    known = {component.ours: component for component in kinds.components}
    return write_component(known[part["type"]], part)


def write_component(component: Component, part: Mapping[str, Any]) -> dict[str, Any]:
    """Write a part that is known to be a component."""
    written = {"type": component.theirs} if component.theirs else {}
    for field_ in component.fields:
        value = part.get(field_.ours, None if field_.unsaid is NOTHING else field_.unsaid)
        written[field_.theirs] = field_.form.write(value)
    return {**written, **component.silent}


def part(kinds: Callable[[], Kinds]) -> Form:
    """Build the form of a part that states its type; the table may refer to itself."""
    return Form(lambda value, key: read_part(kinds(), value, key), lambda value: write_part(kinds(), value))


def object_of(component: Component) -> Form:
    """Build the form of an object that is always the same component, and states no type."""
    return Form(
        lambda value, key: read_component(component, object_at(value, key), key),
        lambda value: write_component(component, value),
    )


def wrong(message: str, key: str) -> DataError:
    """Build the error that says what is wrong with a key."""
    return DataError(message, FORMAT, key=key)


def at(key: str, name: str) -> str:
    """Return the key of an object's member.

    >>> at("model", "vocab"), at("", "model"), at("model", "a\\n")
    ('model.vocab', 'model', 'model.a\\\\u000a')
    """
    return f"{key}.{shorten(visible(name))}".removeprefix(".")


def show(value: Any) -> str:
    """Return the beginning of a value as JSON.

    >>> show(float("nan")), show("é")
    ('NaN', '"\\\\u00e9"')
    """
    shown = json.dumps(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"


def object_at(value: Any, key: str) -> Mapping[str, Any]:
    """Return a value, or refuse it if it is not an object."""
    if not isinstance(value, Mapping):
        raise wrong("is not an object", key)
    return value


def checked(what: str, is_one: Callable[[Any], bool], *values: Any) -> Form:
    """Build the form of a value that stays unchanged."""

    def read(value: Any, key: str) -> Any:
        if not is_one(value):
            raise wrong(f"is {show(value)}, which is not {what}", key)
        return value

    return Form(read, values={value: value for value in values})


def _is_base64(value: Any) -> bool:
    try:
        return isinstance(value, str) and b64decode(value, validate=True) is not None
    except ValueError:
        return False


BOOLEAN = checked("true or false", lambda value: type(value) is bool, False, True)
TEXT = checked("a string", lambda value: isinstance(value, str))
CHARACTER = checked("one character", lambda value: isinstance(value, str) and len(value) == 1)
BASE64 = checked("base64", _is_base64)
#: The ranges of numbers are those of the library's types.
ID = checked("an integer from 0 to 4294967295", lambda value: type(value) is int and 0 <= value < 2**32)
COUNT = checked("an integer from 0 to 18446744073709551615", lambda value: type(value) is int and 0 <= value < 2**64)


def optional(form: Form) -> Form:
    """Build the form of a value that may be null."""
    return Form(
        lambda value, key: None if value is None else form.read(value, key),
        lambda value: None if value is None else form.write(value),
        {None: None, **form.values} if form.values else {},
    )


def one_of(names: Mapping[str, str]) -> Form:
    """Build the form of a value that is one of several names; of two with the same meaning, the first is written."""
    ours = {name: theirs for theirs, name in reversed([*names.items()])}

    def read(value: Any, key: str) -> str:
        if not isinstance(value, str) or value not in names:
            raise wrong(f"is {show(value)}, which is not one of {', '.join(names)}", key)
        return names[value]

    return Form(read, ours.__getitem__, names)


def list_of(form: Form) -> Form:
    """Build the form of a list."""

    def read(value: Any, key: str) -> list[Any]:
        if not isinstance(value, list):
            raise wrong("is not a list", key)
        return [form.read(member, f"{key}[{index}]") for index, member in enumerate(value)]

    return Form(read, lambda value: [form.write(member) for member in value], form.values)


def single(forms: Sequence[tuple[str, str, Form]]) -> Form:
    """Build the form of an object with one key, whose name tells its kind."""
    theirs = {name: (ours, form) for name, ours, form in forms}

    def read(value: Any, key: str) -> dict[str, Any]:
        found = object_at(value, key)
        if len(found) != 1 or not theirs.keys() >= found.keys():
            raise wrong(f"is {show(value)}, which is not an object with one of the keys {', '.join(theirs)}", key)
        (name,) = found
        ours, form = theirs[name]
        return {ours: form.read(found[name], at(key, name))}

    def write(value: Mapping[str, Any]) -> dict[str, Any]:
        return {name: form.write(value[ours]) for name, (ours, form) in theirs.items() if ours in value}

    return Form(read, write, {name: ours for name, (ours, _) in theirs.items()})


PATTERN = single([("String", "string", TEXT), ("Regex", "regex", TEXT)])


def _read_token(value: Any, key: str) -> list[Any]:
    if not isinstance(value, list) or len(value) != 2:
        raise wrong(f"is {show(value)}, which is not a pair of a token and an id", key)
    return [TEXT.read(value[0], f"{key}[0]"), ID.read(value[1], f"{key}[1]")]


#: A token with its id.
TOKEN = Form(_read_token)


def same(names: Iterable[str], form: Form) -> tuple[Field, ...]:
    """Build the fields that have one form and the same name in the file and in the fixtures."""
    return tuple(Field(name, name, form) for name in names)
