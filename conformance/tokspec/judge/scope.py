"""How much of the suite a run passes: all, some or none of the cases of each core, profile, chapter or clause.

A case belongs to a core that names it, to a profile if all of its clauses do, to the chapter of its first clause, and
to each of its clauses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from tokspec.base.errors import DataError
from tokspec.judge.effects import ENCODING, MODEL_INPUT, Effect
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Result, Verdict
from tokspec.suite.cases import Case
from tokspec.suite.specification import load_specification

#: The suffix of a name for which only the input of a model is required.
INPUT = ":input"

#: How many cases a sentence names.
_NAMED = 3


def extent(results: Sequence[Result]) -> str:
    """Return whether all of the cases pass, some or none.

    >>> extent([])
    'none'
    """
    passed = sum(result.verdict is Verdict.PASS for result in results)
    return "none" if not passed else "complete" if passed == len(results) else "partial"


def in_profile(results: Iterable[Result], profile: str) -> list[Result]:
    """Return the results of the cases that belong to a profile."""
    specification = load_specification()
    return [result for result in results if specification.is_of(profile, result.case.clauses)]


def check_names(names: Iterable[str]) -> None:
    """Check that each name is that of a core, a profile, a chapter or a clause.

    Raises:
        DataError: one is not; the message has the nearest names.
    """
    for name in names:
        _membership(name.removesuffix(INPUT))


def shortfalls(run: Run, cases: Iterable[Case], names: Iterable[str]) -> Iterator[str]:
    """Describe what is missing for each core, profile, chapter or clause with a case that did not pass.

    For a name with ``:input``, only the cases that test the input of a model are required, and only this part of an
    answer.

    Args:
        run: a run of all or some of these cases; a case that was not run did not pass.
        cases: all cases of the suite.
        names: the names that are required.

    Raises:
        DataError: a name is not known.
    """
    results, known = {result.case.id: result for result in run.results}, list(cases)
    for name in names:
        whole = name.removesuffix(INPUT)
        belongs, is_input = _membership(whole), whole != name
        wanted = [case.id for case in known if belongs(case) and (not is_input or _asks_input(case))]
        missing = [case for case in wanted if case not in results or not _holds(results[case], is_input)]
        if missing or not wanted:
            missing.sort(key=lambda case: case not in results or results[case].verdict.conforms)
            counts = Counter(results[case].verdict.value if case in results else "not selected" for case in missing)
            why = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()) or "it has no cases"
            held = f"{len(wanted) - len(missing)} of {len(wanted)} cases {'get it right' if is_input else 'pass'}"
            yield f"--require {name}: {held} ({why}){_list(missing)}"


def _holds(result: Result, is_input: bool) -> bool:
    is_pass = result.verdict in (Verdict.PASS, Verdict.AS_ORIGIN)
    return is_pass or (is_input and result.is_right_in(Effect.MODEL_INPUT))


def _asks_input(case: Case) -> bool:
    """Return whether a right answer to a case, with some option, contains the input of a model."""
    outcomes = [question.outcome for question in case.questions]
    return case.operation in ENCODING and any(_has_input(outcome) for outcome in outcomes)


def _has_input(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_input, value))
    return isinstance(value, Mapping) and (not MODEL_INPUT.isdisjoint(value) or any(map(_has_input, value.values())))


def _list(missing: Sequence[str]) -> str:
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    return f": {', '.join(missing[:_NAMED])}{more}" if missing else ""


def _membership(name: str) -> Callable[[Case], bool]:
    """Return a test whether a case belongs to a core, profile, chapter (with or without its number) or clause."""
    specification = load_specification()
    chapters = {clause.chapter for clause in specification.clauses.values()}
    chapters_by_title = {chapter.partition("-")[2]: chapter for chapter in chapters}
    cores = {f"core:{core}": cases for core, cases in specification.cores.items()}
    if name in cores:
        return lambda case: case.id in cores[name]
    if name in specification.profiles:
        return lambda case: specification.is_of(name, case.clauses)
    if name in chapters or name in chapters_by_title:
        chapter = chapters_by_title.get(name, name)
        return lambda case: specification.clauses[case.clauses[0]].chapter == chapter
    if name in specification.clauses:
        return lambda case: name in case.clauses
    known = [*cores, *specification.profiles, *sorted(chapters), *sorted(chapters_by_title), *specification.clauses]
    close = get_close_matches(name, known, 1) or get_close_matches(name.upper(), known, 1)
    advice = f"did you mean {close[0]}?" if close else f"profiles are {', '.join(specification.profiles)}"
    raise DataError(f"{name!r} is not a core, a profile, a chapter or a clause; {advice}", key="--require")
