"""``tokspec fuzz``: look for what no case asks."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from random import SystemRandom
from typing import Any, TypeVar

import click

from tokspec.cli.fuzz_progress import FuzzProgress
from tokspec.cli.options import Target, choices_option, fixtures_option, implementation_options, parse_choices
from tokspec.discovery import open_session
from tokspec.errors import DataError
from tokspec.fuzz.campaign import Budget, Campaign, examples_of
from tokspec.fuzz.checker import Checker, Conversations, reference_with
from tokspec.fuzz.database import keep, kept
from tokspec.fuzz.dependence import by_choice, with_ties
from tokspec.fuzz.display import counts, lines_of, one_line, total
from tokspec.fuzz.example import Example
from tokspec.fuzz.findings import Finding
from tokspec.fuzz.known import known_clauses, mark_known
from tokspec.fuzz.models import FAMILIES
from tokspec.fuzz.panel import Panel
from tokspec.fuzz.properties import PROPERTIES, PropertyChecker
from tokspec.fuzz.saving import replayed, save
from tokspec.report.safe import visible

__all__ = ["fuzz_command"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_PATH = click.Path(path_type=Path)

#: How long a campaign is without a budget, in seconds.
DEFAULT_SECONDS = 60.0

_OPTIONS = [
    click.option("--seconds", type=click.FloatRange(min=0), help="End after so long; 60 unless a budget is given."),
    click.option("--examples", type=click.IntRange(min=1), help="End after so many examples."),
    click.option("--seed", type=click.IntRange(min=0), help="Of all that is random; printed, to be given again."),
    click.option("--only", metavar="FAMILY[:NUMBER]", help="Make models of this family alone, or this one model."),
    click.option(
        "--against", multiple=True, metavar="NAME", help="Compare with it, not the reference; of several the majority."
    ),
    click.option("--replay", multiple=True, type=_PATH, metavar="FOLDER", help="First ask what was saved there."),
    click.option("--save", "folder", type=_PATH, metavar="FOLDER", help="Write each finding there, as a fixture."),
    click.option("--database", type=_PATH, metavar="FOLDER", help="Where findings are kept for the next run."),
    click.option("--no-database", is_flag=True, help="Keep nothing, and ask nothing that was kept."),
    click.option(
        "--known-failures", type=_PATH, metavar="FILE.yaml", help="Findings of the clauses of its cases are known."
    ),
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
@fixtures_option
@_options
def fuzz_command(show: int, with_counts: bool, **options: Any) -> int:
    """Compare an implementation with the reference on models and texts made at random.

    \b
    tokspec fuzz --impl tokenizers                      for a minute
    tokspec fuzz --impl tokenizers --seed 7 --only bpe  models of one family, the same ones each time
    tokspec fuzz --cmd "node adapter.mjs" --save found  keep what differs, as fixtures

    What differs is shrunk and shown once for each clause. What the implementation declares as a choice, does not
    support, or is recorded to do otherwise is no finding.

    Exit status: 0 if nothing new was found, 1 if something was, 2 if the suite could not do its work.
    """
    fuzzing = Fuzzing(**options)
    campaign, shown = fuzzing.run(show)
    if with_counts:
        click.echo("\n".join(counts(campaign)))
    click.echo("\n".join(shown))
    nothing = not campaign.tally.states["same"] and not len(campaign.findings)
    if nothing:
        click.echo(click.style("no example was answered, and a run that shows nothing is not a pass", fg="red"))
    return 1 if nothing or any(not finding.known for finding in campaign.findings) else 0


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

    def run(self, show: int) -> tuple[Campaign, list[str]]:
        """Look, and describe what was found while the implementation can still be asked."""
        seed = SystemRandom().randrange(2**32) if self.seed is None else self.seed
        families, first = self._models(seed)
        known = known_clauses(self.known_failures, self.fixtures)
        saved = [example for folder in self.replay for example in replayed(folder)]
        click.echo(f"seed {seed}", err=True)
        judged = Conversations(self.target.open)
        checks: list[Checker] = []
        try:
            checks = self._checks(judged)
            name = f"{judged.session.hello.name} {judged.session.hello.version}"
            kept_before = [] if self._folder is None else kept(self._folder, name)
            with FuzzProgress(self._budget) as progress:
                campaign = Campaign(checks, seed, self._budget if not first else Budget(0), families, progress)
                campaign.run([*saved, *kept_before, *(first or ())])
            fresh = mark_known(campaign.findings, known)
            if self._folder is not None:
                keep(self._folder, name, [finding.example for finding in campaign.findings])
            lines = [*self._saved(fresh, name), *self._described(campaign, fresh, seed, show, checks[0])]
            return campaign, [*lines, total(campaign, name)]
        finally:
            for check in checks[:1]:
                check.oracle.close()
            judged.close()

    def _models(self, seed: int) -> tuple[tuple[str, ...], list[Example] | None]:
        """Give the families that are wanted, or the examples of the one model."""
        if self.only is None:
            return tuple(FAMILIES), None
        family, _, number = self.only.partition(":")
        if family not in FAMILIES or not (number.isdecimal() or number == ""):
            raise DataError(f"{self.only!r} names no models; there are {', '.join(FAMILIES)}", key="--only")
        if not number:
            return (family,), None
        if self.seed is None:
            raise DataError("a model's number is one of a seed; give --seed too", key="--only")
        return (family,), examples_of(seed, family, int(number), _ALL_OPERATIONS)

    def _checks(self, judged: Conversations) -> list[Checker]:
        overridden = parse_choices(self.choices)
        first = Checker(judged, None, overridden)
        if self.against:
            members = [Conversations(partial(_opened, name)) for name in self.against]
            first.oracle = Panel(members, first.choices)
        return [first, *(PropertyChecker(each, judged, first.choices) for each in PROPERTIES)]

    @property
    def _folder(self) -> Path | None:
        return None if self.no_database else self.database or Path(".tokspec-fuzz")

    @property
    def _budget(self) -> Budget:
        seconds = DEFAULT_SECONDS if self.seconds is None and self.examples is None else self.seconds
        return Budget(seconds, self.examples)

    def _saved(self, fresh: Sequence[Finding], name: str) -> list[str]:
        if self.folder is None:
            return []
        files = save(fresh, self.folder, name, self._outcome)
        return [f"wrote {file}" for file in files]

    def _outcome(self, finding: Finding) -> dict[str, Any]:
        """Give what the reference answers, under every option of the choices on which that depends."""

        def outcome(choices: Any) -> dict[str, Any]:
            with_choices = Conversations(lambda: reference_with(choices))
            return dict(Checker.right_of(with_choices, finding.example))

        return dict(with_ties(by_choice(outcome, reference_with({}).hello.choices), finding.example))

    def _described(
        self, campaign: Campaign, fresh: Sequence[Finding], seed: int, show: int, check: Checker
    ) -> list[str]:
        lines = []
        for finding in sorted(fresh, key=lambda finding: (finding.clause, finding.example.size))[:show]:
            head, *rest = lines_of(finding, self._again(finding, seed), check.judged.session, check.oracle.session)
            lines += [click.style(head, fg="red", bold=True), *rest, ""]
        if len(fresh) > show:
            lines.append(f"… and {len(fresh) - show} more; --show {len(fresh)} shows them all\n")
        known = [finding for finding in campaign.findings if finding.known]
        lines += [f"known: {visible(finding.known)}: {one_line(finding)}" for finding in known]
        return lines

    def _again(self, finding: Finding, seed: int) -> str:
        """Write the command that finds it again."""
        choices = "".join(f" --choice {shlex.quote(choice)}" for choice in self.choices)
        against = "".join(f" --against {shlex.quote(name)}" for name in self.against)
        family, _, number = finding.first.origin.partition(":")
        if family in FAMILIES and number:
            where = f" --seed {seed} --only {finding.first.origin} --no-database"
        else:
            where = "".join(f" --replay {shlex.quote(str(folder))}" for folder in self.replay) + " --seconds 0"
        return f"tokspec fuzz{self.target.arguments()}{choices}{against}{where}"


def _opened(name: str) -> Any:
    """Open what is named: an installed implementation, module:object, or, with a space in it, a command."""
    return open_session(None, name) if " " in name else open_session(name, None)


_ALL_OPERATIONS = tuple(reference_with({}).hello.operations)
