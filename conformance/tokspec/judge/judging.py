"""Judging an implementation from its start to its end: the steps of every command that judges one, in order.

The cases are run. A case that crashed or hung is run once more, because a fault that does not occur again may be the
machine's. Then the known failures are applied, the requirements are checked, and the causes of failures are searched
for while the implementation can still be asked. Its session is closed last, and a fault that shows only then counts
like any other (PROTO-3).

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

#: Verdicts that the machine may have caused.
_FAULTS = (Verdict.CRASH, Verdict.TIMEOUT)

#: How many cases that crashed or hung are run again; if there are more, bad luck is no explanation.
_ASKED_AGAIN = 20


@dataclass(frozen=True)
class Terms:
    """What an implementation has to fulfill, in addition to the outcomes of the cases.

    ``choices`` are options that replace those that it declares. ``known`` are failures that do not count; an entry that
    names none of ``names`` is stale. For each name in ``required``, all cases of ``every`` that belong to it must pass.
    Answers of ``like`` count as well as specified ones.
    """

    choices: Mapping[str, str] | None = None
    known: KnownFailures = field(default_factory=KnownFailures)
    names: Collection[str] = ()
    required: Sequence[str] = ()
    every: Collection[Case] = ()
    like: Origin | None = None


def keep_first(first: Result, second: Result) -> Result:
    """Return a crash or timeout that did not occur again: it still fails the run, and is marked as flaky."""
    return replace(first, detail=f"{first.detail}; {_flaky(first)}")


def keep_second(first: Result, second: Result, note: Callable[[str], None]) -> Result:
    """Return the second result if a crash or timeout did not occur again; ``note`` is called with a line about it."""
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
    """Judge an implementation by cases, and close its session.

    Args:
        start: opens a session with the implementation.
        cases: the cases, in the order in which to run them.
        terms: the terms that it has to fulfill.
        max_failures: end the run after this many failing cases.
        flaky: chooses between a fault and the result of running the case again.
        verify: runs the cases of a finished run again; gets the seconds that the start and the cases took.
        rewrite: writes the known failures from a run to which none was applied, and returns them.
        reference: opens a session with the reference, to find the causes of failures; without it, causes are not
            searched for.
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
    """Return a run with more problems, which keep it from being green."""
    return replace(finished, problems=(*finished.problems, *problems))


def apply_known(finished: Run, known: KnownFailures) -> Run:
    """Apply known failures to the results of a run."""
    today = date.today()
    return replace(finished, results=tuple(known.apply_to(result, today) for result in finished.results))


def _ask_again(
    finished: Run,
    session: Session,
    known: KnownFailures | None,
    like: Origin | None,
    flaky: Callable[[Result, Result], Result],
) -> Run:
    """Run the cases that crashed or hung once more, each alone, unless there are very many."""
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
