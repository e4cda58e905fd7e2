"""Every implementation of a list judged by every case: which are there, and what each comes to."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokspec.adapters.registry import open_session
from tokspec.base.errors import AdapterFault, DataError
from tokspec.judge.known_failures import KnownFailures, read_known_failures
from tokspec.judge.runner import Run, fault_at_start, run
from tokspec.suite import schema
from tokspec.suite.fixtures import Suite
from tokspec.suite.strict_yaml import Document, read_yaml

__all__ = ["Listed", "Row", "matrix", "read_list"]


@dataclass(frozen=True)
class Listed:
    """An implementation of the list: an installed one or a command, and the file that must have been built."""

    impl: str | None
    command: str | None
    built: Path | None
    build: str
    known: KnownFailures

    @property
    def name(self) -> str:
        """What it is called before it has said its own name."""
        return self.impl or self.command or ""

    def missing(self) -> str:
        """Say what has to be done before it can be started; nothing if it is there."""
        program = shlex.split(self.command)[0] if self.command else ""
        if program and "/" not in program and shutil.which(program) is None:
            return f"needs {program}"
        return f"is not built; {self.build}" if self.built and not self.built.exists() else ""


@dataclass(frozen=True)
class Row:
    """What became of one implementation: its run, or why there is none."""

    listed: Listed
    run: Run | None
    missing: str = ""


def read_list(file: Path) -> list[Listed]:
    """Read the implementations of a list such as ``conformance/adapters/adapters.yaml``.

    Raises:
        DataError: the first thing that is wrong with it, with file, line and key.
    """
    document = read_yaml(file)
    for path, message in schema.errors(document.value, "adapters"):
        raise document.error(path, message)
    return [_listed(document, index, file.resolve().parent) for index in range(len(document.value["adapters"]))]


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
    )


def matrix(listed: Sequence[Listed], suite: Suite, progress: Callable[[Row], None] = lambda row: None) -> Iterator[Row]:
    """Judge one implementation after the other by all cases, each against its known failures."""
    for one in listed:
        row = _row(one, suite)
        progress(row)
        yield row


def _row(one: Listed, suite: Suite) -> Row:
    missing = one.missing()
    if missing:
        return Row(one, None, missing)
    cases = list(suite.cases.values())
    try:
        with open_session(one.impl, one.command) as session:
            judged = run(session, cases, known=one.known)
    except AdapterFault as fault:
        judged = fault_at_start(one.name, cases, fault)
    except DataError as error:
        return Row(one, None, error.message)
    return Row(
        one, Run(judged.hello, judged.choices, judged.results, (*judged.problems, *one.known.stale(suite.cases)))
    )
