"""Whether an implementation answers about a text what a pack has of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokspec.adapter import Hello
from tokspec.judge.compare import Difference, first_difference
from tokspec.judge.verdicts import Verdict
from tokspec.packs.asking import Asked, why_malformed
from tokspec.packs.record import FAULTS, Record, input_of
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.protocol.spans import convert_spans

__all__ = ["Judge", "Outcome", "tokens_that_differ"]


@dataclass(frozen=True)
class Outcome:
    """What one operation came to for one text; ``expected`` is as the implementation would have to answer."""

    record: Record
    operation: str
    verdict: Verdict
    detail: str = ""
    expected: Mapping[str, Any] | None = None
    reply: Reply | None = None
    difference: Difference | None = None

    @property
    def wanted(self) -> Mapping[str, Any]:
        """What is expected, as the outcome of a case."""
        if self.expected is not None:
            return {"expect": self.expected}
        if self.operation in self.record.refused:
            return {"error": self.record.refused[self.operation]}
        return {"expect": {"fault": self.record.unanswered[self.operation]}}

    @property
    def differs(self) -> bool:
        """Whether it is neither the same nor unsupported."""
        return not self.verdict.conforms

    @property
    def seen(self) -> Any:
        """What a digest is made of: the answer, the reason of a refusal, or the kind of a fault."""
        if isinstance(self.reply, Answer):
            return self.reply.result
        return self.reply.reason if isinstance(self.reply, Refused) else self.verdict.value


class Judge:
    """Holds an implementation to records whose spans count in a unit.

    Args:
        hello: what the implementation says of itself.
        unit: what it counts in.
        recorded_unit: what the records count in.
    """

    def __init__(self, hello: Hello, unit: str, recorded_unit: str) -> None:
        self._fields = frozenset(hello.encode_fields)
        self._unit = unit
        self._recorded_unit = recorded_unit

    def outcomes(self, asked: Asked) -> Iterator[Outcome]:
        """Return what each operation came to, of those about which the record has something."""
        record = asked.record
        for operation, reply in asked.replies.items():
            if operation in record.results:
                yield self._of_result(record, operation, reply)
            elif record.says(operation):
                yield _of_no_result(record, operation, reply)

    def _of_result(self, record: Record, operation: str, reply: Reply) -> Outcome:
        if not isinstance(reply, Answer):
            return _no_answer(record, operation, reply) or Outcome(record, operation, Verdict.PROTOCOL, reply=reply)
        expected, actual = record.results[operation], reply.result
        if operation == "encode":
            fields = [name for name in expected if name in self._fields]
            if not fields:
                detail = "gives of an encoding nothing that the pack has"
                return Outcome(record, operation, Verdict.UNSUPPORTED, detail, expected, reply)
            expected = {name: expected[name] for name in fields}
            actual = {name: actual[name] for name in fields if name in actual}
        expected = self._as_asked(expected, record, operation)
        if expected == actual:
            return Outcome(record, operation, Verdict.PASS)
        return _different(record, operation, expected, actual, reply)

    def _as_asked(self, expected: Mapping[str, Any], record: Record, operation: str) -> Mapping[str, Any]:
        if self._unit == self._recorded_unit:
            return expected
        text = (input_of(operation, record) or {}).get("text", "")
        return convert_spans(expected, text, self._unit, self._recorded_unit)


def _of_no_result(record: Record, operation: str, reply: Reply) -> Outcome:
    """Hold a reply to a refusal or a fault: to the reason of the one, the kind of the other."""
    recorded = record.refused.get(operation) or record.unanswered[operation]
    said = reply.reason if isinstance(reply, Refused) else reply.kind if isinstance(reply, Fault) else ""
    if said == recorded:
        return Outcome(record, operation, Verdict.PASS)
    detail = f"answers where the pack has a {recorded if recorded in FAULTS else f'refusal as {recorded}'}"
    return _no_answer(record, operation, reply) or Outcome(record, operation, Verdict.FAIL, detail, None, reply)


def _no_answer(record: Record, operation: str, reply: Reply) -> Outcome | None:
    expected = record.results.get(operation)
    if isinstance(reply, Fault):
        return Outcome(record, operation, Verdict(reply.kind), reply.message, expected, reply)
    if isinstance(reply, Refused) and reply.reason == "unsupported":
        return Outcome(record, operation, Verdict.UNSUPPORTED, reply.message or "gives no reason", expected, reply)
    if isinstance(reply, Refused):
        said = f": {reply.message}" if reply.message else ""
        return Outcome(record, operation, Verdict.ERROR, f"refuses as {reply.reason}{said}", expected, reply)
    return None


def _different(
    record: Record, operation: str, expected: Mapping[str, Any], actual: Mapping[str, Any], reply: Answer
) -> Outcome:
    if malformed := why_malformed(operation, reply):
        return Outcome(record, operation, Verdict.PROTOCOL, malformed, expected, reply)
    difference = first_difference(expected, actual, {})
    return Outcome(record, operation, Verdict.FAIL, "wrong answer", expected, Answer(actual), difference)


def tokens_that_differ(expected: Sequence[Any], actual: Sequence[Any]) -> int:
    """Count what is left of a list when what another has too, at both ends, is taken away; one at least.

    >>> tokens_that_differ(["a", "bug", "c"], ["a", "b", "ug", "c"])
    1
    """
    shorter = min(len(expected), len(actual))
    start = next((at for at in range(shorter) if expected[at] != actual[at]), shorter)
    left = shorter - start
    end = next((at for at in range(left) if expected[-1 - at] != actual[-1 - at]), left)
    return max(1, len(expected) - start - end)
