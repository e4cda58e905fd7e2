"""Nothing outlives a sweep: a process that does nothing but wait for its end, and then ends what is left.

Whatever a sweep starts, itself or by an engine, by an implementation or its descendants, has a mark in its environment.
When the sweep has ended, however it did, the guard ends what still has the mark; and if the whole process has, then
also what was seen below it, for some programs lose their environment when they give themselves a name.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil

__all__ = ["guarded", "main"]

#: The variable of the environment with the mark.
VARIABLE = "TOKSPEC_SWEEP"

#: Seconds between two looks at who is there.
_LOOK_SECONDS = 1.0

#: How often the guard ends what is left, and for how long it waits in between for those that end by themselves.
_ROUNDS = 10
_REST_SECONDS = 0.3


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Set the mark, and start the guard; what has the mark is ended with this context, or with this process."""
    mark = secrets.token_hex(16)
    os.environ[VARIABLE] = mark
    guard = subprocess.Popen(
        (sys.executable, "-P", "-m", __name__, mark),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={name: value for name, value in os.environ.items() if name != VARIABLE},
    )
    try:
        yield
    finally:
        os.environ.pop(VARIABLE, None)
        if guard.stdin is not None:
            guard.stdin.close()
        guard.wait()


def main() -> None:
    """Wait until standard input ends, which is when whoever holds its other end does."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    mark, parent = sys.argv[1], os.getppid()
    family = _Family(parent)
    while not select.select([0], [], [], _LOOK_SECONDS)[0]:
        family.look()
    for _ in range(_ROUNDS):
        left = {*_marked(mark), *(family.living() if os.getppid() != parent else ())}
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        if not left:
            return
        time.sleep(_REST_SECONDS)


class _Family:
    """The descendants of a process, remembered after its end."""

    def __init__(self, number: int) -> None:
        self._members: set[psutil.Process] = set()
        self._parent = psutil.Process(number)

    def look(self) -> None:
        """Remember those that are there now."""
        with contextlib.suppress(psutil.Error):
            self._members.update(self._parent.children(recursive=True))
        self._members = {each for each in self._members if each.is_running()}

    def living(self) -> list[psutil.Process]:
        """Return those that live; this process is none of them."""
        return [each for each in self._members if each.pid != os.getpid() and _is_alive(each)]


def _marked(mark: str) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if _has(process, mark)]


def _has(process: psutil.Process, mark: str) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.environ().get(VARIABLE) == mark
    return False


def _is_alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


if __name__ == "__main__":
    main()
