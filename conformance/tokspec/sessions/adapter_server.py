"""The server for adapters in Python, which turns an adapter into a program that speaks the protocol.

Start it with ``python -m tokspec.sessions.adapter_server MODULE:OBJECT``; further arguments replace the module search
path. The suite runs adapters in it, so that an adapter that hangs, exits or dies does not affect the suite. The server
keeps the two streams of the protocol to itself: output that the adapter, or a library below it, prints goes to standard
error, and standard input is empty for them. An exception is answered as ``crashed`` (PROTO-5), and the server goes on
with the next request. A process that the adapter forks ends when it returns, because only one process may answer.

Two keys of its replies are not in ``spec/10-protocol.md``. The suite accepts them only from this server, and trusts
them no more than other keys, because an adapter can find the descriptor to which they are written:

* ``broken`` (an object with a ``message``): the adapter returned a value that JSON does not have, and that is the
  fault.
* ``misuse`` (``message``, ``key``, ``missing``), in answer to ``hello``: there is no such adapter, and the fault is
  the user's. ``missing`` says whether something has to be installed.

This module imports little of the suite, so that the server starts fast.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import reduce
from inspect import isclass
from typing import Any, BinaryIO, TypeAlias

from tokspec.adapter import Adapter, Hello
from tokspec.base.display import escape, quote
from tokspec.base.errors import AdapterFault, DataError, MissingModule, Refusal
from tokspec.base.json_values import copy_json, decode_line, encode_line
from tokspec.protocol.messages import write_hello
from tokspec.sessions.many import MESSAGES, answer_many, offered_by

Message: TypeAlias = dict[str, Any]

_METHODS = ("hello", "load", "run")


def make_adapter(target: str, choices: Mapping[str, str] | None = None) -> Adapter:
    """Import ``package.module:Object``, a class, factory or instance; an empty object name means the module.

    A class or factory is called, with the choices if they are given.

    Raises:
        DataError: it cannot be found or made, or is not an adapter; :class:`MissingModule` if it cannot be imported.

    >>> make_adapter("tokspec.adapters.reference:ReferenceAdapter").hello().name
    'tokref'
    """
    try:
        with keep_streams():
            found = _object(target)
            arguments = () if choices is None else (choices,)
            adapter = found if _is_instance(found) else found(*arguments) if callable(found) else found
        missing = [name for name in _METHODS if not callable(getattr(adapter, name, None))]
    except (DataError, KeyboardInterrupt):
        raise
    except ImportError as error:
        raise MissingModule(f"cannot be imported: {escape(str(error))}") from None
    except BaseException as error:  # the adapter's code: a panic of an extension and SystemExit are no Exception
        raise DataError(f"cannot be created: {_name_exception(error)}; import it by hand to see where") from error
    if missing:
        raise DataError(f"is not an adapter: it has no {' and no '.join(missing)}; see tokspec.adapter.Adapter")
    return adapter  # type: ignore[no-any-return]


def _object(target: str) -> Any:
    module, _, path = target.partition(":")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise
        raise DataError(f"there is no module {error.name} in this folder or this environment") from None
    try:
        return reduce(getattr, path.split("."), found) if path else found
    except AttributeError as error:
        raise DataError(f"cannot be found: {escape(str(error))}") from None


def _is_instance(found: Any) -> bool:
    return not isclass(found) and all(hasattr(found, name) for name in _METHODS)


class AdapterCaller:
    """An adapter and its loaded models, by name.

    The adapter's inputs and results are copied, so that it cannot change a fixture or an earlier answer.

    Args:
        adapter: the adapter, which may do anything.
        let_through: exceptions that are meant for the caller; any other is a crash of the adapter.
        is_given: whether nobody else holds the inputs, so that they need not be copied.
    """

    def __init__(
        self, adapter: Adapter, let_through: tuple[type[BaseException], ...] = (), *, is_given: bool = False
    ) -> None:
        self._adapter = adapter
        self._given: Callable[[Any], Any] = (lambda value: value) if is_given else copy_json
        self._let_through = let_through
        self._models: dict[str, Any] = {}

    def hello(self) -> Message:
        """Request the adapter's description."""
        return self._guarded(lambda: _read_description(self._adapter.hello()))

    def load(self, name: str, format: str, content: Any) -> Message:
        """Let the adapter load a model, and keep the result under the name."""

        def load() -> Message:
            self._models[name] = self._adapter.load(format, self._given(content))
            return {"ok": {}}

        return self._guarded(load)

    def run(self, operation: str, name: str, input: Mapping[str, Any]) -> Message:
        """Let the adapter perform an operation on a loaded model."""
        model = self._models.get(name)
        if operation in MESSAGES.values():
            guard = self._guarded_result
            return self._guarded(
                lambda: {"ok": answer_many(self._adapter, operation, model, self._given(input), guard)}
            )
        return self._guarded_result(lambda: self._adapter.run(operation, model, self._given(input)))

    def has(self, name: str) -> bool:
        """Return whether a model of this name is loaded."""
        return name in self._models

    def forget(self) -> None:
        """Release the models."""
        self._models.clear()

    def _guarded_result(self, call: Callable[[], Any]) -> Message:
        return self._guarded(lambda: _result(call()))

    def _guarded(self, call: Callable[[], Message]) -> Message:
        """Call a function, and turn its exceptions into replies.

        A panic of a Rust extension and ``SystemExit``, which are no ``Exception``, are crashes too.
        """
        try:
            with keep_streams():
                return _answered(call)
        except self._let_through:
            raise
        except BaseException as error:
            return {"crashed": {"message": describe_exception(error)}}


