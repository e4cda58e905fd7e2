"""What gives units to workers: the built-in pool, or a cluster that is there already.

An engine decides who does a unit and when, and what happens when a machine goes away. It knows nothing of results:
whoever does a unit writes its result, and the engine brings back a few counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from tokspec.sweep.engines.doing import Done, Engine

__all__ = ["ENGINES", "Done", "Engine", "open_engine"]


def _of(module: str, name: str) -> Callable[[int | None, str | None], Engine]:
    """Return an engine that is imported when it is wanted."""
    return lambda workers, address: getattr(import_module(f"tokspec.sweep.engines.{module}"), name)(workers, address)


#: The engines; a new one is a module with a class and a row here.
ENGINES: Mapping[str, Callable[[int | None, str | None], Engine]] = {
    "builtin": _of("builtin", "BuiltinEngine"),
    "ray": _of("on_ray", "RayEngine"),
    "dask": _of("on_dask", "DaskEngine"),
}


def open_engine(name: str, workers: int | None, address: str | None) -> Engine:
    """Make an engine.

    Args:
        name: one of :data:`ENGINES`.
        workers: how many units at once; None is as many as there are processors.
        address: of a cluster that is there; None starts one on this machine.

    Raises:
        DataError: its package is not installed, or the address is of no use to it.

    >>> open_engine("builtin", 2, None).workers
    2
    """
    return ENGINES[name](workers, address)
