"""What the rest of the suite sees of an implementation: requests go in, replies come out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

from tokspec.adapter import Hello
from tokspec.errors import AdapterFault

__all__ = ["Answer", "Closing", "Fault", "Joint", "Refused", "Reply", "Request", "Session"]


@dataclass(frozen=True)
class Request:
    """One operation to be performed. It never holds what is expected.

    ``model_name`` names a model within the run: two requests with the same name have the same ``model``, which is in
    the neutral form of the fixtures.

    >>> Request("encode", "toy", {"type": "bpe"}, {"text": "bug"}).input
    {'text': 'bug'}
    """

    operation: str
    model_name: str
    model: Mapping[str, Any]
    input: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """A result, made of plain JSON values; strings may hold lone surrogates.

    >>> Answer({"tokens": ["b", "ug"]}).result["tokens"]
    ['b', 'ug']
    """

    result: Mapping[str, Any]


@dataclass(frozen=True)
class Refused:
    """A refusal with a reason out of ``spec/09-errors.md`` (ERROR-1).

    ``message`` is the implementation's own text and not to be trusted.

    >>> Refused("unknown_symbol", "m").reason
    'unknown_symbol'
    """

    reason: str
    message: str


@dataclass(frozen=True)
class Fault:
    """A misbehaviour (PROTO-1): ``kind`` is ``crash``, ``timeout`` or ``protocol``; ``message`` is printable ASCII.

    >>> Fault("crash", "exit status 3").kind
    'crash'
    """

    kind: str
    message: str


_Made = TypeVar("_Made")

Reply: TypeAlias = Answer | Refused | Fault


class Session(Protocol):
    """A conversation with one implementation, started on construction and ended by ``close`` or a ``with`` block.

    ``ask`` gives exactly one reply for each request, with the request's index, in any order and lazily. A model is
    loaded before its first use, in the first of ``hello.formats`` that can express it; where none can, and where the
    implementation does not offer the operation, the reply is a refusal as ``unsupported`` without asking. Whatever
    ``load`` replies, unless it succeeds, is the reply of every request of that model. ``unblamed`` are faults for which
    no request is to blame: whatever was asked then was answered when it was asked again.
    """

    @property
    def hello(self) -> Hello: ...

    @property
    def unblamed(self) -> Sequence[AdapterFault]: ...

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]: ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


class Closing(ABC):
    """What a session has of a ``with`` block: its end closes."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


@runtime_checkable
class Joint(Session, Protocol):
    """A session with several processes of one implementation.

    ``ask_all`` asks them at once and gives, in one order, what ``take`` makes of each request's index and reply; it is
    called in other threads.
    """

    def ask_all(
        self, requests: Sequence[Request], take: Callable[[int, Reply], _Made]
    ) -> Iterator[tuple[int, _Made]]: ...
