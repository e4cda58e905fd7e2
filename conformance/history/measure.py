"""How well the suite sees what releases change: of the changes that release notes tell of, how many turned a case.

``tokspec/results/changes.yaml`` has every change of behavior that was found in the release notes and merged changes of
some libraries, and the clauses that have a rule for it. It was written without sight of cases and results, and
before any release was judged by this program. A change is noticed if a case of one of its clauses came to another
verdict, or was answered otherwise, than with the release before it.

    python conformance/history/measure.py [LIBRARY ...]

A change whose release cannot be had, or that has no release before it which can, is not judged. It needs the clients
of the registries and minutes: each release is made and judged once, and kept.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from tokspec.base.errors import DataError
from tokspec.compare.history import TOLD, Release, history, releases
from tokspec.results.changes import LibraryChange, read_changes
from tokspec.suite.cases import Suite
from tokspec.suite.fixtures import load_suite

#: What an implementation is called here, if it is not called as its library.
NAMES = {"sugarme/tokenizer": "sugarme"}

#: The releases of what no client lists, or not whole.
LISTED: Mapping[str, Sequence[str]] = {
    "kitoken": ("0.10.0", "0.10.1", "0.11.0", "0.11.1"),
    "sugarme": ("0.2.0", "0.2.1", "0.2.2", "0.3.0"),
}


def judged_releases(name: str, changes: Sequence[LibraryChange], suite: Suite) -> dict[str, Release]:
    """Judge the releases that changes are told of, each with the one before it."""
    every = list(LISTED.get(name) or releases(name))
    told = {change.release for change in changes if change.clauses}
    wanted = [each for place, each in enumerate(every) if told & {each, *every[place + 1 : place + 2]}]
    found = {}
    for release in history(name, wanted, suite):
        print(f"  {release.version}: {release.fault or 'judged'}", file=sys.stderr, flush=True)
        found[release.version] = release
    return found


def turned(change: LibraryChange, release: Release) -> Iterator[str]:
    """Return the cases of a change's clauses that turned with its release."""
    for each in release.changes:
        if each.kind not in TOLD:  # it fails as before
            continue
        case = each.told.case
        if {*change.clauses} & {*case.clauses}:
            yield case.id


def main(names: Sequence[str]) -> int:
    """Print a line for each change that no case noticed, or that could not be asked, and the table."""
    suite, rows = load_suite(), []
    by_library = sorted(read_changes(), key=lambda change: change.library)
    for name, changes in ((name, list(group)) for name, group in groupby(by_library, lambda change: change.library)):
        if names and name not in names:
            continue
        print(name, file=sys.stderr)
        try:
            found = judged_releases(NAMES.get(name, name), changes, suite)
        except DataError as error:
            print(f"{name}: {error}")
            continue
        within = [change for change in changes if change.clauses]
        judged = [change for change in within if (release := found.get(change.release)) and release.before]
        seen = 0
        for change in within:
            release = found.get(change.release)
            cases = list(turned(change, release)) if release else []
            seen += bool(cases)
            how = f"{len(cases)} cases, such as {cases[0]}" if cases else "NOT SEEN"
            said = how if change in judged else "NOT JUDGED"
            print(f"{name} {change.release}  {said}  ({', '.join(change.clauses)}) {change.text}")
        rows.append((name, len(changes), len(within), len(judged), seen))
    print("\n| library | changes | within | judged | noticed |\n| --- | ---: | ---: | ---: | ---: |")
    for row in [*rows, ("all", *(sum(row[column] for row in rows) for column in range(1, 5)))]:
        print(f"| {' | '.join(map(str, row))} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
