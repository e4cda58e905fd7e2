"""Writing a file of known failures anew after a run: sorted by case, with all that people wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass

from tokspec.errors import DataError
from tokspec.known_failures import KnownFailure, KnownFailures, digest
from tokspec.runner import Run
from tokspec.verdicts import Result, Verdict

__all__ = ["UNEXPLAINED", "updated"]

#: The reason that a new entry gets; a person writes a better one.
UNEXPLAINED = "not explained yet"

#: Verdicts after which nothing can be learned from a run.
_INCONCLUSIVE = (Verdict.CRASH, Verdict.TIMEOUT, Verdict.PROTOCOL, Verdict.NOT_RUN, Verdict.UNSTABLE)

_FIELD = re.compile(r"""(?P<before>(?:^|[\s{,])(?P<key>verdict|digest):\s+)(?:"[^"]*"|'[^']*'|[^\s,}]+)""")

_HEAD = "# Failures that are known; `tokspec run --update-known-failures` keeps this file.\nknown_failures:\n"


@dataclass
class _Entry:
    """The lines of one entry: the comments above it, and its own."""

    comments: list[str]
    own: list[str]


def updated(text: str, known: KnownFailures, run: Run, cases: Collection[str]) -> str:
    """Give the new text of the file.

    Entries of cases that were not run stay as they are. Of an entry that fails no longer, or whose case is gone, a
    comment with its reason stays, unless nobody ever wrote one.

    Args:
        text: what the file holds now; empty where there is none.
        known: the same, read.
        run: a run with these known failures.
        cases: the ids of all cases of the suite.

    Raises:
        DataError: after a run in which something crashed, hung, broke the protocol or was not run.
    """
    _refuse_inconclusive(run, known)
    head, entries, tail = _parts(text, known)
    for case in list(entries):
        if case not in cases:
            _retire(entries, tail, known, case, "is no case of the suite any more")
    for result in run.results:
        if result.verdict is Verdict.UNEXPECTED_PASS:
            _retire(entries, tail, known, result.case.id, "passes now")
        elif result.verdict in (Verdict.FAIL, Verdict.ERROR):
            entries[result.case.id] = _changed(entries.get(result.case.id), known.entries.get(result.case.id), result)
    lines = [line for case in sorted(entries) for line in (*entries[case].comments, *entries[case].own)]
    body = head if lines else head.replace("known_failures:\n", "known_failures: []\n")
    return body + "".join(f"{line}\n" for line in (*lines, *tail))


def _refuse_inconclusive(run: Run, known: KnownFailures) -> None:
    for result in run.results:
        if result.verdict in _INCONCLUSIVE:
            what = f"{result.case.id} came to {result.verdict.value!r}"
            raise DataError(f"is not updated: {what}; mend that, or list it by hand", known.file)


def _parts(text: str, known: KnownFailures) -> tuple[str, dict[str, _Entry], list[str]]:
    """Cut the text at its entries: what is above the first, each with the comments above it, and what follows."""
    if not known.entries:
        kept = "".join(f"{line}\n" for line in text.splitlines() if not line.startswith("known_failures:"))
        return (f"{kept}known_failures:\n" if text else _HEAD), {}, []
    lines = text.splitlines()
    starts = [entry.line - 1 for entry in known.entries.values()]
    head, above = _without_comments(lines[: starts[0]])
    entries: dict[str, _Entry] = {}
    for case, start, end in zip(known.entries, starts, [*starts[1:], len(lines)], strict=True):
        own, below = _without_comments(lines[start:end])
        entries[case] = _Entry(above, own)
        above = below
    return "".join(f"{line}\n" for line in head), entries, above


def _without_comments(lines: list[str]) -> tuple[list[str], list[str]]:
    """Cut off the comments and empty lines at the end."""
    end = len(lines)
    while end and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return lines[:end], lines[end:]


def _retire(entries: dict[str, _Entry], tail: list[str], known: KnownFailures, case: str, why: str) -> None:
    entry = entries.pop(case)
    comments = [line for line in entry.comments if line.strip()]
    reason = known.entries[case].reason
    tail += comments + ([] if reason == UNEXPLAINED else [f"  # {case} {why}; it was listed because: {reason}"])


def _changed(entry: _Entry | None, old: KnownFailure | None, result: Result) -> _Entry:
    """Give the entry of a case that is new, or fails otherwise than listed: only these two values change."""
    seen = {"verdict": result.verdict.value, "digest": digest(result)}
    if entry is None or old is None:
        fields = {"case": result.case.id, **seen, "reason": UNEXPLAINED}
        lines = [f"    {key}: {json.dumps(value)}" for key, value in fields.items()]
        return _Entry([], ["  - " + lines[0].lstrip(), *lines[1:]])
    own = [_FIELD.sub(lambda match: f"{match['before']}{json.dumps(seen[match['key']])}", line) for line in entry.own]
    return _Entry(entry.comments, own)
