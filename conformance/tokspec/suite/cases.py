"""The cases of the suite as values, and the bundle: all of them as one JSON file.

A :class:`Case` contains the expected outcome; an implementation only gets its operation, model and input.

The bundle is written when the wheel is built, for the installed package, and by ``tokspec cases --bundle`` for runners
in other languages. It contains every case in full, with its model, its corpus, and its place in the fixtures.
``docs/cases.md`` describes the keys.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tokspec import __version__
from tokspec.base.errors import DataError
from tokspec.base.files import write_whole
from tokspec.suite import schema
from tokspec.suite.components import needed_components, needed_options
from tokspec.suite.specification import Specification

if TYPE_CHECKING:
    from tokspec.formats.user_model import UserModel

#: For questions, by id and format: why the model's file in that format means something else than the model.
Limits: TypeAlias = Mapping[str, Mapping[str, str]]

BUNDLE_FORMAT = 2
"""The version of the bundle's format; a change that breaks its readers raises it."""

FIRST_VERSION = "0.1.0"
"""The version of the suite that first had a case, unless the case names another."""


#: Needs of a case that an implementation may not meet, for runners in other languages: how to find them, and where.
_NEEDS = {"components": (needed_components, "model"), "options": (needed_options, "input")}


def numbers_of(version: str) -> tuple[int, ...]:
    """Return a version as numbers, for sorting.

    >>> numbers_of("0.10.1") > numbers_of("0.9.0")
    True
    """
    return tuple(map(int, version.split(".")))


@dataclass(frozen=True)
class Model:
    """A model in the neutral form, under a name that no other model of the suite has, or a user's own ``file``."""

    name: str
    content: Mapping[str, Any]
    file: UserModel | None = None


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
    outcome: Mapping[str, Any] = field(default_factory=dict)
    stated: tuple[Mapping[str, Any], ...] = ()
    worked: tuple[Mapping[str, str], ...] = ()
    tolerance: Mapping[str, float] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    verified_by: tuple[str, ...] = ()
    file: str = ""
    line: int = 0
    since: str = FIRST_VERSION
    rows: tuple[Case, ...] = ()
    """The questions of a table, each with its own id, ``ID#1`` and so on; the table itself has no input and outcome."""

    @property
    def questions(self) -> tuple[Case, ...]:
        """The questions, each for a separate request: the case itself, or its rows."""
        return self.rows or (self,)

    @property
    def row(self) -> int:
        """The number of a row in its table, counted from 1; 0 for a case."""
        return int(self.id.partition("#")[2] or 0)

    def with_rows(self, rows: Iterable[tuple[Mapping[str, Any], Mapping[str, Any], int]]) -> Case:
        """Return a table with rows, each an input, an outcome and a line; without rows, return the case itself."""
        made = [
            replace(self, id=f"{self.id}#{number}", input=input, outcome=outcome, line=line)
            for number, (input, outcome, line) in enumerate(rows, 1)
        ]
        return replace(self, rows=tuple(made))

    @property
    def documents(self) -> tuple[str, ...]:
        """The files of the documents that are sources of the case, each once."""
        return tuple(dict.fromkeys(entry["document"] for entry in self.source if "document" in entry))


def bare_case(
    id: str,
    operation: str,
    input: Mapping[str, Any],
    *,
    clauses: tuple[str, ...] = (),
    why: str = "",
    model: str = "",
    file: str = "",
    line: int = 0,
) -> Case:
    """Build a case that is in no fixture, from the values to show; it has no outcome.

    >>> bare_case("a", "encode", {"text": "bug"}).outcome
    {}
    """
    return Case(id, clauses, why, (), Model(model, {}), operation, input, file=file, line=line)


@dataclass(frozen=True)
class Suite:
    """All cases by id, in the order of their files; ``hash`` is the SHA-256 of the files that were read."""

    cases: Mapping[str, Case]
    hash: str = ""

    def __len__(self) -> int:
        return len(self.cases)


