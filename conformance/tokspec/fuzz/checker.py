"""Comparing the replies of the judged implementation and of an oracle to all requests of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from threading import current_thread, main_thread
from time import process_time
from typing import Any

from tokspec.adapter import Adapter, Hello
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.adapters.registry import names_program, open_session
from tokspec.base.errors import AdapterFault, DataError
from tokspec.compare.shrink import Question
from tokspec.fuzz.tolerance import Answers, allowed
from tokspec.fuzz.unspecified import UNSPECIFIED, is_unspecified
from tokspec.judge.verdicts import Result, Verdict, effective_choices, judge
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, Request, is_unsupported
from tokspec.protocol.replies import check_form
from tokspec.protocol.spans import convert_result
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.limits import limited
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case, Model

Asked = tuple[str, Mapping[str, Any]]

#: The kind of a difference that shows only when the same request is made twice.
AGAIN = "another answer when it is asked again"

#: How many models one session gets, because none is ever removed and all of them need memory.
_MODELS = 3000

#: How many requests are made at once at first; the number grows up to the second one while nothing hangs.
_FIRST_PIECE, _PIECE = 1, 1024

#: Requests for an operation and a type of model end once they have killed the program this many times.
_DEATHS = 5

#: CPU seconds that the oracle may take for an example. If one request takes it the second number, a timeout of the
#: judged implementation means nothing, because the request is too much work.
_ORACLE_SECONDS, _HARD = 5.0, 0.25


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison: ``same``, ``unsupported``, ``open`` (no clause says what is right), or ``differs``.

    ``kind`` says in which field or how the replies differ; ``result`` is the verdict.
    """

    state: str
    kind: str = ""
    result: Result | None = None

    @property
    def is_death(self) -> bool:
        """Whether the program ended or had to be ended; a crash that it reports itself doesn't count."""
        return self.result is not None and _is_death(self.result.reply)

    @property
    def lacks_answer(self) -> bool:
        """Whether the implementation refused the request as unsupported, or failed although the oracle answers."""
        result = self.result
        is_error = result is not None and "error" not in result.expected and not isinstance(result.reply, Answer)
        return is_error or self.state == "unsupported"


def _is_death(reply: Reply | None) -> bool:
    return isinstance(reply, Fault) and (reply.kind == "timeout" or reply.message.startswith(("killed", "exit")))


_SAME, _UNSUPPORTED, _OPEN = Comparison("same"), Comparison("unsupported"), Comparison("open")

#: Both refuse for the same reason, which is the same, but no answer.
_REFUSED = Comparison("same", "refused")


def reference_with(choices: Mapping[str, str]) -> Session:
    """Open a session with the reference, with an implementation's choices; it counts in code points.

    >>> reference_with({"unknown_id": "skipped", "offset_unit": "byte"}).hello.choices["unknown_id"]
    'skipped'
    """
    return InProcessSession(ReferenceAdapter({name: choices[name] for name in choices if name != "offset_unit"}))


def open_side(implementation: Callable[[], Adapter] | str) -> Session:
    """Open a session with an implementation, named as on the command line, or with an adapter from its factory.

    An adapter that is created runs in this process.

    >>> open_side("reference").hello.name
    'tokref'
    """
    if not isinstance(implementation, str):
        return InProcessSession(implementation())
    return open_session(None, implementation) if names_program(implementation) else open_session(implementation, None)


class Side:
    """A session that is reopened before it holds too many models; ``open`` returns a new one.

    ``who`` is the name of an oracle, and ``fault`` the first fault of an oracle that is another implementation.
    """

    who = "the reference"
    fault = ""

    def __init__(self, open: Callable[[], Session], most: int = _MODELS) -> None:
        self._open, self.session = open, open()
        self._models, self._most = count(1), most

    def ask(self, model: Mapping[str, Any], requests: Sequence[Asked], times: int = 1) -> list[list[Reply]]:
        """Return the replies to all requests in order, for each of ``times`` times."""
        number = next(self._models)
        if number % self._most == 0:
            self.renew()
        asked = [Request(operation, f"m{number}", model, input) for operation, input in requests]
        return [self._ask(asked) for _ in range(times)]

    def _ask(self, asked: Sequence[Request]) -> list[Reply]:
        replies = sorted(self.session.ask(asked), key=lambda row: row[0])
        return [check_form(asked[index].operation, reply) for index, reply in replies]

    def renew(self) -> None:
        """Open a fresh session. If none can be opened, the present one is kept."""
        try:
            session = self._open()
        except (AdapterFault, DataError):
            return
        self.close()
        self.session = session

    def close(self) -> None:
        """End the session."""
        self.session.close()


