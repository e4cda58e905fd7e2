"""The results of a comparison, for a terminal and in Markdown; and as a run, for known failures and other reports.

In a run, an operation on the texts of a section takes the place of a case, with the shortest text that differs as its
example. So known failures, NDJSON, JUnit and exit statuses work as in ``tokspec run``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import click

from tokspec.adapter import Hello
from tokspec.base.display import compact, shorten, visible
from tokspec.compare.answers import OPERATIONS
from tokspec.compare.causes import compare_replies
from tokspec.compare.saving import CLAUSES, Explained
from tokspec.compare.tally import Example, Group, SectionCount, Tally, read_reply
from tokspec.judge.runner import Run
from tokspec.judge.truncate import Extract, truncate_difference
from tokspec.judge.verdicts import Result, Verdict
from tokspec.protocol.messages import Answer, Refused
from tokspec.report.failure import describe
from tokspec.suite.cases import Case, bare_case

#: How many characters of a text a line shows.
_SHOWN = 60

#: How many more kinds of characters are named at which a cause occurs.
_ALSO = 6

#: How many reasons why something was not compared are shown.
_REASONS = 10

#: Characters that Markdown could take for markup; HTML's special characters are escaped as entities.
_MARKUP = re.compile(r"([\\`*_\[\]!|~$])")


@dataclass(frozen=True)
class Summary:
    """A comparison: the sides and the changes in their models, all counts, and the minimized causes.

    ``notes`` are lines about parts that were not done or not compared. ``rules`` say by cause which side breaks the
    rule of a case. ``like`` maps causes that repeat an earlier one at another kind of character; they are not shown
    again.
    """

    names: tuple[str, str]
    tally: Tally
    explained: Mapping[int, Explained] = field(default_factory=dict)
    models: Sequence[str] = ()
    notes: Sequence[str] = ()
    rules: Mapping[int, str] = field(default_factory=dict)
    like: Mapping[int, int] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        tally = self.tally
        if not tally.compared:
            return "A and B: nothing was compared"
        if not tally.answered and not tally.different:
            return f"A and B refuse {count(tally.compared, 'input')} alike, and answer nothing: nothing was compared"
        what = f"differ in {share(tally.different, tally.compared)} of" if tally.different else "agree on"
        tokens = f"; {share(tally.different_tokens, tally.most_tokens)} of {count(tally.most_tokens, 'token')} differ"
        return f"A and B {what} {count(tally.compared, 'input')}, {amount(tally.bytes)}{tokens * any(tally.tokens)}"


def share(part: int, whole: int) -> str:
    """Write a count and its share of the whole.

    >>> share(1, 3), share(0, 0), share(1, 100_000)
    ('1 (33.3 %)', '0', '1 (0.001 %)')
    """
    return f"{part:,} ({100 * part / whole:.3g} %)" if whole else f"{part:,}"


def count(number: int, what: str) -> str:
    """Write a number of things.

    >>> count(1, "place"), count(2000, "place")
    ('1 place', '2,000 places')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def amount(size: int) -> str:
    """Write a number of bytes.

    >>> amount(171), amount(40_000), amount(2_500_000)
    ('171 bytes', '40.0 kB', '2.5 MB')
    """
    if size < 1000:
        return count(size, "byte")
    return f"{size / 1e6:,.1f} MB" if size >= 1_000_000 else f"{size / 1000:.1f} kB"


def describe_comparison(summary: Summary, show: int) -> Iterator[str]:
    """Return the lines for a terminal, with ``show`` causes."""
    yield from (f"{side}  {visible(name)}" for side, name in zip("AB", summary.names, strict=True))
    if summary.models:
        yield from ("", "model:", *(f"  {visible(line)}" for line in summary.models))
    yield ""
    causes = [(number, group) for number, group in enumerate(summary.tally.causes) if number not in summary.like]
    for place, (number, group) in enumerate(causes[:show], 1):
        yield click.style(visible(f"{place}. {group.cause}"), fg="red", bold=True)
        rows = [*_rows(group, summary.explained.get(number), summary.tally), *_also(summary, number)]
        rows += [("rule", summary.rules[number])] if number in summary.rules else []
        yield from (visible(f"   {label:<9} {text}").rstrip() for label, text in rows)
        yield ""
    if len(causes) > show:
        more = len(causes) - show
        yield f"… and {count(more, 'more cause')}; --show {len(causes)} shows {'it' if more == 1 else 'them all'}\n"
    yield from map(visible, _counts(summary))
    yield click.style(summary.headline, bold=True)


