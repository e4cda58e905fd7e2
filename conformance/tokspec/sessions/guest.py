"""An adapter in Python, called with care: whatever it does becomes the keys of a reply.

Beside those of ``spec/10-protocol.md`` there is ``broken``, for what a program cannot do at all: to return what JSON
does not have. It stays between the suite and its own host (:mod:`tokspec.sessions.adapter_server`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from tokspec.adapter import Adapter, Hello
from tokspec.base.errors import AdapterFault, Refusal
from tokspec.protocol.hello import greeting
from tokspec.protocol.plain import plain
from tokspec.protocol.wire import excerpt, shown

__all__ = ["Guest", "Message", "describe"]

Message: TypeAlias = dict[str, Any]


class Guest:
    """An adapter and the models that it has loaded, by name.

    What it is given and what it returns is copied, so that it cannot change a fixture or an earlier answer.

    Args:
        adapter: which may do anything.
        let_through: exceptions that are meant for us; any other is the adapter's crash.
        is_given: whether nobody else holds what it is given, so that it need not be copied.
    """

    def __init__(
        self, adapter: Adapter, let_through: tuple[type[BaseException], ...] = (), *, is_given: bool = False
    ) -> None:
        self._adapter = adapter
        self._given: Callable[[Any], Any] = (lambda value: value) if is_given else plain
        self._let_through = let_through
        self._models: dict[str, Any] = {}

    def hello(self) -> Message:
        """Ask for its description."""
        return self._guarded(lambda: _greeting(self._adapter.hello()))

    def load(self, name: str, format: str, content: Any) -> Message:
        """Give it a model."""

        def load() -> Message:
            self._models[name] = self._adapter.load(format, self._given(content))
            return {"ok": {}}

        return self._guarded(load)

    def run(self, operation: str, name: str, input: Mapping[str, Any]) -> Message:
        """Have it perform an operation on a model that it has loaded."""
        return self._guarded(lambda: _result(self._adapter.run(operation, self._models[name], self._given(input))))

    def has(self, name: str) -> bool:
        """Whether a model of this name is loaded."""
        return name in self._models

    def forget(self) -> None:
        """Let go of the models."""
        self._models.clear()

    def _guarded(self, call: Callable[[], Message]) -> Message:
        """Call it. A panic of a Rust extension and ``SystemExit`` are no ``Exception``, and crashes too."""
        try:
            return _answered(call)
        except self._let_through:
            raise
        except BaseException as error:
            return {"crashed": {"message": describe(error)}}


def _answered(call: Callable[[], Message]) -> Message:
    try:
        return call()
    except Refusal as refusal:  # which may be of a kind that fails when it is read
        return {"refused": {"reason": _text(refusal.reason), "message": _text(refusal.message)}}


def _greeting(hello: Any) -> Message:
    if isinstance(hello, Hello):
        return _result(greeting(hello))
    found = excerpt(type(hello).__name__)
    return {"broken": {"message": f"hello returned a value of type {found}; it needs a tokspec.adapter.Hello"}}


def _result(result: Any) -> Message:
    if not isinstance(result, Mapping):
        found = excerpt(type(result).__name__)
        return {"broken": {"message": f"returned a value of type {found}; a result is a mapping"}}
    try:
        return {"ok": plain(result)}
    except AdapterFault as fault:
        return {"broken": {"message": fault.message}}


def _text(value: object) -> str | None:
    return str.__str__(value) if isinstance(value, str) else None


def describe(error: BaseException) -> str:
    """Name an exception, its message and where it was raised, in printable ASCII; its own ``str`` may fail as well.

    >>> describe(ValueError("no \\x1b[31mtext"))
    'ValueError: no \\\\x1b[31mtext'
    """
    message = "a message that cannot be shown"
    with suppress(BaseException):
        message = shown(str(error))
    return f"{shown(type(error).__name__)}: {message}".removesuffix(": ") + _place(error)


def _place(error: BaseException) -> str:
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None:
        return ""
    code = last.tb_frame.f_code
    return shown(f" ({os.path.basename(code.co_filename)}:{last.tb_lineno} in {code.co_name})", 1000)
