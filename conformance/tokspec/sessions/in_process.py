"""A session with an implementation that is a Python object in this process."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from tokspec.adapter import Adapter, Hello
from tokspec.errors import AdapterFault, Refusal
from tokspec.sessions.contract import Answer, Fault, Refused, Reply, Request
from tokspec.sessions.plain import plain
from tokspec.sessions.refusals import not_offered, refused, write_model
from tokspec.wire import excerpt

__all__ = ["InProcessSession"]

_Value = TypeVar("_Value")


class InProcessSession:
    """Asks an adapter directly. There is no time limit, and an exit of the whole process cannot be caught.

    What the adapter is given and what it returns is copied, so that it cannot change a fixture or an earlier answer.

    Raises:
        AdapterFault: if ``hello`` fails or returns something else than a ``Hello``.
    """

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._models: dict[str, Any] = {}
        self._unusable: dict[str, Reply] = {}
        hello = _guarded(adapter.hello)
        if isinstance(hello, Fault):
            raise AdapterFault(hello.kind, hello.message)
        if isinstance(hello, Refused):
            raise AdapterFault("protocol", f"hello is refused: {excerpt(f'{hello.reason}: {hello.message}')}")
        if not isinstance(hello, Hello):
            found = excerpt(type(hello).__name__)
            raise AdapterFault("protocol", f"hello returned a value of type {found}; it needs a tokspec.adapter.Hello")
        self.hello = hello

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Give the reply of each request, in order."""
        for index, request in enumerate(requests):
            yield index, self._reply(request)

    def _reply(self, request: Request) -> Reply:
        refusal = not_offered(self.hello, request)
        if refusal is not None:
            return refusal
        self._load(request)
        if request.model_name in self._unusable:
            return self._unusable[request.model_name]
        model, input = self._models[request.model_name], plain(request.input)
        return _guarded(lambda: _answer(self._adapter.run(request.operation, model, input)))

    def _load(self, request: Request) -> None:
        name = request.model_name
        if name in self._models or name in self._unusable:
            return
        written = write_model(self.hello.formats, request.model)
        if isinstance(written, Refused):
            self._unusable[name] = written
            return
        format, content = written[0], plain(written[1])
        model = _guarded(lambda: _Loaded(self._adapter.load(format, content)))
        if isinstance(model, _Loaded):
            self._models[name] = model.value
        else:
            self._unusable[name] = model

    def close(self) -> None:
        """Let go of the models."""
        self._models.clear()
        self._unusable.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class _Loaded:
    """Whatever ``load`` returned; even a reply of the suite's own is only a value here."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _answer(result: Any) -> Answer | Fault:
    if not isinstance(result, Mapping):
        return Fault("protocol", f"returned a value of type {excerpt(type(result).__name__)}; a result is a mapping")
    try:
        return Answer(plain(result))
    except AdapterFault as fault:
        return Fault(fault.kind, fault.message)


def _guarded(call: Callable[[], _Value]) -> _Value | Refused | Fault:
    """Call untrusted code. A panic of a Rust extension and ``SystemExit`` are no ``Exception``, and crashes too."""
    try:
        return call()
    except KeyboardInterrupt:
        raise
    except Refusal as refusal:
        return refused(refusal.reason, refusal.message)
    except BaseException as error:
        return Fault("crash", _describe(error))


def _describe(error: BaseException) -> str:
    """Name the exception, its message and where it was raised; an exception's own ``str`` may fail as well."""
    message = "a message that cannot be shown"
    with suppress(Exception):
        message = excerpt(str(error))[1:-1]
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""
    return f"{excerpt(type(error).__name__)[1:-1]}: {message}".removesuffix(": ") + excerpt(place, len(place))[1:-1]
