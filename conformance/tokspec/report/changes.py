"""What changed from one run to another, case by case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tokspec.base.display import visible
from tokspec.judge.verdicts import Result, Verdict
from tokspec.report.ndjson import Report
from tokspec.report.text import headline

#: The kinds of change, the worst first, with what a reader is told of each.
KINDS: Mapping[str, str] = {
    "new": "does not conform any more, or is new and does not",
    "lost": "passed, and is unsupported, a known failure or not there now",
    "still failing": "does not conform, as before",
    "fixed": "conforms now",
    "gained": "passes now",
    "stale": "is in the older report alone",
    "added": "is in the newer report alone, and conforms",
}

#: The kinds that make a comparison fail.
REGRESSIONS = ("new", "lost")


@dataclass(frozen=True)
class Change:
    """One case: the kind of change, and its results before and after; None where a report does not have it."""

    kind: str
    old: Result | None
    new: Result | None

    def __str__(self) -> str:
        either = self.new or self.old
        before, after = (result.verdict.value if result else "absent" for result in (self.old, self.new))
        return f"{self.kind:<13}  {visible(either.case.id) if either else ''}: {before} → {after}"


def changes(old: Report, new: Report) -> list[Change]:
    """Return what changed, and what still fails, by kind and then by id; what conforms in the same way is left out."""
    before = {result.case.id: result for result in old.run.results}
    after = {result.case.id: result for result in new.run.results}
    same = old.origin.fixtures == new.origin.fixtures
    pairs = [(before.get(case), after.get(case)) for case in sorted({*before, *after})]
    found = [Change(kind, *pair) for pair in pairs if (kind := kind_of(*pair, same))]
    return sorted(found, key=lambda change: list(KINDS).index(change.kind))


def kind_of(old: Result | None, new: Result | None, same_fixtures: bool = False) -> str:
    """Return the kind of a change, empty if there is none; a case that is in both fixtures cannot be stale."""
    if new is None:
        return "lost" if same_fixtures else "stale"
    if old is None:
        return "added" if new.verdict.conforms else "new"
    if not new.verdict.conforms:
        return "new" if old.verdict.conforms else "still failing"
    if not old.verdict.conforms:
        return "fixed"
    passed = old.verdict is Verdict.PASS, new.verdict is Verdict.PASS
    return {(True, False): "lost", (False, True): "gained"}.get(passed, "")


def lines(old: Report, new: Report, found: Sequence[Change]) -> Iterator[str]:
    """Return the comparison as text: how the two reports differ, the changes, and how many there are of each kind."""
    for report in (old, new):
        yield visible(f"{report.file}: {headline(report.run)}")
    yield from _otherwise(old, new)
    yield from map(str, found)
    counts = Counter(change.kind for change in found)
    yield from (f"{counts[kind]} {kind}: {what}" for kind, what in KINDS.items() if counts[kind])
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
