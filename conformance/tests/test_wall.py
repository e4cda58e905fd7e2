"""What may import what: the core knows nothing of the laboratory and the published adapters, and there is no circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import tokspec

ROOT = Path(tokspec.__file__).parent

#: Modules that the laboratory offers under a short name; nothing of the core imports them.
DOORS = ("testing",)


@cache
def imports() -> dict[str, set[str]]:
    """Return what each module imports of the harness, at its head or within a function; types alone do not count."""
    names = {_name(file): file for file in ROOT.rglob("*.py") if "templates" not in file.relative_to(ROOT).parts[:-1]}
    return {name: {imported for imported in _imported(file) if imported in names} for name, file in names.items()}


def _name(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(("tokspec", *(parts[:-1] if parts[-1] == "__init__" else parts)))


def _imported(file: Path) -> Iterator[str]:
    tree = ast.parse(file.read_text("utf-8"))
    for_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node not in for_types:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import) and node not in for_types:
            yield from (alias.name for alias in node.names)


def side(module: str) -> str:
    """Name the side of the wall on which a module is."""
    room = module.split(".")[1] if "." in module else ""
    if room in DOORS:
        return "laboratory"
    return room if room in ("laboratory", "published") else "core"


def crossing(here: str, there: set[str]) -> list[str]:
    """Name the imports that lead from one side to another."""
    return sorted(
        f"{name} imports {imported}"
        for name, found in imports().items()
        for imported in found
        if side(name) == here and side(imported) in there
    )


def test_there_are_modules_on_each_side() -> None:
    sides = [side(name) for name in imports()]
    assert all(sides.count(name) > 10 for name in ("core", "laboratory", "published"))


def test_the_core_knows_nothing_of_the_laboratory_or_of_published_adapters() -> None:
    assert crossing("core", {"laboratory", "published"}) == []


def test_the_laboratory_and_the_published_adapters_know_nothing_of_each_other() -> None:
    assert crossing("laboratory", {"published"}) == []
    assert crossing("published", {"laboratory"}) == []


def test_a_published_adapter_knows_how_models_are_written_and_what_an_adapter_is() -> None:
    rooms = {
        imported.split(".")[1]
        for name, found in imports().items()
        if side(name) == "published"
        for imported in found - {"tokspec"}
    }
    assert rooms <= {"adapter", "base", "formats", "protocol", "published"}, rooms


def test_no_module_comes_back_to_itself() -> None:
    without_packages = {
        name: {imported for imported in found - {name} if not name.startswith(f"{imported}.")}
        for name, found in imports().items()
    }
    assert list(TopologicalSorter(without_packages).static_order())
