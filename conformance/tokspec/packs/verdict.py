"""Findings as a run: what a case is to the fixtures, an operation on the texts of a section is to a pack.

So known failures, reports and exit statuses are the same for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tokspec.adapter import Hello
from tokspec.base.errors import AdapterFault
from tokspec.judge.runner import Run
from tokspec.judge.truncate import Extract, truncate_difference
from tokspec.judge.verdicts import Result, Verdict
from tokspec.packs.findings import Findings, Tally
from tokspec.packs.judging import Outcome
from tokspec.packs.reading import Pack
from tokspec.packs.record import OPERATIONS, input_of, judged_section
from tokspec.report.bare import bare_case
from tokspec.suite.cases import Case

__all__ = ["cases_of", "run_of"]

#: The clause that says what each operation is.
_CLAUSES: Mapping[str, str] = {
    "normalize": "NORM-1",
    "pre_tokenize": "PRE-1",
    "encode": "ENC-1",
    "decode": "DEC-7",
}

#: What is expected where it makes no difference.
_NOTHING: Mapping[str, Any] = {"expect": {}}


def cases_of(pack: Pack) -> list[Case]:
    """Return the cases of a pack: each operation that it records on each section, in the order of the pack."""
    sections = dict.fromkeys(map(judged_section, pack.counts))
    return [
        _case(pack, operation, section)
        for section in sections
        for operation in OPERATIONS
        if operation in pack.header.operations
    ]


def _case(pack: Pack, operation: str, section: str) -> Case:
    return bare_case(
        f"{operation}/{section}",
        operation,
        {},
        clauses=(_CLAUSES[operation],),
        why=f"What {pack.header.who} answered to these texts was recorded.",
        model=pack.header.model["file"],
        file=pack.file.name,
        line=1,
    )


def run_of(
    cases: Sequence[Case], findings: Findings, hello: Hello, choices: Mapping[str, str], faults: Iterable[AdapterFault]
) -> Run:
    """Return the run that findings are; a section in which nothing was recorded, or asked, is left out."""
    results = []
    for case in cases:
        operation, _, section = case.id.partition("/")
        tally = findings.tallies.get((operation, section))
        if tally is not None:
            results.append(_result(case, tally))
        elif operation not in hello.operations:
            results.append(Result(case, Verdict.UNSUPPORTED, f"does not offer {operation}", _NOTHING))
    problems = tuple(f"{fault}, and no text is to blame" for fault in dict.fromkeys(map(str, faults)))
    return Run(hello, choices, tuple(results), problems)


def _result(case: Case, tally: Tally) -> Result:
    asked = sum(tally.verdicts.values())
    unsupported = tally.verdicts[Verdict.UNSUPPORTED]
    if tally.shortest is not None:
        return _different(case, tally, tally.shortest, asked)
    if unsupported == asked:
        return Result(case, Verdict.UNSUPPORTED, tally.unsupported.most_common(1)[0][0], _NOTHING)
    detail = f"{unsupported} of {asked} texts are unsupported" if unsupported else ""
    return Result(case, Verdict.PASS, detail, _NOTHING)


def _different(case: Case, tally: Tally, shortest: Outcome, asked: int) -> Result:
    """Return the result of a section in which texts differ: the shortest is its example, a digest stands for all."""
    detail = f"{tally.different} of {asked} texts differ; the shortest: {shortest.detail}"
    seen = {"different": tally.different, "of": asked, "sha256": tally.digest.hexdigest(), "bytes": 0, "beginning": ""}
    difference = truncate_difference(shortest.difference) if shortest.difference else None
    return Result(_with_example(case, shortest), tally.worst, detail, shortest.wanted, Extract(seen), difference)


def _with_example(case: Case, outcome: Outcome) -> Case:
    return replace(case, input=input_of(case.operation, outcome.record) or {}, line=max(1, outcome.record.line))
