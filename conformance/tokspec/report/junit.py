"""JUnit's XML, for continuous integration systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from tokspec.base.display import visible
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Result, Verdict
from tokspec.report.failure import describe
from tokspec.report.ndjson import Origin
from tokspec.report.text import headline

#: The element for each verdict; a pass has none.
_ELEMENTS: Mapping[Verdict, str] = {
    Verdict.UNEXPECTED_PASS: "failure",
    Verdict.FAIL: "failure",
    Verdict.ERROR: "failure",
    Verdict.STATE_LEAK: "failure",
    Verdict.CRASH: "error",
    Verdict.TIMEOUT: "error",
    Verdict.PROTOCOL: "error",
    Verdict.KNOWN_FAILURE: "skipped",
    Verdict.UNSUPPORTED: "skipped",
    Verdict.NOT_RUN: "skipped",
}


def junit(runs: Sequence[tuple[Origin, Run]]) -> str:
    """Return the XML text: a test suite for each run, and in it a test case for each case, grouped by its file.

    Other complaints about a run are errors of a case named "the run".
    """
    document = ElementTree.Element("testsuites")
    for origin, run in runs:
        document.append(_suite(origin, run))
    ElementTree.indent(document)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(document, encoding="unicode") + "\n"


def _suite(origin: Origin, run: Run) -> ElementTree.Element:
    elements = [_case(result, origin.again) for result in run.results]
    if run.complaints:
        elements.append(_whole(run))
    counts = Counter(child.tag for element in elements for child in element)
    name = visible(" ".join(("tokspec", run.hello.name, run.hello.version)).strip())
    totals = {"tests": len(elements), "failures": counts["failure"], "errors": counts["error"]}
    totals["skipped"] = counts["skipped"]
    suite = ElementTree.Element("testsuite", {"name": name, **{key: str(count) for key, count in totals.items()}})
    properties = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(properties, "property", {"name": "state", "value": run.state})
    suite.extend(elements)
    return suite


def _case(result: Result, again: str) -> ElementTree.Element:
    group = "tokspec." + result.case.file.removesuffix(".yaml").replace("/", ".")
    element = ElementTree.Element("testcase", {"classname": visible(group), "name": visible(result.case.id)})
    if result.effects:
        properties = ElementTree.SubElement(element, "properties")
        ElementTree.SubElement(properties, "property", {"name": "effect", "value": result.effects[0].value})
    if result.verdict in _ELEMENTS:
        message = visible(": ".join(part for part in (result.verdict.value, result.detail) if part))
        child = ElementTree.SubElement(element, _ELEMENTS[result.verdict], {"message": message})
        if not result.verdict.conforms:
            child.set("type", result.verdict.value)
            child.text = "\n" + "\n".join(map(visible, describe(result, f"{again} --select {result.case.id}"))) + "\n"
    return element


def _whole(run: Run) -> ElementTree.Element:
    element = ElementTree.Element("testcase", {"classname": "tokspec", "name": "the run"})
    child = ElementTree.SubElement(element, "error", {"message": headline(run), "type": "does not conform"})
    child.text = "\n" + "\n".join(map(visible, run.complaints)) + "\n"
    return element
