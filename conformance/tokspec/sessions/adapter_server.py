"""A program that speaks the protocol for an adapter in Python.

Start it by ``python -m tokspec.sessions.adapter_server NAME_OR_MODULE:OBJECT``.

The suite runs adapters in it, so that one that hangs, exits or dies does so alone. It keeps the two streams of the
protocol to itself: whatever the adapter, or a library below it, prints goes to standard error, and what it reads from
standard input is empty. An exception is answered as ``crashed`` (PROTO-5), and the next request finds the host alive.
A process that the adapter forks ends where it comes back: only one may answer.

Two keys of its replies stand not in ``spec/10-protocol.md``; the suite takes them from nobody else, and believes them
no more than others, for an adapter can find the descriptor to which they are written:

* ``broken`` (an object with a ``message``): the adapter returned what JSON does not have, and that is the fault.
* ``misuse`` (``message``, ``key``, ``missing``), in answer to ``hello``: there is no such adapter, and the fault is
  the user's. ``missing`` says whether something has to be installed.

Further arguments replace the path on which modules are searched.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from tokspec.base.errors import DataError
from tokspec.protocol.wire import decode_line, encode_line
from tokspec.sessions.guest import Guest, Message, describe
from tokspec.sessions.loading import Missing, make_adapter
from tokspec.sessions.own_streams import take_streams

__all__ = ["main"]


class Host:
    """Answers requests, one after the other. The adapter is imported and made by ``hello``."""

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self._guest: Guest | None = None

    def answer(self, request: Mapping[str, Any]) -> Message:
        """Give the keys of the reply to a request."""
        return _ANSWERS.get(request["op"], Host._run)(self, request)

    def _hello(self, request: Mapping[str, Any]) -> Message:
        try:
            self._guest = Guest(make_adapter(_target(self._spec)), is_given=True)
        except DataError as error:
            return {"misuse": {"message": error.message, "key": error.key, "missing": isinstance(error, Missing)}}
        return self._guest.hello()

    def _load(self, request: Mapping[str, Any]) -> Message:
        if self._guest is None:
            return _unsupported("say hello first")
        return self._guest.load(request["model"], request["format"], request["content"])

    def _run(self, request: Mapping[str, Any]) -> Message:
        if self._guest is None or not self._guest.has(request["model"]):
            return _unsupported("no model of this name is loaded")
        return self._guest.run(request["op"], request["model"], request["input"])

    def _bye(self, request: Mapping[str, Any]) -> Message:
        return {"ok": {}}


_ANSWERS: Mapping[str, Callable[[Host, Mapping[str, Any]], Message]] = {
    "hello": Host._hello,
    "load": Host._load,
    "bye": Host._bye,
}


def _unsupported(message: str) -> Message:
    return {"refused": {"reason": "unsupported", "message": message}}


def _target(spec: str) -> str:
    """Give the module and object behind a name; who starts a host without the suite may use one."""
    if ":" in spec:
        return spec
    from tokspec.adapters.registry import find  # takes longer to import than all the rest

    return find(spec).target


def _line(id: object, message: Message) -> bytes:
    try:
        return encode_line({"id": id, **message})
    except BaseException as error:  # most likely too large to be written
        return encode_line({"id": id, "crashed": {"message": describe(error)}})


def main() -> int:
    """Serve the adapter that the command line names until ``bye``, or until the input ends."""
    if len(sys.argv) < 2:
        sys.stderr.write("usage: python -m tokspec.sessions.adapter_server NAME_OR_MODULE:OBJECT\n")
        return 2
    spec, *path = sys.argv[1:]
    sys.path[:] = path or sys.path
    requests, replies = take_streams()
    host = Host(spec)
    process = os.getpid()
    for line in requests:
        request = decode_line(line, values=math.inf)  # a model may be large, and it is the suite's own
        reply = _line(request["id"], host.answer(request))
        if os.getpid() != process:
            os._exit(0)
        replies.write(reply)
        replies.flush()
        if request["op"] == "bye":
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