def _also(summary: Summary, number: int) -> Iterator[tuple[str, str]]:
    """Return the row that names the same cause at other kinds of characters."""
    found = [group for at, group in enumerate(summary.tally.causes) if summary.like.get(at) == number]
    if found:
        shown = [f"{group.texts:,} more at {group.cause.where or group.cause.what}" for group in found[:_ALSO]]
        more = sum(group.texts for group in found[_ALSO:])
        yield "also", ", ".join([*shown, *([f"{more:,} more elsewhere"] if more else [])])


def _rows(group: Group, explained: Explained | None, tally: Tally) -> Iterator[tuple[str, str]]:
    """Return the rows of a cause: how often it occurs, the minimized input with both answers, and the first place."""
    tokens = f", {share(group.tokens, tally.most_tokens)} of tokens" if group.tokens else ""
    yield "inputs", f"{share(group.texts, tally.compared)}{tokens}; first {group.first}"
    example = group.example
    small = explained.small if explained else None
    if small:
        yield from _answers(small.cause.operation, small.input, small.outcome.a, small.outcome.b)
    elif example.a is not None and example.b is not None:
        yield from _answers(group.cause.operation, example.input, read_reply(example.a), read_reply(example.b))
    else:
        yield "input", f"{group.cause.operation} {shorten(compact(example.text), _SHOWN)}"
    place = f"{example.place}{f', line {example.line}' if example.line else ''}"
    is_whole = small is None or example.text in small.input.values()
    yield "from", place if is_whole else f"{place}: {shorten(compact(example.text), _SHOWN)}"
    if explained and explained.rule:
        yield "rule", explained.rule
    if explained and explained.known:
        yield "known", explained.known
    if small and small.model is not None:
        yield "model", shorten(compact(small.model), 240)
    elif small and small.why:
        yield "model", f"is not minimized: {shorten(small.why, 160)}"


def _answers(operation: str, input: Mapping[str, Any], a: Any, b: Any) -> Iterator[tuple[str, str]]:
    """Show both answers like the expected and the actual result of a failing case."""
    outcome = compare_replies(operation, input, a, b)
    expected = {"expect": a.result if isinstance(a, Answer) else _said(a)}
    result = Result(bare_case("", operation, input), Verdict.FAIL, _said(b), expected, b, outcome.difference)
    names = {"expected": "A", "actual": "B", "problem": "B", "input": "input", "": ""}
    is_aligned = outcome.difference is not None
    for line in describe(result, "")[1:]:
        label, text = line[2:12].strip(), line[12:]
        if label in names and not (label == "problem" and isinstance(b, Answer)) and not text.startswith("(shown"):
            yield names[label], "(was not asked)" if text == "{}" else text if label or is_aligned else ""


def _said(reply: Any) -> str:
    if isinstance(reply, Answer):
        return "answers"
    return f"refuses as {reply.reason}" if isinstance(reply, Refused) else f"{reply.kind}: {reply.message}"


def _counts(summary: Summary) -> Iterator[str]:
    tally = summary.tally
    rows: list[Sequence[str]] = [("operation", "same", "different", "not compared")]
    operations = {name.partition("/")[0] for name in tally.sections}
    for operation in sorted(
        operations, key=lambda name: (name not in OPERATIONS, (*OPERATIONS, name).index(name), name)
    ):
        found = [each for name, each in tally.sections.items() if name.partition("/")[0] == operation]
        numbers = [sum(getattr(each, name) for each in found) for name in ("same", "different", "unsupported")]
        rows.append((operation, *(f"{number:,}" if number else "·" for number in numbers)))
    if len(rows) > 2:
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        for name, *cells in rows:
            aligned = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
            yield "  ".join((name.ljust(widths[0]), *aligned))
        yield ""
    left = sorted(tally.left.items(), key=lambda item: (-item[1], item[0]))
    shown = left if len(left) <= _REASONS + 1 else left[:_REASONS]
    yield from (f"not compared: {count(number, 'time')}: {reason}" for reason, number in shown)
    if more := left[len(shown) :]:
        yield f"not compared: {count(sum(number for _, number in more), 'time')}: for {len(more)} other reasons"
    for reason, (number, place, why) in sorted(tally.bad.items()):
        more = why.removeprefix(reason).strip(" ;:")
        yield f"no text: {count(number, 'record')}: {reason}; first {place}{': ' * bool(more)}{more}"
    yield from summary.notes


