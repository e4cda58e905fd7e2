"""Looking after a process from outside: its time and its memory."""

from __future__ import annotations

import time

import psutil

from tokspec.sweep.marker import IDLE, LOADING, PROGRAM, Marker, Place
from tokspec.sweep.plan import Header

__all__ = ["Watch"]

#: Seconds between two looks at the memory.
MEMORY_SECONDS = 0.5

#: Characters of a text for which a document's time is meant; a longer one gets more in proportion.
MEANT = 1_000_000


class Watch:
    """Looks whether a process is silent for too long, or takes too much memory."""

    def __init__(self, process: int, header: Header, marker: Marker) -> None:
        self._number = process
        self._limits, self._marker = header.limits, marker
        self._place, self._since, self._memory_at = marker.read(), time.monotonic(), 0.0

    def look(self) -> tuple[str, str] | None:
        """Say what is wrong, if anything."""
        now, place = time.monotonic(), self._marker.read()
        if place != self._place:
            self._place, self._since = place, now
        allowed = self._allowed(place)
        if allowed is not None and now - self._since > allowed:
            return (
                "timeout",
                f"no answer within {allowed if place.stage == LOADING else self._limits['case_seconds']:g} s",
            )
        if self._limits["memory_mb"] and now - self._memory_at > MEMORY_SECONDS:
            self._memory_at = now
            if self._used() > self._limits["memory_mb"]:
                return "crash", f"used more than {self._limits['memory_mb']:g} MB of memory"
        return None

    def _allowed(self, place: Place) -> float | None:
        """Return the seconds for what is being done; a program's session has its own, and reading takes its time."""
        if place.stage in (IDLE, PROGRAM, PROGRAM + 1):
            return None
        if place.stage == LOADING:
            return self._limits["start_seconds"]
        return self._limits["case_seconds"] * max(1.0, place.length / MEANT)

    def _used(self) -> float:
        try:
            return psutil.Process(self._number).memory_info().rss / 1024**2
        except psutil.Error:  # it has ended, as whoever waits for it is about to see
            return 0.0
