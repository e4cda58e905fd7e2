"""The options of ``tokspec sweep``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from tokspec.cli.options import Target
from tokspec.formats import READERS
from tokspec.records import FIELD, KINDS

__all__ = ["Sweeping", "sweep_options"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_PATH = click.Path(path_type=Path)

_OPTIONS = [
    click.option(
        "--against",
        metavar="NAME[@ENVIRONMENT]",
        help="Compare with it; with tokfast unless given.",
    ),
    click.option("--against-cmd", "against_program", metavar="COMMAND", help="Compare with a program."),
    click.option("--model", "model", type=_PATH, required=True, metavar="FILE", help="tokenizer.json or another."),
    click.option("--model-b", "other_model", type=_PATH, metavar="FILE", help="Another model for the other one."),
    click.option("--format", "format", type=click.Choice(list(READERS)), help="Of models; else by their names."),
    click.option(
        "-o",
        "--output",
        default="tokspec-sweep",
        show_default=True,
        type=_PATH,
        metavar="FOLDER",
        help="Of results.",
    ),
    click.option("--as", "kind", type=click.Choice(list(KINDS)), help="What the files are; else by their names."),
    click.option("--field", default=FIELD, show_default=True, metavar="NAME", help="Of JSON Lines; column of Parquet."),
    click.option(
        "--sample",
        default=1.0,
        type=click.FloatRange(0, 1, min_open=True),
        metavar="SHARE",
        help="Of the documents.",
    ),
    click.option("--seed", default=0, help="Of the sample."),
    click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Units at once; else all processors."),
    click.option("--engine", type=click.Choice(["builtin", "ray", "dask"]), default="builtin", show_default=True),
    click.option("--address", metavar="ADDRESS", help="Of a Ray or Dask cluster that is there."),
    click.option(
        "--unit-mb", default=4.0, show_default=True, type=click.FloatRange(0, min_open=True), help="Size of a unit."
    ),
    click.option("--dry-run", is_flag=True, help="Show the plan and an estimate, and write nothing."),
    click.option("--show", default=10, show_default=True, type=click.IntRange(min=0), help="How many causes to show."),
    click.option("--report", "reports", multiple=True, type=_PATH, metavar="FILE", help="Write it: .ndjson or .md."),
    click.option("--save", "saved", type=_PATH, metavar="FOLDER", help="Write causes there, as fixtures."),
]


@dataclass(frozen=True)
class Sweeping:
    """The options."""

    inputs: tuple[str, ...]
    target: Target
    choices: tuple[str, ...]
    against: str | None
    against_program: str | None
    model: Path
    other_model: Path | None
    format: str | None
    output: Path
    kind: str | None
    field: str
    sample: float
    seed: int
    workers: int | None
    engine: str
    address: str | None
    unit_mb: float
    dry_run: bool
    show: int
    reports: tuple[Path, ...]
    saved: Path | None


def sweep_options(command: _Command) -> _Command:
    """Add the options, and pass them as one ``sweeping``."""

    @wraps(command)
    def with_sweeping(**options: Any) -> Any:
        return command(Sweeping(**options))

    return cast(_Command, reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), with_sweeping))
