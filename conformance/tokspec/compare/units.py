"""Files split into units, and the folder with their results.

    plan.ndjson          what is compared: a header, and a line for each unit
    models/0.json        what side A loads, models/1.json side B
    results/ab/ID.json   the result of a unit; it is there whole or not at all

The id of a unit is a digest of everything on which its result depends: the files, with a tag that changes when they do,
the part of each, how they are read, and the sides with their versions and models. So an existing result can be used, no
matter who computed it and when. It does not depend on the engine, the number of workers, or what went wrong in between.
"""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from tokspec.base.errors import DataError
from tokspec.base.files import open_ordinary, read_at_most, refuse_links, write_whole
from tokspec.compare.inputs import Part, Reading, find_parts
from tokspec.compare.models import Loaded, digest
from tokspec.compare.tally import Tally
from tokspec.formats.on_disk import LARGEST

#: The version of plan and results.
FORMAT = 4
_PLAN = "plan.ndjson"
#: The most bytes of a plan's header and of a unit's result; causes and their examples are bounded.
_LONGEST = 256 * 1024**2


@dataclass(frozen=True)
class Header:
    """The part of the plan that is the same for every unit.

    ``sides`` are the descriptions of A and B by :func:`.sides.describe_sides`; ``field`` is what is compared: ``ids``,
    ``tokens`` or the ``parts`` of streams. ``folder`` is the start of relative paths, and ``limits`` are the limits of
    a process; neither is part of an id.
    """

    sides: tuple[Mapping[str, Any], Mapping[str, Any]]
    field: str
    reading: Reading
    folder: str
    limits: Mapping[str, float]
    unicode: str = unicodedata.unidata_version

    @property
    def key(self) -> str:
        """A digest of everything that results depend on."""
        who = [{name: value for name, value in side.items() if name not in ("impl", "command")} for side in self.sides]
        return digest([FORMAT, who, self.field, asdict(self.reading), self.unicode])[:24]


@dataclass(frozen=True)
class Unit:
    """Some parts of files that are processed together."""

    id: str
    parts: tuple[Part, ...]

    @property
    def bytes(self) -> int:
        """The approximate number of bytes to read."""
        return sum(part.bytes for part in self.parts)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"unit": self.id, "parts": [list(vars(part).values()) for part in self.parts]}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Unit:
        """Read what :meth:`to_json` returned."""
        return cls(plain["unit"], tuple(Part(*part) for part in plain["parts"]))


def cut_into_units(header: Header, names: Sequence[str], unit_bytes: int, output: Path | None = None) -> list[Unit]:
    """Find files, and group them or parts of them into units.

    Args:
        header: the header of the plan.
        names: files, folders, patterns, addresses.
        unit_bytes: the approximate size of a unit; small files are joined, large ones are split if possible.
        output: the folder of the results; files in it are not inputs.

    Raises:
        DataError: there is no such file, or one needs a package that is not installed.
    """
    found = (part for name in names for part in find_parts(name, header.reading.kind, unit_bytes))
    units: list[Unit] = []
    gathered: list[Part] = []
    for part in dict.fromkeys(part for part in found if not _is_below(part.path, output)):
        gathered.append(part)
        if sum(each.bytes for each in gathered) >= unit_bytes * 0.75:
            units.append(_make_unit(gathered, header.key))
            gathered = []
    return [*units, _make_unit(gathered, header.key)] if gathered else units


def _is_below(path: str, folder: Path | None) -> bool:
    if folder is None or "://" in path:
        return False
    return Path(os.path.abspath(path)).is_relative_to(os.path.abspath(folder))


def _make_unit(parts: Sequence[Part], key: str) -> Unit:
    return Unit(digest([key, *(asdict(part) for part in parts)])[:24], tuple(parts))


# The plan


def prepare_folder(folder: Path, header: Header, units: Sequence[Unit], loaded: Sequence[Loaded]) -> None:
    """Write the plan, and the content that the sides load.

    Raises:
        DataError: the folder has a plan that is not one, or cannot be written.
    """
    if (folder / _PLAN).exists():
        read_header(folder)  # another comparison may have left it: a unit's id tells to which a result belongs
    (folder / "models").mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n", "utf-8")  # the folder is among the user's own files
    for index, each in enumerate(loaded):
        write_whole(_model_file(folder, index), json.dumps(each))
    head = {"tokspec_diff": FORMAT, **asdict(header), "units": len(units)}
    lines = [json.dumps(each, sort_keys=True) for each in (head, *(unit.to_json() for unit in units))]
    write_whole(folder / _PLAN, "\n".join(lines) + "\n")


