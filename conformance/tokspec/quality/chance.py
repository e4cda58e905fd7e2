"""Whether a clause or an operation is met by chance: an implementation that knows nothing passes all its cases."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokspec.adapter import Hello
from tokspec.judge.compare import choices_in, resolve
from tokspec.judge.verdicts import Verdict, judge
from tokspec.quality.trivial import IMPLEMENTATIONS, replies
from tokspec.suite import schema
from tokspec.suite.fixtures import Case, Suite
from tokspec.suite.specification import load_specification

__all__ = ["KNOW_NOTHING", "Chance", "chance"]

_FITTED = "fitted"

#: What each implementation does, by its name. The last is the best of all those that do not look at the input.
KNOW_NOTHING: Mapping[str, str] = {
    **IMPLEMENTATIONS,
    _FITTED: "replies to every request of an operation the same: what most of the cases counted here expect",
}

#: Tokens are what every case of ``encode`` has; whoever gives them alone is held to the least.
_HELLO = Hello("trivial", "1", "Python", schema.operations(), encode_fields=("tokens",))


@dataclass(frozen=True)
class Chance:
    """A clause or an operation, its number of cases, and how many of them each implementation passes.

    >>> Chance("DEC-2", 3, {"empty": 3, "echo": 1}).met_by
    ('empty',)
    """

    name: str
    cases: int
    passed: Mapping[str, int]

    @property
    def met_by(self) -> tuple[str, ...]:
        """The implementations that pass all cases."""
        return tuple(name for name, count in self.passed.items() if count == self.cases)


def chance(suite: Suite) -> list[Chance]:
    """Give a row for each operation and each clause that has cases, in the order of the protocol and the specification.

    An implementation may declare the option of one choice that suits it best; of the others it takes the documents'.

    >>> from tokspec.suite.fixtures import load_suite
    >>> [row.name for row in chance(load_suite()) if row.met_by]
    []
    """
    judged, cases = _Judged(), list(suite.cases.values())
    groups = {name: [case for case in cases if case.operation == name] for name in schema.operations()}
    groups |= {name: [case for case in cases if name in case.clauses] for name in load_specification().clauses}
    return [Chance(name, len(group), judged.passed(group)) for name, group in groups.items() if group]


class _Judged:
    """Verdicts, each reached once: a case has another outcome only where it depends on a choice."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, int], list[str]] = {}

    def passed(self, cases: Sequence[Case]) -> Mapping[str, int]:
        """Count for each implementation the cases that it passes, with the options that suit it best."""
        counts = [self.count(cases, choices) for choices in _declarations(cases)]
        return {name: max(count[name] for count in counts) for name in KNOW_NOTHING}

    def count(self, cases: Sequence[Case], choices: Mapping[str, str]) -> Counter[str]:
        counts = Counter(name for case in cases for name in self.names(case, choices))
        counts[_FITTED] = _fitted((case.operation, resolve(case.outcome, choices)) for case in cases)
        return counts

    def names(self, case: Case, choices: Mapping[str, str]) -> list[str]:
        """Name the implementations that pass a case."""
        key = case.id, id(resolve(case.outcome, choices))
        if key not in self.known:
            self.known[key] = [name for name in IMPLEMENTATIONS if _passes(name, case, choices)]
        return self.known[key]


def _passes(name: str, case: Case, choices: Mapping[str, str]) -> bool:
    return any(judge(case, reply, _HELLO, choices).verdict is Verdict.PASS for reply in replies(name, case))


def _declarations(cases: Iterable[Case]) -> Iterator[dict[str, str]]:
    """Give the documents' options, and these with one other option of a choice on which a case depends."""
    specification = load_specification()
    yield specification.defaults()
    for name in dict.fromkeys(name for case in cases for name in choices_in(case.outcome)):
        for option in specification.choices[name].options:
            yield {**specification.defaults(), name: option}


def _fitted(outcomes: Iterable[tuple[str, Mapping[str, Any]]]) -> int:
    """Count the cases that one reply for each operation passes, if it is the reply that most of them expect."""
    by_operation: dict[str, Counter[str]] = {}
    for operation, outcome in outcomes:
        right = outcome.get("one_of") or [outcome.get("expect", outcome)]
        by_operation.setdefault(operation, Counter()).update({_written(operation, reply) for reply in right})
    return sum(max(counts.values()) for counts in by_operation.values())


def _written(operation: str, reply: Mapping[str, Any]) -> str:
    return json.dumps(reply["tokens"] if operation == "encode" and "tokens" in reply else reply, sort_keys=True)
