"""Recorded results: of each library with each published tokenizer, and of each library on the cases, by effect.

They are in ``fixtures/results.json``. ``conformance/packs/judge.py`` writes the results of tokenizers, and
``conformance/adapters/record_passes.py`` those of libraries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tokspec.base.display import did_you_mean, shorten
from tokspec.base.errors import DataError
from tokspec.base.files import fixtures_folder
from tokspec.judge.causes import without_addresses, without_particulars
from tokspec.judge.diagnosis import first_line
from tokspec.judge.runner import Run
from tokspec.judge.scope import in_profile
from tokspec.judge.verdicts import Result, Verdict
from tokspec.protocol.messages import Fault, Refused, is_unsupported
from tokspec.results.one_file import FileRow

RESULTS = "results.json"

#: The name of a model and the number of its release, at the start of a tokenizer's name.
_STEM = re.compile(r"[^-.]+(?:-\d+)?")

#: How many messages are recorded for a reason, and how many characters of each.
_MESSAGES, _LONGEST = 2, 160

#: The folders before the name of a source file in a message, the time at its start, and the number of a thread.
_OF_A_RUN = re.compile(r"(?:[\w.@+~-]*/){2,}(?=[\w.-]+:\d)|^\d{4}/\d\d/\d\d [\d:]{8} |(?<=') \(\d+\)(?= panicked)")


@dataclass(frozen=True)
class Recorded:
    """The results of libraries with one published tokenizer, best first.

    ``file``, ``format`` and ``sha256`` belong to the tokenizer's file, ``package`` is its source, and ``kind`` that of
    the model, such as ``unigram``. ``asked`` has the day on which each library was asked, by its name and version.
    """

    name: str
    file: str
    format: str
    package: str
    sha256: str
    kind: str
    asked: Mapping[str, str]
    rows: Sequence[FileRow]


class Bug(NamedTuple):
    """A reason of known failures, the first case that fails so, and how many do.

    ``kinds`` are the kinds of model of these cases; empty if a case has none, so that the kind makes no difference.
    ``messages`` are the first lines of what the library said instead of an answer, at most two.
    """

    reason: str
    case: str
    cases: int
    kinds: Sequence[str] = ()
    messages: Sequence[str] = ()


@dataclass(frozen=True)
class Library:
    """The results of a library on the cases: how many were run and how many are right, in total and by effect.

    ``effects`` has for each effect how many cases test it, how many of these are right, and for how many failing cases
    it is the worst. ``untrusted`` is how many cases about users' texts pass, and of how many. ``bugs`` are the reasons
    of known failures; the commonest come first.
    """

    name: str
    language: str
    right: int
    asked: int
    effects: Mapping[str, tuple[int, int, int]]
    untrusted: tuple[int, int]
    bugs: Sequence[Bug] = ()

    @classmethod
    def of(cls, run: Run, before: Mapping[str, Library] | None = None) -> Library:
        """Return the results of a run.

        A reason that ``before`` has for the same release keeps its messages, because a crash does not give the same
        message in every run.
        """
        asked = [each for each in run.results if each.verdict not in (Verdict.UNSUPPORTED, Verdict.NOT_RUN)]
        right = sum(each.verdict is Verdict.PASS for each in asked)
        untrusted = list(in_profile(asked, "untrusted-text"))
        passed = sum(each.verdict is Verdict.PASS for each in untrusted)
        effects = {effect.value: counts for effect, counts in run.by_effect.items()}
        name, language = f"{run.hello.name} {run.hello.version}".strip(), run.hello.language
        old = {bug.reason: bug.messages for bug in before[name].bugs} if before and name in before else {}
        bugs = [bug._replace(messages=old.get(bug.reason, bug.messages)) for bug in _bugs(run)]
        return cls(name, language, right, len(asked), effects, (passed, len(untrusted)), bugs)


def read_results(file: Path | None = None) -> dict[str, Recorded]:
    """Read the recorded results by the name of the tokenizer, from the installation unless a file is given."""
    return {name: _read(name, value) for name, value in _content(file)["models"].items()}


def read_libraries(file: Path | None = None) -> list[Library]:
    """Read the results of libraries on the cases, in the order of the list of implementations."""
    return [
        Library(
            name,
            line["language"],
            line["right"],
            line["asked"],
            {effect: (asked, right, failing) for effect, (asked, right, failing) in line["effects"].items()},
            (line["untrusted"][0], line["untrusted"][1]),
            [Bug(*values) for values in line.get("bugs", ())],
        )
        for name, line in _content(file)["libraries"].items()
    ]


def _bugs(run: Run) -> list[Bug]:
    """Group the known failures of a run by their reason."""
    failures: dict[str, list[Result]] = {}
    for result in run.results:
        if result.verdict is Verdict.KNOWN_FAILURE:
            failures.setdefault(result.detail, []).append(result)
    found = []
    for reason, results in failures.items():
        kinds = {str(result.case.model.content.get("type", "")) for result in results}
        messages = {without_particulars(message): message for each in results for message in _messages(each)}
        found.append(
            Bug(
                reason,
                results[0].case.id,
                len(results),
                [] if "" in kinds else sorted(kinds),
                [*messages.values()][:_MESSAGES],
            )
        )
    return sorted(found, key=lambda bug: -bug.cases)


def _messages(result: Result) -> Iterator[str]:
    """Return the first lines of what was said instead of answers, without folders, addresses and times of one run."""
    for reply in (each.reply for each in result.telling or (result,)):
        if isinstance(reply, Refused | Fault) and reply.message and not is_unsupported(reply):
            line = first_line(reply.message, without_addresses)
            if line.count("'") % 2 and "standard error ends '" in reply.message:
                line = line.removesuffix("'")  # of the quoted standard error
            yield shorten(_OF_A_RUN.sub("", line), _LONGEST)


def _content(file: Path | None) -> Mapping[str, Any]:
    file = file or fixtures_folder() / RESULTS
    found: Mapping[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return {"models": {}, "libraries": {}, **found}


def find_result(name: str) -> Recorded:
    """Return the recorded results of a tokenizer.

    Raises:
        DataError: there are none.
    """
    results = read_results()
    if name.lower() not in results:
        similar = [each for each in results if name.lower().startswith((each, each.replace("-", "")))]
        nearest = f"did you mean {similar[-1]}? " if similar else did_you_mean(name, results)
        there = ", ".join(results)
        message = f"there is no such file, and no recorded tokenizer of that name; {nearest}there are {there}"
        raise DataError(f"{message}; for another tokenizer give its file", key=name or "''")
    return results[name.lower()]


def write_results(file: Path, results: Mapping[str, Recorded]) -> None:
    """Write the recorded results of tokenizers, and keep those of libraries."""
    file.write_text(written(results, read_libraries(file)), "utf-8")


def written(results: Mapping[str, Recorded], libraries: Sequence[Library]) -> str:
    """Write all results with one library per line, so that a change of one library changes one line."""
    models = []
    for name in sorted(results):
        result = results[name]
        about = {key: getattr(result, key) for key in ("file", "format", "package", "sha256", "kind")}
        rows = [_line(row, result.asked[row.who]) for row in sorted(result.rows, key=lambda row: (row.order, row.who))]
        libraries_of = ",\n".join(f"      {json.dumps(row, ensure_ascii=False)}" for row in rows)
        head = json.dumps(about, ensure_ascii=False)[1:-1]
        models.append(f'    {json.dumps(name)}: {{\n    {head},\n    "libraries": [\n{libraries_of}\n    ]\n    }}')
    others = []
    for library in libraries:
        found = {key: value for key, value in asdict(library).items() if key != "name"}
        others.append(f"    {json.dumps(library.name)}: {json.dumps(found, ensure_ascii=False)}")
    models_written, others_written = (",\n".join(lines) for lines in (models, others))
    return f'{{\n  "models": {{\n{models_written}\n  }},\n  "libraries": {{\n{others_written}\n  }}\n}}\n'


def _line(row: FileRow, day: str) -> dict[str, Any]:
    found = {key: value for key, value in asdict(row).items() if value and value != (0, 0)}
    return {**found, "asked": day}


def _read(name: str, value: Mapping[str, Any]) -> Recorded:
    rows, asked = [], {}
    for line in value["libraries"]:
        counts = {key: tuple(line.get(key, (0, 0))) for key in ("input", "text", "positions")}
        words = {key: line.get(key, "") for key in ("who", "language", "gets", "worst", "reason")}
        rows.append(FileRow(**{**words, **counts}))
        asked[line["who"]] = line["asked"]
    about = {key: value[key] for key in ("file", "format", "package", "sha256", "kind")}
    return Recorded(name, asked=asked, rows=rows, **about)


def heading(result: Recorded) -> Iterator[str]:
    """Return the lines that say which file was used, and when."""
    days = sorted({*result.asked.values()})
    when = f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"
    yield f"{result.name}: recorded results for {result.file} of {result.package}, judged by its pack {when}."
    yield "model input: texts with the right ids; text: ids that are decoded to the right text."
    yield "For your own file: tokspec matrix --model FILE"


def are_related(one: str, other: str) -> bool:
    """Return whether the names of two tokenizers are those of one model, or of a model and its releases.

    >>> are_related("gemma", "gemma-3-pieces"), are_related("llama-3-ranks", "llama-3.1")
    (True, True)
    >>> are_related("llama-2", "llama-3"), are_related("t5", "text-davinci-003")
    (False, False)
    """
    stems = sorted((match[0] for name in (one, other) if (match := _STEM.match(name))), key=len)
    return f"{stems[1]}-".startswith(f"{stems[0]}-")


def hints(result: Recorded) -> Iterator[str]:
    """Return the lines that say which libraries load another file of this name, and where to read on."""
    yield ""
    own = {row.who for row in result.rows if row.input[1]}
    for name, other in read_results().items():
        only = [
            f"{row.who} ({row.language.partition(', ')[0]}{', all right' * is_right(row)})"
            for row in other.rows
            if row.input[1] and row.who not in own
        ]
        if only and are_related(name, result.name):
            yield f"Libraries that load {name} ({other.format}), but not {result.name}: {', '.join(only)}"
    if any(", " in row.language for row in result.rows):
        yield "Of two languages, the first is the one you call the library from; its engine is written in the second."
    yield "These texts are short, so nothing is truncated. What else a library gets wrong: tokspec bugs LIBRARY"


def is_right(row: FileRow) -> bool:
    """Return whether a library gets every id and every text right."""
    return row.input[0] == row.input[1] and row.text[0] == row.text[1] and not row.reason
