"""Runs cases against a session: every selected case gets exactly one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from tokspec.adapter import Hello
from tokspec.base.display import did_you_mean, quote
from tokspec.base.errors import AdapterFault, DataError
from tokspec.judge.declared import is_doubtful, judge_refusals, take_refusal
from tokspec.judge.effects import Effect
from tokspec.judge.known_failures import KnownFailures
from tokspec.judge.like import Likeness
from tokspec.judge.verdicts import Result, Verdict, count_verdicts, effective_choices, join_rows, judge, not_run
from tokspec.protocol.messages import Fault, Reply, Request
from tokspec.sessions.session import Session
from tokspec.suite import schema
from tokspec.suite.cases import Case
from tokspec.suite.origins import Origin, load_origin

#: How many unknown operations have a line.
_NAMED = 5


@dataclass(frozen=True)
class Run:
    """What a run came to: its results in the order of the cases, one for each.

    ``problems`` are lines about anything else that keeps it from conforming, ``faults`` what the file of known failures
    says that no case shows. ``like`` is the origin, with its version, whose answers count as well.
    """

    hello: Hello
    choices: Mapping[str, str]
    results: tuple[Result, ...]
    problems: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    like: str = ""

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """How many cases came to each verdict."""
        return count_verdicts(self.results)

    @property
    def by_effect(self) -> Mapping[Effect, tuple[int, int, int]]:
        """How many cases ask of each effect, in how many it is right, and of how many failing ones it is the worst.

        Known failures fail here like any others. A case that is not answered is right in nothing.
        """
        asked = [each for each in self.results if each.verdict not in (Verdict.UNSUPPORTED, Verdict.NOT_RUN)]
        return {
            effect: (
                sum(effect in result.asks for result in asked),
                sum(result.is_right_in(effect) for result in asked),
                sum(result.effects[:1] == (effect,) for result in asked),
            )
            for effect in Effect
        }

    @property
    def failed(self) -> tuple[Result, ...]:
        """The cases that were asked and do not conform."""
        return tuple(each for each in self.results if not each.verdict.conforms and each.verdict is not Verdict.NOT_RUN)

    @property
    def complaints(self) -> tuple[str, ...]:
        """What is reported in addition to failing cases: the problems, and that nothing failed but nothing passed."""
        nothing = not self._has_passed and all(result.verdict.conforms for result in self.results)
        return (
            (*self.problems, "no case passed, and a run that shows nothing is not a pass") if nothing else self.problems
        )

    @property
    def is_green(self) -> bool:
        """Whether the run ends with exit status 0: nothing failed but what is known, and at least one case passed."""
        failed = any(not result.verdict.conforms for result in self.results)
        return not failed and not self.problems and self._has_passed

    @property
    def _has_passed(self) -> bool:
        return any(result.verdict in (Verdict.PASS, Verdict.AS_ORIGIN) for result in self.results)

    @property
    def holds_list(self) -> bool:
        """Whether the run is green only because its failures are listed as known: that is not conformance."""
        return self.is_green and self.counts[Verdict.KNOWN_FAILURE] > 0

    @property
    def state(self) -> str:
        """What every report calls the run."""
        if not self.is_green:
            return "does not conform"
        if self.holds_list:
            return "holds its list of known failures"
        return "conforms like its origin" if self.counts[Verdict.AS_ORIGIN] else "conforms"


def make_request(case: Case, hello: Hello | None = None) -> Request:
    """Make what an implementation is asked: it is never shown what is expected.

    With a user's own file, one that has no option for what a post-processor adds is taken to add nothing.
    """
    input = case.input
    lacks = hello is not None and "add_special_tokens" not in hello.encode_options
    if lacks and case.model.file and input.get("add_special_tokens") is False:
        input = {name: value for name, value in input.items() if name != "add_special_tokens"}
    return Request(case.operation, case.model.name, case.model.content, input, case.model.file)


def run(
    session: Session,
    cases: Sequence[Case],
    *,
    choices: Mapping[str, str] | None = None,
    max_failures: int | None = None,
    known: KnownFailures | None = None,
    like: Origin | None = None,
    progress: Callable[[Result], None] = lambda result: None,
) -> Run:
    """Ask and judge every case.

    Args:
        session: an open session; it stays open.
        cases: what to ask, in this order.
        choices: options that replace those that the implementation declares.
        max_failures: the number of failing cases after which the rest is ``NOT_RUN``.
        known: failures that do not count.
        like: the origin whose answers count as well; without it the one that ``hello`` names.
        progress: called with each result as it arrives.

    Raises:
        RuntimeError: if the counts did not balance; a fault of the suite itself.
    """
    likeness = likeness_of(session.hello, known, like)
    declared = effective_choices(session.hello, choices, likeness.origin if likeness else None)
    today = date.today()
    results: dict[int, Result] = {}
    failures = 0
    stopped = max_failures == 0
    for index, result in () if stopped else judge_cases(session, cases, declared, likeness):
        if index in results:
            raise RuntimeError(f"{cases[index].id} was answered twice")
        results[index] = known.apply_to(result, today) if known else result
        progress(results[index])
        failures += not results[index].verdict.conforms
        if max_failures is not None and failures >= max_failures:
            stopped = True
            break
    if not stopped and len(results) != len(cases):
        raise RuntimeError(f"{len(cases)} cases were selected and {len(results)} were answered")
    why = f"the run ended after {failures} failure{'' if failures == 1 else 's'}"
    ordered = [results.get(index) or not_run(case, declared, why) for index, case in enumerate(cases)]
    listed = known.unsupported(ordered) if known else ()
    named = str(likeness.origin) if likeness and not likeness.is_origin else ""
    problems = (*_unknown_operations(session.hello), *_unblamed(session.unblamed), *listed)
    return Run(session.hello, declared, tuple(ordered), problems, known.faults if known else (), named)


def likeness_of(hello: Hello, known: KnownFailures | None, like: Origin | None) -> Likeness | None:
    """Return what an implementation may equal: the origin that it is, the one given, or the one that ``hello`` names.

    Raises:
        AdapterFault: ``protocol``, if ``hello`` names no origin.
    """
    if known and known.origin:
        return Likeness(known.origin, is_origin=True)
    if like is None and hello.like:
        try:
            like = load_origin(hello.like)
        except DataError as error:
            raise AdapterFault("protocol", f"hello: like: {error.message}") from None
    return Likeness(like) if like else None


def judge_cases(
    session: Session, cases: Sequence[Case], declared: Mapping[str, str], likeness: Likeness | None = None
) -> Iterator[tuple[int, Result]]:
    """Return the result of each case; several programs are asked at once, and their replies judged as they come.

    That of a table follows when the last of its rows is judged.
    """
    places = [(index, row) for index, case in enumerate(cases) for row in range(len(case.questions))]
    questions = [question for case in cases for question in case.questions]

    def take(number: int, reply: Reply) -> Result:
        result = take_refusal(judge(questions[number], reply, session.hello, declared), session.hello)
        return likeness.apply_to(result, reply, session.hello, declared["offset_unit"]) if likeness else result

    doubtful: dict[int, Result] = {}

    def settled() -> Iterator[tuple[int, Result]]:
        for number, result in session.ask_in_parallel(
            [make_request(question, session.hello) for question in questions], take
        ):
            if is_doubtful(result, session.hello):
                doubtful[number] = result
            else:
                yield number, result
        yield from zip(doubtful, judge_refusals(session, list(doubtful.values())), strict=True)

    tables: dict[int, dict[int, Result]] = {index: {} for index, case in enumerate(cases) if case.rows}
    for number, result in settled():
        index, row = places[number]
        if index not in tables:
            yield index, result
            continue
        if row in tables[index]:
            raise RuntimeError(f"{questions[number].id} was answered twice")
        tables[index][row] = result
        if len(tables[index]) == len(cases[index].rows):
            yield index, join_rows(cases[index], [tables[index][place] for place in sorted(tables[index])])


def _unknown_operations(hello: Hello) -> Iterator[str]:
    """Name the operations of ``hello`` that do not exist: of one that is misspelt, nothing would be asked."""
    unknown = [name for name in hello.operations if name not in schema.operations()]
    for name in unknown[:_NAMED]:
        near = did_you_mean(name, schema.operations()).rstrip() or "spec/10-protocol.md lists them"
        yield f"hello offers {quote(name)}, which is not an operation; {near}"
    if len(unknown) > _NAMED:
        yield f"hello offers {len(unknown) - _NAMED} others that are not operations"


def _unblamed(faults: Sequence[AdapterFault]) -> Iterator[str]:
    """Say once for each fault how often it happened with no case to blame."""
    for fault, times in Counter(map(str, faults)).items():
        yield f"{fault}; {times} time{'' if times == 1 else 's'}, and no case is to blame"


def fail_at_start(name: str, cases: Sequence[Case], fault: AdapterFault) -> Run:
    """Return the run of an implementation that could not even say hello: every case comes to that fault."""
    hello = Hello(name, "", "", operations=())
    declared = effective_choices(hello)
    reply = Fault(fault.kind, f"before hello: {fault.message}")
    judged = [[judge(question, reply, hello, declared) for question in case.questions] for case in cases]
    results = [join_rows(case, rows) if case.rows else rows[0] for case, rows in zip(cases, judged, strict=True)]
    return Run(hello, declared, tuple(results))
