"""A running program and its three pipes, read and written in one loop, so that nothing waits forever on a full pipe.

Nothing here runs in parallel with the rest of the suite. A caller that has to wait for a program yields a
:class:`Wait`; the driver of the caller then reads and writes the program's pipes, measures its memory and watches for
its end, until there is a line or the deadline has passed. So one process can wait for any number of programs.

``select`` can wait for pipes only on POSIX systems.
"""

from __future__ import annotations

import fcntl
import os
import re
import selectors
import shlex
import signal
import struct
import subprocess
import termios
import time
from collections import deque
from collections.abc import Generator
from contextlib import suppress
from io import FileIO
from typing import NamedTuple, TypeVar, cast

from tokspec.base.display import escape, quote
from tokspec.base.errors import DataError
from tokspec.sessions.limits import Limits, MemoryWatch, ProcessFamily, kill_group

#: Seconds between SIGTERM and SIGKILL; and for a killed program to end, which the kernel may delay.
TERM_SECONDS = 0.5
KILL_SECONDS = 60.0

#: Seconds between two measurements of the memory that is used.
WATCH_SECONDS = 0.05

#: How many bytes of standard error are kept, and how many characters of it a message shows.
STDERR_BYTES = 65536
STDERR_SHOWN = 400

#: The first line of a trace, or the line that says what happened, of Go, Rust, C++, Java, Node.js and .NET.
_HEAD = re.compile(
    r"(?i:panic:|(# a )?fatal error|exception in thread|unhandled exception|terminate called|thread .* panicked)"
    r"|Can't locate "  # Perl, before a long list of folders
    r"|(Uncaught )?[\w.$]*(Error|Exception)(:|$)"
)

_CHUNK = 65536

_Item = TypeVar("_Item")


class LineTooLong(Exception):
    """A line is longer than the limit; this line and all that follow are lost."""


class Wait(NamedTuple):
    """A step of a generator that cannot go on before a program has news, or a deadline has passed."""

    process: Process
    deadline: float


def drive(steps: Generator[Wait | _Item, None, None]) -> Generator[_Item, None, None]:
    """Wait whenever a generator yields a ``Wait``, and pass on everything else."""
    try:
        for step in steps:
            if isinstance(step, Wait):
                step.process.wait(step.deadline)
            else:
                yield step
    finally:
        steps.close()


