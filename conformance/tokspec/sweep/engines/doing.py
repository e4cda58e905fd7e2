"""Doing one unit, wherever that is."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tokspec.base.errors import DataError
from tokspec.sweep.plan import Unit
from tokspec.sweep.results import is_done, read_result, write_result
from tokspec.sweep.tally import Tally
from tokspec.sweep.worker import InputFault, Worker

__all__ = ["Done", "Engine", "do", "done_by", "processors"]


@dataclass(frozen=True)
class Done:
    """What came of a unit: a few counts, or why it could not be done; ``ends`` if no other can be either."""

    unit: str
    documents: int = 0
    bytes: int = 0
    different: int = 0
    fault: str = ""
    ends: bool = False


class Engine(Protocol):
    """Does units. ``workers`` is how many at once, as far as it is known."""

    workers: int

    def run(self, folder: Path, units: Sequence[Unit]) -> Generator[Done, None, None]:
        """Do units in any order, each once, and give what came of each; closing it ends all work."""
        ...


def processors() -> int:
    """Count the processors that this process may use.

    >>> processors() > 0
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def done_by(worker: Worker, folder: Path, unit: Unit) -> Done:
    """Have a worker do a unit, and write the result; one that is there already is taken."""
    try:
        if is_done(folder, unit):
            return _counts(unit, read_result(folder, unit.id))
        tally = worker.tally(unit)
    except DataError as error:
        return Done(unit.id, fault=str(error), ends=not isinstance(error, InputFault))
    try:
        write_result(folder, unit, tally)
    except DataError as error:
        return Done(unit.id, fault=str(error), ends=True)
    return _counts(unit, tally)


def _counts(unit: Unit, tally: Tally) -> Done:
    return Done(unit.id, tally.documents, tally.bytes, tally.different)


_OF_THREAD = threading.local()


def do(folder: str, unit: Mapping[str, Any]) -> dict[str, Any]:
    """Do a unit in a worker of this thread, which is kept: what engines send to other machines."""
    known: dict[str, Worker] = _OF_THREAD.__dict__.setdefault("workers", {})
    try:
        if folder not in known:
            for other in known.values():
                other.close()
            known.clear()
            known[folder] = Worker(Path(folder))
    except DataError as error:
        return vars(Done(unit["unit"], fault=str(error), ends=True))
    return vars(done_by(known[folder], Path(folder), Unit.from_json(unit)))
