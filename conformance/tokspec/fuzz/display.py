"""Findings as people read them: the model, the input, both answers, where they part, and how to see it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from tokspec.base.display import compact, terminal_width, visible
from tokspec.fuzz.campaign import Campaign
from tokspec.fuzz.checker import REFERENCE, Conversations
from tokspec.fuzz.findings import Finding
from tokspec.fuzz.oracle import UNKNOWN
from tokspec.judge.diagnosis import first_diverging_stage
from tokspec.report.failure import describe
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.session import Session

__all__ = ["counts", "lines_of", "one_line", "total"]


def lines_of(finding: Finding, again: str, session: Session, oracle: Conversations) -> list[str]:
    """Return the lines that show a finding; ``again`` is the command that finds it again.

    The first stage that diverges is named where the oracle is the reference: its choices are those of the judged one.
    """
    case = replace(finding.result.case, clauses=(finding.clause,), why=_why(finding, oracle.who))
    stage = ""
    if oracle.who == REFERENCE and isinstance(oracle.session, InProcessSession) and finding.check == "reference":
        stage = first_diverging_stage(case, session, oracle.session)
    _, *lines = describe(replace(finding.result, case=case), again, stage, terminal_width())
    head = (
        f"{finding.clause} {finding.example.operation}: {finding.kind}  ({_times(finding)}, {finding.example.origin})"
    )
    if finding.result.expected == UNKNOWN:  # as of a property, which expects no one result
        lines = [line for line in lines if not line.startswith("  expected ")]
    at = next(index for index, line in enumerate(lines) if line.startswith("  input "))
    return [visible(head), *lines[:at], *_model(finding), *lines[at:]]


def _why(finding: Finding, who: str) -> str:
    if finding.known:
        return f"known: {finding.known}"
    if finding.check != "reference":
        return f"{finding.check} does not hold"
    return f"it differs from {who}" if finding.result.expected != UNKNOWN else "it is to answer, or to refuse"


def _times(finding: Finding) -> str:
    return f"met {finding.times} time{'' if finding.times == 1 else 's'}"


def _model(finding: Finding) -> Iterator[str]:
    """Return the model, a key a line if it is long."""
    whole = compact(finding.example.model)
    if len(whole) <= 120:
        yield f"  {'model':<9} {whole}"
        return
    label = "model"
    for key, value in finding.example.model.items():
        yield f"  {label:<9} {key}: {_cut(compact(value))}"
        label = ""


def _cut(text: str, longest: int = 400) -> str:
    return text if len(text) <= longest else f"{text[:longest]} …"


def one_line(finding: Finding) -> str:
    """Return a finding in a line: its clause, what differs, and the input."""
    shown = compact(dict(finding.example.input))
    return visible(f"{finding.clause:<16} {finding.example.operation}: {finding.kind}: {_cut(shown, 120)}")


def counts(campaign: Campaign) -> Iterator[str]:
    """Return how many examples there were of each operation and family, and texts of each category."""
    tally = campaign.tally
    for title, counter in (
        ("operation", tally.operations),
        ("family", tally.families),
        ("category of texts", tally.categories),
    ):
        yield f"{title:<28} examples" if title != "category of texts" else f"{title:<28}  batches"
        yield from (f"{name:<28} {count:>8}" for name, count in sorted(_positive(counter).items()))
        yield ""


def _positive(counter: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in counter.items() if name}


def total(campaign: Campaign, name: str) -> str:
    """Return the last line: what was done, and what came of it."""
    states, findings = campaign.tally.states, list(campaign.findings)
    known = sum(bool(finding.known) for finding in findings)
    parts = [f"{states['same']} alike", f"{states['differs']} differ{'s' if states['differs'] == 1 else ''}"]
    parts += [
        f"{states[state]} {word}" for state, word in (("open", "open"), ("unsupported", "unsupported")) if states[state]
    ]
    found = f"{len(findings) - known} finding{'' if len(findings) - known == 1 else 's'}"
    found += f" and {known} known" if known else ""
    ended = ", interrupted" if campaign.interrupted else ""
    asked = f"{campaign.tally.examples} example{'' if campaign.tally.examples == 1 else 's'}"
    return visible(f"{name}: {found} in {asked} = {' + '.join(parts)}{ended}")
