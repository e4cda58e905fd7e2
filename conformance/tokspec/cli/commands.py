"""The commands by name, each imported when it is wanted: none waits for what only another one needs."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module

import click

__all__ = ["Commands"]

#: For each command the module of this package in which it is, and its name there.
_PLACES = {
    "cases": ("browse", "cases_command"),
    "check": ("check", "check_command"),
    "compare": ("compare", "compare_command"),
    "coverage": ("coverage", "coverage_command"),
    "freeze": ("freeze", "freeze_command"),
    "fuzz": ("fuzz", "fuzz_command"),
    "init": ("init", "init_command"),
    "list": ("browse", "list_command"),
    "matrix": ("matrix", "matrix_command"),
    "model": ("model", "model_command"),
    "power": ("power", "power_command"),
    "probe": ("probe", "probe_command"),
    "report": ("report", "report_command"),
    "run": ("run", "run_command"),
    "show": ("browse", "show_command"),
    "smoke": ("smoke", "smoke_command"),
    "sweep": ("sweep", "sweep_command"),
}


class Commands(MutableMapping[str, click.Command]):
    """What ``click`` takes for a dictionary of commands.

    >>> Commands()["run"].name, "fly" in Commands()
    ('run', False)
    """

    def __init__(self) -> None:
        self._places = dict(_PLACES)
        self._made: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._made:
            module, command = self._places[name]
            self._made[name] = getattr(import_module(f"tokspec.cli.{module}"), command)
        return self._made[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._places[name] = "", ""
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._places[name]
        self._made.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places
