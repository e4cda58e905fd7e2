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

        return TextColumn("{task.fields[found]}"), BarColumn(), TimeElapsedColumn()

    def amount(self, done: float) -> str:
        """Say how much of the budget is spent."""
        return super().amount(done) + (" s" if self.budget.seconds else " examples")

    def __call__(self, campaign: Campaign) -> None:
        done = campaign.seconds if self.budget.seconds else campaign.tally.made
        self.tell(done, f"{campaign.tally.examples} examples, {len(campaign.findings)} findings")
