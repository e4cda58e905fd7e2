"""The plan of a sweep: what is compared, how the inputs are read, and the units, each with an id of its own.

The id of a unit is made of everything on which its result depends: files, with what changes when they do, the stretch
of each, how they are read, the implementations with their versions and the models. So a result that is there can be
taken whoever made it, and when.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tokspec.base.errors import DataError
from tokspec.base.files import write_whole
from tokspec.records import kind_of
from tokspec.records.parquet import row_groups
from tokspec.records.streams import without_compression
from tokspec.sweep.documents import Part, Selection
from tokspec.sweep.opening import Found, find, open_bytes

__all__ = ["FORMAT", "Header", "Plan", "Unit", "make_plan", "read_header", "read_plan", "write_plan"]

#: The version of plan and results.
FORMAT = 1

FILE = "plan.ndjson"


@dataclass(frozen=True)
class Header:
    """What is the same for every unit.

    ``sides`` describe the two implementations: ``impl`` or ``command``, ``name`` and ``version``, the ``format`` and
    the digest ``model`` of what they load, and the ``choices`` of the reference. ``field`` is what is compared, ``ids``
    or ``tokens``. ``folder`` is where paths begin, and ``limits`` what a process may take; neither is part of an id.
    """

    sides: tuple[Mapping[str, Any], Mapping[str, Any]]
    field: str
    selection: Selection
    folder: str
    limits: Mapping[str, float]
    unicode: str = unicodedata.unidata_version

    @property
    def key(self) -> str:
        """A digest of what results depend on."""
        return _digest([FORMAT, *map(_identity, self.sides), self.field, asdict(self.selection), self.unicode])

    @property
    def labels(self) -> tuple[str, str]:
        """What to call the sides: by their names, with what else tells them apart."""
        names = [side["name"] for side in self.sides]
        if names[0] == names[1]:
            names = [f"{side['name']} {side['version']}" for side in self.sides]
        if names[0] == names[1]:
            names = [f"{name} ({which})" for name, which in zip(names, ("first", "second"), strict=True)]
        return names[0], names[1]


def _identity(side: Mapping[str, Any]) -> dict[str, Any]:
    return {key: side[key] for key in ("name", "version", "format", "model", "choices")}


@dataclass(frozen=True)
class Unit:
    """Some parts that are done at once."""

    id: str
    parts: tuple[Part, ...]

    @property
    def bytes(self) -> int:
        """About how much there is to read."""
        return sum(part.bytes for part in self.parts)

    def to_json(self) -> dict[str, Any]:
        """Write it as plain values."""
        return {"unit": self.id, "parts": [list(vars(part).values()) for part in self.parts]}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Unit:
        """Read what :meth:`to_json` wrote."""
        return cls(plain["unit"], tuple(Part(*part) for part in plain["parts"]))


@dataclass(frozen=True)
class Plan:
    """A header and all units."""

    header: Header
    units: tuple[Unit, ...]


def _digest(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:24]


def make_plan(
    header: Header, names: Sequence[str], kind: str | None, unit_bytes: int, output: Path | None = None
) -> Plan:
    """Find the inputs and cut them into units of about so many bytes.

    Args:
        header: of the plan.
        names: files, folders, patterns, addresses.
        kind: of every file: ``lines``, ``whole``, ``jsonl`` or ``parquet``; None goes by the ends of names.
        unit_bytes: small files are put together, large ones that can be are cut.
        output: the folder of the results, which are no inputs where it is among them.

    Raises:
        DataError: there is no such file, or one needs a package that is not installed.
    """
    found = dict.fromkeys(each for name in names for each in find(name) if not _is_below(each.path, output))
    parts = (part for file in found for part in _parts(file, kind, unit_bytes))
    return Plan(header, tuple(_units(parts, header.key, unit_bytes)))


def _is_below(path: str, folder: Path | None) -> bool:
    if folder is None or "://" in path:
        return False
    return Path(os.path.abspath(path)).is_relative_to(os.path.abspath(folder))


def _parts(file: Found, kind: str | None, unit_bytes: int) -> Iterator[Part]:
    chosen = kind or kind_of(file.path)
    if chosen == "parquet":
        yield from _row_groups(file, unit_bytes)
        return
    is_cut = chosen != "whole" and without_compression(file.path) == file.path
    count = max(1, round(file.size / unit_bytes)) if is_cut else 1
    for number in range(count):
        start, end = file.size * number // count, file.size * (number + 1) // count
        yield Part(*file, chosen, count == 1, start, end)


def _row_groups(file: Found, unit_bytes: int) -> Iterator[Part]:
    with closing(open_bytes(*file)) as stream:
        sizes = row_groups(stream, file.path)
    start, gathered = 0, 0
    for group, size in enumerate(sizes, 1):
        gathered += size
        if gathered >= unit_bytes and group < len(sizes):
            yield Part(*file, "parquet", False, start, group)
            start, gathered = group, 0
    yield Part(*file, "parquet", start == 0, start, len(sizes))


def _units(parts: Iterable[Part], key: str, unit_bytes: int) -> Iterator[Unit]:
    gathered: list[Part] = []
    size = 0
    for part in parts:
        gathered.append(part)
        size += part.bytes
        if size >= unit_bytes * 0.75:
            yield _unit(gathered, key)
            gathered, size = [], 0
    if gathered:
        yield _unit(gathered, key)


def _unit(parts: Sequence[Part], key: str) -> Unit:
    return Unit(_digest([key, *(asdict(part) for part in parts)]), tuple(parts))


def write_plan(folder: Path, plan: Plan) -> None:
    """Write a plan whole into the folder of its sweep.

    Raises:
        DataError: it cannot be written.
    """
    head = {"tokspec_sweep": FORMAT, **asdict(plan.header), "units": len(plan.units)}
    lines = [json.dumps(each, sort_keys=True) for each in (head, *(unit.to_json() for unit in plan.units))]
    write_whole(folder / FILE, "\n".join(lines) + "\n")


def read_header(folder: Path) -> Header:
    """Read the header of the plan in a folder.

    Raises:
        DataError: there is no plan, or it is not of this version.
    """
    try:
        with (folder / FILE).open(encoding="utf-8") as stream:
            plain = json.loads(stream.readline())
        if plain["tokspec_sweep"] != FORMAT:
            raise DataError("is a plan of another version of the suite", str(folder / FILE))
        first, second = plain["sides"]
        others = {name: plain[name] for name in ("field", "folder", "limits", "unicode")}
        return Header((first, second), selection=Selection(**plain["selection"]), **others)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", str(folder / FILE)) from None
    except (ValueError, KeyError, TypeError):
        raise DataError("is no plan of a sweep", str(folder / FILE), 1) from None


def read_plan(folder: Path) -> Plan:
    """Read the plan in a folder.

    Raises:
        DataError: as :func:`read_header`.
    """
    header = read_header(folder)
    with (folder / FILE).open(encoding="utf-8") as stream:
        stream.readline()
        return Plan(header, tuple(Unit.from_json(json.loads(line)) for line in stream))
