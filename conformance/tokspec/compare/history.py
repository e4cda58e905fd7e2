"""The history of an implementation: the verdicts on every release, and what each one lost, gained and fixed.

The result of a case with a release is kept in the user's cache folder, under the release, the adapter and the case, so
that only new or changed cases are run.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from tokspec.adapters.programs import client_of, find_program, program_names
from tokspec.adapters.registry import (
    FoundAdapter,
    adapter_digest,
    find,
    find_reference,
    known_names,
    open_session,
    package_of,
)
from tokspec.adapters.versions import as_file_name, cache_folder
from tokspec.base.display import did_you_mean, escape, visible
from tokspec.base.errors import AdapterFault, DataError
from tokspec.base.files import write_whole
from tokspec.judge.judging import Terms, judge_implementation
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Verdict
from tokspec.report.changes import Change, cause_of, changes, group_changes, tell
from tokspec.report.ndjson import Report, ndjson, origin, read_report
from tokspec.sessions.limits import PATIENT
from tokspec.suite.cases import Case, Suite

_SECONDS = 120.0

#: The version of a final release, not of a release candidate.
_FINAL = re.compile(r"v?[0-9]+(\.[0-9]+)*(\.post[0-9]+)?")

#: The kinds of change that are shown for a release, with the words for them.
TOLD: Mapping[str, str] = {
    "new": "lost",
    "lost": "lost",
    "otherwise": "changed",
    "fixed": "fixed",
    "gained": "gained",
}


@dataclass(frozen=True)
class Release:
    """A release: its report, or why there is none, and what changed since the one before it that has a report.

    ``before`` is the version of that earlier release.
    """

    version: str
    report: Report | None
    fault: str = ""
    before: str = ""
    changes: tuple[Change, ...] = ()
    asked: int = 0

    def counts(self) -> Mapping[str, int]:
        """Count the cases that were lost, wrong in another way, fixed and gained."""
        return Counter(TOLD[change.kind] for change in self.changes if change.kind in TOLD)


def releases(name: str) -> list[str]:
    """Return all final releases of an implementation that its registry lists, the oldest first.

    Raises:
        DataError: there is no such implementation, or the registry's client lists none.
    """
    package, program = package_of(name), find_program(name)
    registry = "pypi"
    if not package and program:
        package, registry = program.package, program.registry
    if not package:
        names = [*filter(_has_releases, known_names()), *program_names()]
        advice = f"{did_you_mean(name, names)}there are {', '.join(names)}"
        raise DataError(f"is not a library whose releases can be listed; {advice}", key=escape(name))
    found = {version.removeprefix("v") for version in _LISTS[registry](package) if _FINAL.fullmatch(version)}
    return sorted(found, key=_order)


def _has_releases(name: str) -> bool:
    with suppress(DataError):
        return bool(package_of(name))
    return False


def _order(version: str) -> tuple[int, ...]:
    """Return the sort key of a release: its numbers.

    >>> sorted(["0.10.1", "0.9", "0.9.post1"], key=_order)
    ['0.9', '0.9.post1', '0.10.1']
    """
    return tuple(map(int, re.findall("[0-9]+", version)))


def _listed(command: Sequence[str], package: str) -> str:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DataError(f"its releases cannot be listed: {error}", key=package) from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "it does not say why").splitlines()[-1]
        raise DataError(f"its releases cannot be listed: {escape(said, 300)}", key=package)
    return done.stdout


def _of_pypi(package: str) -> Sequence[str]:
    command = (*_pip(package), "index", "versions", "--disable-pip-version-check", package)
    return re.findall(r"[^\s,]+", _listed(command, package).partition("Available versions:")[2].split("\n")[0])


def _pip(package: str) -> Sequence[str]:
    if find_spec("pip"):  # an environment that uv creates has none
        return sys.executable, "-m", "pip"
    if pip := shutil.which("pip"):
        return (pip,)
    if uv := shutil.which("uv"):
        return uv, "tool", "run", "pip"
    raise DataError("its releases cannot be listed without pip or uv", key=package)


def _of_npm(package: str) -> Sequence[str]:
    found = json.loads(_listed((client_of("npm", package), "view", package, "versions", "--json"), package))
    return [found] if isinstance(found, str) else list(found)


def _of_go(package: str) -> Sequence[str]:
    return _listed((client_of("go", package), "list", "-m", "-versions", package), package).split()[1:]


def _of_crates(package: str) -> Sequence[str]:
    raise DataError(f"cargo lists no releases; name them, as in {package}==1.2.3", key=package)


_LISTS: Mapping[str, Callable[[str], Sequence[str]]] = {
    "pypi": _of_pypi,
    "npm": _of_npm,
    "go": _of_go,
    "crate": _of_crates,
}


def history(name: str, versions: Sequence[str], suite: Suite) -> Iterator[Release]:
    """Judge releases in order, each with its changes since the last one before it that could be judged."""
    before: Release | None = None
    for version in versions:
        try:
            release = _judge(name, version, suite)
        except DataError as error:
            release = Release(version, None, str(error))
        if before and before.report and release.report:
            changed = tuple(changes(before.report, release.report))
            release = replace(release, before=before.version, changes=changed)
        before = release if release.report else before
        yield release


def _judge(name: str, version: str, suite: Suite) -> Release:
    spec = f"{name}=={version}"
    kept = _Kept(cache_folder().parent / "history" / f"{as_file_name(spec)}-{adapter_digest(name)}")
    results = kept.results(suite)
    cases = [case for case in suite.cases.values() if case.id not in results]
    if cases:
        judged = _run(find(spec), cases)
        results |= {result.case.id: result for result in judged.results}
        whole = replace(judged, results=tuple(results[case] for case in suite.cases))
        kept.write(whole, suite)
    return Release(version, kept.report(), asked=len(cases))


def _run(found: FoundAdapter, cases: Sequence[Case]) -> Run:
    """Judge a release; a crash or timeout that does not occur again is not blamed on the release."""
    try:
        return judge_implementation(
            lambda: open_session(found, None, limits=PATIENT),
            cases,
            Terms(),
            flaky=lambda first, second: second,
            reference=lambda: open_session(find_reference(), None),
        )
    except AdapterFault as fault:
        raise DataError(f"cannot be asked: {fault}", key=found.spec) from None


class _Kept:
    """The kept results of a release: a report, and the digest of each case that was run."""

    def __init__(self, place: Path) -> None:
        self._file = place.with_name(f"{place.name}.ndjson")
        self._digests = place.with_name(f"{place.name}.cases.json")

    def results(self, suite: Suite) -> dict[str, Any]:
        """Return the results of the cases that have not changed since they were run.

        If another version of the suite kept results that this one cannot read, the cases are run again.
        """
        if not self._digests.is_file():
            return {}
        then = json.loads(self._digests.read_text("utf-8"))
        try:
            kept = self.report()
        except DataError:
            return {}
        return {
            result.case.id: result
            for result in kept.run.results
            if result.case.id in suite.cases and then.get(result.case.id) == digest_of_case(suite.cases[result.case.id])
        }

    def report(self) -> Report:
        """Read the report."""
        return read_report(self._file)

    def write(self, judged: Run, suite: Suite) -> None:
        """Write the report of a run of all cases, and their digests; if the run was cut off, keep the earlier files."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._digests.unlink(missing_ok=True)
        command = f"tokspec history {judged.hello.name}"
        write_whole(self._file, b"".join(ndjson(judged, origin(command, command, suite.hash))))
        digests = {case.id: digest_of_case(case) for case in suite.cases.values()}
        write_whole(self._digests, json.dumps(digests))