class Process:
    """A running program in its own process group, which ends as a whole.

    Raises:
        DataError: the program cannot be started.
    """

    def __init__(self, command: tuple[str, ...], limits: Limits, family: ProcessFamily) -> None:
        self._limits = limits
        self._family = family
        self._lines: deque[bytes] = deque()
        self._partial = bytearray()
        self._is_too_long = False
        self._unsent = bytearray()
        self._stderr = b""
        self._ended = False
        self._exceeded = False
        self._is_measured = False
        self._wants_output = True
        self._closes_input_when_written = False
        self._is_stopped = False
        try:
            self._program = family.start(command)
        except (OSError, ValueError) as error:
            raise _cannot_start(command, error) from None
        pipes = self._program.stdin, self._program.stdout, self._program.stderr
        self._stdin, self._stdout, self._stderr_pipe = cast(tuple[FileIO, FileIO, FileIO], pipes)
        self._selector = selectors.DefaultSelector()
        for pipe in (self._stdin, self._stdout, self._stderr_pipe):
            os.set_blocking(pipe.fileno(), False)
        self._selector.register(self._stdout, selectors.EVENT_READ, self._read_output)
        self._selector.register(self._stderr_pipe, selectors.EVENT_READ, self._read_stderr)
        self._end_descriptor = _descriptor_of_the_end(self._program.pid)
        if self._end_descriptor is not None:
            self._selector.register(self._end_descriptor, selectors.EVENT_READ, self._look_for_the_end)
        self._memory = MemoryWatch(self._program.pid, limits.memory_mb, family.living) if limits.memory_mb else None
        self._look_at = time.monotonic() + WATCH_SECONDS

    # For a caller that waits for several programs

    def fileno(self) -> int:
        """Return a descriptor that is readable when :meth:`pump` has something to do."""
        return self._selector.fileno()

    @property
    def look_at(self) -> float:
        """The time when :meth:`pump` has something to do that no descriptor signals."""
        return self._look_at

    @property
    def has_news(self) -> bool:
        """Whether :meth:`take_line` returns or raises."""
        return bool(self._lines) or self._is_too_long or self._ended

    def wait(self, deadline: float) -> None:
        """Read and write until there is news, or the deadline has passed."""
        while not self.has_news:
            now = time.monotonic()
            self.pump(max(0.0, min(deadline, self._look_at) - now))
            if now >= deadline:
                return

    def pump(self, seconds: float = 0.0) -> None:
        """Read and write what can be read and written now, or within ``seconds``."""
        for key, _ in self._selector.select(seconds):
            if not self._ended or key.fileobj is self._stdin:  # earlier output was read together with the end
                key.data()
        if time.monotonic() >= self._look_at and not self._ended:
            self._look()

    # The conversation

    @property
    def is_ended(self) -> bool:
        """Whether the program itself has ended; processes that it started may still be running."""
        return self._ended

    @property
    def succeeded(self) -> bool:
        """Whether the program has ended with exit status 0."""
        return self._ended and self._program.returncode == 0

    def send(self, data: bytes) -> None:
        """Write data without waiting; if the program has ended, the data is lost."""
        self._unsent += data
        self._write_input()

    def take_line(self) -> bytes:
        """Return the next line.

        Raises:
            EOFError: the program has ended, and there is no further line.
            LineTooLong: it is longer than the limit.
        """
        if self._lines:
            return self._lines.popleft()
        raise LineTooLong if self._is_too_long else EOFError

    def describe_end(self) -> str:
        """Describe how the program ended, with the last of its output on standard error."""
        if self._exceeded:
            return f"used more than {self._limits.memory_mb} MB of memory"
        status = self._program.returncode
        how = f"killed by {_signal_name(-status)}" if status < 0 else f"exit status {status}"
        shown = _telling(self._stderr.decode("utf-8", "backslashreplace"))
        return f"{how}; standard error ends {quote(shown, len(shown))}" if shown else how

    # The end

    def finish_input(self) -> None:
        """Close the program's standard input when all data has been written."""
        self._closes_input_when_written = True
        self._write_input()

    def wait_for_end(self, seconds: float) -> None:
        """Wait until the program has ended, and discard its output meanwhile."""
        self._wants_output = False
        deadline = time.monotonic() + seconds
        while not self._ended and (left := deadline - time.monotonic()) > 0:
            self.pump(min(left, max(0.0, self._look_at - time.monotonic())))

    def stop(self) -> None:
        """End the program and every process of its group."""
        if self._is_stopped:
            return
        self._is_stopped = True
        if not self._ended:
            kill_group(self._program, signal.SIGTERM)
            self.wait_for_end(TERM_SECONDS)
        kill_group(self._program, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._program.wait(KILL_SECONDS)
        self._ended = True
        self._family.ended(self._program.pid)
        self._selector.close()
        for pipe in (self._stdin, self._stdout, self._stderr_pipe):
            with suppress(OSError):
                pipe.close()
        if self._end_descriptor is not None:
            os.close(self._end_descriptor)

    # Called by the loop

    def _read_output(self) -> None:
        chunk = _read(self._stdout.fileno(), _CHUNK)
        if chunk is None:
            return
        if not chunk:  # no process holds the other end, but the program may live on
            self._selector.unregister(self._stdout)
            return
        self._take_output(chunk)

    def _take_output(self, chunk: bytes) -> None:
        if not self._is_measured:  # a program may have answered everything before the next measurement
            self._measure()
        if self._is_too_long or not self._wants_output:
            return
        first, *others = chunk.split(b"\n")
        self._partial += first
        for piece in others:
            if len(self._partial) > self._limits.reply_bytes:
                break
            self._lines.append(bytes(self._partial))
            self._partial = bytearray(piece)
        if len(self._partial) > self._limits.reply_bytes:
            self._is_too_long = True
            self._partial = bytearray()

    def _read_stderr(self) -> None:
        chunk = _read(self._stderr_pipe.fileno(), _CHUNK)
        if chunk is not None:
            self._stderr = (self._stderr + chunk)[-STDERR_BYTES:]
        if chunk == b"":
            self._selector.unregister(self._stderr_pipe)

    def _write_input(self) -> None:
        """Write as much as the pipe accepts now, and let the loop write the rest."""
        if self._stdin.closed:
            self._unsent.clear()
            return
        try:
            while self._unsent:
                written = os.write(self._stdin.fileno(), self._unsent[:_CHUNK])
                del self._unsent[:written]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._unsent.clear()
        is_registered = self._stdin.fileno() in self._selector.get_map()
        if self._unsent and not is_registered:
            self._selector.register(self._stdin, selectors.EVENT_WRITE, self._write_input)
        elif not self._unsent and is_registered:
            self._selector.unregister(self._stdin)
        if not self._unsent and self._closes_input_when_written:
            self._stdin.close()

    def _look(self) -> None:
        """Do the periodic work: measure the memory, and check for the program's end if nothing signals it."""
        self._measure()
        self._look_for_the_end()
        self._look_at = time.monotonic() + WATCH_SECONDS

    def _measure(self) -> None:
        """End the program if it exceeds its memory limit; output that was not read is lost."""
        self._is_measured = True
        if self._memory is not None and self._memory.is_exceeded():
            self._exceeded = True
            self._wants_output = False
            self._lines.clear()
            kill_group(self._program, signal.SIGKILL)
            self._memory.kill()

    def _look_for_the_end(self) -> None:
        if not self._ended and self._program.poll() is not None:
            self._take_rest()
            self._ended = True

    def _take_rest(self) -> None:
        """Read the output that the program wrote before it ended; a process that it started may still write."""
        for pipe, take in ((self._stdout, self._take_output), (self._stderr_pipe, self._take_stderr)):
            left = struct.unpack("i", fcntl.ioctl(pipe.fileno(), termios.FIONREAD, bytes(4)))[0]
            while left > 0 and (chunk := _read(pipe.fileno(), left)):
                left -= len(chunk)
                take(chunk)
            if pipe.fileno() in self._selector.get_map():
                self._selector.unregister(pipe)
        if self._end_descriptor is not None:
            self._selector.unregister(self._end_descriptor)

    def _take_stderr(self, chunk: bytes) -> None:
        self._stderr = (self._stderr + chunk)[-STDERR_BYTES:]


def _telling(text: str) -> str:
    """Return the end of a text on one line, preceded by the last trace head if the trace is longer than that.

    >>> trace = "".join(f"main.f({number})\\n\\tmain.go:{number}\\n" for number in range(99))
    >>> _telling(f"loading\\npanic: index out of range\\n\\n{trace}exit status 2")[:48]
    'panic: index out of range | main.f(0) | main.go:'
    >>> _telling("no more memory\\n")
    'no more memory'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    end = " | ".join(lines)[-STDERR_SHOWN:]
    heads = [number for number, line in enumerate(lines) if _HEAD.match(line)]
    trace = " | ".join(lines[heads[-1] :]) if heads else ""
    half = STDERR_SHOWN // 2
    return f"{trace[:half]} ... {trace[-half:]}" if len(trace) > STDERR_SHOWN else end


def _read(descriptor: int, size: int) -> bytes | None:
    """Read what there is, ``b""`` at the end of the pipe, or None if there is nothing now."""
    try:
        return os.read(descriptor, size)
    except BlockingIOError:
        return None


def _descriptor_of_the_end(process: int) -> int | None:
    """Return a descriptor that is readable when a process has ended, if the system has one (Linux)."""
    try:
        return os.pidfd_open(process)
    except (AttributeError, OSError):
        return None


def _cannot_start(command: tuple[str, ...], error: Exception) -> DataError:
    """Say why a program cannot be started, and what to do."""
    if isinstance(error, FileNotFoundError):
        what = f"there is no program {quote(command[0])}; give its path, put it on the PATH, or install its interpreter"
    elif isinstance(error, PermissionError):
        what = f"{quote(command[0])} is not executable; run chmod +x, or put its interpreter before it"
    else:
        what = f"{escape(getattr(error, 'strerror', None) or str(error))}; run it by hand to see why"
    return DataError(f"cannot be started: {what}", key=quote(shlex.join(command)))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
