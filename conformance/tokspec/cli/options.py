"""Options that several commands share."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce, wraps
from itertools import zip_longest
from math import ceil, isnan
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from tokspec.adapters.registry import NAMES, find_reference, names_program, open_session
from tokspec.base.errors import AdapterFault, DataError
from tokspec.base.files import paths_below, resolve_output
from tokspec.sessions.limits import Limits, adopt_orphans
from tokspec.sessions.session import Session
from tokspec.suite.specification import load_specification

#: The implementation that is judged when none is named.
DEFAULT = "reference"


class FilePath(click.Path):
    """A path that is not empty, because a variable that is not set does not mean the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        if value == "":
            self.fail("it is empty; name a file, or leave the option out", param, context)
        return super().convert(value, param, context)


#: A file or a folder, which need not exist.
FILE = FilePath(path_type=Path)

#: The help text for the patterns of --select and --exclude.
_PATTERNS = "by id, clause, operation, tag or file; * is a wildcard. May be repeated."

Command = TypeVar("Command", bound=Callable[..., Any])


def add_options(command: Command, options: Sequence[Callable[[Any], Any]]) -> Command:
    """Add options to a command, in this order."""
    return reduce(lambda decorated, option: option(decorated), reversed(options), command)


@dataclass(frozen=True)
class Target:
    """The implementation that the command line names, and the limits of its process.

    ``confined`` is whether the reference, too, gets its own process, because the user gives limits or models.
    """

    impl: str | None
    program: str | None
    limits: Limits = field(default_factory=Limits)
    in_process: bool = False
    confined: bool = False

    @classmethod
    def of(cls, word: str) -> Target:
        """Return the implementation that a word names."""
        return cls(None, word) if names_program(word) else cls(word, None)

    @property
    def name(self) -> str:
        """The name to use until the implementation has said its own."""
        return self.program or self.impl or DEFAULT

    def arguments(self) -> str:
        """Write the options that name it, for a command that reproduces a result."""
        option = "--impl" if self.program and names_program(self.program) else "--cmd"
        given = [("--impl", self.impl), (option, self.program)]
        words = "".join(f" {option} {shlex.quote(value)}" for option, value in given if value)
        return words + (" --in-process" if self.in_process else "") + self._limits()

    def _limits(self) -> str:
        """Write the limits that differ from their defaults."""
        given = {name: getattr(self.limits, name.replace("-", "_")) for name in LIMITS}
        usual = {name: getattr(Limits(), name.replace("-", "_")) for name in LIMITS}
        return "".join(f" --limit {name}={value:.15g}" for name, value in given.items() if value != usual[name])

    def unusable(self, fault: AdapterFault) -> DataError:
        """Return the error to raise if the implementation gave no valid ``hello``."""
        return DataError(f"cannot be asked: {fault}; try tokspec smoke{self.arguments()}", key=self.name)

    def open(self, jobs: int = 1) -> Session:
        """Open a session with it, in ``jobs`` processes.

        Raises:
            UsageError: ``--in-process`` is given, and several jobs.
        """
        if jobs > 1 and self.in_process:
            raise click.UsageError("--in-process is for one process; leave out --jobs")
        context = click.get_current_context(silent=True)
        if context is not None and context.meta.get("tokspec.owns_process"):
            adopt_orphans()
        impl = None if self.program else self.impl or find_reference()
        return open_session(
            impl, self.program, limits=self.limits, in_process=self.in_process, confined=self.confined, jobs=jobs
        )

    def open_reference(self) -> Session:
        """Start the reference for comparison, under the usual limits, because the given ones may be too low for it."""
        return open_session(find_reference(), None, confined=self.confined)


def implementation_options(command: Command) -> Command:
    """Add ``--impl`` with the limits of a process, and pass them as one ``target``.

    ``--cmd`` is not shown: it also names a program, whatever the name looks like.
    """

    @wraps(command)
    def with_target(
        impl: str | None,
        program: str | None,
        in_process: bool,
        **others: Any,
    ) -> Any:
        limits = _take_limits(others)
        refuse_blank("--impl", impl)
        refuse_blank("--impl", program)
        if impl and program:
            raise click.UsageError("--impl and --cmd name two implementations; give one")
        if impl and names_program(impl):
            impl, program = None, impl
        if in_process and program:
            raise click.UsageError("--in-process is for adapters in Python; a program has its own process")
        confined = limits != Limits() or others.get("fixtures") is not None
        return command(target=Target(impl, program, limits, in_process, confined), **others)

    return cast(Command, add_options(with_target, _TARGET))


