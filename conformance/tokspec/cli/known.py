"""``--known-failures`` and ``--update-known-failures`` of ``tokspec run``."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import NoReturn

import click

from tokspec.base.errors import DataError
from tokspec.base.files import read_bounded, write_whole
from tokspec.cli.options import FILE, Command, add_options
from tokspec.judge.known_failures import CONVENTIONAL_NAME, KnownFailures, read_known_failures
from tokspec.judge.runner import Run
from tokspec.suite.strict_yaml import LARGEST

__all__ = ["NotWritten", "Ratchet", "known_failures_options"]

_KNOWN = f"Failures that do not count; {CONVENTIONAL_NAME} by convention."


def known_failures_options(command: Command) -> Command:
    """Add the two options."""
    file = click.option("--known-failures", type=FILE, metavar="FILE.yaml", help=_KNOWN)
    update = click.option("--update-known-failures", "update", is_flag=True, help="Write that file anew after the run.")
    return add_options(command, [file, update])


@dataclass(frozen=True)
class Ratchet:
    """The file of known failures of a run, if it has one, and whether it is to be written anew."""

    file: Path | None
    update: bool
    known: KnownFailures

    @classmethod
    def of(cls, file: Path | str | None, update: bool) -> Ratchet:
        """Read the file. One that is to be written need not be there yet, and has its conventional name.

        Raises:
            DataError: with file, line and key.
        """
        file = Path(file) if file else Path(CONVENTIONAL_NAME) if update else None
        if file is None or (update and not file.exists()):
            return cls(file, update, KnownFailures(str(file or "")))
        return cls(file, update, read_known_failures(file))

    def arguments(self) -> str:
        """Write the option again, for a command that reproduces a result."""
        return f" --known-failures {shlex.quote(str(self.file))}" if self.file else ""

    def applied(self, run: Run, cases: Collection[str]) -> tuple[Run, NotWritten | None]:
        """Return the run as it counts with what is known, after the file was written anew if that is wanted.

        Beside it stands why the file was not written: the run shows nothing that it could be written from, or it cannot
        be. What the cases came to is worth telling all the same.
        """
        if self.file is None or not self.update:
            return replace(run, problems=(*run.problems, *self.known.stale(cases))), None
        from tokspec.judge.known_failures_update import (  # here, because few runs need it
            format_manual_entries,
            update_known_failures,
        )

        counted = _counted(run, self.known)
        try:
            write_whole(self.file, update_known_failures(self._text(), self.known, counted, cases))
            return _counted(run, read_known_failures(self.file)), None
        except DataError as error:
            return counted, NotWritten(error, format_manual_entries(counted))

    def _text(self) -> str:
        """Return what is in the file, which somebody may have changed while the cases ran."""
        if self.file is None or not self.file.exists():
            return ""
        return read_bounded(self.file, str(self.file), LARGEST)

    @property
    def counting(self) -> KnownFailures | None:
        """What does not count while the cases run: nothing, where the file is written from what they come to."""
        return None if self.update else self.known


@dataclass(frozen=True)
class NotWritten:
    """Why a file of known failures was not written anew, and the entries that only a person may list."""

    error: DataError
    entries: Sequence[str]

    def raise_error(self) -> NoReturn:
        """Print the entries, behind all else that is printed, and raise the error."""
        if self.entries:
            click.echo(
                "\n".join(["to list by hand below the line known_failures:, each with its reason:", *self.entries])
            )
        raise self.error


def _counted(run: Run, known: KnownFailures) -> Run:
    today = date.today()
    return replace(run, results=tuple(known.apply_to(result, today) for result in run.results))
