"""What ``--jobs`` gains with an implementation that is slow: the reference, which computes 20 ms more for each case.

Run ``python conformance/bench/harness_jobs.py``. What is printed, but for the times, has to be the same.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from commands import passed, python, timed
from table import Row, Unmeasured, paired, print_table

from tokspec.suite.fixtures import load_suite

__all__ = ["rows"]

#: ``thread_time`` is the time of the processor, so that a busy machine makes no implementation faster.
ADAPTERS = """
import time
from tokspec.adapters.reference import ReferenceAdapter

class Computing(ReferenceAdapter):
    def run(self, *arguments):
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass
        return super().run(*arguments)

class Waiting(ReferenceAdapter):
    def run(self, *arguments):
        time.sleep(0.02)
        return super().run(*arguments)
"""

ROWS = [("computes", "Computing", 2, 1.7), ("waits", "Waiting", 2, 1.7), ("waits", "Waiting", 4, None)]


def rows(runs: int = 3) -> Iterator[Row]:
    """Measure."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "slow.py").write_text(ADAPTERS, "utf-8")
        for what, adapter, jobs, target in ROWS:
            seconds = []
            for _ in range(runs):
                (several, lines), (one, others) = (_run(folder, adapter, number) for number in (jobs, 1))
                if lines != others:
                    raise Unmeasured("the reports differ")
                seconds.append((several, one))
            yield paired(f"--jobs {jobs}, 20 ms a case that {what}", seconds, target, peer_name="--jobs 1")


def _run(folder: str, adapter: str, jobs: int) -> tuple[float, list[str]]:
    """Return the seconds of a whole run, and its report without the header."""
    report = Path(folder, "report.ndjson")
    command = python("-m", "tokspec", "run", "--impl", f"slow:{adapter}", "--jobs", str(jobs), "--report", str(report))
    seconds, output, _ = timed(command, Path(folder))
    passed(output, len(load_suite().cases))
    return seconds, report.read_text("utf-8").splitlines()[1:]


if __name__ == "__main__":
    sys.exit(print_table("Several processes", rows()))
