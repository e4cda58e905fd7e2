"""``--known-failures`` and ``--update-known-failures`` of ``tokspec run``."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import click

import tokspec
from tokspec.base.errors import DataError
from tokspec.base.files import adapters_folder, read_bounded, write_whole
from tokspec.cli.options import FILE, Command, add_options
from tokspec.judge.judging import apply_known
from tokspec.judge.known_failures import CONVENTIONAL_NAME, KnownFailures, read_known_failures
from tokspec.judge.runner import Run
from tokspec.suite.strict_yaml import LARGEST

_KNOWN = f"Failures that do not count; {CONVENTIONAL_NAME} by convention."


def known_failures_options(command: Command) -> Command:
    """Add the options."""
    file = click.option("--known-failures", type=FILE, metavar="FILE.yaml", help=_KNOWN)
    update = click.option("--update-known-failures", "update", is_flag=True, help="Rewrite that file after the run.")
    crashes = click.option(
        "--list-crashes",
        "crashes",
        is_flag=True,
        help="Write crashes and the like there too, unless nothing else came.",
    )
    return add_options(command, [file, update, crashes])


@dataclass(frozen=True)
class Ratchet:
    """The file of known failures of a run, if it has one, and whether to update it, and with crashes."""

    file: Path | None
    update: bool
    known: KnownFailures
    crashes: bool = False

    @classmethod
    def of(cls, file: Path | str | None, update: bool, crashes: bool = False) -> Ratchet:
        """Read the file. One that is to be written need not be there yet, and has its conventional name.

        Raises:
            DataError: with file, line and key.
        """
        if crashes and not update:
            raise DataError("says what --update-known-failures lists; give both", key="--list-crashes")
        file = Path(file) if file else Path(CONVENTIONAL_NAME) if update else None
        if file is None or (update and not file.exists()):
            return cls(file, update, KnownFailures(str(file or "")), crashes)
        known = read_known_failures(file)
        if update and known.origin:
            record = f"python conformance/adapters/record_origins.py {known.origin.name}"
            what = f"lists the answers of fixtures/origins, which a run does not write; record them by {record}"
            raise DataError(what, str(file), key="origin")
        return cls(file, update, known, crashes)

    def arguments(self) -> str:
        """Write the option again, for a command that reproduces a result."""
        return f" --known-failures {shlex.quote(str(self.file))}" if self.file else ""

    def advice(self, run: Run, again: str) -> str:
        """Say what to do about a run that the file does not cover; nothing if it does."""
        if self.file is None or run.is_green:
            return ""
        if not self.update and self._is_shipped:
            return ""
        if not self.update:
            return f"to rewrite the known-failures file: {again} --update-known-failures"
        from tokspec.judge.known_failures_update import CRASHES  # here, because few runs need it

        crashed = sum(result.verdict in CRASHES for result in run.results)
        how = f"fix them, or list them as what they are: {again} --update-known-failures --list-crashes"
        return f"not listed, because they crash, hang or break the protocol: {crashed}; {how}" if crashed else ""

    @property
    def _is_shipped(self) -> bool:
        """Whether the file comes with the suite: then a failure is news, and nothing to add to the list."""
        folders = (Path(tokspec.__file__).parent, adapters_folder())
        return self.file is not None and any(self.file.resolve().is_relative_to(each.resolve()) for each in folders)

    def rewritten(self, run: Run, cases: Collection[str]) -> tuple[KnownFailures, DataError | None]:
        """Rewrite the file from a run to which none of its entries was applied, and return what it says then.

        The error says why it was not written: the run shows nothing that it could be written from, or it cannot be. The
        results are worth reporting all the same, by the entries as they were.
        """
        from tokspec.judge.known_failures_update import update_known_failures  # here, because few runs need it

        assert self.file is not None
        try:
            counted = apply_known(run, self.known)
            new = update_known_failures(self._text(), self.known, counted, cases, crashes=self.crashes)
            write_whole(self.file, new)
            return read_known_failures(self.file), None
        except DataError as error:
            return self.known, error

    def _text(self) -> str:
        """Return what is in the file, which somebody may have changed while the cases ran."""
        if self.file is None or not self.file.exists():
            return ""
        return read_bounded(self.file, str(self.file), LARGEST)
