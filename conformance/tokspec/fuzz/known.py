"""Findings that are known: they are about a clause of which a known failure or a recorded dissent tells already.

A known failure names a case, and a finding is never that very case; what both share is the clause and the verdict. A
finding of a clause that a listed case fails in the same manner, such as by a crash, is taken for the same fault seen
elsewhere, says so, and does not fail the run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from tokspec.adapter import Hello
from tokspec.data import specification_folder
from tokspec.fixtures import load_suite
from tokspec.fuzz.findings import Finding, Findings
from tokspec.known_failures import read_known_failures

__all__ = ["Known", "dissents", "known_clauses", "mark_known"]

Known: TypeAlias = Mapping[tuple[str, str], str]
"""What is known, by clause and verdict; an empty verdict stands for any."""

_ROW = re.compile(r"^\| (?P<who>[^|]+) \| (?P<clause>[A-Z0-9-]+) \| (?P<what>[^|]+) \|$", re.MULTILINE)


def dissents(hello: Hello) -> dict[tuple[str, str], str]:
    """Give what the specification records of an implementation, whatever the verdict.

    >>> ("WP-TRAIN-3", "") in dissents(Hello("tokenizers", "0.23.3", "Rust", ()))
    True
    """
    text = (specification_folder() / "08-choices.md").read_text("utf-8").partition("## Dissents")[2]
    rows = [match for match in _ROW.finditer(text) if f"{hello.name} {hello.version}" in match["who"].split(", ")]
    return {(match["clause"], ""): f"dissent: {match['what']}" for match in rows}


def known_clauses(file: Path | None, fixtures: Path | None = None) -> dict[tuple[str, str], str]:
    """Give the clauses of the cases that a file of known failures lists, with the first that fails with each verdict.

    Raises:
        DataError: the file is wrong.

    >>> known_clauses(None)
    {}
    """
    if file is None:
        return {}
    cases, found = load_suite(fixtures).cases, dict[tuple[str, str], str]()
    for case, entry in read_known_failures(file).entries.items():
        for clause in cases[case].clauses if case in cases else ():
            found.setdefault((clause, entry.verdict), case)
    return found


def mark_known(findings: Findings, known: Known) -> list[Finding]:
    """Mark every finding that is known, and give those that are not.

    A property that an example breaks which is known to differ from the oracle is the same fault once more.
    """
    for finding in findings:
        finding.known = _known(finding, known) or (_known(finding.oracle, known) if finding.oracle else "")
    return [finding for finding in findings if not finding.known]


def _known(finding: Finding, known: Known) -> str:
    found = known.get((finding.clause, finding.result.verdict.value)) or known.get((finding.clause, ""))
    return f"{finding.clause} ({found})" if found else ""
