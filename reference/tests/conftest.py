"""Settings for all tests: Hypothesis draws the same examples every time."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("gate", derandomize=True, deadline=None, max_examples=60, database=None)
settings.load_profile("gate")
