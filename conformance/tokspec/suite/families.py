"""One text as a case for each family of models: the meaning of ``models`` in a fixture file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tokspec.suite import schema
from tokspec.suite.cases import numbers_of
from tokspec.suite.strict_yaml import Document, KeyPath

#: The kinds of expected outcomes; a case has one of these keys.
OUTCOMES = ("expect", "one_of", "by_choice", "error")

#: The version of the suite that introduced families: only cases of the first family are older.
_SINCE = "0.3.0"


def by_family(document: Document, path: KeyPath) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the case at a path once for each family, with the model of that family, as if it were written so.

    The first has the id of the case, and each other one has that id and its family. A case with a single model gives
    nothing: it names one of ``models/``, has one with a ``type``, or is in a file without ``models``.

    Raises:
        DataError: a key is given twice, the model of a family is not valid, an answer is given for no family, or a
            family's answer has no ``verified_by``.
    """
    file, raw = document.value, document.value["cases"][path[-1]]
    has_own = "models" in raw
    models = raw.get("models", file.get("models"))
    shared = raw.get("model", file.get("model", {}))
    shared = file.get("named_models", {}).get(shared, shared) if isinstance(shared, str) else shared
    is_whole = isinstance(shared, str) or "type" in shared
    if models is None or (is_whole and not has_own):
        _refuse_families(document, path, raw, ())
        return
    if is_whole and "model" in raw:
        raise document.error((*path, "models"), "is next to a model of one family; leave out one of the two")
    place, shared = (*path, "models") if has_own else ("models",), {} if is_whole else shared
    _refuse_families(document, path, raw, models)
    for family, part in models.items():
        yield _case(raw, family, is_first=family == next(iter(models))), _model(document, place, family, part, shared)


def _model(
    document: Document, place: KeyPath, family: str, part: Mapping[str, Any], shared: Mapping[str, Any]
) -> dict[str, Any]:
    for key in part:
        if key in shared or key == "type":
            raise document.error((*place, family, key), "is given twice; leave out one of the two")
    model = {"type": family, **part, **shared}
    for inner, message in schema.errors(model, "model"):
        raise document.error((*place, family, *inner), message)
    return model


def _case(raw: Mapping[str, Any], family: str, *, is_first: bool) -> dict[str, Any]:
    case = _answered(raw, family)
    case.pop("models", None)
    if "inputs" in case:
        case["inputs"] = [_answered(row, family) for row in case["inputs"]]
    if not is_first:
        case["id"] = f"{raw['id']}-{family}"
        case["since"] = max(raw.get("since", _SINCE), _SINCE, key=numbers_of)
        if case["verified_by"] == raw["verified_by"]:  # that is only about the first model
            case["verified_by"] = [f"hand: as {raw['id']}; this model makes the same tokens"]
    return case


def _answered(question: Mapping[str, Any], family: str) -> dict[str, Any]:
    """Return a case or a row with the values that ``differs`` has for a family."""
    own = question.get("differs", {}).get(family, {})
    is_answered = any(key in own for key in OUTCOMES)
    kept = {key: value for key, value in question.items() if key != "differs" and not (is_answered and key in OUTCOMES)}
    return {**kept, **own}


def _refuse_families(document: Document, path: KeyPath, raw: Mapping[str, Any], families: Any) -> None:
    """Refuse an entry of ``differs`` for a family that the case does not have."""
    places = {path: raw, **{(*path, "inputs", index): row for index, row in enumerate(raw.get("inputs", ()))}}
    verified = {family for family, own in raw.get("differs", {}).items() if "verified_by" in own}
    for place, question in places.items():
        for family, own in question.get("differs", {}).items():
            if family not in families:
                listed = ", ".join(families) or "one model"
                raise document.error((*place, "differs", family), f"is not a family of the case, which has {listed}")
            if family not in verified and any(key in own for key in OUTCOMES):
                message = (
                    f"has an answer of its own; say in the differs of the case how it is known: {family}, verified_by"
                )
                raise document.error((*place, "differs", family), message)
