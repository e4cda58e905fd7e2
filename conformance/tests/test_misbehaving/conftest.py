"""What the tests of misbehaving programs share: the cases, and a judge that looks for what a run leaves behind."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import psutil
import pytest

from tokspec.base.errors import AdapterFault
from tokspec.judge.runner import Run, fail_at_start, run
from tokspec.judge.verdicts import Verdict
from tokspec.judge.verify import verify_run
from tokspec.sessions.limits import Limits
from tokspec.sessions.program import ProgramSession, SessionPool
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite

#: The misbehaviour, where it is about one case, is about "hugs", the fifth. The third model is refused when it is
#: loaded, the sixth case when it is asked.
CASES = [
    "bpe-toy-encode-bug",
    "bpe-toy-encode-mug",
    "bpe-model-left-part-missing",
    "bpe-toy-encode-unhug",
    "bpe-toy-encode-hugs",
    "bpe-unknown-token-not-there",
    "bpe-toy-encode-emoji",
    "lowercase-ascii-title",
]

LETTERS = {
    Verdict.PASS: "P",
    Verdict.FAIL: "F",
    Verdict.ERROR: "E",
    Verdict.CRASH: "C",
    Verdict.TIMEOUT: "T",
    Verdict.PROTOCOL: "O",
    Verdict.STATE_LEAK: "S",
    Verdict.UNSUPPORTED: "U",
}

#: Generous, so that a busy machine makes no hang of a start; a test of a hang waits only for its own limit.
LIMITS = Limits(case_seconds=30.0, start_seconds=60.0, memory_mb=0)

VARIABLE = "TOKSPEC_MISBEHAVING"


@dataclass(frozen=True)
class Seen:
    """A run: a letter for the verdict of each case, the details of those that are no pass, and whether it conforms.

    ``problems`` is what no case is to blame for.
    """

    verdicts: str
    details: list[str]
    conforms: bool
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Judge:
    """Judges a program on the cases."""

    cases: Sequence[Case]

    def __call__(
        self, command: Sequence[str], limits: Mapping[str, Any] | None = None, *, is_ours: bool = False, jobs: int = 1
    ) -> Seen:
        """Run the cases once."""
        return _seen(self._run(lambda: self._several(command, limits or {}, is_ours, jobs)))

    def again(self, command: Sequence[str]) -> Seen:
        """Run the cases, and then again in other company."""
        return _seen(
            verify_run(self._run(lambda: self._open(command, {}, False)), lambda: self._open(command, {}, False))
        )

    def _several(self, command: Sequence[str], limits: Mapping[str, Any], is_ours: bool, jobs: int) -> Session:
        if jobs == 1:
            return self._open(command, limits, is_ours)
        allowed = replace(LIMITS, **limits)
        return SessionPool(lambda waits: ProgramSession(command, allowed, is_ours=is_ours, waits=waits), jobs)

    def _open(self, command: Sequence[str], limits: Mapping[str, Any], is_ours: bool) -> ProgramSession:
        return ProgramSession(command, replace(LIMITS, **limits), is_ours=is_ours)

    def _run(self, start: Callable[[], Session]) -> Run:
        try:
            with start() as session:
                return run(session, self.cases)
        except AdapterFault as fault:
            return fail_at_start("misbehaving", self.cases, fault)


def _seen(run: Run) -> Seen:
    details = [result.detail for result in run.results if result.verdict is not Verdict.PASS]
    return Seen("".join(LETTERS[result.verdict] for result in run.results), details, run.is_green, run.problems)


@pytest.fixture(scope="session")
def cases() -> list[Case]:
    """Return the cases, in their order."""
    suite = load_suite().cases
    return [suite[id] for id in CASES]


@pytest.fixture
def judge(cases: list[Case], monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    """Return a judge; check at the end that no process, thread or descriptor is left of what it started."""
    mark = secrets.token_hex(16)
    monkeypatch.setenv(VARIABLE, mark)
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")  # so that an interpreter with closed streams has one exit status
    before = _held()
    yield Judge(cases)
    assert _held() == before
    assert list(_left(mark)) == []


def _held() -> tuple[set[int], int, int]:
    """Count what this process holds: children, which zombies are too, threads and descriptors."""
    this = psutil.Process()
    return {child.pid for child in this.children(recursive=True)}, threading.active_count(), this.num_fds()


def _left(mark: str) -> Iterator[psutil.Process]:
    """Return the processes with a mark in their environment, wherever they went; a killed one may need a moment."""
    for process in psutil.process_iter():
        try:
            if process.environ().get(VARIABLE) == mark:
                process.wait(60.0)
        except psutil.TimeoutExpired:
            yield process
        except psutil.Error:
            continue
