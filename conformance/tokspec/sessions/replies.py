"""What the keys of a reply mean (``spec/10-protocol.md``, PROTO-5, and the two keys of :mod:`tokspec.host`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tokspec.adapter import Hello
from tokspec.errors import AdapterFault, DataError
from tokspec.greeting import parse_hello
from tokspec.loading import Missing
from tokspec.sessions.contract import Answer, Fault, Refused, Reply
from tokspec.sessions.refusals import refused
from tokspec.wire import excerpt, shown

__all__ = ["read_hello", "read_reply"]

#: Characters of a message that an implementation gives of its own crash.
CRASH_SHOWN = 1000


def read_reply(message: Mapping[str, Any], line: bytes = b"", *, is_ours: bool = False) -> Reply:
    """Give the reply that a message holds; anything else in it than one of the keys is left alone.

    Args:
        message: an object, with or without its ``id``.
        line: from which it was read, to be shown.
        is_ours: whether it comes from our own host, whose word is taken for more.

    Raises:
        DataError: our own host says that the user's wish was wrong.

    >>> read_reply({"id": 3, "crashed": {"message": "list index out of range"}})
    Fault(kind='crash', message='list index out of range')
    """
    readers = _OURS if is_ours else _READERS
    given = [key for key in readers if key in message]
    if len(given) != 1:
        what = f"both {' and '.join(given[:2])}" if given else "none of ok, refused and crashed"
        return Fault("protocol", f"a reply has {what}: {excerpt(line)}")
    value = message[given[0]]
    if not isinstance(value, dict):
        return Fault("protocol", f"the {given[0]} of a reply is not an object: {excerpt(line)}")
    return readers[given[0]](value)


def read_hello(reply: Reply) -> Hello:
    """Give the description that the reply to ``hello`` holds.

    Raises:
        AdapterFault: there is none, or it is not proper.

    >>> read_hello(Refused("unsupported", "not now"))
    Traceback (most recent call last):
        ...
    tokspec.errors.AdapterFault: protocol: hello is refused: 'unsupported: not now'
    """
    if isinstance(reply, Answer):
        return parse_hello(reply.result)
    if isinstance(reply, Refused):
        raise AdapterFault("protocol", f"hello is refused: {excerpt(f'{reply.reason}: {reply.message}')}")
    raise AdapterFault(reply.kind, reply.message)


def _refused(value: Mapping[str, Any]) -> Reply:
    return refused(value.get("reason"), value.get("message", ""))


def _crashed(value: Mapping[str, Any]) -> Reply:
    message = value.get("message")
    if not isinstance(message, str):
        return Fault("protocol", "the crashed of a reply needs a message, a string")
    return Fault("crash", shown(message, CRASH_SHOWN))


def _misused(value: Mapping[str, Any]) -> Reply:
    kind = Missing if value["missing"] else DataError
    raise kind(value["message"], key=value["key"])


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Reply]] = {"ok": Answer, "refused": _refused, "crashed": _crashed}
_OURS: Mapping[str, Callable[[Mapping[str, Any]], Reply]] = {
    **_READERS,
    "broken": lambda value: Fault("protocol", value["message"]),
    "misuse": _misused,
}
