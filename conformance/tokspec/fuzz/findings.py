"""What was found: each difference once, and the known failures by which some are excused."""

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
    """Return the origin of a difference; a model that is not refused is one for every operation.

    >>> origin_of("decode", "not refused as invalid_model")
    ('load', 'not refused as invalid_model')
    """
    return ("load" if kind.endswith("not refused as invalid_model") else operation), kind


@dataclass
class Finding:
    """A difference: the smallest question that shows it, how it differs, and the verdict on that.

    ``cause`` tells differences of one kind apart, if something is known of it. ``times`` is how often it was met;
    ``examples`` and ``seconds`` are what a campaign had asked and taken when it was met first. ``known`` names the
    listed case that excuses it. ``needs_others`` is whether the question is answered rightly where it is the only one.
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
        """What was asked, and how the answer differs."""
        return origin_of(self.question.operation, self.kind)

    @cached_property
    def components(self) -> frozenset[str]:
        """What its model has, and so needs for the difference."""
        return components_of(self.question.model)

    @cached_property
    def clauses(self) -> tuple[str, ...]:
        """The clauses that it may be about, the likeliest first."""
        return candidates(self.question, self.kind)

    @property
    def clause(self) -> str:
        """The clause that is named."""
        return self.clauses[0]

    @property
    def is_of_repetition(self) -> bool:
        """Whether it shows only when it is asked again."""
        return self.kind == AGAIN


def finding_of(question: Question, comparison: Comparison) -> Finding:
    """Make a finding of a question whose answer differs."""
    if comparison.result is None:
        raise ValueError("only what differs is a finding")
    return Finding(question, comparison.kind, comparison.result)


@dataclass
class Findings:
    """Findings, of which no two have the same origin and the same components."""

    found: list[Finding] = field(default_factory=list)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def add(self, finding: Finding) -> Finding:
        """Add a finding; of two that are one the smaller question stays. Returns what is kept."""
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
        """Return the finding that a difference may well be once more: its model has all that the finding's needs."""
        origin = origin_of(operation, kind)
        return next((each for each in self.found if each.origin == origin and each.components <= components), None)


@dataclass(frozen=True)
class KnownCause:
    """How a listed case fails: its operation, its manner of failing, its clauses, and what its model has."""

    case: str
    operation: str
    manner: str
    clauses: frozenset[str]
    components: frozenset[str]

    def excuses(self, finding: Finding) -> bool:
        """Say whether a finding has the same cause.

        It fails in the same manner at the same operation, may be about a clause of the case, and needs nothing in its
        model that the model of the case lacks.
        """
        operation, manner = finding.origin[0], _manner(finding.result.verdict.value)
        is_like = (operation, manner) == (self.operation, self.manner)
        return is_like and not self.clauses.isdisjoint(finding.clauses) and finding.components <= self.components


def known_causes(file: Path | None, fixtures: Path | None = None, today: date | None = None) -> list[KnownCause]:
    """Return how the cases fail that a file of known failures lists.

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
    """Return how something fails: another answer and a refusal that is not due are one, which of them it is hangs on
    the model.
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
