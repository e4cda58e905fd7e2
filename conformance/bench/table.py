"""The table that every measurement here prints: each figure with what it is compared with, their ratio and its target.

Seconds depend on the machine, ratios much less: both sides are measured in turn, pair by pair, and the ratio is the
median of the pairs' with the smallest and the largest beside it. What could not be measured, or came to another result,
is a line too, and misses.
"""

from __future__ import annotations

import math
import os
import platform
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

__all__ = ["Row", "Unmeasured", "duration", "machine", "middle", "paired", "print_table", "unmeasured"]


class Unmeasured(Exception):
    """A figure that would mean nothing, and why."""


@dataclass(frozen=True)
class Row:
    """One line: ``ours`` and ``peer`` are figures with their units; ``spread`` is the smallest and the largest ratio.

    With a ``fault``, which says what is wrong with the figures, it misses; so does a ratio that is not a number.

    >>> row = Row("encode", "1.0 s", "2.1 s", 2.1, 2.0, (1.9, 2.2))
    >>> row.meets, Row("start", "0.2 s", "", 0.2, 0.3, (0.2, 0.2), at_most=True).target_shown
    (True, '<= 0.3')
    """

    what: str
    ours: str
    peer: str
    ratio: float
    target: float | None
    spread: tuple[float, float]
    at_most: bool = False
    peer_name: str = ""
    fault: str = ""

    @property
    def meets(self) -> bool:
        """Say whether the ratio is on the right side of the target; without one it only has to be sound."""
        if self.fault or self.target is None:
            return not self.fault and not math.isnan(self.ratio)
        return self.ratio <= self.target if self.at_most else self.ratio >= self.target

    @property
    def target_shown(self) -> str:
        """Write the target with its direction."""
        return "" if self.target is None else f"{'<=' if self.at_most else '>='} {self.target:g}"

    @property
    def verdict(self) -> str:
        """Write ``meets`` or ``misses`` with the fault if there is one, and nothing where there was nothing to miss."""
        if self.meets:
            return "" if self.target is None else "meets"
        return f"misses: {self.fault}" if self.fault else "misses"


def unmeasured(what: str, why: str, peer_name: str = "") -> Row:
    """Make the line of what has no figures.

    >>> row = unmeasured("requests to an echo in Node", "not measured: no Node")
    >>> row.meets, row.verdict
    (False, 'misses: not measured: no Node')
    """
    return Row(what, "", "", math.nan, None, (math.nan, math.nan), peer_name=peer_name, fault=why)


def paired(
    what: str,
    seconds: Sequence[tuple[float, float]],
    target: float | None,
    *,
    at_most: bool = False,
    peer_name: str = "",
) -> Row:
    """Make a line of pairs of seconds, ours and the peer's.

    The ratio is how many times as fast we are; with ``at_most`` it is how many times as long we take.

    >>> row = paired("encode", [(1.0, 2.0), (1.0, 3.0), (2.0, 2.0)], 2)
    >>> row.ours, row.peer, row.ratio, row.spread, row.verdict
    ('1.00 s', '2.00 s', 2.0, (1.0, 3.0), 'meets')
    """
    ratio, spread = middle([ours / peer if at_most else peer / ours for ours, peer in seconds])
    ours, peer = (middle(column)[0] for column in zip(*seconds, strict=True))
    return Row(what, duration(ours), duration(peer), ratio, target, spread, at_most, peer_name)


def middle(values: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """Return the median, the smallest and the largest; one that is not a number sorts nowhere, and makes them none too.

    >>> middle([3.0, 1.0, 2.0]), middle([1.0, math.nan, 2.0])
    ((2.0, (1.0, 3.0)), (nan, (nan, nan)))
    """
    if any(map(math.isnan, values)):
        return math.nan, (math.nan, math.nan)
    return statistics.median(values), (min(values), max(values))


def duration(seconds: float) -> str:
    """Write seconds in the unit that suits them.

    >>> duration(12.34), duration(0.0123), duration(0.0000123)
    ('12.3 s', '12.3 ms', '12.3 µs')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds / size >= 10 else f"{seconds / size:.2f} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def machine(loads: Sequence[float]) -> str:
    """Say on what was measured, and how busy it was: the means of a minute that were seen from start to end.

    >>> machine([0.5, 2.0, 1.0]).partition("; ")[2]
    'load 0.50 at the start, 2.00 at most, 1.00 at the end'
    """
    python = f"{platform.python_implementation()} {platform.python_version()}"
    load = f"load {loads[0]:.2f} at the start, {max(loads):.2f} at most, {loads[-1]:.2f} at the end"
    return f"{os.cpu_count()} processors, {platform.system()} {platform.machine()}, {python}; {load}"


def _load() -> float:
    """Return how busy the machine was in the last minute, if the system counts that."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan


def print_table(title: str, rows: Iterable[Row], nothing: str = "nothing was measured") -> int:
    """Print the lines under a title, and on standard error each as it comes.

    Returns:
        The exit status: 1 if a line misses, and 2 if there are none, which ``nothing`` explains.
    """
    loads, measured = [_load()], list[Row]()
    for row in rows:
        measured.append(row)
        loads.append(_load())
        print(f"{row.what}: {row.ratio:.2f} {row.verdict}".rstrip(), file=sys.stderr)
    if not measured:
        print(nothing, file=sys.stderr)
        return 2
    console = Console(width=None if os.isatty(1) else 160)
    console.print(_table(title, measured), markup=False)
    console.print(machine(loads), markup=False, highlight=False)
    return 0 if all(row.meets for row in measured) else 1


def _table(title: str, rows: Iterable[Row]) -> Table:
    """Lay out the lines."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in ("what", "ours", "peer", "", "ratio", "spread", "target", ""):
        table.add_column(column, justify="left" if column in ("what", "") else "right", overflow="fold")
    for row in rows:
        figures = ("", "") if math.isnan(row.ratio) else (f"{row.ratio:.2f}", "{:.2f}–{:.2f}".format(*row.spread))
        cells = (row.what, row.ours, row.peer, row.peer_name, *figures, row.target_shown, row.verdict)
        table.add_row(*cells, style=None if row.meets else "red")
    return table
