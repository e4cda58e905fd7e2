"""The chapters of ``spec/`` as values: clauses, choices, reasons, documents, errata.

The Markdown is the source; this module reads the few forms that it uses: headings of the third level, tables, and
paragraphs. Whatever doesn't fit is a :class:`~tokspec.base.errors.DataError` with its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from tokspec.base.errors import DataError
from tokspec.base.paths import specification_folder

__all__ = ["Choice", "Clause", "Erratum", "Specification", "load_specification"]

LEVELS = ("MUST", "SHOULD", "MAY", "RETIRED")

_CLAUSE = re.compile(r"([A-Z][A-Z0-9]*(?:-[A-Z]+)*-\d+) \((\w+)\)")
_CHOICE = re.compile(r"[a-z][a-z_]*")
_ERRATUM = re.compile(r"E-\d+")
_ERRATUM_FIELDS = ("where", "stated", "right", "why")
_LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")


@dataclass(frozen=True)
class Clause:
    """One rule: its permanent id, level, text, source, and the chapter that it stands in."""

    id: str
    level: str
    text: str
    source: str
    chapter: str
    line: int


_Entry = TypeVar("_Entry", Clause, "Choice", "Erratum")


@dataclass(frozen=True)
class Choice:
    """A named choice: its question, and its options with their rules. ``default`` is the documents' option."""

    name: str
    question: str
    options: Mapping[str, str]
    default: str


@dataclass(frozen=True)
class Erratum:
    """One entry of the errata: where, what is stated, what is right, and why."""

    id: str
    fields: Mapping[str, str]


@dataclass(frozen=True)
class Specification:
    """Everything that the chapters define, in their order.

    >>> specification = load_specification()
    >>> specification.clauses["BPE-TRAIN-7"].text
    'The pair with the highest count is merged next.'
    >>> specification.choices["bpe_training_tie"].default
    'first_met'
    >>> specification.documents["bpe"]
    '001_0b94b5ed4e67ee14.plain.txt'
    """

    clauses: Mapping[str, Clause]
    choices: Mapping[str, Choice]
    reasons: tuple[str, ...]
    documents: Mapping[str, str]
    errata: Mapping[str, Erratum]

    def defaults(self) -> dict[str, str]:
        """Return the documents' option of every choice."""
        return {name: choice.default for name, choice in self.choices.items()}


@dataclass(frozen=True)
class _Section:
    heading: str
    line: int
    paragraphs: tuple[str, ...]


@cache
def load_specification() -> Specification:
    """Read the chapters.

    Raises:
        DataError: a heading, table or clause that is not of the agreed form, with file and line.
    """
    folder = specification_folder()
    clauses: dict[str, Clause] = {}
    choices: dict[str, Choice] = {}
    errata: dict[str, Erratum] = {}
    for file in sorted(folder.glob("*.md")):
        for section in _sections(file):
            if _CLAUSE.fullmatch(section.heading):
                clause = _clause(section, file)
                _add(clauses, clause.id, clause, file, section.line)
            elif file.stem == "08-choices":
                _add(choices, section.heading, _choice(section, file), file, section.line)
            elif _ERRATUM.fullmatch(section.heading):
                _add(errata, section.heading, _erratum(section, file), file, section.line)
            else:
                raise DataError("is no clause, choice or erratum", str(file), section.line, section.heading)
    reasons = tuple(row[0].strip("`") for row in _table((folder / "09-errors.md").read_text("utf-8")))
    documents = {row[0]: row[1].strip("`") for row in _table((folder / "00-terms.md").read_text("utf-8"))}
    return Specification(clauses, choices, reasons, documents, errata)


def _sections(file: Path) -> Iterator[_Section]:
    """Cut a chapter at its headings of the third level; a section ends at any other heading."""
    heading, start, lines = "", 0, list[str]()
    for number, line in enumerate([*file.read_text("utf-8").splitlines(), "# end"], 1):
        if line.startswith("#"):
            if heading:
                paragraphs = (re.sub(r"\s*\n\s*", " ", part) if "|" not in part else part for part in _split(lines))
                yield _Section(heading, start, tuple(paragraphs))
            heading, start, lines = (line[4:].strip() if line.startswith("### ") else ""), number, []
        else:
            lines.append(line)


def _split(lines: list[str]) -> list[str]:
    return [part.strip() for part in "\n".join(lines).split("\n\n") if part.strip()]


def _clause(section: _Section, file: Path) -> Clause:
    match = _CLAUSE.fullmatch(section.heading)
    level = match[2] if match else ""
    *body, source = section.paragraphs or ("",)
    if match is None or level not in LEVELS or not body or not source.startswith("Source: "):
        raise DataError("needs a level, a rule and a line 'Source: …'", str(file), section.line, section.heading)
    text = _LINK.sub(r"\1", " ".join(body))
    return Clause(match[1], level, text, source.removeprefix("Source: "), file.stem, section.line)


def _choice(section: _Section, file: Path) -> Choice:
    rows = [row for row in _table("\n".join(section.paragraphs[1:])) if len(row) > 1]
    options = {row[0].removesuffix(" (default)").strip("`"): row[1] for row in rows}
    defaults = [row[0].removesuffix(" (default)").strip("`") for row in rows if row[0].endswith(" (default)")]
    if not _CHOICE.fullmatch(section.heading) or len(defaults) != 1 or len(options) < 2:
        raise DataError("needs two options or more, one of them the default", str(file), section.line, section.heading)
    return Choice(section.heading, section.paragraphs[0], options, defaults[0])


def _erratum(section: _Section, file: Path) -> Erratum:
    found = re.findall(r"- (\w+): (.*?)(?= - [A-Z]\w+: |$)", " ".join(section.paragraphs))
    fields = {name.lower(): _LINK.sub(r"\1", text) for name, text in found}
    if tuple(fields) != _ERRATUM_FIELDS:
        raise DataError("needs the lines Where, Stated, Right and Why", str(file), section.line, section.heading)
    return Erratum(section.heading, fields)


def _table(text: str) -> list[list[str]]:
    """Return the rows of the first table in a text, without its two lines of heading."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("|"):
            found.append([cell.strip() for cell in line.strip("|").split("|")])
        elif found:
            break
    return found[2:]


def _add(known: dict[str, _Entry], name: str, new: _Entry, file: Path, line: int) -> None:
    if name in known:
        raise DataError("is defined twice; ids are never used again", str(file), line, name)
    known[name] = new