def refuse_blank(option: str, word: str | None) -> None:
    """Refuse a blank name of an implementation, because a variable that is empty does not mean the default.

    Raises:
        UsageError: it is given, and blank.
    """
    if word is not None and not word.strip():
        raise click.UsageError(f"{option} needs a name or a command")


class Finite(click.FloatRange):
    """A number in a range. Unlike click's own type, it refuses NaN."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> float:
        number: float = super().convert(value, param, context)
        if isnan(number):
            self.fail(f"{value} is not a number.", param, context)
        return number


#: The range of a count: its end is more than is ever needed, and few enough for every loop.
COUNT, POSITIVE = click.IntRange(0, 1_000_000_000), click.IntRange(1, 1_000_000_000)

#: How many processes a user may ask for.
PROCESSES = click.IntRange(1, 256)


#: The most seconds that any limit may have.
DAY = 86400

_SECONDS = Finite(0, DAY, min_open=True)

#: The names of the limits, and the range of each.
LIMITS = {"case-seconds": _SECONDS, "start-seconds": _SECONDS, "memory-mb": Finite(0, 1_000_000_000)}


_LIMIT = (
    "Limit for the implementation: case-seconds=N for each case (10 unless given), start-seconds=N to start it or to "
    "load a model (30), memory-mb=N for all its processes together (4096; 0 for no limit). May be repeated."
)

_LIMITS = [
    click.option("--limit", "limits", multiple=True, metavar="NAME=N", help=_LIMIT),
    *(click.option(f"--{name}", type=type, hidden=True) for name, type in LIMITS.items()),
]


def _take_limits(options: dict[str, Any]) -> Limits:
    """Move the limits out of the options of a command; a limit that is not given has its default.

    Raises:
        UsageError: a limit is unknown, or is given two numbers or none.
    """
    given: dict[str, Any] = {}
    words = [word.partition("=")[::2] for word in options.pop("limits")]
    short = [(name, options.pop(name.replace("-", "_"))) for name in LIMITS]
    for name, number in (*words, *((name, number) for name, number in short if number is not None)):
        if name not in LIMITS:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(LIMITS)}", param_hint="'--limit'")
        try:
            number = LIMITS[name].convert(number, None, None)
        except click.BadParameter as error:
            raise click.BadParameter(f"{name}: {error.message}", param_hint="'--limit'") from None
        if given.setdefault(name.replace("-", "_"), number) != number:
            raise click.UsageError(f"{name} is given two numbers; give one")
    if "memory_mb" in given:
        given["memory_mb"] = ceil(given["memory_mb"])
    return replace(Limits(), **given)


_IN_PROCESS = "Run --impl in this process, for a debugger. No limits apply, so do not use this in a gate."

_TARGET = [
    click.option("--impl", metavar="IMPLEMENTATION", help=f"The implementation, as {NAMES}."),
    click.option("--cmd", "program", hidden=True, help="A program, whatever its name looks like."),
    *_LIMITS,
    click.option("--in-process", is_flag=True, help=_IN_PROCESS),
]


def limits_options(command: Command) -> Command:
    """Add the limits of a process, and pass them as ``limits``."""

    @wraps(command)
    def with_limits(**others: Any) -> Any:
        return command(limits=_take_limits(others), **others)

    return cast(Command, add_options(with_limits, _LIMITS))


exclude_option = click.option(
    "--exclude", "excluded", multiple=True, metavar="PATTERN", help=f"Leave out cases {_PATTERNS}"
)


def parse_shown(words: Sequence[str]) -> tuple[int, frozenset[str]]:
    """Return the number of causes that ``--show`` gives, and its other words.

    >>> parse_shown(["all", "3"])
    (3, frozenset({'all'}))
    """
    count, others = 10, set[str]()
    for word in words:
        if word in ("all", "clauses"):
            others.add(word)
        elif word.isdecimal() and word.isascii() and len(word) < 10:
            count = int(word)
        else:
            raise click.BadParameter(f"{word!r} is not a number, all or clauses", param_hint="'--show'")
    return count, frozenset(others)


def selection_options(command: Command) -> Command:
    """Add ``--select`` and ``--exclude``."""
    select = click.option("--select", "patterns", multiple=True, metavar="PATTERN", help=f"Select cases {_PATTERNS}")
    return add_options(command, [select, exclude_option])


fixtures_option = click.option(
    "--fixtures", type=FILE, metavar="FOLDER", help="Fixtures to use instead of the suite's own."
)

fixtures_version_option = click.option(
    "--fixtures-version",
    metavar="X.Y.Z",
    help="Use only the cases that this version of the suite already had, so that newer ones change nothing.",
)

choices_option = click.option(
    "--choice",
    "choices",
    multiple=True,
    metavar="NAME=OPTION",
    help="Hold the implementation to this option of a choice, whatever it declares. May be repeated.",
)


def parse_choices(choices: tuple[str, ...]) -> Mapping[str, str]:
    """Read ``NAME=OPTION`` arguments.

    Raises:
        DataError: for a name or an option that the specification does not have.

    >>> parse_choices(("unknown_id=skipped",))
    {'unknown_id': 'skipped'}
    """
    parsed: dict[str, str] = {}
    for choice in choices:
        name, _, option = choice.partition("=")
        load_specification().refuse_other_choices(name, option, "--choice", choice)
        if parsed.setdefault(name, option) != option:
            raise DataError(f"{name} cannot be both {parsed[name]} and {option}; give one of them", key="--choice")
    return parsed


def refuse_outputs(outputs: Mapping[str, Path | None], inputs: Mapping[str, Iterable[Path]]) -> None:
    """Refuse, before any work is done, outputs that cannot be written or that would overwrite a file that is needed.

    The keys of ``outputs`` are their options, those of ``inputs`` the options or arguments that name them. Inputs are
    looked for only if there is an output.

    Raises:
        DataError: an output is not an ordinary file, or is an input.
        UsageError: two outputs are the same file: the last one written would be all that is left.
    """
    named: dict[object, tuple[str, Path]] = {}
    for option, file in outputs.items():
        if file is not None:
            other, _ = named.setdefault(_identity(resolve_output(file)), (option, file))
            if other != option:
                raise click.UsageError(f"{other} and {option} name the same file; give each its own")
    for what, files in inputs.items() if named else ():
        for option, output in (named[key] for key in map(_identity, files) if key in named):
            message = f"is the file that {what} names, and would be overwritten; give another"
            raise DataError(message, str(output), key=option.split()[0])


#: How the files of results begin: a report, and JUnit's XML.
_RESULTS = (
    b'{"tokspec_report"',
    b"""<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n  <testsuite name="tokspec """,
)


