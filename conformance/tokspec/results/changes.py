"""What releases of libraries changed, collected from release notes, merged changes and published sources.

``changes.yaml`` was written without sight of cases and results: each change has its release, its thread, and the
clauses that it concerns, if the specification has a rule about it. The site shows them, and
``conformance/history/measure.py`` measures how many of them the cases notice.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tokspec.suite.strict_yaml import read_yaml

#: In the checkout, and in the installed package.
FILE = Path(__file__).parent / "changes.yaml"


@dataclass(frozen=True)
class LibraryChange:
    """A change of behavior: which release of a library made it, and the ids of the clauses that have a rule for it.

    ``thread`` is the address of the discussion, or empty; ``why`` says why there is a rule, or why there is none.
    """

    library: str
    release: str
    text: str
    thread: str
    clauses: tuple[str, ...]
    why: str


def read_changes() -> list[LibraryChange]:
    """Return all changes, by library, in the order of its releases.

    >>> [change.release for change in read_changes() if "breaks word_ids" in change.text]
    ['0.23.1']
    """
    return [
        LibraryChange(
            library=row["library"],
            release=row["release"],
            text=row["change"],
            thread=row.get("thread", ""),
            clauses=tuple(clause.strip() for clause in row.get("clause", "").split(",") if clause.strip()),
            why=row["why"],
        )
        for row in read_yaml(FILE).value["changes"]
    ]
