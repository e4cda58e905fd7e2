"""The meaning of a reply's keys (``spec/10-protocol.md``, PROTO-5, and two more keys of the adapter server)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from tokspec.adapter import Hello
from tokspec.base.display import escape, quote
from tokspec.base.errors import AdapterFault, DataError, MissingModule
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.suite import schema
from tokspec.suite.specification import load_specification

#: How many characters of the message of a crash or a refusal are kept, because every reply may have one.
MESSAGE = 1000


def read_reply(
    message: Mapping[str, Any], line: bytes = b"", *, is_ours: bool = False, to_hello: bool = False
) -> Reply:
    """Return the reply in a message; everything in it except one of the keys is ignored.

    Args:
        message: an object, with or without its ``id``.
        line: the line from which it was read, for error messages.
        is_ours: whether it comes from the suite's own host, which may use more keys; an adapter in it can write in its
            name.
        to_hello: whether it answers ``hello``; only then can it report misuse.

    Raises:
        DataError: the suite's own host answers ``hello`` with the user's mistake.

    >>> read_reply({"id": 3, "crashed": {"message": "list index out of range"}})
    Fault(kind='crash', message='list index out of range')
    """
    readers = (_OURS_AT_HELLO if to_hello else _OURS) if is_ours else _READERS
    given = [key for key in readers if key in message]
    if len(given) != 1:
        what = f"both {' and '.join(given[:2])}" if given else "none of ok, refused and crashed"
        return Fault("protocol", f"a reply has {what}: {quote(line)}")
    value = message[given[0]]
    if not isinstance(value, dict):
        return Fault("protocol", f"the {given[0]} of a reply is not an object: {quote(line)}")
    return readers[given[0]](value)


def check_form(operation: str, reply: Reply) -> Reply:
    """Return a reply, or a fault if its result does not have the form of the operation's results.

    >>> check_form("encode", Answer({"tokens": [1]}))
    Fault(kind='protocol', message='tokens/0: 1 is not of types "string", "object"')
    """
    if isinstance(reply, Answer):
        part = "many" if operation.endswith("_many") else "operations"
        for path, message in schema.errors(reply.result, f"{part}/{operation}/result", every=False):
            return Fault("protocol", f"{escape('/'.join(map(str, path))) or 'the result'}: {message}")
    return reply


def read_hello(reply: Reply) -> Hello:
    """Return the description in the reply to ``hello``.

    Raises:
        AdapterFault: the reply has no description, or an improper one.

    >>> read_hello(Refused("unsupported", "not now"))
    Traceback (most recent call last):
        ...
    tokspec.base.errors.AdapterFault: protocol: hello is refused: 'unsupported: not now'
    """
    if isinstance(reply, Answer):
        return parse_hello(reply.result)
    if isinstance(reply, Refused):
        raise AdapterFault("protocol", f"hello is refused: {quote(f'{reply.reason}: {reply.message}')}")
    raise AdapterFault(reply.kind, reply.message)


def parse_hello(message: Mapping[str, Any]) -> Hello:
    """Read the answer to ``hello``; keys that the protocol does not know are ignored.

    Raises:
        AdapterFault: ``protocol``; the message names the part that the schema does not allow.

    >>> parse_hello({"protocol": 1, "name": "mytok", "version": "0.3", "language": "C",
    ...              "operations": ["encode"], "formats": ["tokspec"]}).name
    'mytok'
    """
    for path, error in schema.errors(message, "hello", every=False):
        place = f"{'/'.join(map(str, path))}: " if path else ""
        raise AdapterFault("protocol", escape(f"the answer to hello is wrong: {place}{error}", MESSAGE))
    unicode = message.get("unicode", "")
    if unicode and not re.fullmatch(r"[0-9]+(\.[0-9]+){0,2}", unicode):
        what = f"unicode: {quote(unicode)} is not a version; write it as 15.1.0, or leave it out"
        raise AdapterFault("protocol", escape(f"the answer to hello is wrong: {what}", MESSAGE))
    given = {field.name: message[field.name] for field in fields(Hello) if field.name in message}
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    return Hello(**values)


def read_refusal(reason: object, message: object) -> Refused | Fault:
    """Return a refusal as a reply; a reason that is not on the list is a fault (ERROR-1).

    >>> read_refusal("unknown_symbol", "m")
    Refused(reason='unknown_symbol', message='m')
    >>> read_refusal("too_hard", "")
    Fault(kind='protocol', message="the refusal has the reason 'too_hard', which is not in spec/09-errors.md")
    """
    if not isinstance(reason, str) or not isinstance(message, str):
        return Fault("protocol", "the refusal needs a reason and perhaps a message, both strings")
    if reason not in load_specification().reasons:
        return Fault("protocol", f"the refusal has the reason {quote(reason)}, which is not in spec/09-errors.md")
    return Refused(reason, message)


def _refused(value: Mapping[str, Any]) -> Reply:
    message = value.get("message", "")
    return read_refusal(value.get("reason"), _cut(message) if isinstance(message, str) else message)


def _cut(message: str) -> str:
    more = len(message) - MESSAGE
    return f"{message[:MESSAGE]} and {more} more characters" if more > 0 else message


def _crashed(value: Mapping[str, Any]) -> Reply:
    return _fault("crash", "crashed", value)


def _broken(value: Mapping[str, Any]) -> Reply:
    return _fault("protocol", "broken", value)


def _fault(kind: str, key: str, value: Mapping[str, Any]) -> Fault:
    message = value.get("message")
    if not isinstance(message, str):
        return Fault("protocol", f"the {key} of a reply needs a message, a string")
    return Fault(kind, escape(message, MESSAGE))


def _misused(value: Mapping[str, Any]) -> Reply:
    message, key, missing = (value.get(name) for name in ("message", "key", "missing"))
    if not isinstance(message, str) or not isinstance(key, str) or not isinstance(missing, bool):
        return Fault("protocol", "the misuse of a reply needs message and key, strings, and missing, true or false")
    raise (MissingModule if missing else DataError)(_cut(message), key=_cut(key))


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Reply]] = {"ok": Answer, "refused": _refused, "crashed": _crashed}
_OURS = {**_READERS, "broken": _broken}
_OURS_AT_HELLO = {**_OURS, "misuse": _misused}