def remove_earlier_results(arguments: Sequence[str]) -> None:
    """Remove the results of an earlier run that a command line is about to replace.

    If this run ends before it writes its own, the earlier ones must not be taken for them. So this is done first, even
    before the options are checked. Files that no run of the suite wrote are kept.
    """
    for option, word in zip_longest(arguments, arguments[1:], fillvalue=""):
        name, equals, value = option.partition("=")
        if name in ("--report", "--junit"):
            remove_result(Path(value if equals else word))


def remove_result(file: Path) -> None:
    """Remove a report, or JUnit's XML, that the suite wrote; leave any other file with that name."""
    with suppress(OSError, RuntimeError, ValueError):  # it does not exist, or cannot be read
        place = file.resolve(strict=True)
        if place.is_file():
            with place.open("rb") as stream:
                is_result = stream.read(100).startswith(_RESULTS)
            if is_result:
                place.unlink()


def _identity(file: Path) -> object:
    """Return the identity of a file, which all its names share; for a file that does not exist, return its path."""
    try:
        status = file.stat()
    except OSError:
        return os.path.realpath(file)
    return status.st_dev, status.st_ino


def files_of_implementation(name: str | None) -> Iterator[Path]:
    """Return the files that an implementation's name refers to: a recording, a module, a program's arguments.

    >>> list(files_of_implementation("python3 no-such-adapter.py"))
    []
    """
    words = [name or ""]
    with suppress(ValueError):  # an open quote
        words += shlex.split(words[0])
    module, colon, _ = words[0].partition(":")
    words += [f"{module.replace('.', '/')}.py"] if colon else []
    for word in words:
        with suppress(OSError):  # too long for a path
            if Path(word).is_file():
                yield Path(word)


def files_of_fixtures(folder: Path | None) -> Iterator[Path]:
    """Return the files in a folder of fixtures that the user names."""
    return (file for file in paths_below(folder) if file.suffix == ".yaml") if folder is not None else iter(())
