"""The chapters of ``spec/`` as values: clauses, choices, reasons, documents, errata.

The Markdown is the source; this module reads the few forms that it uses: third-level headings, tables, and paragraphs.
Everything that doesn't fit is a :class:`~tokspec.base.errors.DataError` with its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TypeVar

from tokspec.base.display import did_you_mean
from tokspec.base.errors import DataError
from tokspec.base.files import specification_folder

LEVELS = ("MUST", "SHOULD", "MAY", "RETIRED")

_CLAUSE = re.compile(r"([A-Z][A-Z0-9]*(?:-[A-Z]+)*-\d+) \((\w+)\)")
_CHOICE = re.compile(r"[a-z][a-z_]*")
_ERRATUM = re.compile(r"E-\d+")
_ERRATUM_FIELDS = ("where", "stated", "right", "why")
_PROFILES = re.compile(r"^Profiles: (.+?)\.?\n*(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")


@dataclass(frozen=True)
class Clause:
    """One rule: its permanent id, level, text, source, chapter and profiles, and the fields that it is about."""

    id: str
    level: str
    text: str
    source: str
    chapter: str
    line: int
    profiles: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()


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
    """One entry of the errata: where it is, what is stated, what is right, and why."""

    id: str
    fields: Mapping[str, str]


@dataclass(frozen=True)
class Specification:
    """Everything that the chapters define, in their order; ``documents`` has the title of each document.

    ``cores`` are the cases that an implementation should pass first, by the kind of model or the profile.

    >>> specification = load_specification()
    >>> specification.clauses["BPE-TRAIN-7"].text
    'The pair with the highest count is merged next.'
    >>> specification.choices["bpe_training_tie"].default
    'first_met'
    >>> specification.documents["notebook-unigram"]
    '"Unigram Tokenization", a notebook'
    """

    clauses: Mapping[str, Clause]
    choices: Mapping[str, Choice]
    reasons: tuple[str, ...]
    documents: Mapping[str, str]
    errata: Mapping[str, Erratum]
    profiles: Mapping[str, str] = field(default_factory=dict)
    cores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def is_of(self, profile: str, clauses: Iterable[str]) -> bool:
        """Return whether a case with these clauses belongs to a profile: all clauses do, or one if one is enough.

        >>> load_specification().is_of("tiktoken", ["BPE-ENC-3", "PRE-BYTE-1"])
        True
        >>> load_specification().is_of("untrusted-text", ["TRUST-1", "BPE-ENC-3"])
        True
        """
        found = (profile in self.clauses[clause].profiles for clause in clauses)
        return any(found) if profile == _OF_ANY_KIND else all(found)

    def fields_of(self, clauses: Iterable[str]) -> tuple[str, ...]:
        """Return the fields of an encoding, one of which a case with these clauses needs; none if a clause needs none.

        >>> load_specification().fields_of(["ENC-3"]), load_specification().fields_of(["ENC-3", "ENC-1"])
        (('spans',), ())
        """
        fields = [self.clauses[clause].fields for clause in clauses]
        return tuple(dict.fromkeys(chain.from_iterable(fields))) if all(fields) else ()

    def defaults(self) -> dict[str, str]:
        """Return the documents' option of every choice."""
        return {name: choice.default for name, choice in self.choices.items()}

    def refuse_other_choices(self, name: str, option: str, key: str, written: str = "") -> None:
        """Refuse a choice or an option that does not exist.

        Args:
            name: the name of the choice.
            option: its option.
            key: the place where the user wrote it.
            written: what the user wrote there, if it is more than the name or the option.

        Raises:
            DataError: it does not exist; the message has the nearest name.
        """
        if name not in self.choices:
            question = did_you_mean(name, self.choices)
            message = f"{(written or name)!r} names no choice; {question}there are {', '.join(self.choices)}"
            raise DataError(message, key=key)
        options = self.choices[name].options
        if option not in options:
            question = did_you_mean(option, options)
            raise DataError(
                f"{(written or option)!r} names no option; {question}{name} has {', '.join(options)}", key=key
            )


#: The profile about faults around tokenizers of every other profile; one of its clauses is enough for a case to belong
#: to it.
_OF_ANY_KIND = "untrusted-text"


@dataclass(frozen=True)
class _Section:
    heading: str
    line: int
    paragraphs: tuple[str, ...]


