"""The fixtures, read by PyYAML alone: cases with their models and corpora in place of names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

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


def plain(value: Any) -> Any:
    """Replace ``{hex: …}`` by its string."""
    if isinstance(value, dict):
        if value.keys() == {"hex"}:
            return bytes.fromhex(value["hex"]).decode("utf-8", "surrogatepass")
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


@cache
def read(path: Path) -> Any:
    return plain(yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


@cache
def all_cases() -> Mapping[str, Case]:
    return {case.id: case for case in _cases()}


def _cases() -> Iterator[Case]:
    for path in sorted(FOLDER.glob("*/*.yaml")):
        if path.parent.name in ("models", "corpora"):
            continue
        file = read(path)
        for raw in file["cases"]:
            model = raw.get("model", file.get("model"))
            asked = dict(raw["input"])
            if isinstance(asked.get("corpus"), str):
                asked["corpus"] = read(FOLDER / "corpora" / f"{asked['corpus']}.yaml")
            yield Case(
                raw["id"],
                read(FOLDER / "models" / f"{model}.yaml") if isinstance(model, str) else model,
                raw["operation"],
                asked,
                {key: raw[key] for key in ("expect", "one_of", "by_choice", "error") if key in raw},
                tuple(raw["verified_by"]),
                raw.get("tolerance", {"relative": 1e-9, "absolute": 1e-9}),
            )
