"""Recorded results: of each library with each published tokenizer, and of each library on the cases, by effect.

They are in ``fixtures/results.json``. ``conformance/packs/judge.py`` writes the results of tokenizers, and
``conformance/adapters/record_passes.py`` those of libraries.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tokspec.base.display import did_you_mean
from tokspec.base.errors import DataError
from tokspec.base.files import fixtures_folder
from tokspec.judge.runner import Run
from tokspec.judge.scope import in_profile
from tokspec.judge.verdicts import Verdict
from tokspec.results.one_file import FileRow

RESULTS = "results.json"


@dataclass(frozen=True)
class Recorded:
    """The results of libraries with one published tokenizer, best first.

    ``file``, ``format`` and ``sha256`` belong to the tokenizer's file, and ``package`` is its source. ``asked`` has the
    day on which each library was asked, by its name and version.
    """

    name: str
    file: str
    format: str
    package: str
    sha256: str
    asked: Mapping[str, str]
    rows: Sequence[FileRow]


@dataclass(frozen=True)
class Library:
    """The results of a library on the cases: how many were run and how many are right, in total and by effect.

    ``effects`` has for each effect how many cases test it, how many of these are right, and for how many failing cases
    it is the worst. ``untrusted`` is how many cases about users' texts pass, and of how many. ``bugs`` has, for each
    reason of known failures, the reason, the first case that fails so, and how many do; the commonest come first.
    """

    name: str
    language: str
    right: int
    asked: int
    effects: Mapping[str, tuple[int, int, int]]
    untrusted: tuple[int, int]
    bugs: Sequence[tuple[str, str, int]] = ()

    @classmethod
    def of(cls, run: Run) -> Library:
        """Return the results of a run."""
        asked = [each for each in run.results if each.verdict not in (Verdict.UNSUPPORTED, Verdict.NOT_RUN)]
        right = sum(each.verdict is Verdict.PASS for each in asked)
        untrusted = list(in_profile(asked, "untrusted-text"))
        passed = sum(each.verdict is Verdict.PASS for each in untrusted)
        effects = {effect.value: counts for effect, counts in run.by_effect.items()}
        name, language = f"{run.hello.name} {run.hello.version}".strip(), run.hello.language
        return cls(name, language, right, len(asked), effects, (passed, len(untrusted)), _bugs(run))


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
            [(reason, case, count) for reason, case, count in line.get("bugs", ())],
        )
        for name, line in _content(file)["libraries"].items()
    ]


def _bugs(run: Run) -> list[tuple[str, str, int]]:
    """Group the known failures of a run by their reason."""
    cases: dict[str, list[str]] = {}
    for result in run.results:
        if result.verdict is Verdict.KNOWN_FAILURE:
            cases.setdefault(result.detail, []).append(result.case.id)
    found = [(reason, named[0], len(named)) for reason, named in cases.items()]
    return sorted(found, key=lambda each: -each[2])


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
    if name not in results:
        nearest, there = did_you_mean(name, results), ", ".join(results)
        message = f"there is no such file, and no recorded tokenizer of that name; {nearest}there are {there}"
        raise DataError(f"{message}; for another tokenizer give its file", key=name or "''")
    return results[name]


def write_results(file: Path, results: Mapping[str, Recorded]) -> None:
    """Write the recorded results of tokenizers, and keep those of libraries."""
    file.write_text(written(results, read_libraries(file)), "utf-8")


def written(results: Mapping[str, Recorded], libraries: Sequence[Library]) -> str:
    """Write all results with one library per line, so that a change of one library changes one line."""
    models = []
    for name in sorted(results):
        result = results[name]
        about = {key: getattr(result, key) for key in ("file", "format", "package", "sha256")}
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
    about = {key: value[key] for key in ("file", "format", "package", "sha256")}
    return Recorded(name, asked=asked, rows=rows, **about)


def heading(result: Recorded) -> Iterator[str]:
    """Return the lines that say which file was used, and when."""
    days = sorted({*result.asked.values()})
    when = f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"
    yield f"{result.name}: recorded results for {result.file} of {result.package}, judged by its pack {when}."
    yield "For your own file: tokspec matrix --model FILE"
