"""Answers that depend on what else was asked, or on when: they are found by asking again, in other company.

``S`` is a state leak; the other letters and the cases are those of ``test_programs``. The third and the sixth case are
refused whatever comes before.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parents[1] / "programs"
NODE = shutil.which("node")
BUG = '{"tokens": ["b", "ug"], "ids": [1, 8], "spans": [[0, 1], [1, 3]]}'
NOTHING = '{"tokens": [], "ids": [], "spans": []}'

LANGUAGES = {
    "python": [sys.executable, "-S", "-E", str(PROGRAMS / "misbehave.py")],
    "node": [str(NODE), str(PROGRAMS / "misbehave.mjs")],
}

#: What the answers depend on, and the verdicts at first and after asking again.
ROWS = [
    ("good", "PPPPPPPP", "PPPPPPPP"),
    ("after_mug", "PPPFFPFF", "SSPSSPSS"),
    ("after_three_loads", "PPPPPPPF", "SSPSSPSS"),
    ("second_time", "PPPPPPPP", "SSPSSPSS"),
    ("second_life", "PPPPPPPP", "SSPSSPSS"),
]


@pytest.mark.long
@pytest.mark.parametrize(
    "language",
    ["python", pytest.param("node", marks=pytest.mark.skipif(NODE is None, reason="node is not installed"))],
)
@pytest.mark.parametrize(("name", "first", "again"), ROWS, ids=[row[0] for row in ROWS])
def test_company(judge: Callable[..., Any], tmp_path: Path, language: str, name: str, first: str, again: str) -> None:
    command = [*LANGUAGES[language], name]
    lives = [str(tmp_path / "once"), str(tmp_path / "again")] if name == "second_life" else ["", ""]
    assert judge([*command, lives[0]]).verdicts == first
    seen = judge.again([*command, lives[1]])
    assert (seen.verdicts, seen.conforms) == (again, "S" not in again)


def test_what_is_said_of_a_state_leak(judge: Any, tmp_path: Path) -> None:
    seen = judge.again([*LANGUAGES["python"], "second_life", str(tmp_path / "lives")])
    assert seen.details[0] == f"was {BUG} at first, and {NOTHING} in the shuffled order of seed 0"
