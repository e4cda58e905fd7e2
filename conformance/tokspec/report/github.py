"""A run for GitHub Actions: annotations as workflow commands, and the result as outputs of a step.

The title of a failing case names its place in the fixtures. It is not the annotation's file, which would be a file in
the user's repository. Text from an implementation goes into the data of a command, escaped, so that it cannot contain
commands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from tokspec.base.display import visible
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Verdict
from tokspec.report.failure import describe
from tokspec.report.ndjson import Origin
from tokspec.report.text import headline

#: How many annotations GitHub shows for a step.
_MOST = 10


def write_annotations(run: Run, origin: Origin, show: int) -> Iterator[str]:
    """Return a line for each of the first failing cases, and one for other complaints about the run.

    There are at most ten, because GitHub shows no more for a step.
    """
    room = _MOST - bool(run.complaints)
    show = min(show, room if len(run.failed) <= room else room - 1)
    for result in run.failed[:show]:
        head, *lines = describe(result, f"{origin.again} --select {result.case.id}")
        yield _command({"title": head}, "\n".join(map(visible, lines)))
    if run.complaints:
        yield _command({"title": headline(run)}, "\n".join(map(visible, run.complaints)))
    if len(run.failed) > show:
        yield _command({"title": headline(run)}, f"{len(run.failed) - show} more cases failed; the reports have them.")


def write_outputs(run: Run) -> Iterator[str]:
    """Return the lines for ``GITHUB_OUTPUT``: the state of the run, the number of cases, and the counts.

    ``state`` has the words of every report. ``conforms``, which is true for every green run, and ``holds``, which is
    true if a run is green only because its failures are listed as known, are the older form of it.

    >>> from tokspec.adapter import Hello
    >>> list(write_outputs(Run(Hello("x", "1", "C", ("encode",)), {}, ())))[:4]
    ['state=does not conform', 'conforms=false', 'holds=false', 'cases=0']
    """
    counts = {verdict.value: count for verdict, count in run.counts.items()}
    yield f"state={run.state}"
    yield f"conforms={json.dumps(run.is_green)}"
    yield f"holds={json.dumps(run.holds_list)}"
    yield f"cases={len(run.results)}"
    yield f"passed={run.counts[Verdict.PASS]}"
    yield f"failed={len(run.failed)}"
    yield f"known-failures={run.counts[Verdict.KNOWN_FAILURE]}"
    yield f"unsupported={run.counts[Verdict.UNSUPPORTED]}"
    yield f"counts={json.dumps(counts)}"


def _command(properties: dict[str, str], message: str) -> str:
    """Write a workflow command.

    >>> _command({"title": "100%: a, b"}, "one\\ntwo")
    '::error title=100%25%3A a%2C b::one%0Atwo'
    """
    written = ",".join(f"{key}={_escape(value, ':,')}" for key, value in properties.items())
    return f"::error {written}::{_escape(message)}"


def _escape(text: str, more: str = "") -> str:
    return "".join(f"%{ord(each):02X}" if each in f"%\r\n{more}" else each for each in text)
