"""Progress of a campaign: how much of the budget is spent, and what was found so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokspec.cli.progress import Bar
from tokspec.fuzz.budget import Budget
from tokspec.fuzz.campaign import Campaign

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

__all__ = ["FuzzProgress"]


class FuzzProgress(Bar):
    """A bar over the seconds of a budget, or over its examples; called with the campaign as it is."""

    def __init__(self, budget: Budget) -> None:
        super().__init__("looking", budget.seconds or budget.examples)
        self.budget = budget

    def columns(self) -> tuple[ProgressColumn, ...]:
        """Leave out the count: a budget of seconds has none."""
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

        return TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()

    def __call__(self, campaign: Campaign) -> None:
        if self._bar:
            done = campaign.seconds if self.budget.seconds else campaign.tally.made
            found = f"{campaign.tally.examples} examples, {len(campaign.findings)} findings"
            self._bar.update(self._task, completed=done, description=found)
