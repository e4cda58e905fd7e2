"""Verdicts, and how they follow from a case and a reply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain
from typing import Any

from tokspec.adapter import Hello
from tokspec.base.display import did_you_mean, escape, quote
from tokspec.base.errors import AdapterFault
from tokspec.judge.compare import Difference, first_difference, resolve
from tokspec.judge.effects import Effect, asked_effects, effects_of, in_order
from tokspec.judge.truncate import Extract, truncate_difference, truncate_reply
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.protocol.spans import convert_result
from tokspec.suite import schema
from tokspec.suite.cases import Case
from tokspec.suite.origins import Origin
from tokspec.suite.specification import load_specification


class Verdict(Enum):
    """The verdict on a case. ``PASS``, ``AS_ORIGIN``, ``KNOWN_FAILURE`` and ``UNSUPPORTED`` conform."""

    PASS = "pass"
    AS_ORIGIN = "as the origin"
    UNEXPECTED_PASS = "unexpected pass"
    FAIL = "fail"
    ERROR = "error"
    CRASH = "crash"
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"
    STATE_LEAK = "state leak"
    KNOWN_FAILURE = "known failure"
    UNSUPPORTED = "unsupported"
    NOT_RUN = "not run"

    @property
    def conforms(self) -> bool:
        """Whether a run with this verdict can still end with exit status 0."""
        return self in (Verdict.PASS, Verdict.AS_ORIGIN, Verdict.KNOWN_FAILURE, Verdict.UNSUPPORTED)


@dataclass(frozen=True)
class Result:
    """A case's verdict and the values that led to it.

    ``detail`` is one sentence, untrusted where it quotes an implementation. ``expected`` is the outcome for the
    declared choices (``expect``, ``one_of`` or ``error``), with spans in the declared unit. ``reply`` is an extract if
    the answer is long. For a table, ``rows`` are the results of its rows, and the other fields are those of the worst
    row. ``cause`` is what it has in common with other failing cases, if causes were searched for. ``listed`` is how a
    file of known failures lists it differently, if one does. ``asks`` are the effects that the case can show, and
    ``effects`` what its failure costs, worst first; for a table, they cover all rows.
    """

    case: Case
    verdict: Verdict
    detail: str
    expected: Mapping[str, Any]
    reply: Reply | None = None
    difference: Difference | None = None
    rows: tuple[Result, ...] = ()
    cause: str = ""
    listed: str = ""
    asks: tuple[Effect, ...] = ()
    effects: tuple[Effect, ...] = ()

    def is_right_in(self, effect: Effect) -> bool:
        """Return whether the case tests an effect, has some answer, even a wrong one, and is right in this effect."""
        is_refused = Effect.REFUSAL in self.effects and Effect.REFUSAL not in self.asks
        is_answered = not is_refused and Effect.CRASH not in self.effects
        return effect in self.asks and effect not in self.effects and is_answered

    @property
    def telling(self) -> tuple[Result, ...]:
        """The rows that did not pass, worst first."""
        return tuple(sorted((row for row in self.rows if row.verdict is not Verdict.PASS), key=_severity))

    @property
    def question(self) -> Case:
        """The question that ``expected``, ``reply`` and ``difference`` are about: the case, or a row of it."""
        return next((row.case for row in self.telling), self.case)


#: The verdicts of rows, worst first.
_SEVERITY = (
    Verdict.STATE_LEAK,
    Verdict.CRASH,
    Verdict.TIMEOUT,
    Verdict.PROTOCOL,
    Verdict.ERROR,
    Verdict.FAIL,
    Verdict.AS_ORIGIN,
    Verdict.UNSUPPORTED,
    Verdict.NOT_RUN,
    Verdict.PASS,
)

#: How many row numbers a sentence lists.
_LISTED = 10


def _severity(result: Result) -> int:
    return _SEVERITY.index(result.verdict)


def join_rows(case: Case, rows: Sequence[Result]) -> Result:
    """Return the result of a table, which is that of the first of its worst rows; it passes if all rows do."""
    asks = in_order(chain.from_iterable(row.asks for row in rows))
    effects = in_order(chain.from_iterable(row.effects for row in rows))
    joined = Result(case, Verdict.PASS, "", {}, rows=tuple(rows), asks=asks, effects=effects)
    worst = next(iter(joined.telling), None)
    if worst is None:
        return replace(joined, detail=next((row.detail for row in rows if row.detail), ""))
    detail = _of_rows(joined.telling, len(rows))
    return replace(worst, case=case, detail=detail, rows=joined.rows, asks=asks, effects=effects)


def _of_rows(telling: Sequence[Result], total: int) -> str:
    """Describe the worst row, and list the other rows that did not pass."""
    worst, *others = telling
    if len(telling) == total and {row.detail for row in others} == {worst.detail}:
        return f"every row: {worst.detail}" if worst.verdict is not Verdict.UNSUPPORTED else worst.detail
    alike = [row.case.row for row in others if worst.verdict.conforms or not row.verdict.conforms]
    more = ", …" if len(alike) > _LISTED else ""
    listed = f"; {len(alike)} more: {', '.join(map(str, sorted(alike)[:_LISTED]))}{more}" if alike else ""
    return f"row {worst.case.row} of {total}: {worst.detail}{listed}"


def effective_choices(
    hello: Hello, overridden: Mapping[str, str] | None = None, origin: Origin | None = None
) -> dict[str, str]:
    """Return the options by which an implementation is judged: the overridden ones, else those that ``hello`` declares.

    An undeclared choice has the option of the origin that the implementation wants to equal, or else the default of the
    specification, which is the documents' option (``spec/08-choices.md``). ``offset_unit`` is never the origin's.

    Raises:
        AdapterFault: ``protocol``, if the implementation declares what the specification does not have.

    >>> effective_choices(Hello("x", "1", "C", ("encode",), choices={"unknown_id": "skipped"}))["unknown_id"]
    'skipped'
    """
    known = load_specification().choices
    for name, option in hello.choices.items():
        if name not in known or option not in known[name].options:
            what = f"an option that {name} does not have" if name in known else "no choice"
            near = did_you_mean(*(option, known[name].options) if name in known else (name, known)).rstrip()
            said = f"hello declares {quote(f'{name}={option}')}, which is {what}"
            raise AdapterFault("protocol", f"{said}; {near}" if near else said)
    of_origin = {name: option for name, option in (origin.choices if origin else {}).items() if name != "offset_unit"}
    return {**load_specification().defaults(), **of_origin, **hello.choices, **(overridden or {})}


def judge(case: Case, reply: Reply, hello: Hello, choices: Mapping[str, str]) -> Result:
    """Return the verdict on a reply to a case, or to a row of a table."""
    expected = _expected(case, choices)
    result = _judge_reply(case, reply, hello, expected)
    return result if result.verdict is Verdict.UNSUPPORTED else replace(result, asks=asks_of(result, hello))


def asks_of(result: Result, hello: Hello) -> tuple[Effect, ...]:
    """Return the effects that the case of a result can show."""
    if "error" in result.expected:
        return (Effect.REFUSAL,)
    right = result.expected.get("one_of", [result.expected.get("expect", {})])
    return asked_effects(result.case.operation, right, hello.encode_fields)


def _judge_reply(case: Case, reply: Reply, hello: Hello, expected: Mapping[str, Any]) -> Result:
    if isinstance(reply, Fault):
        return Result(case, Verdict(reply.kind), reply.message, expected, reply, effects=(Effect.CRASH,))
    if isinstance(reply, Refused):
        return _judge_refusal(case, reply, expected)
    short = truncate_reply(reply)
    return _shortened(_judge_answer(case, reply, hello, expected, short is not reply), short)


def _shortened(result: Result, reply: Reply) -> Result:
    """Keep only the extract of a long answer, and show it if the answer is wrong."""
    if not isinstance(reply, Extract):
        return result
    detail = f"{result.detail}, {reply}" if result.verdict is Verdict.FAIL else result.detail
    difference = truncate_difference(result.difference) if result.difference else None
    return replace(result, detail=detail, reply=reply, difference=difference)


def _expected(case: Case, choices: Mapping[str, str]) -> Mapping[str, Any]:
    outcome = resolve(case.outcome, choices)
    unit = choices["offset_unit"]
    if "expect" in outcome:
        return {"expect": convert_result(outcome["expect"], case.input, unit)}
    if "one_of" in outcome:
        return {"one_of": [convert_result(result, case.input, unit) for result in outcome["one_of"]]}
    return outcome


def _judge_refusal(case: Case, reply: Refused, expected: Mapping[str, Any]) -> Result:
    if reply.reason == "unsupported":
        return Result(case, Verdict.UNSUPPORTED, reply.message or "gives no reason", expected, reply)
    if expected.get("error") == reply.reason:
        return Result(case, Verdict.PASS, "", expected, reply)
    wanted = f"a refusal as {expected['error']}" if "error" in expected else "a result"
    said = f": {reply.message}" if reply.message else ""
    detail = f"refused as {reply.reason} where {wanted} is expected{said}"
    return Result(case, Verdict.ERROR, detail, expected, reply, effects=(Effect.REFUSAL,))


def _judge_answer(case: Case, reply: Answer, hello: Hello, expected: Mapping[str, Any], is_long: bool) -> Result:
    for path, message in schema.errors(reply.result, f"operations/{case.operation}/result", every=not is_long):
        place = escape("/".join(str(part) for part in path)) or "the result"
        return Result(case, Verdict.PROTOCOL, f"{place}: {message}", expected, reply, effects=(Effect.CRASH,))
    if "error" in expected:
        detail = f"answers where a refusal as {expected['error']} is expected"
        return Result(case, Verdict.FAIL, detail, expected, reply, effects=(Effect.REFUSAL,))
    compared = [(right, reply.result) for right in expected.get("one_of") or [expected["expect"]]]
    lacking = ""
    if case.operation in ("encode", "encode_batch"):
        lacking = _lacking(case, hello, *compared[0])
        compared = [comparable(right, given, hello.encode_fields) for right, given in compared]
    elif has_no_spans(reply.result):
        lacking = NO_SPANS
        compared = [(pieces_alone(right), pieces_alone(given)) for right, given in compared]
    difference = _difference(compared, case)
    if difference is not None:
        effects = effects_of(case.operation, *compared[0], case.tolerance, ids="ids" in hello.encode_fields)
        return Result(case, Verdict.FAIL, "wrong answer", expected, reply, difference, effects=effects)
    verdict = Verdict.UNSUPPORTED if lacking and lacking != NO_SPANS else Verdict.PASS
    return Result(case, verdict, lacking, expected, reply)


#: The detail of a case that passes without the spans that it tests.
NO_SPANS = "gives no spans of this text"


def has_no_spans(result: Mapping[str, Any]) -> bool:
    """Return whether a result has pieces with only their texts."""
    return any(len(piece) == 1 for piece in result.get("pieces", ()))


def pieces_alone(result: Mapping[str, Any]) -> dict[str, Any]:
    """Keep only the texts of a result's pieces."""
    return {"pieces": [piece[:1] for piece in result["pieces"]]}


