"""A sweep from its plan to its results: begun, interrupted, begun again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tokspec.base.errors import DataError
from tokspec.sweep.engines import Done, Engine
from tokspec.sweep.guard import guarded
from tokspec.sweep.plan import FILE, Plan, read_header, write_plan
from tokspec.sweep.results import done, write_model

__all__ = ["Progress", "prepare", "sweep"]

#: Units that may fail, each for its own inputs, before the rest is left for another start.
_FAULTS = 20


@dataclass
class Progress:
    """What has been done: units by their ids, and what went wrong with others.

    ``earlier`` were done before this start. ``ends`` says that something is wrong with more than a unit.
    """

    earlier: int
    finished: dict[str, Done] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    interrupted: bool = False
    ends: bool = False


def prepare(folder: Path, plan: Plan, contents: Sequence[Any]) -> None:
    """Write the plan, and what the sides load, unless they are there.

    Raises:
        DataError: the folder has another plan, or it cannot be written.
    """
    if (folder / FILE).exists():
        _refuse_other(folder, plan)
    for index, content in enumerate(contents):
        write_model(folder, index, content)
    write_plan(folder, plan)


def _refuse_other(folder: Path, plan: Plan) -> None:
    """Refuse the folder of a sweep of something else; other inputs may be added, and other limits set."""
    header = read_header(folder)
    if header.key == plan.header.key:
        return
    mine, there = asdict(plan.header), asdict(header)
    names = [name for name in ("sides", "field", "selection", "unicode") if mine[name] != there[name]]
    what = {"sides": "other implementations or models", "selection": "another field or sample"}
    found = " and ".join(what.get(name, f"another {name}") for name in names) or "another version of the suite"
    raise DataError(f"has the results of a sweep with {found}; give another folder with --output", str(folder))


def sweep(folder: Path, plan: Plan, engine: Engine, tell: Callable[[Done], object] = lambda done: None) -> Progress:
    """Have the units done that are not yet.

    Args:
        folder: with the plan.
        plan: that was written there.
        engine: to do it.
        tell: called after each unit.
    """
    there = done(folder, plan.units)
    progress = Progress(len(there))
    waiting = [unit for unit in plan.units if unit.id not in there]
    if not waiting:
        return progress
    try:
        with guarded(), closing(engine.run(folder, waiting)) as running:
            for each in running:
                _note(progress, each)
                tell(each)
                if progress.ends or len(progress.faults) >= _FAULTS:
                    break
    except KeyboardInterrupt as interruption:
        if type(interruption) is not KeyboardInterrupt:  # a signal that asks for the end, not for what there is
            raise
        progress.interrupted = True
    return progress


def _note(progress: Progress, each: Done) -> None:
    if each.fault:
        progress.faults.append(each.fault)
        progress.ends = each.ends
    else:
        progress.finished[each.unit] = each
