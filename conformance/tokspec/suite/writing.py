"""Writing a case that a machine found to its own file, in the form that the strict loader reads.

Before a case is written, that loader reads it by itself. Nobody has verified the case: its tags and its reason say so,
until a person writes there what is right.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokspec.base.display import compact, visible
from tokspec.base.errors import DataError
from tokspec.base.files import write_whole
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification

#: The text where a person should say how the right answer was found.
UNVERIFIED = "unverified: the answer is the oracle's; work it out, and say here how"


@dataclass(frozen=True)
class FoundCase:
    """A case that was found. ``about`` and ``source`` are sentences; ``outcome`` has ``expect``, ``error`` …"""

    id: str
    about: str
    source: str
    clauses: Sequence[str]
    why: str
    model: Mapping[str, Any]
    operation: str
    input: Mapping[str, Any]
    outcome: Mapping[str, Any]


def by_choice(outcome: Callable[[Mapping[str, str]], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the right outcome for the default options, or for every option of the choices on which it depends.

    A choice matters if changing its option alone changes the outcome; the choices that matter are then combined.

    Args:
        outcome: returns the outcome for the given choices.
    """
    specification = load_specification()
    usual = specification.defaults()
    right = outcome(usual)
    matter = [
        name
        for name, choice in specification.choices.items()
        if name != "offset_unit" and any(outcome({**usual, name: option}) != right for option in choice.options)
    ]

    def nest(choices: Mapping[str, str], names: Sequence[str]) -> Mapping[str, Any]:
        if not names:
            return outcome(choices)
        options = specification.choices[names[0]].options
        return {"by_choice": {names[0]: {option: nest({**choices, names[0]: option}, names[1:]) for option in options}}}

    return nest(usual, matter)


def write_case(case: FoundCase, folder: Path) -> Path:
    """Write a case to a folder, which is created if necessary, and return the file.

    Raises:
        FileExistsError: it is there already; a person may have worked on it.
        DataError: it cannot be written, or does not read as it is meant.
    """
    file = folder / f"{case.id}.yaml"
    if os.path.lexists(file):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(file))
    text = _write(case)
    with TemporaryDirectory() as trial:
        write_whole(Path(trial, file.name), text)
        read = load_suite(Path(trial)).cases[case.id]
    if (read.model.content, read.operation, read.input) != (case.model, case.operation, case.input):
        raise DataError("does not read as it was meant; this is a fault of the suite itself", str(file))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be created: {error.strerror}", str(folder)) from None
    write_whole(file, text)
    return file


def _write(case: FoundCase) -> str:
    lines = [
        f"about: {_text(case.about)}",
        "source:",
        f"  - rule: {_text(case.source)}",
        "cases:",
        f"  - id: {_text(case.id)}",
        f"    clauses: [{', '.join(map(_text, case.clauses))}]",
        f"    why: {_text(case.why)}",
        "    model:" if case.model else "    model: {}",
        *(
            f"      {key}: {_rows(value) if key == 'vocabulary' else write_value(value)}"
            for key, value in case.model.items()
        ),
        f"    operation: {_text(case.operation)}",
        f"    input: {write_value(dict(case.input))}",
        *_outcome(case.outcome, "    "),
        f"    tags: [{_text('unverified')}]",
        f"    verified_by: [{_text(UNVERIFIED)}]",
    ]
    return "\n".join(lines) + "\n"


def _outcome(outcome: Mapping[str, Any], indent: str) -> Iterator[str]:
    """Write an outcome, with one option of a choice below the other."""
    ((key, value),) = outcome.items()
    if key != "by_choice":
        yield f"{indent}{key}: {write_value(value)}"
        return
    ((name, options),) = value.items()
    yield f"{indent}by_choice:"
    yield f"{indent}  {name}:"
    for option, inner in options.items():
        yield f"{indent}    {_text(option)}:"
        yield from _outcome(inner, indent + "      ")


def _text(text: str) -> str:
    return compact(visible(text))


def write_value(value: Any) -> str:
    """Write a value on one line."""
    if isinstance(value, str):
        is_lone = any("\ud800" <= character <= "\udfff" for character in value)
        return f"{{hex: {_hex(value)}}}" if is_lone else compact(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)}: {write_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(write_value, value)) + "]"
    if isinstance(value, float) and "e" in (written := repr(value)) and "." not in written:
        return written.replace("e", ".0e")
    return compact(value)


#: Words that some version of YAML does not read as text.
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


def _key(key: str) -> str:
    return key if key.isidentifier() and key.isascii() and key.lower() not in _WORDS else compact(key)


def _hex(text: str) -> str:
    """Return the bytes of a text's UTF-8, with surrogates like any other code point (PROTO-2)."""
    return compact(text.encode("utf-8", "surrogatepass").hex())


def _rows(rows: Sequence[Any]) -> str:
    """Write tokens; a repeated token is written as bytes, because the schema requires distinct items."""
    seen = set[str]()
    written = []
    for row in rows:
        is_again = isinstance(row, str) and row in seen
        written.append(f"{{hex: {_hex(row)}}}" if is_again else write_value(row))
        seen.add(str(row))
    return f"[{', '.join(written)}]"
