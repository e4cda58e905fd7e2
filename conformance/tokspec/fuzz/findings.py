"""The findings: each difference once, and the known failures that excuse some of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path

from tokspec.base.errors import DataError
from tokspec.compare.shrink import Question
from tokspec.fuzz.checker import AGAIN, Comparison
from tokspec.fuzz.clauses import candidates
from tokspec.fuzz.components import components_of
from tokspec.judge.known_failures import read_known_failures
from tokspec.judge.verdicts import Result
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite

Origin = tuple[str, str]
"""An operation and a kind of difference."""


def origin_of(operation: str, kind: str) -> Origin:
    """Return the origin of a difference; if a model is not refused, it is the same for every operation.

    >>> origin_of("decode", "not refused as invalid_model")
    ('load', 'not refused as invalid_model')
    """
    return ("load" if kind.endswith("not refused as invalid_model") else operation), kind


@dataclass
class Finding:
    """A difference: the smallest question that shows it, how it differs, and the verdict on that.

    ``cause`` tells differences of the same kind apart, if it is known. ``times`` is how often the difference occurred;
    ``examples`` and ``seconds`` are the examples tried and the time spent when it first occurred. ``known`` names the
    listed case that excuses it. ``needs_others`` is whether the answer is right if the question is the only one.
    """

    question: Question
    kind: str
    result: Result
    times: int = 1
    examples: int = 0
    seconds: float = 0.0
    known: str = ""
    needs_others: bool = False
    cause: str = ""

    @property
    def origin(self) -> Origin:
        """The operation, and how the answer differs."""
        return origin_of(self.question.operation, self.kind)

    @cached_property
    def components(self) -> frozenset[str]:
        """The components of its model, all of which the difference needs."""
        return components_of(self.question.model)

    @cached_property
    def clauses(self) -> tuple[str, ...]:
        """The clauses that the finding may be about, most likely first."""
        return candidates(self.question, self.kind)

    @property
    def clause(self) -> str:
        """The clause that is shown."""
        return self.clauses[0]

    @property
    def is_of_repetition(self) -> bool:
        """Whether the difference shows only when the same request is made again."""
        return self.kind == AGAIN


def finding_of(question: Question, comparison: Comparison) -> Finding:
    """Build a finding from a question whose answer differs."""
    if comparison.result is None:
        raise ValueError("a result that does not differ is not a finding")
    return Finding(question, comparison.kind, comparison.result)


@dataclass
class Findings:
    """Findings; no two have the same origin and the same components."""

    found: list[Finding] = field(default_factory=list)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def add(self, finding: Finding) -> Finding:
        """Add a finding, and return the one that is kept: of two equal ones, that with the smaller question."""
        for known in self.found:
            if (known.origin, known.components) == (finding.origin, finding.components):
                known.times += finding.times
                if finding.question.size < known.question.size:
                    known.question, known.result = finding.question, finding.result
                    vars(known).pop("clauses", None)
                return known
        self.found.append(finding)
        return finding

    def explains(self, operation: str, kind: str, components: frozenset[str]) -> Finding | None:
        """Return the finding that probably explains a difference, whose model has all components of the finding's."""
        origin = origin_of(operation, kind)
        return next((each for each in self.found if each.origin == origin and each.components <= components), None)


@dataclass(frozen=True)
class KnownCause:
    """How a listed case fails: its operation, its manner of failing, its clauses, and the components of its model."""

    case: str
    operation: str
    manner: str
    clauses: frozenset[str]
    components: frozenset[str]

    def excuses(self, finding: Finding) -> bool:
        """Return whether a finding has the same cause.

        It fails in the same manner and operation, may violate a clause of the case, and its model has no component that
        the model of the case lacks.
        """
        operation, manner = finding.origin[0], _manner(finding.result.verdict.value)
        is_like = (operation, manner) == (self.operation, self.manner)
        return is_like and not self.clauses.isdisjoint(finding.clauses) and finding.components <= self.components


def known_causes(file: Path | None, fixtures: Path | None = None, today: date | None = None) -> list[KnownCause]:
    """Return how the cases in a file of known failures fail.

    Raises:
        DataError: the file is wrong, names what is not a case, or has an entry whose date is past.

    >>> known_causes(None)
    []
    """
    if file is None:
        return []
    cases, known = load_suite(fixtures).cases, read_known_failures(file)
    for problem in (*known.stale(cases), *known.expired(today or date.today())):
        raise DataError(problem)
    return [_cause(cases[name], entry.verdict) for name, entry in known.entries.items()]


def _cause(case: Case, verdict: str) -> KnownCause:
    is_of_loading = any("invalid_model" in str(each.outcome) for each in case.questions)
    operation = "load" if is_of_loading else case.operation
    return KnownCause(case.id, operation, _manner(verdict), frozenset(case.clauses), components_of(case.model.content))


def _manner(verdict: str) -> str:
    """Return how something fails.

    A wrong answer and a wrong refusal are the same, because the model decides which of them it is.
    """
    return "fail" if verdict == "error" else verdict


def mark_known(findings: Findings, causes: list[KnownCause]) -> list[Finding]:
    """Mark every finding that a listed case excuses, and return the others."""
    for finding in findings:
        cause = next((each for each in causes if each.excuses(finding)), None)
        if cause is not None:
            clause = next(each for each in finding.clauses if each in cause.clauses)
            finding.known = f"{clause} ({cause.case})"
    return [finding for finding in findings if not finding.known]
