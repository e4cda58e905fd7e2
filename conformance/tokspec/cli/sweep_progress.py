"""Progress of a sweep: its bytes, its rate, the time that is left, and what differs so far."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from tokspec.cli.progress import Bar
from tokspec.sweep.engines import Done
from tokspec.sweep.plan import Plan

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

__all__ = ["SweepProgress"]


class SweepProgress(Bar):
    """A bar over the bytes of all units; called after each unit. ``there`` are units that are done already."""

    def __init__(self, plan: Plan, there: Collection[str]) -> None:
        self._sizes = {unit.id: unit.bytes for unit in plan.units if unit.id not in there}
        self._found = 0
        super().__init__("sweeping", sum(self._sizes.values()))

    def columns(self) -> tuple[ProgressColumn, ...]:
        """Show bytes instead of a count, and what was found behind them."""
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn

        rate = DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
        return TextColumn("{task.description}"), BarColumn(), *rate, TextColumn("{task.fields[found]}")

    def __call__(self, done: Done) -> None:
        """Go on by the size of a unit."""
        self._found += done.different
        found = f"{self._found:,} documents differ" if self._found else ""
        self.tell(self._done + self._sizes.get(done.unit, 0), found)

    def amount(self, done: float) -> str:
        """Say how many bytes are done."""
        return f"{done / 1e6:,.1f} of {(self._total or 0) / 1e6:,.1f} MB"
