"""The limits of a program, and how every process that it starts is ended.

A process that outlives its program is found in three ways. It is in the program's process group, which is killed as a
whole. Or it has left the group but kept the environment, in which the suite has put a mark. Or it has left both, and
the system makes it a child of this process, if :func:`adopt_orphans` was called and the system is Linux.

A program must not outlive this process either, even if ``kill -9`` ends it: a small separate process, the orphan
reaper, waits for the end of a pipe that only this process holds, and then kills the groups that are left.
"""

from __future__ import annotations

import atexit
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

#: The environment variables that programs do not get.
_SECRET = re.compile(r"ACTIONS_.*|.*_(TOKEN|SECRET|PASSWORD)", re.IGNORECASE | re.DOTALL)

#: The variable of the environment that holds the mark.
VARIABLE = "TOKSPEC_SESSION"

#: How often to search for processes that are left, because one that is being killed may just have started another.
ROUNDS = 3

#: The next search for processes waits this many times the seconds that the last one took, because a search reads every
#: process. It starts at once if the machine's free memory has shrunk by this share of the limit.
REST = 20
GONE = 0.1

_MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """The limits of a program.

    ``case_seconds`` and ``start_seconds`` limit the silence while a reply is outstanding; the second applies until
    ``hello`` is answered and while a model is loaded. ``reply_bytes`` is the length of the longest line; a file of
    fixtures may be as long, so no right answer is longer. ``memory_mb`` applies to the program and the processes that
    it started, in resident megabytes of 1024 · 1024 bytes; 0 means no limit.
    """

    case_seconds: float = 10.0
    start_seconds: float = 30.0
    reply_bytes: int = 4 * 1024 * 1024
    memory_mb: int = 4096


#: Published results must not depend on how busy the machine is, so a case has six times the usual time.
PATIENT = Limits(case_seconds=60.0)


