"""Has units done by a process of its own, and finds out which document is to blame when that process ends.

A process that ends, is silent for too long or takes too much memory says nothing by itself about the document that it
had: others were asked before it, and a process can be ended from outside. So the document is asked alone in a new
process, and only if that ends too is it a finding. What was before it is counted again, what follows goes on. A unit
whose process was ended for no fault of a document has the same result as one that was not disturbed.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokspec.errors import DataError
from tokspec.sweep.marker import IDLE, LOADING, NARROWING, PROGRAM, Marker, Place, new_memory
from tokspec.sweep.plan import Header, Unit, read_header
from tokspec.sweep.tally import Cause, Tally

__all__ = ["InputFault", "Stopped", "Worker"]

#: Seconds between two looks at a process, and between two at its memory.
LOOK_SECONDS = 0.1
MEMORY_SECONDS = 0.5

#: Starts in a row that may fail, and documents of one unit that may end a process before the rest is left.
STARTS = 3
DEADLY = 20

#: Characters of a text for which a document's time is meant; a longer one gets more in proportion.
MEANT = 1_000_000

#: Characters of a document that ended a process which are kept.
_SHOWN = 65536


class InputFault(DataError):
    """An input is not what it was when the plan was made, or cannot be read: the fault of its units alone."""


class Stopped(Exception):
    """Somebody has ended the work."""


@dataclass(frozen=True)
class Death:
    """The end of a process: ``crash`` or ``timeout``, how, and what it was doing."""

    kind: str
    message: str
    place: Place


class Worker:
    """One process, started when it is needed and again when it has ended.

    Args:
        folder: of the sweep.

    Raises:
        DataError: there is no plan.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._header: Header = read_header(folder)
        self._process: subprocess.Popen[bytes] | None = None
        self._memory = new_memory()
        self._marker = Marker(self._memory.fileno())
        self._buffer = b""
        self._asked_since_start = 0
        self._stopped = False

    def stop(self) -> None:
        """End the process, from another thread; whoever waits for a tally gets :class:`Stopped`."""
        self._stopped = True
        process = self._process
        if process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    def tally(self, unit: Unit) -> Tally:
        """Have a unit done.

        Raises:
            InputFault: an input has changed or cannot be read.
            DataError: an implementation does not start.
            Stopped: by :meth:`stop`.
        """
        total, first, deadly = Tally(), 0, 0
        while True:
            reply = self._ask(unit, first, None)
            if isinstance(reply, Tally):
                total.add(reply)
                return total
            number = reply.place.document
            alone = self._alone(unit, number)
            total.add(self._undisturbed(unit, first, number))
            total.add(alone if isinstance(alone, Tally) else self._finding(unit, number, alone))
            deadly += isinstance(alone, Death)
            first = number + 1
            if deadly >= DEADLY:
                rest = self._undisturbed(unit, first, None, asks=False)
                rest.leave(f"left after {DEADLY} documents of the unit ended the process", rest.documents)
                total.add(rest)
                return total

    def _undisturbed(self, unit: Unit, first: int, last: int | None, asks: bool = True) -> Tally:
        """Have a stretch done that was done already, as often as it takes."""
        if first == last:
            return Tally()
        for _ in range(STARTS):
            reply = self._ask(unit, first, last, (), asks)
            if isinstance(reply, Tally):
                return reply
        raise _given_up(unit, reply)

    def _alone(self, unit: Unit, number: int) -> Tally | Death:
        """Ask about one document in a process that was asked nothing else; without making it small, if that ends it."""
        reply = self._ask_alone(unit, number, ())
        if isinstance(reply, Death) and _is_narrowing(reply.place):
            reply = self._ask_alone(unit, number, (number,))
        if isinstance(reply, Death) and reply.message == _described(-signal.SIGKILL):
            reply = self._ask_alone(unit, number, (number,))  # somebody may have been at work twice
        return reply

    def _ask_alone(self, unit: Unit, number: int, bare: Collection[int]) -> Tally | Death:
        if self._asked_since_start:
            self.close()
        return self._ask(unit, number, number + 1, bare)

    def _finding(self, unit: Unit, number: int, death: Death) -> Tally:
        """Make the tally of a document that ends the process."""
        reply = self._answer({"unit": unit.to_json(), "place": number})
        if isinstance(reply, Death):
            raise _given_up(unit, reply)
        file, at, text = reply["place"]
        label = self._header.labels[death.place.side]
        kind = f"{label} crashes" if death.kind == "crash" else f"{label} takes too long"
        shown = text[:_SHOWN]
        cause = Cause(kind, "a whole document", shown, shown, file, at, detail=death.message)
        return Tally(documents=1, bytes=len(text.encode()), different=1, causes={cause.key: cause})

    def _ask(
        self, unit: Unit, first: int, last: int | None, bare: Collection[int] = (), asks: bool = True
    ) -> Tally | Death:
        """Ask; the place of a death is that of a document."""
        question = {"unit": unit.to_json(), "first": first, "last": last, "bare": list(bare), "asks": asks}
        for _ in range(STARTS):
            reply = self._answer(question)
            if isinstance(reply, dict):
                return Tally.from_json(reply["tally"])
            if reply.place.document >= 0:
                return reply
        raise _given_up(unit, reply)

    def _answer(self, question: Mapping[str, Any]) -> dict[str, Any] | Death:
        """Ask, after a start if it needs one."""
        if self._stopped:
            raise Stopped
        started = self._start() if self._process is None else {}
        if isinstance(started, Death):
            return started
        self._asked_since_start += 1
        return self._exchange(json.dumps(question).encode() + b"\n")

    def _exchange(self, question: bytes) -> dict[str, Any] | Death:
        if self._process is not None and self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.write(question)
                self._process.stdin.flush()
        return self._reply()

    def _start(self) -> dict[str, Any] | Death:
        """Start the process, and wait until it has loaded the models."""
        command = (sys.executable, "-P", "-m", "tokspec.sweep.cell", str(self._folder.absolute()))
        self._marker.move(-1, LOADING)
        self._process = subprocess.Popen(
            (*command, str(self._memory.fileno()), str(os.getpid())),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(self._memory.fileno(),),
            start_new_session=True,
            env={**os.environ, "TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"},
        )
        self._buffer, self._asked_since_start = b"", 0
        return self._reply()

    def _reply(self) -> dict[str, Any] | Death:
        """Wait for the next line, and see to it that there will be one."""
        process = self._process
        if process is None or process.stdout is None:
            raise Stopped
        descriptor = process.stdout.fileno()
        watch = _Watch(process.pid, self._header, self._marker)
        while b"\n" not in self._buffer:
            readable, _, _ = select.select([descriptor], [], [], LOOK_SECONDS)
            chunk = os.read(descriptor, 1 << 20) if readable else None
            if chunk:
                self._buffer += chunk
            elif chunk == b"":
                return self._dead("crash", "")
            elif verdict := watch.look():
                return self._dead(*verdict)
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        if "fault" in message:
            raise (InputFault if message["of_input"] else DataError)(message["fault"])
        return message

    def _dead(self, kind: str, message: str) -> Death:
        place = self._marker.read()
        process = self._process
        self.close()
        if self._stopped or process is None:
            raise Stopped
        return Death(kind, message or _described(process.returncode), place)

    def close(self) -> None:
        """End the process, and all that it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()


class _Watch:
    """Looks whether a process is silent for too long, or takes too much memory."""

    def __init__(self, process: int, header: Header, marker: Marker) -> None:
        import psutil

        self._errors = psutil.Error
        with suppress(psutil.Error):
            self._process = psutil.Process(process)
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
                f"no answer within {self._limits['case_seconds']:g} s" if place.stage != LOADING else "slow",
            )
        if self._limits["memory_mb"] and now - self._memory_at > MEMORY_SECONDS:
            self._memory_at = now
            if self._used() > self._limits["memory_mb"]:
                return "crash", f"used more than {self._limits['memory_mb']:g} MB of memory"
        return None

    def _allowed(self, place: Place) -> float | None:
        """Give the seconds for what is being done; a program's session has its own, and reading takes its time."""
        if place.stage in (IDLE, PROGRAM, PROGRAM + 1):
            return None
        if place.stage == LOADING:
            return self._limits["start_seconds"]
        return self._limits["case_seconds"] * max(1.0, place.length / MEANT)

    def _used(self) -> float:
        try:
            return self._process.memory_info().rss / 1024**2
        except (self._errors, AttributeError):
            return 0.0


def _given_up(unit: Unit, last: object) -> DataError:
    how = last.message if isinstance(last, Death) else ""
    message = f"is given up: its process ended {STARTS} times, with no document to blame, last by {how}"
    return DataError(message, key=f"unit {unit.id}")


def _is_narrowing(place: Place) -> bool:
    return NARROWING <= place.stage < PROGRAM


def _described(status: int | None) -> str:
    """Say how a process ended.

    >>> _described(-11), _described(3)
    ('killed by SIGSEGV', 'exit status 3')
    """
    if status is not None and status < 0:
        with suppress(ValueError):
            return f"killed by {signal.Signals(-status).name}"
        return f"killed by signal {-status}"
    return f"exit status {status}"
