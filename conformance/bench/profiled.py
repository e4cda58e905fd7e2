"""Where the time of a profiled run goes: the share of each module, its own and that of what it calls in C."""

from __future__ import annotations

import pstats
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

__all__ = ["print_shares", "seconds_in"]


def print_shares(title: str, stats: pstats.Stats, lines: int = 14) -> None:
    """Print the modules that take most of the time; profiling itself costs, so that shares are only about right."""
    shares = _shares(stats)
    print(f"{title}: {shares.total():.2f} s with profiling")
    for module, seconds in shares.most_common(lines):
        print(f"{seconds / shares.total():>6.1%}  {module}")


def seconds_in(stats: pstats.Stats, function: str) -> float:
    """Return the seconds that functions of a name take with all that they call; calls of themselves are not added."""
    return sum((whole for (_, _, name), (_, _, _, whole, _) in _entries(stats) if name == function), 0.0)


def _entries(stats: pstats.Stats) -> Iterable[tuple[Any, Any]]:
    """Return functions with their figures, those of who calls them too; what is documented adds up by name alone."""
    return cast("Mapping[Any, Any]", vars(stats)["stats"]).items()


def _shares(stats: pstats.Stats) -> Counter[str]:
    """Add up by module the seconds of functions, those in C for who calls them."""
    shares: Counter[str] = Counter()
    for (file, _, function), (_, _, own, _, callers) in _entries(stats):
        if file != "~":
            shares[_module(file)] += own
        for (caller, _, _), (_, _, seconds, _) in callers.items() if file == "~" else ():
            shares[_module(caller) if caller != "~" else function] += seconds
    return shares


def _module(file: str) -> str:
    """Name a module by its folder and its file.

    >>> _module("/usr/lib/tokspec/judge/verdicts.py"), _module("<frozen importlib._bootstrap>")
    ('judge.verdicts', '<frozen importlib._bootstrap>')
    """
    path = Path(file)
    return f"{path.parent.name}.{path.stem}" if path.suffix == ".py" else file
