"""The folder of a sweep: models, results, and who works in it.

    plan.ndjson          the plan
    models/0.json        what the first side loads, models/1.json the second
    results/ab/ID.json   the result of a unit; it is there whole or not at all

A result depends on its unit alone: neither on the engine, nor on the number of workers, nor on what went wrong between.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tokspec.base.errors import DataError
from tokspec.base.files import write_whole
from tokspec.sweep.plan import Unit
from tokspec.sweep.tally import Tally

__all__ = [
    "alone_in",
    "done",
    "is_done",
    "place_of",
    "read_model",
    "read_result",
    "sum_of",
    "write_model",
    "write_result",
]


def place_of(folder: Path, unit: str) -> Path:
    """Return the file of a unit's result.

    >>> place_of(Path("sweep"), "abcd").as_posix()
    'sweep/results/ab/abcd.json'
    """
    return folder / "results" / unit[:2] / f"{unit}.json"


def is_done(folder: Path, unit: Unit) -> bool:
    """Whether there is a result."""
    return place_of(folder, unit.id).exists()


def done(folder: Path, units: Iterable[Unit]) -> set[str]:
    """Return the ids of units that have a result."""
    there = {file.stem for file in (folder / "results").glob("??/*.json")}
    return {unit.id for unit in units if unit.id in there}


def write_result(folder: Path, unit: Unit, tally: Tally) -> None:
    """Write the result of a unit whole.

    Raises:
        DataError: it cannot be written, and is not there.
    """
    place = place_of(folder, unit.id)
    content = json.dumps({"unit": unit.id, **tally.to_json()}, sort_keys=True, ensure_ascii=True, indent=1) + "\n"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", str(place)) from None
    write_whole(place, content)


def read_result(folder: Path, unit: str) -> Tally:
    """Read the result of a unit.

    Raises:
        DataError: it is not what was written.
    """
    place = place_of(folder, unit)
    try:
        plain = json.loads(place.read_text("utf-8"))
        del plain["unit"]
        return Tally.from_json(plain)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise DataError("is no result of a unit; remove it, and start again", str(place)) from None


def sum_of(folder: Path, units: Iterable[Unit], most_places: int = 1000) -> Tally:
    """Add up the results that are there, in the order of the units.

    Of the places of bad records so many are kept, and the first of each reason.
    """
    total = Tally()
    for unit in units:
        if is_done(folder, unit):
            total.add(read_result(folder, unit.id))
            total.shorten(most_places)
    return total


def _model_file(folder: Path, index: int) -> Path:
    return folder / "models" / f"{index}.json"


def write_model(folder: Path, index: int, content: Any) -> None:
    """Keep what a side loads."""
    file = _model_file(folder, index)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, json.dumps(content))


def read_model(folder: Path, index: int) -> Any:
    """Return what a side loads.

    Raises:
        DataError: it is not there.
    """
    file = _model_file(folder, index)
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read: {error}", str(file)) from None


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep others from sweeping into the same folder, and remove what an end in the middle of writing has left.

    Raises:
        DataError: somebody else is at work there, or the folder cannot be made.
    """
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
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise DataError("is in use by another sweep; wait for it, or give another folder", str(folder)) from None
