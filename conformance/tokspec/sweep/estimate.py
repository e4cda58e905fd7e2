"""The plan in a few lines, and how long it would take: found out on a little of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokspec.records.streams import without_compression
from tokspec.sweep.plan import Plan, Unit
from tokspec.sweep.report import amount, many
from tokspec.sweep.results import done
from tokspec.sweep.running import prepare
from tokspec.sweep.worker import Worker

__all__ = ["estimate"]

#: Bytes that are tried.
_TRIED = 256 * 1024


def estimate(plan: Plan, contents: Sequence[Any], workers: int, folder: Path) -> Iterator[str]:
    """Describe a plan, and estimate the time for what is not done in a folder yet.

    Args:
        plan: which is not written there.
        contents: what each side loads.
        workers: how many units at once.
        folder: of the results.

    Raises:
        DataError: an input cannot be read, or an implementation does not start.
    """
    there = done(folder, plan.units)
    left = [unit for unit in plan.units if unit.id not in there]
    total, size = sum(unit.bytes for unit in plan.units), sum(unit.bytes for unit in left)
    first, second = (f"{side['name']} {side['version']}" for side in plan.header.sides)
    files = {part.path for unit in plan.units for part in unit.parts}
    yield f"{first} against {second}, comparing {plan.header.field}"
    yield f"{many(len(files), 'file')}, {amount(total)}, in {many(len(plan.units), 'unit')}"
    if there:
        yield f"done in {folder}: {many(len(there), 'unit')}; {amount(size)} left"
    if left:
        rate = _rate(plan, contents, left[0])
        yield f"about {rate / 1e6:.2f} MB/s with one worker, {_duration(size / rate / workers)} with {workers}"


def _rate(plan: Plan, contents: Sequence[Any], unit: Unit) -> float:
    """Return the bytes a second of the first documents of a unit."""
    part = unit.parts[0]
    is_packed = without_compression(part.path) != part.path
    if part.kind in ("lines", "jsonl") and part.end - part.start > _TRIED and not is_packed:
        part = replace(part, end=part.start + _TRIED, is_whole=False)
    tried = Unit("estimate", (part,))
    with TemporaryDirectory() as name:
        prepare(Path(name), Plan(plan.header, (tried,)), contents)
        worker = Worker(Path(name))
        try:
            worker.tally(Unit("nothing", ()))  # so that starting is no part of it
            begin = time.monotonic()
            tally = worker.tally(tried)
            return max(1.0, tally.bytes / (time.monotonic() - begin))
        finally:
            worker.close()


def _duration(seconds: float) -> str:
    """Write a time as people say it.

    >>> _duration(30), _duration(200), _duration(10_000)
    ('30 s', '3 min', '2.8 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
