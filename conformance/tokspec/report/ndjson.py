"""A run as lines of JSON: a header, a line a case, and a footer with the counts.

A report without its footer was cut off. Strings that JSON cannot carry have the protocol's byte-safe form (PROTO-2).
Whatever is written here can be read again: no line has more than its share of the size that a report may have, and what
does not fit, or would not come back as it is, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tokspec.base.errors import AdapterFault, DataError
from tokspec.judge.compare import ABSENT, Difference
from tokspec.judge.runner import Run
from tokspec.judge.truncate import Extract
from tokspec.judge.verdicts import Result, Verdict
from tokspec.protocol.messages import Answer, Refused, Reply
from tokspec.protocol.wire import decode_line, encode_line
from tokspec.report.origin import Origin

__all__ = ["FORMAT", "LARGEST", "ndjson"]

#: The version of the format.
FORMAT = 1

#: How large a report may be, in megabytes.
LARGEST = 64

#: What the line of a case can do without, tried in this order.
_LEFT_OUT: tuple[tuple[str, ...], ...] = ((), ("reply", "difference"), ("reply", "difference", "input"))


def ndjson(run: Run, origin: Origin) -> Iterator[bytes]:
    """Give the lines of the report; ``tokspec report`` reads them again.

    Raises:
        DataError: what is expected alone is more than a report may hold.
    """
    left = LARGEST * 1024**2
    for line in _all(run, origin, left // (len(run.results) + 2)):
        left -= len(line)
        if left < 0:
            raise DataError(f"would be larger than {LARGEST} MB; judge fewer cases at once", key="the report")
        yield line


def _all(run: Run, origin: Origin, share: int) -> Iterator[bytes]:
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
        yield _line(result, share)
    counts = {verdict.value: count for verdict, count in run.counts.items()}
    yield encode_line({"counts": counts, "problems": list(run.problems), "conforms": run.conforms})


def _line(result: Result, share: int) -> bytes:
    whole = _record(result)
    for left_out in _LEFT_OUT:
        record = {key: value for key, value in whole.items() if key not in left_out}
        line = encode_line(record)
        if len(line) <= share and _comes_back(record, line):
            break
    return line


def _comes_back(record: dict[str, Any], line: bytes) -> bool:
    """Whether a line is read as what was written: answers in this process may hold what no line of JSON can."""
    try:
        return decode_line(line) == record
    except AdapterFault:
        return False


def _record(result: Result) -> dict[str, Any]:
    case = result.case
    record: dict[str, Any] = {"case": case.id, "operation": case.operation, "clauses": list(case.clauses)}
    record |= {"verdict": result.verdict.value, "file": case.file, "line": case.line}
    if result.verdict is Verdict.PASS:
        return record
    record |= {"detail": result.detail, "why": case.why, "input": case.input, "expected": result.expected}
    if result.reply is not None and not isinstance(result.reply, Extract):
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
