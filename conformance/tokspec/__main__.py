"""The entry point of ``tokspec`` and ``python -m tokspec``.

An interruption ends it with status 130 at any time: also while the command line is being imported, which takes most of
the time of a short command, and after its work is done.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command line in a process that runs nothing else."""
    handles_interruptions = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN  # as in the background of a shell
    if handles_interruptions:
        signal.signal(signal.SIGINT, _end_at_once)
    from tokspec.cli import run_command_line  # here, so that an interruption of the import is handled

    try:
        if handles_interruptions:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        status = run_command_line(sys.argv[1:], owns_process=True)
        if handles_interruptions:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt as interruption:  # raised between the lines above, by Ctrl-C or another signal
        _end_at_once(getattr(interruption, "signal", signal.SIGINT), None)
    sys.exit(status)


def _end_at_once(number: int, frame: FrameType | None) -> None:
    said = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    os.write(2, f"tokspec: {said}\n".encode())
    os._exit(128 + number)


if __name__ == "__main__":
    main()