def digest_of_case(case: Case) -> str:
    """Return 16 hexadecimal digits that identify the input of a case and its expected outcome."""
    asked = [(question.input, question.outcome) for question in case.questions]
    told = [case.operation, case.model.content, asked, case.clauses, case.tolerance]
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=dict).encode()).hexdigest()[:16]


def text_history(found: Iterable[Release], show: int) -> Iterator[str]:
    """Describe releases as they come, in lines: each one's result, and the first ``show`` causes that changed.

    Consecutive releases that could not be judged share one line.
    """
    for is_fault, releases in groupby(found, lambda release: release.report is None):
        if not is_fault:
            yield from chain.from_iterable(_text_release(release, show) for release in releases)
            continue
        first, *others = releases
        last = others[-1] if others else first
        which = f"{first.version} to {last.version}  {len(others) + 1} releases; the last: " if others else ""
        yield visible(f"{which}{last.fault}" if others else f"{first.version:<10}  {first.fault}")


def first_and_newest(found: Sequence[Release]) -> str:
    """Compare the first release with the newest in one line; empty if fewer than three were judged."""
    judged = [release for release in found if release.report]
    if len(judged) < 3:
        return ""
    first, newest = judged[0], judged[-1]
    assert first.report is not None
    assert newest.report is not None
    told = replace(newest, changes=tuple(changes(first.report, newest.report))).counts()
    changed = ", ".join(f"{told[what]} {what}" for what in dict.fromkeys(TOLD.values()) if told[what])
    return f"from {first.version} to {newest.version}: {changed or 'no case changed'}"


def _text_release(release: Release, show: int) -> Iterator[str]:
    assert release.report is not None
    counts, told = release.report.run.counts, release.counts()
    asked = len(release.report.run.results) - counts[Verdict.UNSUPPORTED] - counts[Verdict.NOT_RUN]
    changed = ", ".join(f"{told[what]} {what}" for what in dict.fromkeys(TOLD.values()) if told[what])
    changed = changed or ("nothing changed" if release.before else "no release before it was judged")
    yield visible(f"{release.version:<10}  {counts[Verdict.PASS]} of {asked} pass: {changed}")
    yield from (f"    does not conform: {visible(problem)}" for problem in release.report.run.problems)
    groups = group_changes(change for change in release.changes if change.kind in TOLD)
    for group in groups[:show]:
        yield f"    {tell(group, TOLD[group[0].kind])}"
    if more := groups[show:]:
        yield f"    … and {sum(map(len, more))} cases of {len(more)} other causes; --show {len(groups)} shows them all"


def json_history(found: Mapping[str, Sequence[Release]], suite: Suite) -> dict[str, Any]:
    """Return histories as a JSON value: for each release the counts of verdicts, and what changed, by cause."""
    told = [{"name": name, "releases": [*map(_json_release, releases)]} for name, releases in found.items()]
    return {"tokspec_history": 1, "fixtures": suite.hash, "implementations": told}


def _json_release(release: Release) -> dict[str, Any]:
    if release.report is None:
        return {"version": release.version, "fault": release.fault}
    counts = {verdict.value: count for verdict, count in release.report.run.counts.items() if count}
    groups = group_changes(change for change in release.changes if change.kind in TOLD)
    told = [
        {
            "change": TOLD[group[0].kind],
            "verdicts": group[0].verdicts,
            "cause": cause_of(group[0].told),
            "cases": [change.told.case.id for change in group],
        }
        for group in groups
    ]
    problems = {"problems": list(release.report.run.problems)} if release.report.run.problems else {}
    return {"version": release.version, "counts": counts, **problems, "changes": told}
