"""``tokspec fuzz``: look for what no case asks."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from tokspec.cli.fuzzing import Fuzzing
from tokspec.cli.options import Seconds, choices_option, implementation_options

__all__ = ["fuzz_command"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_PATH = click.Path(path_type=Path)

_OPTIONS = [
    click.option("--seconds", type=Seconds(min=0), help="End after so long; 60 unless a budget is given."),
    click.option("--examples", type=click.IntRange(min=1), help="End after so many examples."),
    click.option("--seed", type=click.IntRange(min=0), help="Of all that is random; printed, to be given again."),
    click.option("--only", metavar="FAMILY[:NUMBER]", help="Make models of this family alone, or this one model."),
    click.option(
        "--against",
        multiple=True,
        metavar="NAME[@ENVIRONMENT]",
        help="Compare with it, not the reference; of several the majority.",
    ),
    click.option("--replay", multiple=True, type=_PATH, metavar="FOLDER", help="First ask what was saved there."),
    click.option("--save", "folder", type=_PATH, metavar="FOLDER", help="Write each finding there, as a fixture."),
    click.option("--database", type=_PATH, metavar="FOLDER", help="Where findings are kept for the next run."),
    click.option("--no-database", is_flag=True, help="Keep nothing, and ask nothing that was kept."),
    click.option(
        "--known-failures",
        type=_PATH,
        metavar="FILE.yaml",
        help="Findings are known if a case that it lists shares clause, operation and verdict.",
    ),
    click.option("--fixtures", type=_PATH, metavar="FOLDER", help="Where --known-failures has its cases from."),
    click.option(
        "--show", type=click.IntRange(min=0), default=10, show_default=True, help="How many findings to show."
    ),
    click.option("--counts", "with_counts", is_flag=True, help="Count operations, families and categories of texts."),
]


def _options(command: _Command) -> _Command:
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


@click.command("fuzz", short_help="Look for what no case asks.")
@implementation_options
@choices_option
@_options
def fuzz_command(show: int, with_counts: bool, **options: Any) -> int:
    """Compare an implementation with the reference on models and texts made at random.

    \b
    tokspec fuzz --impl tokenizers                      for a minute
    tokspec fuzz --impl tokenizers --seed 7 --only bpe  models of one family, the same ones each time
    tokspec fuzz --cmd "node adapter.mjs" --save found  keep what differs, as fixtures

    What differs is shrunk and shown once for each clause. What the implementation declares as a choice, or does not
    support, is no finding.

    Exit status: 0 if nothing new was found, 1 if something was, 2 if the suite could not do its work.
    """
    return Fuzzing(**options).run(show, with_counts)
