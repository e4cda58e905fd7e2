"""Writing to a program that may read late or never, without waiting for it."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue

__all__ = ["Outlet"]

#: Bytes that a pipe with room takes at once (POSIX).
_AT_ONCE = getattr(select, "PIPE_BUF", 0)


class Outlet:
    """The writing end of a pipe. Little is written at once, if the pipe has room; the rest by a thread that may wait.

    Args:
        descriptor: the end; it is closed by the thread.
        is_lost: whether nobody will read, so that what is left can be thrown away.
    """

    def __init__(self, descriptor: int, is_lost: Callable[[], bool]) -> None:
        self._descriptor = descriptor
        self._is_lost = is_lost
        self._waiting: SimpleQueue[bytes | None] = SimpleQueue()
        self._closing = threading.Lock()
        self._is_closed = False
        self._left = 0
        self._done = 0
        self._room = select.poll() if _AT_ONCE and hasattr(select, "poll") else None
        if self._room is not None:
            self._room.register(descriptor, select.POLLOUT)

    def send(self, data: bytes) -> None:
        """Write after whatever was sent before; what nobody will read is lost."""
        if not self._send_at_once(data):
            self._left += 1
            self._waiting.put(data)

    def _send_at_once(self, data: bytes) -> bool:
        if self._room is None or len(data) > _AT_ONCE or self._left != self._done:
            return False
        with self._closing:  # whose number may soon be that of another file
            if self._is_closed or self._is_lost() or not self._room.poll(0):
                return False
            with suppress(BrokenPipeError):
                os.write(self._descriptor, data)
        return True

    def end(self) -> None:
        """Let the thread close the pipe, after what was sent."""
        self._waiting.put(None)

    def work(self) -> None:
        """Do what the thread has to do."""
        while (data := self._waiting.get()) is not None and not self._is_lost():
            left = memoryview(data)
            while left and not self._is_lost():
                left = left[os.write(self._descriptor, left) :]
            self._done += 1
        with self._closing:
            self._is_closed = True
            os.close(self._descriptor)
