"""The report of a run as lines of JSON, written and read: a header, a line for each case, and a footer.

A report without its footer was cut off. Strings that JSON cannot carry have the protocol's byte-safe form (PROTO-2).
Every report that is written can be read again: no line exceeds its share of the size limit of a report, and values that
do not fit, or would not be read back unchanged, are left out.
"""

from __future__ import annotations

import platform
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from tokspec import __version__
from tokspec.adapter import Hello
from tokspec.base.display import without_password
from tokspec.base.errors import AdapterFault, DataError
from tokspec.base.files import read_at_most, read_bounded
from tokspec.base.json_values import decode_line, encode_line
from tokspec.judge.compare import ABSENT, Difference
from tokspec.judge.effects import Effect
from tokspec.judge.runner import Run
from tokspec.judge.truncate import Extract
from tokspec.judge.verdicts import Result, Verdict
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.suite import schema
from tokspec.suite.cases import Case, bare_case
from tokspec.suite.specification import load_specification


@dataclass(frozen=True)
class Origin:
    """The suite's version, the hash of the fixtures, the command, the machine, and the suite's Unicode version.

    ``again`` is the command without the options that select cases and write files.
    """

    suite: str
    fixtures: str
    command: str
    again: str
    machine: str
    unicode: str


def origin(command: str, again: str, fixtures: str) -> Origin:
    """Return the origin of a run of this command with fixtures of this hash.

    >>> origin("tokspec run --report a.ndjson", "tokspec run", "0" * 64).again
    'tokspec run'
    """
    command, again = without_home(command), without_home(again)
    python = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{platform.system()} {platform.machine()}, {python}"
    return Origin(__version__, fixtures, command, again, machine, unicodedata.unidata_version)


def without_home(command: str) -> str:
    """Return a command without passwords and absolute paths of the user's folders, because reports are published.

    >>> without_home(f"tokspec run --impl {Path.cwd()}/adapter --report {Path.home()}/report.ndjson")
    'tokspec run --impl ./adapter --report ~/report.ndjson'
    """
    for folder, short in ((Path.cwd(), "."), (Path.home(), "~")):
        if folder != Path(folder.anchor):
            command = re.sub(rf"(?<![\w/.~-]){re.escape(str(folder))}(?=/|\s|'|\"|$)", short, command)
    return without_password(command)


#: The version of the format.
FORMAT = 1

#: How large a report may be, in megabytes.
LARGEST = 64

#: Fields that the line of a case may lack; these sets are tried in order.
_LEFT_OUT: tuple[tuple[str, ...], ...] = ((), ("reply", "difference"), ("reply", "difference", "input"))

#: How many rows the line of a table has; more are not shown.
_ROWS = 10


