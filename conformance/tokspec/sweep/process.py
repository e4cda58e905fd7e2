"""The process of a cell: started, asked, watched and ended."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokspec.base.errors import DataError
from tokspec.sweep.marker import LOADING, Marker, Place, new_memory
from tokspec.sweep.plan import Header
from tokspec.sweep.watch import Watch

__all__ = ["CellProcess", "Death", "InputFault", "Stopped", "described"]

#: Seconds between two looks at a process.
LOOK_SECONDS = 0.1


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


class CellProcess:
    """At most one process, started when it is asked something.

    Args:
        folder: of the sweep.
        header: of its plan.
    """

    def __init__(self, folder: Path, header: Header) -> None:
        self._folder, self._header = folder, header
        self._process: subprocess.Popen[bytes] | None = None
        self._memory = new_memory()
        self._marker = Marker(self._memory.fileno())
        self._buffer = b""
        self._asked = 0
        self._stopped = False

    @property
    def is_fresh(self) -> bool:
        """Whether what is asked next is the first that the process is asked."""
        return self._process is None or not self._asked

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any] | Death:
        """Ask, after a start if it needs one.

        Raises:
            InputFault: an input has changed or cannot be read.
            DataError: an implementation does not start.
            Stopped: by :meth:`stop`.
        """
        if self._stopped:
            raise Stopped
        started = self._start() if self._process is None else {}
        if isinstance(started, Death):
            return started
        self._asked += 1
        if self._process is not None and self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.write(json.dumps(question).encode() + b"\n")
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
        self._buffer, self._asked = b"", 0
        return self._reply()

    def _reply(self) -> dict[str, Any] | Death:
        """Wait for the next line, and see to it that there will be one."""
        process = self._process
        if process is None or process.stdout is None:
            raise Stopped
        descriptor = process.stdout.fileno()
        watch = Watch(process.pid, self._header, self._marker)
        while b"\n" not in self._buffer:
            readable, _, _ = select.select([descriptor], [], [], LOOK_SECONDS)
            chunk = os.read(descriptor, 1 << 20) if readable else None
            if chunk:
                self._buffer += chunk
            elif chunk == b"" or self._stopped:
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
        return Death(kind, message or described(process.returncode), place)

    def stop(self) -> None:
        """End the process, from another thread; whoever waits for an answer gets :class:`Stopped`."""
        self._stopped = True
        process = self._process
        if process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

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


def described(status: int | None) -> str:
    """Say how a process ended.

    >>> described(-11), described(3)
    ('killed by SIGSEGV', 'exit status 3')
    """
    if status is not None and status < 0:
        with suppress(ValueError):
            return f"killed by {signal.Signals(-status).name}"
        return f"killed by signal {-status}"
    return f"exit status {status}"
