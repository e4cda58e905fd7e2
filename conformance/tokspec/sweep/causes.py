"""What stands behind a cause: the stage that differs first, the clause that it is about, and who leaves the rule.

The minimised text of a cause is put to each implementation and to the reference, with what of the model can matter to
it, and shrunk further as fuzzing does. Where the model says what the specification does not cover, none is found out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tokspec.adapters.registry import open_session
from tokspec.adapters.tokfast import WITH_CHOICES
from tokspec.base.errors import AdapterFault, DataError, Unsupported
from tokspec.formats.user_model import UserModel
from tokspec.fuzz.checker import Checker, Comparison, Question, Side, reference_with
from tokspec.fuzz.findings import Finding, finding_of
from tokspec.fuzz.minimize import minimize
from tokspec.fuzz.saving import right_by_choice
from tokspec.protocol.messages import Answer
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.limits import Limits
from tokspec.sessions.session import Session
from tokspec.sweep.plan import Header
from tokspec.sweep.reducing import reduced
from tokspec.sweep.tally import Cause

__all__ = ["Explained", "Explainer", "ordered", "outcome_of"]

#: Seconds for which one cause is shrunk, and how many causes are looked into.
_SECONDS = 5.0
MOST = 40

#: Characters of the longest text that is looked into.
_LONGEST = 64

_STAGES = ("normalize", "pre_tokenize", "encode")


@dataclass(frozen=True)
class Explained:
    """A cause with the first stage that differs from the reference, its clause, and who does so; empty if unknown.

    ``is_allowed`` says that nobody does: the specification takes what either makes of the text.
    """

    cause: Cause
    stage: str = ""
    clause: str = ""
    who: str = ""
    finding: Finding | None = None
    is_allowed: bool = False


@dataclass(frozen=True)
class _Looked:
    """What a side makes of a text: where it leaves the reference, or else what it answers. Neither, if unknown."""

    finding: Finding | None = None
    answer: Sequence[Any] | None = None


def ordered(causes: Iterable[Cause]) -> list[Cause]:
    """Put causes in order, those of the most documents first."""
    return sorted(causes, key=lambda cause: (-cause.documents, -cause.count, cause.kind, cause.pattern, cause.detail))


class Explainer:
    """Looks into causes.

    Args:
        header: of the plan.
        models: of both sides.
        limits: of processes.
    """

    def __init__(self, header: Header, models: Sequence[UserModel], limits: Limits) -> None:
        self._header, self._models, self._limits = header, models, limits
        self._checkers: dict[int, Checker | None] = {}
        self._reference = reference_with({})

    def explain(self, causes: Sequence[Cause]) -> Iterator[Explained]:
        """Look into causes, the first ones; the others are given as they are."""
        try:
            for place, cause in enumerate(causes):
                is_about_rules = not cause.detail and len(cause.text) <= _LONGEST
                yield self._explained(cause) if place < MOST and is_about_rules else Explained(cause)
        finally:
            for checker in self._checkers.values():
                if checker is not None:
                    checker.judged.close()

    def bare(self, causes: Sequence[Cause]) -> Iterator[Explained]:
        """Return causes as they are."""
        return map(Explained, causes)

    def _explained(self, cause: Cause) -> Explained:
        """Look into one cause; where both leave the reference, what the first does is taken, and both are named."""
        mine, other = looked = [self._looked(index, cause.text) for index in (0, 1)]
        found = {index: each.finding for index, each in enumerate(looked) if each.finding is not None}
        if not found:
            is_known = mine.answer is not None and other.answer is not None
            return Explained(cause, is_allowed=is_known and mine.answer != other.answer)
        finding = next(iter(found.values()))
        who = " and ".join(self._header.labels[index] for index in found)
        return Explained(cause, finding.question.operation, finding.clause, who, finding)

    def _looked(self, index: int, text: str) -> _Looked:
        checker = self._checker(index)
        try:
            return _Looked() if checker is None else self._look(checker, self._models[index], text)
        except (Unsupported, DataError, AdapterFault):  # so that nothing can be said of it
            return _Looked()

    def _checker(self, index: int) -> Checker | None:
        if index not in self._checkers:
            try:
                self._checkers[index] = Checker(Side(partial(self._session, self._header.sides[index])))
            except (AdapterFault, DataError):
                self._checkers[index] = None
        return self._checkers[index]

    def _session(self, side: Mapping[str, Any]) -> Session:
        if side["impl"] in WITH_CHOICES:
            return InProcessSession(WITH_CHOICES[side["impl"]](side["choices"]))
        return open_session(side["impl"], side["command"], limits=self._limits)

    def _look(self, checker: Checker, own: UserModel, text: str) -> _Looked:
        """Find the first stage in which a side leaves the reference, with as small an example as it gets."""
        model = reduced(own.neutral, text, self._reference)
        for stage in _STAGES:
            if stage not in checker.judged.session.hello.operations:
                continue
            question = Question(model, stage, {"text": text})
            comparison = checker.compare_one(question)
            if comparison.state == "differs":
                return _Looked(self._shrunk(checker, question, comparison))
            ((reply,),) = checker.judged.ask(model, [(stage, {"text": text})])
            if stage == "encode" and comparison.state == "same" and isinstance(reply, Answer):
                return _Looked(answer=reply.result.get(self._header.field))
        return _Looked()

    def _shrunk(self, checker: Checker, question: Question, comparison: Comparison) -> Finding:
        latest = comparison

        def shows(candidate: Question) -> bool:
            nonlocal latest
            found = checker.compare_one(candidate)
            is_same = found.state == "differs" and found.kind == comparison.kind
            latest = found if is_same else latest
            return is_same

        small = minimize(question, shows, _SECONDS)
        return finding_of(small, latest)


def outcome_of(finding: Finding) -> Mapping[str, Any]:
    """Return what the reference answers, under every option of the choices on which that depends, for a fixture."""
    return right_by_choice(finding.question)
