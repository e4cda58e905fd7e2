"""The suite's power: which known faults of the reference its cases notice.

A mutant is killed by a case that names the clause which it breaks. One that fails elsewhere alone is noticed by
accident, and counts as a survivor; so does one that nothing notices. Harmless mutants are to pass everything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tokspec.base.errors import AdapterFault, DataError
from tokspec.judge.runner import run
from tokspec.judge.verdicts import Result, Verdict
from tokspec.quality.mutants import Mutant
from tokspec.quality.mutated import mutated
from tokspec.quality.watched import Function, function_around, watched
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.limits import limited
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite

#: What a case may take, where the system has a timer: a mutant may run for ever.
SECONDS = 5.0

#: How many times as long a harmless mutant may take: it may be slow, and so may the machine.
_PATIENCE = 4

#: A mutant that hangs this often is not asked any more.
_HANGS = 3

#: With more mutants than this it pays to find out which cases run which functions.
_WATCHED = 10

#: What is raised by a mutant that was written wrongly, not by one with a wrong rule.
_SLIPS = ("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError")


@dataclass(frozen=True)
class Kill:
    """A case that a mutant fails, how, and whether the case names the mutant's clause."""

    case: str
    verdict: str
    names_clause: bool


@dataclass(frozen=True)
class MutantOutcome:
    """What a mutant came to: the number of cases that name its clause, how many it was asked, and those that it failed.

    >>> fault = Mutant("greedy", "WP-ENC-1", "takes nothing", "encode_wordpiece", "begin = 0", "begin = 1")
    >>> MutantOutcome(fault, 4, 9, (Kill("some-case", "fail", False),)).right
    False
    """

    mutant: Mutant
    named: int
    asked: int
    kills: tuple[Kill, ...]

    @property
    def killed(self) -> bool:
        """Whether a case of its clause noticed it."""
        return any(kill.names_clause for kill in self.kills)

    @property
    def right(self) -> bool:
        """Whether it is killed, or harmless and noticed by nothing."""
        return not self.kills if self.mutant.harmless else self.killed


def power(
    mutants: Sequence[Mutant],
    fixtures: Path | None = None,
    full: bool = False,
    jobs: int = 1,
    progress: Callable[[MutantOutcome], None] = lambda outcome: None,
) -> list[MutantOutcome]:
    """Judge every mutant, in as many processes as there are jobs, in the order given.

    Raises:
        DataError: a mutant does not fit the reference, or fails in a way that only a slip in it explains.
    """
    for mutant in mutants:
        mutant.changed()
    cases = list(load_suite(fixtures).cases.values())
    calls = watched({}, cases).calls if full and len(mutants) > _WATCHED else None
    if jobs == 1:
        return list(_told((judged(mutant, cases_of(mutant, cases, calls), full) for mutant in mutants), progress))
    with get_context("spawn").Pool(jobs, _begin, (fixtures, full, calls)) as pool:
        return list(_told(pool.imap(_judge, mutants, chunksize=1), progress))


def cases_of(mutant: Mutant, cases: Sequence[Case], calls: Mapping[Function, Collection[str]] | None) -> Sequence[Case]:
    """Leave out the cases that do not run what a mutant changes, which pass as they do without it.

    ``calls`` are the cases that run each function under the choices of the specification. All cases are left where they
    are not known, where other choices are asked for, and where the fault acts when its module is imported.
    """
    if calls is None or mutant.choices or mutant.adds:
        return cases
    ran = set[str]()
    for first, last in mutant.lines():
        function = function_around(mutant.module, first, last)
        if function is None or function not in calls:
            return cases
        ran.update(calls[function])
    return [case for case in cases if case.id in ran]


def judged(
    mutant: Mutant, cases: Sequence[Case], full: bool = False, seconds: Callable[[Case], float] = lambda case: SECONDS
) -> MutantOutcome:
    """Ask a mutant the cases of its clause, those that are about it first, until one fails.

    The others are asked if none does, if the mutant is harmless, or in ``full``; then one failure ends nothing.
    ``seconds`` gives how long a case may take, in seconds of the processor.
    """
    about = sorted((case for case in cases if mutant.clause in case.clauses), key=lambda case: _rank(case, mutant))
    others = [case for case in cases if mutant.clause not in case.clauses]
    asking = _Asking(mutant, seconds)
    everything = full or bool(mutant.harmless)
    asking.ask(about, everything)
    if everything or not asking.kills:
        asking.ask(others, everything)
    return MutantOutcome(mutant, len(about), asking.asked, tuple(asking.kills))


def _rank(case: Case, mutant: Mutant) -> int:
    return case.clauses.index(mutant.clause)


class _Asking:
    """A session with one mutant, and what it failed so far."""

    def __init__(self, mutant: Mutant, seconds: Callable[[Case], float]) -> None:
        self.mutant, self.seconds, self.asked, self.hung = mutant, seconds, 0, 0
        self.kills: list[Kill] = []
        try:
            self.session = InProcessSession(mutated(mutant.module, mutant.changed(), mutant.choices))
        except (AdapterFault, DataError) as error:
            raise DataError(str(error), mutant.place, key=mutant.id) from error

    def ask(self, cases: Iterable[Case], everything: bool) -> None:
        for case in cases:
            if self.hung == _HANGS or (self.kills and not everything):
                return
            self.asked += 1
            verdict = self.verdict(case)
            if verdict:
                self.kills.append(Kill(case.id, verdict, self.mutant.clause in case.clauses))

    def verdict(self, case: Case) -> str:
        """Return how a case fails; an empty text if it passes. The reference supports every case."""
        try:
            with limited(self.seconds(case) * (_PATIENCE if self.mutant.harmless else 1)):
                (result,) = run(self.session, [case]).results
        except TimeoutError:
            self.hung += 1
            return "timeout"
        if result.verdict is Verdict.PASS:
            return ""
        for question in result.telling or (result,):
            if question.detail.startswith("TimeoutError"):
                self.hung += 1
                return "timeout"
            self.check(question)
        return str(result.verdict.value)

    def check(self, result: Result) -> None:
        if result.detail.startswith(_SLIPS):
            message = f"{result.case.id} fails by a slip of the mutant: {result.detail}"
            raise DataError(message, self.mutant.place, key=self.mutant.id)


def _told(outcomes: Iterable[MutantOutcome], progress: Callable[[MutantOutcome], None]) -> Iterator[MutantOutcome]:
    for outcome in outcomes:
        progress(outcome)
        yield outcome


_Calls = Mapping[Function, Collection[str]] | None

_WORK: dict[str, tuple[Sequence[Case], bool, _Calls]] = {}


def _begin(fixtures: Path | None, full: bool, calls: _Calls) -> None:
    """Make a process ready: the cases are read once in each."""
    _WORK["all"] = list(load_suite(fixtures).cases.values()), full, calls


def _judge(mutant: Mutant) -> MutantOutcome:
    cases, full, calls = _WORK["all"]
    return judged(mutant, cases_of(mutant, cases, calls), full)
