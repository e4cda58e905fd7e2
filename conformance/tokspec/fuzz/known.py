"""Findings that are known: they fail as a case does that a file of known failures lists.

A known failure names a case, and a finding is never that very case; what both share is the clause, the operation and
the verdict, where another answer and a refusal that is not due are one: which of them it is hangs on the model. A
finding that shares all three with a listed case, such as a crash of the same operation, is taken for the same fault
seen elsewhere, says so, and does not fail the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TypeAlias

from tokspec.base.errors import DataError
from tokspec.fuzz.findings import Finding, Findings
from tokspec.judge.known_failures import read_known_failures
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite

__all__ = ["Known", "known_clauses", "mark_known"]

Known: TypeAlias = Mapping[tuple[str, str, str], str]
"""The first case that is known to fail, by clause, operation and verdict."""


def known_clauses(file: Path | None, fixtures: Path | None = None, today: date | None = None) -> Known:
    """Return what the cases that a file of known failures lists are about, and how they fail.

    Raises:
        DataError: the file is wrong, names what is no case, or has an entry whose date is past.

    >>> known_clauses(None)
    {}
    """
    if file is None:
        return {}
    cases, known, found = load_suite(fixtures).cases, read_known_failures(file), dict[tuple[str, str, str], str]()
    for problem in (*known.stale(cases), *known.expired(today or date.today())):
        raise DataError(problem)
    for name, entry in known.entries.items():
        for clause in cases[name].clauses:
            found.setdefault((clause, _operation(cases[name]), _manner(entry.verdict)), name)
    return found


def mark_known(findings: Findings, known: Known) -> list[Finding]:
    """Mark every finding that is known, and give those that are not.

    A property that an example breaks which is known to differ from the oracle is the same fault once more.
    """
    for finding in findings:
        finding.known = _known(finding, known) or (_known(finding.oracle, known) if finding.oracle else "")
    return [finding for finding in findings if not finding.known]


def _known(finding: Finding, known: Known) -> str:
    operation = finding.group[2]
    if finding.clause.startswith("DEC-"):  # a property of encoding may be broken by decoding what was encoded
        operation = "decode"
    case = known.get((finding.clause, operation, _manner(finding.result.verdict.value)))
    return f"{finding.clause} ({case})" if case else ""


def _operation(case: Case) -> str:
    """Return the operation that a case is about: a model that is to be refused is that for every operation."""
    return "load" if any("invalid_model" in str(each.outcome) for each in case.questions) else case.operation


def _manner(verdict: str) -> str:
    return "fail" if verdict == "error" else verdict
