"""What two implementations answer to the suite's own cases, compared with each other and with nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tokspec.base.display import compact, shorten
from tokspec.judge.compare import first_difference
from tokspec.judge.runner import make_request
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.protocol.spans import convert_result
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case

__all__ = ["CasesCompared", "cases_compared"]


@dataclass
class CasesCompared:
    """How many cases are answered alike, what is answered otherwise, and what one of the two alone answers."""

    same: int = 0
    neither: int = 0
    other: list[str] = field(default_factory=list)
    first_only: list[str] = field(default_factory=list)
    second_only: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether anything is not alike."""
        return bool(self.other or self.first_only or self.second_only)


def cases_compared(
    first: Session,
    second: Session,
    cases: Sequence[Case],
    units: tuple[str, str],
    progress: Callable[[Case], None] = lambda case: None,
) -> CasesCompared:
    """Ask both about every case; spans are compared in the unit of the second.

    Only what the cases do not hold an implementation to could hide a change: what is compared is the whole answer.
    """
    found = CasesCompared()
    replies = [_replies(session, cases) for session in (first, second)]
    for case, old, new in zip(cases, *replies, strict=True):
        _note(found, case, old, new, units)
        progress(case)
    return found


def _replies(session: Session, cases: Sequence[Case]) -> list[Reply]:
    found = dict(session.ask([make_request(case) for case in cases]))
    return [found[index] for index in range(len(cases))]


def _note(found: CasesCompared, case: Case, old: Reply, new: Reply, units: tuple[str, str]) -> None:
    offered = [not (isinstance(each, Refused) and each.reason == "unsupported") for each in (old, new)]
    if offered == [False, False]:
        found.neither += 1
    elif offered == [True, False]:
        found.first_only.append(case.id)
    elif offered == [False, True]:
        found.second_only.append(case.id)
    elif difference := _difference(case, old, new, units):
        found.other.append(f"{case.id}: {difference}")
    else:
        found.same += 1


def _difference(case: Case, old: Reply, new: Reply, units: tuple[str, str]) -> str:
    if not (isinstance(old, Answer) and isinstance(new, Answer)):
        left, right = _said(old), _said(new)
        return "" if left == right else f"{left} → {right}"
    expected = convert_result(old.result, case.input, units[1], units[0])
    difference = first_difference(_shared(expected, new.result), _shared(new.result, expected), {})
    if difference is None:
        return ""
    place = ".".join(map(str, difference.path))
    shown = [shorten(compact(each), 60) for each in (difference.expected, difference.actual)]
    return f"{place}: {shown[0]} → {shown[1]}"


def _shared(result: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key in other}


def _said(reply: Reply) -> str:
    """Name what was answered; what a fault says besides has addresses and times in it."""
    if isinstance(reply, Refused):
        return f"refuses as {reply.reason}"
    return reply.kind if isinstance(reply, Fault) else f"answers {shorten(compact(reply.result), 60)}"
