"""A backend of Hypothesis that draws at random and does nothing else, for looking for a first difference.

Hypothesis's own backend keeps a tree of what was drawn, and makes five of six examples by changing the one before: with
examples of thousands of choices it finds fewer differences in the same time. Shrinking and replay are Hypothesis's own.
Backends are an interface that may move (``pyproject.toml`` bounds the version): where it has, Hypothesis's own is used.
"""

from __future__ import annotations

from typing import Any

__all__ = ["BACKEND"]

try:
    from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider
except ImportError:  # pragma: no cover
    BACKEND = "hypothesis"
else:
    BACKEND = "tokspec-random"

    class RandomProvider(HypothesisProvider):
        """Draws booleans, integers and strings uniformly; strings take 80 % from the first 256 characters."""

        def draw_boolean(self, p: float = 0.5) -> bool:
            """Draw True with the probability ``p``."""
            assert self._random is not None
            return self._random.random() < p

        def draw_integer(self, min_value: int | None = None, max_value: int | None = None, **others: Any) -> int:
            """Draw an integer of a range; without one, as Hypothesis does."""
            assert self._random is not None
            if min_value is None or max_value is None:
                return super().draw_integer(min_value, max_value, **others)
            return min_value + int(self._random.random() * (max_value - min_value + 1))

        def draw_string(self, intervals: Any, *, min_size: int = 0, max_size: int = 12) -> str:
            """Draw a string whose length is distributed as Hypothesis's are."""
            assert self._random is not None
            random, last = self._random.random, len(intervals)
            average = min(max(min_size * 2, min_size + 5), 0.5 * (min_size + max_size))
            goes_on, size = 1 - 1 / (1 + average - min_size), min_size
            while size < max_size and random() < goes_on:
                size += 1
            plain = min(last, 256)
            places = [
                int(random() * plain) if last == plain or random() < 0.8 else plain + int(random() * (last - plain))
                for _ in range(size)
            ]
            return "".join([intervals.char_in_shrink_order(place) for place in places])

    AVAILABLE_PROVIDERS[BACKEND] = f"{__name__}.{RandomProvider.__name__}"
