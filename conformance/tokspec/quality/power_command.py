"""``tokspec dev power``: find out which known faults the cases notice."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from tokspec.base.errors import DataError
from tokspec.cli.options import FILE, PROCESSES, fixtures_option
from tokspec.cli.progress import ProgressBar
from tokspec.quality.mutants import load_mutants, mutants_folder, selected
from tokspec.quality.power import MutantOutcome, power
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification


@click.command("power", short_help="Test whether the suite notices known faults.")
@click.option("--mutants", "folder", type=FILE, metavar="FOLDER", help="Mutants to use instead of the checkout's own.")
@fixtures_option
@click.option("--select", "patterns", multiple=True, metavar="PATTERN", help="Select mutants by id, clause or file.")
@click.option("--full", is_flag=True, help="Try all cases that run the changed code, even after one notices the fault.")
@click.option("--summary", is_flag=True, help="Count cases and kills by clause and by case. Implies --full.")
@click.option("--jobs", type=PROCESSES, help="Number of processes; by default, one for each processor.")
def power_command(
    folder: Path | None, fixtures: Path | None, patterns: tuple[str, ...], full: bool, summary: bool, jobs: int | None
) -> int:
    """Judge implementations with one known fault each, and show which of these faults the cases notice.

    A mutant is the reference with one wrong rule. A case that names the clause of that rule kills it; if another case
    notices it, that is an accident. Harmless mutants have to pass, because they differ only as the specification
    allows, or in a way that no request shows.

    Exit status: 0 if all mutants are killed, 1 if one survives or a harmless one does not pass, 2 if the command could
    not run, for example because a mutant no longer fits the reference.
    """
    mutants = selected(load_mutants(_given(folder)), patterns)
    cases = load_suite(fixtures).cases
    everything = full or summary
    with ProgressBar("judging", len(mutants)) as advance:
        outcomes = power(mutants, fixtures, everything, jobs or os.cpu_count() or 1, advance)
    lines = _summary(outcomes, list(cases.values())) if summary else _matrix(outcomes)
    click.echo("\n".join([*lines, *_left_over(outcomes, list(cases.values()), everything, patterns), _total(outcomes)]))
    return 0 if all(outcome.right for outcome in outcomes) else 1


def _given(folder: Path | None) -> Path:
    found = folder or mutants_folder()
    if found is None:
        raise DataError(
            "there are no mutants here; run this in a checkout, or give its conformance/mutants", key="--mutants"
        )
    return found


def _matrix(outcomes: Sequence[MutantOutcome]) -> Iterator[str]:
    """Return a line for each mutant, starting with those that are not right."""
    width = max(len(outcome.mutant.id) for outcome in outcomes)
    for outcome in sorted(outcomes, key=lambda outcome: outcome.right):
        mutant = outcome.mutant
        yield f"{_word(outcome):<11}  {mutant.id:<{width}}  {mutant.clause:<16}  {_by(outcome)}"
        if not outcome.right:
            yield f"{'':11}  {mutant.harmless or mutant.fault} ({mutant.place})"
    yield ""


def _word(outcome: MutantOutcome) -> str:
    if outcome.mutant.harmless:
        return "harmless" if outcome.right else "FALSE ALARM"
    return "killed" if outcome.right else "SURVIVES"


def _by(outcome: MutantOutcome) -> str:
    kills = [kill for kill in outcome.kills if kill.names_clause or not outcome.killed]
    if not kills:
        return f"{outcome.asked} cases pass, {outcome.named} of them for its clause"
    accident = "" if outcome.killed or outcome.mutant.harmless else "by accident "
    return f"{accident}{kills[0].case} ({kills[0].verdict})"


def _summary(outcomes: Sequence[MutantOutcome], cases: Sequence[Case]) -> Iterator[str]:
    """Return a line for each clause, and then one for each case that kills a mutant."""
    harmful = [outcome for outcome in outcomes if not outcome.mutant.harmless]
    mutants = Counter(outcome.mutant.clause for outcome in harmful)
    killed = Counter(outcome.mutant.clause for outcome in harmful if outcome.killed)
    named = Counter(clause for case in cases for clause in case.clauses)
    yield f"{'clause':<16}  cases  mutants  killed"
    for clause in load_specification().clauses:
        if mutants[clause]:
            yield f"{clause:<16}  {named[clause]:>5}  {mutants[clause]:>7}  {killed[clause]:>6}"
    kills = Counter(kill.case for outcome in harmful for kill in outcome.kills)
    yield "\nkills  case"
    for case, count in kills.most_common():
        yield f"{count:>5}  {case}"
    yield ""


def _left_over(
    outcomes: Sequence[MutantOutcome], cases: Sequence[Case], full: bool, patterns: Sequence[str]
) -> Iterator[str]:
    """Name the clauses that no mutant breaks and, if all cases were run, the cases that kill no mutant."""
    if patterns:
        return
    broken = {outcome.mutant.clause for outcome in outcomes if not outcome.mutant.harmless}
    named = {clause for case in cases for clause in case.clauses}
    without = [clause for clause in load_specification().clauses if clause in named - broken]
    if without:
        yield f"clauses without mutants: {', '.join(without)}\n"
    kills = {kill.case for outcome in outcomes for kill in outcome.kills}
    idle = [case.id for case in cases if full and case.id not in kills]
    if idle:
        yield f"cases that kill nothing: {', '.join(idle)}\n"


def _total(outcomes: Sequence[MutantOutcome]) -> str:
    harmless = [outcome for outcome in outcomes if outcome.mutant.harmless]
    harmful = [outcome for outcome in outcomes if not outcome.mutant.harmless]
    killed = sum(outcome.killed for outcome in harmful)
    accidents = sum(bool(outcome.kills) and not outcome.killed for outcome in harmful)
    line = f"{len(harmful)} mutants: {killed} killed, {len(harmful) - killed} survive"
    line += f", {accidents} of them noticed by accident" if accidents else ""
    alarms = sum(not outcome.right for outcome in harmless)
    return line + f"; {len(harmless)} harmless ones: {alarms} false alarms"
