"""The reference with the syntax tree of one module replaced: an implementation with a known fault, to be judged."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from tokspec.adapter import Adapter
from tokspec.base.errors import DataError

#: The packages that are searched for modules of the reference: its own, then its adapter's.
_PACKAGES = ("tokref", "tokspec.adapters")
_ADAPTER = "tokspec.adapters.reference"

REFERENCE = next(Path(place) for place in getattr(find_spec("tokref"), "submodule_search_locations", None) or ())


def mutated(module: str, tree: ast.Module, choices: Mapping[str, str]) -> Adapter:
    """Import the reference again with another syntax tree for one module; the reference itself is unchanged.

    Raises:
        DataError: the result cannot be imported.

    >>> wrong = source("wordpiece").replace("> model.max_word_length", ">= model.max_word_length")
    >>> adapter = mutated("wordpiece", ast.parse(wrong), {})
    >>> model = adapter.load("tokspec", {"type": "wordpiece", "vocabulary": ["[UNK]", "a"], "max_word_length": 1})
    >>> adapter.run("encode", model, {"text": "a"})["tokens"]
    ['[UNK]']
    """
    with _apart(_full_name(module), tree):
        try:
            adapter: Adapter = importlib.import_module(_ADAPTER).ReferenceAdapter(choices)
        except DataError:
            raise
        except Exception as error:
            raise DataError(f"{module} cannot be imported: {type(error).__name__}: {error}") from error
    return adapter


@cache
def source(module: str) -> str:
    """Return the source of a module of the reference, or of its adapter, given the module's name without its package.

    Raises:
        DataError: there is no such module.

    >>> "class WordPiece" in source("values")
    True
    """
    found = find_spec(_full_name(module))
    return Path(found.origin).read_text("utf-8") if found and found.origin else ""


def module_of(file: Path) -> str:
    """Return the name of a module in the reference: ``bpe``, or ``reading.models``.

    >>> module_of(REFERENCE / "reading" / "models.py")
    'reading.models'
    """
    return ".".join(file.relative_to(REFERENCE).with_suffix("").parts)


def _full_name(module: str) -> str:
    for package in _PACKAGES:
        if find_spec(f"{package}.{module}"):
            return f"{package}.{module}"
    raise DataError(f"the reference has no module {module!r}")


@contextmanager
def _apart(name: str, tree: ast.Module) -> Iterator[None]:
    """Let the reference be imported again, and then restore the original modules."""
    kept = {known: module for known, module in sys.modules.items() if _belongs(known)}
    finder = _Finder(name, tree)
    _forget()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        _forget()
        sys.modules.update(kept)
        package = importlib.import_module("tokspec.adapters")
        for known, module in kept.items():
            if known.startswith(_ADAPTER):
                setattr(package, known.rpartition(".")[2], module)


def _forget() -> None:
    for name in [name for name in sys.modules if _belongs(name)]:
        del sys.modules[name]


def _belongs(name: str) -> bool:
    return name == "tokref" or name.startswith(("tokref.", _ADAPTER))


class _Finder(MetaPathFinder, Loader):
    """Finds one module, and gives it another syntax tree."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self.name, self.tree = name, tree

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return spec_from_loader(fullname, self, is_package=False) if fullname == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.tree, f"<{self.name}>", "exec", dont_inherit=True), module.__dict__)
