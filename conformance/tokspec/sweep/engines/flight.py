"""Units on a cluster: a few in flight for each of its processors, so that nobody holds all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Sequence
from importlib import import_module
from itertools import islice
from typing import Any, TypeVar

from tokspec.base.errors import DataError
from tokspec.sweep.engines.doing import Done
from tokspec.sweep.plan import Unit

__all__ = ["flown", "library"]

#: Units in flight for each processor.
_FLIGHT = 2

_Key = TypeVar("_Key", bound=Hashable)


def library(module: str, extra: str) -> Any:
    """Import the package of an engine.

    Raises:
        DataError: it is not installed.

    >>> library("no_such_package", "ray")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: --engine ray: needs a package; install it with: pip install no_such_package
    """
    try:
        return import_module(module)
    except ImportError:
        message = f"needs a package; install it with: pip install {module.partition('.')[0]}"
        raise DataError(message, key=f"--engine {extra}") from None


def flown(
    units: Sequence[Unit],
    processors: Callable[[], int],
    send: Callable[[Unit], _Key],
    landed: Callable[[Collection[_Key]], Iterable[_Key]],
    done: Callable[[_Key, Unit], Done],
) -> Generator[Done, None, None]:
    """Send units and give what comes back.

    Args:
        units: to be done.
        processors: how many there are now; a cluster grows and shrinks.
        send: starts a unit, and gives what it is known by from then on.
        landed: waits until one or more of what it is given have come back, and gives them.
        done: says what came of one.

    >>> units = [Unit(name, ()) for name in "abc"]
    >>> back = flown(units, lambda: 1, lambda unit: unit.id, list, lambda key, unit: Done(unit.id))
    >>> [each.unit for each in back]
    ['a', 'b', 'c']
    """
    waiting = iter(units)
    flying: dict[_Key, Unit] = {}
    while True:
        room = _FLIGHT * max(1, processors()) - len(flying)
        flying.update({send(unit): unit for unit in islice(waiting, max(0, room))})
        if not flying:
            return
        for key in landed(flying):
            yield done(key, flying.pop(key))
