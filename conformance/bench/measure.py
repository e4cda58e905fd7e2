"""What measurements share: a row is two sides that do the same work, and a target for their ratio.

The ratio is how many times as fast our side is as the peer. Both run in turn, several times, and have to come to the
same result each time; printed are the median of the ratios with the seconds of its run, the smallest and the largest,
and how busy the machine was.
Seconds depend on the machine, ratios much less.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from rich import box
from rich.console import Console
from rich.table import Table

__all__ = [
    "CACHE",
    "Finished",
    "Line",
    "Measured",
    "Row",
    "Unmeasured",
    "Work",
    "fresh",
    "main",
    "measure",
    "run_command",
]

#: What is fetched or built is kept here, among the system's temporary files.
CACHE = Path(tempfile.gettempdir(), "tokspec-bench")

#: Every library has one thread, in this process and in those that it starts; pytest has no options of the user's.
ENVIRONMENT = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "PYTEST_ADDOPTS": ""}

Work = Callable[[], Any]
"""What is measured of a side, after it has been prepared."""


class Unmeasured(Exception):
    """A figure that would mean nothing, and why."""


class Measured(NamedTuple):
    """How long a side took, and what it came to."""

    seconds: float
    result: Any


@dataclass(frozen=True)
class Row:
    """Two sides, and how many times as fast as the peer we mean to be; without a target the ratio is only shown.

    Where the peer does a part of the work, its seconds count ``scale`` times. Sides that do different work, such as
    another suite on other cases, are not ``comparable``: each only has to come to the same result again.
    """

    what: str
    ours: Callable[[], Measured]
    peer_name: str
    peer: Callable[[], Measured]
    target: float | None
    scale: float = 1
    comparable: bool = True


@dataclass(frozen=True)
class Line:
    """The figures of a row: the seconds of the run with the median ratio, all ratios, or why there are none."""

    row: Row
    ours: float = 0
    peer: float = 0
    ratios: tuple[float, ...] = ()
    fault: str = ""

    @property
    def verdict(self) -> str:
        """Return ``meets`` or ``misses``; an empty text if the row has no target."""
        if self.fault:
            return f"misses: {self.fault}"
        if self.row.target is None:
            return ""
        return "meets" if statistics.median_low(self.ratios) >= self.row.target else "misses"

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of the table."""
        target = "" if self.row.target is None else f"{self.row.target:g}"
        if self.fault:
            return self.row.what, "", self.row.peer_name, "", "", "", target, self.verdict
        spread = f"{min(self.ratios):.2f}–{max(self.ratios):.2f}"
        ours, peer, ratio = duration(self.ours), duration(self.peer), f"{statistics.median_low(self.ratios):.2f}"
        return self.row.what, ours, self.row.peer_name, peer, ratio, spread, target, self.verdict


def measure(row: Row, runs: int) -> Line:
    """Run both sides in turn."""
    try:
        pairs = [(row.ours(), row.peer()) for _ in range(runs)]
    except Unmeasured as why:
        return Line(row, fault=str(why))
    except Exception as error:  # whatever a side raises, the other rows are measured
        return Line(row, fault=f"{type(error).__name__}: {error}")
    ours, peers = ({side.result for side in column} for column in zip(*pairs, strict=True))
    if len(ours) > 1 or len(peers) > 1 or (row.comparable and ours != peers):
        return Line(row, fault="results differ")
    seconds = [(ours.seconds, peer.seconds * row.scale) for ours, peer in pairs]
    ratios = [peer / ours for ours, peer in seconds]
    middle = ratios.index(statistics.median_low(ratios))
    return Line(row, *seconds[middle], tuple(ratios))


def duration(seconds: float) -> str:
    """Write seconds in the unit that suits them.

    >>> duration(12.34), duration(0.0123), duration(0.0000123)
    ('12.3 s', '12.3 ms', '12.3 µs')
    """
    unit, size = next(((unit, size) for unit, size in (("s", 1.0), ("ms", 1e-3)) if seconds >= size), ("µs", 1e-6))
    return f"{seconds / size:.3g} {unit}"


