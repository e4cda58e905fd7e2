"""What a sweep has found, for a terminal, as lines of JSON, and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from tokspec import __version__
from tokspec.base.display import compact, shorten, visible
from tokspec.protocol.json_values import encode_line
from tokspec.sweep.causes import Explained
from tokspec.sweep.plan import Header
from tokspec.sweep.tally import Tally, reason_of

__all__ = ["Summary", "amount", "many", "markdown", "ndjson", "text"]

#: Characters of a text that a line shows.
_SHOWN = 60

#: What is said of a rule where both are right.
_ALLOWED = "none is left: the specification allows both"


@dataclass(frozen=True)
class Summary:
    """A sweep: all that was counted, the causes in order, and how many units of how many are done."""

    header: Header
    total: Tally
    causes: Sequence[Explained]
    units: int
    done: int

    @property
    def headline(self) -> str:
        """Say in a sentence what it came to."""
        sides = [f"{side['name']} {side['version']}" for side in self.header.sides]
        total = self.total
        compared = total.compared
        if not compared:
            return f"{sides[0]} and {sides[1]}: no document was compared"
        what = "agree on" if not total.different else f"differ in {total.different:,} of"
        share = f" ({_percent(total.different, compared)})" if total.different else ""
        return f"{sides[0]} and {sides[1]} {what} {many(compared, 'document')}{share}, {amount(total.bytes)}"


def _percent(part: int, whole: int) -> str:
    """Write a share.

    >>> _percent(1, 3), _percent(1, 1_000_000)
    ('33.3 %', '0.0001 %')
    """
    share = 100 * part / whole if whole else 0.0
    return f"{share:.3g} %" if share >= 0.001 or not share else f"{share:.4f} %"


def many(count: int, what: str) -> str:
    """Write a number of things.

    >>> many(1, "place"), many(2000, "place")
    ('1 place', '2,000 places')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def amount(size: int) -> str:
    """Write a number of bytes.

    >>> amount(171), amount(40_000), amount(2_500_000)
    ('171 bytes', '40.0 kB', '2.5 MB')
    """
    if size < 1000:
        return many(size, "byte")
    return f"{size / 1e6:,.1f} MB" if size >= 1_000_000 else f"{size / 1000:.1f} kB"


def _counts(summary: Summary) -> Iterator[str]:
    total = summary.total
    yield f"tokens: {total.tokens[0]:,} and {total.tokens[1]:,}; {_tokens(total)} differ"
    for reason, count in sorted(total.left.items()):
        yield f"not compared: {many(count, 'document')}: {reason}"
    for reason, count in sorted(total.bad.items()):
        file, at, why = next(place for place in total.bad_places if reason_of(place[2]) == reason)
        more = why.removeprefix(reason).strip(" ;:")
        yield f"bad records: {count:,}: {reason}; first in {file} at {at:,}{': ' * bool(more)}{more}"
    if summary.done < summary.units:
        yield f"done: {summary.done:,} of {many(summary.units, 'unit')}; the same command goes on"


def _tokens(total: Tally) -> str:
    return f"{total.different_tokens:,} ({_percent(total.different_tokens, max(total.tokens))})"


def text(summary: Summary, show: int) -> Iterator[str]:
    """Return the lines for a terminal, with ``show`` causes."""
    for number, each in enumerate(summary.causes[:show], 1):
        yield from (visible(line) for line in _block(number, each))
    if len(summary.causes) > show:
        yield f"… and {len(summary.causes) - show} more causes; --show {len(summary.causes)} shows them all\n"
    yield from map(visible, _counts(summary))
    yield visible(summary.headline)


def _block(number: int, each: Explained) -> Iterator[str]:
    cause = each.cause
    yield f"{number}. {cause.kind}: {many(cause.documents, 'document')}, {many(cause.count, 'place')}"
    pattern = f"  ({cause.pattern})" if cause.pattern else ""
    yield f"   text     {shorten(compact(cause.text), _SHOWN)}{pattern}"
    if cause.example != cause.text:
        yield f"   in       {shorten(compact(cause.example), _SHOWN)}"
    yield f"   first    {cause.file} at {cause.at:,}"
    if cause.detail:
        yield f"   said     {shorten(cause.detail, 100)}"
    if each.clause:
        yield f"   rule     {each.clause} ({each.stage}), left by {each.who}"
    if each.is_allowed:
        yield f"   rule     {_ALLOWED}"
    yield ""


def ndjson(summary: Summary) -> Iterator[bytes]:
    """Return a header, a line a cause, and a footer with the counts."""
    header = summary.header
    origin = {"suite": __version__, "sides": list(header.sides), "selection": asdict(header.selection)}
    yield encode_line({"tokspec_sweep_report": 1, **origin})
    for each in summary.causes:
        explained = {name: getattr(each, name) for name in ("stage", "clause", "who", "is_allowed")}
        yield encode_line({**asdict(each.cause), **explained})
    counts: dict[str, Any] = {name: value for name, value in summary.total.to_json().items() if name != "causes"}
    yield encode_line({**counts, "units": summary.units, "done": summary.done})


def markdown(summary: Summary) -> Iterator[str]:
    """Return a table of causes and a list of counts."""
    yield f"## {_plain(summary.headline)}\n"
    if summary.causes:
        yield "| documents | places | what | text | characters | rule | first |"
        yield "| ---: | ---: | --- | --- | --- | --- | --- |"
    for each in summary.causes:
        yield "| " + " | ".join(map(_plain, _row(each))) + " |"
    yield ""
    for line in _counts(summary):
        yield f"- {_plain(line)}"


def _row(each: Explained) -> Sequence[str]:
    cause = each.cause
    what = f"{cause.kind}: {shorten(cause.detail, 100)}" if cause.detail else cause.kind
    rule = f"{each.clause} ({each.stage}, {each.who})" if each.clause else _ALLOWED if each.is_allowed else ""
    shown = shorten(compact(cause.text), _SHOWN)
    place = f"{cause.file} at {cause.at:,}"
    return (f"{cause.documents:,}", f"{cause.count:,}", what, shown, cause.pattern, rule, place)


_MARKUP: Mapping[int, str] = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]|~$"})


def _plain(text: str) -> str:
    return escape(visible(text), quote=False).translate(_MARKUP)
