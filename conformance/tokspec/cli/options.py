"""Options that several commands share."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from tokspec.discovery import open_session
from tokspec.errors import DataError
from tokspec.sessions import Session
from tokspec.specification import load_specification

__all__ = ["Target", "choices_option", "fixtures_option", "implementation_options", "parse_choices", "selection_options"]

#: The implementation that is judged when none is named.
DEFAULT = "reference"

_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Target:
    """The implementation that the command line names, and the limits of a program."""

    impl: str | None
    program: str | None
    limits: Mapping[str, float]

    @property
    def name(self) -> str:
        """What to call it before it has said its own name."""
        return self.program or self.impl or DEFAULT

    def arguments(self) -> str:
        """Write the options that name it again, for a command that reproduces a result."""
        given = [("--impl", self.impl), ("--cmd", self.program)]
        return "".join(f" {option} {shlex.quote(value)}" for option, value in given if value)

    def open(self) -> Session:
        """Start it."""
        return open_session(None if self.program else self.impl or DEFAULT, self.program, **self.limits)


def implementation_options(command: _Command) -> _Command:
    """Add ``--impl`` and ``--cmd`` with the time limits of a program, and pass them as one ``target``."""

    @wraps(command)
    def with_target(
        impl: str | None, program: str | None, case_seconds: float, start_seconds: float, **others: Any
    ) -> Any:
        if impl and program:
            raise click.UsageError("--impl and --cmd name two implementations; give one")
        limits = {"case_seconds": case_seconds, "start_seconds": start_seconds}
        return command(target=Target(impl, program, limits), **others)

    seconds = click.FloatRange(min=0, min_open=True)
    options = [
        click.option("--impl", metavar="NAME", help="An installed implementation, or module:object."),
        click.option("--cmd", "program", metavar="COMMAND", help='A program that speaks the protocol: "PROGRAM ARGS".'),
        click.option("--case-seconds", type=seconds, default=10.0, show_default=True, help="A program's time for a case."),
        click.option("--start-seconds", type=seconds, default=30.0, show_default=True, help="A program's time to start."),
    ]
    return cast(_Command, reduce(lambda decorated, option: option(decorated), reversed(options), with_target))


def selection_options(command: _Command) -> _Command:
    """Add ``--select`` and ``--exclude``."""
    what = "by id, clause, operation, tag or file; * is a wildcard; may be repeated."
    excluded = click.option("--exclude", "excluded", multiple=True, metavar="PATTERN", help=f"Leave out cases {what}")
    patterns = click.option("--select", "patterns", multiple=True, metavar="PATTERN", help=f"Take cases {what}")
    return patterns(excluded(command))


fixtures_option = click.option(
    "--fixtures",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Fixtures to use instead of the suite's own.",
)

choices_option = click.option(
    "--choice",
    "choices",
    multiple=True,
    metavar="NAME=OPTION",
    help="Hold the implementation to this option, whatever it declares; may be repeated.",
)


def parse_choices(choices: tuple[str, ...]) -> Mapping[str, str]:
    """Read ``NAME=OPTION`` arguments.

    Raises:
        DataError: for a name or an option that the specification does not have.

    >>> parse_choices(("unknown_id=skipped",))
    {'unknown_id': 'skipped'}
    """
    known = load_specification().choices
    parsed: dict[str, str] = {}
    for choice in choices:
        name, _, option = choice.partition("=")
        if name not in known:
            raise DataError(f"{choice!r} names no choice; there are {', '.join(known)}", key="--choice")
        if option not in known[name].options:
            raise DataError(f"{choice!r} names no option; {name} has {', '.join(known[name].options)}", key="--choice")
        parsed[name] = option
    return parsed
