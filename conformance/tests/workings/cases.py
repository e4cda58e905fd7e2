"""The fixtures, read by PyYAML alone: cases with their models and corpora in place of names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

OUTCOMES = ("expect", "one_of", "by_choice", "error")
FOLDER = Path(__file__).parents[3] / "fixtures"


@dataclass(frozen=True)
class Case:
    id: str
    model: Mapping[str, Any]
    operation: str
    input: Mapping[str, Any]
    outcome: Mapping[str, Any]
    verified_by: tuple[str, ...]
    tolerance: Mapping[str, float]
    file: str


def plain(value: Any) -> Any:
    """Replace ``{hex: …}`` by its string, and leave out the other texts of unknown tokens, which no program computes."""
    if isinstance(value, dict):
        if value.keys() == {"hex"}:
            return bytes.fromhex(value["hex"]).decode("utf-8", "surrogatepass")
        return {key: plain(item) for key, item in value.items() if key != "surface_tokens"}
    return [plain(item) for item in value] if isinstance(value, list) else value


@cache
def read(path: Path) -> Any:
    return plain(yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


@cache
def all_cases() -> Mapping[str, Case]:
    return {case.id: case for case in _cases()}


def _cases() -> Iterator[Case]:
    for path in sorted(FOLDER.glob("*/*.yaml")):
        if path.parent.name in ("models", "corpora", "origins"):
            continue
        file = read(path)
        for raw, model in (each for one in file["cases"] for each in _families(one, file)):
            for name, asked, outcome in _questions(raw):
                yield Case(
                    name,
                    read(FOLDER / "models" / f"{model}.yaml") if isinstance(model, str) else model,
                    raw["operation"],
                    asked,
                    outcome,
                    tuple(raw["verified_by"]),
                    raw.get("tolerance", {"relative": 1e-9, "absolute": 1e-9}),
                    f"{path.parent.name}/{path.stem}",
                )


def _families(raw: Mapping[str, Any], file: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """A case with its model, or once with that of each family; the first has the name of the case."""
    models, model = raw.get("models", file.get("models")), raw.get("model", file.get("model", {}))
    model = file.get("named_models", {}).get(model, model) if isinstance(model, str) else model
    is_whole = isinstance(model, str) or "type" in model
    if models is None or (is_whole and "models" not in raw):
        yield raw, model
        return
    for place, (family, own) in enumerate(models.items()):
        case = _of_family(raw, family)
        if "inputs" in case:
            case["inputs"] = [_of_family(row, family) for row in case["inputs"]]
        if place:
            case["id"] = f"{raw['id']}-{family}"
            case["verified_by"] = []  # a program computes the first
        yield case, {"type": family, **own, **({} if is_whole else model)}


def _of_family(question: Mapping[str, Any], family: str) -> dict[str, Any]:
    kept, own = dict(question), question.get("differs", {}).get(family, {})
    kept.pop("differs", None)
    return {key: value for key, value in kept.items() if not own or key not in OUTCOMES} | own


def _questions(raw: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Name, input and outcome of a case, or of each row of its inputs."""
    if "inputs" not in raw:
        yield raw["id"], _input(raw["input"]), {key: raw[key] for key in OUTCOMES if key in raw}
        return
    for number, row in enumerate(raw["inputs"], 1):
        input = {key: value for key, value in row.items() if key not in OUTCOMES}
        yield f"{raw['id']}#{number}", _input(input), {key: row[key] for key in OUTCOMES if key in row}


def _input(given: Mapping[str, Any]) -> dict[str, Any]:
    asked = dict(given)
    if isinstance(asked.get("corpus"), str):
        asked["corpus"] = read(FOLDER / "corpora" / f"{asked['corpus']}.yaml")
    return asked
