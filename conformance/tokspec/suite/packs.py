"""Packs: recordings as cases for a run; each text becomes cases whose model is the user's file.

The suite's packs record published tokenizers, for people who port one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokspec.base.compression import without_compression
from tokspec.base.display import did_you_mean
from tokspec.base.errors import DataError
from tokspec.base.files import fixtures_folder
from tokspec.suite.cases import Case, Model, Suite
from tokspec.suite.recordings import ENDINGS, OPTIONS, RecordingFile

if TYPE_CHECKING:
    from tokspec.formats.user_model import UserModel

#: The ending of the name of the suite's packs.
ENDING = ENDINGS[1]

#: The clauses that the lines of a pack test.
CLAUSES = {"encode": "ENC-1", "decode": "DEC-7"}

#: Characters that do not occur in the name of a case.
_NO_NAME = re.compile(r"[^a-z0-9.]+")


def packs_folder() -> Path:
    """Return the folder of the packs that come with the suite; it need not exist."""
    return fixtures_folder() / "packs"


def find_pack(word: str) -> Path:
    """Return the file of a pack that a user names by its path or by the name of the tokenizer.

    Raises:
        DataError: there is no such pack.
    """
    file = Path(word)
    if file.is_file():
        return file
    names = sorted(path.name.removesuffix(ENDING) for path in packs_folder().glob(f"*{ENDING}"))
    if word not in names:
        there = f"there are {', '.join(names)}" if names else "none comes with this installation"
        raise DataError(f"is neither a file nor a pack; {did_you_mean(word, names)}{there}", key=word or "''")
    return packs_folder() / f"{word}{ENDING}"


def name_of(pack: RecordingFile) -> str:
    """Return the name for the cases of a pack: the name in its header, or one from its file.

    >>> from tokspec.suite.recordings import Header
    >>> header = Header("", {}, {}, {}, "", (), {})
    >>> name_of(RecordingFile(Path("My Model.ndjson.gz"), "", header, 0))
    'my-model'
    """
    name = without_compression(pack.file.name)
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return pack.header.name or _NO_NAME.sub("-", name.lower()).strip("-.") or "pack"


def cases_of(pack: RecordingFile, model: UserModel) -> Suite:
    """Return the texts of a pack as cases: each text is encoded, and its ids are decoded if the line has the result.

    Texts that were refused, or that have tokens without ids, are left out.

    Raises:
        DataError: a line is not valid; two lines ask the same and expect something else; there is nothing to ask.
    """
    name = name_of(pack)
    made = {case.id: case for number, line in _each_once(pack) for case in _cases(pack.name, name, number, line, model)}
    if not made:
        raise DataError("has no text with ids; a pack has a header and some texts", pack.name)
    return Suite(made)


def _each_once(pack: RecordingFile) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Return the lines with ids, except those that repeat an earlier line, so that no text counts twice.

    Raises:
        DataError: two lines ask the same and expect something else.
    """
    seen: dict[str, tuple[int, Mapping[str, Any]]] = {}
    for number, line in pack.lines():
        if None in line.get("ids", (None,)):
            continue
        asked = json.dumps([line["text"], *(line.get(name) for name in OPTIONS)])
        first, known = seen.setdefault(asked, (number, line))
        if first == number:
            yield number, line
        elif any(known.get(name) != line.get(name) for name in ("ids", "type_ids")) or _decodes_otherwise(known, line):
            message = f"asks the same as line {first}, but expects another answer; keep one of the two"
            raise DataError(message, pack.name, number)


def _decodes_otherwise(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    told = [each for each in (_decoded(a), _decoded(b)) if each is not None]
    return len({*told}) > 1


def _decoded(line: Mapping[str, Any]) -> str | None:
    text: str | None = line.get("decoded", line["text"])
    return text


def _cases(file: str, name: str, number: int, line: Mapping[str, Any], model: UserModel) -> Iterator[Case]:
    options = {option: line[option] for option in OPTIONS if option in line}
    expected = {field: line[field] for field in ("ids", "type_ids") if field in line}
    asked: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = [
        ("encode", {"text": line["text"], **options}, expected)
    ]
    if (decoded := _decoded(line)) is not None:
        asked.append(("decode", {"ids": line["ids"]}, {"text": decoded}))
    for operation, input, outcome in asked:
        yield Case(
            f"{name}-{number:04}-{operation}",
            (CLAUSES[operation],),
            line.get("why", line.get("from", "")),
            (),
            Model(name, {}, model),
            operation,
            input,
            {"expect": outcome},
            file=file,
            line=number,
        )
