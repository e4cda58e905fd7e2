"""Commands that are measured: they have to end well, and to have judged as many cases as they were given."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from table import Unmeasured

__all__ = ["passed", "python", "timed"]

_HEADLINE = re.compile(r"conforms: (?:\d+ of )?(\d+) cases(?: asked)? = (\d+) pass(?:, (\d+) unsupported)?")


def timed(command: Sequence[str], folder: Path | None = None, statuses: Sequence[int] = (0,)) -> tuple[float, str, str]:
    """Run a command; give the seconds of the clock, and what it printed and noted.

    Raises:
        Unmeasured: if it ended with another status.
    """
    environment = {**os.environ, "PYTEST_ADDOPTS": ""}
    began = time.perf_counter()
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    took = time.perf_counter() - began
    if ended.returncode not in statuses:
        last = (ended.stderr.strip() or ended.stdout.strip() or "it printed nothing").splitlines()[-1]
        raise Unmeasured(f"exit status {ended.returncode}: {last}")
    return took, ended.stdout, ended.stderr


def python(*arguments: str) -> list[str]:
    """Return the command that runs this Python."""
    return [sys.executable, *arguments]


def passed(output: str, count: int) -> int:
    """Read how many cases passed at the end of what ``tokspec run`` printed; it has to have judged so many.

    Raises:
        Unmeasured: if it judged others, or if not all passed that were offered.

    >>> passed("tokenizers 0.23.3 conforms: 592 of 936 cases asked = 592 pass, 344 unsupported", 936)
    592
    """
    last = output.strip().rpartition("\n")[2]
    found = _HEADLINE.search(last)
    if found is None or int(found[1]) != count or int(found[2]) + int(found[3] or 0) != count:
        raise Unmeasured(f"{count} cases were to be judged, and it says {last!r}")
    return int(found[2])
