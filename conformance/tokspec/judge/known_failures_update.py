"""Updating the text of a file of known failures after a run.

The new text is sorted by case, and keeps what people wrote where they wrote it. ``tokspec.cli.known`` writes the file.
A library that keeps comments does not suffice: ruamel.yaml attaches the comment above an entry to the entry before it,
so that sorting moves it to another case, and it realigns values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tokspec.base.display import compact, visible
from tokspec.base.errors import DataError
from tokspec.judge.known_failures import UNEXPLAINED, KnownFailure, KnownFailures, digest, parse_known_failures
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Verdict
from tokspec.suite.strict_yaml import Document, parse_yaml

#: Verdicts that are listed only on request, because they are too serious to be listed unseen.
CRASHES = (Verdict.CRASH, Verdict.TIMEOUT, Verdict.PROTOCOL)

#: Verdicts that make a run useless for an update, and what to do about them.
_INCONCLUSIVE = {
    Verdict.STATE_LEAK: "fix that first",
    Verdict.NOT_RUN: "run all cases that are selected",
}

#: Verdicts that make an entry obsolete.
_OVER = {Verdict.UNEXPECTED_PASS: "passes now", Verdict.UNSUPPORTED: "is unsupported now"}


def update_known_failures(
    text: str, known: KnownFailures, run: Run, cases: Collection[str], *, crashes: bool = False
) -> str:
    """Return the new text of the file.

    Entries of cases that were not run stay as they are. If a case no longer fails, is no longer offered or no longer
    exists, its entry becomes a comment with its reason, unless nobody ever wrote one.

    Args:
        text: the present text of the file; empty if there is none.
        known: the entries of the file, as they were read for the run.
        run: a run with these known failures.
        cases: the ids of all cases of the suite.
        crashes: whether to list cases that crashed, hung or broke the protocol, too; cases that are not listed fail
            from then on.

    Raises:
        DataError: after a run in which something was not run, or leaked state, or every case crashed; or the file was
            changed meanwhile, or is laid out so that its entries cannot be told apart.
    """
    _refuse_inconclusive(run, known)
    before = parse_known_failures(parse_yaml(text, known.file)) if text else KnownFailures()
    if (before.entries, before.not_offered) != (known.entries, known.not_offered):
        raise DataError("is not updated: it was changed while the cases ran; run them again", known.file)
    over = _over(known, run, cases)
    wanted = _wanted(known, run, over, (Verdict.FAIL, Verdict.ERROR, *(CRASHES if crashes else ())))
    retired = [Retired(case, why, _written_reason(known.entries[case])) for case, why in over.items()]
    without, block = _cut_out_unsupported(text)
    new = block.put_back(rewrite(without, known.file, wanted, retired), _not_offered(known, run, cases), known.file)
    _refuse_other(new, known.file, wanted)
    return new


def _refuse_inconclusive(run: Run, known: KnownFailures) -> None:
    for result in run.results:
        if result.verdict in _INCONCLUSIVE:
            what = f"{result.case.id} came to {result.verdict.value!r}; {_INCONCLUSIVE[result.verdict]}"
            raise DataError(f"is not updated: {what}", known.file)
    if run.results and all(result.verdict in CRASHES for result in run.results):
        what = "every result is a crash, a time-out or a broken message, and a list of those alone is worth nothing"
        raise DataError(f"is not updated: {what}, with --list-crashes too; fix that first", known.file)


def _entries(text: str, file: str) -> Mapping[str, KnownFailure]:
    return parse_known_failures(parse_yaml(text, file)).entries if text else {}


def _over(known: KnownFailures, run: Run, cases: Collection[str]) -> Mapping[str, str]:
    """Return the listed cases whose entry is obsolete, with the reason."""
    now = {result.case.id: _OVER[result.verdict] for result in run.results if result.verdict in _OVER}
    gone = {case: "is no longer a case of the suite" for case in known.entries if case not in cases}
    return {case: {**now, **gone}[case] for case in known.entries if case in now or case in gone}


def _not_offered(known: KnownFailures, run: Run, cases: Collection[str]) -> list[str] | None:
    """Return the cases to list as unsupported, sorted; None if the file has no such list."""
    if known.not_offered is None:
        return None
    verdicts = {result.case.id: result.verdict for result in run.results}
    listed = {*known.not_offered} & {*cases}
    still = {case for case in listed if verdicts.get(case, Verdict.UNSUPPORTED) is Verdict.UNSUPPORTED}
    return sorted(still | {case for case, verdict in verdicts.items() if verdict is Verdict.UNSUPPORTED})


def _written_reason(entry: KnownFailure) -> str:
    return "" if entry.reason == UNEXPLAINED else entry.reason


def _wanted(
    known: KnownFailures, run: Run, over: Collection[str], listed: Collection[Verdict]
) -> Mapping[str, KnownFailure]:
    """Return the new entries, including cases that now fail with a verdict to list, as they now fail."""
    wanted = {case: entry for case, entry in known.entries.items() if case not in over}
    for result in run.results:
        if result.verdict in listed:
            case, verdict, seen = result.case.id, result.verdict.value, digest(result)
            old = wanted.get(case) or KnownFailure(case, verdict, seen, UNEXPLAINED)
            wanted[case] = replace(old, verdict=verdict, digest=seen)
    return wanted


def _refuse_other(text: str, file: str, wanted: Mapping[str, KnownFailure]) -> None:
    """Check the text before it is written, because nothing that people wrote may be lost, whatever the layout."""
    try:
        entries = _entries(text, file)
    except DataError as error:
        raise DataError(f"is not updated: it could not be read then ({error.message})", file) from None
    for case in sorted({*entries, *wanted}):
        before, after = wanted.get(case), entries.get(case)
        if before is None or after is None or replace(before, line=0) != replace(after, line=0):
            what = f"{case} would not be read as it is meant; write its entry plainly, each value in one line"
            raise DataError(f"is not updated: {what}", file)


_BEGUN = "# Failures that are known; --update-known-failures keeps this file.\nknown_failures: []\n"

#: The only two values that a run changes.
_SEEN = ("verdict", "digest")

_KEY = re.compile(r"""( *(?:known_failures|"known_failures"|'known_failures') *:)(?: +\[ *\])?( +#.*)? *""")
_ITEM = re.compile(r"( *)- +[^ #]")
_LISTED = re.compile(r""" *- +["']?([a-z0-9-]+)["']? *(?: #.*)?""")
_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*(?P<comment>.*)\n")


@dataclass(frozen=True)
class Retired:
    """A case that is no longer listed, why, and the reason in its entry, if anybody wrote one."""

    case: str
    why: str
    reason: str


@dataclass(frozen=True)
class _Entry:
    """The lines of one entry: the comments above it, and its own."""

    comments: list[str]
    own: list[str]


@dataclass(frozen=True)
class _Layout:
    """The lines of a file, split at its entries; ``key`` is the list's first line, ``indent`` what precedes a dash."""

    head: list[str]
    key: re.Match[str]
    entries: dict[str, _Entry]
    tail: list[str]
    indent: str


@dataclass(frozen=True)
class _Unsupported:
    """The lines of the list of unsupported cases, and their place in the file; -1 means after the entries."""

    lines: list[str]
    at: int

    def put_back(self, text: str, cases: Sequence[str] | None, file: str) -> str:
        """Insert the updated list into a text; the lines of cases that stay are not changed.

        Raises:
            DataError: the list has comments, and its cases are not on separate lines.
        """
        if cases is None:
            return text
        old, above = dict[str, list[str]](), list[str]()
        for line in self.lines[1:]:
            above.append(line)
            if match := _LISTED.fullmatch(line):
                old[match[1]], above = above, []
        commented = [line for line in self.lines if line.lstrip().startswith("#") or " #" in line]
        if commented and (not old or not re.fullmatch(r"unsupported:( +#.*)?", self.lines[0])):
            raise DataError("is not updated: write each case of `unsupported` in a line of its own", file)
        written = [line for case in cases for line in old.get(case, [f'  - "{case}"'])]
        comment = self.lines[0].partition(" #")
        key = f"unsupported:{'' if cases else ' []'}{comment[1]}{comment[2]}"
        lines = text.splitlines()
        at = len(lines) if self.at < 0 else self.at
        return "".join(f"{line}\n" for line in (*lines[:at], key, *written, *above, *lines[at:]))


def _cut_out_unsupported(text: str) -> tuple[str, _Unsupported]:
    """Split the text into the list of unsupported cases, which may be empty, and the rest."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith("unsupported:")), len(lines))
    keys = [number for number, line in enumerate(lines) if number > start and re.match(r"[A-Za-z\"']", line)]
    end = next(iter(keys), len(lines))
    rest = [*lines[:start], *lines[end:]]
    at = start if end < len(lines) else -1
    return "".join(f"{line}\n" for line in rest), _Unsupported(lines[start:end], at)


def rewrite(text: str, file: str, wanted: Mapping[str, KnownFailure], retired: Sequence[Retired]) -> str:
    """Return the text with the wanted entries; in existing ones, only the verdict and the digest are changed.

    Args:
        text: the well-formed text of the file; empty if there is none.
        file: the file's name in errors.
        wanted: all entries that it should have.
        retired: entries that become comments at the end.

    Raises:
        DataError: the entries are not on separate lines.

    >>> rewrite("known_failures: []  # at last", "x", {"a": KnownFailure("a", "fail", "0", "?")}, [])
    'known_failures:  # at last\\n  - case: "a"\\n    verdict: "fail"\\n    digest: "0"\\n    reason: "?"\\n'
    """
    text = text or _BEGUN
    text = _with_what_was_seen(text, parse_yaml(text, file), wanted)
    layout = _layout(text, parse_yaml(text, file))
    lines: list[str] = []
    for case in sorted(wanted):
        entry = layout.entries.get(case) or _new(wanted[case], layout.indent)
        lines += [*entry.comments, *entry.own]
    for one in retired:
        layout.tail.extend(line for line in layout.entries[one.case].comments if line.strip())
        if one.reason:
            comment = f"# {visible(one.case)} {one.why}; it was listed because: {compact(one.reason)}"
            layout.tail.append(layout.indent + comment)
    key = f"{layout.key[1]}{'' if lines else ' []'}{layout.key[2] or ''}"
    return "".join(f"{line}\n" for line in (*layout.head, key, *lines, *layout.tail))


def _fields(entry: KnownFailure) -> list[str]:
    return [f"{key}: {compact(getattr(entry, key))}" for key in ("case", *_SEEN, "reason")]


def _new(entry: KnownFailure, indent: str) -> _Entry:
    first, *others = _fields(entry)
    return _Entry([], [f"{indent}- {first}", *(f"{indent}  {field}" for field in others)])


def _with_what_was_seen(text: str, document: Document, wanted: Mapping[str, KnownFailure]) -> str:
    """Replace verdicts and digests that have changed, from the last to the first, so that no place moves."""
    places: list[tuple[int, int, str]] = []
    for index, raw in enumerate(document.value["known_failures"]):
        for key in _SEEN:
            value = getattr(wanted.get(raw["case"]), key, raw[key])
            if value != raw[key]:
                places.append((*document.spans["known_failures", index, key], value))
    for start, end, value in sorted(places, reverse=True):
        block = _BLOCK_SCALAR.match(text[start:end])
        text = text[:start] + json.dumps(value) + (f"{block['comment']}\n" if block else "") + text[end:]
    return text


def _layout(text: str, document: Document) -> _Layout:
    lines = text.splitlines()
    cases = [raw["case"] for raw in document.value["known_failures"]]
    starts = [document.lines["known_failures", index] - 1 for index in range(len(cases))]
    # Without entries, the list is a pair of brackets, and comments below it stay there.
    top = starts[0] if cases else document.lines["known_failures",]
    head, above = _cut(lines[:top], 0 if cases else top)
    key = _KEY.fullmatch(head[-1]) if head else None
    items = [_ITEM.match(lines[start]) for start in starts]
    if key is None or None in items:
        what = "begin a line with `known_failures:`, and one below it with `- case:` for each entry"
        line = starts[items.index(None)] + 1 if None in items else top
        raise DataError(f"is not updated: its list is not in lines; {what}", document.file, line)
    entries: dict[str, _Entry] = {}
    for index, (case, start) in enumerate(zip(cases, starts, strict=True)):
        own, below = _cut(lines[start : [*starts, len(lines)][index + 1]], _height(text, document, index) - start)
        entries[case] = _Entry(above, own)
        above = below
    tail = above if cases else lines[top:]
    return _Layout(head[:-1], key, entries, tail, items[0][1] if items and items[0] else "  ")


def _height(text: str, document: Document, index: int) -> int:
    """Return the number of lines down to the last value of an entry, whose text may look like comments."""
    keys = document.value["known_failures"][index]
    last = max(document.spans["known_failures", index, key][1] for key in keys)
    return text.count("\n", 0, last - 1) + 1


def _cut(lines: list[str], least: int) -> tuple[list[str], list[str]]:
    """Cut off the comments and empty lines at the end, but leave ``least`` lines at the beginning."""
    end = len(lines)
    while end > least and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return lines[:end], lines[end:]
