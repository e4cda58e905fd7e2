"""Progress of a long run, on standard error: a bar on a terminal, and elsewhere a line now and then.

The lines begin when a run has taken longer than most, so that a short one stays silent in a pipe.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

import click

from tokspec.base.display import visible

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

#: Seconds until the first line where there is no bar; the wait for each later line doubles, up to a minute more.
FIRST_LINE = 5.0
_LONGEST = 60.0


class Bar:
    """The base of all bars: it has columns and one task, and prints lines where a bar would not be seen.

    A subclass defines the columns, which may show a text ``found``, and what a call tells the bar. If the approximate
    duration in seconds is known, as ``expected``, it is printed at the start if it is long, and later lines say how
    much time is left.
    """

    _bar: Progress | None = None

    def __init__(self, doing: str, total: float | None, expected: float | None = None) -> None:
        self._doing, self._total, self._expected = doing, total, expected
        self._done = 0.0
        self._started = time.monotonic()
        self._next_line = FIRST_LINE
        if expected is not None and expected >= FIRST_LINE:
            click.echo(f"{doing} takes about {_duration(expected)}", err=True)
        if not sys.stderr.isatty():  # FORCE_COLOR asks for colors, not for a cursor that moves in a file
            return
        from rich.console import Console  # here, because it takes a while, and no gate has a terminal
        from rich.progress import Progress

        console = Console(stderr=True)
        if console.is_terminal and not console.is_dumb_terminal:
            self._bar = Progress(*self.columns(), console=console, transient=True)
            self._task = self._bar.add_task(doing, total=total, found="")

    def tell(self, done: float, found: str = "") -> None:
        """Move the bar to what is done, or print a line if the last one was long ago."""
        self._done = done
        if self._bar:
            self._bar.update(self._task, completed=done, found=found)
            return
        seconds = time.monotonic() - self._started
        if seconds >= self._next_line:
            self._next_line = seconds + min(seconds, _LONGEST)
            parts = [f"{self._doing}: {self.amount(done)} after {seconds:.0f} s", *filter(None, [self._left(), found])]
            click.echo(visible(", ".join(parts)), err=True)

    def amount(self, done: float) -> str:
        """Say how much of the total is done."""
        return f"{done:.0f} of {self._total:.0f}" if self._total else f"{done:.0f}"

    def _left(self) -> str:
        """Say how long the rest takes, judged by how long the finished part has taken."""
        if self._expected is None or not self._total or not 0 < self._done < self._total:
            return ""
        seconds = time.monotonic() - self._started
        return f"about {_duration(seconds * (self._total - self._done) / self._done)} left"

    def columns(self) -> tuple[ProgressColumn, ...]:
        """Return the columns of the bar, from left to right."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        left = [] if self._expected is None else [TextColumn("left"), TimeRemainingColumn()]
        return TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), *left

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar:
            self._bar.stop()


class ProgressBar(Bar):
    """A bar that advances at every call, whatever the arguments; without a total it shows the count."""

    def __call__(self, *done: object, by: int = 1) -> None:
        self.tell(self._done + by)


class NamingBar(Bar):
    """A bar over things that take a while each; it names the one that has begun."""

    _begun = 0

    def begin(self, name: str) -> None:
        """Say which one begins; the ones before it are done."""
        self.tell(self._begun, name)
        self._begun += 1

    def columns(self) -> tuple[ProgressColumn, ...]:
        """Return the usual columns, and the name."""
        from rich.progress import TextColumn

        return *super().columns(), TextColumn("{task.fields[found]}", markup=False)


def _duration(seconds: float) -> str:
    """Write a number of seconds in a readable form.

    >>> _duration(7.4), _duration(154)
    ('7 s', '3 min')
    """
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
