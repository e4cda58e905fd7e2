"""The fixtures as values: cases, their models and corpora, loaded strictly.

A :class:`Case` knows what is expected; what an implementation is asked is its operation, model and input alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokspec import schema
from tokspec.data import fixtures_folder
from tokspec.errors import DataError
from tokspec.specification import Specification, load_specification
from tokspec.strict_yaml import Document, KeyPath, read_yaml

__all__ = ["Case", "Model", "Suite", "load_suite"]

#: What models and corpora are called.
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

OUTCOMES = ("expect", "one_of", "by_choice", "error")


@dataclass(frozen=True)
class Model:
    """A model in the neutral form, under a name that no other model of the suite has."""

    name: str
    content: Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """One case of a fixture file. ``outcome`` has the one key of :data:`OUTCOMES` that the case has."""

    id: str
    clauses: tuple[str, ...]
    why: str
    source: tuple[Mapping[str, str], ...]
    model: Model
    operation: str
    input: Mapping[str, Any]
    outcome: Mapping[str, Any]
    stated: tuple[Mapping[str, Any], ...]
    worked: tuple[Mapping[str, str], ...]
    tolerance: Mapping[str, float]
    tags: tuple[str, ...]
    verified_by: tuple[str, ...]
    file: str
    line: int

    @property
    def documents(self) -> tuple[str, ...]:
        """The files of the documents from which the case comes, each once."""
        return tuple(dict.fromkeys(entry["document"] for entry in self.source if "document" in entry))


@dataclass(frozen=True)
class Suite:
    """All cases, in the order of their files, by id."""

    cases: Mapping[str, Case]

    def __len__(self) -> int:
        return len(self.cases)


def load_suite(folder: Path | None = None) -> Suite:
    """Read every fixture below a folder; the suite's own unless one is given.

    Raises:
        DataError: the first thing that is wrong, with file, line and key.

    >>> load_suite().cases["bpe-toy-encode-bug"].input
    {'text': 'bug'}
    """
    root = folder or fixtures_folder()
    if not root.is_dir():
        raise DataError("is not a folder; give one with fixture files in it", str(root))
    loader = _Loader(root, load_specification())
    for file in sorted(root.rglob("*.yaml")):
        if file.parent.name not in ("models", "corpora"):
            loader.add_file(file)
    if not loader.cases:
        raise DataError("holds no fixture files (*.yaml)", str(root))
    return Suite(loader.cases)


class _Loader:
    """Reads the files of one folder; models and corpora once, when they are first named."""

    def __init__(self, root: Path, specification: Specification) -> None:
        self.root = root
        self.specification = specification
        self.cases: dict[str, Case] = {}
        self.named: dict[Path, Any] = {}

    def add_file(self, file: Path) -> None:
        document = self.read(file)
        _validate(document, document.value)
        value = document.value
        default = self.model(document, ("model",), f"{document.file}:model") if "model" in value else None
        for index, raw in enumerate(value["cases"]):
            path: KeyPath = ("cases", index)
            if raw["id"] in self.cases:
                other = self.cases[raw["id"]]
                raise document.error((*path, "id"), f"{raw['id']} is used by {other.file}:{other.line}; ids are unique")
            self.check(document, path, raw)
            model = self.model(document, (*path, "model"), f"{raw['id']}:model") if "model" in raw else default
            if model is None:
                raise document.error(path, "has no model; give the case or the file one, {} if it needs none")
            self.cases[raw["id"]] = self.case(document, path, raw, model, value["source"])

    def read(self, file: Path) -> Document:
        name = file.relative_to(self.root).as_posix()
        if not file.resolve().is_relative_to(self.root.resolve()):
            raise DataError("is a link that leaves the folder of the fixtures; put the file itself there", name)
        return read_yaml(file, name)

    def case(self, document: Document, path: KeyPath, raw: Mapping[str, Any], model: Model, source: Any) -> Case:
        input = dict(raw["input"])
        if isinstance(input.get("corpus"), str):
            input["corpus"] = self.part(document, (*path, "input", "corpus"), "corpora", input["corpus"])
        outcome = {key: raw[key] for key in OUTCOMES if key in raw}
        return Case(
            id=raw["id"],
            clauses=tuple(raw["clauses"]),
            why=raw["why"],
            source=tuple(raw.get("source", source)),
            model=model,
            operation=raw["operation"],
            input=_unhex(input),
            outcome=_unhex(outcome),
            stated=tuple(_unhex(raw.get("stated", []))),
            worked=tuple(raw.get("worked", [])),
            tolerance=raw.get("tolerance", {}),
            tags=tuple(raw.get("tags", [])),
            verified_by=tuple(raw["verified_by"]),
            file=document.file,
            line=document.lines[path],
        )

    def model(self, document: Document, path: KeyPath, inline_name: str) -> Model:
        value = _at(document.value, path)
        if isinstance(value, str):
            return Model(value, self.part(document, path, "models", value))
        return Model(inline_name, _unhex(value))

    def part(self, document: Document, path: KeyPath, folder: str, name: str) -> Any:
        """Give a named model or corpus, without its ``about``."""
        file = self.root / folder / f"{name}.yaml"
        if file not in self.named:
            if not _NAME.fullmatch(name):
                raise document.error(path, f"{name!r} is no name; names are lowercase words joined by hyphens")
            if not file.is_file():
                raise document.error(path, f"names {name}, but there is no file {folder}/{name}.yaml")
            read = self.read(file)
            _validate(read, read.value, "model" if folder == "models" else "corpus_inline")
            self.named[file] = _unhex({key: value for key, value in read.value.items() if key != "about"})
        return self.named[file]

    def check(self, document: Document, path: KeyPath, raw: Mapping[str, Any]) -> None:
        """Check what a schema cannot: that whatever is named exists, and that every option has its answer."""
        for index, clause in enumerate(raw["clauses"]):
            found = self.specification.clauses.get(clause)
            if found is None or found.level == "RETIRED":
                raise document.error((*path, "clauses", index), f"{clause} is no live clause of the specification")
        for index, entry in enumerate(raw.get("source", [])):
            if entry.get("document", "") not in ("", *self.specification.documents.values()):
                raise document.error(
                    (*path, "source", index), f"{entry['document']} is no document of spec/00-terms.md"
                )
        for index, entry in enumerate(raw.get("stated", [])):
            if entry.get("erratum", "E-1") not in self.specification.errata:
                raise document.error((*path, "stated", index), f"{entry['erratum']} is not in spec/errata.md")
        if "by_choice" in raw:
            self.check_choice(document, (*path, "by_choice"), raw["by_choice"], raw["operation"])

    def check_choice(self, document: Document, path: KeyPath, by_choice: Mapping[str, Any], operation: str) -> None:
        ((name, options),) = by_choice.items()
        choice = self.specification.choices.get(name)
        if choice is None:
            raise document.error((*path, name), "is no choice of spec/08-choices.md")
        if set(options) != set(choice.options):
            raise document.error((*path, name), f"needs an answer for each of {', '.join(choice.options)}")
        for option, outcome in options.items():
            here = (*path, name, option)
            if "by_choice" in outcome:
                self.check_choice(document, (*here, "by_choice"), outcome["by_choice"], operation)
            results = {(*here, "one_of", index): result for index, result in enumerate(outcome.get("one_of", ()))}
            if "expect" in outcome:
                results[*here, "expect"] = outcome["expect"]
            for place, result in results.items():
                for inner, message in schema.errors(result, f"operations/{operation}/result"):
                    raise document.error((*place, *inner), message)


def _validate(document: Document, value: Any, part: str = "") -> None:
    for path, message in schema.errors(value, part):
        if path[:1] == ("cases",) and len(path) == 2 and sum(key in _at(value, path) for key in OUTCOMES) != 1:
            message = f"needs exactly one of {', '.join(OUTCOMES)}"
        raise document.error(path, message)


def _at(value: Any, path: KeyPath) -> Any:
    for part in path:
        value = value[part]
    return value


def _unhex(value: Any) -> Any:
    """Turn the byte-safe form ``{"hex": …}`` of a string (PROTO-2) into the string."""
    if isinstance(value, list):
        return [_unhex(item) for item in value]
    if isinstance(value, dict):
        if value.keys() == {"hex"}:
            return bytes.fromhex(value["hex"]).decode("utf-8", "surrogatepass")
        return {key: _unhex(item) for key, item in value.items()}
    return value
