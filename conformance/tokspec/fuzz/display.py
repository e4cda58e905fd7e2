"""Findings as people read them: the model, the input, both answers, where they part, and how to see it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tokspec.base.display import compact, terminal_width, visible
from tokspec.fuzz.campaign import Campaign
from tokspec.fuzz.checker import Checker, Rival
from tokspec.fuzz.findings import Finding
from tokspec.judge.diagnosis import first_diverging_stage
from tokspec.report.failure import describe
from tokspec.sessions.in_process import InProcessSession

__all__ = ["count_lines", "finding_lines", "one_line", "total"]

#: How many clauses that it may be about as well are named.
_OTHERS = 4


def finding_lines(finding: Finding, again: str, checker: Checker) -> list[str]:
    """Return the lines that show a finding; ``again`` is the command that finds it again.

    The first stage that diverges is named where the oracle is the reference: its choices are those of the judged one.
    """
    is_due = finding.result.expected != {"expect": {}}
    case = replace(finding.result.case, clauses=(finding.clause,), why=_why(finding, checker.oracle.who, is_due))
    stage, oracle = "", checker.oracle.session
    if isinstance(oracle, InProcessSession) and not isinstance(checker.oracle, Rival) and not finding.is_of_repetition:
        stage = first_diverging_stage(case, checker.judged.session, oracle)
    _, rule, *lines = describe(replace(finding.result, case=case), again, stage, terminal_width())
    others = finding.clauses[1 : 1 + _OTHERS]
    rows = [line for line in lines if is_due or not line.startswith("  expected ")]
    at = next(place for place, line in enumerate(rows) if line.startswith("  input "))
    head = f"{finding.clause} {finding.question.operation}: {finding.kind}  (met {_count(finding.times, 'time')})"
    named = [f"  {'or':<9} {', '.join(others)}"] if others else []
    named += [f"  {'after':<9} other questions: alone it is answered rightly"] if finding.needs_others else []
    return [visible(head), rule, *named, *rows[:at], *_model(finding), *rows[at:]]


def _why(finding: Finding, who: str, is_due: bool) -> str:
    if finding.is_of_repetition:
        return "what was asked before makes no difference"
    return f"it differs from {who}" if is_due else "it is to answer, or to refuse"


def _model(finding: Finding) -> Iterator[str]:
    """Return the model, a key a line if it is long."""
    whole = compact(finding.question.model)
    if len(whole) <= 120:
        yield f"  {'model':<9} {whole}"
        return
    label = "model"
    for key, value in finding.question.model.items():
        yield f"  {label:<9} {key}: {_cut(compact(value))}"
        label = ""


def _cut(text: str, longest: int = 400) -> str:
    return text if len(text) <= longest else f"{text[:longest]} …"


def one_line(finding: Finding) -> str:
    """Return a finding in a line: its clause, what differs, and the input."""
    shown = _cut(compact(dict(finding.question.input)), 120)
    return visible(f"{finding.clause:<16} {finding.question.operation}: {finding.kind}: {shown}")


def count_lines(campaign: Campaign) -> Iterator[str]:
    """Return how many requests of each operation, and of models of each family, were supported."""
    for title, counter in (("operation", campaign.tally.operations), ("family", campaign.tally.families)):
        yield f"{title:<28} requests"
        yield from (f"{name:<28} {count:>8}" for name, count in sorted(counter.items()) if count)
        yield ""


def total(campaign: Campaign, name: str) -> str:
    """Return the last line: what was done, what came of it, and the families of which no request was answered."""
    states, known = campaign.tally.states, sum(bool(finding.known) for finding in campaign.findings)
    parts = [f"{states['same']} alike", f"{states['differs']} differ{'s' if states['differs'] == 1 else ''}"]
    parts += [f"{states[state]} {state}" for state in ("open", "unsupported") if states[state]]
    found = _count(len(campaign.findings) - known, "finding") + (f" and {known} known" if known else "")
    asked = f"{_count(campaign.tally.examples, 'example')}, {_count(sum(states.values()), 'request')}"
    ended = ", interrupted" if campaign.interrupted else ""
    unanswered = ", ".join(family for family in campaign.families if campaign.tally.families.get(family) == 0)
    ended += f"; nothing was answered of {unanswered}" if unanswered else ""
    return visible(f"{name}: {found} in {asked} = {' + '.join(parts)}{ended}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
