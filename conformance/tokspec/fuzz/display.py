"""Findings for people: the model, the input, both answers, where they diverge, and how to reproduce the finding."""

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

#: A family is named if less than this share of its requests is answered.
_LOW = 0.9

#: How many other clauses that a finding may be about are named.
_OTHERS = 4


def finding_lines(finding: Finding, again: str, checker: Checker) -> list[str]:
    """Return the lines that show a finding; ``again`` is the command that reproduces it.

    The first stage that diverges is named if the oracle is the reference, which has the judged implementation's
    choices.
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
    named += [f"  {'after':<9} other requests: alone it is answered correctly"] if finding.needs_others else []
    return [visible(head), rule, *named, *rows[:at], *_model(finding), *rows[at:]]


def _why(finding: Finding, who: str, is_due: bool) -> str:
    if finding.is_of_repetition:
        return "earlier requests must make no difference"
    if finding.kind == CONTROL_ID:
        return finding.result.detail
    return f"it differs from {who}" if is_due else "it has to answer or refuse"


def _model(finding: Finding) -> Iterator[str]:
    """Return the model, with one key per line if it is long."""
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
    """Return a finding in one line: its clause, what differs, and the input."""
    shown = _cut(compact(dict(finding.question.input)), 120)
    return visible(f"{finding.clause:<16} {finding.question.operation}: {finding.kind}: {shown}")


def count_lines(campaign: Campaign) -> Iterator[str]:
    """Return how many of the requests for each operation, and for each family of models, were answered."""
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
    """Return the last line: what was tried, the results, and the families without any answered request."""
    states, known = campaign.tally.states, sum(bool(finding.known) for finding in campaign.findings)
    parts = [f"{states['same']} alike", f"{states['differs']} differ{'s' if states['differs'] == 1 else ''}"]
    parts += [f"{states[state]} {state}" for state in ("open", "unsupported") if states[state]]
    found = _count(len(campaign.findings) - known, "finding") + (f" and {known} known" if known else "")
    asked = f"{_count(campaign.tally.examples, 'example')}, {_count(sum(states.values()), 'request')}"
    ended = ", interrupted" if campaign.interrupted else ""
    return visible(f"{name}: {found} in {asked} = {' + '.join(parts)}{_answered(campaign.tally)}{ended}")


def _answered(tally: Tally) -> str:
    """Say which share of the requests was answered, and name families with a small one; empty if all were."""
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