def _lacking(case: Case, hello: Hello, right: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Say which wanted field an encoding lacks; an answer may leave out spans (``spec/10-protocol.md``)."""
    pairs = list(_encodings(right, given))
    if right.get("encodings") == []:
        return ""
    if not hello.encode_fields:
        return f"{case.operation} returns no field"
    is_without = "spans" in hello.encode_fields and any("spans" in one and "spans" not in other for one, other in pairs)
    names = [name for name in hello.encode_fields if name != "spans" or not is_without]
    said = NO_SPANS if is_without else f"{case.operation} returns only {', '.join(names)}"
    if not any(name in encoding for encoding, _ in pairs for name in names):
        return f"{said}, and the case checks {'nothing else' if is_without else 'none of them'}"
    about = load_specification().fields_of(case.clauses)
    if about and not set(about).intersection(names):
        return f"{said}, and the case is about {' or '.join(about)}"
    return NO_SPANS if is_without else ""


def _encodings(right: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """Return each encoding of the right result with the encoding in the same place of the given result."""
    yield right, given
    for key in ("encodings", "overflowing"):
        for one, other in zip(right.get(key, ()), given.get(key, ()), strict=False):
            yield from _encodings(one, other)


def comparable(right: Mapping[str, Any], given: Mapping[str, Any], fields: Sequence[str]) -> tuple[Any, Any]:
    """Keep the compared fields of two encodings: those that are declared and wanted, and spans only if given."""
    if "encodings" in right:
        return _comparable_list("encodings", right, given, fields)
    names = [name for name in fields if name in right and (name != "spans" or name in given)]
    one, other = {name: right[name] for name in names}, {name: given[name] for name in names if name in given}
    if "overflowing" in other:
        ours, theirs = _comparable_list("overflowing", right, given, fields)
        return {**one, **ours}, {**other, **theirs}
    return one, other


def _comparable_list(
    key: str, right: Mapping[str, Any], given: Mapping[str, Any], fields: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    pairs = [comparable(one, other, fields) for one, other in zip(right[key], given[key], strict=False)]
    ours, theirs = [one for one, _ in pairs], [other for _, other in pairs]
    return {key: [*ours, *right[key][len(pairs) :]]}, {key: [*theirs, *given[key][len(pairs) :]]}


def _difference(compared: Sequence[tuple[Any, Any]], case: Case) -> Difference | None:
    """Return the difference from the first right answer; None if the answer matches one within the tolerance."""
    if any(right == given for right, given in compared):  # faster; here True equals 1, but no result may hold a boolean
        return None
    differences = [first_difference(right, given, case.tolerance) for right, given in compared]
    return None if None in differences else differences[0]


def not_run(case: Case, choices: Mapping[str, str], why: str) -> Result:
    """Return the result of a case that was selected but not run."""
    return Result(case, Verdict.NOT_RUN, why, _expected(case, choices))


def count_verdicts(results: Iterable[Result]) -> dict[Verdict, int]:
    """Count the verdicts; every verdict has a count, even if it is 0, in the order of :class:`Verdict`."""
    counts = Counter(result.verdict for result in results)
    return {verdict: counts[verdict] for verdict in Verdict}
