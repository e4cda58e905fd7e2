"""Running cases against a session: every selected case gets exactly one verdict."""

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

#: How many unknown operations are reported.
_NAMED = 5


@dataclass(frozen=True)
class Run:
    """The result of a run: one result for each case, in the order of the cases.

    ``problems`` are lines about anything else that keeps it from conforming, ``faults`` the faults in the file of known
    failures that no case shows. ``like`` is the origin, with its version, whose answers count as right too.
    """

    hello: Hello
    choices: Mapping[str, str]
    results: tuple[Result, ...]
    problems: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    like: str = ""

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """The number of cases with each verdict."""
        return count_verdicts(self.results)

    @property
    def by_effect(self) -> Mapping[Effect, tuple[int, int, int]]:
        """For each effect, how many cases test it, in how many it is right, and for how many failures it is the worst.

        Known failures count as failures here. A case without an answer is right in nothing.
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
        """The cases that were run and do not conform."""
        return tuple(each for each in self.results if not each.verdict.conforms and each.verdict is not Verdict.NOT_RUN)

    @property
    def complaints(self) -> tuple[str, ...]:
        """Complaints other than failing cases: the problems, and a run in which nothing failed and nothing passed."""
        nothing = not self._has_passed and all(result.verdict.conforms for result in self.results)
        return (
            (*self.problems, "no case passed, and a run that shows nothing is not a pass") if nothing else self.problems
        )

    @property
    def is_green(self) -> bool:
        """Whether the run ends with exit status 0: all failures are known, and at least one case passed."""
        failed = any(not result.verdict.conforms for result in self.results)
        return not failed and not self.problems and self._has_passed

    @property
    def _has_passed(self) -> bool:
        return any(result.verdict in (Verdict.PASS, Verdict.AS_ORIGIN) for result in self.results)

    @property
    def holds_list(self) -> bool:
        """Whether the run is green only because its failures are listed as known, which is not conformance."""
        return self.is_green and self.counts[Verdict.KNOWN_FAILURE] > 0

    @property
    def state(self) -> str:
        """The state of the run, in the words of every report."""
        if not self.is_green:
            return "does not conform"
        if self.holds_list:
            return "matches its list of known failures"
        return "conforms like its origin" if self.counts[Verdict.AS_ORIGIN] else "conforms"


def make_request(case: Case, hello: Hello | None = None) -> Request:
    """Build the request for a case, which never contains the expected outcome.

    With a user's own file, an implementation without an option for special tokens is assumed to add none.
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
    """Run and judge every case.

    Args:
        session: an open session; it stays open.
        cases: the cases, in the order in which to run them.
        choices: options that replace those that the implementation declares.
        max_failures: the number of failing cases after which the rest is ``NOT_RUN``.
        known: failures that do not count.
        like: the origin whose answers count as right too; without it, the one that ``hello`` names.
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
    """Return the origin whose answers count: the implementation itself, the given one, or the one in ``hello``.

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
    """Return the result of each case; several programs may run at once, and replies are judged as they come.

    The result of a table follows when the last of its rows is judged.
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
    """Name the operations of ``hello`` that do not exist, because a misspelled one would not be tested."""
    unknown = [name for name in hello.operations if name not in schema.operations()]
    for name in unknown[:_NAMED]:
        near = did_you_mean(name, schema.operations()).rstrip() or "spec/10-protocol.md lists them"
        yield f"hello offers {quote(name)}, which is not an operation; {near}"
    if len(unknown) > _NAMED:
        yield f"hello offers {len(unknown) - _NAMED} others that are not operations"


def _unblamed(faults: Sequence[AdapterFault]) -> Iterator[str]:
    """Say for each fault how often it happened without a case to blame."""
    for fault, times in Counter(map(str, faults)).items():
        yield f"{fault}; {times} time{'' if times == 1 else 's'}, and no case is to blame"


def fail_at_start(name: str, cases: Sequence[Case], fault: AdapterFault) -> Run:
    """Return the run of an implementation that gave no ``hello``: every case has that fault as its result."""
    hello = Hello(name, "", "", operations=())
    declared = effective_choices(hello)
    reply = Fault(fault.kind, f"before hello: {fault.message}")
    judged = [[judge(question, reply, hello, declared) for question in case.questions] for case in cases]
    results = [join_rows(case, rows) if case.rows else rows[0] for case, rows in zip(cases, judged, strict=True)]
    return Run(hello, declared, tuple(results))
