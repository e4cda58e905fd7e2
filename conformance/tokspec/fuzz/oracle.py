"""Whether a reply is one that the oracle's reply allows: what the specification leaves open is no difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from tokspec.adapter import Hello
from tokspec.fuzz.example import has_surrogate
from tokspec.fuzz.leeway import allowed
from tokspec.fuzz.requests import Asked
from tokspec.judge.verdicts import Result, Verdict, judge
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, Request
from tokspec.protocol.spans import convert_result
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case, Model

__all__ = ["Comparer", "Comparison", "case_of"]

#: Refusals as ``invalid_input`` that ERROR-2 wants; others are of inputs of which no clause but PRE-BYTE-6 speaks.
_WANTED = ("training_state", "pair_frequencies", "pair_scores", "best_pair", "loss_increase")


#: The outcome of which nothing is known but that it is no crash.
UNKNOWN: Mapping[str, Any] = {"expect": {}}


@dataclass(frozen=True)
class Comparison:
    """What came of a comparison: ``same``, ``unsupported``, ``open`` (no clause says what is right), or ``differs``.

    ``kind`` says of a difference in which field or how it is; ``result`` is the verdict.
    """

    state: str
    kind: str = ""
    result: Result | None = None


_SAME, _UNSUPPORTED, _OPEN = Comparison("same"), Comparison("unsupported"), Comparison("open")


@dataclass(frozen=True)
class Comparer:
    """Compares replies: with the session that is asked about models, and what the judged one says of itself."""

    session: Session
    hello: Hello
    choices: Mapping[str, str]

    def compare(self, model: Mapping[str, Any], asked: Asked, right: Reply, reply: Reply) -> Comparison:
        """Compare two replies to one request; a crash is a difference whatever the oracle says, or does not offer."""
        if isinstance(reply, Refused) and reply.reason == "unsupported":
            return _UNSUPPORTED
        operation, input = asked
        if isinstance(right, Answer):
            expected = convert_result(right.result, input, self.choices["offset_unit"])
            if isinstance(reply, Answer) and self._is_equal(operation, expected, reply.result):
                return _SAME
            return self._judged(model, asked, expected, reply)
        if isinstance(right, Refused) and isinstance(reply, Refused) and reply.reason == right.reason:
            return _SAME
        due = _due(right, asked)
        if not due and (not isinstance(reply, Fault) or _is_inexpressible(right, reply)):
            return _OPEN
        return self._verdict(model, asked, {"error": due} if due else UNKNOWN, reply)

    def _is_equal(self, operation: str, expected: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
        if operation != "encode":
            return expected == given
        names = [name for name in self.hello.encode_fields if name in expected]
        return bool(names) and all(expected[name] == given.get(name) for name in names)

    def _judged(self, model: Mapping[str, Any], asked: Asked, expected: Mapping[str, Any], reply: Reply) -> Comparison:
        open_to: Mapping[str, Any] | None = expected
        if isinstance(reply, Answer):
            open_to = allowed(model, asked, expected, reply.result, self.choices, self._ask)
        return _OPEN if open_to is None else self._verdict(model, asked, {"expect": open_to}, reply)

    def _verdict(self, model: Mapping[str, Any], asked: Asked, outcome: Mapping[str, Any], reply: Reply) -> Comparison:
        converted = {**self.choices, "offset_unit": "code_point"}
        return _comparison(judge(case_of(model, asked, outcome), reply, self.hello, converted))

    def _ask(self, operation: str, model: Mapping[str, Any], input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the oracle something else; nothing if it does not answer."""
        ((_, reply),) = self.session.ask([Request(operation, f"again {next(_NUMBERS)}", model, input)])
        return reply.result if isinstance(reply, Answer) else {}


_NUMBERS = count()


def _is_inexpressible(right: Reply, reply: Fault) -> bool:
    """Say whether neither reply can be written in the protocol, such as one that holds an infinite sum."""
    return isinstance(right, Fault) and right.kind == reply.kind == "protocol"


def _due(right: Reply, asked: Asked) -> str:
    """Return the reason of the refusal that a clause wants; an empty text if none does."""
    operation, input = asked
    if not isinstance(right, Refused) or right.reason == "unsupported":
        return ""
    is_open = right.reason == "invalid_input" and operation not in _WANTED and not has_surrogate(input)
    return "" if is_open else right.reason


def _comparison(result: Result) -> Comparison:
    if result.verdict is Verdict.PASS:
        return _SAME
    if result.verdict is Verdict.UNSUPPORTED:
        return _UNSUPPORTED
    if result.difference is not None:
        return Comparison("differs", str(result.difference.path[0]), result)
    if isinstance(result.reply, Fault):
        due = f", not refused as {result.expected['error']}" if "error" in result.expected else ""
        return Comparison("differs", f"{result.verdict.value}{due}", result)
    if "error" in result.expected:
        return Comparison("differs", f"not refused as {result.expected['error']}", result)
    reason = result.reply.reason if isinstance(result.reply, Refused) else "something else"
    return Comparison("differs", f"refused as {reason}", result)


def case_of(
    model: Mapping[str, Any], asked: Asked, outcome: Mapping[str, Any], id: str = "fuzz", why: str = ""
) -> Case:
    """Make a case of what was asked and what is right.

    >>> case_of({}, ("normalize", {"text": "a"}), {"expect": {"text": "a"}}).operation
    'normalize'
    """
    operation, input = asked
    return Case(id, (), why, (), Model(id, model), operation, input, outcome, (), (), {}, (), (), "", 0)
