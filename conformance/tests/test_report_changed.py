"""Reports that somebody has changed: refused, or shown in every form."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tokspec.adapter import Hello
from tokspec.base.errors import DataError
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import effective_choices, judge, not_run
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.report.changes import changes, lines
from tokspec.report.failure import describe
from tokspec.report.junit import junit
from tokspec.report.markdown import markdown
from tokspec.report.ndjson import Origin, Report, ndjson, read_report
from tokspec.report.text import text
from tokspec.suite.fixtures import load_suite

CASES = load_suite().cases
HELLO = Hello("mine", "1", "C", ("encode",), encode_fields=("tokens", "ids", "spans"))
ORIGIN = Origin("0.1.0", "ab" * 32, "tokspec run", "tokspec run", "Linux", "14.0.0")

REPLIES: list[tuple[str, Reply]] = [
    ("bpe-toy-encode-bug", Answer(CASES["bpe-toy-encode-bug"].outcome["expect"])),
    ("bpe-toy-encode-mug", Answer({"tokens": ["[UNK]", "u", "g"]})),
    ("bpe-toy-encode-hugs", Answer({"tokens": ["a"] * 20_000})),
    ("bpe-unknown-token-not-there", Answer({"tokens": ["x"]})),
    ("bpe-toy-encode-thug", Fault("crash", "exit status 3")),
    ("bpe-toy-encode-unhug", Refused("invalid_input", "no")),
]


def whole() -> list[Any]:
    """Return the lines of a report, as values."""
    choices = effective_choices(HELLO)
    results = [judge(CASES[case], reply, HELLO, choices) for case, reply in REPLIES]
    results.append(not_run(CASES["bpe-toy-encode-emoji"], choices, "the run ended"))
    return [json.loads(line) for line in ndjson(Run(HELLO, choices, tuple(results)), ORIGIN)]


WHOLE = whole()


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the place of everything in a value but the value itself."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*place, key)
        if isinstance(item, dict | list):
            yield from places(item, (*place, key))


#: What a failure is shown by is changed more often than the rest, which a schema guards.
SHOWN = ("input", "expected", "reply", "difference")
PLACES = [place for place in places(WHOLE) if len(place) > 1]
PLACES += 3 * [place for place in PLACES if place[1] in SHOWN]
VALUES = st.sampled_from(
    [
        *(None, True, 0, -1, 1.0, 10**40, "", "x", "\x1b[2J", "\ud800", "fail", "state leak"),
        *([], [[]], ["tokens", "x"], ["tokens", -1]),
        *({}, {"expect": {}}, {"error": "unknown_symbol"}, {"one_of": [{}]}, {"ok": {}}, {"hex": "ff"}),
        {"path": ["tokens", 0]},
    ]
)


@st.composite
def changed(draw: st.DrawFn) -> list[Any]:
    """Replace, remove or repeat a few values of the report."""
    lines = copy.deepcopy(WHOLE)
    for place in draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=3)):
        *before, last = place
        parent = lines
        for key in before:
            if not isinstance(parent, dict | list) or key not in (
                parent if isinstance(parent, dict) else range(len(parent))
            ):
                break
            parent = parent[key]  # type: ignore[call-overload]
        else:
            change(draw, parent, last)
    return lines


def change(draw: st.DrawFn, parent: Any, key: Any) -> None:
    how = draw(st.sampled_from(["replace", "move", "remove"]))
    if not isinstance(parent, dict | list) or key not in (parent if isinstance(parent, dict) else range(len(parent))):
        return
    if how == "replace":
        parent[key] = copy.deepcopy(draw(VALUES))
    elif how == "move":
        *before, last = draw(st.sampled_from(PLACES))
        found: Any = WHOLE
        for step in (*before, last):
            found = found[step]
        parent[key] = copy.deepcopy(found)
    else:
        del parent[key]


def show(report: Report) -> None:
    """Show a report in every form."""
    run, origin = report.run, report.origin
    assert list(text(run, [describe(result, origin.again) for result in run.failed], True))
    assert markdown([(origin, run)], len(run.failed)).endswith("\n")
    assert ElementTree.fromstring(junit([(origin, run)])).tag == "testsuites"
    assert list(lines(report, report, changes(report, report)))


def test_the_report_can_be_shown(tmp_path: Path) -> None:
    file = tmp_path / "r.ndjson"
    file.write_text("".join(json.dumps(line) + "\n" for line in WHOLE), "ascii")
    show(read_report(file))


@pytest.mark.slow
@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changed())
def test_a_changed_report_is_refused_or_shown(tmp_path: Path, lines: list[Any]) -> None:
    file = tmp_path / "r.ndjson"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "ascii")
    try:
        report = read_report(file)
    except DataError:
        return
    show(report)
