"""Finding out from its answers which options of choices an implementation has, whatever it declares.

Every case whose outcome depends on choices is run, and its answer is judged with each combination of their options. An
option fits a choice if no answer rules it out. Its cost is the number of cases that fail with it, whatever possible
options the other choices have. If several options fit, the one with the lowest cost is selected, and among those the
strictest, which accepts the fewest answers: an implementation that always gives the earliest of equal segmentations
also fits the option that accepts any of them.

An option is reported only if it is well supported: not if most of its cases fail, if only a single case rules another
option out, or if this depends on a choice that is not reported itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

from tokspec.adapter import Hello
from tokspec.judge.compare import choices_in, resolve
from tokspec.judge.runner import make_request
from tokspec.judge.verdicts import Verdict, judge
from tokspec.protocol.messages import Answer, Fault, Reply, is_unsupported
from tokspec.protocol.replies import check_form
from tokspec.protocol.spans import texts_of
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case
from tokspec.suite.specification import load_specification

#: An option for each choice on which a case depends.
_Combination: TypeAlias = Mapping[str, str]

#: The combinations that explain the answer to a case, by its id.
_Explanations: TypeAlias = Mapping[str, Sequence[_Combination]]


@dataclass(frozen=True)
class ChoiceFinding:
    """What the answers say about one choice.

    ``options`` are the cheapest and strictest of those that fit: one if it was found; several if no case tells them
    apart; none if the answers contradict each other. ``telling`` has each case that rules an option out, with the
    options that it leaves. ``costs`` has for every option how many of the ``answered`` cases fail with it. ``doubt``
    says why the option that was found is not reported; it is empty otherwise.
    """

    choice: str
    options: tuple[str, ...]
    fitting: tuple[str, ...]
    telling: Mapping[str, tuple[str, ...]]
    costs: Mapping[str, int]
    answered: int
    doubt: str = ""

    @property
    def told(self) -> str:
        """The option that is well supported; empty if there is none."""
        return self.options[0] if len(self.options) == 1 and not self.doubt else ""


@dataclass(frozen=True)
class Probe:
    """A finding for every choice, and the cases whose answer no combination of options explains.

    ``faults`` maps questions to the faults that they ended in, including malformed answers; ``asked`` is the number of
    all questions. ``explained`` counts the replies that a combination of options explains, and ``answered`` counts the
    explained replies that are not refusals.
    """

    findings: tuple[ChoiceFinding, ...]
    unexplained: tuple[str, ...]
    faults: Mapping[str, Fault]
    asked: int
    explained: int
    answered: int

    @property
    def declaration(self) -> Mapping[str, str]:
        """The options of the choices for which exactly one fits and is well supported."""
        return {finding.choice: finding.told for finding in self.findings if finding.told}


def probe(session: Session, cases: Sequence[Case]) -> Probe:
    """Run every case that depends on a choice, and find out which options explain the answers."""
    asked = [question for case in cases for question in case.questions if choices_of(question)]
    replies = session.ask([make_request(case) for case in asked])
    return find_choices(asked, {asked[index].id: reply for index, reply in replies}, session.hello)


def find_choices(questions: Sequence[Case], replies: Mapping[str, Reply], hello: Hello) -> Probe:
    """Find out which options explain the replies; ``replies`` is keyed by question id, and some may be missing."""
    asked = [question for question in questions if choices_of(question)]
    explained: dict[str, list[_Combination]] = {}
    faults: dict[str, Fault] = {}
    for question in asked:
        if question.id not in replies:
            continue
        reply = check_form(question.operation, replies[question.id])
        if isinstance(reply, Fault):
            faults[question.id] = reply
        elif not is_unsupported(reply):
            explained[question.id] = list(_explaining(question, reply, hello))
    unexplained = [case for case in asked if case.id in explained and not explained[case.id]]
    told = {case: combinations for case, combinations in explained.items() if combinations}
    lost = Counter(name for case in unexplained for name in choices_of(case))
    findings = _findings(told, {case.id: case for case in asked}, lost)
    answered = sum(isinstance(replies[case], Answer) for case in told)
    return Probe(findings, tuple(case.id for case in unexplained), faults, len(asked), len(told), answered)


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


def _explaining(case: Case, reply: Reply, hello: Hello) -> Iterator[_Combination]:
    defaults = load_specification().defaults()
    for combination in _combinations(case):
        if judge(case, reply, hello, {**defaults, **combination}).verdict is Verdict.PASS:
            yield combination


def _findings(told: _Explanations, cases: Mapping[str, Case], lost: Mapping[str, int]) -> tuple[ChoiceFinding, ...]:
    """Return the finding for each choice; ``lost`` counts for each the cases whose answer no combination explains."""
    possible = _possible(told)
    found = {name: _finding(name, told, cases, possible, lost.get(name, 0)) for name in load_specification().choices}
    while True:
        open_choices = {name for name, finding in found.items() if not finding.options or finding.doubt}
        doubts = {
            name: doubt
            for name, finding in found.items()
            if finding.told and (doubt := _doubt(finding, told, cases, possible, open_choices))
        }
        if not doubts:
            return tuple(found.values())
        found |= {name: replace(found[name], doubt=doubt) for name, doubt in doubts.items()}


def _finding(
    name: str, told: _Explanations, cases: Mapping[str, Case], possible: Mapping[str, frozenset[str]], lost: int
) -> ChoiceFinding:
    choice = load_specification().choices[name]
    leaves = _leaves(name, told, possible)
    telling = {case: left for case, left in leaves.items() if left and len(left) < len(choice.options)}
    costs = {option: cost + lost for option, cost in _costs(name, leaves).items()}
    fitting = tuple(option for option in choice.options if all(option in left for left in telling.values()))
    found = _least(fitting, costs)
    if not any(costs[option] for option in found):  # if cases fail with each, strictness doesn't decide
        counts = [_count_right(name, cases[case], possible) for case in leaves]
        found = _least(found, {option: sum(count[option] for count in counts) for option in found})
    return ChoiceFinding(name, found, fitting, telling, costs, len(leaves) + lost)


def _count_right(name: str, case: Case, possible: Mapping[str, frozenset[str]]) -> Mapping[str, int]:
    """Count for each option of a choice the answers that would be right in a case: fewer mean a stricter option.

    They are counted over the possible options of the other choices.
    """
    defaults = load_specification().defaults()
    counts = Counter[str]()
    for combination in _combinations(case):
        if all(option in possible[other] for other, option in combination.items() if other != name):
            counts[combination[name]] += len(resolve(case.outcome, {**defaults, **combination}).get("one_of", (None,)))
    return counts


def _doubt(
    finding: ChoiceFinding,
    told: _Explanations,
    cases: Mapping[str, Case],
    possible: Mapping[str, frozenset[str]],
    open_choices: Collection[str],
) -> str:
    """Say why the one option that was found is not well supported; empty if it is.

    A choice without a reported option rules nothing out, because each of its options is possible.
    """
    (option,), answered = finding.options, finding.answered
    if 2 * finding.costs[option] > answered:
        return f"{option} fits best, and fails {finding.costs[option]} of {answered}"
    evidence = _evidence(finding, told, cases, possible)
    if single := [other for other, against in evidence.items() if len(against) == 1]:
        return f"that it is {option} and not {single[0]} rests on one case, {evidence[single[0]][0]}"
    known = load_specification().choices
    widened = {**possible, **{name: frozenset(known[name].options) for name in open_choices}}
    for other, against in _evidence(finding, told, cases, widened).items():
        if len(against) < 2:
            names = {name for case in evidence[other] for name in told[case][0]} & {*open_choices}
            return f"that it is {option} and not {other} depends on {', '.join(sorted(names))}"
    return ""


def _evidence(
    finding: ChoiceFinding, told: _Explanations, cases: Mapping[str, Case], possible: Mapping[str, frozenset[str]]
) -> Mapping[str, Sequence[str]]:
    """Return for each other option the cases against it: they rule it out, or it accepts more answers in them."""
    (option,), name = finding.options, finding.choice
    found: dict[str, list[str]] = {other: [] for other in finding.costs if other != option}
    for case, left in _leaves(name, told, possible).items():
        right = _count_right(name, cases[case], possible)
        for other, against in found.items():
            if option in left and (other not in left or right[option] < right[other]):
                against.append(case)
    return found


def _least(options: Sequence[str], costs: Mapping[str, int]) -> tuple[str, ...]:
    least = min((costs[option] for option in options), default=0)
    return tuple(option for option in options if costs[option] == least)


def _leaves(name: str, told: _Explanations, possible: Mapping[str, frozenset[str]]) -> Mapping[str, tuple[str, ...]]:
    """Return for each case that depends on a choice the options that it leaves."""
    return {case: _left(name, each, possible) for case, each in told.items() if name in each[0]}


def _costs(name: str, leaves: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    options = load_specification().choices[name].options
    return {option: sum(option not in left for left in leaves.values()) for option in options}


def _possible(told: _Explanations) -> Mapping[str, frozenset[str]]:
    """Return the possible options of each choice: the options of one choice rule out combinations with others.

    If the answers rule out every option of a choice, it rules out only its more costly options.
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
    """Remove options that cases rule out, until nothing changes, or a choice that is not torn has no option left."""
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
    """Return the options of a choice in the combinations whose other options are possible."""
    return tuple(
        dict.fromkeys(
            combination[name]
            for combination in combinations
            if name in combination
            and all(option in possible[other] for other, option in combination.items() if other != name)
        )
    )
