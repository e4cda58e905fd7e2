"""What is recorded of published tokenizers: how many ids and texts each library gets right, asked by their packs.

``conformance/packs/judge.py`` asks, and writes ``fixtures/results.json``.
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
from tokspec.results.one_file import FileRow

RESULTS = "results.json"


@dataclass(frozen=True)
class Recorded:
    """What libraries make of one published tokenizer, the best first.

    ``file``, ``format`` and ``sha256`` are of the tokenizer's file, and ``package`` is where it comes from. ``asked``
    has the day on which each library was asked, by its name and version.
    """

    name: str
    file: str
    format: str
    package: str
    sha256: str
    asked: Mapping[str, str]
    rows: Sequence[FileRow]


def read_results(file: Path | None = None) -> dict[str, Recorded]:
    """Read what is recorded, by the name of the tokenizer; of an installation unless a file is given."""
    file = file or fixtures_folder() / RESULTS
    if not file.is_file():
        return {}
    return {name: _read(name, value) for name, value in json.loads(file.read_text("utf-8")).items()}


def find_result(name: str) -> Recorded:
    """Return what is recorded of a tokenizer.

    Raises:
        DataError: nothing is.
    """
    results = read_results()
    if name not in results:
        message = (
            f"is no file, and nothing is recorded of it; {did_you_mean(name, results)}there are {', '.join(results)}"
        )
        raise DataError(message, key=name or "''")
    return results[name]


def write_results(file: Path, results: Mapping[str, Recorded]) -> None:
    """Write what is recorded, a library a line, so that a change of one is a change of one line."""
    models = []
    for name in sorted(results):
        result = results[name]
        about = {key: getattr(result, key) for key in ("file", "format", "package", "sha256")}
        rows = [_line(row, result.asked[row.who]) for row in sorted(result.rows, key=lambda row: (row.order, row.who))]
        written = ",\n".join(f"      {json.dumps(row, ensure_ascii=False)}" for row in rows)
        head = json.dumps(about, ensure_ascii=False)[1:-1]
        models.append(f'  {json.dumps(name)}: {{\n    {head},\n    "libraries": [\n{written}\n    ]\n  }}')
    file.write_text("{\n" + ",\n".join(models) + "\n}\n", "utf-8")


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
    """Say what was asked, and when."""
    days = sorted({*result.asked.values()})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    yield f"{result.name}: {result.file} of {result.package}, asked {when} by its pack. Ask about your own file:"
    yield "tokspec matrix --model FILE"
