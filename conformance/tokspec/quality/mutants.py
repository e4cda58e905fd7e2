"""Mutants: known faults of the reference, as data, with which the suite measures its own power.

``conformance/mutants/README.md`` says how they are written. A mutant is a change of a definition of the reference; it
is an error if its old code does not occur, or occurs in several places.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tokspec.base.errors import DataError
from tokspec.quality.definitions import Edit, apply, find_definition, parse_statements, tree_of
from tokspec.suite.specification import load_specification
from tokspec.suite.strict_yaml import Document, KeyPath, read_yaml

_NEEDED = ("id", "clause", "fault", "in", "old", "new")
_NEEDED_WITH_ADDS = ("id", "clause", "fault", "in")
_TYPES: Mapping[str, type] = {
    **dict.fromkeys(_NEEDED, str),
    "nth": int,
    "also": list,
    "adds": str,
    "choices": dict,
    "origin": str,
    "equivalent": str,
    "permitted": str,
}
_COPIED = ("id", "clause", "fault", "nth", "adds", "choices", "origin")
_TYPES_OF_EDITS: Mapping[str, type] = {"in": str, "old": str, "new": str, "nth": int}


@dataclass(frozen=True)
class Mutant:
    """The reference with one fault.

    ``definition`` contains ``old`` in one place, or in an ``nth`` one, where it is replaced by ``new``; ``also`` are
    changes of other definitions of its module, and ``adds`` is appended to the module. ``harmless`` says why no case
    may notice the mutant; ``choices`` are the options with which it is run.
    """

    id: str
    clause: str
    fault: str
    definition: str
    old: str
    new: str
    nth: int = 0
    also: tuple[Edit, ...] = ()
    adds: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    harmless: str = ""
    place: str = ""

    @property
    def module(self) -> str:
        """The module of the reference that contains its definition.

        Raises:
            DataError: there is no such definition.
        """
        return find_definition(self.definition).module

    def changed(self) -> ast.Module:
        """Return the syntax tree of its module with the fault.

        Raises:
            DataError: a definition or its old code is not there, nothing changes, or the new code is not Python.

        >>> fault = Mutant("greedy", "WP-ENC-1", "takes nothing", "encode_wordpiece", "begin = 0", "begin = 1")
        >>> ast.unparse(fault.changed()).count("begin = 1")
        1
        """
        try:
            tree, _ = self._changed()
            compile(tree, self.module, "exec", dont_inherit=True)
        except DataError as error:
            raise DataError(error.message, self.place, key=self.id) from None
        except (SyntaxError, ValueError) as error:
            raise DataError(f"is not valid Python: {getattr(error, 'msg', error)}", self.place, key=self.id) from None
        return tree

    def lines(self) -> list[tuple[int, int]]:
        """Return the first and the last line of each place in its module that it changes."""
        return self._changed()[1]

    def _changed(self) -> tuple[ast.Module, list[tuple[int, int]]]:
        tree, lines = tree_of(self.module), []
        own = Edit(self.definition, self.old, self.new, self.nth)
        for edit in (own, *self.also) if self.old or not self.adds else self.also:
            if find_definition(edit.definition).module != self.module:
                raise DataError(f"{edit.definition} is not in {self.module}, as {self.definition} is")
            tree, first, last = apply(tree, edit)
            lines.append((first, last))
        return ast.Module([*tree.body, *parse_statements(self.adds)], []), lines


def mutants_folder() -> Path | None:
    """Return the folder of mutants in the installed checkout, or in the one in the current folder.

    >>> folder = mutants_folder()
    >>> folder is None or folder.name
    'mutants'
    """
    folders = (Path(__file__).resolve().parents[3] / "mutants", Path("conformance", "mutants"))
    return next((folder for folder in folders if folder.is_dir()), None)


def load_mutants(folder: Path) -> list[Mutant]:
    """Read all mutants of a folder, in the order of its files.

    Raises:
        DataError: the first thing that is wrong, with file, line and key.
    """
    mutants: dict[str, Mutant] = {}
    for file in sorted(folder.glob("*.yaml")):
        document = read_yaml(file, file.name)
        for path, entry in _entries(document):
            mutant = _mutant(document, path, entry)
            if mutant.id in mutants:
                raise document.error((*path, "id"), f"{mutant.id} is used by {mutants[mutant.id].place}")
            mutants[mutant.id] = mutant
    if not mutants:
        raise DataError("holds no mutants (*.yaml)", str(folder))
    return list(mutants.values())


def selected(mutants: list[Mutant], patterns: tuple[str, ...]) -> list[Mutant]:
    """Return the mutants whose id, clause or file matches any pattern, or all mutants without a pattern.

    Raises:
        DataError: for a pattern that matches none.

    >>> selected([], ())
    []
    """
    matching = {pattern: [mutant for mutant in mutants if _matches(mutant, pattern)] for pattern in patterns}
    for pattern, found in matching.items():
        if not found:
            raise DataError(f"{pattern!r} matches no mutant", key="--select")
    return [mutant for mutant in mutants if not patterns or any(mutant in found for found in matching.values())]


def _matches(mutant: Mutant, pattern: str) -> bool:
    names = (mutant.id, mutant.clause, mutant.place.partition(":")[0])
    return any(fnmatchcase(name, pattern) for name in names)


def _entries(document: Document) -> Iterator[tuple[KeyPath, dict[str, Any]]]:
    """Return the entries of a file, each an object of known keys with values of the right types."""
    if not isinstance(document.value, list):
        raise document.error((), "must be a list of mutants")
    for index, entry in enumerate(document.value):
        if not isinstance(entry, dict):
            raise document.error((index,), "must be an object")
        _check(document, (index,), entry, _TYPES, _NEEDED if "adds" not in entry else _NEEDED_WITH_ADDS)
        for place, edit in enumerate(entry.get("also", [])):
            if not isinstance(edit, dict):
                raise document.error((index, "also", place), "must be an object")
            _check(document, (index, "also", place), edit, _TYPES_OF_EDITS, ("in", "old", "new"))
        yield (index,), entry


def _check(
    document: Document, path: KeyPath, entry: dict[str, Any], types: Mapping[str, type], needed: tuple[str, ...]
) -> None:
    for key, value in entry.items():
        if type(value) is not types.get(key):
            wanted = f"must be of type {types[key].__name__}" if key in types else "is an unknown key"
            raise document.error((*path, key), wanted)
    for key in needed:
        if key not in entry:
            raise document.error(path, f"lacks the key {key}")


def _mutant(document: Document, path: KeyPath, entry: dict[str, Any]) -> Mutant:
    specification = load_specification()
    if entry["clause"] not in specification.clauses:
        raise document.error((*path, "clause"), f"{entry['clause']} is not a clause of the specification")
    for name, option in entry.get("choices", {}).items():
        if name not in specification.choices or option not in specification.choices[name].options:
            raise document.error((*path, "choices", name), f"{name}={option} is not an option of the specification")
    return Mutant(
        definition=entry["in"],
        also=tuple(Edit(each["in"], each["old"], each["new"], each.get("nth", 0)) for each in entry.get("also", [])),
        harmless=entry.get("equivalent", entry.get("permitted", "")),
        place=f"{document.file}:{document.lines[path]}",
        old=entry.get("old", ""),
        new=entry.get("new", ""),
        **{key: entry[key] for key in _COPIED if key in entry},
    )
