"""Clauses, cases and the reference's functions, held together both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tokspec.suite.cases import Suite
from tokspec.suite.specification import Clause, load_specification

__all__ = ["ClauseRow", "coverage"]

#: Clauses that bind the harness and a program, not a tokenizer: tests of the harness stand for cases.
_HARNESS = ("PROTO-", "ERROR-1", "TERM-5")


@dataclass(frozen=True)
class ClauseRow:
    """A clause, the ids of the cases that name it, and the functions of the reference that implement it."""

    clause: Clause
    cases: Sequence[str]
    functions: Sequence[str]

    @property
    def lacks(self) -> tuple[str, ...]:
        """What a MUST clause should have and does not: ``cases``, ``a function``."""
        if self.clause.level != "MUST" or self.clause.id.startswith(_HARNESS):
            return ()
        return ("cases",) * (not self.cases) + ("a function",) * (not self.functions)


def coverage(suite: Suite, functions: Mapping[str, Sequence[str]]) -> list[ClauseRow]:
    """Return a row for each live clause, in the order of the specification."""
    return [
        ClauseRow(
            clause,
            [case.id for case in suite.cases.values() if clause.id in case.clauses],
            functions.get(clause.id, ()),
        )
        for clause in load_specification().clauses.values()
        if clause.level != "RETIRED"
    ]
