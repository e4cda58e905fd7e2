"""The quick reader of YAML reads what the strict one reads, or nothing."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tokspec.base.errors import DataError
from tokspec.base.paths import fixtures_folder
from tokspec.suite.quick_yaml import read_quickly
from tokspec.suite.strict_yaml import parse_yaml
from tokspec.suite.yaml_events import Everything, read_all

FILES = sorted(fixtures_folder().rglob("*.yaml"))

#: How many damaged texts are read; more are asked for by hand.
DAMAGED = int(os.environ.get("TOKSPEC_DAMAGED_TEXTS", "4000"))

#: What damage is done with: everything that means something in YAML.
PIECES = [
    *("\n", " ", "  ", "- ", ": ", ":", ", ", ",", "[", "]", "{", "}", '"', "'", "\\", "#", " #", "&a ", "*a", "!!str "),
    *("|", ">", "?", "? ", "%", "@", "`", "---\n", "...\n", "~", "null", "true", "no", "1", "-1", "1.5", "1e3", "1.0e+5"),
    *("1.0e+999", ".5", "0x1f", "1_000", "12:30", "2020-01-01", "-", "=", "<<: ", "\\n", "\\u00e9", "\\ud83d\\ude00"),
    *("\\U0001F600", "\\U00110000", "\\x41", "\\x22", "\\x4", "\\/", "\\ ", "é", "😀", "a", "a: 1\n", "\n\n", "\n  ", "x" * 100, "[" * 41),
    *('"a": ', '"a":1', "{a:1}", "[a, ]", "[a: b]", "- - a\n", "-a", "a b", '"a\n  b"', "# c\n", '"a" : 1', "y: 1\n", "\t"),
]  # fmt: skip


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_fixtures_are_read_alike(file: Path) -> None:
    text = file.read_text("utf-8")
    assert problem(text) == ""


def test_all_fixtures_are_read_quickly() -> None:
    """One file for the parser of all YAML would cost a run its import."""
    assert [file.name for file in FILES if read_quickly(file.read_text("utf-8")) is None] == []


def test_escapes_are_read_alike() -> None:
    text = r'a: ["\x00\x1F\x22\x5c\x7f\x80\xFf", "\\x41\\\x41", "\U0001F600\u00e9"]'
    assert problem(text) == ""
    quick = read_quickly(text)
    assert quick is not None
    assert quick.value == {"a": ['\x00\x1f"\\\x7f\x80\xff', "\\x41\\A", "😀é"]}


@pytest.mark.parametrize("blocks", [0, 1, 5, 9, 10, 11, 49, 50, 51])
@pytest.mark.parametrize("flows", [0, 1, 38, 39, 40, 41, 50, 51])
def test_what_is_nested_is_read_alike_or_left(blocks: int, flows: int) -> None:
    lines = [
        *(" " * depth + "a:\n" for depth in range(blocks)),
        " " * blocks,
        "a: ",
        "[" * flows,
        "1",
        "]" * flows,
        "\n",
    ]
    text = "".join(lines)
    assert (problem(text), read_quickly(text) is None) == ("", blocks > 10 or flows > 40)


def test_damaged_texts_are_read_alike_or_not_at_all() -> None:
    chance = random.Random(1)
    texts = [file.read_text("utf-8") for file in FILES]
    found = [problem(damaged(chance, some(chance, texts))) for _ in range(DAMAGED)]
    assert [each for each in found if each] == []


def some(chance: random.Random, texts: list[str]) -> str:
    """Cut some lines out of a text, so that they can stand alone."""
    lines = chance.choice(texts).splitlines(keepends=True)
    start = chance.randrange(len(lines))
    cut = lines[start : start + chance.randint(1, 12)]
    indent = min((len(line) - len(line.lstrip(" ")) for line in cut if line.strip()), default=0)
    text = "".join(line[indent:] or "\n" for line in cut)
    return chance.choice(("", "cases:\n")) + text


def damaged(chance: random.Random, text: str) -> str:
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        at = chance.randint(0, len(text))
        end = min(len(text), at + chance.choice((0, 0, 0, 1, 1, 2, 5)))
        text = text[:at] + chance.choice((*PIECES, "", "", text[at : at + 20])) + text[end:]
    return text


def problem(text: str) -> str:
    """Say what is wrong with how a text is read; the strict reader is right."""
    try:
        quick = read_quickly(text)
        if quick is None:
            return ""
        parse_yaml(text, "x.yaml")  # refuses hidden characters first
        strict = read_all(text, "x.yaml")
    except DataError as error:
        return "" if "nobody can see" in error.message else f"{text!r}: {error}"
    same = repr(quick.value) == repr(strict.value) and all(
        strict.lines[path] == line for path, line in quick.lines.items()
    )
    return "" if same else f"{text!r}: {quick} and not {shown(strict)}"


def shown(strict: Everything) -> str:
    return f"{strict.value}, {strict.lines}"
