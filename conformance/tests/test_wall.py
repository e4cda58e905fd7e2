"""What may import what: the core imports none of the packages around it, and no import leads back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import tokspec

ROOT = Path(tokspec.__file__).parent

#: The packages around the core, and which of the others each may import. The core imports none of them.
AROUND: dict[str, frozenset[str]] = {
    "compare": frozenset(),
    "fuzz": frozenset({"compare"}),
    "results": frozenset({"compare"}),
    "quality": frozenset(),
    "published": frozenset(),
}

#: A module that offers something of a package under a short name counts as a part of it.
DOORS = {"testing": "fuzz"}


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


def package(module: str) -> str:
    """Name the package around the core to which a module belongs, or the core."""
    room = module.split(".")[1] if "." in module else ""
    room = DOORS.get(room, room)
    return room if room in AROUND else "core"


def test_there_are_modules_in_each_package() -> None:
    packages = [package(name) for name in imports()]
    assert {name: packages.count(name) > 5 for name in ("core", *AROUND)} == dict.fromkeys(("core", *AROUND), True)


@pytest.mark.parametrize("here", ["core", *AROUND])
def test_a_package_imports_what_it_may(here: str) -> None:
    allowed = AROUND.get(here, frozenset()) | {"core", here}
    crossing = sorted(
        f"{name} imports {imported}"
        for name, found in imports().items()
        for imported in found
        if package(name) == here and package(imported) not in allowed
    )
    assert crossing == []


def test_a_published_adapter_knows_how_models_are_written_and_what_an_adapter_is() -> None:
    rooms = {
        imported.split(".")[1]
        for name, found in imports().items()
        if package(name) == "published"
        for imported in found - {"tokspec"}
    }
    assert rooms <= {"adapter", "base", "formats", "protocol", "published"}, rooms


def test_published_adapters_share_through_one_module() -> None:
    shared = {
        f"{name} imports {imported}"
        for name, found in imports().items()
        for imported in found - {"tokspec.published", "tokspec.published.sharing"}
        if package(name) == "published" and package(imported) == "published"
    }
    assert shared == set()


def test_no_module_comes_back_to_itself() -> None:
    without_packages = {
        name: {imported for imported in found - {name} if not name.startswith(f"{imported}.")}
        for name, found in imports().items()
    }
    assert list(TopologicalSorter(without_packages).static_order())
