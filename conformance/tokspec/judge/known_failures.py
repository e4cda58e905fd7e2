"""Known failures: a file that lists them, and its effect on a result.

The file is a ratchet. A listed case that fails in the listed way does not fail the run. A listed case does fail the run
if it passes, fails differently or is listed past its date, or if it no longer exists or is no longer offered. A file
with the key ``unsupported`` lists there every case that is not offered: any other unsupported case fails the run, and
so does a listed one that passes. Faults that no case can show are listed under ``faults``, and reported with the run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from tokspec.base.errors import DataError
from tokspec.judge.verdicts import Result, Verdict
from tokspec.protocol.messages import Answer, Fault, Refused
from tokspec.suite import schema
from tokspec.suite.origins import Origin, load_origin
from tokspec.suite.strict_yaml import Document, read_yaml

#: The conventional name of the file.
CONVENTIONAL_NAME = "tokspec-known-failures.yaml"

#: The reason of an entry that a run writes, until a person writes a better one.
UNEXPLAINED = "not explained yet"

#: Verdicts for which an entry is no longer needed.
_PASSES = {Verdict.PASS: "passes", Verdict.AS_ORIGIN: "passes as the origin"}

#: How many cases are named that are unsupported but not listed.
_NAMED = 10


@dataclass(frozen=True)
class KnownFailure:
    """One entry: a case, how it fails, why, and the last day on which that is accepted.

    With ``like``, it fails as that origin does, and the reason is the origin's.
    """

    case: str
    verdict: str
    digest: str
    reason: str
    link: str = ""
    like: str = ""
    expires: date | None = None
    line: int = 0

    def is_past(self, today: date) -> bool:
        """Return whether the entry is past its date."""
        return self.expires is not None and today > self.expires


@dataclass(frozen=True)
class KnownFailures:
    """The entries of one file by case; without a file there are none.

    ``not_offered`` has the line of every case that is listed as unsupported; None if the file has no such list.
    ``faults`` are faults of the implementation that no case can show, such as a hang or state between requests. For an
    ``origin``, the entries are all of its answers that are not as specified.
    """

    file: str = ""
    entries: Mapping[str, KnownFailure] = field(default_factory=dict)
    not_offered: Mapping[str, int] | None = None
    faults: tuple[str, ...] = ()
    origin: Origin | None = None

    def apply_to(self, result: Result, today: date) -> Result:
        """Apply the entry of a result's case, if there is one."""
        entry = self.entries.get(result.case.id)
        if self.origin and entry and result.verdict is Verdict.AS_ORIGIN:
            return replace(result, verdict=Verdict.KNOWN_FAILURE, detail=entry.reason)
        passes = _PASSES.get(result.verdict, "")
        if passes and result.case.id in (self.not_offered or ()):
            detail = f"{passes}, but {self._place(result.case.id)} lists it as unsupported"
            return replace(result, verdict=Verdict.UNEXPECTED_PASS, detail=detail)
        if entry is None or result.verdict in (Verdict.UNSUPPORTED, Verdict.NOT_RUN):
            return result
        place = f"{self.file}:{entry.line}"
        if passes:
            return replace(result, verdict=Verdict.UNEXPECTED_PASS, detail=f"{passes}, but {place} lists it as failing")
        if (result.verdict.value, digest(result)) != (entry.verdict, entry.digest):
            detail = f"{result.detail} (and not as {place} lists it)"
            return replace(result, detail=detail, listed=f"with another answer or verdict, at {place}")
        if entry.is_past(today):
            detail = f"{result.detail} (known until {entry.expires}, says {place})"
            return replace(result, detail=detail, listed=f"until {entry.expires}, at {place}")
        return replace(result, verdict=Verdict.KNOWN_FAILURE, detail=entry.reason)

    def stale(self, cases: Collection[str]) -> tuple[str, ...]:
        """Describe the entries that name none of these cases."""
        lines = {**{entry.case: entry.line for entry in self.entries.values()}, **(self.not_offered or {})}
        return tuple(
            f"{self.file}:{line}: {case} is not a case of the suite"
            for case, line in lines.items()
            if case not in cases
        )

    def expired(self, today: date) -> tuple[str, ...]:
        """Describe the entries that are listed past their date."""
        return tuple(
            f"{self.file}:{entry.line}: {entry.case} was known until {entry.expires}"
            for entry in self.entries.values()
            if entry.is_past(today)
        )

    def unsupported(self, results: Iterable[Result]) -> tuple[str, ...]:
        """Describe the entries of cases that are no longer offered, because no other result shows that they are stale.

        If the file lists the unsupported cases, also describe unsupported cases that are not listed.
        """
        found = [result.case.id for result in results if result.verdict is Verdict.UNSUPPORTED]
        listed = [
            f"{self._place(case)}: {case} is listed as failing, and is unsupported now; remove the entry"
            for case in found
            if case in self.entries
        ]
        if self.not_offered is not None:
            new = [case for case in found if case not in self.not_offered and case not in self.entries]
            listed += [f"{self.file}: {case} is unsupported, and not listed as such" for case in new[:_NAMED]]
            listed += [f"{self.file}: {len(new) - _NAMED} more are unsupported"] if len(new) > _NAMED else []
        return tuple(listed)

    def _place(self, case: str) -> str:
        lines = self.not_offered or {}
        return f"{self.file}:{self.entries[case].line if case in self.entries else lines[case]}"


