"""Progress of a sweep, with its rate and the time that is left: on standard error, and only on a terminal."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Self

from tokspec.cli.progress import may_be_seen
from tokspec.sweep.engines import Done
from tokspec.sweep.plan import Plan

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["SweepProgress"]


class SweepProgress:
    """A bar over the bytes of all units; called after each unit. ``there`` are units that are done already."""

    _bar: Progress | None = None
    _task: TaskID

    def __init__(self, plan: Plan, there: Collection[str]) -> None:
        if not may_be_seen():
            return
        from rich.console import Console  # here, because it takes a while, and no job has a terminal
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
        from rich.progress import Progress as Bar

        self._sizes = {unit.id: unit.bytes for unit in plan.units if unit.id not in there}
        columns = (
            TextColumn("sweeping"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[found]}"),
        )
        console = Console(stderr=True)
        self._found = 0
        self._bar = Bar(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task("", total=sum(self._sizes.values()), found="")

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, done: Done) -> None:
        """Go on by the size of a unit."""
        if self._bar:
            self._found += done.different
            found = f"{self._found:,} documents differ" if self._found else ""
            self._bar.update(self._task, advance=self._sizes.get(done.unit, 0), found=found)
