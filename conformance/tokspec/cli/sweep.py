"""``tokspec sweep``: two implementations over a corpus."""

from __future__ import annotations

from pathlib import Path

import click

from tokspec.cli.options import Target, choices_option, implementation_options, parse_choices
from tokspec.formats.own import read_own
from tokspec.report.safe import visible

__all__ = ["sweep_command"]

_MEGABYTE = 1024**2


@click.command("sweep", short_help="Compare two implementations over a corpus of any size.")
@click.argument("inputs", nargs=-1, metavar="FILES...")
@implementation_options
@click.option("--against", metavar="NAME", help="The other implementation; the reference unless given.")
@click.option("--against-cmd", "against_program", metavar="COMMAND", help="The other implementation as a program.")
@click.option(
    "--model", type=click.Path(path_type=Path), metavar="FILE", help="The model: tokenizer.json, vocab.txt, …"
)
@click.option("--model-b", type=click.Path(path_type=Path), metavar="FILE", help="Another model for the other one.")
@choices_option
@click.option(
    "-o",
    "--output",
    default="tokspec-sweep",
    show_default=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Keep plan and results there; the same command goes on with them.",
)
@click.option(
    "--as",
    "kind",
    type=click.Choice(["lines", "whole", "jsonl", "parquet"]),
    help="What the files are; else by their names.",
)
@click.option(
    "--field", default="text", show_default=True, metavar="NAME", help="Field of JSON lines, column of Parquet."
)
@click.option(
    "--sample",
    default=1.0,
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SHARE",
    help="Take this share of the documents.",
)
@click.option("--seed", default=0, help="Choose another sample.")
@click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="Units at once; as many as processors unless given."
)
@click.option(
    "--engine",
    type=click.Choice(["builtin", "ray", "dask"]),
    default="builtin",
    show_default=True,
    help="What does the units.",
)
@click.option("--address", metavar="ADDRESS", help="Of a Ray or Dask cluster that is there.")
@click.option("--unit-mb", default=4.0, show_default=True, type=click.FloatRange(0.001), help="Size of a unit.")
@click.option("--dry-run", is_flag=True, help="Print the plan and an estimate, and do nothing.")
def sweep_command(
    inputs: tuple[str, ...],
    target: Target,
    against: str | None,
    against_program: str | None,
    model: Path | None,
    model_b: Path | None,
    choices: tuple[str, ...],
    output: Path,
    kind: str | None,
    field: str,
    sample: float,
    seed: int,
    workers: int | None,
    engine: str,
    address: str | None,
    unit_mb: float,
    dry_run: bool,
) -> int:
    """Compare two implementations over FILES: what differs, how often, where and why."""
    from tokspec.sweep.describing import described
    from tokspec.sweep.documents import Selection
    from tokspec.sweep.engines import open_engine
    from tokspec.sweep.plan import Header, make_plan
    from tokspec.sweep.results import alone_in, sum_of
    from tokspec.sweep.running import prepare, sweep

    if not inputs or model is None:
        raise click.UsageError("give FILES and --model FILE")
    models = [read_own(model)] * 2 if model_b is None else [read_own(model), read_own(model_b)]
    named = [
        {"impl": None if target.program else target.impl or "reference", "command": target.program},
        {"impl": None if against_program else against or "reference", "command": against_program},
    ]
    if named[0] == named[1] and model_b is None:
        raise click.UsageError("these are the same twice; name another with --impl or --against")
    limits = target.limits
    sides, contents, compared = described(named, models, limits, parse_choices(choices))
    allowed = {
        "case_seconds": limits.case_seconds,
        "start_seconds": limits.start_seconds,
        "memory_mb": limits.memory_mb,
    }
    header = Header((sides[0], sides[1]), compared, Selection(field, sample, seed), str(Path.cwd()), allowed)
    plan = make_plan(header, inputs, kind, int(unit_mb * _MEGABYTE))
    with alone_in(output):
        prepare(output, plan, contents)
        progress = sweep(output, plan, open_engine(engine, workers, address))
        total = sum_of(output, plan.units)
    for fault in progress.faults:
        click.echo(visible(fault), err=True)
    click.echo(f"{total.documents} documents, {total.bytes} bytes, {total.different} differ, {total.left} {total.bad}")
    for cause in total.causes.values():
        place = f"{cause.file} {cause.at}"
        click.echo(
            visible(
                f"{cause.count} {cause.kind} {cause.pattern} {cause.text!r} {cause.example!r} {place} {cause.detail}"
            )
        )
    return 1 if total.different else 0
