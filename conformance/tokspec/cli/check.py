"""``tokspec check``: hold an implementation to a pack."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path

import click

from tokspec.base.display import terminal_width, visible, wrap
from tokspec.base.errors import AdapterFault
from tokspec.base.files import write_whole
from tokspec.cli.known import Ratchet, known_failures_options
from tokspec.cli.options import Target, implementation_options, selection_options
from tokspec.cli.own import opened
from tokspec.cli.progress import ProgressBar
from tokspec.cli.run import refuse_one_file
from tokspec.formats import READERS
from tokspec.formats.user_model import UserModel
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Verdict, effective_choices
from tokspec.packs.asking import Asker, may_be_wanted
from tokspec.packs.checking import checked, other_choices, other_model
from tokspec.packs.findings import Findings
from tokspec.packs.reading import Pack, find_model, read_pack
from tokspec.packs.text import causes, reasons, share, table
from tokspec.packs.verdict import cases_of, run_of
from tokspec.report.ndjson import ndjson, origin
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.selection import select

__all__ = ["check_command"]

_path = click.Path(path_type=Path)


@click.command("check", short_help="Hold an implementation to a pack.")
@click.argument("pack_file", metavar="PACK", type=_path)
@implementation_options
@click.option("--model", type=_path, metavar="FILE", help="The model as this implementation takes it; else the pack's.")
@click.option("--format", type=click.Choice(list(READERS)), help="Its format; its name says it unless given.")
@selection_options
@known_failures_options
@click.option("--show", type=click.IntRange(min=0), default=10, show_default=True, help="How many causes to show.")
@click.option("--report", type=_path, metavar="FILE.ndjson", help="Write a report.")
@click.option("--junit", "junit_file", type=_path, metavar="FILE.xml", help="Write JUnit's XML.")
def check_command(
    pack_file: Path,
    target: Target,
    model: Path | None,
    format: str | None,
    patterns: tuple[str, ...],
    excluded: tuple[str, ...],
    known_failures: Path | None,
    update: bool,
    show: int,
    report: Path | None,
    junit_file: Path | None,
) -> int:
    """Hold an implementation to what a pack has recorded: another, another version, or the same again.

    \b
    tokspec check pack.yaml --impl tokenizers
    tokspec check pack.yaml --impl tiktoken --model cl100k.tiktoken
    tokspec check pack.yaml --cmd "node adapter.mjs" --select encode

    Without --model, the pack's own is looked for beside the pack and here. What differs is grouped by its cause.

    Exit status: 0 if nothing differs but what is known, 1 if something does, 2 if the pack or the suite is at fault.
    """
    ratchet = Ratchet.of(known_failures, update)
    refuse_one_file({"--known-failures": ratchet.file, "--report": report, "--junit": junit_file})
    checking = Checking(read_pack(pack_file), target, model, format, patterns, excluded, ratchet)
    finished, findings = checking.run()
    came_from = origin(click.get_current_context().find_root().obj or "", checking.again, load_suite().hash)
    if report:
        write_whole(report, b"".join(ndjson(finished, came_from)))
    if junit_file:
        from tokspec.report.junit import junit  # here, because most runs need no XML

        write_whole(junit_file, junit([(came_from, finished)]))
    _say(finished, findings, show, checking)
    if ratchet.file and not update and not finished.conforms:
        click.echo(f"to rewrite the known-failures file: {checking.again} --update-known-failures")
    return 0 if finished.conforms else 1


@dataclass(frozen=True)
class Checking:
    """What is held to which pack, and to what of it."""

    pack: Pack
    target: Target
    model: Path | None
    format: str | None
    patterns: tuple[str, ...]
    excluded: tuple[str, ...]
    ratchet: Ratchet

    @cached_property
    def cases(self) -> Sequence[Case]:
        """What the pack can be asked for, all of it or what was selected."""
        return select(cases_of(self.pack), self.patterns, self.excluded)

    @property
    def again(self) -> str:
        """The command that checks in the same way, without its selection."""
        model = f" --model {shlex.quote(str(self.model))}" if self.model else ""
        format = f" --format {self.format}" if self.format else ""
        given = f"{self.target.arguments()}{model}{format}{self.ratchet.arguments()}"
        return f"tokspec check {shlex.quote(str(self.pack.file))}{given}"

    def run(self) -> tuple[Run, Findings]:
        """Ask, and give what it came to; what makes a difference likely is said before."""
        cases, own = self.cases, find_model(self.pack, self.model, self.format, changed=True)
        try:
            adds = self.pack.header.special_tokens == "added" and may_be_wanted(self.target.impl)
            with opened(self.target) as session:
                asker = Asker(session, own, adds=adds)
                choices = effective_choices(session.hello)
                self._introduce(own, session.hello.name)
                with ProgressBar("checking", sum(self.pack.counts.values())) as advance:
                    findings = checked(self.pack, asker, choices["offset_unit"], cases, advance)
                finished = run_of(cases, findings, session.hello, choices, session.unblamed)
        except AdapterFault as fault:
            raise self.target.unusable(fault) from None
        return self._counted(finished), findings

    def _introduce(self, own: UserModel, who: str) -> None:
        header = self.pack.header
        texts = f"{sum(self.pack.counts.values())} texts"
        click.echo(visible(f"{self.pack.name}: what {header.who} made of {texts} with {header.model['file']}"))
        lines = other_model(header.model, own)
        if header.special_tokens == "added" and not may_be_wanted(self.target.impl):
            lines.append(f"it has the special tokens that a post-processor adds, and {who} is asked as it is")
        click.echo("".join(f"  {visible(line)}\n" for line in lines), nl=False)
        click.echo()

    def _counted(self, finished: Run) -> Run:
        """Return the run as it counts with what is known."""
        known = self.ratchet.counting
        if known and known.entries:
            listed = known.unsupported(finished.results)
            judged = tuple(known.apply_to(result, date.today()) for result in finished.results)
            finished = replace(finished, results=judged, problems=(*finished.problems, *listed))
        return self.ratchet.applied(finished, {case.id for case in cases_of(self.pack)})


def _not_offered(run: Run) -> set[str]:
    results = [result for result in run.results if result.verdict is Verdict.UNSUPPORTED]
    return {result.case.operation for result in results if result.case.operation not in run.hello.operations}


def _say(run: Run, findings: Findings, show: int, checking: Checking) -> None:
    header = checking.pack.header
    for line in wrap(causes(findings, show, checking.pack.file.name), terminal_width()):
        click.echo(line)
    others = other_choices(header.choices, run.choices, header.model.get("settings", {}))
    if findings.texts_that_differ and others:
        click.echo("\n".join(["declared otherwise, which may be why:", *(f"  {line}" for line in others), ""]))
    if unsupported := reasons(findings, _not_offered(run)):
        click.echo("\n".join(["unsupported, and why:", *unsupported, ""]))
    if findings.tallies:
        click.echo("\n".join([*table(findings), ""]))
    passing = [result.case.id for result in run.results if result.verdict is Verdict.UNEXPECTED_PASS]
    if passing:
        more = " …" if len(passing) > show else ""
        click.echo(f"{len(passing)} listed as failing, and the same: {', '.join(passing[: max(show, 1)])}{more}\n")
    for problem in run.complaints:
        click.echo(click.style(visible(problem), fg="red"))
    click.echo(_summary(run, findings))


def _summary(run: Run, findings: Findings) -> str:
    """Return the last line: whether it agrees, and how much differs."""
    hello = run.hello
    who = visible(f"{hello.name} {hello.version}".strip())
    known = run.counts[Verdict.KNOWN_FAILURE]
    state = "agrees with the pack" if run.conforms else "does not agree with the pack"
    state += " but for what is known" if known and run.conforms else ""
    texts = share(findings.texts_that_differ, findings.texts)
    tokens = share(findings.tokens_that_differ, findings.tokens)
    summary = f"{who} {state}: of {findings.texts} texts {texts} differ, of {findings.tokens} tokens {tokens}"
    return click.style(summary, fg="green" if run.conforms else "red", bold=True)
