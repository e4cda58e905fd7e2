"""A run as people read it in a terminal: failures, why something is unsupported, the table, and what it came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from tokspec.base.display import visible
from tokspec.judge.runner import Run
from tokspec.report.summary import headline, reasons, table

__all__ = ["text"]


def text(run: Run, shown: Sequence[Sequence[str]], every_clause: bool = False) -> Iterator[str]:
    """Give the lines; ``shown`` are the failures that :func:`tokspec.report.failure.describe` has described."""
    for head, *lines in shown:
        yield click.style(head, fg="red", bold=True)
        yield from (*lines, "")
    if len(run.failed) > len(shown):
        yield f"… and {len(run.failed) - len(shown)} more; --show {len(run.failed)} shows them all\n"
    if unsupported := reasons(run):
        yield from ("unsupported, and why:", *unsupported, "")
    yield from (*table(run, every_clause), "")
    yield from (click.style(visible(problem), fg="red") for problem in run.complaints)
    yield click.style(headline(run), fg="green" if run.conforms else "red", bold=True)
