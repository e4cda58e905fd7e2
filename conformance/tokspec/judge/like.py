"""Whether a reply that is not as specified equals an origin's answer (:mod:`tokspec.suite.origins`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tokspec.adapter import Hello
from tokspec.judge.compare import first_difference
from tokspec.judge.verdicts import Result, Verdict, comparable, has_no_spans, pieces_alone
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.protocol.spans import convert_result
from tokspec.suite.origins import Origin

#: The fields of an encoding that are kept of an answer where a refusal is expected.
_FIELDS = ("tokens", "ids", "spans")


@dataclass(frozen=True)
class Likeness:
    """Judges an implementation by "as specified, or as an origin answers".

    ``is_origin`` says that the implementation is the origin itself: a refusal where it crashed would be news.
    """

    origin: Origin
    is_origin: bool = False

    def apply_to(self, result: Result, reply: Reply, hello: Hello, unit: str) -> Result:
        """Return the result of a question, which counts as the origin's if the reply is the origin's answer.

        Args:
            result: the verdict on the whole reply.
            reply: the whole reply; ``result`` may have only an extract.
            hello: the implementation's description of itself.
            unit: the unit of its spans.
        """
        known = self.origin.answers.get(result.case.id)
        if known is None or result.verdict.conforms or not self._is_same(known.answer, result, reply, hello, unit):
            return result
        effects = result.effects if self.is_origin else ()
        return replace(result, verdict=Verdict.AS_ORIGIN, detail=f"as {self.origin}: {known.reason}", effects=effects)

    def _is_same(self, known: Mapping[str, Any], result: Result, reply: Reply, hello: Hello, unit: str) -> bool:
        if "fault" in known:  # a port that refuses where its origin crashes is as good
            is_refusal = isinstance(reply, Refused) and not self.is_origin
            return is_refusal or (isinstance(reply, Fault) and reply.kind == known["fault"])
        if "refused" in known:
            return isinstance(reply, Refused) and reply.reason == known["refused"]
        if not isinstance(reply, Answer):
            return False
        specified = next(iter(result.expected.get("one_of", [result.expected.get("expect", {})])))
        sequences = {key: specified[key] for key in ("sequence_ids",) if key in specified}  # for the text of spans
        fields = convert_result({**sequences, **known["result"]}, result.case.input, unit)
        right = {**specified, **fields}
        given = (
            {key: reply.result[key] for key in right if key in reply.result}
            if "error" in result.expected
            else reply.result
        )
        if result.case.operation in ("encode", "encode_batch"):
            right, given = comparable(right, given, hello.encode_fields)
        elif has_no_spans(given):
            right, given = pieces_alone(right), pieces_alone(given)
        return bool(given) and first_difference(right, given, result.case.tolerance) is None


def answer_of(result: Result, reply: Reply) -> Mapping[str, Any]:
    """Return the part of a wrong reply that is kept: for a result, the fields that differ."""
    if isinstance(reply, Refused):
        return {"refused": reply.reason}
    if isinstance(reply, Fault):
        return {"fault": reply.kind}
    if "error" in result.expected:
        kept = {key: value for key, value in reply.result.items() if key in _FIELDS}
        return {"result": kept or dict(reply.result)}
    expected = next(iter(result.expected.get("one_of", [result.expected.get("expect", {})])))
    shared = {key: _within(expected[key], value) for key, value in reply.result.items() if key in expected}
    differing = {key: value for key, value in shared.items() if value != expected[key]}
    return {"result": differing or shared or dict(reply.result)}


def _within(expected: Any, given: Any) -> Any:
    """Keep only the expected fields of encodings in a result."""
    if isinstance(expected, Mapping) and isinstance(given, Mapping):
        return {key: _within(expected[key], value) for key, value in given.items() if key in expected}
    if _holds_encodings(expected) and isinstance(given, Sequence):
        pattern = expected[0]
        return [
            _within(expected[place] if place < len(expected) else pattern, each) for place, each in enumerate(given)
        ]
    return given


def _holds_encodings(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and bool(value) and isinstance(value[0], Mapping)
