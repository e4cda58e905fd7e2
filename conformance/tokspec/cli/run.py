"""``tokspec run``: judge an implementation."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from tokspec import __version__
from tokspec.base.display import terminal_width, visible
from tokspec.base.errors import AdapterFault, DataError
from tokspec.base.files import write_whole
from tokspec.cli.known import Ratchet, known_failures_options
from tokspec.cli.options import (
    FILE,
    POSITIVE,
    PROCESSES,
    Target,
    choices_option,
    files_of_fixtures,
    files_of_implementation,
    fixtures_option,
    fixtures_version_option,
    implementation_options,
    parse_choices,
    parse_shown,
    refuse_outputs,
    selection_options,
)
from tokspec.cli.progress import ProgressBar
from tokspec.formats import write_as_of
from tokspec.formats.cautions import cautions_of
from tokspec.formats.user_model import UserModel, files_of_model, read_user_model
from tokspec.judge.diagnosis import FailureGroup, first_diverging_stage, group_failures
from tokspec.judge.judging import Terms, judge_implementation, with_problems
from tokspec.judge.known_failures import KnownFailures
from tokspec.judge.runner import Run
from tokspec.judge.scope import check_names
from tokspec.judge.verdicts import Result, Verdict
from tokspec.report.failure import describe
from tokspec.report.ndjson import ndjson, origin
from tokspec.report.text import say, text
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case, Suite
from tokspec.suite.fixtures import load_suite
from tokspec.suite.origins import Origin, load_origin
from tokspec.suite.packs import cases_of, find_pack, name_of
from tokspec.suite.recordings import RecordingFile, read_recording
from tokspec.suite.selection import cases_of_version, plain_first, select
from tokspec.suite.sweeps import read_sweep

_JOBS = "Run N processes of the implementation at once, each with its own limits; the verdicts are the same."


_MAX_FAILURES = "End the run after N failing cases; cases of few clauses and components come first."


_REQUIRE = (
    "Fail unless every case of this core, profile, chapter or clause passes. With :input after the name, fail unless "
    "the input of a model (ids, type ids and attention mask) is right in every such case. May be repeated."
)

_VERIFY = (
    "Run every case again: twice in an order that SEED shuffles (0 unless given), once in the reverse of that order, "
    "and once in new processes."
)

_SHOW = (
    "Number of causes to show (10 unless given), or all to show every failing case, or clauses to show every clause. "
    "May be repeated."
)

_LIKE = "Accept a wrong answer if this library gives it too: tokenizers, sentencepiece or tiktoken."


@click.command("run", short_help="Judge an implementation by the suite's cases, or by a pack.")
@implementation_options
@selection_options
@choices_option
@fixtures_option
@fixtures_version_option
@click.option("--pack", metavar="PACK", help="Judge by a pack or a recording instead of the fixtures.")
@click.option("--model", type=FILE, metavar="FILE", help="File of the tokenizer that the pack was made from.")
@known_failures_options
@click.option("--verify", is_flag=False, flag_value="0", metavar="[SEED]", type=int, help=_VERIFY)
@click.option("--seed", type=int, default=0, hidden=True)
@click.option("--max-failures", type=POSITIVE, metavar="N", hidden=True, help=_MAX_FAILURES)
@click.option("--jobs", type=PROCESSES, default=1, show_default=True, metavar="N", help=_JOBS)
@click.option("--show", "shows", multiple=True, metavar="WHAT", help=_SHOW)
@click.option("--verbose", is_flag=True, hidden=True)
@click.option("--clauses", is_flag=True, hidden=True)
@click.option("--require", "required", multiple=True, metavar="NAME", help=_REQUIRE)
@click.option("--like", metavar="ORIGIN", help=_LIKE)
@click.option("--report", type=FILE, metavar="FILE.ndjson", help="Write a report to this file.")
@click.option("--junit", "junit_file", type=FILE, metavar="FILE.xml", help="Write JUnit XML to this file.")
def run_command(
    known_failures: Path | None,
    update: bool,
    crashes: bool,
    verify: int | None,
    seed: int,
    shows: tuple[str, ...],
    verbose: bool,
    clauses: bool,
    report: Path | None,
    junit_file: Path | None,
    **options: Any,
) -> int:
    """Judge an implementation, or the reference if you name none.

    \b
    tokspec run                                   the reference
    tokspec run --impl tokenizers                 an installed implementation
    tokspec run --impl tokenizers@old-venv        with the library of another virtual environment
    tokspec run --impl mypackage.adapter:Adapter  a class of yours
    tokspec run --impl "node adapter.mjs"         a program in any language
    tokspec run --select "BPE-*" --select decode  some of the cases
    tokspec run --pack llama-3.1 --model tokenizer.json --impl "node adapter.mjs"

    Exit status: 0 if it conforms or matches its list of known failures, 1 if it does not, 2 if it could not be judged.
    """
    ratchet = Ratchet.of(known_failures, update, crashes)
    judging = Judging(ratchet=ratchet, verify=verify is not None, seed=verify or seed, **options)
    refuse_outputs(
        {"--known-failures": ratchet.file, "--report": report, "--junit": junit_file},
        {
            "--fixtures": files_of_fixtures(judging.fixtures),
            "--model": files_of_model(judging.model),
            "--impl": files_of_implementation(judging.target.name),
        },
    )
    count, others = parse_shown(shows)
    finished, shown, refusal = judging.run(count, verbose or "all" in others)
    came_from = origin(click.get_current_context().find_root().obj or "", judging.again(), judging.suite.hash)
    if report:
        write_whole(report, b"".join(ndjson(finished, came_from)))
    if junit_file:
        from tokspec.report.junit import junit  # here, because most runs need no XML

        write_whole(junit_file, junit([(came_from, finished)]))
    say(text(finished, shown, clauses or "clauses" in others))
    if refusal:
        raise refusal
    if advice := judging.ratchet.advice(finished, judging.again()):
        click.echo(advice)
    return 0 if finished.is_green else 1


@dataclass(frozen=True)
class Judging:
    """The options that lead to verdicts: the implementation, the cases, and what it has to fulfill."""

    target: Target
    patterns: tuple[str, ...]
    excluded: tuple[str, ...]
    choices: tuple[str, ...]
    fixtures: Path | None
    ratchet: Ratchet
    verify: bool
    seed: int
    max_failures: int | None
    jobs: int = 1
    required: tuple[str, ...] = ()
    fixtures_version: str | None = None
    pack: str | None = None
    model: Path | None = None
    like: str | None = None

    @cached_property
    def suite(self) -> Suite:
        """Return the fixtures, or the lines of a pack; they are read once."""
        if (self.pack is None) != (self.model is None):
            raise click.UsageError("--pack and --model belong together: a pack is judged with the tokenizer's own file")
        if self.pack is None or self.model is None:
            return load_suite(self.fixtures)
        if self.fixtures or self.fixtures_version:
            raise click.UsageError("--pack replaces the fixtures; leave out --fixtures and --fixtures-version")
        pack, model = read_recording(find_pack(self.pack)), read_user_model(self.model, whole=True)
        is_of = pack.header.is_of(model.sha256)
        if not is_of:
            without = ", so its sweep is left out" if pack.header.sweep else ""
            click.echo(f"{self.model} is not the file that the pack {name_of(pack)} was made from{without}", err=True)
        for caution in cautions_of(model):
            click.echo(visible(f"{self.model}: {caution}"), err=True)
        suite = cases_of(pack, model)
        if is_of and pack.header.sweep:
            suite = replace(suite, cases={**suite.cases, **self.sweep(pack, model)})
        return suite

    def sweep(self, pack: RecordingFile, model: UserModel) -> Mapping[str, Case]:
        """Tokenize with every entry of the vocabulary, and return the cases of a pack's sweep."""
        from tokspec.judge.sweeping import sweep_cases  # here, as it needs tokfast

        sweep = read_sweep(pack.header.sweep)
        try:
            with self.target.open(self.jobs) as session:
                swept = sweep_cases(name_of(pack), pack.name, sweep, pack.header.choices, model, session)
        except AdapterFault as fault:
            raise self.target.unusable(fault) from None
        self.differing.update(swept.differing)
        if swept.left_out:
            share = f"{swept.left_out} of {3 * sweep.blocks} digests"
            click.echo(f"the pack lacks {share} of its sweep, on which its makers did not agree", err=True)
        if swept.unjudged:
            message = "digests of the sweep that tokfast does not give, so that nothing was judged by them"
            self.unjudged.append(f"{message}: {swept.unjudged}")
        return swept.cases

    @cached_property
    def differing(self) -> set[str]:
        """The cases of a sweep whose answer was wrong when all texts were asked together."""
        return set()

    @cached_property
    def unjudged(self) -> list[str]:
        """The parts of a sweep that could not be judged, which keep a run from being green."""
        return []

    def run(self, show: int, every: bool) -> tuple[Run, list[list[str]], DataError | None]:
        """Run the cases, and describe failures while the implementation can still be asked about its stages.

        Returns:
            The run, the descriptions of its failures, and the error if the known failures should have been rewritten
                and were not.
        """
        check_names(self.required)
        known_cases = cases_of_version(self.suite, self.fixtures_version)
        cases = select(known_cases, self.patterns, self.excluded)
        write_as_of(self.fixtures_version)
        cases = cases if self.max_failures is None else plain_first(cases)
        terms = Terms(
            parse_choices(self.choices),
            self.ratchet.known,
            self.names_of_entries(),
            self.required,
            known_cases,
            self.origin(),
        )
        shown: list[list[str]] = []
        refusals: list[DataError] = []
        here = os.getcwd()

        def rewrite(finished: Run) -> KnownFailures:
            os.chdir(here)  # an adapter in this process may have changed it
            known, refusal = self.ratchet.rewritten(finished, terms.names)
            refusals.extend([refusal] if refusal else [])
            return known

        def look(finished: Run, session: Session, reference: Session) -> None:
            shown.extend(self.describe(finished, show, every, session, reference))

        try:
            with ProgressBar("judging", len(cases)) as advance:
                finished = judge_implementation(
                    lambda: self.target.open(self.jobs),
                    cases,
                    terms,
                    max_failures=self.max_failures,
                    verify=self.verify_run if self.verify else None,
                    rewrite=rewrite if self.ratchet.update else None,
                    reference=self.target.open_reference,
                    look=look,
                    progress=advance,
                )
        except AdapterFault as fault:
            raise self.target.unusable(fault) from None
        os.chdir(here)
        passed = [each.case.id for each in finished.results if each.verdict is Verdict.PASS]
        alone = [f"{id} passes alone, but failed when everything was asked" for id in passed if id in self.differing]
        if problems := [*alone, *self.unjudged]:
            finished = with_problems(finished, problems)
        return finished, shown, refusals[0] if refusals else None

    def origin(self) -> Origin | None:
        """Return the origin of ``--like``."""
        try:
            return load_origin(self.like) if self.like else None
        except DataError as error:
            raise DataError(error.message, key="--like") from None

    def names_of_entries(self) -> Collection[str]:
        """Return the cases that a known failure may name; with an older version, these include cases removed since."""
        is_older = self.fixtures_version not in (None, __version__)
        known = self.ratchet.known
        return {*self.suite.cases, *known.entries, *(known.not_offered or ())} if is_older else self.suite.cases

    def verify_run(self, finished: Run, starting: float, asking: float) -> Run:
        """Ask all cases again; ``starting`` and ``asking`` are the seconds that it took to start and to answer once."""
        from tokspec.judge.verify import count_requests, estimate_seconds, verify_run  # here, as most runs do without

        expected = estimate_seconds(starting, asking * self.jobs)
        with ProgressBar("verifying", count_requests(finished), expected) as advance:
            return verify_run(finished, self.target.open, self.seed, lambda requests: advance(by=requests))

    def describe(
        self, finished: Run, show: int, every: bool, session: Session, reference: Session
    ) -> Iterator[list[str]]:
        """Describe one failure of each cause, or all of them: the diverging stage, and the command that repeats it."""
        groups = group_failures(finished.failed)
        shown = [(result, []) for result in finished.failed] if every else [_split(each) for each in groups[:show]]
        for result, alike in shown:
            # Alone it would pass, because the state that makes it fail comes from other cases.
            is_leak = result.verdict is Verdict.STATE_LEAK
            again = f"{self.again()} --verify" if is_leak else f"{self.again()} --select {result.case.id}"
            stage = ""
            if result.verdict is Verdict.FAIL:
                stage = first_diverging_stage(result.question, session, reference, finished.choices["offset_unit"])
            yield describe(result, again, stage, terminal_width(), alike)

    def again(self) -> str:
        """Write the command that judges in the same way, without the selection of cases."""
        fixtures = f" --fixtures {shlex.quote(str(self.fixtures))}" if self.fixtures else ""
        choices = "".join(f" --choice {shlex.quote(choice)}" for choice in self.choices)
        fixtures += f" --fixtures-version {self.fixtures_version}" if self.fixtures_version else ""
        if self.pack is not None:
            fixtures += f" --pack {shlex.quote(self.pack)} --model {shlex.quote(str(self.model))}"
        fixtures += f" --like {shlex.quote(self.like)}" if self.like else ""
        return f"tokspec run{self.target.arguments()}{choices}{fixtures}{self.ratchet.arguments()}"


def _split(group: FailureGroup) -> tuple[Result, list[Result]]:
    first, *alike = group.results
    return first, alike
