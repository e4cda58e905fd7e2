"""The fixtures as values: cases, their models and corpora, loaded strictly.

A :class:`Case` knows what is expected; what an implementation is asked is its operation, model and input alone.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokspec.base.errors import DataError
from tokspec.base.files import read_bounded
from tokspec.base.paths import fixtures_folder
from tokspec.suite.fixture_checks import OUTCOMES, check_case, validate, value_at
from tokspec.suite.specification import Specification, load_specification
from tokspec.suite.strict_yaml import LARGEST, Document, parse_yaml
from tokspec.suite.yaml_scalars import KeyPath

__all__ = ["Case", "Model", "Suite", "load_suite"]

#: What models and corpora are called.
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Model:
    """A model in the neutral form, under a name that no other model of the suite has."""

    name: str
    content: Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """One case of a fixture file. ``outcome`` has the one key of ``OUTCOMES`` that the case has."""

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
    """All cases, in the order of their files, by id; ``hash`` is the SHA-256 of the files that were read for them."""

    cases: Mapping[str, Case]
    hash: str = ""

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
    if not os.path.isdir(root):
        raise DataError("is not a folder; give one with fixture files in it", str(root))
    with _without_collection():
        loader = _Loader(root, load_specification())
        for file in sorted(root.rglob("*.yaml")):
            if file.parent.name not in ("models", "corpora"):
                loader.add_file(file)
    if not loader.cases:
        raise DataError("holds no fixture files (*.yaml)", str(root))
    return Suite(loader.cases, loader.hash())


@contextmanager
def _without_collection() -> Iterator[None]:
    """Look for no garbage meanwhile: all that is read is kept, and looking at it again and again takes a quarter."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Loader:
    """Reads the files of one folder; models and corpora once, when they are first named."""

    def __init__(self, root: Path, specification: Specification) -> None:
        self.root = root
        self.place = root.resolve()
        self.specification = specification
        self.cases: dict[str, Case] = {}
        self.named: dict[Path, Any] = {}
        self.digests: dict[str, str] = {}

    def hash(self) -> str:
        """Give the SHA-256 of what was read: of each file, in the order of their names, name and content."""
        total = hashlib.sha256()
        for name, digest in sorted(self.digests.items()):
            total.update(os.fsencode(name) + f"\0{digest}\n".encode())
        return total.hexdigest()

    def add_file(self, file: Path) -> None:
        document = self.read(file)
        validate(document, document.value)
        value = document.value
        default = self.model(document, ("model",), f"{document.file}:model") if "model" in value else None
        for index, raw in enumerate(value["cases"]):
            path: KeyPath = ("cases", index)
            if raw["id"] in self.cases:
                other = self.cases[raw["id"]]
                raise document.error((*path, "id"), f"{raw['id']} is used by {other.file}:{other.line}; ids are unique")
            check_case(document, path, raw, self.specification)
            model = self.model(document, (*path, "model"), f"{raw['id']}:model") if "model" in raw else default
            if model is None:
                raise document.error(path, "has no model; give the case or the file one, {} if it needs none")
            self.cases[raw["id"]] = self.case(document, path, raw, model, value["source"])

    def read(self, file: Path) -> Document:
        name = file.relative_to(self.root).as_posix()
        try:
            is_inside = file.resolve().is_relative_to(self.place)
        except (OSError, RuntimeError):
            raise DataError("is a link that leads nowhere; put the file itself there", name) from None
        if not is_inside:
            raise DataError("is a link that leaves the folder of the fixtures; put the file itself there", name)
        text = read_bounded(file, name, LARGEST)
        self.digests[name] = hashlib.sha256(text.encode()).hexdigest()
        return parse_yaml(text, name)

    def case(self, document: Document, path: KeyPath, raw: Mapping[str, Any], model: Model, source: Any) -> Case:
        input = {**_unhex(document, (*path, "input"), raw["input"])}
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
            input=input,
            outcome={key: _unhex(document, (*path, key), value) for key, value in outcome.items()},
            stated=tuple(_unhex(document, (*path, "stated"), raw.get("stated", []))),
            worked=tuple(raw.get("worked", [])),
            tolerance=raw.get("tolerance", {}),
            tags=tuple(raw.get("tags", [])),
            verified_by=tuple(raw["verified_by"]),
            file=document.file,
            line=document.line(path),
        )

    def model(self, document: Document, path: KeyPath, inline_name: str) -> Model:
        value = value_at(document.value, path)
        if isinstance(value, str):
            return Model(value, self.part(document, path, "models", value))
        return Model(inline_name, _unhex(document, path, value))

    def part(self, document: Document, path: KeyPath, folder: str, name: str) -> Any:
        """Give a named model or corpus, without its ``about``."""
        file = self.root / folder / f"{name}.yaml"
        if file not in self.named:
            if not _NAME.fullmatch(name):
                raise document.error(path, f"{name!r} is no name; names are lowercase words joined by hyphens")
            if not os.path.isfile(file):
                raise document.error(path, f"names {name}, but there is no file {folder}/{name}.yaml")
            read = self.read(file)
            validate(read, read.value, "model" if folder == "models" else "corpus_inline")
            self.named[file] = _unhex(read, (), {key: value for key, value in read.value.items() if key != "about"})
        return self.named[file]


def _unhex(document: Document, path: KeyPath, value: Any) -> Any:
    """Turn the byte-safe form ``{"hex": …}`` of a string (PROTO-2) into the string."""
    return _unhexed(document, path, value) if document.has_hex else value


def _unhexed(document: Document, path: KeyPath, value: Any) -> Any:
    if isinstance(value, list):
        return [_unhexed(document, (*path, index), item) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"hex"} and isinstance(value["hex"], str):
        try:
            return bytes.fromhex(value["hex"]).decode("utf-8", "surrogatepass")
        except ValueError:
            raise document.error((*path, "hex"), "is no UTF-8 in hexadecimal digits") from None
    return {key: _unhexed(document, (*path, key), item) for key, item in value.items()}
