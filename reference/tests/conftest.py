"""Settings for all tests: Hypothesis draws the same examples every time, and the oracle can be imported."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("gate", derandomize=True, deadline=None, max_examples=60, database=None)
settings.load_profile("gate")
