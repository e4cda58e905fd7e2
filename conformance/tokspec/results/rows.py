"""The matrix: every implementation of a list judged by every case, and the result of each."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from tokspec.adapters.registry import FoundAdapter, find, known_names, open_session
from tokspec.base.display import visible
from tokspec.base.errors import AdapterFault, DataError
from tokspec.judge.judging import Terms, judge_implementation, keep_second, with_problems
from tokspec.judge.known_failures import KnownFailures, read_known_failures
from tokspec.judge.runner import Run, fail_at_start
from tokspec.judge.verdicts import Verdict, count_verdicts
from tokspec.report.markdown import escape_markup
from tokspec.sessions.limits import PATIENT, Limits
from tokspec.suite import schema
from tokspec.suite.cases import Suite
from tokspec.suite.specification import load_specification
from tokspec.suite.strict_yaml import Document, read_yaml


@dataclass(frozen=True)
class Listed:
    """An implementation of the list: an installed one or a command, and the file that has to be built for it.

    ``release`` is its name in ``NAME==VERSION``, ``home`` the address of its project; each is empty if there is none.
    ``adapter_by`` names who wrote the adapter.
    """

    impl: str | None
    command: str | None
    built: Path | None
    build: str
    known: KnownFailures
    engine: str = ""
    release: str = ""
    home: str = ""
    adapter_by: str = "tokspec"

    @property
    def name(self) -> str:
        """The name to use until the implementation has said its own."""
        return self.impl or self.command or ""

    def missing(self) -> str:
        """Say what has to be done before the implementation can be started; empty if nothing."""
        program = shlex.split(self.command)[0] if self.command else ""
        if program and "/" not in program and shutil.which(program) is None:
            return f"needs {program}"
        return f"is not built; {self.build}" if self.built and not self.built.exists() else ""


@dataclass(frozen=True)
class MatrixRow:
    """The result of one implementation: its run, or why there is none.

    ``flaky`` describes crashes and timeouts that did not occur again; the later answers count.
    """

    listed: Listed
    run: Run | None
    missing: str = ""
    flaky: tuple[str, ...] = ()


def read_list(file: Path) -> list[Listed]:
    """Read the implementations of a list such as ``conformance/adapters/adapters.yaml``.

    Raises:
        DataError: the first thing that is wrong with it, with file, line and key.
    """
    document = read_yaml(file)
    for path, message in schema.errors(document.value, "adapters"):
        raise document.error(path, message)
    return [_listed(document, index, file.resolve().parent) for index in range(len(document.value["adapters"]))]


def announced() -> list[Listed]:
    """Return what packages announce, except the reference; the suite's own adapters come with known failures."""
    return [_announced(find(name)) for name in known_names() if name != "reference"]


def _announced(found: FoundAdapter) -> Listed:
    package, _, name = found.target.partition(":")[0].rpartition(".")
    file = Path(str(files(package) / f"{name}.known-failures.yaml")) if package == "tokspec.published" else None
    known = read_known_failures(file) if file and file.is_file() else KnownFailures()
    return Listed(found.spec, None, None, "", known, adapter_by=found.target.partition(":")[0].partition(".")[0])


def _listed(document: Document, index: int, here: Path) -> Listed:
    raw: dict[str, Any] = document.value["adapters"][index]
    if ("impl" in raw) == ("command" in raw):
        raise document.error(("adapters", index), "needs impl or command, and not both")
    words = [word.replace("{here}", str(here)) for word in shlex.split(raw.get("command", ""))]
    known = here / raw["known_failures"] if "known_failures" in raw else None
    return Listed(
        impl=raw.get("impl"),
        command=shlex.join(words) if words else None,
        built=here / raw["built"] if "built" in raw else None,
        build=f"in {here}: {raw['build']}" if "build" in raw else "",
        known=read_known_failures(known) if known else KnownFailures(),
        engine=raw.get("engine", raw.get("impl", "")),
        release=raw.get("release", {}).get("name", ""),
        home=raw.get("home", ""),
        adapter_by=raw.get("adapter_by", "tokspec"),
    )


def matrix(
    listed: Sequence[Listed],
    suite: Suite,
    begin: Callable[[str], None] = lambda name: None,
    limits: Limits = PATIENT,
) -> Iterator[MatrixRow]:
    """Judge the implementations in turn by all cases, each with its own known failures.

    ``begin`` is called with the name of each implementation before it is judged.
    """
    for one in listed:
        begin(one.name)
        yield _row(one, suite, limits)


