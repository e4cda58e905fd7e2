"""What a file of known failures is to list after a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from tokspec.base.errors import DataError
from tokspec.judge.known_failures import KnownFailure, KnownFailures, digest, known_failures
from tokspec.judge.known_failures_text import Retired, flow, rewritten
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Verdict
from tokspec.suite.strict_yaml import parse_yaml

__all__ = ["UNEXPLAINED", "by_hand", "updated"]

#: The reason that a new entry gets; a person writes a better one.
UNEXPLAINED = "not explained yet"

#: Verdicts that may be listed, and are too serious to be listed unseen.
_BY_HAND = (Verdict.CRASH, Verdict.TIMEOUT, Verdict.PROTOCOL)

#: Verdicts after which nothing can be learned from a run, and what to do about them.
_INCONCLUSIVE = {
    **dict.fromkeys(_BY_HAND, "mend that, or list it by hand"),
    Verdict.STATE_LEAK: "mend that",
    Verdict.NOT_RUN: "run all cases that are selected",
}

#: Verdicts with which an entry is no longer true.
_OVER = {Verdict.UNEXPECTED_PASS: "passes now", Verdict.UNSUPPORTED: "is unsupported now"}


def updated(text: str, known: KnownFailures, run: Run, cases: Collection[str]) -> str:
    """Give the new text of the file.

    Entries of cases that were not run stay as they are. Of an entry that fails no longer, is not offered any more, or
    whose case is gone, a comment with its reason stays, unless nobody ever wrote one.

    Args:
        text: what the file holds now; empty where there is none.
        known: the same, as it was read for the run.
        run: a run with these known failures.
        cases: the ids of all cases of the suite.

    Raises:
        DataError: after a run in which something crashed, hung, broke the protocol or was not run; or the file was
            changed meanwhile, or is laid out so that its entries cannot be told apart.
    """
    _refuse_inconclusive(run, known)
    if _entries(text, known.file) != known.entries:
        raise DataError("is not updated: it was changed while the cases ran; run them again", known.file)
    over = _over(known, run, cases)
    wanted = _wanted(known, run, over)
    retired = [Retired(case, why, _written_reason(known.entries[case])) for case, why in over.items()]
    new = rewritten(text, known.file, wanted, retired)
    _refuse_other(new, known.file, wanted)
    return new


def by_hand(run: Run) -> list[str]:
    """Write an entry for each case that only a person may list, as a line of the file."""
    return [
        f"  - {flow(KnownFailure(result.case.id, result.verdict.value, digest(result), UNEXPLAINED))}"
        for result in run.results
        if result.verdict in _BY_HAND
    ]


def _refuse_inconclusive(run: Run, known: KnownFailures) -> None:
    for result in run.results:
        if result.verdict in _INCONCLUSIVE:
            what = f"{result.case.id} came to {result.verdict.value!r}; {_INCONCLUSIVE[result.verdict]}"
            raise DataError(f"is not updated: {what}", known.file)


def _entries(text: str, file: str) -> Mapping[str, KnownFailure]:
    return known_failures(parse_yaml(text, file)).entries if text else {}


def _over(known: KnownFailures, run: Run, cases: Collection[str]) -> Mapping[str, str]:
    """Say of which listed cases the entry is no longer true, and why."""
    now = {result.case.id: _OVER[result.verdict] for result in run.results if result.verdict in _OVER}
    gone = {case: "is no case of the suite any more" for case in known.entries if case not in cases}
    return {case: {**now, **gone}[case] for case in known.entries if case in now or case in gone}


def _written_reason(entry: KnownFailure) -> str:
    return "" if entry.reason == UNEXPLAINED else entry.reason


def _wanted(known: KnownFailures, run: Run, over: Collection[str]) -> Mapping[str, KnownFailure]:
    """Give the entries as they are to be: with what fails now, as it fails now."""
    wanted = {case: entry for case, entry in known.entries.items() if case not in over}
    for result in run.results:
        if result.verdict in (Verdict.FAIL, Verdict.ERROR):
            case, seen = result.case.id, {"verdict": result.verdict.value, "digest": digest(result)}
            old = wanted.get(case) or KnownFailure(case, reason=UNEXPLAINED, **seen)
            wanted[case] = replace(old, **seen)
    return wanted


def _refuse_other(text: str, file: str, wanted: Mapping[str, KnownFailure]) -> None:
    """Read what is about to be written: nothing that people wrote may be lost, however the file is laid out."""
    try:
        entries = _entries(text, file)
    except DataError as error:
        raise DataError(f"is not updated: it could not be read then ({error.message})", file) from None
    for case in sorted({*entries, *wanted}):
        before, after = wanted.get(case), entries.get(case)
        if before is None or after is None or replace(before, line=0) != replace(after, line=0):
            what = f"{case} would be read otherwise than it is meant; write its entry plainly, each value in one line"
            raise DataError(f"is not updated: {what}", file)