def compile_bundle(
    suite: Suite,
    specification: Specification,
    models: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    origins: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the bundle of a suite, which is the same for the same suite.

    ``models`` are its models in file formats, for runners that cannot write them, by format and by name of model.
    ``limits`` are the reasons why such a file means something else than the model, by id of question and by format.
    ``origins`` are the answers of the libraries that formats come from (:mod:`tokspec.suite.origins`). ``hash`` is the
    SHA-256 of everything below it, written as JSON with sorted keys and no spaces.
    """
    content = {
        "fixtures": suite.hash,
        "clauses": [asdict(clause) for clause in specification.clauses.values()],
        "choices": [asdict(choice) for choice in specification.choices.values()],
        "errata": [asdict(erratum) for erratum in specification.errata.values()],
        "reasons": specification.reasons,
        "operations": list(schema.operations()),
        "documents": specification.documents,
        "profiles": specification.profiles,
        **({"models": write_safe_strings(models)} if models else {}),
        "origins": list(origins),
        "cases": [_bundled(case, specification, limits or {}) for case in suite.cases.values()],
    }
    canonical = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return {"tokspec_bundle": BUNDLE_FORMAT, "version": __version__, "hash": digest, **content}


def write_bundle(
    file: Path,
    suite: Suite,
    specification: Specification,
    models: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    origins: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write the bundle of a suite, with a line for each entry of its lists, so that two versions can be compared."""
    lines = []
    for key, value in compile_bundle(suite, specification, models, limits, origins).items():
        if isinstance(value, list):
            entries = ",\n".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in value)
            lines.append(f'"{key}":[\n{entries}\n]')
        else:
            lines.append(f'"{key}":{json.dumps(value, ensure_ascii=False, separators=(",", ":"))}')
    write_whole(file, "{" + ",\n".join(lines) + "}\n")


def read_bundle(file: Path) -> Suite:
    """Return the cases of a bundle.

    Raises:
        DataError: the file is not a bundle that this version reads.
    """
    try:
        bundle = json.loads(file.read_text("utf-8"), object_hook=_unhex)
    except ValueError as error:
        raise DataError(f"is not JSON: {error}", str(file)) from None
    if not isinstance(bundle, dict) or bundle.get("tokspec_bundle") != BUNDLE_FORMAT:
        raise DataError(f"is not a bundle of format {BUNDLE_FORMAT}; install the suite again", str(file))
    cases = [_case(raw) for raw in bundle["cases"]]
    return Suite({case.id: case for case in cases}, bundle["fixtures"])


def _case(raw: dict[str, Any]) -> Case:
    lists = {key: tuple(raw.get(key, ())) for key in ("clauses", "source", "stated", "worked", "tags", "verified_by")}
    model = Model(raw.pop("model_name"), raw["model"])
    rows = [(row["input"], row["outcome"], row["line"]) for row in raw.pop("inputs", ())]
    raw = {key: value for key, value in raw.items() if key not in (*_NEEDS, "fields", "limits")}
    case = Case(**{"tolerance": {}, "input": {}, "outcome": {}, **raw, **lists, "model": model})
    return case.with_rows(rows)


def _bundled(case: Case, specification: Specification, limits: Limits) -> dict[str, Any]:
    """Write a case with its non-empty fields; ``model`` is the model itself, and ``model_name`` its name."""
    raw = {field.name: getattr(case, field.name) for field in fields(Case) if field.name != "rows"}
    raw |= {"model": case.model.content, "model_name": case.model.name}
    raw |= {key: tuple(needs(raw[of])) for key, (needs, of) in _NEEDS.items()}
    raw["fields"] = specification.fields_of(case.clauses) if case.operation in ("encode", "encode_batch") else ()
    raw["inputs"] = tuple(_bundled_row(row, limits) for row in case.rows)
    raw["limits"] = limits.get(case.id, {})
    needed = ("model",) if case.rows else ("model", "input")
    return {key: write_safe_strings(value) for key, value in raw.items() if value not in ((), {}) or key in needed}


def _bundled_row(row: Case, limits: Limits) -> dict[str, Any]:
    raw = {"input": row.input, "outcome": row.outcome, "line": row.line}
    needs = {"options": needed_options(row.input), "limits": limits.get(row.id)}
    return raw | {key: value for key, value in needs.items() if value}


def write_safe_strings(value: Any) -> Any:
    """Write strings that JSON cannot carry safely in the form of PROTO-2."""
    if isinstance(value, str):
        return value if value.isascii() or _is_safe(value) else {"hex": value.encode("utf-8", "surrogatepass").hex()}
    if isinstance(value, Mapping):
        return {key: write_safe_strings(item) for key, item in value.items()}
    return [write_safe_strings(item) for item in value] if isinstance(value, list | tuple) else value


def _is_safe(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _unhex(value: dict[str, Any]) -> Any:
    if value.keys() == {"hex"}:
        return bytes.fromhex(value["hex"]).decode("utf-8", "surrogatepass")
    return value
