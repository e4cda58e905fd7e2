"""The changes from one run to another: case by case, and grouped by how cases changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tokspec.base.display import shorten, visible
from tokspec.judge.causes import without_particulars
from tokspec.judge.known_failures import digest
from tokspec.judge.verdicts import Result, Verdict
from tokspec.report.failure import listed_ids
from tokspec.report.ndjson import Report
from tokspec.report.text import headline

#: The kinds of change, worst first, with the description of each in a report.
KINDS: Mapping[str, str] = {
    "new": "no longer conforms, or is new and does not conform",
    "lost": "passed, and is now unsupported, a known failure or missing",
    "otherwise": "does not conform, as before, but has another answer",
    "fixed": "conforms now",
    "gained": "passes now",
    "stale": "is only in the older report",
    "added": "is only in the newer report, and conforms",
    "still failing": "does not conform, as before",
}

#: The kinds that make a comparison fail.
REGRESSIONS = ("new", "lost")

#: The verdicts of cases that pass, by the specification or as the origin.
_PASSES = (Verdict.PASS, Verdict.AS_ORIGIN)

#: The kind of which a report gives only the number.
_COUNTED = "still failing"


@dataclass(frozen=True)
class Change:
    """One case: the kind of change, and its results before and after; None if a report does not have the case."""

    kind: str
    old: Result | None
    new: Result | None

    @property
    def told(self) -> Result:
        """The result to show: the old one for a case that is fixed, gained or stale, else the new one, if it exists."""
        found = (self.old, self.new) if self.kind in ("fixed", "gained", "stale") else (self.new, self.old)
        return next(result for result in found if result)

    @property
    def verdicts(self) -> str:
        """The verdict before and after."""
        return " → ".join(result.verdict.value if result else "absent" for result in (self.old, self.new))

    def __str__(self) -> str:
        return f"{self.kind:<13}  {visible(self.told.case.id)}: {self.verdicts}"


def changes(old: Report, new: Report) -> list[Change]:
    """Return the cases that changed or still fail, by kind and then by id; cases that still conform are left out."""
    before = {result.case.id: result for result in old.run.results}
    after = {result.case.id: result for result in new.run.results}
    same = old.origin.fixtures == new.origin.fixtures
    pairs = [(before.get(case), after.get(case)) for case in sorted({*before, *after})]
    found = [Change(kind, *pair) for pair in pairs if (kind := kind_of(*pair, same))]
    return sorted(found, key=lambda change: list(KINDS).index(change.kind))


def new_problems(old: Report, new: Report) -> list[str]:
    """Return the complaints, other than failing cases, that only the newer run has."""
    return [problem for problem in new.run.complaints if problem not in old.run.complaints]


def kind_of(old: Result | None, new: Result | None, same_fixtures: bool = False) -> str:
    """Return the kind of a change, empty if nothing changed; with the same fixtures, no case can be stale."""
    if new is None:
        return "lost" if same_fixtures else "stale"
    if old is None:
        return "added" if new.verdict.conforms else "new"
    if not new.verdict.conforms:
        if old.verdict.conforms:
            return "new"
        return "still failing" if digest(old) == digest(new) else "otherwise"
    if not old.verdict.conforms:
        return "fixed"
    passed = old.verdict in _PASSES, new.verdict in _PASSES
    return {(True, False): "lost", (False, True): "gained"}.get(passed, "")


def group_changes(found: Iterable[Change]) -> list[list[Change]]:
    """Group changes with the same kind, cause and verdicts, by kind; the largest groups come first."""
    groups: dict[tuple[str, str, str], list[Change]] = {}
    for change in found:
        groups.setdefault((change.kind, change.verdicts, cause_of(change.told)), []).append(change)
    kinds = list(KINDS)
    return sorted(groups.values(), key=lambda group: (kinds.index(group[0].kind), -len(group)))


def cause_of(result: Result) -> str:
    """Return the cause of a result, or its detail without names and numbers; for a pass, its rule."""
    if result.verdict is Verdict.PASS:
        return f"by {result.case.clauses[0]}"
    return result.cause or without_particulars(result.detail)


def tell(group: Sequence[Change], kind: str = "") -> str:
    """Describe a group of changes in one line: the kind, or its name here, the verdicts, the cause and the cases."""
    first = group[0]
    cases = "" if len(group) == 1 else f"{len(group)} cases, "
    ids = listed_ids([change.told for change in group])
    return visible(f"{kind or first.kind:<13}  {cases}{first.verdicts}: {shorten(cause_of(first.told), 200)}: {ids}")


def lines(old: Report, new: Report, found: Sequence[Change]) -> Iterator[str]:
    """Return the comparison as text: how the two reports differ, the changes by cause, and how many of each kind."""
    for report in (old, new):
        yield visible(f"{report.file}: {headline(report.run)}")
    yield from _otherwise(old, new)
    yield from (tell(group) for group in group_changes(found) if group[0].kind != _COUNTED)
    counts = Counter(change.kind for change in found)
    yield from (f"{counts[kind]} {kind}: {what}" for kind, what in KINDS.items() if counts[kind])
    yield from (visible(f"new            the run: {problem}") for problem in new_problems(old, new))
    if not found:
        yield f"the same verdicts in all {len(new.run.results)} cases"


def _otherwise(old: Report, new: Report) -> Iterator[str]:
    if old.origin.suite != new.origin.suite:
        yield visible(f"the suite differs: {old.origin.suite} and {new.origin.suite}")
    if old.origin.fixtures != new.origin.fixtures:
        yield f"the fixtures differ: {old.origin.fixtures[:12]} and {new.origin.fixtures[:12]}"
    for name in sorted({*old.run.choices, *new.run.choices}):
        options = [report.run.choices.get(name, "none") for report in (old, new)]
        if options[0] != options[1]:
            yield visible(f"the choice {name} differs: {options[0]} and {options[1]}")
