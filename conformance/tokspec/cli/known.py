"""The options ``--known-failures`` and ``--update-known-failures`` of ``tokspec run``."""

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
from tokspec.judge.verdicts import Verdict
from tokspec.suite.strict_yaml import LARGEST

_KNOWN = f"File that lists the failures that do not count, by convention {CONVENTIONAL_NAME}."


def known_failures_options(command: Command) -> Command:
    """Add the options."""
    file = click.option("--known-failures", type=FILE, metavar="FILE.yaml", help=_KNOWN)
    update = click.option(
        "--update-known-failures", "update", is_flag=True, help="Rewrite the file of known failures after the run."
    )
    crashes = click.option(
        "--list-crashes",
        "crashes",
        is_flag=True,
        help="With --update-known-failures, also list crashes, timeouts and broken messages, unless every result is "
        "one of these.",
    )
    return add_options(command, [file, update, crashes])


@dataclass(frozen=True)
class Ratchet:
    """The file of known failures of a run, if it has one, whether to update it, and whether to list crashes in it."""

    file: Path | None
    update: bool
    known: KnownFailures
    crashes: bool = False

    @classmethod
    def of(cls, file: Path | str | None, update: bool, crashes: bool = False) -> Ratchet:
        """Read the file. A file to be updated need not exist yet, and has the conventional name unless one is given.

        Raises:
            DataError: the file is wrong, with file, line and key; or ``crashes`` comes without ``update``.
        """
        if crashes and not update:
            raise DataError("needs --update-known-failures; give both", key="--list-crashes")
        file = Path(file) if file else Path(CONVENTIONAL_NAME) if update else None
        if file is None or (update and not file.exists()):
            return cls(file, update, KnownFailures(str(file or "")), crashes)
        known = read_known_failures(file)
        if update and known.origin:
            record = f"python conformance/adapters/record_origins.py {known.origin.name}"
            what = f"lists the answers of fixtures/origins, which a run does not write; record them with {record}"
            raise DataError(what, str(file), key="origin")
        return cls(file, update, known, crashes)

    def arguments(self) -> str:
        """Write the option for a command that reproduces a result."""
        return f" --known-failures {shlex.quote(str(self.file))}" if self.file else ""

    def advice(self, run: Run, again: str) -> str:
        """Say what to do about a run that the file does not cover; the text is empty if it does."""
        if self.file is None or run.is_green:
            return ""
        new = any(not result.listed for result in run.failed if result.verdict is not Verdict.UNEXPECTED_PASS)
        if not self.update and (self._is_shipped or new):
            return ""
        if not self.update:
            return f"to rewrite the known-failures file: {again} --update-known-failures"
        from tokspec.judge.known_failures_update import CRASHES  # here, because few runs need it

        crashed = sum(result.verdict in CRASHES for result in run.results)
        how = f"fix them, or list them as they are: {again} --update-known-failures --list-crashes"
        return f"not listed, because they crash, hang or break the protocol: {crashed}; {how}" if crashed else ""

    @property
    def _is_shipped(self) -> bool:
        """Whether the file comes with the suite: then a failure is news, and should not be added to the list."""
        folders = (Path(tokspec.__file__).parent, adapters_folder())
        return self.file is not None and any(self.file.resolve().is_relative_to(each.resolve()) for each in folders)

    def rewritten(self, run: Run, cases: Collection[str]) -> tuple[KnownFailures, DataError | None]:
        """Rewrite the file from a run to which none of its entries was applied, and return its new content.

        The error says why it was not written: the run shows nothing to write, or writing failed. Then the old entries
        are returned, because the results are still worth reporting.
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
        """Return the content of the file, which somebody may have changed while the cases ran."""
        if self.file is None or not self.file.exists():
            return ""
        return read_bounded(self.file, str(self.file), LARGEST)
