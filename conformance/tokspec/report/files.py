"""Reports for programs: one JSON object a line, and JUnit's XML."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from tokspec.report.safe import visible
from tokspec.runner import Run
from tokspec.sessions import Answer, Refused
from tokspec.verdicts import Result, Verdict

__all__ = ["junit", "ndjson"]


def ndjson(run: Run) -> Iterator[str]:
    """Give a header, a line a case, and a footer with the counts: a report without its footer was cut off."""
    yield _line({"tokspec": 1, "implementation": asdict(run.hello), "choices": dict(run.choices)})
    for result in run.results:
        yield _line(_record(result))
    counts = {verdict.value: count for verdict, count in run.counts.items()}
    yield _line({"cases": len(run.results), "counts": counts, "conforms": run.conforms})


def _record(result: Result) -> dict[str, Any]:
    record: dict[str, Any] = {
        "case": result.case.id,
        "clauses": list(result.case.clauses),
        "verdict": result.verdict.value,
    }
    if result.verdict is not Verdict.PASS:
        record["detail"] = result.detail
        record["expected"] = result.expected
    if result.verdict is not Verdict.PASS and isinstance(result.reply, Answer):
        record["actual"] = result.reply.result
    if isinstance(result.reply, Refused):
        record["refused"] = result.reply.reason
    if result.difference is not None:
        record["first_difference"] = list(result.difference.path)
    return record


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, default=repr) + "\n"


#: The element that JUnit's readers know for each verdict that is not a pass.
_ELEMENTS = {Verdict.UNSUPPORTED: "skipped", Verdict.NOT_RUN: "skipped", Verdict.FAIL: "failure"}


def junit(run: Run) -> str:
    """Give the XML text: a test case a case, named by its id and grouped by its file."""
    counts = run.counts
    skipped = counts[Verdict.UNSUPPORTED] + counts[Verdict.NOT_RUN]
    errors = len(run.results) - counts[Verdict.PASS] - counts[Verdict.FAIL] - skipped
    totals = {"tests": len(run.results), "failures": counts[Verdict.FAIL], "errors": errors, "skipped": skipped}
    suite = ElementTree.Element("testsuite", {"name": "tokspec", **{name: str(n) for name, n in totals.items()}})
    for result in run.results:
        group = "tokspec." + result.case.file.removesuffix(".yaml").replace("/", ".")
        element = ElementTree.SubElement(suite, "testcase", classname=group, name=result.case.id)
        if result.verdict is not Verdict.PASS:
            message = visible(f"{result.verdict.value}: {result.detail}")
            child = ElementTree.SubElement(element, _ELEMENTS.get(result.verdict, "error"), message=message)
            child.text = f"{', '.join(result.case.clauses)}\n{visible(json.dumps(_record(result), default=repr))}"
    document = ElementTree.Element("testsuites")
    document.append(suite)
    ElementTree.indent(document)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(document, encoding="unicode") + "\n"
