"""A program and its three pipes, read and written by threads, so that nothing waits for ever on a full pipe."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from tokspec.protocol.wire import excerpt
from tokspec.sessions.interruption import Interruption
from tokspec.sessions.launch import Limits, cannot_start
from tokspec.sessions.memory import MemoryWatch
from tokspec.sessions.offspring import Offspring
from tokspec.sessions.outlet import Outlet
from tokspec.sessions.pipes import LineBox, chunks_until, new_mark, read_lines

__all__ = ["Process"]

#: Seconds between the polite signal and the other one, and for a thread or a killed program to end.
TERM_SECONDS = 0.5
KILL_SECONDS = 5.0

#: Seconds between two looks at the memory that is used.
WATCH_SECONDS = 0.05

#: Bytes of standard error that are kept, and characters of it that a message shows.
STDERR_BYTES = 4096
STDERR_SHOWN = 400


class Process:
    """A running program, in a process group of its own, which ends as a whole.

    Raises:
        DataError: the program cannot be started.
    """

    def __init__(
        self, command: tuple[str, ...], limits: Limits, offspring: Offspring, interruption: Interruption
    ) -> None:
        self._limits = limits
        self._offspring = offspring
        self._mark = new_mark()
        self._box = LineBox(limits.reply_bytes)
        interruption.watch(self._box)
        self._exceeded = False
        self._stderr = b""
        self._exited = threading.Event()
        self._stopped = False
        pipes = [os.pipe() for _ in range(3)]
        (self._in_read, self._in_write), (self._out_read, self._out_write), (self._err_read, self._err_write) = pipes
        try:
            self._popen = subprocess.Popen(
                command,
                env=offspring.environment(),
                stdin=self._in_read,
                stdout=self._out_write,
                stderr=self._err_write,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            for pipe in pipes:
                for descriptor in pipe:
                    os.close(descriptor)
            raise cannot_start(command, error) from None
        self._outlet = Outlet(self._in_write, self._exited.is_set)
        work: Sequence[Callable[[], None]] = (
            lambda: read_lines(self._out_read, self._mark, limits.reply_bytes, self._box),
            self._read_stderr,
            self._outlet.work,
            self._wait,
            *([self._watch] if limits.memory_mb else []),
        )
        self._threads = [threading.Thread(target=each, name="tokspec-pipe", daemon=True) for each in work]
        for thread in self._threads:
            thread.start()

    @property
    def exited(self) -> bool:
        """Whether the program itself has ended; processes that it started may live."""
        return self._exited.is_set()

    def send(self, data: bytes) -> None:
        """Write, without waiting; what a program that has ended is sent is lost."""
        self._outlet.send(data)

    def receive(self, seconds: float) -> bytes:
        """Take the next line; raises what :meth:`LineBox.get` raises."""
        return self._box.get(seconds)

    def end_of_input(self, seconds: float) -> None:
        """Close the program's standard input after what was sent, and give it so many seconds to end."""
        self._outlet.end()
        self._box.close()
        self._exited.wait(seconds)

    def stop(self) -> None:
        """End the program and every process of its group, and the threads."""
        self._box.close()
        if self._stopped:
            return
        self._stopped = True
        if not self.exited:
            self._signal("SIGTERM")
            self._exited.wait(TERM_SECONDS)
        self._signal("SIGKILL")
        for thread in self._threads:
            thread.join(KILL_SECONDS)

    def describe_end(self) -> str:
        """Say how the program that has ended did so, with the end of what it wrote to standard error."""
        self._exited.wait(KILL_SECONDS)
        self._threads[1].join(TERM_SECONDS)
        if self._exceeded:
            return f"used more than {self._limits.memory_mb} MB of memory"
        status = self._popen.returncode
        how = f"killed by {_signal_name(-status)}" if status and status < 0 else f"exit status {status}"
        lines = [line.strip() for line in self._stderr.decode("utf-8", "backslashreplace").splitlines()]
        shown = " | ".join(filter(None, lines))[-STDERR_SHOWN:]
        return f"{how}; standard error ends {excerpt(shown, STDERR_SHOWN)}" if shown else how

    def _signal(self, name: str) -> None:
        with suppress(ProcessLookupError, PermissionError):  # the group is gone, or nothing but a zombie is left of it
            if sys.platform == "win32":
                self._popen.kill()
            else:
                os.killpg(self._popen.pid, signal.Signals[name])

    def _read_stderr(self) -> None:
        for chunk in chunks_until(self._err_read, self._mark):
            self._stderr = (self._stderr + chunk)[-STDERR_BYTES:]

    def _watch(self) -> None:
        watch = MemoryWatch(self._popen.pid, self._limits.memory_mb, self._offspring.living)
        while not self._exited.wait(WATCH_SECONDS):
            if watch.is_exceeded():
                self._exceeded = True
                self._signal("SIGKILL")
                watch.kill()

    def _wait(self) -> None:
        """Wait for the end; then free the writing thread by reading what it wrote, and mark the end of the output.

        The program may have made the ends that it shared with us non-blocking.
        """
        self._popen.wait()
        self._exited.set()
        self._outlet.end()
        for descriptor in (self._in_read, self._out_write, self._err_write):
            if hasattr(os, "set_blocking"):
                os.set_blocking(descriptor, True)
        while os.read(self._in_read, 65536):
            pass
        os.close(self._in_read)
        for descriptor in (self._out_write, self._err_write):
            os.write(descriptor, self._mark)
            os.close(descriptor)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
