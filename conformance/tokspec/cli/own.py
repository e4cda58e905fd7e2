"""What the commands about packs share: where texts come from, and how an implementation is opened for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from tokspec.base.display import visible
from tokspec.base.errors import DataError
from tokspec.cli.options import DEFAULT, Target
from tokspec.packs.asking import LIMITS, open_own
from tokspec.packs.inputs import Sources
from tokspec.packs.reading import is_pack
from tokspec.packs.vocabulary import MADE
from tokspec.records import FIELD, KINDS, BadRecord
from tokspec.sessions.session import Session

__all__ = ["BadTexts", "opened", "source_options"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

_SOURCES = [
    click.option(
        "--inputs",
        "files",
        type=click.Path(path_type=Path),
        multiple=True,
        metavar="FILE",
        help="Texts of yours; may be repeated.",
    ),
    click.option(
        "--as", "kind", type=click.Choice(list(KINDS)), help="What the files are; their names say it unless given."
    ),
    click.option("--field", default=FIELD, show_default=True, help="The field of JSON Lines, or column of Parquet."),
    click.option(
        "--made", type=click.IntRange(min=0), default=MADE, show_default=True, help="Texts of each kind made of tokens."
    ),
    click.option("--no-vocabulary", is_flag=True, help="Make no texts of the vocabulary."),
]


class BadTexts:
    """What in the user's files is no text: counted, and the first of each file shown."""

    def __init__(self) -> None:
        self._first: dict[str, BadRecord] = {}
        self._counts: dict[str, int] = {}

    def __call__(self, bad: BadRecord) -> None:
        """Take one."""
        self._first.setdefault(bad.file, bad)
        self._counts[bad.file] = self._counts.get(bad.file, 0) + 1

    def say(self) -> None:
        """Tell of them."""
        for file, count in self._counts.items():
            what = "record is no text and was" if count == 1 else "records are no texts and were"
            click.echo(visible(f"{file}: {count} {what} left out, first {self._first[file]}"), err=True)


def source_options(command: _Command) -> _Command:
    """Add the options that say where texts come from, and pass them as one ``sources``."""

    @wraps(command)
    def with_sources(
        files: tuple[Path, ...], kind: str | None, field: str, made: int, no_vocabulary: bool, **others: Any
    ) -> Any:
        bad = BadTexts()
        sources = Sources(files, kind, field, made, not no_vocabulary, bad)
        for file in files:
            if not file.is_file():
                raise DataError("is no file" if file.exists() else "is not there", str(file), key="--inputs")
            if is_pack(file):
                raise DataError("is a pack, whose lines are no texts of yours", str(file), key="--inputs")
        status = command(sources=sources, **others)
        bad.say()
        return status

    return cast(_Command, reduce(lambda decorated, option: option(decorated), reversed(_SOURCES), with_sources))


def opened(target: Target) -> Session:
    """Start an implementation that is to be given a file of the user's own.

    Raises:
        DataError: it cannot be found or started.
        AdapterFault: it did not say ``hello`` properly.
    """
    limits = replace(target.limits, reply_bytes=LIMITS.reply_bytes)
    impl = None if target.program else target.impl or DEFAULT
    return open_own(impl, target.program, limits, in_process=target.in_process)
