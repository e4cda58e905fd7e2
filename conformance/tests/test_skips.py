"""Where TOKSPEC_NO_SKIPS says so, a skipped test is an error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SKIPS = """\
import pytest


def test_skips() -> None:
    pytest.skip("because")


def test_passes() -> None: ...
"""


@pytest.mark.slow
def test_a_skip_is_a_failure_where_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text("utf-8"))
    (tmp_path / "test_some.py").write_text(SKIPS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(tmp_path)]
    said = []
    for value in ("", "1"):
        environment = {**os.environ, "TOKSPEC_NO_SKIPS": value}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        said.append((done.returncode, done.stdout.splitlines()[-1].partition(" in ")[0]))
    assert said == [(0, "1 passed, 1 skipped"), (1, "1 failed, 1 passed")]