def read_header(folder: Path) -> Header:
    """Read the header of the plan in a folder.

    Raises:
        DataError: there is no plan, or it is not of this version.
    """
    file = folder / _PLAN
    with open_ordinary(file, str(file)) as stream:
        line = stream.readline(_LONGEST + 1)
    try:
        plain = json.loads(line)
        if plain["tokspec_diff"] != FORMAT:
            raise DataError("was written by another version of the suite; give another folder with --output", str(file))
        _refuse_others("plan", plain)
        a, b = plain["sides"]
        others = {name: plain[name] for name in ("field", "folder", "limits", "unicode")}
        return Header((a, b), reading=Reading(**plain["reading"]), **others)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError("is not the plan of a comparison; give another folder with --output", str(file), 1) from None


def _refuse_others(part: str, plain: Any) -> None:
    """Refuse a value that doesn't match that part of ``result.schema.json``, because anybody may have put it there.

    Raises:
        ValueError: it is not.
    """
    _validator(part).validate(plain)


@cache
def _validator(part: str) -> jsonschema_rs.Draft202012Validator:
    schema = json.loads(Path(__file__).with_name("result.schema.json").read_text("utf-8"))
    return jsonschema_rs.Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{part}"})


def _model_file(folder: Path, index: int) -> Path:
    return folder / "models" / f"{index}.json"


def read_model(folder: Path, index: int) -> Loaded:
    """Return the content that a side loads.

    Raises:
        DataError: it is not there.
    """
    file = _model_file(folder, index)
    try:
        content, tokens = json.loads(read_at_most(file, str(file), LARGEST))
        return Loaded(content, {int(id): token for id, token in tokens.items()})
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"cannot be read: {error}", str(file)) from None


# Results


def result_file(folder: Path, unit: str) -> Path:
    """Return the file of a unit's result.

    >>> result_file(Path("diff"), "abcd").as_posix()
    'diff/results/ab/abcd.json'
    """
    return folder / "results" / unit[:2] / f"{unit}.json"


def find_done(folder: Path, units: Iterable[Unit]) -> set[str]:
    """Return the ids of units that have a result."""
    there = {file.stem for file in (folder / "results").glob("??/*.json")}
    return {unit.id for unit in units if unit.id in there}


def write_result(folder: Path, unit: Unit, tally: Tally) -> None:
    """Write the result of a unit, whole or not at all.

    Raises:
        DataError: it cannot be written, and is not there.
    """
    file = result_file(folder, unit.id)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", str(file)) from None
    write_whole(file, json.dumps({"unit": unit.id, **tally.to_json()}, sort_keys=True, indent=1) + "\n")


def read_result(folder: Path, unit: str) -> Tally:
    """Read the result of a unit.

    Raises:
        DataError: it is not what was written.
    """
    file = result_file(folder, unit)
    try:
        plain = json.loads(read_at_most(file, str(file), _LONGEST))
        _refuse_others("result", plain)
        del plain["unit"]
        return Tally.from_json(plain)
    except (ValueError, RecursionError):
        raise DataError("is not the result of a unit; remove it, and start again", str(file)) from None


def sum_results(folder: Path, units: Sequence[Unit]) -> Tally:
    """Add up the existing results, in the order of the units."""
    total, done = Tally(), find_done(folder, units)
    for unit in units:
        if unit.id in done:
            total.add(read_result(folder, unit.id))
    return total


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keep others from comparing into the same folder, and remove files that an interrupted writer left.

    Raises:
        DataError: somebody else is at work there, a link is, or the folder cannot be made.
    """
    refuse_links(folder)
    try:
        (folder / "results").mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", str(folder)) from None
    try:
        _lock(lock, folder)
        for left in (folder / "results").glob("??/.*"):
            with suppress(OSError):
                left.unlink()
        yield
    finally:
        os.close(lock)


def _lock(descriptor: int, folder: Path) -> None:
    if sys.platform == "win32":
        return
    import fcntl  # here, because Windows has none

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise DataError("is in use by another comparison; wait for it, or give another folder", str(folder)) from None
