"""What a campaign may take, and what it has done."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from time import monotonic

__all__ = ["Budget", "Tally"]


@dataclass(frozen=True)
class Budget:
    """When to end: after so many seconds, or so many examples, whichever comes first; None is no limit.

    >>> Budget(examples=10).is_spent(examples=10, since=0.0)
    True
    """

    seconds: float | None = None
    examples: int | None = None

    def is_spent(self, examples: int, since: float) -> bool:
        """Say whether it is time to end; ``since`` is when the campaign began."""
        return (self.examples is not None and examples >= self.examples) or self.is_late(since)

    def is_late(self, since: float) -> bool:
        """Say whether the seconds are over."""
        return self.seconds is not None and monotonic() - since >= self.seconds


@dataclass
class Tally:
    """What was done: examples by what came of them, and by family, operation and category of text.

    ``given`` are those that were not made, but found before: they are asked without a budget.
    """

    states: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)
    given: int = 0

    @property
    def examples(self) -> int:
        """How many were asked."""
        return sum(self.states.values())

    @property
    def made(self) -> int:
        """How many of them were made."""
        return self.examples - self.given
