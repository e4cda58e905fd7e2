"""Progress of a campaign: on standard error, and only on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

from tokspec.fuzz.campaign import Budget, Campaign

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["FuzzProgress"]


class FuzzProgress:
    """A bar that shows how much of the budget is spent, and what was found so far."""

    _bar: Progress | None = None
    _task: TaskID

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        if not sys.stderr.isatty():
            return
        from rich.console import Console  # here, because it takes a while, and no gate has a terminal
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("looking", total=budget.seconds or budget.examples)

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, campaign: Campaign) -> None:
        if self._bar:
            done = campaign.seconds if self.budget.seconds else campaign.tally.examples
            found = f"{campaign.tally.examples} examples, {len(campaign.findings)} findings"
            self._bar.update(self._task, completed=done, description=found)
