"""A run as lines of JSON: a header, a line a case, and a footer with the counts.

A report without its footer was cut off. Strings that JSON cannot carry have the protocol's byte-safe form (PROTO-2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tokspec.compare import ABSENT, Difference
from tokspec.report.origin import Origin
from tokspec.runner import Run
from tokspec.sessions import Answer, Refused, Reply
from tokspec.verdicts import Result, Verdict
from tokspec.wire import encode_line

__all__ = ["FORMAT", "ndjson"]

#: The version of the format.
FORMAT = 1


def ndjson(run: Run, origin: Origin) -> Iterator[bytes]:
    """Give the lines of the report; ``tokspec report`` reads them again."""
    yield encode_line(
        {
            "tokspec_report": FORMAT,
            **asdict(origin),
            "implementation": asdict(run.hello),
            "choices": dict(run.choices),
            "cases": len(run.results),
        }
    )
    for result in run.results:
        yield encode_line(_record(result))
    counts = {verdict.value: count for verdict, count in run.counts.items()}
    yield encode_line({"counts": counts, "problems": list(run.problems), "conforms": run.conforms})


def _record(result: Result) -> dict[str, Any]:
    case = result.case
    record: dict[str, Any] = {"case": case.id, "operation": case.operation, "clauses": list(case.clauses)}
    record |= {"verdict": result.verdict.value, "file": case.file, "line": case.line}
    if result.verdict is Verdict.PASS:
        return record
    record |= {"detail": result.detail, "why": case.why, "input": case.input, "expected": result.expected}
    if result.reply is not None:
        record["reply"] = _reply(result.reply)
    if result.difference is not None:
        record["difference"] = _difference(result.difference)
    return record


def _reply(reply: Reply) -> dict[str, Any]:
    if isinstance(reply, Answer):
        return {"ok": reply.result}
    return {"refused" if isinstance(reply, Refused) else "fault": asdict(reply)}


def _difference(difference: Difference) -> dict[str, Any]:
    """Give the place, and on each side the value there, unless there is none."""
    sides = {"expected": difference.expected, "actual": difference.actual}
    return {"path": list(difference.path), **{side: value for side, value in sides.items() if value is not ABSENT}}
