"""A limit of time for what runs in this process and may never end: a changed reference does not always."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["limited"]


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise a TimeoutError in what takes more time of the processor; Windows has no such timer, and no limit.

    It is raised again after as long again: an exception that meets the interpreter's own housekeeping is lost. The time
    of a clock would find fault with what is right when the machine is busy.

    >>> with limited(0.01):
    ...     while True:
    ...         pass
    Traceback (most recent call last):
        ...
    TimeoutError: took more than 0.01 s
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def expired(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"took more than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, expired)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