def ndjson(run: Run, origin: Origin) -> Iterator[bytes]:
    """Return the lines of the report; ``tokspec report`` reads them again.

    Raises:
        DataError: the expected outcomes alone exceed the size of a report.
    """
    left = LARGEST * 1024**2
    for line in _write_lines(run, origin, left // (len(run.results) + 2)):
        left -= len(line)
        if left < 0:
            raise DataError(f"would be larger than {LARGEST} MB; judge fewer cases at once", key="the report")
        yield line


def _write_lines(run: Run, origin: Origin, share: int) -> Iterator[bytes]:
    yield encode_line(
        {
            "tokspec_report": FORMAT,
            **asdict(origin),
            "implementation": asdict(run.hello),
            "choices": dict(run.choices),
            **({"like": run.like} if run.like else {}),
            "cases": len(run.results),
        }
    )
    for result in run.results:
        yield _write_line(result, share)
    counts = {verdict.value: count for verdict, count in run.counts.items()}
    faults = {"faults": list(run.faults)} if run.faults else {}
    yield encode_line({"counts": counts, "problems": list(run.problems), **faults, "conforms": run.is_green})


def _write_line(result: Result, share: int) -> bytes:
    whole = _result_record(result)
    for left_out in _LEFT_OUT:
        record = _without(whole, left_out)
        line = encode_line(record)
        if len(line) <= share and _comes_back(record, line):
            break
    return line


def _without(record: dict[str, Any], left_out: tuple[str, ...]) -> dict[str, Any]:
    """Return a record, and the records of its rows, without some fields."""
    rows = {"rows": [_without(row, left_out) for row in record["rows"]]} if "rows" in record else {}
    return {**{key: value for key, value in record.items() if key not in left_out}, **rows}


def _comes_back(record: dict[str, Any], line: bytes) -> bool:
    """Return whether a line is read back unchanged; answers in this process may hold values that JSON cannot."""
    try:
        return decode_line(line) == record
    except AdapterFault:
        return False


def _result_record(result: Result) -> dict[str, Any]:
    case = result.case
    record: dict[str, Any] = {"case": case.id, "operation": case.operation, "clauses": list(case.clauses)}
    record |= {"verdict": result.verdict.value, "file": case.file, "line": case.line}
    for key, effects in (("asks", result.asks), ("effects", result.effects)):
        if effects:
            record[key] = [effect.value for effect in effects]
    if result.verdict is Verdict.PASS:
        return {**record, "detail": result.detail} if result.detail else record
    record |= {"detail": result.detail, "why": case.why}
    if result.cause:
        record["cause"] = result.cause
    if result.expected and not result.rows:
        return record | _answer_record(result)
    rows = [
        {"row": row.case.row, "verdict": row.verdict.value, "line": row.case.line, "detail": row.detail}
        | _answer_record(row)
        for row in result.telling[:_ROWS]
    ]
    return {**record, "rows": rows}


def _answer_record(result: Result) -> dict[str, Any]:
    """Return the input, the expected outcome and the reply of a result."""
    record: dict[str, Any] = {"input": result.case.input, "expected": result.expected}
    if result.reply is not None and not isinstance(result.reply, Extract):
        record["reply"] = _reply_record(result.reply)
    if result.difference is not None:
        record["difference"] = _difference_record(result.difference)
    return record


def _reply_record(reply: Reply) -> dict[str, Any]:
    if isinstance(reply, Answer):
        return {"ok": reply.result}
    if isinstance(reply, Refused):
        return {"refused": {"reason": reply.reason, "message": reply.message}}
    return {"fault": asdict(reply)}


def _difference_record(difference: Difference) -> dict[str, Any]:
    """Return the place, and on each side the value there, if there is one."""
    sides = {"expected": difference.expected, "actual": difference.actual}
    return {"path": list(difference.path), **{side: value for side, value in sides.items() if value is not ABSENT}}


#: The beginning of a file that is compressed with gzip, as recordings may be.
_GZIP = b"\x1f\x8b"

_RECORDING = "compare recordings by tokspec diff"
_TOO_LARGE = "tokspec run --report writes no such report; run again"

_NumberedLine = tuple[int, dict[str, Any]]


@dataclass(frozen=True)
class Report:
    """A run as read from its report. Its cases have no model and no sources; passed cases have only their names."""

    file: str
    origin: Origin
    run: Run


def read_report(file: Path, name: str = "") -> Report:
    """Read one report; ``name`` is its name in messages.

    Raises:
        DataError: the first thing that is wrong with it, with file, line and key; also if it was cut off.
    """
    name = name or str(file)
    if read_at_most(file, name, len(_GZIP)).startswith(_GZIP):
        raise DataError(f"is compressed, and a report is not; decompress it, or {_RECORDING}", name)
    lines = list(_read_lines(read_bounded(file, name, LARGEST, _TOO_LARGE), name))
    if not lines:
        raise DataError("is empty; tokspec run --report writes a report", name)
    first = lines[0][1]
    if isinstance(first, dict) and "tokspec_recording" in first:
        raise DataError(f"is a recording and not a report; {_RECORDING}", name)
    if isinstance(first, dict) and isinstance(form := first.get("tokspec_report"), int) and form != FORMAT:
        raise DataError(f"is a report of form {form}, and this suite reads {FORMAT}; run again", name)
    _, header = _valid(lines[0], "header", name)
    if len(lines) == 1 or "counts" not in lines[-1][1]:
        what = f"after {len(lines) - 1} of {header['cases']} cases"
        raise DataError(f"ends {what} and without its counts: it was cut off; run again", name)
    results = tuple(_read_result(_valid(line, "result", name), name) for line in lines[1:-1])
    number, footer = _valid(lines[-1], "footer", name)
    run = Run(
        _read_hello(header["implementation"]),
        header["choices"],
        results,
        tuple(footer["problems"]),
        tuple(footer.get("faults", ())),
        header.get("like", ""),
    )
    counted = {verdict.value: count for verdict, count in run.counts.items()}
    same = counted == {**dict.fromkeys(counted, 0), **footer["counts"]} and run.is_green is footer["conforms"]
    if not same or len(results) != header["cases"]:
        raise DataError("has counts that do not match its lines; it was changed or cut; run again", name, number)
    if len({result.case.id for result in results}) < len(results):
        raise DataError("has a case twice; it was changed; run again", name)
    return Report(name, Origin(**{field.name: header[field.name] for field in fields(Origin)}), run)


def _read_lines(text: str, name: str) -> Iterator[_NumberedLine]:
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        try:
            yield number, decode_line(line.encode())
        except AdapterFault as fault:
            raise DataError(f"{fault.message}; was it cut off?", name, number) from None


def _valid(line: _NumberedLine, part: str, name: str) -> _NumberedLine:
    number, value = line
    for path, message in schema.errors(value, f"report/{part}"):
        raise DataError(message, name, number, ".".join(map(str, path)))
    return line


def _read_hello(value: Mapping[str, Any]) -> Hello:
    given: dict[str, Any] = {key: tuple(item) if isinstance(item, list) else item for key, item in value.items()}
    return Hello(**given)


def _read_result(line: _NumberedLine, name: str) -> Result:
    number, value = line
    known = load_specification().clauses
    for clause in value["clauses"]:
        if clause not in known:
            raise DataError(
                f"{clause} is not a clause of this version of the suite; use the version that wrote the report",
                name,
                number,
            )
    verdict = Verdict(value["verdict"])
    if verdict is not Verdict.PASS and "expected" not in value and "rows" not in value:
        raise DataError("lacks the key expected", name, number)
    case, detail, cause = _read_case(value), value.get("detail", ""), value.get("cause", "")
    asks, effects = (tuple(map(Effect, value.get(key, ()))) for key in ("asks", "effects"))
    told: dict[str, Any] = {"cause": cause, "asks": asks, "effects": effects}
    if not value.get("rows"):
        return replace(_read_answer(case, verdict, detail, value, (name, number)), **told)
    rows = tuple(_read_row(case, row, (name, number)) for row in value["rows"])
    return replace(rows[0], case=case, verdict=verdict, detail=detail, rows=rows, **told)


def _read_row(case: Case, value: Mapping[str, Any], place: tuple[str, int]) -> Result:
    row = replace(case, id=f"{case.id}#{value['row']}", input=value.get("input", {}), line=value["line"])
    return _read_answer(row, Verdict(value["verdict"]), value["detail"], value, place)


def _read_answer(case: Case, verdict: Verdict, detail: str, value: Mapping[str, Any], place: tuple[str, int]) -> Result:
    if "difference" in value and not _is_true(value):
        message = "is not the difference between the expected answer and the given one; the line was changed; run again"
        raise DataError(message, *place, "difference")
    difference = _read_difference(value["difference"]) if "difference" in value else None
    reply = _read_reply(value["reply"]) if "reply" in value else None
    return Result(case, verdict, detail, value.get("expected", {}), reply, difference)


def _is_true(value: Mapping[str, Any]) -> bool:
    """Return whether a difference fits its line: its values are at its place, as far as the answer was written."""
    said, expected = value["difference"], value.get("expected", {})
    sides = {"expected": expected.get("expect", expected.get("one_of", [None])[0])}
    if "reply" in value:
        sides["actual"] = value["reply"].get("ok")
    is_some = said["path"] and ("expected" in said or "actual" in said)
    return is_some and all(
        isinstance(side, dict) and _at(side, said["path"]) == said.get(name, ABSENT) for name, side in sides.items()
    )


def _at(value: Any, path: Sequence[str | int]) -> Any:
    """Return the value at a place; the placeholder if the place doesn't exist, as after the end of a list."""
    for part in path:
        if isinstance(value, dict) and isinstance(part, str):
            value = value.get(part, ABSENT)
        elif isinstance(value, list) and type(part) is int and 0 <= part < len(value):
            value = value[part]
        else:
            return ABSENT
    return value


def _read_case(value: Mapping[str, Any]) -> Case:
    return bare_case(
        value["case"],
        value["operation"],
        value.get("input", {}),
        clauses=tuple(value["clauses"]),
        why=value.get("why", ""),
        file=value["file"],
        line=value["line"],
    )


def _read_reply(value: Mapping[str, Any]) -> Reply:
    if "ok" in value:
        return Answer(value["ok"])
    return Refused(**value["refused"]) if "refused" in value else Fault(**value["fault"])


def _read_difference(value: Mapping[str, Any]) -> Difference:
    return Difference(tuple(value["path"]), value.get("expected", ABSENT), value.get("actual", ABSENT))
