"""A run as text for a terminal: failures, reasons why cases are unsupported, the table, and the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import click

from tokspec.base.display import shorten, terminal_width, visible, wrap
from tokspec.judge.declared import all_pass
from tokspec.judge.diagnosis import FailureGroup, group_failures
from tokspec.judge.known_failures import UNEXPLAINED
from tokspec.judge.runner import Run
from tokspec.judge.scope import extent, in_profile
from tokspec.judge.verdicts import Result, Verdict, count_verdicts
from tokspec.report.failure import listed_ids
from tokspec.suite.specification import load_specification


def say(lines: Iterable[str]) -> None:
    """Print lines, broken between words if the terminal is too narrow."""
    click.echo("\n".join(wrap(lines, terminal_width())))


#: How many reasons why cases are unsupported are shown.
REASONS = 10

#: The color of the last line, by the state that it names.
_COLOURS = {
    "conforms": "green",
    "conforms like its origin": "green",
    "matches its list of known failures": "yellow",
    "does not conform": "red",
}

#: The verdicts of cases that say nothing about an implementation's results.
_NOT_ASKED = (Verdict.UNSUPPORTED, Verdict.NOT_RUN)

#: How many of the causes that are not shown get a line.
CAUSES = 20

#: The advice about a failure that cannot be repeated.
_ALONE = "a case that fails here but passes alone depends on another one: --verify finds such cases"


def headline(run: Run) -> str:
    """Say in one line what was run, how it ended, how many cases were run, and that the counts balance."""
    hello = run.hello
    parts = {verdict: f"{count} {verdict.value}" for verdict, count in run.counts.items() if count}
    if run.like and Verdict.AS_ORIGIN in parts:
        parts[Verdict.AS_ORIGIN] = f"{run.counts[Verdict.AS_ORIGIN]} as {run.like}"
    others = [parts.pop(verdict) for verdict in _NOT_ASKED if verdict in parts]
    who = visible(shorten(" ".join(part for part in (hello.name, hello.version) if part)))
    cases = f"{len(run.results)} case{'' if len(run.results) == 1 else 's'}"
    if others:
        asked = len(run.results) - sum(run.counts[verdict] for verdict in _NOT_ASKED)
        cases = f"{asked} of {cases} asked"
    return (
        f"{who} {run.state}: {cases} = {' + '.join(parts.values()) or 'none'}{''.join(f', {each}' for each in others)}"
    )


def table(run: Run, every_clause: bool = False) -> list[str]:
    """Return the lines of the tables, aligned; the functions for their rows describe them.

    A pack tests one tokenizer and not the rules, so a run of a pack is shown by effect alone.
    """
    is_of_pack = all(result.case.model.file for result in run.results)
    of_rules = [] if is_of_pack and not every_clause else [rows(run, every_clause), profile_rows(run)]
    tables = [made for made in (*of_rules, effect_rows(run)) if len(made) > 1] or [rows(run, every_clause)]
    width = max(len(name) for rows_of_table in tables for name, _ in rows_of_table)
    return list(_parted(_aligned(each, width) for each in tables))


def _parted(tables: Iterable[Iterable[str]]) -> Iterator[str]:
    """Return the lines of tables, with an empty line between two tables."""
    for number, lines in enumerate(tables):
        if number:
            yield ""
        yield from lines


def _aligned(rows: Sequence[tuple[str, Sequence[str]]], width: int) -> Iterator[str]:
    heads = rows[0][1]
    for name, cells in rows:
        counts = "".join(
            f"  {cell}" if head == "held" else f"  {cell:>{len(head)}}" for cell, head in zip(cells, heads, strict=True)
        )
        yield f"{name:<{width}}{counts}"


def rows(run: Run, every_clause: bool = False) -> list[tuple[str, list[str]]]:
    """Return the rows of the table: its head, each chapter with its clauses that are not met, and the sum.

    A case counts in the chapter of its first clause, so that chapters add up to the run, and in each of its clauses.
    The last column says whether all of the cases pass: ``complete``, ``partial`` or ``none``.
    """
    shown = _shown(run)
    rows = [("chapter", [*(verdict.value for verdict in shown), "held"])]
    clauses = load_specification().clauses
    by_chapter: dict[str, list[Result]] = {clause.chapter: [] for clause in clauses.values()}
    by_clause: dict[str, list[Result]] = {clause: [] for clause in clauses}
    for result in run.results:
        by_chapter[clauses[result.case.clauses[0]].chapter].append(result)
        for clause in dict.fromkeys(result.case.clauses):
            by_clause[clause].append(result)
    for chapter, own in by_chapter.items():
        if own:
            rows.append((chapter, _cells(own, shown)))
        rows.extend(_clause_rows(chapter, by_clause, shown, every_clause))
    return [*rows, ("all", _cells(run.results, shown))]


def profile_rows(run: Run) -> list[tuple[str, list[str]]]:
    """Return the rows of a table by profile, head first; a case may belong to several profiles, and all to one."""
    shown = _shown(run)
    by_profile = {profile: in_profile(run.results, profile) for profile in load_specification().profiles}
    found = [(profile, _cells(own, shown)) for profile, own in by_profile.items() if own]
    return [("profile", [*(verdict.value for verdict in shown), "held"]), *found]


def effect_rows(run: Run) -> list[tuple[str, list[str]]]:
    """Return the rows of a table by effect.

    A row says how many cases test the effect, in how many it is right, and for how many failing cases, known ones
    included, it is the worst effect.
    """
    heads = ("effect", ["asked", "right", "failing"])
    counted = [(effect.value, [str(count or "·") for count in counts]) for effect, counts in run.by_effect.items()]
    return [heads, *((name, cells) for name, cells in counted if set(cells) != {"·"})]


def _shown(run: Run) -> list[Verdict]:
    return [verdict for verdict, count in run.counts.items() if count or verdict is Verdict.PASS]


def reasons(run: Run, most: int | None = None) -> list[str]:
    """Say why cases are unsupported: each reason once, with its number of cases, most frequent first.

    Args:
        run: the run.
        most: how many reasons get a line; one more line says how many are left.
    """
    unsupported = [result for result in run.results if result.verdict is Verdict.UNSUPPORTED]
    # for a table, the reason of its row without the row's number, because other cases share it
    counts = Counter(next((row.detail for row in result.telling), result.detail) for result in unsupported)
    listed = counts.most_common()
    lines = [f"{count:>5}  {visible(shorten(reason))}" for reason, count in listed[:most]]
    if left := listed[len(lines) :]:
        cases, many = sum(count for _, count in left), "" if len(left) == 1 else "s"
        lines.append(f"{cases:>5}  for {len(left)} other reason{many}; --report FILE has the reason of each case")
    return lines


def _clause_rows(
    chapter: str, by_clause: Mapping[str, Sequence[Result]], shown: Sequence[Verdict], every_clause: bool
) -> Iterator[tuple[str, list[str]]]:
    for clause in load_specification().clauses.values():
        named = by_clause[clause.id] if clause.chapter == chapter else ()
        if named and (every_clause or any(not result.verdict.conforms for result in named)):
            yield f"  {clause.id}", _cells(named, shown)


def _cells(results: Sequence[Result], shown: Sequence[Verdict]) -> list[str]:
    counts = count_verdicts(results)
    return [*(str(counts[verdict] or "·") for verdict in shown), extent(results)]


def text(run: Run, shown: Sequence[Sequence[str]], every_clause: bool = False) -> Iterator[str]:
    """Return the lines of a run; ``shown`` are the causes as :func:`tokspec.report.failure.describe` describes them."""
    for head, *lines in shown:
        yield click.style(head, fg="red", bold=True)
        yield from (*lines, "")
    if rest := list(_rest(group_failures(run.failed), len(shown))):
        yield from (*rest, "")
    if run.failed and len(run.results) > 1 and not run.counts[Verdict.STATE_LEAK]:
        yield from (_ALONE, "")
    if unsupported := reasons(run, REASONS):
        yield from ("unsupported, and why:", *unsupported, "")
    if run.faults:
        yield from ("outside the cases:", *(f"  {visible(fault)}" for fault in run.faults), "")
    if notes := [*_notes(run)]:
        yield from (*notes, "")
    yield from (*table(run, every_clause), "")
    yield from (click.style(visible(problem), fg="red") for problem in run.complaints)
    yield click.style(headline(run), fg=_COLOURS[run.state], bold=True)


def _rest(every: Sequence[FailureGroup], shown: int) -> Iterator[str]:
    """Return a line for each cause that is not shown, with its count."""
    groups = every[shown:]
    if groups:
        yield f"… and {len(groups)} more cause{'' if len(groups) == 1 else 's'}; --show {len(every)} shows them all"
    for group in groups[:CAUSES]:
        cause = f"{group.cause}: " if group.cause else ""
        yield f"{len(group.results):>5}  {visible(shorten(cause, 120))}{visible(listed_ids(group.results))}"
    if len(groups) > CAUSES:
        cases = sum(len(group.results) for group in groups[CAUSES:])
        yield f"{cases:>5}  cases of {len(groups) - CAUSES} other causes"


def _notes(run: Run) -> Iterator[str]:
    """Return notes: on cases that pass only in part, and on declarations of the implementation."""
    known = [result for result in run.results if result.verdict is Verdict.KNOWN_FAILURE]
    if unexplained := sum(result.detail == UNEXPLAINED for result in known):
        yield f"{unexplained} of {len(known)} known failures have no reason yet; write one into the file"
    in_part = Counter(result.detail for result in run.results if result.verdict is Verdict.PASS and result.detail)
    for detail, count in in_part.most_common():
        yield visible(f"{count} counted as passed without a field that is not given: {shorten(detail)}")
    for name, count in all_pass(run.results, run.hello):
        cases = "the case that needs it passes" if count == 1 else f"all {count} cases that need it pass"
        yield f"hello does not declare {name}, and {cases}: declare it"
    for name in run.hello.operations:
        own = [result for result in run.results if result.case.operation == name]
        if len(own) > 1 and all(result.verdict is Verdict.UNSUPPORTED for result in own):
            said = shorten(own[0].detail, 120)
            yield visible(f"hello offers {name}, and all {len(own)} cases of it are unsupported, the first: {said}")
