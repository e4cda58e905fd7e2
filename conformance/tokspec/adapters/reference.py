"""The reference implementation as an implementation to be judged."""

from __future__ import annotations

import inspect
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import tokref
from tokref import Choices, InputError, Tokenizer
from tokspec.adapter import Hello, Refusal, Unsupported
from tokspec.adapters.reference_operations import OPERATIONS
from tokspec.adapters.reference_request import Request
from tokspec.base.errors import DataError

__all__ = ["ReferenceAdapter", "functions_by_clause"]

_CLAUSE = re.compile(r"\b[A-Z][A-Z0-9]*(?:-[A-Z]+)*-\d+\b")


class ReferenceAdapter:
    """The reference with the given options; where none is given, with the documents' own.

    >>> adapter = ReferenceAdapter({"bpe_unknown_without_token": "kept"})
    >>> model = adapter.load("tokspec", {"type": "bpe", "vocabulary": ["b", "u"], "merges": []})
    >>> adapter.run("encode", model, {"text": "bum"})
    {'tokens': ['b', 'u', 'm'], 'ids': [0, 1, None], 'spans': [[0, 1], [1, 2], [2, 3]]}
    """

    def __init__(self, choices: Mapping[str, str] | None = None) -> None:
        options = dict(choices or {})
        unit = options.pop("offset_unit", "code_point")
        if unit != "code_point":
            raise DataError(f"the reference counts in code points, not in the unit {unit!r}", key="offset_unit")
        try:
            self._choices = Choices.from_mapping(options)
        except InputError as error:
            raise DataError(error.message, key="choices") from error

    def hello(self) -> Hello:
        """Describe the reference; it declares every choice."""
        return Hello(
            name="tokref",
            version=tokref.__version__,
            language="Python",
            operations=tuple(OPERATIONS),
            formats=("tokspec",),
            choices={**asdict(self._choices), "offset_unit": "code_point"},
            encode_fields=("tokens", "ids", "spans"),
            unicode=unicodedata.unidata_version,
        )

    def load(self, format: str, content: Any) -> Tokenizer:
        """Read a model; one that contradicts itself is refused here."""
        if format != "tokspec":
            raise Unsupported(f"reads models in the format tokspec, not {format!r}")
        try:
            return tokref.from_mapping(content)
        except InputError as error:
            raise Refusal(error.reason, error.message) from error

    def run(self, operation: str, model: Tokenizer, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Perform one operation."""
        if operation not in OPERATIONS:
            raise Unsupported(f"has no operation {operation!r}")
        function = OPERATIONS[operation].function(model.model)
        if function is None:
            raise Unsupported(f"{operation} needs a model of another type than {type(model.model).__name__}")
        try:
            return function(Request(model, self._choices, input))
        except InputError as error:
            raise Refusal(error.reason, error.message) from error


def functions_by_clause() -> dict[str, tuple[str, ...]]:
    """Give the public functions of the reference that name each clause in a paragraph ``Clauses:``.

    >>> functions_by_clause()["BPE-TRAIN-5"]
    ('count_pairs',)
    """
    found: dict[str, list[str]] = {}
    for name in tokref.__all__:
        function = getattr(tokref, name)
        if inspect.isfunction(function):
            for clause in _clauses(inspect.getdoc(function) or ""):
                found.setdefault(clause, []).append(name)
    return {clause: tuple(names) for clause, names in sorted(found.items())}


def _clauses(docstring: str) -> list[str]:
    paragraphs = [part for part in docstring.split("\n\n") if part.startswith("Clauses:")]
    return _CLAUSE.findall(" ".join(paragraphs))