def digest(result: Result) -> str:
    """Return 16 hexadecimal digits that identify how a case fails: its wrong answer, refusal reason, or kind of fault.

    The message of a crash or a timeout is left out, because it has addresses and times. In a table, every failing row
    counts.
    """
    rows = [[row.case.row, *_manner(row)] for row in result.rows if not row.verdict.conforms]
    text = json.dumps(rows or _manner(result), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _manner(result: Result) -> list[object]:
    """Return the verdict of a result, and how it fails."""
    reply = result.reply
    seen: object = None
    if isinstance(reply, Answer):
        seen = reply.result
    elif isinstance(reply, Refused | Fault):
        seen = reply.reason if isinstance(reply, Refused) else reply.kind
    return [result.verdict.value, seen]


def read_known_failures(file: Path, name: str = "") -> KnownFailures:
    """Read a file of known failures; ``name`` is its name in messages.

    Raises:
        DataError: the first thing that is wrong with it, with file, line and key.
    """
    return parse_known_failures(read_yaml(file, name))


def parse_known_failures(document: Document) -> KnownFailures:
    """Parse the entries of a document.

    Raises:
        DataError: the first thing that is wrong with it, with file, line and key.
    """
    for path, message in schema.errors(document.value, "known_failures"):
        raise document.error(path, message)
    entries: dict[str, KnownFailure] = {}
    for index, raw in enumerate(document.value["known_failures"]):
        entry = _entry(document, index, raw)
        if entry.case in entries:
            line = entries[entry.case].line
            raise document.error(("known_failures", index, "case"), f"{entry.case} is listed in line {line}; keep one")
        entries[entry.case] = entry
    faults = tuple(document.value.get("faults", ()))
    origin = _origin(document)
    of_origin = (
        {case: KnownFailure(case, "", "", answer.reason, line=1) for case, answer in origin.cases.items()}
        if origin
        else {}
    )
    return KnownFailures(document.file, {**of_origin, **entries}, _not_offered(document, entries), faults, origin)


def _origin(document: Document) -> Origin | None:
    if "origin" not in document.value:
        return None
    try:
        return load_origin(document.value["origin"])
    except DataError as error:
        raise document.error(("origin",), error.message) from None


def _reason_of(document: Document, path: tuple[str | int, ...], name: str, case: str) -> str:
    try:
        origin = load_origin(name)
    except DataError as error:
        raise document.error((*path, "like"), error.message) from None
    if case not in origin.cases:
        raise document.error((*path, "like"), f"{origin} answers {case} as specified; give the reason instead")
    return f"as {origin}: {origin.cases[case].reason}"


def _not_offered(document: Document, entries: Collection[str]) -> Mapping[str, int] | None:
    if "unsupported" not in document.value:
        return None
    lines: dict[str, int] = {}
    for index, case in enumerate(document.value["unsupported"]):
        if case in entries:
            raise document.error(("unsupported", index), f"{case} is listed as failing too; keep one")
        lines[case] = document.lines["unsupported", index]
    return lines


def _entry(document: Document, index: int, raw: Mapping[str, Any]) -> KnownFailure:
    path = ("known_failures", index)
    try:
        expires = date.fromisoformat(raw["expires"]) if "expires" in raw else None
    except ValueError:
        message = f"{raw['expires']!r} is not a date; write it as 2030-12-31"
        raise document.error((*path, "expires"), message) from None
    given = {key: raw[key] for key in ("case", "verdict", "digest", "reason", "link", "like") if key in raw}
    if "like" in raw:
        given["reason"] = _reason_of(document, path, raw["like"], raw["case"])
    return KnownFailure(**given, expires=expires, line=document.lines[path])
