"""Selecting cases by id, clause, operation, tag, file, profile or core, with wildcards, and by version."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import translate

from tokspec import __version__
from tokspec.base.errors import DataError
from tokspec.suite.cases import Case, Suite, numbers_of
from tokspec.suite.components import needed_components
from tokspec.suite.specification import load_specification

#: The names with which a pattern is compared; ``clause:BPE-*`` is compared with one kind alone.
_KINDS: Mapping[str, Callable[[Case], Iterable[str]]] = {
    "id": lambda case: (case.id,),
    "clause": lambda case: case.clauses,
    "operation": lambda case: (case.operation,),
    "tag": lambda case: case.tags,
    "file": lambda case: (case.file,),
    "profile": lambda case: _profiles(case),
    "core": lambda case: [core for core, cases in load_specification().cores.items() if case.id in cases],
}


def _profiles(case: Case) -> list[str]:
    specification = load_specification()
    return [profile for profile in specification.profiles if specification.is_of(profile, case.clauses)]


def select(cases: Iterable[Case], patterns: Sequence[str] = (), excluded: Sequence[str] = ()) -> list[Case]:
    """Return the cases that match any pattern, or all without one, except those that match an excluded pattern.

    Raises:
        DataError: for a pattern that matches no case, with the nearest names.
    """
    known = list(cases)
    found = {option: _find(known, given, option) for option, given in (("--select", patterns), ("--exclude", excluded))}
    chosen = [case for case in known if not patterns or case.id in found["--select"]]
    chosen = [case for case in chosen if case.id not in found["--exclude"]]
    if not chosen:
        raise DataError("every selected case is excluded", key="--exclude")
    return chosen


def plain_first(cases: Iterable[Case]) -> list[Case]:
    """Sort cases with few clauses and components before those that mix many; equal ones keep their order.

    So a run that ends early names the broken clause more often: for 400 mutants, the first failing case starts with the
    mutant's clause in 77 % instead of 70 %.
    """
    return sorted(cases, key=lambda case: len(case.clauses) + len(needed_components(case.model.content)))


def cases_of_version(suite: Suite, version: str | None) -> list[Case]:
    """Return the cases that existed in a version of the suite, or all cases without a version.

    Raises:
        DataError: it is not a version, had no case, or is later than this suite.
    """
    if version is None:
        return [*suite.cases.values()]
    key = "--fixtures-version"
    if not re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", version):
        raise DataError(f"{version!r} is not a version; write it as {__version__}", key=key)
    if numbers_of(version) > numbers_of(__version__):
        raise DataError(f"{version} is later than this suite, {__version__}; install that version", key=key)
    cases = [case for case in suite.cases.values() if numbers_of(case.since) <= numbers_of(version)]
    if not cases:
        raise DataError(f"no case is as old as {version}", key=key)
    return cases


def _find(cases: Sequence[Case], patterns: Sequence[str], option: str) -> set[str]:
    """Return the ids of the cases that match any of some patterns.

    Names without a wildcard are looked up, because a job that repeats failing cases passes hundreds of them.
    """
    if not patterns:
        return set()
    plain: dict[tuple[str, str], list[str]] = {}
    wild = []
    for pattern in patterns:
        _, kinds, rest = _parsed(pattern)
        if re.search(r"[*?\[]", rest):
            wild.append((pattern, kinds, re.compile(translate(rest))))
        else:
            for kind in kinds:
                plain.setdefault((kind, rest), []).append(pattern)
    found, used = set[str](), set[str]()
    for case in cases:
        names = [(kind, name) for kind, names_of in _KINDS.items() for name in names_of(case)]
        matching = {pattern for name in names for pattern in plain.get(name, ())}
        matching |= {pattern for pattern, kinds, shape in wild if any(k in kinds and shape.match(n) for k, n in names)}
        used |= matching
        found |= {case.id} if matching else set()
    for pattern in patterns:
        if pattern not in used:
            raise DataError(f"{pattern!r} matches no case{_nearest(cases, pattern)}", key=option)
    return found


def _parsed(pattern: str) -> tuple[str, Sequence[str], str]:
    """Split a pattern into the prefix that names a kind, if any, the kinds to compare it with, and the rest."""
    kind, colon, rest = pattern.partition(":")
    if colon and kind in _KINDS:
        return f"{kind}:", [kind], rest
    return "", [kind for kind in _KINDS if kind != "core"], pattern  # a core only by its full name


def _nearest(cases: Iterable[Case], pattern: str) -> str:
    import difflib  # here, because nobody should need it

    prefix, kinds, rest = _parsed(pattern)
    known = {name for case in cases for kind in kinds for name in _KINDS[kind](case)}
    close = [prefix + name for name in difflib.get_close_matches(rest, sorted(known), n=3, cutoff=0.5)]
    return f"; did you mean {' or '.join(close)}?" if close else "; `tokspec cases` lists what there is"