class MemoryWatch:
    """Watches a process that has just been started, and every process that it starts.

    Args:
        process: the process id.
        megabytes: how much they may use together.
        others: returns the processes that are no longer its descendants, because a process may outlive its parent.
    """

    def __init__(
        self, process: int, megabytes: int, others: Callable[[], Iterable[psutil.Process]] = lambda: ()
    ) -> None:
        import psutil  # here, because it takes a while, and the reference in this process does not need it

        self._errors = psutil.Error
        self._machine = psutil.virtual_memory
        self._left = 0
        self._allowed = megabytes * _MEGABYTE
        self._others = others
        self._again_at = 0.0
        self._family: list[psutil.Process] = []
        try:
            self._leader: psutil.Process | None = psutil.Process(process)
        except psutil.Error:
            self._leader = None  # it has ended already

    def is_exceeded(self) -> bool:
        """Return whether they now exceed the limit; memory that several share is counted once if the system tells."""
        self._look_for_processes()
        if sum(self._resident(each) for each in self._family) <= self._allowed:
            return False
        return len(self._family) == 1 or sum(self._proportional(each) for each in self._family) > self._allowed

    def kill(self) -> None:
        """Kill all of them, including those that left the program's group."""
        for each in self._family:
            try:
                each.kill()
            except self._errors:
                continue

    def _look_for_processes(self) -> None:
        left = self._machine().available
        has_time = time.monotonic() < self._again_at and left > self._left - GONE * self._allowed
        if self._leader is None or has_time:
            return
        start, self._left = time.monotonic(), left
        descendants = partial(self._leader.children, recursive=True)
        self._family = list({self._leader, *self._found(descendants), *self._found(self._others)})
        self._again_at = time.monotonic() + REST * (time.monotonic() - start)

    def _found(self, look: Callable[[], Iterable[psutil.Process]]) -> Iterable[psutil.Process]:
        """Return the processes that are found; none if a process ends meanwhile, but the leader is still watched."""
        try:
            return list(look())
        except self._errors:
            return []

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


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the variables that let a program act for its user: tokens, secrets, passwords.

    >>> without_secrets({"JAVA_HOME": "/jdk", "GITHUB_TOKEN": "x", "ACTIONS_RUNTIME_URL": "y", "db_password": "z"})
    {'JAVA_HOME': '/jdk'}
    """
    return {name: value for name, value in environment.items() if not _SECRET.fullmatch(name)}


class ProcessFamily:
    """Every process that one session's programs started, even if it has left their group."""

    def __init__(self) -> None:
        import psutil  # here, because it takes a while, and the reference in this process does not need it

        self._psutil = psutil
        self._mark = secrets.token_hex(16)
        self._older = frozenset(psutil.pids())

    def start(self, command: tuple[str, ...]) -> subprocess.Popen[bytes]:
        """Start a program in its own process group; neither it nor its group outlives this process.

        Raises:
            OSError, ValueError: it cannot be started.
        """
        with _changing:
            program = subprocess.Popen(
                command,
                env={**without_secrets(os.environ), VARIABLE: self._mark},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
            _running.add(program.pid)
        orphan_reaper.tell(f"+{program.pid}")
        return program

    def ended(self, program: int) -> None:
        """Note that a program has ended, and its group has been killed."""
        _running.discard(program)
        orphan_reaper.tell(f"-{program}")

    def kill(self) -> None:
        """Kill the processes of this session that are left, and orphans when no program of any session is running."""
        for _ in range(ROUNDS):
            left = [*self.living()]
            with _changing:
                left += _orphans()
                for process in left:
                    with suppress(self._psutil.Error):
                        process.kill()
            for process in left:
                with suppress(self._psutil.Error):
                    process.wait(0.2)
            if not left:
                return

    def living(self) -> Iterator[psutil.Process]:
        """Return the living processes that have the mark, whatever their parent is."""
        for number in set(self._psutil.pids()) - self._older:
            try:
                process = self._psutil.Process(number)
                if process.environ().get(VARIABLE) == self._mark:
                    yield process
            except self._psutil.Error:
                continue


#: The process ids of the running programs of this process, in all sessions.
_running: set[int] = set()

#: Held while a program, which is not an orphan, is started, and while orphans are searched for.
_changing = threading.Lock()

#: The id of the process that adopts orphans; a process that it forks does not.
_adopting: int | None = None

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of processes whose own parent has ended, if the system offers that (Linux).

    This is for commands that start only sessions: any other child that has left this process's session is killed when
    no program is running. A caller that uses the suite as a library may have children that are meant to live on.
    """
    global _adopting
    if sys.platform == "linux" and _adopting != os.getpid():
        import ctypes  # here, because only few commands need it

        with suppress(OSError, AttributeError):
            if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0:
                _adopting = os.getpid()


def _orphans() -> Iterator[psutil.Process]:
    """Return the children that this process did not start itself: like daemons, they have left its session.

    While a program of any session is running, none is returned, because the program may still need it.
    """
    if _adopting != os.getpid() or _running:
        return
    import psutil

    session = os.getsid(0)
    for child in psutil.Process().children():
        with suppress(ProcessLookupError):
            if child.pid != orphan_reaper.number and os.getsid(child.pid) != session:
                yield child


class OrphanReaper:
    """A helper process that kills the programs of the main process when that ends for any reason.

    It is started with the first program, and learns of each program through a pipe. When the main process ends, the
    system closes the pipe, even after ``kill -9``.
    """

    #: Kills the process groups that were added and not removed. It imports little, so that it starts fast.
    PROGRAM = (
        "import os, sys\n"
        "groups = set()\n"
        "for line in sys.stdin:\n"
        "    (groups.add if line[0] == '+' else groups.discard)(int(line[1:]))\n"
        "for group in groups:\n"
        "    try:\n"
        "        os.killpg(group, 9)\n"
        "    except OSError:\n"
        "        pass\n"
    )

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._owner = 0

    @property
    def number(self) -> int:
        """The process id, 0 before it is started."""
        return self._process.pid if self._process else 0

    def start(self) -> None:
        """Start the reaper unless it has been started; a process that was forked from this one starts its own."""
        if self._process is None or self._owner != os.getpid():
            self._start()

    def tell(self, line: str) -> None:
        """Send a line to the reaper."""
        with self._lock:
            self.start()
            if self._process is not None and self._process.stdin is not None:
                with suppress(BrokenPipeError):
                    self._process.stdin.write(f"{line}\n")
                    self._process.stdin.flush()

    def _start(self) -> None:
        self._owner = os.getpid()
        with suppress(OSError):
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", self.PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                text=True,
                cwd=os.sep,
                start_new_session=True,
            )
            atexit.register(self.close)

    def close(self) -> None:
        """Let the reaper end; programs that still run are killed."""
        if self._process is not None and self._owner == os.getpid() and self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process.wait()
        self._process = None


orphan_reaper = OrphanReaper()


def kill_group(program: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a program and all processes of its group."""
    with suppress(ProcessLookupError, PermissionError):  # the group is gone, or only a zombie is left of it
        os.killpg(program.pid, number)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise a TimeoutError in the block if it takes more CPU time, because it may never end.

    Windows has no such timer, so there is no limit. The error is raised again after the same time, because an exception
    during the interpreter's own housekeeping is lost. Wall-clock time would fail correct code on a busy machine.

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
