"""However much a program writes, the suite itself stays small."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokspec.judge.runner import run
from tokspec.protocol.messages import Fault, Request
from tokspec.sessions.limits import Limits
from tokspec.sessions.program import ProgramSession
from tokspec.suite.cases import Case

pytestmark = pytest.mark.slow

PROGRAM = [sys.executable, "-S", "-E", str(Path(__file__).parents[1] / "programs" / "misbehave.py")]
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")

LIMITS = Limits(case_seconds=60.0, start_seconds=60.0)

#: Kilobytes by which this process may grow. A line may have 4 MB, and is copied a few times before it is refused.
BOUND = 60 * 1024


@pytest.fixture
def grown() -> Callable[[], int]:
    """Return what tells by how many kilobytes the greatest size of this process has grown."""
    if not CLEAR.exists():
        pytest.skip("the system does not tell the greatest size that a process had")
    CLEAR.write_text("5", "ascii")
    before = _greatest()
    return lambda: _greatest() - before


def _greatest() -> int:
    lines = STATUS.read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


@pytest.mark.parametrize(
    "name",
    ["line_of_1_gb", "endless_line", "endless_lines", "endless_blank_lines", "endless_complaint", "wide", "deep"],
)
def test_what_a_program_writes_is_not_kept(judge: Callable[..., Any], grown: Callable[[], int], name: str) -> None:
    seen = judge([*PROGRAM, name], {"case_seconds": 1.0} if name == "endless_complaint" else {})
    assert seen.verdicts == ("PPPPTPPP" if name == "endless_complaint" else "PPPPOPPP")
    assert grown() < BOUND


def test_what_nobody_reads_is_not_kept(judge: Any, grown: Callable[[], int]) -> None:
    """A program that floods after ``hello`` waits for its pipe, until somebody asks and hears of it."""
    request = Request("normalize", "toy", {"normalizer": {"type": "lowercase"}}, {"text": "TITLE"})
    fault = Fault("protocol", "a line is not JSON (Expecting value at character 1): ''")
    with ProgramSession([*PROGRAM, "floods_after_hello"], LIMITS) as session:
        time.sleep(1.0)
        assert list(session.ask([request])) == [(0, fault)]
    assert grown() < BOUND


@pytest.mark.long
@pytest.mark.parametrize("name", ["long", "refuses_at_length"])
def test_what_a_program_answers_is_not_kept_whole(cases: list[Case], grown: Callable[[], int], name: str) -> None:
    hugs = next(case for case in cases if case.id == "bpe-toy-encode-hugs")
    with ProgramSession([*PROGRAM, name], LIMITS) as session:
        results = run(session, [hugs] * 150).results
    beginning = ('{"tokens":[' + 50 * '"a",')[:200]
    details = {
        "long": f"wrong answer, in 800012 bytes that begin '{beginning}'",
        "refuses_at_length": "x" * 1000 + " and 1047576 more characters",
    }
    assert {result.detail for result in results} == {details[name]}
    assert grown() < BOUND


def test_memory_is_limited_unless_told_otherwise() -> None:
    assert Limits().memory_mb == 4096
