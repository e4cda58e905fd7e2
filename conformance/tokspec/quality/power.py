"""The power of the suite: which known faults of the reference its cases notice.

A mutant is killed by a case that names the clause that it breaks. A mutant that only fails elsewhere is noticed by
accident, and counts as a survivor, as does one that no case notices. Harmless mutants have to pass everything.
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

#: The seconds that a case may take, if the system has a timer, because a mutant may run forever.
SECONDS = 5.0

#: How many times as long a harmless mutant may take, because it may be slow, and so may the machine.
_PATIENCE = 4

#: A mutant that hangs this often gets no more cases.
_HANGS = 3

#: If more mutants than this are judged by every case, it pays to find out which cases run which functions.
_WATCHED = 10

#: Exceptions that a mutant raises because it was written wrongly, not because a rule is wrong.
_SLIPS = ("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError")


@dataclass(frozen=True)
class Kill:
    """A case that a mutant fails, how, and whether the case names the mutant's clause."""

    case: str
    verdict: str
    names_clause: bool


@dataclass(frozen=True)
class MutantOutcome:
    """The result of a mutant: how many cases name its clause, how many were run, and which of them it failed.

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
        """Whether a case of its clause noticed the mutant."""
        return any(kill.names_clause for kill in self.kills)

    @property
    def right(self) -> bool:
        """Whether the mutant is killed, or is harmless and not noticed."""
        return not self.kills if self.mutant.harmless else self.killed


def power(
    mutants: Sequence[Mutant],
    fixtures: Path | None = None,
    full: bool = False,
    jobs: int = 1,
    progress: Callable[[MutantOutcome], None] = lambda outcome: None,
) -> list[MutantOutcome]:
    """Judge every mutant in order, in ``jobs`` processes.

    Raises:
        DataError: a mutant does not fit the reference, or fails in a way that only a mistake in the mutant explains.
    """
    for mutant in mutants:
        mutant.changed()
    cases = list(load_suite(fixtures).cases.values())
    thorough = [mutant for mutant in mutants if full or mutant.harmless]
    calls = watched({}, cases).calls if len(thorough) > _WATCHED else None
    if jobs == 1:
        return list(_told((judged(mutant, cases_of(mutant, cases, calls), full) for mutant in mutants), progress))
    with get_context("spawn").Pool(jobs, _begin, (fixtures, full, calls)) as pool:
        return list(_told(pool.imap(_judge, mutants, chunksize=1), progress))


def cases_of(mutant: Mutant, cases: Sequence[Case], calls: Mapping[Function, Collection[str]] | None) -> Sequence[Case]:
    """Leave out the cases that do not run the code that a mutant changes, because the mutant cannot affect them.

    ``calls`` are the cases that run each function with the default choices of the specification. All cases are kept if
    the calls are not known, if the mutant needs other choices, or if the fault acts when its module is imported.
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
    """Run the cases of a mutant's clause, starting with those that are mainly about it, until one fails.

    The other cases are run if none fails, if the mutant is harmless, or with ``full``; in the last two cases, a failure
    does not end the run. ``seconds`` returns the CPU seconds that a case may take.
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
    """A session with one mutant, and the cases that it has failed so far."""

    def __init__(self, mutant: Mutant, seconds: Callable[[Case], float]) -> None:
        self.mutant, self.seconds, self.asked, self.hung = mutant, seconds, 0, 0
        self.kills: list[Kill] = []
        try:
            adapter = mutated(mutant.module, mutant.changed(), mutant.choices)
            self.session = InProcessSession(adapter, let_through=(KeyboardInterrupt, TimeoutError))
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
        """Return how a case fails; empty if it passes. The reference supports every case."""
        try:
            with limited(self.seconds(case) * (_PATIENCE if self.mutant.harmless else 1)):
                (result,) = run(self.session, [case]).results
        except TimeoutError:
            self.hung += 1
            return "timeout"
        if result.verdict is Verdict.PASS:
            return ""
        for question in result.telling or (result,):
            self.check(question)
        return str(result.verdict.value)

    def check(self, result: Result) -> None:
        if result.detail.startswith(_SLIPS):
            message = f"{result.case.id} fails because of a mistake in the mutant: {result.detail}"
            raise DataError(message, self.mutant.place, key=self.mutant.id)


def _told(outcomes: Iterable[MutantOutcome], progress: Callable[[MutantOutcome], None]) -> Iterator[MutantOutcome]:
    for outcome in outcomes:
        progress(outcome)
        yield outcome


_Calls = Mapping[Function, Collection[str]] | None

_WORK: dict[str, tuple[Sequence[Case], bool, _Calls]] = {}


def _begin(fixtures: Path | None, full: bool, calls: _Calls) -> None:
    """Prepare a worker process, which reads the cases once."""
    _WORK["all"] = list(load_suite(fixtures).cases.values()), full, calls


def _judge(mutant: Mutant) -> MutantOutcome:
    cases, full, calls = _WORK["all"]
    return judged(mutant, cases_of(mutant, cases, calls), full)
