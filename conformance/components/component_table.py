"""Make ``README.md`` here: what the crate ``tokenizers`` has, and what the suite has for it.

    python conformance/components/component_table.py

Its rows are the components and fields of ``crate.json``. What each is in the fixtures comes from the reader of
``tokenizer.json``; which values occur, which cases, clauses and mutants there are, and who passes them is counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tokspec.formats.neutral import fill_defaults
from tokspec.formats.tokenizer_json import components as parts
from tokspec.formats.tokenizer_json.fields import NOTHING, Component
from tokspec.formats.tokenizer_json.models import ADDED_TOKEN, MODELS
from tokspec.quality.mutants import load_mutants
from tokspec.suite.cases import Case
from tokspec.suite.components import TABLE
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification

HERE = Path(__file__).parent
FILE = HERE / "README.md"
CRATE: Mapping[str, Any] = json.loads((HERE / "crate.json").read_text("utf-8"))
PASSES: Mapping[str, Any] = json.loads((HERE.parent / "adapters" / "passes.json").read_text("utf-8"))

KINDS = {**parts.KINDS, "model": MODELS}
OTHERS = {"added_tokens": ADDED_TOKEN, "truncation": parts.TRUNCATION, "padding": parts.PADDING}

#: How the ids of a component's clauses begin.
CLAUSES = {
    {"added_token": "added_tokens"}.get(row.name, row.name): row.clauses.split()[0].rpartition("-")[0]
    for row in TABLE
    if row.theirs or not row.type
}


@dataclass
class Row:
    """A component, or a field of one: its name in the crate and in the fixtures, and the cases that have it."""

    theirs: str
    ours: str
    prefix: str = ""
    why: str = ""
    values: Sequence[Any] = ()
    seen: dict[str, set[str]] = field(default_factory=dict)
    cases: dict[str, Case] = field(default_factory=dict)

    def missing(self) -> list[str]:
        """Return the values that no case has."""
        return [value for value in dict.fromkeys(map(name, self.values)) if value not in self.seen]


def name(value: Any) -> str:
    """Return how a value is called in the table: of an object its key.

    >>> name(True), name({"fixed": 4}), name("left")
    ('true', 'fixed', 'left')
    """
    if isinstance(value, dict):
        return str(next(key for key in value if key != "type_id"))
    return value if isinstance(value, str) else json.dumps(value)


def rows() -> list[Row]:
    """Return the rows of everything in the crate, with the cases of each."""
    found = list(_rows())
    known = {row.ours: row for row in found if row.ours}
    for case in load_suite().cases.values():
        for ours, values in _used(fill_defaults(case.model.content)):
            if ours in known:
                known[ours].cases[case.id] = case
                for value in values:
                    known[ours].seen.setdefault(name(value), set()).add(case.id)
    return found


def _rows() -> Iterator[Row]:
    for stage, listed in CRATE["components"].items():
        components = {component.theirs: component for component in KINDS[stage].components}
        for theirs, fields in listed.items():
            ours = f"{stage}/{components[theirs].ours}"
            yield from _of_component(f"{stage}: {theirs}", ours, components[theirs], fields)
    for key, fields in CRATE["others"].items():
        yield from _of_component(key, key, OTHERS[key], fields)


def _of_component(theirs: str, ours: str, component: Component, fields: Sequence[str]) -> Iterator[Row]:
    prefix = CLAUSES[ours]
    yield Row(theirs, ours, prefix)
    known = {field.theirs: field for field in component.fields}
    for field_ in fields:
        if field_ in known:
            found = known[field_]
            yield Row(f"{theirs}.{field_}", f"{ours}/{found.ours}", prefix, values=[*found.form.values.values()])
        elif field_ in component.silent:
            yield Row(f"{theirs}.{field_}", "", why="says nothing here")


def _used(model: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Name the components and fields that a model has, with their values."""
    for stage, kinds in KINDS.items():
        components = {component.ours: component for component in kinds.components}
        for part in _parts(stage, model if stage == "model" else model.get(stage)):
            if part["type"] in components:  # SentencePiece's own are none of the crate
                yield from _of_part(f"{stage}/{part['type']}", components[part["type"]], part)
    for key, component in OTHERS.items():
        if key in model:
            for part in model[key] if isinstance(model[key], list) else [model[key]]:
                yield from _of_part(key, component, part)


def _parts(stage: str, part: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
    if part is not None and "type" in part:
        yield part
        for member in part.get(f"{stage}s", ()):
            yield from _parts(stage, member)


def _of_part(ours: str, component: Component, part: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    yield ours, []
    for field_ in component.fields:
        value = part.get(field_.ours, field_.unsaid)
        if value is not NOTHING and (field_.ours in part or value is not None):
            values = value if isinstance(value, list) else [value]
            yield f"{ours}/{field_.ours}", values if field_.form.values else []


@cache
def _mutants() -> Counter[str]:
    return Counter(mutant.clause for mutant in load_mutants(HERE.parent / "mutants"))


def _cells(row: Row) -> list[str]:
    if row.why:
        return [f"`{row.theirs}`", "", row.why, "", "", "", ""]
    series = [clause for clause in load_specification().clauses if clause.startswith(f"{row.prefix}-")]
    named = {clause for case in row.cases.values() for clause in case.clauses}
    clauses = [clause for clause in series if clause in named or row.ours in CLAUSES]
    values = [f"{value} {len(cases)}" for value, cases in sorted(row.seen.items())]
    values += [f"**{value} 0**" for value in row.missing()]
    passed: Counter[str] = Counter()
    for case in row.cases:
        passed.update({PASSES["implementations"][one]["family"] for one in PASSES["cases"].get(case, ())})
    return [
        f"`{row.theirs}`",
        f"`{row.ours}`",
        ", ".join(values),
        " ".join(_short(clauses)) or "**none**" * (row.ours in CLAUSES),
        str(len(row.cases)) if row.cases else "**0**",
        str(sum(_mutants()[clause] for clause in clauses)),
        ", ".join(
            f"{family} {count}" for family, count in sorted(passed.items(), key=lambda each: (-each[1], each))[:3]
        ),
    ]


def _short(clauses: Sequence[str]) -> Iterator[str]:
    """Write clauses of one series as one: PAD-1,2,7."""
    series: dict[str, list[str]] = {}
    for clause in clauses:
        start, number = clause.rsplit("-", 1)
        series.setdefault(start, []).append(number)
    return (f"{start}-{','.join(numbers)}" for start, numbers in series.items())


HEAD = f"""# Components

Everything that `{CRATE["crate"]}` has in a `tokenizer.json`, by the names of its enums and structures, and what the
suite has for it. `component_table.py` makes this file, `crate.py` the list of names; tests compare both.

A value is followed by the number of cases whose model has it; what no case has is in bold. Clauses of a field are those
that its cases name; mutants are counted by clause. The last column has the three families of implementations that pass
the most of the cases.

| in the crate | in the fixtures | values | clauses | cases | mutants | passed by |
| --- | --- | --- | --- | --- | --- | --- |
"""


def table() -> str:
    """Return the file."""
    return HEAD + "".join(f"| {' | '.join(_cells(row))} |\n" for row in rows())


if __name__ == "__main__":
    FILE.write_text(table(), "utf-8")