@cache
def load_specification() -> Specification:
    """Read the chapters.

    Raises:
        DataError: a heading, table or clause does not have the agreed form, with file and line.
    """
    folder = specification_folder()
    terms = (folder / "00-terms.md").read_text("utf-8")
    profiles = {row[0].strip("`"): row[1] for row in _table(terms.partition("## Profiles")[2])}
    clauses: dict[str, Clause] = {}
    choices: dict[str, Choice] = {}
    errata: dict[str, Erratum] = {}
    for file in sorted(folder.glob("*.md")):
        belonging = _Profiles.read(file, profiles)
        for section in _sections(file):
            if _CLAUSE.fullmatch(section.heading):
                clause = _clause(section, file)
                _add(clauses, clause.id, replace(clause, profiles=belonging.of(clause.id)), file, section.line)
            elif file.stem == "08-choices":
                _add(choices, section.heading, _choice(section, file), file, section.line)
            elif _ERRATUM.fullmatch(section.heading):
                _add(errata, section.heading, _erratum(section, file), file, section.line)
            else:
                raise DataError("is not a clause, choice or erratum", str(file), section.line, section.heading)
        belonging.refuse_unused()
    for file, clause_id, fields in _fields(folder):
        if clause_id not in clauses:
            raise DataError(f"names {clause_id}, which is not a clause", str(file), key="Encodings")
        clauses[clause_id] = replace(clauses[clause_id], fields=fields)
    reasons = tuple(row[0].strip("`") for row in _table((folder / "09-errors.md").read_text("utf-8")))
    documents = {row[0].strip("`"): row[1] for row in _table(terms)}
    cores = {
        row[0].strip("`"): tuple(re.findall("`([^`]+)`", row[1])) for row in _table(terms.partition("## Cores")[2])
    }
    return Specification(clauses, choices, reasons, documents, errata, profiles, cores)


def _sections(file: Path) -> Iterator[_Section]:
    """Split a chapter at its third-level headings; a section ends at any other heading."""
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


class _Profiles:
    """The line "Profiles: …" of a chapter: the profiles of its clauses, and after semicolons those of single clauses.

    ``PRE-BYTE, PRE-1: tokenizer.json`` is about every ``PRE-BYTE-…`` and about ``PRE-1``.
    """

    def __init__(self, file: Path, line: int, default: tuple[str, ...], others: Mapping[str, tuple[str, ...]]) -> None:
        self.file, self.line, self.default, self.others = file, line, default, others
        self._unused = set(others)

    @classmethod
    def read(cls, file: Path, known: Iterable[str]) -> _Profiles:
        """Read the line of a chapter; a chapter without such a line belongs to no profile.

        Raises:
            DataError: it has a name that is not a profile.
        """
        text = file.read_text("utf-8")
        match = _PROFILES.search(text)
        if match is None:
            return cls(file, 0, (), {})
        line = text.count("\n", 0, match.start()) + 1
        first, *others = [part.strip() for part in match[1].replace("\n", " ").split(";")]
        found = {"": first, **{name: part.partition(":")[2] for part in others for name in _names(part)}}
        profiles = {name: tuple(_names(each)) for name, each in found.items()}
        for name in (name for each in profiles.values() for name in each):
            if name not in known:
                raise DataError(f"{name!r} is not a profile; known are {', '.join(known)}", str(file), line, "Profiles")
        return cls(file, line, profiles.pop(""), profiles)

    def of(self, clause: str) -> tuple[str, ...]:
        """Return the profiles of a clause: those of the longest name that matches it."""
        fitting = [name for name in self.others if clause == name or clause.startswith(f"{name}-")]
        self._unused -= set(fitting)
        return self.others[max(fitting, key=len)] if fitting else self.default

    def refuse_unused(self) -> None:
        """Refuse a name that matches no clause of the chapter.

        Raises:
            DataError: there is one.
        """
        for name in sorted(self._unused):
            raise DataError(
                f"names {name}, which is not a clause of this chapter", str(self.file), self.line, "Profiles"
            )


def _names(part: str) -> list[str]:
    return [name.strip() for name in part.partition(":")[0].split(",")]


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


def _fields(folder: Path) -> Iterator[tuple[Path, str, tuple[str, ...]]]:
    """Return the fields that each clause is about, from the table of encodings."""
    for file in folder.glob("10-*.md"):
        found: dict[str, tuple[str, ...]] = {}
        for name, _, clauses in _table(file.read_text("utf-8").partition("## Encodings")[2]):
            for clause in filter(None, _names(clauses)):
                found[clause] = (*found.get(clause, ()), name.strip("`"))
        yield from ((file, clause, fields) for clause, fields in found.items())


def _table(text: str) -> list[list[str]]:
    """Return the rows of the first table in a text, without its two header lines."""
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