def markdown(summary: Summary) -> str:
    """Return a table of causes and a list of counts in Markdown; text from an implementation is escaped."""
    lines = [f"## {_plain(summary.headline)}", ""]
    lines += [f"- {side}: {_plain(name)}" for side, name in zip("AB", summary.names, strict=True)]
    lines += [f"- model: {_plain(line)}" for line in summary.models]
    if summary.tally.groups:
        lines += ["", "| inputs | cause | input | rule | first |", "| ---: | --- | --- | --- | --- |"]
    for number, group in enumerate(summary.tally.causes):
        explained = summary.explained.get(number)
        input = explained.small.input if explained else {"text": group.example.text}
        shown = shorten(compact(next(iter(input.values()), "")), _SHOWN)
        row = (
            f"{group.texts:,}",
            str(group.cause),
            shown,
            explained.rule if explained else summary.rules.get(number, ""),
            group.first,
        )
        lines.append(f"| {' | '.join(map(_plain, row))} |")
    return "\n".join([*lines, "", *(f"- {_plain(line)}" for line in _counts(summary) if line), ""])


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", escape(visible(text), quote=False))


# As a run


def make_run(
    tally: Tally, hello: Hello, choices: Mapping[str, str], who: str, problems: Sequence[str], file: str
) -> Run:
    """Return a comparison as a run of B judged by A.

    Args:
        tally: the tally of the comparison.
        hello: the ``hello`` of B.
        choices: the choices of B.
        who: the name of A.
        problems: lines about anything else that went wrong.
        file: where A's answers come from: the name of a recording, or of A.
    """
    results = []
    for name, section in sorted(tally.sections.items()):
        case = case_of(name, who, file)
        if section.different:
            results.append(_different(case, section))
        elif section.same:
            detail = f"{count(section.unsupported, 'input')} not compared" if section.unsupported else ""
            results.append(Result(case, Verdict.PASS, detail, {"expect": {}}))
        else:
            results.append(Result(case, Verdict.UNSUPPORTED, section.detail or "is not offered", {"expect": {}}))
    return Run(hello, choices, tuple(results), tuple(problems))


def case_of(name: str, who: str, file: str) -> Case:
    """Return the case that represents an operation on a section."""
    operation = name.partition("/")[0]
    why = f"What {who} answers to these texts."
    clauses = (CLAUSES.get(operation, "PROTO-1"),)
    return bare_case(name, operation, {}, clauses=clauses, why=why, model="own", file=file, line=1)


def _different(case: Case, section: SectionCount) -> Result:
    """Return the result of a section in which texts differ: the shortest text is its example, a digest covers all."""
    number = section.same + section.different
    detail = f"{section.different} of {count(number, 'input')} differ; the shortest: {section.detail}"
    digest = f"{section.digest:064x}"
    seen = {"different": section.different, "of": number, "sha256": digest, "bytes": 0, "beginning": ""}
    example = section.example or Example("", "", {})
    expected, difference = _expected(example, case.operation)
    case = replace(case, input=dict(example.input), line=max(1, example.line))
    return Result(case, Verdict(section.verdict), detail, expected, Extract(seen), difference)


def _expected(example: Example, operation: str) -> tuple[Mapping[str, Any], Any]:
    if example.a is None or example.b is None:
        return {"expect": {}}, None
    a, b = read_reply(example.a), read_reply(example.b)
    if isinstance(a, Refused):
        return {"error": a.reason}, None
    if not isinstance(a, Answer):
        return {"expect": {"fault": a.kind}}, None
    difference = compare_replies(operation, example.input, a, b).difference
    return {"expect": a.result}, truncate_difference(difference) if difference else None