class Checker:
    """Compares an implementation with an oracle.

    Args:
        judged: the implementation.
        oracle: the side whose replies count as right; by default the reference with the implementation's choices.
        choices: options that replace those that the implementation declares.
    """

    def __init__(self, judged: Side, oracle: Side | None = None, choices: Mapping[str, str] | None = None) -> None:
        self.judged = judged
        self.choices = effective_choices(judged.session.hello, choices)
        self.oracle = oracle or Side(lambda: reference_with(self.choices))
        self._piece, self._deaths = _FIRST_PIECE, Counter[tuple[str, str]]()

    @property
    def hello(self) -> Hello:
        """The implementation's description of itself."""
        return self.judged.session.hello

    def compare(
        self, model: Mapping[str, Any], requests: Sequence[Asked], *, again: bool = False
    ) -> Iterator[tuple[Asked, Comparison]]:
        """Compare the replies to requests, in order; after one that hangs, the others are skipped.

        With ``again``, all requests are made twice in a row, and a different reply the second time is a difference. The
        oracle gets only requests that the implementation supports.
        """
        waiting = list(requests)
        while waiting:
            piece, waiting = waiting[: self._piece], waiting[self._piece :]
            compared = list(self._compare_piece(model, piece, again))
            yield from compared
            is_hanging = any(comparison.kind.startswith("timeout") for _, comparison in compared)
            self._piece = 1 if is_hanging else min(2 * self._piece, _PIECE)
            if is_hanging:
                return

    def compare_one(self, question: Question, *, again: bool = False) -> Comparison:
        """Compare the replies to one question."""
        ((_, comparison),) = self.compare(question.model, [(question.operation, question.input)], again=again)
        return comparison

    def differs_alone(self, question: Question) -> bool:
        """Return whether the reply to a question differs in a session without other requests."""
        self.judged.renew()
        return self.compare_one(question).state == "differs"

    def worth_asking(self, model: Mapping[str, Any], requests: Sequence[Asked]) -> list[Asked]:
        """Leave out requests of kinds that often ended the program, each time at the cost of hundreds of requests."""
        kind = str(model.get("type", ""))
        return [asked for asked in requests if self._deaths[asked[0], kind] < _DEATHS]

    def replies(self, model: Mapping[str, Any], requests: Sequence[Asked]) -> list[tuple[Asked, Reply]]:
        """Ask only the judged implementation, and return the requests worth asking with its replies."""
        asked = self.worth_asking(model, requests)
        found = [*zip(asked, self.judged.ask(model, asked)[0] if asked else (), strict=True)]
        self._deaths.update(
            (operation, str(model.get("type", ""))) for (operation, _), reply in found if _is_death(reply)
        )
        return found

    def right_of(self, question: Question) -> Mapping[str, Any]:
        """Return the oracle's answer as the outcome of a case; empty if it has none."""
        ((reply,),) = self.oracle.ask(question.model, [(question.operation, question.input)])
        return outcome_of(reply)

    def _compare_piece(
        self, model: Mapping[str, Any], requests: Sequence[Asked], again: bool
    ) -> Iterator[tuple[Asked, Comparison]]:
        replies, *repeated = self.judged.ask(model, requests, 2 if again else 1)
        supported = [asked for asked, reply in zip(requests, replies, strict=True) if not is_unsupported(reply)]
        rights = iter(self._ask_oracle(model, supported))
        for place, (asked, reply) in enumerate(zip(requests, replies, strict=True)):
            found = _UNSUPPORTED if is_unsupported(reply) else self._compare(model, asked, next(rights), reply)
            if repeated and found.state != "differs" and _content(reply) != _content(repeated[0][place]):
                found = _changed(model, asked, reply, repeated[0][place])
            self._deaths[asked[0], str(model.get("type", ""))] += found.is_death
            yield asked, found

    def _ask_oracle(self, model: Mapping[str, Any], requests: Sequence[Asked]) -> list[Reply]:
        """Ask the oracle within a time limit; if it exceeds the limit, no request is judged."""
        if current_thread() is not main_thread():
            return self.oracle.ask(model, requests)[0]
        try:
            with limited(_ORACLE_SECONDS):
                replies = self.oracle.ask(model, requests)[0]
        except TimeoutError:
            replies = [_TOO_MUCH]
        is_late = any(isinstance(reply, Fault) and "TimeoutError" in reply.message for reply in replies)
        return [_TOO_MUCH] * len(requests) if is_late else replies

    def _compare(self, model: Mapping[str, Any], asked: Asked, right: Reply, reply: Reply) -> Comparison:
        """Compare two replies to one request; a crash is a difference whatever the oracle says or offers."""
        found = self._compare_replies(model, asked, right, reply)
        if found.state != "differs" or (isinstance(reply, Fault) and reply.kind != "protocol"):
            return found
        given = reply.result if isinstance(reply, Answer) else {}
        due = convert_result(right.result, asked[1], self.choices["offset_unit"]) if isinstance(right, Answer) else {}
        answers = Answers(model, *asked, due, given, self.choices, self._ask_again)
        # No clause says what a program does with a sum beyond the integers of JSON, and writing it breaks the protocol.
        is_open = UNSPECIFIED["PROTO-7"](answers) if isinstance(reply, Fault) else is_unspecified(answers)
        return _OPEN if is_open else found

    def _compare_replies(self, model: Mapping[str, Any], asked: Asked, right: Reply, reply: Reply) -> Comparison:
        operation, input = asked
        if right is _TOO_MUCH or (isinstance(reply, Fault) and reply.kind == "timeout" and self._is_hard(model, asked)):
            return _OPEN
        is_tied = model.get("type") == "unigram" and "truncation" in model and self.choices["unigram_tie"] == "any"
        if is_tied and {type(right), type(reply)} == {Answer, Refused}:  # tied segmentations may differ in length
            return _OPEN
        if isinstance(right, Answer):
            expected = convert_result(right.result, input, self.choices["offset_unit"])
            if isinstance(reply, Answer):
                if self._is_equal(operation, expected, reply.result):
                    return _SAME
                answers = Answers(model, operation, input, expected, reply.result, self.choices, self._ask_again)
                found = allowed(answers)
                return _OPEN if found is None else self._verdict(model, asked, {"expect": found}, reply)
            return self._verdict(model, asked, {"expect": expected}, reply)
        due = right.reason if isinstance(right, Refused) and right.reason != "unsupported" else ""
        if isinstance(reply, Refused) and reply.reason == due:
            return _REFUSED
        is_fault = isinstance(reply, Fault) and not (isinstance(right, Fault) and right.kind == reply.kind)
        if not due and not is_fault:
            return _OPEN
        return self._verdict(model, asked, {"error": due} if due else {"expect": {}}, reply)

    def _is_hard(self, model: Mapping[str, Any], asked: Asked) -> bool:
        """Return whether a request takes the oracle so long that another implementation may well run out of time."""
        began = process_time()
        self._ask_oracle(model, [asked])
        return process_time() - began > _HARD

    def _is_equal(self, operation: str, expected: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
        if operation != "encode":
            return expected == given
        names = [name for name in self.hello.encode_fields if name in expected]
        return bool(names) and all(expected[name] == given.get(name) for name in names)

    def _verdict(self, model: Mapping[str, Any], asked: Asked, outcome: Mapping[str, Any], reply: Reply) -> Comparison:
        case = case_of(Question(model, *asked), outcome)
        result = judge(case, reply, self.hello, {**self.choices, "offset_unit": "code_point"})
        states = {Verdict.PASS: _SAME, Verdict.UNSUPPORTED: _UNSUPPORTED}
        return states.get(result.verdict) or Comparison("differs", _kind(result), result)

    def _ask_again(self, operation: str, model: Mapping[str, Any], input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Make another request to the oracle; the result is empty if it does not answer."""
        ((reply,),) = self.oracle.ask(model, [(operation, input)])
        return reply.result if isinstance(reply, Answer) else {}


_TOO_MUCH = Fault("timeout", "too much for the oracle")
_SAYS_NOTHING = Refused("unsupported", "the oracle says nothing of it")


def outcome_of(reply: Reply) -> Mapping[str, Any]:
    """Return a reply as the outcome of a case; empty if it is not one.

    >>> outcome_of(Refused("unknown_symbol", "?"))
    {'error': 'unknown_symbol'}
    """
    if isinstance(reply, Answer):
        return {"expect": reply.result}
    return {"error": reply.reason} if isinstance(reply, Refused) and reply.reason != "unsupported" else {}


def _content(reply: Reply) -> Any:
    """Return the part of a reply that has to be the same the next time; messages need not be."""
    if isinstance(reply, Answer):
        return reply.result
    return (reply.reason,) if isinstance(reply, Refused) else (reply.kind, "")


def _changed(model: Mapping[str, Any], asked: Asked, reply: Reply, second: Reply) -> Comparison:
    said = [_say(each) for each in (reply, second)]
    case = case_of(Question(model, *asked), {"expect": {}})
    detail = f"it is {said[0]}, and {said[1]} when it is asked again"
    return Comparison("differs", AGAIN, Result(case, Verdict.FAIL, detail, {"expect": {}}, reply))


def _say(reply: Reply) -> str:
    if isinstance(reply, Answer):
        return f"answered {reply.result!r}"
    return f"refused as {reply.reason}" if isinstance(reply, Refused) else f"a {reply.kind} ({reply.message})"


def _kind(result: Result) -> str:
    if result.difference is not None:
        return str(result.difference.path[0])
    due = f"not refused as {result.expected['error']}" if "error" in result.expected else ""
    if isinstance(result.reply, Fault):
        return f"{result.verdict.value}, {due}" if due else result.verdict.value
    return due or f"refused as {result.reply.reason if isinstance(result.reply, Refused) else 'something else'}"


def case_of(question: Question, outcome: Mapping[str, Any], id: str = "fuzz") -> Case:
    """Build a case from a question and the right outcome.

    >>> case_of(Question({}, "normalize", {"text": "a"}), {"expect": {"text": "a"}}).operation
    'normalize'
    """
    return Case(id, (), "", (), Model(id, question.model), question.operation, question.input, outcome)


class Rival(Side):
    """Another implementation that serves as the oracle.

    If it has different options of choices than the judged implementation, both may be right. So the reference is asked
    for the answer with either options, and if these differ, nothing is compared. What the specification leaves open is
    no difference: an answer that the reference's answer allows counts as the reference's.

    Args:
        rival: the other implementation.
        choices: the options of the judged implementation.
        name: the user's name for the rival.
    """

    def __init__(self, rival: Side, choices: Mapping[str, str], name: str) -> None:
        self.rival, hello = rival, rival.session.hello
        self.who = f"{hello.name} {hello.version}" + (f" ({name})" if name not in ("", hello.name) else "")
        self.ours = Side(lambda: reference_with(choices))
        self._theirs = Checker(rival)
        self.session = self.ours.session

    def ask(self, model: Mapping[str, Any], requests: Sequence[Asked], times: int = 1) -> list[list[Reply]]:
        """Return the rival's reply to each request; a refusal as ``unsupported`` if it can't decide."""
        rights = self.ours.ask(model, requests)[0]
        theirs = self._theirs.oracle.ask(model, requests)[0]
        given = self.rival.ask(model, requests)[0]
        rows = zip(requests, rights, theirs, given, strict=True)
        return [[self._vote(model, *row) for row in rows]] * times

    def _vote(self, model: Mapping[str, Any], asked: Asked, right: Reply, their_right: Reply, given: Reply) -> Reply:
        if isinstance(given, Fault) and not self.fault:
            self.fault = f"{self.who}: {given.kind}: {given.message}"
        if isinstance(given, Fault) or is_unsupported(given) or _content(right) != _content(their_right):
            return right if isinstance(right, Fault) else _SAYS_NOTHING
        if isinstance(given, Answer) and model.get("type") == "unigram" and "tokens" not in given.result:
            return _SAYS_NOTHING  # ids do not say which segmentations are equally probable
        found = self._theirs._compare(model, asked, their_right, given)
        if found.state != "differs":
            return right if found.state == "same" else _SAYS_NOTHING
        if isinstance(given, Answer) and self._theirs.choices["offset_unit"] != "code_point":
            unit = self._theirs.choices["offset_unit"]
            return Answer(convert_result(given.result, asked[1], "code_point", unit))
        return given

    def close(self) -> None:
        """End all sessions."""
        for side in (self.rival, self._theirs.oracle, self.ours):
            side.close()
