"""Progress on a long run: on standard error, and only on a terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

__all__ = ["Bar", "ProgressBar"]

#: Variables of the environment with which people make a terminal of what is none.
_FORCING = ("FORCE_COLOR", "TTY_COMPATIBLE")


class Bar:
    """What every bar has: columns, one task, and nothing at all where nobody would see it.

    A subclass says its columns, which may show a text ``found``, and what a call tells the bar.
    """

    _bar: Progress | None = None

    def __init__(self, doing: str, total: float | None) -> None:
        if not _may_be_seen():
            return
        from rich.console import Console  # here, because it takes a while, and no gate has a terminal
        from rich.progress import Progress

        console = Console(stderr=True)
        self._bar = Progress(*self.columns(), console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task(doing, total=total, found="")

    def columns(self) -> tuple[ProgressColumn, ...]:
        """Return what stands in the line of the bar, from left to right."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

        return TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar:
            self._bar.stop()


class ProgressBar(Bar):
    """A bar that advances whenever it is called, whatever it is told; without a total it shows the count."""

    def __call__(self, *done: object, by: int = 1) -> None:
        if self._bar:
            self._bar.advance(self._task, by)


def _may_be_seen() -> bool:
    """Whether standard error is a terminal, or is to be taken for one; ``rich`` decides which of the latter counts."""
    return sys.stderr.isatty() or any(name in os.environ for name in _FORCING)
