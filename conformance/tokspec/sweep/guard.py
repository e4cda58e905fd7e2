"""Nothing outlives a sweep: a process that does nothing but wait for its end, and then ends what is left.

Whatever a sweep starts, itself or by an engine, by an implementation or its descendants, has a mark in its environment.
When the sweep has ended, however it did, the guard ends what still has the mark.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

__all__ = ["guarded", "main"]

#: The variable of the environment with the mark.
VARIABLE = "TOKSPEC_SWEEP"

#: How often the guard looks, and for how long it waits in between for those that end by themselves.
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
    while os.read(0, 4096):
        pass
    _end_marked(sys.argv[1])


def _end_marked(mark: str) -> None:
    import psutil

    for _ in range(_ROUNDS):
        left = [process for process in psutil.process_iter() if _has(process, mark)]
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        if not left:
            return
        time.sleep(_REST_SECONDS)


def _has(process: object, mark: str) -> bool:
    import psutil

    with contextlib.suppress(psutil.Error):
        return process.environ().get(VARIABLE) == mark  # type: ignore[attr-defined,no-any-return]
    return False


if __name__ == "__main__":
    main()
