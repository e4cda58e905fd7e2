"""How one thread ends what another one waits for: a reply that nobody wants any more must not cost its time limit."""

from __future__ import annotations

import threading
from typing import Protocol

__all__ = ["Interrupted", "Interruption"]


class Interrupted(Exception):
    """Another thread wants no more replies."""


class _Waiting(Protocol):
    def interrupt(self) -> None: ...


class Interruption:
    """One session's: what it waits at, which is another object each time the program is started.

    >>> interruption = Interruption()
    >>> interruption.want()
    >>> interruption.is_wanted
    True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at: _Waiting | None = None
        self.is_wanted = False

    def watch(self, at: _Waiting) -> None:
        """Interrupt this, now or when it is wanted."""
        with self._lock:
            self._at = at
            if self.is_wanted:
                at.interrupt()

    def want(self) -> None:
        """Interrupt what is waited at, and whatever will be, until :meth:`forget`."""
        with self._lock:
            self.is_wanted = True
            if self._at is not None:
                self._at.interrupt()

    def forget(self) -> None:
        """Let there be waiting again, with a program that is started anew."""
        with self._lock:
            self.is_wanted = False
            self._at = None
