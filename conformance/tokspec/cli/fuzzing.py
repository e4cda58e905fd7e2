"""A campaign of ``tokspec fuzz``: what its options mean, what is shown of it, and what is left of it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import Any

import click

from tokspec.base.display import terminal_width, visible, wrap
from tokspec.base.errors import AdapterFault, DataError
from tokspec.cli.fuzz_progress import FuzzProgress
from tokspec.cli.options import Target, parse_choices
from tokspec.fuzz.budget import Budget
from tokspec.fuzz.campaign import Campaign
from tokspec.fuzz.checker import REFERENCE, Checker, Conversations, reference_with
from tokspec.fuzz.database import keep, kept, still_differing
from tokspec.fuzz.dependence import by_choice, with_ties
from tokspec.fuzz.display import counts, lines_of, one_line, total
from tokspec.fuzz.example import Example
from tokspec.fuzz.findings import Finding
from tokspec.fuzz.known import known_clauses, mark_known
from tokspec.fuzz.maker import examples_of
from tokspec.fuzz.models import FAMILIES
from tokspec.fuzz.panel import Panel
from tokspec.fuzz.properties import PROPERTIES, PropertyChecker, is_of_repetition
from tokspec.fuzz.saving import case_id, held, refuse_unwritable, replayed, save
from tokspec.fuzz.wishes import families_of, opened
from tokspec.judge.verdicts import effective_choices
from tokspec.suite.cases import Case

__all__ = ["Fuzzing"]

#: How long a campaign is without a budget, in seconds.
DEFAULT_SECONDS = 60.0


@dataclass
class Fuzzing:
    """The options of a campaign."""

    target: Target
    choices: tuple[str, ...]
    fixtures: Path | None
    seconds: float | None
    examples: int | None
    seed: int | None
    only: str | None
    against: tuple[str, ...]
    replay: tuple[Path, ...]
    folder: Path | None
    database: Path | None
    no_database: bool
    known_failures: Path | None

    def run(self, show: int, with_counts: bool) -> int:
        """Look, show what was found, then keep it, and give the exit status.

        Raises:
            DataError: an option is wrong, something cannot be opened, or what was found and shown cannot be written.
        """
        seed = SystemRandom().randrange(2**32) if self.seed is None else self.seed
        families, first = self._models(seed)
        known = known_clauses(self.known_failures, self.fixtures)
        saved = [example for folder in self.replay for example in replayed(folder)]
        there = self._there()
        click.echo(f"seed {seed}", err=True)
        with ExitStack() as sessions:
            checks = self._checks(sessions)
            name = _name(checks[0].judged)
            if not (self.target.impl or self.target.program):
                against = ", ".join(self.against) or name
                said = f"no implementation is named: {name} is compared with {against}; give --impl or --cmd"
                click.echo(visible(said), err=True)
            before = kept(self._database, self._kept_as(name)) if self._database else []
            budget = self._budget if first is None else Budget(0)
            with FuzzProgress(budget) as progress:
                campaign = Campaign(checks, seed, budget, families, progress)
                campaign.run([*saved, *before, *(first or ())])
            fresh = mark_known(campaign.findings, known)
            if with_counts:
                _say(counts(campaign))
            _say(self._described(campaign, fresh, seed, show))
            with ExitStack() as last:  # each is done though another fails
                last.callback(click.echo, total(campaign, name))
                last.callback(self._keep, campaign, before, name)
                self._save(fresh, there, name, checks[0].oracle)
        return _status(campaign, fresh)

    def _there(self) -> Mapping[str, Case]:
        """See that what is found can be written, and give the cases that are there by now."""
        for folder in filter(None, (self.folder, self._database)):
            refuse_unwritable(folder)
        return held(self.folder) if self.folder else {}

    def _models(self, seed: int) -> tuple[tuple[str, ...], list[Example] | None]:
        """Return the families that are wanted, or the examples of the one model."""
        if self.only is None:
            return tuple(FAMILIES), None
        family, _, number = self.only.partition(":")
        families = families_of([family if number.isdecimal() or not number else self.only], "--only")
        if not number:
            return families, None
        if self.seed is None:
            raise DataError("a model's number is one of a seed; give --seed too", key="--only")
        return families, examples_of(seed, family, int(number), _ALL_OPERATIONS)

    def _checks(self, sessions: ExitStack) -> list[Checker]:
        """Open all that is asked, to be closed with the sessions."""
        overridden = parse_choices(self.choices)
        with _startable(self.target):
            judged = sessions.enter_context(closing(Conversations(self.target.open)))
            first = Checker(judged, None, overridden)
        if self.against:
            members = [self._member(name, sessions) for name in self.against]
            first.oracle = Panel(members, first.choices, self.against)
        sessions.callback(first.oracle.close)
        return [first, *(PropertyChecker(each, judged, first.choices) for each in PROPERTIES)]

    @staticmethod
    def _member(name: str, sessions: ExitStack) -> Conversations:
        with _startable(Target(*((None, name) if " " in name else (name, None)))):
            member = sessions.enter_context(closing(Conversations(partial(opened, name))))
            effective_choices(member.session.hello)
        return member

    @property
    def _database(self) -> Path | None:
        return None if self.no_database else self.database or Path(".tokspec-fuzz")

    @property
    def _budget(self) -> Budget:
        seconds = DEFAULT_SECONDS if self.seconds is None and self.examples is None else self.seconds
        return Budget(seconds, self.examples)

    def _kept_as(self, name: str) -> str:
        """Name what is kept: what differs from one oracle, and under some choices, need not from another."""
        against = f" against {' and '.join(self.against)}" if self.against else ""
        return f"{name}{against}" + (f" with {' and '.join(self.choices)}" if self.choices else "")

    def _keep(self, campaign: Campaign, before: Sequence[Example], name: str) -> None:
        """Keep what was found, and of what was kept all that is not answered rightly by now."""
        if self._database is None:
            return
        found = {finding.example.key: finding.example for finding in campaign.findings}
        others = [example for example in before if example.key not in found]
        if not campaign.interrupted:
            others = still_differing(campaign.checks, others)
        keep(self._database, self._kept_as(name), [*found.values(), *others])

    def _save(self, fresh: Sequence[Finding], there: Mapping[str, Case], name: str, oracle: Conversations) -> None:
        for finding in fresh if self.folder else ():
            if is_of_repetition(finding.check):
                click.echo(f"not written: {one_line(finding)}: shows only when it is asked again")
                continue
            case = there.get(case_id(finding))
            if case is not None and case.file != f"{case.id}.yaml":
                click.echo(f"{self.folder}/{case.file}:{case.line} holds {case.id} already")
                continue
            who, outcome = _outcome_of(oracle, finding)
            (file,) = save([finding], self.folder or Path(), name, outcome, who)
            click.echo(f"wrote {file}")

    def _described(self, campaign: Campaign, fresh: Sequence[Finding], seed: int, show: int) -> Iterator[str]:
        check = campaign.checks[0]
        for finding in sorted(fresh, key=lambda finding: (finding.clause, finding.example.size))[:show]:
            head, *rest = lines_of(finding, self._again(finding, seed), check.judged.session, check.oracle)
            yield from (click.style(head, fg="red", bold=True), *rest, "")
        if len(fresh) > show:
            yield f"… and {len(fresh) - show} more; --show {len(fresh)} shows them all\n"
        for finding in campaign.findings:
            if finding.known:
                yield f"known: {visible(finding.known)}: {one_line(finding)}"

    def _again(self, finding: Finding, seed: int) -> str:
        """Write the command that finds it again."""
        family, _, number = finding.first.origin.partition(":")
        is_made = family in FAMILIES and number
        given: list[tuple[str, object]] = [
            *(("--choice", choice) for choice in self.choices),
            *(("--against", name) for name in self.against),
            ("--known-failures", self.known_failures),
            ("--fixtures", self.fixtures if self.known_failures else None),
            *(("--replay", folder) for folder in self.replay if not is_made),
            ("--database", None if is_made or self.no_database else self.database),
        ]
        words = "".join(f" {option} {shlex.quote(str(value))}" for option, value in given if value is not None)
        where = f" --seed {seed} --only {finding.first.origin}" if is_made else " --seconds 0"
        alone = " --no-database" if is_made or self.no_database else ""
        return f"tokspec fuzz{self.target.arguments()}{words}{where}{alone}"


def _name(judged: Conversations) -> str:
    return f"{judged.session.hello.name} {judged.session.hello.version}"


def _say(lines: Iterator[str]) -> None:
    for line in wrap(lines, terminal_width()):
        click.echo(line)


@contextmanager
def _startable(target: Target) -> Iterator[None]:
    """Say of what does not start how to find out why."""
    try:
        yield
    except AdapterFault as fault:
        raise target.unusable(fault) from None


def _status(campaign: Campaign, fresh: Sequence[Finding]) -> int:
    """Return the exit status: 0 only if something was alike, and all that differs was looked at and is known."""
    if not campaign.tally.states["same"] and not len(campaign.findings):
        click.echo(click.style("no example was answered, and a run that shows nothing is not a pass", fg="red"))
        return 1
    findings = campaign.findings
    left = not findings.met.keys() <= findings.led_to.keys()
    cut_off = campaign.interrupted and campaign.tally.states["differs"] > 0 and not len(findings)
    return 1 if fresh or left or cut_off else 0


def _outcome_of(oracle: Conversations, finding: Finding) -> tuple[str, Callable[[Finding], Mapping[str, Any]]]:
    """Return who says what is right, and the function that gives it; where other oracles say nothing, the reference."""
    right = {} if oracle.who == REFERENCE else Checker.right_of(oracle, finding.example)
    if not right or right.get("error") == "unsupported":
        return REFERENCE, _by_reference
    return oracle.who, lambda finding: right


def _by_reference(finding: Finding) -> Mapping[str, Any]:
    """Return what the reference answers, under every option of the choices on which that depends."""

    def outcome(choices: Any) -> dict[str, Any]:
        with_choices = Conversations(lambda: reference_with(choices))
        return dict(Checker.right_of(with_choices, finding.example))

    return with_ties(by_choice(outcome, reference_with({}).hello.choices), finding.example)


_ALL_OPERATIONS = tuple(reference_with({}).hello.operations)
