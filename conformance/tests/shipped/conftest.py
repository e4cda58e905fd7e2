"""The files that packages ship, and the modules beside this file for tests to import."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
