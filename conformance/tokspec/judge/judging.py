"""Judging an implementation from its start to its end: the steps, and their order, of every command that judges one.

The cases are asked. What crashed or hung is asked once more, because a fault that does not come again may be the
machine's. Then the known failures are applied, what is required is checked, and the causes of failures are looked for
while the implementation can still be asked. Its session is ended last, and a fault that shows only then counts like any
other (PROTO-3).

Printing, writing reports and the exit status are left to the commands.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from time import monotonic

from tokspec.judge.diagnosis import diagnose
from tokspec.judge.known_failures import KnownFailures
from tokspec.judge.runner import Run, judge_cases, likeness_of, run
from tokspec.judge.scope import shortfalls
from tokspec.judge.verdicts import Result, Verdict
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case
from tokspec.suite.origins import Origin

#: Verdicts that may be the machine's doing.
_FAULTS = (Verdict.CRASH, Verdict.TIMEOUT)

#: How many cases that crashed or hung are asked again; an implementation that fails more of them is not unlucky.
_ASKED_AGAIN = 20


@dataclass(frozen=True)
class Terms:
    """What an implementation is held to, besides the outcomes of the cases.

    ``choices`` are options that replace those that it declares. ``known`` are failures that do not count; an entry that
    names none of ``names`` is stale. Of each name in ``required``, all cases of ``every`` that belong to it must pass.
    Answers of ``like`` are as good as those that are specified.
    """

    choices: Mapping[str, str] | None = None
    known: KnownFailures = field(default_factory=KnownFailures)
    names: Collection[str] = ()
    required: Sequence[str] = ()
    every: Collection[Case] = ()
    like: Origin | None = None


def keep_first(first: Result, second: Result) -> Result:
    """Return a crash or time-out that did not come again: it still fails the run, and says that it is flaky."""
    return replace(first, detail=f"{first.detail}; {_flaky(first)}")


def keep_second(first: Result, second: Result, note: Callable[[str], None]) -> Result:
    """Return what came when a crash or time-out did not come again; ``note`` is called with a line about it."""
    note(f"{first.case.id}: {first.verdict.value}: {first.detail}; {_flaky(first)}")
    return second


def _flaky(first: Result) -> str:
    return f"asked again alone, it did not {'crash' if first.verdict is Verdict.CRASH else 'time out'}"


def judge_implementation(
    start: Callable[[], Session],
    cases: Sequence[Case],
    terms: Terms,
    *,
    max_failures: int | None = None,
    flaky: Callable[[Result, Result], Result] = keep_first,
    verify: Callable[[Run, float, float], Run] | None = None,
    rewrite: Callable[[Run], KnownFailures] | None = None,
    reference: Callable[[], Session] | None = None,
    look: Callable[[Run, Session, Session], None] = lambda run, session, reference: None,
    progress: Callable[[Result], None] = lambda result: None,
) -> Run:
    """Judge an implementation by cases, and end it.

    Args:
        start: opens a session with it.
        cases: what to ask, in this order.
        terms: what it is held to.
        max_failures: end the run after this many failing cases.
        flaky: chooses between a fault and what came when the case was asked again.
        verify: asks a finished run again; gets the seconds that the start and the cases took.
        rewrite: writes the known failures from a run to which none was applied, and returns them.
        reference: opens a session with the reference, to find the causes of failures; without it none is looked for.
        look: called with a run that has failures, and both sessions, before they end.
        progress: called with each result as it arrives.

    Raises:
        AdapterFault: the implementation said no proper ``hello``.
        DataError: it cannot be found or started, or a required name is unknown.
    """
    began = monotonic()
    with start() as session:
        started = monotonic()
        known = None if rewrite else terms.known
        finished = run(
            session,
            cases,
            choices=terms.choices,
            max_failures=max_failures,
            known=known,
            like=terms.like,
            progress=progress,
        )
        finished = _ask_again(finished, session, known, terms.like, flaky)
        if verify:
            finished = verify(finished, started - began, monotonic() - started)
        if rewrite:
            finished = apply_known(finished, rewrite(finished))
        else:
            finished = with_problems(finished, terms.known.stale(terms.names))
        finished = with_problems(finished, [*shortfalls(finished, terms.every, terms.required)])
        if reference and finished.failed:
            with reference() as other:
                finished = diagnose(finished, session, other)
                look(finished, session, other)
    return with_problems(finished, end_problems(session))


def end_problems(session: Session) -> tuple[str, ...]:
    """Describe, once each, the faults with which the programs of a closed session ended."""
    return tuple(dict.fromkeys(f"{fault} (PROTO-3)" for fault in session.end_faults))


def with_problems(finished: Run, problems: Collection[str]) -> Run:
    """Return a run with more that keeps it from being green."""
    return replace(finished, problems=(*finished.problems, *problems))


def apply_known(finished: Run, known: KnownFailures) -> Run:
    """Return a run as it counts with the known failures of its cases."""
    today = date.today()
    return replace(finished, results=tuple(known.apply_to(result, today) for result in finished.results))


def _ask_again(
    finished: Run,
    session: Session,
    known: KnownFailures | None,
    like: Origin | None,
    flaky: Callable[[Result, Result], Result],
) -> Run:
    """Ask the cases that crashed or hung once more, each alone, unless there are very many."""
    faults = [result for result in finished.results if result.verdict in _FAULTS]
    if not faults or len(faults) > _ASKED_AGAIN:
        return finished
    settled, likeness = {}, likeness_of(session.hello, known, like)
    for first in faults:
        ((_, second),) = judge_cases(session, [first.case], finished.choices, likeness)
        if second.verdict not in _FAULTS:
            kept = flaky(first, second)
            is_new = kept.verdict not in _FAULTS
            settled[first.case.id] = known.apply_to(kept, date.today()) if known and is_new else kept
    return replace(finished, results=tuple(settled.get(result.case.id, result) for result in finished.results))