def fresh(prepare: Callable[..., Work], *arguments: Any) -> Measured:
    """Measure the CPU seconds of work in a process of its own; importing and preparing is not counted.

    The result is a digest. Where work returns a function, that makes the result, and is not counted either.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_work, prepare, *arguments).result()


def _work(prepare: Callable[..., Work], *arguments: Any) -> Measured:
    work = prepare(*arguments)
    began = time.process_time()
    result = work()
    seconds = time.process_time() - began
    shown = repr(result() if callable(result) else result)
    return Measured(seconds, hashlib.sha256(shown.encode()).hexdigest())


class Finished(NamedTuple):
    """A command that ended: seconds of the clock, CPU seconds of it and all that it started, and what it printed."""

    clock: float
    processor: float
    output: str


def run_command(command: Sequence[str], folder: Path | None = None, statuses: Sequence[int] = (0,)) -> Finished:
    """Run a command.

    Raises:
        Unmeasured: if it ended with another status.
    """
    began, times = time.perf_counter(), os.times()
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    clock, after = time.perf_counter() - began, os.times()
    if ended.returncode not in statuses:
        last = (ended.stderr.strip() or ended.stdout.strip() or "it printed nothing").splitlines()[-1]
        raise Unmeasured(f"exit status {ended.returncode}: {last}")
    processor = after.children_user + after.children_system - times.children_user - times.children_system
    return Finished(clock, processor, ended.stdout)


def main(title: str, rows: Iterable[Row]) -> int:
    """Measure the rows that the command line asks for, and print the table, each row on standard error as it comes.

    Returns:
        The exit status: 1 if a target is missed or a row could not be measured, 2 if nothing could be.
    """
    parser = argparse.ArgumentParser(description=f"Measure: {title}.")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="the rows that are wanted, such as 'train*'")
    parser.add_argument("--runs", type=int, default=3, help="how often each side runs (3)")
    given = parser.parse_args()
    if given.runs < 1:
        parser.error("--runs is 1 at least")
    os.environ.update(ENVIRONMENT)
    rows = [*rows]
    wanted = [row for row in rows if fnmatch(row.what, given.only)]
    if not wanted:
        names = dict.fromkeys(row.what for row in rows)
        print(f"no row is named {given.only!r}; there are:", *names, sep="\n  ", file=sys.stderr)
        return 2
    lines, loads = [], [psutil.getloadavg()[0]]
    for row in wanted:
        lines.append(measure(row, given.runs))
        loads.append(psutil.getloadavg()[0])
        print(*filter(None, lines[-1].cells), sep="  ", file=sys.stderr, flush=True)
    print_table(title, lines)
    print(machine(loads))
    if all(line.fault for line in lines):
        return 2
    return int(any(line.verdict.startswith("misses") for line in lines))


def print_table(title: str, lines: Iterable[Line]) -> None:
    """Print figures as a table in Markdown."""
    table = Table(box=box.MARKDOWN)
    for name in (title, "ours", "peer", "peer's", "times as fast", "from–to", "target", ""):
        table.add_column(name, justify="left" if name in (title, "peer", "") else "right", no_wrap=True)
    for line in lines:
        table.add_row(*line.cells)
    Console(width=240).print(table, markup=False)


def machine(loads: Sequence[float]) -> str:
    """Say on what was measured, and how busy it was: means of a minute.

    >>> machine([0.5, 2.0, 1.0]).partition("; ")[2]
    'load 0.50 at the start, 2.00 at most, 1.00 at the end'
    """
    python = f"{platform.python_implementation()} {platform.python_version()}"
    load = f"load {loads[0]:.2f} at the start, {max(loads):.2f} at most, {loads[-1]:.2f} at the end"
    return f"{os.cpu_count()} processors, {platform.system()} {platform.machine()}, {python}; {load}"
