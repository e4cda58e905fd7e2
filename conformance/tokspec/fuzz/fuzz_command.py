"""``tokspec fuzz``: search for differences that no case tests."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from tokspec.base.display import did_you_mean, shorten, terminal_width, visible, wrap
from tokspec.base.errors import INTERRUPTED, AdapterFault, DataError
from tokspec.cli.options import (
    COUNT,
    DAY,
    FILE,
    POSITIVE,
    Command,
    Finite,
    Target,
    choices_option,
    implementation_options,
    parse_choices,
    refuse_blank,
)
from tokspec.cli.progress import Bar
from tokspec.suite.cases import Case

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

    from tokspec.fuzz.campaign import Budget, Campaign
    from tokspec.fuzz.checker import Checker
    from tokspec.fuzz.findings import Finding

#: The seconds of a campaign without a budget.
_DEFAULT_SECONDS = 60.0

_OPTIONS = [
    click.option(
        "--seconds",
        type=Finite(0, DAY),
        help="Seconds after which to stop, 60 unless you give --examples; 0 only replays saved findings.",
    ),
    click.option(
        "--examples",
        type=POSITIVE,
        help="Number of examples after which to stop: models with all their requests, or texts of a pattern.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        help="Seed of the random choices. Each run prints its seed, so that you can repeat it.",
    ),
    click.option(
        "--only",
        metavar="FAMILY",
        help="Draw only these models: stages, bpe, bpe-bytes, wordpiece, unigram, wordlevel, training or broken.",
    ),
    click.option(
        "--pattern",
        metavar="PATTERN",
        help="Try all short texts of the characters that this pattern tells apart: a regular expression, or one of "
        "gpt2, llama3, cl100k, o200k, qwen, deepseek, tekken, kimi or gemma.",
    ),
    click.option(
        "--untrusted",
        is_flag=True,
        help="Try texts that spell special tokens where none is allowed, and report those that become one.",
    ),
    click.option(
        "--against",
        metavar="IMPLEMENTATION",
        help="Compare with this implementation, named as for --impl, instead of the reference.",
    ),
    click.option(
        "--replay", multiple=True, type=FILE, metavar="FOLDER", help="First replay the findings saved in this folder."
    ),
    click.option(
        "--save", "folder", type=FILE, metavar="FOLDER", help="Write each finding to this folder as a fixture."
    ),
    click.option("--database", type=FILE, metavar="FOLDER", help="Folder in which to keep findings for the next run."),
    click.option("--no-database", is_flag=True, help="Keep no findings, and replay none that were kept."),
    click.option(
        "--known-failures",
        type=FILE,
        metavar="FILE.yaml",
        help="Excuse findings that have the same cause as a case that this file lists.",
    ),
    click.option(
        "--fixtures",
        type=FILE,
        metavar="FOLDER",
        help="Fixtures with the cases of --known-failures, instead of the suite's own.",
    ),
    click.option("--show", type=COUNT, default=10, show_default=True, help="Number of findings to show."),
    click.option("--counts", "with_counts", is_flag=True, help="Count the requests of each operation and family."),
]


def _options(command: Command) -> Command:
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


@click.command("fuzz", short_help="Search for differences with generated models and texts.")
@implementation_options
@choices_option
@_options
def fuzz_command(show: int, with_counts: bool, **options: Any) -> int:
    """Compare an implementation with the reference on random models and texts.

    \b
    tokspec fuzz --impl tokenizers                      for a minute
    tokspec fuzz --impl tokenizers --seed 7 --only bpe  models of one family, the same ones each time
    tokspec fuzz --impl "node adapter.mjs" --save found keep the findings, as fixtures
    tokspec fuzz --impl "./lexer" --pattern cl100k      all short texts, for one pre-tokenizer
    tokspec fuzz --impl tokenizers --untrusted          whether a text becomes a special token

    Each difference is shrunk and shown once. A choice that the implementation declares, or a request that it does not
    support, is not a finding.

    Exit status: 0 if nothing new was found, 1 if something was, 2 if the search could not run, 130 after an
    interruption, in which case the findings until then are shown.
    """
    with TemporaryDirectory() as folder:
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", folder)  # or it writes .hypothesis to the current folder
        try:
            import hypothesis  # noqa: F401
        except ModuleNotFoundError:
            raise DataError("needs Hypothesis: pip install hypothesis", key="fuzz") from None
        return _Fuzzing(**options).run(show, with_counts)


class _FuzzProgress(Bar):
    """A bar over the seconds of a budget, or over its examples; called with the campaign."""

    def __init__(self, budget: Budget) -> None:
        super().__init__("looking", budget.seconds or budget.examples)
        self.budget = budget

    def columns(self) -> tuple[ProgressColumn, ...]:
        """Leave out the count, which a budget of seconds doesn't have."""
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

        return TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()

    def __call__(self, campaign: Campaign) -> None:
        if self._bar:
            done = campaign.seconds if self.budget.seconds else campaign.tally.examples
            found = f"{campaign.tally.examples} examples, {len(campaign.findings)} findings"
            self._bar.update(self._task, completed=done, description=found)


