"""The table that every measurement here prints: each figure with what it is compared with, their ratio and its target.

Seconds depend on the machine, ratios much less: both sides are measured in turn, pair by pair, and the ratio is the
median of the pairs' with the smallest and the largest beside it.
"""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

__all__ = ["Row", "machine", "paired", "print_table"]


@dataclass(frozen=True)
class Row:
    """One line: ``ours`` and ``peer`` are figures with their units; ``spread`` is the smallest and the largest ratio.

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

    @property
    def meets(self) -> bool:
        """Say whether the ratio is on the right side of the target; a line without a target has nothing to miss."""
        if self.target is None:
            return True
        return self.ratio <= self.target if self.at_most else self.ratio >= self.target

    @property
    def target_shown(self) -> str:
        """Write the target with its direction."""
        return "" if self.target is None else f"{'<=' if self.at_most else '>='} {self.target:g}"

    @property
    def verdict(self) -> str:
        """Write ``meets`` or ``misses``, and nothing where there is no target."""
        return "" if self.target is None else "meets" if self.meets else "misses"


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
    ratios = [ours / peer if at_most else peer / ours for ours, peer in seconds]
    ours, peer = (statistics.median(column) for column in zip(*seconds, strict=True))
    spread = min(ratios), max(ratios)
    return Row(what, duration(ours), duration(peer), statistics.median(ratios), target, spread, at_most, peer_name)


def duration(seconds: float) -> str:
    """Write seconds in the unit that suits them.

    >>> duration(12.34), duration(0.0123), duration(0.0000123)
    ('12.3 s', '12.3 ms', '12.3 µs')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds / size >= 10 else f"{seconds / size:.2f} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def machine() -> str:
    """Say on what was measured and how busy it was."""
    load = ", ".join(f"{mean:.2f}" for mean in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{os.cpu_count()} processors, {platform.system()} {platform.machine()}, {python}; load {load}"


def print_table(title: str, rows: Iterable[Row], console: Console | None = None) -> int:
    """Print the lines under a title; give the exit status, 1 if a line misses its target."""
    rows = list(rows)
    console = console or Console(width=None if os.isatty(1) else 160)
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in ("what", "ours", "peer", "", "ratio", "spread", "target", ""):
        table.add_column(column, justify="left" if column in ("what", "") else "right", overflow="fold")
    for row in rows:
        spread = f"{row.spread[0]:.2f}–{row.spread[1]:.2f}"
        cells = (row.what, row.ours, row.peer, row.peer_name, f"{row.ratio:.2f}", spread, row.target_shown, row.verdict)
        table.add_row(*cells, style=None if row.meets else "red")
    console.print(table, markup=False)
    console.print(machine(), markup=False, highlight=False)
    return 0 if all(row.meets for row in rows) else 1
