"""What is wrong with a file of fixtures: by the schema, and by what a schema cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokspec.suite import schema
from tokspec.suite.specification import Specification
from tokspec.suite.strict_yaml import Document
from tokspec.suite.yaml_scalars import KeyPath

__all__ = ["OUTCOMES", "check_case", "validate", "value_at"]

#: What may be expected of a case; it has one of these keys.
OUTCOMES = ("expect", "one_of", "by_choice", "error")


def validate(document: Document, value: Any, part: str = "") -> None:
    """Check a value by the schema, or by a part of it.

    Raises:
        DataError: the first thing that is wrong, with file, line and key.
    """
    for path, message in schema.errors(value, part):
        case = value_at(value, path) if path[:1] == ("cases",) and len(path) == 2 else None
        if isinstance(case, dict) and sum(key in case for key in OUTCOMES) != 1:
            message = f"needs exactly one of {', '.join(OUTCOMES)}"
        raise document.error(path, message)


def value_at(value: Any, path: KeyPath) -> Any:
    """Give what stands at a path.

    >>> value_at({"cases": [{"id": "one"}]}, ("cases", 0, "id"))
    'one'
    """
    for part in path:
        value = value[part]
    return value


def check_case(document: Document, path: KeyPath, raw: Mapping[str, Any], specification: Specification) -> None:
    """Check what a schema cannot: that whatever is named exists, and that every option has its answer.

    Raises:
        DataError: the first thing that is wrong, with file, line and key.
    """
    for index, clause in enumerate(raw["clauses"]):
        found = specification.clauses.get(clause)
        if found is None or found.level == "RETIRED":
            raise document.error((*path, "clauses", index), f"{clause} is no live clause of the specification")
    for index, entry in enumerate(raw.get("source", [])):
        if entry.get("document", "") not in ("", *specification.documents.values()):
            raise document.error((*path, "source", index), f"{entry['document']} is no document of spec/00-terms.md")
    for index, entry in enumerate(raw.get("stated", [])):
        if entry.get("erratum", "E-1") not in specification.errata:
            raise document.error((*path, "stated", index), f"{entry['erratum']} is not in spec/errata.md")
    _check_alike(document, path, raw)
    if "by_choice" in raw:
        _check_choice(document, (*path, "by_choice"), raw["by_choice"], raw["operation"], specification)


def _check_choice(
    document: Document, path: KeyPath, by_choice: Mapping[str, Any], operation: str, specification: Specification
) -> None:
    ((name, options),) = by_choice.items()
    choice = specification.choices.get(name)
    if choice is None:
        raise document.error((*path, name), "is no choice of spec/08-choices.md")
    if set(options) != set(choice.options):
        raise document.error((*path, name), f"needs an answer for each of {', '.join(choice.options)}")
    for option, outcome in options.items():
        here = (*path, name, option)
        if "by_choice" in outcome:
            _check_choice(document, (*here, "by_choice"), outcome["by_choice"], operation, specification)
        _check_results(document, here, outcome, operation)


def _check_results(document: Document, path: KeyPath, outcome: Mapping[str, Any], operation: str) -> None:
    """Check the results of one option; a schema that chooses by the operation does not reach them."""
    results = {(*path, "one_of", index): result for index, result in enumerate(outcome.get("one_of", ()))}
    if "expect" in outcome:
        results[*path, "expect"] = outcome["expect"]
    for place, result in results.items():
        for inner, message in schema.errors(result, f"operations/{operation}/result"):
            raise document.error((*place, *inner), message)
    _check_alike(document, path, outcome)


def _check_alike(document: Document, path: KeyPath, outcome: Mapping[str, Any]) -> None:
    """Check that the right answers of a ``one_of`` have the same keys: any of them is compared as the first is."""
    first, *others = outcome.get("one_of", [{}])
    for index, other in enumerate(others, 1):
        if other.keys() != first.keys():
            raise document.error((*path, "one_of", index), f"needs the keys of the first, {', '.join(first)}")
