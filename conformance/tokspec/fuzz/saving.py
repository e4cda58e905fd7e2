"""Findings as fixtures, and back: what is saved is read by the strict loader, shown and run like any case.

Nobody has verified what was saved: the oracle gave the answer, and no two implementations were asked to agree. The
fixture says so where its truth comes from, in its tags and in its reason, until a person writes there what is right.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokspec.base.display import compact, visible
from tokspec.base.errors import DataError
from tokspec.base.files import write_whole
from tokspec.fuzz.example import Example
from tokspec.fuzz.findings import Finding
from tokspec.protocol.messages import Answer, Refused
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification

__all__ = ["UNVERIFIED", "case_id", "fixture", "held", "refuse_unwritable", "replayed", "save"]

#: What stands where a person is to say how the right answer was found.
UNVERIFIED = "unverified: the answer is the oracle's; work it out, and say here how"

Outcome = Mapping[str, Any]


def save(
    findings: Sequence[Finding],
    folder: Path,
    who: str,
    outcome: Callable[[Finding], Outcome],
    oracle: str = "the reference",
) -> list[Path]:
    """Write every finding into a file of its own; ``who`` is the implementation that differs from the oracle.

    What is to be written is read first, alone, by the loader of fixtures.

    Raises:
        DataError: it cannot be written, or does not read as it is meant.
    """
    files = []
    for finding in findings:
        case = case_id(finding)
        file = folder / f"{case}.yaml"
        text = fixture(case, finding, who, outcome(finding), oracle)
        _check(text, file, finding.example)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"cannot be made: {error.strerror}", str(folder)) from None
        write_whole(file, text)
        files.append(file)
    return files


def refuse_unwritable(folder: Path) -> None:
    """Refuse a folder in which no file could be written. Nothing is made yet: there may be nothing to write.

    Raises:
        DataError: it is a file, lies below one, or must not be written to.

    >>> refuse_unwritable(Path("not there yet"))
    """
    nearest = next(each for each in (folder, *folder.parents) if os.path.lexists(each))
    if not nearest.is_dir():
        raise DataError("is no folder; give another one for what is found", str(nearest))
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise DataError("cannot be written to; give another folder for what is found", str(nearest))


def held(folder: Path) -> Mapping[str, Case]:
    """Return the cases that a folder holds by now, so that none is written into it a second time.

    Raises:
        DataError: something in it is no fixture, and would keep all that is written from being read.

    >>> held(Path("not there yet"))
    {}
    """
    if not any(file.parent.name not in ("models", "corpora") for file in folder.rglob("*.yaml")):
        return {}
    try:
        return load_suite(folder).cases
    except DataError as error:
        raise DataError(f"holds what is no fixture: {error}; mend it, or give another folder", str(folder)) from None


def case_id(finding: Finding) -> str:
    """Return the id of a finding's case: the clause, and eight digits for the example."""
    digits = hashlib.sha256(finding.example.key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"fuzz-{finding.clause.lower()}-{digits}"


def fixture(case: str, finding: Finding, who: str, outcome: Outcome, oracle: str = "the reference") -> str:
    """Write the file of one finding."""
    example = finding.example
    rule = load_specification().clauses[finding.clause].text
    lines = [
        f"about: {_text(f'Found by tokspec fuzz; not verified yet. {rule}')}",
        "source:",
        f"  - rule: {_text(f'{who} was found {_what(finding, oracle)}.')}",
        "cases:",
        f"  - id: {_text(case)}",
        f"    clauses: [{_text(finding.clause)}]",
        f"    why: {_text(f'NOT VERIFIED: {who} {_given(finding)}. Say here what the case shows.')}",
        "    model:",
        *_model(example.model),
        f"    operation: {_text(example.operation)}",
        f"    input: {_value(dict(example.input))}",
        *_outcome(outcome, "    "),
        f"    tags: [{_text('unverified')}]",
        f"    verified_by: [{_text(UNVERIFIED)}]",
    ]
    if not example.model:
        lines[lines.index("    model:")] = "    model: {}"
    return "\n".join(lines) + "\n"


def _what(finding: Finding, oracle: str) -> str:
    if finding.check in ("reference", "sweep"):
        return f"to answer otherwise than {oracle}"
    return f"to break a property: {finding.check}; {oracle} gave the answer"


def _given(finding: Finding, longest: int = 200) -> str:
    """Say what the implementation did, in short: the field that differs, or how it ended."""
    reply, result = finding.result.reply, finding.result
    if isinstance(reply, Answer) and finding.kind in reply.result:
        shown = compact(reply.result[finding.kind])
        return f"gives the {finding.kind} {shown if len(shown) <= longest else shown[:longest] + ' …'}"
    if isinstance(reply, Refused):
        return f"refuses it as {reply.reason}"
    return f"comes to {result.verdict.value}: {result.detail[:longest]}"


def _outcome(outcome: Outcome, indent: str) -> Iterator[str]:
    """Write an outcome, the options of a choice one below the other."""
    ((key, value),) = outcome.items()
    if key != "by_choice":
        yield f"{indent}{key}: {_value(value)}"
        return
    ((name, options),) = value.items()
    yield f"{indent}by_choice:"
    yield f"{indent}  {name}:"
    for option, inner in options.items():
        yield f"{indent}    {_text(option)}:"
        yield from _outcome(inner, indent + "      ")


def _text(text: str) -> str:
    return compact(visible(text))


def _value(value: Any) -> str:
    """Write a value on one line, as the strict loader takes it."""
    if isinstance(value, str):
        is_lone = any("\ud800" <= character <= "\udfff" for character in value)
        return f"{{hex: {_hex(value)}}}" if is_lone else compact(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)}: {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, float) and "e" in (written := repr(value)) and "." not in written:
        return written.replace("e", ".0e")
    return compact(value)


def _key(key: str) -> str:
    return key if key.isidentifier() and key.isascii() and len(key) > 3 else compact(key)


def _hex(text: str) -> str:
    """Return the bytes of a text's UTF-8, with surrogates like any other code point (PROTO-2)."""
    return compact(text.encode("utf-8", "surrogatepass").hex())


def _model(model: Mapping[str, Any]) -> Iterator[str]:
    for key, value in model.items():
        yield f"      {key}: {_vocabulary(value) if key == 'vocabulary' else _value(value)}"


def _vocabulary(tokens: Sequence[str]) -> str:
    """Write tokens; what is listed again is written as bytes, because the schema wants items that differ."""
    seen = set[str]()
    written = []
    for token in tokens:
        written.append(f"{{hex: {_hex(token)}}}" if token in seen else _value(token))
        seen.add(token)
    return f"[{', '.join(written)}]"


def _check(text: str, file: Path, example: Example) -> None:
    """Read a text as the loader of fixtures will read it from a file."""
    with TemporaryDirectory() as trial:
        write_whole(Path(trial, file.name), text)
        case = load_suite(Path(trial)).cases[file.stem]
    if (case.model.content, case.operation, case.input) != (example.model, example.operation, example.input):
        raise DataError("does not read as it was meant; this is a fault of the suite itself", str(file))


def replayed(folder: Path) -> list[Example]:
    """Read what was saved, or any other fixtures, as examples.

    Raises:
        DataError: the folder has no fixtures, or one of them is wrong.
    """
    cases = [question for case in load_suite(folder).cases.values() for question in case.questions]
    return [Example(case.model.content, case.operation, case.input, f"{case.file}:{case.line}") for case in cases]
