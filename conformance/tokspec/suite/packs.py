"""Packs: what a published tokenizer makes of some hundred telling texts, for whoever ports it.

A pack is a file of JSON lines. The first names the tokenizer, its published files by their SHA-256, and who agreed on
every line. Each other has a text and its ids, and what they are decoded to where that is not the text. A run takes it
as cases whose model is the user's file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokspec.base.display import did_you_mean
from tokspec.base.errors import AdapterFault, DataError
from tokspec.base.files import fixtures_folder, read_bounded
from tokspec.base.json_values import decode_line, to_hex_form
from tokspec.suite import schema
from tokspec.suite.cases import Case, Model, Suite

if TYPE_CHECKING:
    from tokspec.formats.user_model import UserModel

#: What the name of a pack ends with.
ENDING = ".pack.jsonl"

#: How large a pack may be, in megabytes.
LARGEST = 64

#: How long a line may be, in characters; the longest of those that come with the suite has 1,698.
LONGEST = 100_000

#: The options of a line that go into its request.
OPTIONS = ("pair", "add_special_tokens", "allowed_special")

#: The rules that lines are about.
CLAUSES = {"encode": "ENC-1", "decode": "DEC-7"}


@dataclass(frozen=True)
class Pack:
    """A pack: its header, and the number and the content of each of its lines."""

    file: str
    header: Mapping[str, Any]
    lines: tuple[tuple[int, Mapping[str, Any]], ...]

    @property
    def name(self) -> str:
        """What the tokenizer is called."""
        name: str = self.header["name"]
        return name

    def is_of(self, sha256: str) -> bool:
        """Whether it was made from a file with this SHA-256."""
        return sha256 in self.header["files"].values()

    def cases(self, model: UserModel) -> Suite:
        """Return its lines as cases of a model: each is encoded, and its ids are decoded, unless it says otherwise."""
        made = {case.id: case for number, line in self.lines for case in self._cases(number, line, model)}
        return Suite(made)

    def _cases(self, number: int, line: Mapping[str, Any], model: UserModel) -> Iterator[Case]:
        options = {name: line[name] for name in OPTIONS if name in line}
        expected = {name: line[name] for name in ("ids", "type_ids") if name in line}
        asked: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = [
            ("encode", {"text": line["text"], **options}, expected)
        ]
        decoded = line.get("decoded", line["text"])
        if decoded is not None:
            asked.append(("decode", {"ids": line["ids"]}, {"text": decoded}))
        for operation, input, outcome in asked:
            yield Case(
                f"{self.name}-{number:04}-{operation}",
                (CLAUSES[operation],),
                line.get("why", ""),
                (),
                Model(self.name, {}, model),
                operation,
                input,
                {"expect": outcome},
                file=self.file,
                line=number,
            )


def packs_folder() -> Path:
    """Return the folder of the packs that come with the suite; it need not be there."""
    return fixtures_folder() / "packs"


def find_pack(word: str) -> Path:
    """Return the file of a pack that a user names, by its path or by the name of the tokenizer.

    Raises:
        DataError: there is none.
    """
    file = Path(word)
    if file.is_file():
        return file
    names = sorted(path.name.removesuffix(ENDING) for path in packs_folder().glob(f"*{ENDING}"))
    if word not in names:
        there = f"there are {', '.join(names)}" if names else "none comes with this installation"
        raise DataError(f"is no file and no pack; {did_you_mean(word, names)}{there}", key=word or "''")
    return packs_folder() / f"{word}{ENDING}"


def write_line(line: Mapping[str, Any]) -> bytes:
    r"""Write a line of a pack.

    >>> write_line({"text": "é", "ids": [3]}), write_line({"text": "\ud800", "ids": [3]})
    (b'{"text":"\xc3\xa9","ids":[3]}\n', b'{"text":{"hex":"eda080"},"ids":[3]}\n')
    """
    plain = to_hex_form(line)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n"


def read_pack(file: Path) -> Pack:
    """Read a pack.

    Raises:
        DataError: the first thing that is wrong with it, with file, line and key.
    """
    text = read_bounded(file, str(file), LARGEST, "a pack is smaller")
    lines = [
        (number, _valid(_line(line, number, file), number, file))
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1)
    ]
    if len(lines) < 2:
        raise DataError("has no lines; a pack has a header and some texts", str(file))
    return Pack(str(file), lines[0][1], tuple(_each_once(lines[1:], file)))


def _each_once(lines: Iterable[tuple[int, dict[str, Any]]], file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Return the lines without those that repeat an earlier one, so that no text counts twice.

    Raises:
        DataError: two lines ask the same and expect something else.
    """
    seen: dict[str, tuple[int, dict[str, Any]]] = {}
    for number, line in lines:
        asked = json.dumps([line["text"], *(line.get(name) for name in OPTIONS)])
        first, known = seen.setdefault(asked, (number, line))
        if first == number:
            yield number, line
        elif any(known.get(name) != line.get(name) for name in ("ids", "type_ids", "decoded")):
            message = f"asks what line {first} asks, and expects another answer; keep one of the two"
            raise DataError(message, str(file), number)


def _line(line: str, number: int, file: Path) -> dict[str, Any]:
    if len(line) > LONGEST:
        raise DataError(f"is longer than {LONGEST:,} characters, as no line of a pack is", str(file), number)
    try:
        return decode_line(line.encode())
    except AdapterFault as fault:
        raise DataError(fault.message, str(file), number) from None


def _valid(value: dict[str, Any], number: int, file: Path) -> dict[str, Any]:
    for path, message in schema.errors(value, "pack/header" if number == 1 else "pack/line", every=False):
        raise DataError(message, str(file), number, ".".join(map(str, path)))
    return value