def _row(one: Listed, suite: Suite, limits: Limits) -> MatrixRow:
    missing = one.missing()
    if missing:
        return MatrixRow(one, None, missing)
    cases, flaky = list(suite.cases.values()), list[str]()
    try:
        judged = judge_implementation(
            lambda: open_session(one.impl, one.command, limits=limits),
            cases,
            Terms(known=one.known, names=suite.cases),
            flaky=lambda first, second: keep_second(first, second, flaky.append),
        )
    except AdapterFault as fault:
        judged = with_problems(fail_at_start(one.name, cases, fault), one.known.stale(suite.cases))
    except DataError as error:
        return MatrixRow(one, None, error.message)
    return MatrixRow(one, judged, flaky=tuple(flaky))


#: The verdicts that are counted after the chapters; an answer like the origin's counts as a known failure.
_COUNTED = ((Verdict.PASS,), (Verdict.KNOWN_FAILURE, Verdict.AS_ORIGIN), (Verdict.UNSUPPORTED,))


def text_matrix(rows: Sequence[MatrixRow]) -> Iterator[str]:
    """Return the lines: a row for each implementation, its choices, missing implementations, and what no cell shows."""
    table = [_head(), *(_cells(row.run) for row in rows if row.run)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        left, right = cells[:2], cells[2:]
        shown = [cell.ljust(width) for cell, width in zip(left, widths, strict=False)]
        yield "  ".join(shown + [cell.rjust(width) for cell, width in zip(right, widths[2:], strict=True)]).rstrip()
    yield f"\nchapters: {', '.join(_chapters())}; a cell is what passes of what is offered\n"
    yield from (f"{_name(row.run)} takes {_choices(row.run)}" for row in rows if row.run)
    yield from (f"{visible(row.listed.name)}: not available: {visible(row.missing)}" for row in rows if not row.run)
    for judged in (row.run for row in rows if row.run):
        yield from (f"{_name(judged)}: {visible(problem)}" for problem in judged.problems)
        yield from (f"{_name(judged)}, outside the cases: {visible(fault)}" for fault in judged.faults)
    for row in rows:
        yield from (f"{visible(row.listed.name)}: flaky: {visible(line)}" for line in row.flaky)


def markdown_matrix(rows: Sequence[MatrixRow]) -> Iterator[str]:
    """Return the same rows as a table in Markdown, with chapters by name."""
    names = [chapter.partition("-")[2].replace("-", " ") for chapter in _chapters()]
    head = [*_head()[:2], *names, *_head()[2 + len(names) :]]
    yield f"| {' | '.join(head)} |"
    yield "| --- | --- |" + " ---: |" * (len(head) - 2)
    yield from (f"| {' | '.join(map(escape_markup, _cells(row.run)))} |" for row in rows if row.run)
    for row in rows:
        if not row.run:
            yield f"\n{escape_markup(row.listed.name)}: not available: {escape_markup(row.missing)}"
    for judged in (row.run for row in rows if row.run):
        for fault in judged.faults:
            yield f"\n{escape_markup(_name(judged))}, outside the cases: {escape_markup(fault)}"


def _chapters() -> list[str]:
    """Name the chapters that apply to implementations, without the protocol's, which belong to no profile."""
    return list(dict.fromkeys(clause.chapter for clause in load_specification().clauses.values() if clause.profiles))


def _head() -> list[str]:
    chapters = [chapter.partition("-")[0] for chapter in _chapters()]
    return ["implementation", "language", *chapters, "pass", "known", "fail", "unsupported"]


def _cells(run: Run) -> list[str]:
    counts = run.counts
    passed, known, unsupported = (sum(counts[verdict] for verdict in verdicts) for verdicts in _COUNTED)
    sums = [passed, known, len(run.results) - passed - known - unsupported, unsupported]
    return [_name(run), visible(run.hello.language), *(_chapter(run, name) for name in _chapters()), *map(str, sums)]


def _chapter(run: Run, chapter: str) -> str:
    clauses = load_specification().clauses
    counts = count_verdicts(result for result in run.results if clauses[result.case.clauses[0]].chapter == chapter)
    asked = sum(counts.values()) - counts[Verdict.UNSUPPORTED]
    return f"{counts[Verdict.PASS]}/{asked}" if asked else "·"


def _name(run: Run) -> str:
    return visible(f"{run.hello.name} {run.hello.version}".strip())


def _choices(run: Run) -> str:
    defaults = load_specification().defaults()
    others = [f"{name}={option}" for name, option in run.choices.items() if option != defaults[name]]
    return visible(", ".join(others) or "every default")
