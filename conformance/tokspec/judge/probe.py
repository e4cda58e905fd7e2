"""Which options an implementation takes: found out from its answers, whatever it declares.

Every case whose outcome depends on choices is asked, and its answer judged under each combination of their options. An
option fits a choice if no answer rules it out. Where several fit, and one of them is right more rarely than the others,
it is that one: whoever always takes the earliest of equal segmentations also gives any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from tokspec.judge.compare import choices_in, resolve
from tokspec.judge.runner import make_request
from tokspec.judge.verdicts import Verdict, judge
from tokspec.protocol.messages import Fault, Refused, Reply
from tokspec.protocol.spans import texts_of
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case
from tokspec.suite.specification import load_specification

__all__ = ["ChoiceFinding", "Probe", "choices_of", "probe"]

#: An option for each of the choices on which one case depends.
_Combination: TypeAlias = Mapping[str, str]

#: The combinations that explain an answer, by the id of the case.
_Explanations: TypeAlias = Mapping[str, Sequence[_Combination]]


@dataclass(frozen=True)
class ChoiceFinding:
    """What the answers tell of one choice.

    ``options`` are the strictest of those that fit: one if it is found; several if no case tells them apart; none if
    the answers contradict each other. ``telling`` has each case that rules an option out, with the options that it
    leaves.
    """

    choice: str
    options: tuple[str, ...]
    fitting: tuple[str, ...]
    telling: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Probe:
    """A finding for every choice, and the cases whose answer no combination of options explains."""

    findings: tuple[ChoiceFinding, ...]
    unexplained: tuple[str, ...]

    @property
    def declaration(self) -> Mapping[str, str]:
        """The option of every choice of which exactly one fits."""
        return {finding.choice: finding.options[0] for finding in self.findings if len(finding.options) == 1}


def probe(session: Session, cases: Sequence[Case]) -> Probe:
    """Ask every case that depends on a choice, and find out which options explain the answers."""
    asked = [question for case in cases for question in case.questions if choices_of(question)]
    explained: dict[str, list[_Combination]] = {}
    for index, reply in session.ask([make_request(case) for case in asked]):
        if not isinstance(reply, Fault) and not (isinstance(reply, Refused) and reply.reason == "unsupported"):
            explained[asked[index].id] = list(_explaining(asked[index], reply, session))
    unexplained = tuple(case for case, combinations in explained.items() if not combinations)
    told = {case: combinations for case, combinations in explained.items() if combinations}
    strictness = _strictness([case for case in asked if case.id in told])
    return Probe(tuple(_findings(told, strictness)), unexplained)


#: The operations whose results have spans.
COUNTING = ("encode", "encode_batch", "pre_tokenize")


def choices_of(case: Case) -> tuple[str, ...]:
    """Name the choices on which the outcome of a case, or of a row of a table, depends.

    >>> from tokspec.suite.fixtures import load_suite
    >>> choices_of(load_suite().cases["final-sigma-word"])
    ('final_sigma',)
    """
    names = list(dict.fromkeys(choices_in(case.outcome)))
    if case.operation in COUNTING and not "".join(texts_of(case.input)).isascii():
        names.append("offset_unit")
    return tuple(names)


def _combinations(case: Case) -> Iterator[_Combination]:
    known = load_specification().choices
    names = choices_of(case)
    for options in product(*(known[name].options for name in names)):
        yield dict(zip(names, options, strict=True))


def _explaining(case: Case, reply: Reply, session: Session) -> Iterator[_Combination]:
    defaults = load_specification().defaults()
    for combination in _combinations(case):
        if judge(case, reply, session.hello, {**defaults, **combination}).verdict is Verdict.PASS:
            yield combination


def _strictness(cases: Sequence[Case]) -> Mapping[tuple[str, str], int]:
    """Count for each option of each choice the answers that would be right in these cases."""
    defaults = load_specification().defaults()
    counts: dict[tuple[str, str], int] = {}
    for case in cases:
        for combination in _combinations(case):
            right = len(resolve(case.outcome, {**defaults, **combination}).get("one_of", (None,)))
            for choice in combination.items():
                counts[choice] = counts.get(choice, 0) + right
    return counts


def _findings(told: _Explanations, strictness: Mapping[tuple[str, str], int]) -> Iterator[ChoiceFinding]:
    possible = _narrowed(told)
    for name, choice in load_specification().choices.items():
        leaves = {case: _left(name, combinations, possible) for case, combinations in told.items()}
        telling = {case: left for case, left in leaves.items() if left and len(left) < len(choice.options)}
        fitting = tuple(option for option in choice.options if all(option in left for left in telling.values()))
        rarest = min((strictness.get((name, option), 0) for option in fitting), default=0)
        strictest = tuple(option for option in fitting if strictness.get((name, option), 0) == rarest)
        yield ChoiceFinding(name, strictest, fitting, telling)


def _narrowed(told: _Explanations) -> Mapping[str, frozenset[str]]:
    """Return the options that are possible for each choice: what one choice is rules combinations with others out."""
    possible = {name: frozenset(choice.options) for name, choice in load_specification().choices.items()}
    while True:
        before = dict(possible)
        for combinations in told.values():
            for name in combinations[0]:
                left = possible[name].intersection(_left(name, combinations, possible))
                possible[name] = left or possible[name]
        if possible == before:
            return possible


def _left(name: str, combinations: Sequence[_Combination], possible: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Return the options of a choice that are left by combinations whose other options are possible."""
    return tuple(
        dict.fromkeys(
            combination[name]
            for combination in combinations
            if name in combination
            and all(option in possible[other] for other, option in combination.items() if other != name)
        )
    )
