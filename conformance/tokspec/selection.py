"""Selecting cases by id, clause, operation, tag or file, with wildcards."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from tokspec.errors import DataError
from tokspec.fixtures import Case

__all__ = ["select"]

#: What a pattern is compared with; ``clause:BPE-*`` compares with one kind alone.
_KINDS: Mapping[str, Callable[[Case], Iterable[str]]] = {
    "id": lambda case: (case.id,),
    "clause": lambda case: case.clauses,
    "operation": lambda case: (case.operation,),
    "tag": lambda case: case.tags,
    "file": lambda case: (case.file,),
}


def select(cases: Iterable[Case], patterns: Sequence[str] = (), excluded: Sequence[str] = ()) -> list[Case]:
    """Give the cases that match any pattern, or all without one, less those that match an excluded pattern.

    Raises:
        DataError: for a pattern that matches no case, with the nearest names.
    """
    known = list(cases)
    for pattern in (*patterns, *excluded):
        if not any(_matches(case, pattern) for case in known):
            raise DataError(f"{pattern!r} matches no case{_nearest(known, pattern)}", key="--select")
    chosen = [case for case in known if not patterns or any(_matches(case, pattern) for pattern in patterns)]
    chosen = [case for case in chosen if not any(_matches(case, pattern) for pattern in excluded)]
    if not chosen:
        raise DataError("every selected case is excluded", key="--exclude")
    return chosen


def _matches(case: Case, pattern: str) -> bool:
    kind, colon, rest = pattern.partition(":")
    if colon and kind in _KINDS:
        return any(fnmatchcase(name, rest) for name in _KINDS[kind](case))
    return any(fnmatchcase(name, pattern) for names in _KINDS.values() for name in names(case))


def _nearest(cases: Iterable[Case], pattern: str) -> str:
    names = {name for case in cases for kind in _KINDS.values() for name in kind(case)}
    close = difflib.get_close_matches(pattern, sorted(names), n=3, cutoff=0.5)
    return f"; did you mean {', '.join(close)}?" if close else "; `tokspec list` shows what there is"
