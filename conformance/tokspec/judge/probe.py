"""Which options an implementation takes: found out from its answers, whatever it declares.

Every case whose outcome depends on choices is asked, and its answer judged under each combination of their options. An
option fits a choice if no answer rules it out, and costs the cases that fail with it whatever the other choices are, of
what is possible for them. Where several fit, it is the one that costs least; and of those the one that is right more
rarely than the others: an implementation that always takes the earliest of equal segmentations also gives any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from tokspec.judge.compare import choices_in, resolve
from tokspec.judge.runner import make_request
from tokspec.judge.verdicts import Verdict, judge
from tokspec.protocol.messages import Fault, Reply, is_unsupported
from tokspec.protocol.replies import check_form
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

    ``options`` are the cheapest and strictest of those that fit: one if it is found; several if no case tells them
    apart; none if the answers contradict each other. ``telling`` has each case that rules an option out, with the
    options that it leaves. ``costs`` has for every option how many of the ``answered`` cases fail with it.
    """

    choice: str
    options: tuple[str, ...]
    fitting: tuple[str, ...]
    telling: Mapping[str, tuple[str, ...]]
    costs: Mapping[str, int]
    answered: int


@dataclass(frozen=True)
class Probe:
    """A finding for every choice, and the cases whose answer no combination of options explains.

    ``faults`` are by the questions that came to one, malformed answers among them, of all that were ``asked``.
    ``explained`` counts the answers that a combination of options explains.
    """

    findings: tuple[ChoiceFinding, ...]
    unexplained: tuple[str, ...]
    faults: Mapping[str, Fault]
    asked: int
    explained: int

    @property
    def declaration(self) -> Mapping[str, str]:
        """The option of every choice of which exactly one fits."""
        return {finding.choice: finding.options[0] for finding in self.findings if len(finding.options) == 1}


def probe(session: Session, cases: Sequence[Case]) -> Probe:
    """Ask every case that depends on a choice, and find out which options explain the answers."""
    asked = [question for case in cases for question in case.questions if choices_of(question)]
    explained: dict[str, list[_Combination]] = {}
    faults: dict[str, Fault] = {}
    for index, given in session.ask([make_request(case) for case in asked]):
        reply = check_form(asked[index].operation, given)
        if isinstance(reply, Fault):
            faults[asked[index].id] = reply
        elif not is_unsupported(reply):
            explained[asked[index].id] = list(_explaining(asked[index], reply, session))
    unexplained = [case for case in asked if case.id in explained and not explained[case.id]]
    told = {case: combinations for case, combinations in explained.items() if combinations}
    strictness = _strictness([case for case in asked if case.id in told])
    lost = Counter(name for case in unexplained for name in choices_of(case))
    return Probe(
        tuple(_findings(told, strictness, lost)), tuple(case.id for case in unexplained), faults, len(asked), len(told)
    )


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


def _findings(
    told: _Explanations, strictness: Mapping[tuple[str, str], int], lost: Mapping[str, int]
) -> Iterator[ChoiceFinding]:
    """Return the finding for each choice; ``lost`` counts the cases of each whose answer nothing explains."""
    possible = _possible(told)
    for name, choice in load_specification().choices.items():
        leaves = _leaves(name, told, possible)
        telling = {case: left for case, left in leaves.items() if left and len(left) < len(choice.options)}
        costs = {option: cost + lost.get(name, 0) for option, cost in _costs(name, leaves).items()}
        fitting = tuple(option for option in choice.options if all(option in left for left in telling.values()))
        found = _least(fitting, costs)
        if not any(costs[option] for option in found):  # where cases fail with each, it is not by being laxer
            found = _least(found, {option: strictness.get((name, option), 0) for option in found})
        yield ChoiceFinding(name, found, fitting, telling, costs, len(leaves) + lost.get(name, 0))


def _least(options: Sequence[str], costs: Mapping[str, int]) -> tuple[str, ...]:
    least = min((costs[option] for option in options), default=0)
    return tuple(option for option in options if costs[option] == least)


def _leaves(name: str, told: _Explanations, possible: Mapping[str, frozenset[str]]) -> Mapping[str, tuple[str, ...]]:
    """Return the options of a choice that each case leaves which depends on it."""
    return {case: _left(name, each, possible) for case, each in told.items() if name in each[0]}


def _costs(name: str, leaves: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    options = load_specification().choices[name].options
    return {option: sum(option not in left for left in leaves.values()) for option in options}


def _possible(told: _Explanations) -> Mapping[str, frozenset[str]]:
    """Return the options that are possible for each choice: what one choice is rules combinations with others out.

    A choice of which the answers rule every option out rules nothing out itself, but for its dearer options.
    """
    every = {name: frozenset(choice.options) for name, choice in load_specification().choices.items()}
    torn: dict[str, frozenset[str]] = {}
    while True:
        possible = _narrowed(told, {**every, **torn}, torn)
        empty = [name for name in every if not possible[name]]
        if not empty:
            return possible
        for name in empty:
            costs = _costs(name, _leaves(name, told, {**every, **torn}))
            torn[name] = frozenset(option for option in costs if costs[option] == min(costs.values()))


def _narrowed(
    told: _Explanations, possible: dict[str, frozenset[str]], torn: Collection[str]
) -> dict[str, frozenset[str]]:
    """Leave out what cases rule out, until nothing changes, or no option is left of a choice that is not torn."""
    while True:
        before = dict(possible)
        for combinations in told.values():
            for name in combinations[0]:
                left = _left(name, combinations, possible)
                if left and name not in torn:
                    possible[name] = possible[name].intersection(left)
                    if not possible[name]:
                        return possible
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
