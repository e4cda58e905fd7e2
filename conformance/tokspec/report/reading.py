"""Reading a report that ``tokspec run --report`` wrote: perhaps by another version, perhaps not to its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tokspec.adapter import Hello
from tokspec.base.errors import AdapterFault, DataError
from tokspec.base.files import read_bounded
from tokspec.judge.compare import ABSENT, Difference
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Result, Verdict
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.protocol.wire import decode_line
from tokspec.report.bare import bare_case
from tokspec.report.ndjson import LARGEST
from tokspec.report.origin import Origin
from tokspec.suite import schema
from tokspec.suite.fixtures import Case
from tokspec.suite.specification import load_specification

__all__ = ["Report", "read_report"]

_TOO_LARGE = "tokspec run --report writes no such report; run again"

_Line = tuple[int, dict[str, Any]]


@dataclass(frozen=True)
class Report:
    """A run as its report tells it. Its cases have no model, no sources, and of what passed only the name."""

    file: str
    origin: Origin
    run: Run


def read_report(file: Path, name: str = "") -> Report:
    """Read one report; ``name`` is how messages call it.

    Raises:
        DataError: the first thing that is wrong with it, with file, line and key; also if it was cut off.
    """
    name = name or str(file)
    lines = list(_lines(read_bounded(file, name, LARGEST, _TOO_LARGE), name))
    if not lines:
        raise DataError("is empty; tokspec run --report writes a report", name)
    _, header = _valid(lines[0], "header", name)
    if len(lines) == 1 or "counts" not in lines[-1][1]:
        what = f"after {len(lines) - 1} of {header['cases']} cases"
        raise DataError(f"ends {what} and without its counts: it was cut off; run again", name)
    results = tuple(_result(_valid(line, "result", name), name) for line in lines[1:-1])
    number, footer = _valid(lines[-1], "footer", name)
    run = Run(_hello(header["implementation"]), header["choices"], results, tuple(footer["problems"]))
    counted = {verdict.value: count for verdict, count in run.counts.items()}
    same = counted == {**dict.fromkeys(counted, 0), **footer["counts"]} and run.conforms is footer["conforms"]
    if not same or len(results) != header["cases"]:
        raise DataError("counts otherwise than its lines; it was changed or cut; run again", name, number)
    if len({result.case.id for result in results}) < len(results):
        raise DataError("has a case twice; it was changed; run again", name)
    return Report(name, Origin(**{field.name: header[field.name] for field in fields(Origin)}), run)


def _lines(text: str, name: str) -> Iterator[_Line]:
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        try:
            yield number, decode_line(line.encode())
        except AdapterFault as fault:
            raise DataError(f"{fault.message}; was it cut off?", name, number) from None


def _valid(line: _Line, part: str, name: str) -> _Line:
    number, value = line
    for path, message in schema.errors(value, f"report/{part}"):
        raise DataError(message, name, number, ".".join(map(str, path)))
    return line


def _hello(value: Mapping[str, Any]) -> Hello:
    given: dict[str, Any] = {key: tuple(item) if isinstance(item, list) else item for key, item in value.items()}
    return Hello(**given)


def _result(line: _Line, name: str) -> Result:
    number, value = line
    known = load_specification().clauses
    for clause in value["clauses"]:
        if clause not in known:
            raise DataError(f"{clause} is no clause of this version of the suite; read it with its own", name, number)
    verdict = Verdict(value["verdict"])
    if verdict is not Verdict.PASS and "expected" not in value:
        raise DataError("lacks the key expected", name, number)
    if "difference" in value and not _is_true(value):
        message = "is not the difference of what is expected and what was answered; the line was changed; run again"
        raise DataError(message, name, number, "difference")
    difference = _difference(value["difference"]) if "difference" in value else None
    reply = _reply(value["reply"]) if "reply" in value else None
    return Result(_case(value), verdict, value.get("detail", ""), value.get("expected", {}), reply, difference)


def _is_true(value: Mapping[str, Any]) -> bool:
    """Whether a difference is one of this line: at its place stand what it says, as far as the answer was written."""
    said, expected = value["difference"], value.get("expected", {})
    sides = {"expected": expected.get("expect", expected.get("one_of", [None])[0])}
    if "reply" in value:
        sides["actual"] = value["reply"].get("ok")
    is_some = said["path"] and ("expected" in said or "actual" in said)
    return is_some and all(
        isinstance(side, dict) and _at(side, said["path"]) == said.get(name, ABSENT) for name, side in sides.items()
    )


def _at(value: Any, path: Sequence[str | int]) -> Any:
    """Give what stands at a place; nothing if the place is not there, as behind the end of a list."""
    for part in path:
        if isinstance(value, dict) and isinstance(part, str):
            value = value.get(part, ABSENT)
        elif isinstance(value, list) and type(part) is int and 0 <= part < len(value):
            value = value[part]
        else:
            return ABSENT
    return value


def _case(value: Mapping[str, Any]) -> Case:
    return bare_case(
        value["case"],
        value["operation"],
        value.get("input", {}),
        clauses=tuple(value["clauses"]),
        why=value.get("why", ""),
        file=value["file"],
        line=value["line"],
    )


def _reply(value: Mapping[str, Any]) -> Reply:
    if "ok" in value:
        return Answer(value["ok"])
    return Refused(**value["refused"]) if "refused" in value else Fault(**value["fault"])


def _difference(value: Mapping[str, Any]) -> Difference:
    return Difference(tuple(value["path"]), value.get("expected", ABSENT), value.get("actual", ABSENT))
