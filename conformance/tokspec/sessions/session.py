"""What the rest of the suite sees of an implementation: requests go in, replies come out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Protocol, Self, TypeVar, runtime_checkable

from tokspec.adapter import Hello
from tokspec.base.errors import AdapterFault
from tokspec.protocol.messages import Reply, Request

__all__ = ["Closing", "Joint", "Session"]

_Made = TypeVar("_Made")


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
