"""Findings as people read them in a terminal: causes with their shortest examples, and what it all comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

import click

from tokspec.base.display import shorten, terminal_width, visible
from tokspec.judge.verdicts import Result, Verdict
from tokspec.packs.findings import Findings, Group
from tokspec.packs.judging import Outcome
from tokspec.packs.record import OPERATIONS, input_of
from tokspec.report.bare import bare_case
from tokspec.report.failure import describe

__all__ = ["causes", "reasons", "share", "table"]

_COLUMNS: Mapping[str, tuple[Verdict, ...]] = {
    "same": (Verdict.PASS,),
    "different": (Verdict.FAIL, Verdict.ERROR),
    "fault": (Verdict.CRASH, Verdict.TIMEOUT, Verdict.PROTOCOL),
    "unsupported": (Verdict.UNSUPPORTED,),
}


def causes(findings: Findings, show: int, pack: str) -> Iterator[str]:
    """Return the lines that show causes, those of most texts first."""
    for group in findings.causes[:show]:
        yield click.style(visible(f"DIFFERENT {group.cause}"), fg="red", bold=True)
        yield f"  {'texts':<9} {_extent(group, findings)}"
        yield from _example(group.example, pack)
        yield ""
    if len(findings.groups) > show:
        more = len(findings.groups) - show
        yield f"… and {more} more cause{'s' if more > 1 else ''}; --show {len(findings.groups)} shows them all\n"


def _extent(group: Group, findings: Findings) -> str:
    sections = [f"{count} in {visible(section)}" for section, count in group.sections.most_common(4)]
    others = len(group.sections) - len(sections)
    more = f" and {others} more section{'s' if others > 1 else ''}" if others else ""
    tokens = f", {share(group.tokens, findings.tokens)} of tokens" if group.tokens else ""
    return f"{share(group.texts, findings.texts)}{tokens}: {', '.join(sections)}{more}"


def share(part: int, whole: int) -> str:
    """Say how many of how many.

    >>> share(1, 3), share(0, 0), share(1, 100_000)
    ('1 (33.3 %)', '0', '1 (0.001 %)')
    """
    if not whole:
        return str(part)
    percent = 100 * part / whole
    return f"{part} ({percent:.3g} %)"


def _example(outcome: Outcome, pack: str) -> Iterator[str]:
    """Show the shortest text of a cause, as a failing case is shown."""
    record = outcome.record
    place = f"{record.input.place}, {pack}:{record.line}" if record.line else record.input.place
    case = bare_case("", outcome.operation, input_of(outcome.operation, record) or {})
    result = Result(case, outcome.verdict, outcome.detail, outcome.wanted, outcome.reply, outcome.difference)
    if outcome.operation != "normalize" and outcome.operation != "encode":
        yield f"  {'text':<9} {visible(shorten(repr(record.input.text)))}"
    # without head and clauses, which say what a case is, and without the command that shows it alone
    yield from (line for line in describe(result, "", width=terminal_width())[1:-1] if not line.startswith("  why"))
    yield f"  {'from':<9} {visible(place)}"


def reasons(findings: Findings, not_offered: Collection[str] = ()) -> list[str]:
    """Say why texts are unsupported: each reason once, with its number of texts, the commonest first.

    ``not_offered`` has operations that were asked of no text.
    """
    counts = Counter[str]()
    for (operation, _), tally in findings.tallies.items():
        for reason, count in tally.unsupported.items():
            counts[f"{operation}: {reason}"] += count
    lines = [f"{count:>7}  {visible(reason)}" for reason, count in counts.most_common(20)]
    return [*(f"{'all':>7}  {operation}: is not offered" for operation in sorted(not_offered)), *lines]


def table(findings: Findings) -> list[str]:
    """Return the lines of the table: for each operation how many texts came to what."""
    rows: list[Sequence[str]] = [("operation", *_COLUMNS)]
    for operation in OPERATIONS:
        tallies = [tally for (name, _), tally in findings.tallies.items() if name == operation]
        if tallies:
            counts = [sum(tally.verdicts[each] for tally in tallies for each in column) for column in _COLUMNS.values()]
            rows.append((operation, *(str(count or "·") for count in counts)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(_padded(row, widths)).rstrip() for row in rows]


def _padded(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    yield row[0].ljust(widths[0])
    yield from (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
