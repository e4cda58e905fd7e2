"""``tokspec sweep``: two implementations over a corpus of any size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from tokspec.base.display import visible
from tokspec.base.errors import DataError
from tokspec.base.files import write_whole
from tokspec.cli.options import choices_option, implementation_options, parse_choices
from tokspec.cli.sweep_options import Sweeping, sweep_options
from tokspec.cli.sweep_progress import SweepProgress
from tokspec.formats.user_model import UserModel
from tokspec.fuzz.saving import save
from tokspec.report.text import say
from tokspec.sweep import report
from tokspec.sweep.causes import Explainer, ordered, outcome_of
from tokspec.sweep.describing import described
from tokspec.sweep.documents import Selection
from tokspec.sweep.engines import open_engine
from tokspec.sweep.estimate import estimate
from tokspec.sweep.models import model_of
from tokspec.sweep.plan import Header, Plan, make_plan
from tokspec.sweep.results import alone_in, done, sum_of
from tokspec.sweep.running import Progress, prepare, sweep
from tokspec.sweep.tally import Tally

__all__ = ["sweep_command"]

_MEGABYTE = 1024**2

#: The exit status of a sweep that was interrupted, as shells give it.
_INTERRUPTED = 130


@click.command("sweep", short_help="Compare two implementations over a corpus of any size.")
@click.argument("inputs", nargs=-1, required=True, metavar="FILES...")
@implementation_options
@choices_option
@sweep_options
def sweep_command(sweeping: Sweeping) -> int:
    """Compare two implementations over FILES: what differs, how often, where, and the few causes of it.

    \b
    tokspec sweep --impl tokenizers --model tokenizer.json texts/             with tokfast
    tokspec sweep --impl tokenizers --against tiktoken --model r50k_base.tiktoken 'logs/*.jsonl.gz'

    FILES are files, folders, patterns or addresses. Each line is a document; of JSON Lines and Parquet a field. What
    was done stays in the folder of the results: the same command goes on where the last one ended.

    Exit status: 0 if nothing differs, 1 if something does, 2 if not all could be done or there was nothing to compare,
    130 after an interruption.
    """
    return _Sweep.of(sweeping).run()


@dataclass(frozen=True)
class _Sweep:
    """A sweep that is about to begin."""

    sweeping: Sweeping
    models: Sequence[UserModel]
    contents: Sequence[Any]
    plan: Plan

    @classmethod
    def of(cls, sweeping: Sweeping) -> _Sweep:
        """Find out who is compared, and make the plan."""
        for file in sweeping.reports:
            _writer(file)  # so that what is wrong with a name is said before the work and not after it
        limits = sweeping.target.limits
        first = model_of(sweeping.model, sweeping.format)
        models = [first, first if sweeping.other_model is None else model_of(sweeping.other_model, sweeping.format)]
        named = _named(sweeping)
        sides, contents, field = described(named, models, limits, parse_choices(sweeping.choices))
        allowed = {
            "case_seconds": limits.case_seconds,
            "start_seconds": limits.start_seconds,
            "memory_mb": limits.memory_mb,
        }
        selection = Selection(sweeping.field, sweeping.sample, sweeping.seed)
        header = Header((sides[0], sides[1]), field, selection, str(Path.cwd()), allowed)
        unit_bytes = max(1, int(sweeping.unit_mb * _MEGABYTE))
        plan = make_plan(header, sweeping.inputs, sweeping.kind, unit_bytes, sweeping.output)
        return cls(sweeping, models, contents, plan)

    def run(self) -> int:
        """Do what is left, and report all."""
        engine = open_engine(self.sweeping.engine, self.sweeping.workers, self.sweeping.address)
        folder = self.sweeping.output
        if self.sweeping.dry_run:
            click.echo("\n".join(map(visible, estimate(self.plan, self.contents, engine.workers, folder))))
            return 0
        with alone_in(folder):
            prepare(folder, self.plan, self.contents)
            with SweepProgress(self.plan, done(folder, self.plan.units)) as tell:
                progress = sweep(folder, self.plan, engine, tell)
            total = sum_of(folder, self.plan.units)
            self._report(progress, total)
        return _status(progress, total)

    def _report(self, progress: Progress, total: Tally) -> None:
        explainer = Explainer(self.plan.header, self.models, self.sweeping.target.limits)
        causes = ordered(total.causes.values())
        explained = [*explainer.explain(causes)] if not progress.interrupted else [*explainer.bare(causes)]
        summary = report.Summary(
            self.plan.header, total, explained, len(self.plan.units), len(done(self.sweeping.output, self.plan.units))
        )
        for file in self.sweeping.reports:
            write_whole(file, _writer(file)(summary))
        if self.sweeping.saved is not None:
            for name in self._saved(summary, self.sweeping.saved):
                click.echo(visible(f"wrote {name}"))
        for fault in progress.faults:
            click.echo(visible(f"not done: {fault}"), err=True)
        say(report.text(summary, self.sweeping.show))

    def _saved(self, summary: report.Summary, folder: Path) -> Iterator[Path]:
        """Write each cause that is about a rule as a fixture."""
        findings = {each.finding.question.key: (each.finding, each.who) for each in summary.causes if each.finding}
        for finding, who in findings.values():
            yield save(finding, folder, who, outcome_of(finding))


def _status(progress: Progress, total: Tally) -> int:
    if progress.interrupted:
        click.echo("interrupted; the same command goes on", err=True)
        return _INTERRUPTED
    if progress.faults or not total.compared:
        return 2
    return 1 if total.different else 0


def _named(sweeping: Sweeping) -> list[dict[str, str | None]]:
    target, other, program = sweeping.target, sweeping.against, sweeping.against_program
    if target.in_process:
        raise click.UsageError("--in-process is not for sweeps; what they compare has processes of its own")
    if other and program:
        raise click.UsageError("--against and --against-cmd name two implementations; give one")
    named = [
        {"impl": None if target.program else target.impl or "tokfast", "command": target.program},
        {"impl": None if program else other or "tokfast", "command": program},
    ]
    if named[0] == named[1] and sweeping.other_model is None:
        raise click.UsageError("this compares an implementation with itself; name another with --impl or --against")
    return named


_WRITERS: Mapping[str, Callable[[report.Summary], bytes]] = {
    ".ndjson": lambda summary: b"".join(report.ndjson(summary)),
    ".md": lambda summary: ("\n".join(report.markdown(summary)) + "\n").encode(),
}


def _writer(file: Path) -> Callable[[report.Summary], bytes]:
    if file.suffix not in _WRITERS:
        raise DataError(f"does not say by its end what to write; give one of {', '.join(_WRITERS)}", str(file))
    return _WRITERS[file.suffix]
