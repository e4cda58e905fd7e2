"""The reference with the source of one module exchanged: an implementation with a known fault, to be judged."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from tokspec.adapter import Adapter
from tokspec.base.errors import DataError

#: Where the modules of the reference are looked for: its own package, then its adapter's.
_PACKAGES = ("tokref", "tokspec.adapters")
_ADAPTER = "tokspec.adapters.reference"


def mutated(module: str, text: str, choices: Mapping[str, str]) -> Adapter:
    """Import the reference anew with the text as the source of a module; the reference itself stays as it is.

    Raises:
        DataError: what comes of it cannot be imported.

    >>> wrong = source("wordpiece").replace("> model.max_word_length", ">= model.max_word_length")
    >>> adapter = mutated("wordpiece", wrong, {})
    >>> model = adapter.load("tokspec", {"type": "wordpiece", "vocabulary": ["[UNK]", "a"], "max_word_length": 1})
    >>> adapter.run("encode", model, {"text": "a"})["tokens"]
    ['[UNK]']
    """
    with _apart(_full_name(module), text):
        try:
            adapter: Adapter = importlib.import_module(_ADAPTER).ReferenceAdapter(choices)
        except DataError:
            raise
        except Exception as error:
            raise DataError(f"{module} cannot be imported: {type(error).__name__}: {error}") from error
    return adapter


@cache
def source(module: str) -> str:
    """Return the source of a module of the reference, or of its adapter, by its last name.

    Raises:
        DataError: there is no such module.

    >>> "class WordPiece" in source("values")
    True
    """
    found = find_spec(_full_name(module))
    return Path(found.origin).read_text("utf-8") if found and found.origin else ""


def _full_name(module: str) -> str:
    for package in _PACKAGES:
        if find_spec(f"{package}.{module}"):
            return f"{package}.{module}"
    raise DataError(f"the reference has no module {module!r}")


@contextmanager
def _apart(name: str, text: str) -> Iterator[None]:
    """Let the reference be imported anew, and put what was there back."""
    kept = {known: module for known, module in sys.modules.items() if _belongs(known)}
    finder = _Finder(name, text)
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


class _Finder(MetaPathFinder, InspectLoader):
    """Finds one module, and gives it another source."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return spec_from_loader(fullname, self) if fullname == self.name else None

    def get_source(self, fullname: str) -> str:
        return self.text

    def is_package(self, fullname: str) -> bool:
        return False
