"""A site of three implementations: the reference, its fast sibling, and one that answers with whatever may do harm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.adapters.registry import open_session
from tokspec.judge.known_failures import KnownFailures
from tokspec.judge.runner import Run, run
from tokspec.judge.verdicts import effective_choices, join_rows, judge
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.results.one_file import FileRow
from tokspec.results.recorded import Recorded
from tokspec.results.rows import Listed, MatrixRow
from tokspec.results.site.build import build_site
from tokspec.suite.cases import Case, Suite
from tokspec.suite.fixtures import load_suite

#: Put together with every frame below they make over two hundred different texts.
_PARTS = [
    "<script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    '"><svg onload="document.title=\'owned\'">',
    "</style></script></pre></textarea></title>",
    "javascript:document.title='owned'",
    "{{ 7 * 7 }}{% raw %}",
    "\u202edesrever\u202c",
    "\u2066isolated",
    "\x1b[31mred\x1b[2J",
    "\x00\x01\x07\x7f",
    "\ud800",
    "zero\u200bwidth\u200djoined\ufeff",
    "e" + "\u0301" * 500,
    "x" * 100_000,
    "\n" * 50 + "below",
    "&lt;&#60;&amp;",
    "' onmouseover='document.title=1",
    '<a href="https://example.com">link</a>',
    "]]><!--",
    "￾\U000e0001tag",
]
_FRAMES = ["{}", "{} {}", "a{}", "{}z", "[{}]", "{}\t", "ab {} cd", "#{}", "<{}>", "|{}|", "`{}`"]
HOSTILE = [frame.replace("{}", part) for frame in _FRAMES for part in _PARTS]


def _hostile_reply(case: Case, index: int) -> Reply:
    text = HOSTILE[index % len(HOSTILE)]
    kind = index % 5
    if kind == 0:
        return Refused("unknown_symbol", text)
    if kind == 1:
        return Fault("crash", text)
    if kind == 2:
        return Refused("unsupported", text)
    if case.operation == "encode":
        tokens = [text, HOSTILE[(index * 7 + 1) % len(HOSTILE)], text]
        return Answer({"tokens": tokens, "ids": [1, 2**40, None]} if kind == 3 else {"tokens": tokens})
    return Answer({"text": text}) if case.operation in ("decode", "normalize") else Answer({text: text})


@pytest.fixture(scope="session")
def suite() -> Suite:
    return load_suite()


@pytest.fixture(scope="session")
def hostile_run(suite: Suite) -> Run:
    """A run whose every answer, refusal, crash and name is one of the hostile texts."""
    hello = Hello(
        name=f"{HOSTILE[0]}\u202e{HOSTILE[1]}",
        version="1" * 100_000,
        language="<b>C</b>\u202e",
        operations=("encode", "decode", "normalize", HOSTILE[2]),
        encode_fields=("tokens", "ids"),
    )
    choices = effective_choices(hello)
    cases = list(suite.cases.values())
    judged = [
        [judge(question, _hostile_reply(question, index), hello, choices) for question in case.questions]
        for index, case in enumerate(cases)
    ]
    results = tuple(join_rows(case, rows) if case.rows else rows[0] for case, rows in zip(cases, judged, strict=True))
    return Run(hello, choices, results, (HOSTILE[0], HOSTILE[6]))


def _listed(name: str, **others: Any) -> Listed:
    return Listed(impl=name, command=None, built=None, build="", known=KnownFailures(), engine=name, **others)


@pytest.fixture(scope="session")
def rows(suite: Suite, hostile_run: Run) -> list[MatrixRow]:
    found = []
    for name in ("reference", "tokfast"):
        with open_session(name, None) as session:
            found.append(MatrixRow(_listed(name), run(session, list(suite.cases.values()))))
    found.append(MatrixRow(replace(_listed(HOSTILE[3]), engine=HOSTILE[4], adapter_by=HOSTILE[0]), hostile_run))
    return [*found, MatrixRow(_listed(HOSTILE[1]), None, HOSTILE[0])]


@pytest.fixture(scope="session")
def recorded(hostile_run: Run) -> dict[str, Recorded]:
    """A model with which one implementation agrees, one is hostile and one loads nothing; and one that nobody loads."""
    hostile = f"{hostile_run.hello.name} {hostile_run.hello.version}".strip()
    rows = [
        FileRow("tokfast 0.3.0", "Python", "", (3000, 3000), (1000, 1000)),
        FileRow(hostile, HOSTILE[1], "", (2999, 3000), (0, 1000), worst=HOSTILE[-1]),
        FileRow(HOSTILE[4], "Go", reason=HOSTILE[0]),
    ]
    asked = {row.who: "2026-11-29" for row in rows}
    toy = Recorded("toy", "tokenizer.json", "tokenizer.json", "npm toy 1.0.0", "ab" * 32, "bpe", asked, rows)
    return {"toy": toy, "other": replace(toy, name="other", rows=rows[2:])}


@pytest.fixture(scope="session")
def site(
    suite: Suite, rows: list[MatrixRow], recorded: dict[str, Recorded], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build_site(rows, suite, folder, recorded)
    return folder
