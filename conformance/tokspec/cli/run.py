"""``tokspec run``: judge an implementation."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.cli.options import (
    Target,
    choices_option,
    fixtures_option,
    implementation_options,
    parse_choices,
    selection_options,
)
from tokspec.diagnosis import first_diverging_stage
from tokspec.errors import AdapterFault, DataError
from tokspec.fixtures import Case, load_suite
from tokspec.report.failure import describe
from tokspec.report.files import junit, ndjson
from tokspec.report.summary import headline, reasons, table
from tokspec.runner import Run, fault_at_start, run
from tokspec.selection import select
from tokspec.sessions import InProcessSession, Session
from tokspec.verdicts import Result, Verdict

__all__ = ["run_command"]


@click.command("run")
@implementation_options
@selection_options
@choices_option
@fixtures_option
@click.option("--max-failures", type=click.IntRange(min=1), metavar="N", help="End the run after N failing cases.")
@click.option("--show", type=click.IntRange(min=0), default=10, show_default=True, help="How many failures to show.")
@click.option("--clauses", is_flag=True, help="Count every clause, not only those with a case that did not pass.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE.ndjson", help="Write a line of JSON a case.")
@click.option("--junit", "junit_file", type=click.Path(path_type=Path), metavar="FILE.xml", help="Write JUnit's XML.")
def run_command(
    target: Target,
    patterns: tuple[str, ...],
    excluded: tuple[str, ...],
    choices: tuple[str, ...],
    fixtures: Path | None,
    max_failures: int | None,
    show: int,
    clauses: bool,
    report: Path | None,
    junit_file: Path | None,
) -> int:
    """Judge an implementation; the reference unless one is named.

    \b
    tokspec run                                   the reference
    tokspec run --impl tokenizers                 an installed implementation
    tokspec run --impl mypackage.adapter:Adapter  a class of yours
    tokspec run --cmd "node adapter.mjs"          a program in any language
    tokspec run --select "BPE-*" --select decode  some of the cases
    """
    cases = select(load_suite(fixtures).cases.values(), patterns, excluded)
    finished, shown = _judge(target, cases, choices, max_failures, show)
    if report:
        _write(report, "".join(ndjson(finished)))
    if junit_file:
        _write(junit_file, junit(finished))
    _print(finished, shown, clauses)
    return 0 if finished.conforms else 1


def _judge(
    target: Target, cases: Sequence[Case], choices: tuple[str, ...], max_failures: int | None, show: int
) -> tuple[Run, list[list[str]]]:
    """Run the cases, and describe the failures while the implementation can still be asked about its stages."""
    overridden = parse_choices(choices)
    again = f"tokspec run{target.arguments()}" + "".join(f" --choice {shlex.quote(choice)}" for choice in choices)
    try:
        with target.open() as session:
            with _ProgressBar(len(cases)) as advance:
                finished = run(session, cases, choices=overridden, max_failures=max_failures, progress=advance)
            failed = [result for result in finished.results if not result.verdict.conforms]
            return finished, _describe(failed[:show], again, session)
    except AdapterFault as fault:
        finished = fault_at_start(target.name, cases, fault)
        return finished, [describe(result, f"{again} --select {result.case.id}") for result in finished.results[:show]]


def _describe(failed: Sequence[Result], again: str, session: Session) -> list[list[str]]:
    with InProcessSession(ReferenceAdapter()) as reference:
        return [
            describe(
                result,
                f"{again} --select {result.case.id}",
                first_diverging_stage(result.case, session, reference) if result.verdict is Verdict.FAIL else "",
            )
            for result in failed
        ]


class _ProgressBar:
    """Progress on a long run, on standard error and only on a terminal."""

    def __init__(self, total: int) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        console = Console(stderr=True)
        self.bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self.task = self.bar.add_task("judging", total=total)

    def __enter__(self) -> _ProgressBar:
        self.bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.bar.stop()

    def __call__(self, result: Result) -> None:
        self.bar.advance(self.task)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", str(file)) from None


def _print(finished: Run, shown: Sequence[Sequence[str]], every_clause: bool) -> None:
    failures = sum(not result.verdict.conforms for result in finished.results)
    for lines in shown:
        click.secho(lines[0], fg="red", bold=True)
        click.echo("\n".join(lines[1:]) + "\n")
    if failures > len(shown):
        click.echo(f"… and {failures - len(shown)} more; --show {failures} shows them all\n")
    unsupported = reasons(finished)
    if unsupported:
        click.echo("unsupported, and why:")
        click.echo("\n".join(unsupported) + "\n")
    click.echo("\n".join(table(finished, every_clause)) + "\n")
    click.secho(headline(finished), fg="green" if finished.conforms else "red", bold=True)
    sys.stdout.flush()
