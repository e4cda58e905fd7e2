"""Write what follows from the tables of components and operations: sections of the schema, tables of the specification.

    python conformance/components/generate.py

The tables are ``components`` and ``operations`` of ``conformance/tokspec/suite``; tests compare what is written here
with the files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokspec.suite.components import NEEDED, TABLE, Component, Parameter, component_names, rows_of
from tokspec.suite.operations import OPERATIONS

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "fixtures" / "schema.json"
SPECIFICATION = ROOT / "spec"

#: The chapter of each stage, and what the table of what ``hello`` declares calls one of its components.
CHAPTERS = {
    "normalizer": ("01-normalization.md", "such a normalizer, be it in a sequence"),
    "pre_tokenizer": ("02-pre-tokenization.md", "such a pre-tokenizer"),
    "post_processor": ("11-post-processing.md", "such a post-processor"),
    "decoder": ("07-decoding.md", "such a decoder"),
}
#: Stages of which a model may leave out the component and still has one, which the chapter describes.
HAVE_NONE = ("post_processor", "decoder")

WIDTH = 120


def written() -> dict[Path, str]:
    """Return the files as they have to be."""
    text = SCHEMA.read_text("utf-8")
    for name, definition in definitions().items():
        start = text.index(f'\n    "{name}": {{\n') + 1
        end = re.compile(r"^    \},?$", re.MULTILINE).search(text, start)
        assert end is not None
        value = "\n".join(lines(definition, 4, len(name) + 4))
        text = f'{text[:start]}    "{name}": {value}{text[end.end() - end[0].count(",") :]}'
    found = {SCHEMA: text}
    for stage, (chapter, _) in CHAPTERS.items():
        table = [*(["| none | |"] if stage in HAVE_NONE else ()), *map(row, rows_of(stage))]
        found[SPECIFICATION / chapter] = with_table(SPECIFICATION / chapter, "| type | parameters (defaults) |", table)
    protocol = SPECIFICATION / "10-protocol.md"
    text = with_table(protocol, "| component | a model needs it that has |", [*needs()])
    said = [(operation.name, *row) for operation in OPERATIONS for row in operation.rows]
    rows = [f"| `{name}` | {models} | {takes}{' ' if takes else ''}| {gives} |" for name, models, takes, gives in said]
    found[protocol] = with_table(protocol, "| operation | model | input | result |", rows, text)
    return found


def definitions() -> dict[str, Any]:
    """Return the sections of the schema that follow from the table."""
    found = {stage: of_stage(stage) for stage in CHAPTERS}
    for stage in ("added_token", "truncation", "padding"):
        (one,) = rows_of(stage)
        found[stage] = {"type": "object", **of_parameters(one)}
    says = "What a model may need beyond the base; a name covers every name that begins with it and a slash."
    return {
        **found,
        "component": {"description": says, "enum": list(component_names())},
        "operation": {"enum": [operation.name for operation in OPERATIONS]},
        "operations": {operation.name: operation.schema for operation in OPERATIONS},
    }


def of_stage(stage: str) -> dict[str, Any]:
    """Return the schema of a stage: its types, and the parameters of each."""
    rows = rows_of(stage)
    bare = [one.type for one in rows if not one.parameters]
    kinds: list[tuple[dict[str, Any], Component | None]] = [({"enum": bare}, None)] if bare else []
    kinds += [({"const": one.type}, one) for one in rows if one.parameters]
    types = {"type": {"enum": [one.type for one in rows]}}
    ways = [{"if": {"properties": {"type": kind}}, "then": of_parameters(one)} for kind, one in kinds]
    return {"type": "object", "required": ["type"], "properties": types, "allOf": ways}


def of_parameters(component: Component | None) -> dict[str, Any]:
    """Return the schema of the parameters of a component, which knows no others."""
    parameters = component.parameters if component else ()
    known = {"type": True} if component is None or component.type else {}
    found: dict[str, Any] = {"properties": known | {each.name: dict(each.form.schema) for each in parameters}}
    if required := [each.name for each in parameters if each.default is NEEDED]:
        found["required"] = required
    return {**found, "additionalProperties": False}


def lines(value: Any, indent: int, used: int) -> list[str]:
    """Write a value as lines of JSON: in one if it fits, as a block of words if it is a list of such.

    ``used`` is how much of the first line stands before it.

    >>> lines({"type": "boolean"}, 0, 8)
    ['{"type": "boolean"}']
    """
    whole = json.dumps(value, ensure_ascii=False)
    if used + len(whole) + 3 <= WIDTH or not isinstance(value, dict | list) or not value:
        return [whole]
    inner = " " * (indent + 2)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ["[", *_filled(value, inner), " " * indent + "]"]
    found = []
    for key, member in value.items() if isinstance(value, dict) else ((None, member) for member in value):
        start = inner if key is None else f"{inner}{json.dumps(key)}: "
        first, *others = lines(member, indent + 2, len(start))
        found += [start + first, *others]
        found[-1] += ","
    found[-1] = found[-1].removesuffix(",")
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return [opening, *found, " " * indent + closing]


def _filled(words: list[str], inner: str) -> Iterator[str]:
    line = inner
    for position, word in enumerate(words):
        written_word = json.dumps(word) + ("," if position < len(words) - 1 else "")
        if len(line) + len(written_word) + 1 > WIDTH:
            yield line.rstrip()
            line = inner
        line += written_word + " "
    yield line.rstrip()


def with_table(file: Path, head: str, rows: list[str], text: str = "") -> str:
    """Return a chapter, or its text as it is by now, with other rows in the table that has a head."""
    rule = f"|{' --- |' * (head.count('|') - 1)}"
    before, found, after = (text or file.read_text("utf-8")).partition(f"{head}\n{rule}\n")
    assert found, f"{file}: has no table {head}"
    behind = re.sub(r"\A(\|.*\n)*", "", after)
    return before + found + "".join(f"{each}\n" for each in rows) + behind


def row(component: Component) -> str:
    """Return the row of a component in the table of its chapter.

    >>> row(rows_of("decoder")[5])
    '| `strip` | `content`: a character; `start`: a number; `stop`: a number |'
    """
    said = [parameter(each) for each in component.parameters]
    joined = ("; " if any(": " in each for each in said) else ", ").join(said)
    return f"| `{component.type}` | {joined}{' ' if joined else ''}|"


def parameter(each: Parameter) -> str:
    """Say what a parameter is: its default and the other values it may have, or its form."""
    options = [json.dumps(option) for option in each.form.options]
    if each.default is NEEDED:
        says = " or ".join([", ".join(options[:-1]), options[-1]]) if options else each.form.says
        return f"`{each.name}`: {says}" if says else f"`{each.name}`"
    default = json.dumps(each.default, ensure_ascii=False)
    others = [option for option in options if option != default]
    notes = [f"or {', '.join(others)}"] if others else [each.note] if each.note else []
    return f"`{each.name}` ({'; '.join([default, *notes])})"


def needs() -> Iterator[str]:
    """Return the rows of what ``hello`` declares."""
    yield "| `vocabulary_ids` | a `vocabulary` of `[token, id]` |"
    content, *flags = (f"added_tokens/{each.name}" for each in rows_of("added_token")[0].parameters)
    yield f"| `{content}` | `added_tokens` |"
    yield f"| {_listed(flags)} | an added token that gives an `id`, that is not `special`, or that has the flag |"
    for stage, (_, what) in CHAPTERS.items():
        yield f"| {_listed([each.name for each in rows_of(stage) if each.beyond])} | {what} |"
    yield f"| {_listed([each.name for each in rows_of('model') if each.beyond])} | that type |"
    yield f"| {_listed(['truncation', 'padding'])} | that key |"
    by_need: dict[str, list[str]] = {}
    for one in TABLE:
        for each in one.parameters:
            if each.beyond:
                by_need.setdefault(need(each), []).append(f"{one.name}/{each.name}")
    yield from (f"| {_listed(names)} | {what} |" for what, names in by_need.items())


def need(each: Parameter) -> str:
    """Say when a model needs a parameter that is beyond the base."""
    others = {"False": "true", "": "not empty"}
    if not each.has_default:
        return "that parameter"
    return f"that parameter, and it is {others.get(str(each.default), f'not `{each.default}`')}"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    for file, text in written().items():
        file.write_text(text, "utf-8")