@dataclass
class _Fuzzing:
    """The options of a campaign, and how it is run, shown and saved."""

    target: Target
    choices: tuple[str, ...]
    fixtures: Path | None
    seconds: float | None
    examples: int | None
    seed: int | None
    only: str | None
    pattern: str | None
    untrusted: bool
    against: str | None
    replay: tuple[Path, ...]
    folder: Path | None
    database: Path | None
    no_database: bool
    known_failures: Path | None

    def run(self, show: int, with_counts: bool) -> int:
        """Run the campaign, show and save its findings, and return the exit status.

        Raises:
            DataError: an option is wrong, something cannot be opened, or a finding that was shown cannot be written.
        """
        from tokspec.fuzz.display import count_lines, total
        from tokspec.fuzz.findings import known_causes, mark_known
        from tokspec.fuzz.saving import read_questions

        refuse_blank("--against", self.against)
        if self.untrusted and (self.pattern is not None or self.against is not None):
            option = "--pattern" if self.against is None else "--against"
            raise DataError(f"tries texts that it draws on one implementation; leave out {option}", key="--untrusted")
        self._refuse_beside_pattern(with_counts)
        seed = SystemRandom().randrange(2**32) if self.seed is None else self.seed
        families, causes = self._families(), known_causes(self.known_failures, self.fixtures)
        saved = [question for folder in self.replay for question in read_questions(folder)]
        there = self._there()
        if self.pattern is None:
            click.echo(f"seed {seed}", err=True)
        with ExitStack() as sessions:
            checker = self._checker(sessions)
            name = f"{checker.hello.name} {checker.hello.version}"
            if not (self.target.impl or self.target.program):
                said = f"no implementation is named: {name} is compared with {self.against or name}; give --impl"
                click.echo(visible(said), err=True)
            budget = self._budget()
            with _FuzzProgress(budget) as progress:
                campaign = self._campaign(checker, seed, budget, families, progress)
                campaign.run(saved)
            fresh = mark_known(campaign.findings, causes)
            if with_counts:
                _say(count_lines(campaign))
            _say(self._described(campaign, fresh, seed, show))
            with ExitStack() as last:  # shown even if something cannot be written
                last.callback(click.echo, "\n".join([*campaign.summary(), total(campaign, name)]))
                self._save(fresh, there, name, checker)
        return self._status(campaign, fresh)

    def _refuse_beside_pattern(self, with_counts: bool) -> None:
        """Refuse options for drawing models together with a pattern, all of whose texts are tried."""
        given = {
            "--seed": self.seed is not None,
            "--only": self.only is not None,
            "--replay": bool(self.replay),
            "--database": self.database is not None,
            "--no-database": self.no_database,
            "--counts": with_counts,
        }
        option = next((option for option, is_given in given.items() if is_given), None)
        if option and self.pattern is not None:
            raise DataError(f"tries all texts in order, and draws nothing; leave out {option}", key="--pattern")

    def _campaign(
        self,
        checker: Checker,
        seed: int,
        budget: Budget,
        families: Sequence[str],
        progress: Callable[[Campaign], None],
    ) -> Campaign:
        from tokspec.fuzz.campaign import Campaign
        from tokspec.fuzz.lexing import Lexing
        from tokspec.fuzz.pattern_classes import read_lexicon
        from tokspec.fuzz.untrusted import Untrusted

        if self.pattern is None:
            kept = self._kept_in(f"{checker.hello.name} {checker.hello.version}")
            kind = Untrusted if self.untrusted else Campaign
            return kind(checker, seed, budget, families, progress, database=kept)
        lexicon = read_lexicon(self.pattern, checker.choices)
        campaign = Lexing(checker, lexicon, budget, progress)
        _say(lexicon.lines())
        return campaign

    def _families(self) -> tuple[str, ...]:
        from tokspec.fuzz.families import FAMILIES

        if self.untrusted:
            return self._families_that_encode()
        if self.only is None:
            return tuple(FAMILIES)
        if self.only.partition(":")[0] in FAMILIES and ":" in self.only:
            raise DataError(
                f"{self.only!r} has a number, but families have no numbers; give --seed and --examples", key="--only"
            )
        if self.only not in FAMILIES:
            question = did_you_mean(self.only, FAMILIES)
            raise DataError(f"{self.only!r} names no models; {question}there are {', '.join(FAMILIES)}", key="--only")
        return (self.only,)

    def _families_that_encode(self) -> tuple[str, ...]:
        from tokspec.fuzz.untrusted import FAMILIES

        if self.only is not None and self.only not in FAMILIES:
            raise DataError(
                f"{self.only!r} has no texts for --untrusted; there are {', '.join(FAMILIES)}", key="--only"
            )
        return FAMILIES if self.only is None else (self.only,)

    def _budget(self) -> Budget:
        from tokspec.fuzz.campaign import Budget

        seconds = _DEFAULT_SECONDS if self.seconds is None and self.examples is None else self.seconds
        return Budget(seconds, self.examples)

    def _there(self) -> Mapping[str, Case]:
        """Make sure that findings can be written, and return the cases that exist already."""
        from tokspec.fuzz.saving import read_cases, refuse_unwritable

        for folder in filter(None, (self.folder, self._database)):
            refuse_unwritable(folder)
        return read_cases(self.folder) if self.folder else {}

    def _checker(self, sessions: ExitStack) -> Checker:
        """Open both sides, to be closed with ``sessions``."""
        from tokspec.fuzz.checker import Checker, Rival, Side, open_side
        from tokspec.fuzz.untrusted import Guard
        from tokspec.judge.verdicts import effective_choices

        overridden = parse_choices(self.choices)
        with _startable(self.target):
            judged = sessions.enter_context(closing(Side(self.target.open)))
            checker = (Guard if self.untrusted else Checker)(judged, None, overridden)
        if self.against:
            with _startable(Target.of(self.against)):
                rival = sessions.enter_context(closing(Side(partial(open_side, self.against))))
                effective_choices(rival.session.hello)
            checker.oracle = Rival(rival, checker.choices, self.against)
        sessions.callback(checker.oracle.close)
        return checker

    @property
    def _database(self) -> Path | None:
        if self.no_database and self.database:
            raise DataError("keeps findings, and --no-database keeps none; give one of the two", key="--database")
        return None if self.no_database or self.pattern is not None else self.database or Path(".tokspec-fuzz")

    def _kept_in(self, name: str) -> Path | None:
        """Return the folder of the database: findings depend on the oracle and the choices, so each has its own."""
        from tokspec.fuzz.campaign import database_folder

        if self._database is None:
            return None
        parts = [("against", self.against), ("with", " and ".join(self.choices)), ("only", self.only)]
        parts += [("of", "untrusted texts" if self.untrusted else None)]
        return database_folder(self._database, name + "".join(f" {word} {value}" for word, value in parts if value))

    def _save(self, fresh: Sequence[Finding], there: Mapping[str, Case], name: str, checker: Checker) -> None:
        from tokspec.fuzz.display import one_line
        from tokspec.fuzz.saving import case_id, right_by_choice, save

        for finding in fresh if self.folder else ():
            if finding.is_of_repetition:
                click.echo(f"not written: {one_line(finding)}: shows only when the request is repeated")
                continue
            if finding.needs_others:
                click.echo(f"not written: {one_line(finding)}: shows only after other requests")
                continue
            case = there.get(case_id(finding))
            if case is not None:
                click.echo(f"{self.folder}/{case.file}:{case.line} holds {case.id} already")
                continue
            right = checker.right_of(finding.question) if self.against else {}
            who = checker.oracle.who if right else "the reference"
            right = right or right_by_choice(finding.question, finding.kind)
            try:
                click.echo(f"wrote {save(finding, self.folder or Path(), name, right, who)}")
            except FileExistsError as error:  # a person gave the case another id
                click.echo(f"already exists, and is left as it is: {error.filename}")

    def _described(self, campaign: Campaign, fresh: Sequence[Finding], seed: int, show: int) -> Iterator[str]:
        from tokspec.fuzz.display import finding_lines, one_line

        for finding in sorted(fresh, key=lambda finding: (finding.clause, finding.question.size))[:show]:
            head, *rest = finding_lines(finding, self._again(finding, seed), campaign.checker)
            yield from (click.style(head, fg="red", bold=True), *rest, "")
        if len(fresh) > show:
            yield f"… and {len(fresh) - show} more; --show {len(fresh)} shows them all\n"
        for finding in campaign.findings:
            if finding.known:
                yield f"known: {visible(finding.known)}: {one_line(finding)}"

    def _again(self, finding: Finding, seed: int) -> str:
        """Write the command that reproduces a finding: from the database, a saved case, or the seed."""
        is_drawn = self.no_database and finding.examples > 0
        given: list[tuple[str, object]] = [
            *(("--choice", choice) for choice in self.choices),
            ("--against", self.against),
            ("--known-failures", self.known_failures),
            ("--fixtures", self.fixtures if self.known_failures else None),
            ("--only", self.only),
            ("--pattern", self.pattern),
            *(("--replay", folder) for folder in self.replay if not is_drawn),
            ("--database", None if self.no_database else self.database),
            *((("--seed", seed), ("--examples", finding.examples)) if is_drawn else (("--seconds", 0),)),
        ]
        if self.pattern is not None:
            given[-1] = "--examples", finding.examples
        words = "".join(f" {option} {shlex.quote(str(value))}" for option, value in given if value is not None)
        flags = {" --untrusted": self.untrusted, " --no-database": self.no_database}
        words += "".join(flag for flag, is_given in flags.items() if is_given)
        return f"tokspec fuzz{self.target.arguments()}{words}"

    def _status(self, campaign: Campaign, fresh: Sequence[Finding]) -> int:
        """Return the exit status: 0 only if something was the same, and all differences are known."""
        if campaign.interrupted:
            click.echo("interrupted", err=True)
            return INTERRUPTED
        if len(campaign.findings) or not campaign.is_short:
            return 1 if fresh else 0
        if campaign.tally.answered:
            return 1  # the summary says that this shows nothing
        said = "no example was answered"
        if campaign.checker.oracle.fault:
            said += f"; {visible(shorten(campaign.checker.oracle.fault))}"
        if self.seconds == 0 and self.pattern is None:
            said = "--seconds 0 replays only what --replay names or the database keeps, and there is nothing"
        click.echo(click.style(f"{said}; a run that shows nothing is not a pass", fg="red"))
        return 1


def _say(lines: Iterator[str]) -> None:
    for line in wrap(lines, terminal_width()):
        click.echo(line)


@contextmanager
def _startable(target: Target) -> Iterator[None]:
    """Explain how to find out why an implementation does not start."""
    try:
        yield
    except AdapterFault as fault:
        raise target.unusable(fault) from None
