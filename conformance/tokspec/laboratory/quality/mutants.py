"""Mutants: known faults of the reference, as data, by which the suite measures its own power.

``conformance/mutants/README.md`` says how they are written. A mutant is a change of the reference's source; one whose
old text is not there, or not as often as it says, is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tokspec.base.errors import DataError
from tokspec.laboratory.quality.mutated import source
from tokspec.suite.specification import load_specification
from tokspec.suite.strict_yaml import Document, KeyPath, read_yaml

_NEEDED = ("id", "clause", "fault", "in", "old", "new")
_TYPES: Mapping[str, type] = {
    **dict.fromkeys(_NEEDED, str),
    "adds": str,
    "times": int,
    "choices": dict,
    "origin": str,
    "equivalent": str,
    "permitted": str,
}


@dataclass(frozen=True)
class Mutant:
    """The reference with one fault.

    ``module`` has ``old`` in ``times`` places, which become ``new``; ``adds`` is put after its end. ``harmless`` says
    why nothing may notice it; ``choices`` are the options with which it is asked.
    """

    id: str
    clause: str
    fault: str
    module: str
    old: str
    new: str
    adds: str = ""
    times: int = 1
    choices: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    harmless: str = ""
    place: str = ""

    def changed(self) -> str:
        """Return the source of its module with the fault.

        Raises:
            DataError: the old text is not there so often, nothing changes, or the new text is no Python.

        >>> fault = Mutant("greedy", "WP-ENC-1", "takes nothing", "wordpiece", "begin = 0", "begin = 1")
        >>> fault.changed().count("begin = 1")
        1
        """
        try:
            text = source(self.module)
        except DataError as error:
            raise DataError(error.message, self.place, key=self.id) from None
        found = text.count(self.old)
        if found != self.times:
            message = f"{self.module} has the old text {found} times, not {self.times}; the reference has changed"
            raise DataError(message, self.place, key=self.id)
        changed = text.replace(self.old, self.new) + self.adds
        if changed == text:
            raise DataError("changes nothing", self.place, key=self.id)
        try:
            compile(changed, self.module, "exec")
        except SyntaxError as error:
            raise DataError(f"is no Python: {error.msg}", self.place, key=self.id) from None
        return changed


def mutants_folder() -> Path | None:
    """Return the folder of the checkout that is installed, or of the one in the current folder.

    >>> folder = mutants_folder()
    >>> folder is None or folder.name
    'mutants'
    """
    folders = (Path(__file__).resolve().parents[3] / "mutants", Path("conformance", "mutants"))
    return next((folder for folder in folders if folder.is_dir()), None)


def load_mutants(folder: Path) -> list[Mutant]:
    """Read every mutant of a folder, in the order of its files.

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
    """Return those whose id, clause or file matches any pattern, or all without one.

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
        raise document.error((), "is to be a list of mutants")
    for index, entry in enumerate(document.value):
        if not isinstance(entry, dict):
            raise document.error((index,), "is to be an object")
        for key, value in entry.items():
            if type(value) is not _TYPES.get(key):
                wanted = f"is to be of type {_TYPES[key].__name__}" if key in _TYPES else "is an unknown key"
                raise document.error((index, key), wanted)
        for key in _NEEDED:
            if key not in entry:
                raise document.error((index,), f"lacks the key {key}")
        yield (index,), entry


def _mutant(document: Document, path: KeyPath, entry: dict[str, Any]) -> Mutant:
    specification = load_specification()
    if entry["clause"] not in specification.clauses:
        raise document.error((*path, "clause"), f"{entry['clause']} is no clause of the specification")
    for name, option in entry.get("choices", {}).items():
        if name not in specification.choices or option not in specification.choices[name].options:
            raise document.error((*path, "choices", name), f"{name}={option} is no option of the specification")
    return Mutant(
        module=entry["in"],
        harmless=entry.get("equivalent", entry.get("permitted", "")),
        place=f"{document.file}:{document.lines[path]}",
        **{key: entry[key] for key in (*_NEEDED, "adds", "times", "choices", "origin") if key in entry and key != "in"},
    )
