"""The answers of the libraries that formats come from, where these differ from the specification.

tokenizers is the origin of ``tokenizer.json``, SentencePiece of ``sentencepiece.model``, and tiktoken of ranks. A file
of ``fixtures/origins`` has the answers of one release, each with a reason and a kind: a convention, a bug, a crash, or
a limit of its format. An implementation that wants to equal an origin is judged by "as specified, or as the origin
answers".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tokspec.base.display import did_you_mean
from tokspec.base.errors import DataError
from tokspec.base.files import fixtures_folder, paths_below
from tokspec.suite import schema
from tokspec.suite.cases import write_safe_strings
from tokspec.suite.fixtures import ORIGINS
from tokspec.suite.strict_yaml import read_yaml


@dataclass(frozen=True)
class OriginAnswer:
    """An answer of an origin that is not as specified.

    ``answer`` is ``{"result": …}`` with the requested fields that differ, ``{"refused": reason}``, or
    ``{"fault": kind}``.
    """

    kind: str
    reason: str
    answer: Mapping[str, Any]


@dataclass(frozen=True)
class Origin:
    """The answers of one release, by the id of the question, which is a case or a row such as ``ID#2``."""

    name: str
    version: str
    choices: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, OriginAnswer] = field(default_factory=dict)
    file: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def cases(self) -> Mapping[str, OriginAnswer]:
        """The first answer of each case."""
        first: dict[str, OriginAnswer] = {}
        for question, answer in self.answers.items():
            first.setdefault(question.partition("#")[0], answer)
        return first


@cache
def load_origins() -> Mapping[str, Origin]:
    """Read the answers of all origins, from the checkout or from the bundle of an installed suite.

    Raises:
        DataError: a file is wrong, with file, line and key.

    >>> sorted(load_origins())
    ['sentencepiece', 'tiktoken', 'tokenizers']
    """
    bundle = fixtures_folder() / "bundle.json"
    if bundle.is_file():
        origins = [parse_origin(value) for value in json.loads(bundle.read_text("utf-8"))["origins"]]
    else:
        files = [file for file in paths_below(fixtures_folder() / ORIGINS) if file.suffix == ".yaml"]
        origins = [read_origin(file) for file in files]
    return {origin.name: origin for origin in origins}


def load_origin(name: str) -> Origin:
    """Read the answers of an origin.

    Raises:
        DataError: there is no such origin, or its file is wrong, with file, line and key.
    """
    origins = load_origins()
    if name not in origins:
        raise DataError(f"{name!r} is not an origin; {did_you_mean(name, origins)}there are {', '.join(origins)}")
    return origins[name]


def read_origin(file: Path) -> Origin:
    """Read the file of an origin.

    Raises:
        DataError: the first thing that is wrong with it, with file, line and key.
    """
    document = read_yaml(file, f"{ORIGINS}/{file.name}")
    for path, message in schema.errors(document.value, "origin"):
        raise document.error(path, message)
    questions: set[str] = set()
    for index, group in enumerate(document.value["answers"]):
        for question in group["cases"]:
            if question in questions:
                raise document.error(("answers", index, "cases", question), "has an answer already; keep one")
            questions.add(question)
    return parse_origin(document.value, document.file)


def parse_origin(value: Mapping[str, Any], file: str = "") -> Origin:
    """Parse the answers in the value of a file, or of the bundle, which has the same form."""
    answers = {
        question: OriginAnswer(group["kind"], group["reason"], _unhex(answer))
        for group in value["answers"]
        for question, answer in group["cases"].items()
    }
    return Origin(value["origin"], value["version"], value["choices"], answers, file)


def bundle_origins() -> list[dict[str, Any]]:
    """Return all origins for the bundle: as in their files, with strings in the form of PROTO-2."""
    return [write_origin(origin) for origin in load_origins().values()]


def write_origin(origin: Origin) -> dict[str, Any]:
    """Return the value of an origin's file, without the description of the file."""
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for question, answer in origin.answers.items():
        groups.setdefault((answer.kind, answer.reason), {})[question] = write_safe_strings(answer.answer)
    answers = [{"kind": kind, "reason": reason, "cases": cases} for (kind, reason), cases in groups.items()]
    return {"origin": origin.name, "version": origin.version, "choices": {**origin.choices}, "answers": answers}


def _unhex(value: Any) -> Any:
    """Convert the byte-safe form ``{"hex": …}`` of strings (PROTO-2) to strings."""
    if isinstance(value, Mapping):
        if value.keys() == {"hex"}:
            return bytes.fromhex(value["hex"]).decode("utf-8", "surrogatepass")
        return {key: _unhex(item) for key, item in value.items()}
    return [_unhex(item) for item in value] if isinstance(value, Sequence) and not isinstance(value, str) else value
