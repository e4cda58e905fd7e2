"""What the harness offers: every name on a list, with a docstring."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import tokspec

MODULES = {
    name: importlib.import_module(name)
    for _, name, _ in pkgutil.walk_packages(tokspec.__path__, f"{tokspec.__name__}.")
}


def public() -> Iterator[tuple[str, Any]]:
    """Return every public function and class, by its full name, in the module that defines it."""
    for name, module in MODULES.items():
        for key in getattr(module, "__all__", own(module)):
            value = getattr(module, key)
            if (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == name:
                yield f"{name}.{key}", value


def own(module: ModuleType) -> list[str]:
    """Name what a module defines without an underscore."""
    return [
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def test_only_doors_list_their_names() -> None:
    """Elsewhere a name without an underscore is public within the harness."""
    listing = [name for name, module in MODULES.items() if hasattr(module, "__all__")]
    assert [name for name in listing if not hasattr(MODULES[name], "__path__")] == [
        "tokspec.adapter",
        "tokspec.testing",
    ]


def test_every_listed_name_is_there() -> None:
    missing = [
        f"{name}.{key}"
        for name, module in MODULES.items()
        for key in getattr(module, "__all__", ())
        if not hasattr(module, key)
    ]
    assert missing == []


def test_every_module_and_every_public_name_has_a_docstring() -> None:
    assert [name for name, module in MODULES.items() if not module.__doc__] == []
    assert [
        name for name, value in public() if not value.__doc__ or value.__doc__.startswith(f"{value.__name__}(")
    ] == []


def test_the_harness_knows_the_references_through_their_adapters_alone() -> None:
    knowing = [
        name
        for name, module in MODULES.items()
        if re.search(r"^\s*(import|from) (tokref|tokfast)\b", inspect.getsource(module), re.M)
    ]
    assert knowing == ["tokspec.adapters.patterns", "tokspec.adapters.reference", "tokspec.adapters.tokfast"]