@contextmanager
def keep_streams() -> Iterator[None]:
    """Restore the streams of ``sys``, which an adapter may have replaced, because the suite may print to them."""
    streams = sys.stdin, sys.stdout, sys.stderr
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams


def _answered(call: Callable[[], Message]) -> Message:
    try:
        return call()
    except Refusal as refusal:  # its attributes may be of a kind that fails when it is read
        return {"refused": {"reason": _text(refusal.reason), "message": _text(refusal.message)}}


def _read_description(hello: Any) -> Message:
    if isinstance(hello, Hello):
        return _result(write_hello(replace(hello, many=offered_by(hello))))
    found = quote(type(hello).__name__)
    return {"broken": {"message": f"hello returned a value of type {found}; it needs a tokspec.adapter.Hello"}}


def _result(result: Any) -> Message:
    if not isinstance(result, Mapping):
        found = quote(type(result).__name__)
        return {"broken": {"message": f"returned a value of type {found}; a result is a mapping"}}
    try:
        return {"ok": copy_json(result)}
    except AdapterFault as fault:
        return {"broken": {"message": fault.message}}


def _text(value: object) -> str | None:
    return str.__str__(value) if isinstance(value, str) else None


def describe_exception(error: BaseException) -> str:
    """Describe an exception, its message and where it was raised, in printable ASCII; even its ``str`` may fail.

    >>> describe_exception(ValueError("no \\x1b[31mtext"))
    'ValueError: no \\\\x1b[31mtext'
    """
    return _name_exception(error) + _place(error)


def _name_exception(error: BaseException) -> str:
    message = "a message that cannot be shown"
    with suppress(BaseException):
        message = escape(str(error))
    return f"{escape(type(error).__name__)}: {message}".removesuffix(": ")


def _place(error: BaseException) -> str:
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None:
        return ""
    code = last.tb_frame.f_code
    return escape(f" ({os.path.basename(code.co_filename)}:{last.tb_lineno} in {code.co_name})", 1000)


class AdapterServer:
    """Answers requests, one after the other. ``hello`` imports and creates the adapter."""

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self._caller: AdapterCaller | None = None

    def answer(self, request: Mapping[str, Any]) -> Message:
        """Return the keys of the reply to a request."""
        return _ANSWERS.get(request["op"], AdapterServer._run)(self, request)

    def _hello(self, request: Mapping[str, Any]) -> Message:
        try:
            name, _, choices = self._spec.partition(" ")
            adapter = make_adapter(name, json.loads(choices) if choices else None)
            self._caller = AdapterCaller(adapter, is_given=True)
        except DataError as error:
            return {"misuse": {"message": error.message, "key": error.key, "missing": isinstance(error, MissingModule)}}
        return self._caller.hello()

    def _load(self, request: Mapping[str, Any]) -> Message:
        if self._caller is None:
            return _unsupported("say hello first")
        return self._caller.load(request["model"], request["format"], request["content"])

    def _run(self, request: Mapping[str, Any]) -> Message:
        if self._caller is None or not self._caller.has(request["model"]):
            return _unsupported("no model of this name is loaded")
        return self._caller.run(request["op"], request["model"], request["input"])

    def _bye(self, request: Mapping[str, Any]) -> Message:
        return {"ok": {}}


_ANSWERS: Mapping[str, Callable[[AdapterServer, Mapping[str, Any]], Message]] = {
    "hello": AdapterServer._hello,
    "load": AdapterServer._load,
    "bye": AdapterServer._bye,
}


def _unsupported(message: str) -> Message:
    return {"refused": {"reason": "unsupported", "message": message}}


def _line(id: object, message: Message) -> bytes:
    try:
        return encode_line({"id": id, **message})
    except BaseException as error:  # most likely too large to be written
        return encode_line({"id": id, "crashed": {"message": describe_exception(error)}})


def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Take standard input and output away from other code in this process, and from processes that it starts.

    From then on, printed output goes to standard error, and standard input is empty.
    """
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return questions, answers


def main() -> int:
    """Serve the adapter that the command line names until ``bye``, or until the input ends.

    Choices for creating it may follow its name and a space, as JSON.
    """
    if len(sys.argv) < 2:
        sys.stderr.write("usage: python -m tokspec.sessions.adapter_server MODULE:OBJECT\n")
        return 2
    spec, *path = sys.argv[1:]
    sys.path[:] = path or sys.path
    requests, replies = take_streams()
    server = AdapterServer(spec)
    process = os.getpid()
    for line in requests:
        request = decode_line(line, values=math.inf)  # a model may be large, and comes from the suite itself
        reply = _line(request["id"], server.answer(request))
        if os.getpid() != process:
            os._exit(0)
        replies.write(reply)
        replies.flush()
        if request["op"] == "bye":
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
