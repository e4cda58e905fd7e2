"""Findings as people read them: the model, the input, both answers, where they part, and how to see it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tokspec.base.display import compact, terminal_width, visible
from tokspec.fuzz.campaign import Campaign, Tally
from tokspec.fuzz.checker import Checker, Rival
from tokspec.fuzz.clauses import CONTROL_ID
from tokspec.fuzz.findings import Finding
from tokspec.judge.diagnosis import first_diverging_stage
from tokspec.report.failure import describe
from tokspec.sessions.in_process import InProcessSession

#: A family of whose requests a smaller share is answered is named.
_LOW = 0.9

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
    kind = f"{finding.kind}: {finding.cause}" if finding.cause else finding.kind
    head = f"{finding.clause} {finding.question.operation}: {kind}  (met {_count(finding.times, 'time')})"
    named = [f"  {'or':<9} {', '.join(others)}"] if others else []
    named += [f"  {'after':<9} other questions: alone it is answered rightly"] if finding.needs_others else []
    return [visible(head), rule, *named, *rows[:at], *_model(finding), *rows[at:]]


def _why(finding: Finding, who: str, is_due: bool) -> str:
    if finding.is_of_repetition:
        return "what was asked before makes no difference"
    if finding.kind == CONTROL_ID:
        return finding.result.detail
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
    """Return how many requests of each operation, and of models of each family, were answered, and of how many."""
    tally = campaign.tally
    yield f"{'operation':<28} requests"
    yield from (f"{name:<28} {count:>8}" for name, count in sorted(tally.operations.items()) if count)
    yield ""
    yield f"{'family':<28} requests"
    for name, asked in sorted(tally.asked.items()):
        if asked:
            refused = asked - tally.families[name]
            yield f"{name:<28} {tally.families[name]:>8}{f', and {refused} unsupported' if refused else ''}"
    yield ""


def total(campaign: Campaign, name: str) -> str:
    """Return the last line: what was done, what came of it, and the families of which no request was answered."""
    states, known = campaign.tally.states, sum(bool(finding.known) for finding in campaign.findings)
    parts = [f"{states['same']} alike", f"{states['differs']} differ{'s' if states['differs'] == 1 else ''}"]
    parts += [f"{states[state]} {state}" for state in ("open", "unsupported") if states[state]]
    found = _count(len(campaign.findings) - known, "finding") + (f" and {known} known" if known else "")
    asked = f"{_count(campaign.tally.examples, 'example')}, {_count(sum(states.values()), 'request')}"
    ended = ", interrupted" if campaign.interrupted else ""
    return visible(f"{name}: {found} in {asked} = {' + '.join(parts)}{_answered(campaign.tally)}{ended}")


def _answered(tally: Tally) -> str:
    """Say what share of the requests was answered, and which families little of; nothing if all are answered."""
    requests, unsupported = sum(tally.states.values()), tally.states["unsupported"]
    if not unsupported:
        return ""
    rows = [(name, tally.families[name], asked) for name, asked in sorted(tally.asked.items()) if asked]
    little = [f"{name} {answered} of {asked}" for name, answered, asked in rows if _LOW * asked > answered > 0]
    never = [f"{name} 0 of {asked}" for name, answered, asked in rows if not answered]
    named = [f"; hardly answered: {', '.join(little)}"] if little else []
    named += [f"; not answered: {', '.join(never)}"] if never else []
    return f"; {100 * (requests - unsupported) // requests} % answered{''.join(named)}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
