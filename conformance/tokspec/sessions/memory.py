"""How much memory a program and the processes that it started use, looked at often and cheaply."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

__all__ = ["MemoryWatch"]

#: Processes are looked for again after so many times the seconds that it took: it reads every process there is.
REST = 20

_MEGABYTE = 1024 * 1024


class MemoryWatch:
    """Watches a process that has just been started, and every process that it starts.

    Args:
        process: its number.
        megabytes: what they may use together.
        others: gives those that are not its descendants any more, for a process outlives its parent.

    >>> import os
    >>> MemoryWatch(os.getpid(), 1).is_exceeded(), MemoryWatch(os.getpid(), 1024 * 1024).is_exceeded()
    (True, False)
    """

    def __init__(
        self, process: int, megabytes: int, others: Callable[[], Iterable[psutil.Process]] = lambda: ()
    ) -> None:
        import psutil  # here, because it takes a while, and the reference in this process does not need it

        self._errors = psutil.Error
        self._allowed = megabytes * _MEGABYTE
        self._others = others
        self._again_at = 0.0
        self._family: list[psutil.Process] = []
        try:
            self._leader: psutil.Process | None = psutil.Process(process)
        except psutil.Error:
            self._leader = None  # it has ended already

    def is_exceeded(self) -> bool:
        """Whether they use more than they may, now; what several share is counted once where the system tells."""
        self._look_for_processes()
        if sum(self._resident(each) for each in self._family) <= self._allowed:
            return False
        return len(self._family) == 1 or sum(self._proportional(each) for each in self._family) > self._allowed

    def kill(self) -> None:
        """End all of them, those that left the program's group too."""
        for each in self._family:
            try:
                each.kill()
            except self._errors:
                continue

    def _look_for_processes(self) -> None:
        if self._leader is None or time.monotonic() < self._again_at:
            return
        start = time.monotonic()
        try:
            self._family = list({self._leader, *self._leader.children(recursive=True), *self._others()})
        except self._errors:
            self._family = []
        self._again_at = time.monotonic() + REST * (time.monotonic() - start)

    def _resident(self, process: psutil.Process) -> int:
        try:
            return process.memory_info().rss
        except self._errors:
            return 0

    def _proportional(self, process: psutil.Process) -> int:
        try:
            full = process.memory_full_info()
        except self._errors:
            return 0
        return getattr(full, "pss", full.rss)
