"""The matrix of real vocabularies, with a small vocabulary: cells, what is kept of them, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tokspec import __version__
from tokspec.base.errors import DataError
from tokspec.cli import tokspec as group
from tokspec.compare.named_texts import load_texts
from tokspec.results import vocabularies as module
from tokspec.results.rows import read_list
from tokspec.results.vocabularies import Cell, Column, Vocabularies
from tokspec.sessions.limits import Limits

pytestmark = pytest.mark.slow

FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
TOY = {
    "added_tokens": [{"id": 4, "content": "<bug>", **FLAGS, "special": True}],
    "model": {
        "type": "BPE",
        "vocab": {"<unk>": 0, "b": 1, "u": 2, "bu": 3, "<bug>": 4},
        "merges": ["b u"],
        "unk_token": "<unk>",
    },
}
#: The suite's texts, and sixteen with the special token.
COUNT = len(load_texts()) + 16

ADAPTERS = """
import os, time
from dataclasses import replace
from tokspec.adapter import Unsupported
from tokspec.adapters.tokfast import TokfastAdapter
from tokspec.formats import read, write

class Right(TokfastAdapter):
    name = "right"

class Own(TokfastAdapter):
    name = "own"

    def hello(self):
        return replace(super().hello(), formats=("tokenizer.json",))

    def load(self, format, content):
        return super().load("tokspec", write("tokspec", read(format, content)))

    def run(self, operation, model, input):
        result = super().run(operation, model, input)
        return self.spoil(operation, input, result)

    def spoil(self, operation, input, result):
        return result

class Backwards(Own):
    name = "backwards"

    def hello(self):
        return replace(super().hello(), encode_fields=("tokens",), operations=("encode",))

    def spoil(self, operation, input, result):
        return {"tokens": result["tokens"][::-1]}

class Crashes(Own):
    name = "crashes"

    def spoil(self, operation, input, result):
        if input.get("text") == "a":
            os._exit(3)
        return result

class Hangs(Own):
    name = "hangs"

    def spoil(self, operation, input, result):
        time.sleep(60)

class Refuses(Own):
    name = "refuses"

    def load(self, format, content):
        raise Unsupported("has no BPE")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(ADAPTERS, "utf-8")
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "toy.json").write_text(json.dumps(TOY), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "files"


def listed(*names: str) -> Path:
    path = Path("list.yaml")
    rows = [f"  - impl: mine:{name}\n" for name in names]
    path.write_text(f"adapters:\n{''.join(rows)}", "utf-8")
    return path


def compare(folder: Path, *names: str) -> Column:
    (column,) = Vocabularies(folder, read_list(listed(*names))).compare(2)
    return column


def only(column: Column) -> Cell:
    (cell,) = column.cells.values()
    return cell


def without_times(cell: Cell) -> dict[str, Any]:
    return {key: value for key, value in vars(cell).items() if key != "seconds"}


def test_who_gives_the_same_agrees_in_every_field(folder: Path) -> None:
    column = compare(folder, "Right", "Own")
    same = {"ids": [COUNT, COUNT], "tokens": [COUNT, COUNT], "spans": [COUNT, COUNT], "text": [COUNT, COUNT]}
    assert (column.vocabulary, column.format, column.fault) == ("toy", "tokenizer.json", "")
    right, own = column.cells.values()
    told = {"vocabulary": "toy", "texts": COUNT, "fields": same, "reason": "", "causes": []}
    assert without_times(right) == {
        **told,
        "implementation": f"right {__version__}",
        "given": "tokspec",
        "as_it_is": False,
    }
    assert without_times(own) == {
        **told,
        "implementation": f"own {__version__}",
        "given": "tokenizer.json",
        "as_it_is": True,
    }


def test_who_gives_tokens_alone_is_counted_by_them_and_causes_are_told(folder: Path) -> None:
    cell = only(compare(folder, "Backwards"))
    (same, asked) = cell.fields["tokens"]
    assert (list(cell.fields), asked, 0 < same < COUNT) == (["tokens"], COUNT, True)
    assert cell.share() == same / COUNT
    assert sum(cause["texts"] for cause in cell.causes) == COUNT - same
    assert sorted(cell.causes[0]) == ["a", "b", "cause", "place", "text", "texts"]


def test_a_crash_is_what_a_text_came_to(folder: Path) -> None:
    cell = only(compare(folder, "Crashes"))
    assert cell.fields == {name: [COUNT - (name != "text"), COUNT] for name in ("ids", "tokens", "spans", "text")}
    assert [(cause["cause"], cause["texts"], cause["text"]) for cause in cell.causes] == [
        ("encode: B crashes: exit status 3", 1, "a")
    ]


def test_a_hang_ends_and_what_is_left_does_not_agree(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LIMITS", Limits(case_seconds=0.3))
    cell = only(compare(folder, "Hangs"))
    assert cell.fields == {name: [0, COUNT] for name in ("ids", "tokens", "spans", "text")}
    said = "gave no reply 5 times in a row, the last time timeout: no reply within 0.3 seconds"
    assert cell.reason == f"{said}, with {COUNT} of {COUNT} texts left"


def test_a_cell_takes_no_longer_than_it_may(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CELL_SECONDS", -1.0)
    assert only(compare(folder, "Own")).reason == f"took more than -1 s, with {COUNT} of {COUNT} texts left"


def test_what_is_not_loaded_says_why(folder: Path) -> None:
    cell = only(compare(folder, "Refuses"))
    assert (cell.fields, cell.share(), cell.reason) == ({}, None, "does not load it: has no BPE")


@pytest.mark.long
def test_only_what_is_missing_is_computed(folder: Path) -> None:
    computed: list[bool] = []
    vocabularies = Vocabularies(folder, read_list(listed("Right", "Own")))
    (first,) = vocabularies.compare(1, computed.append)
    (again,) = vocabularies.compare(1, computed.append)
    assert (computed, again) == ([True, True, False, False], first)
    next((folder / "cells").glob("toy-own*")).unlink()
    vocabularies.compare(1, computed.append)
    assert computed[4:] == [False, True]
    (folder / "toy.json").write_text(json.dumps({**TOY, "decoder": {"type": "Fuse"}}), "utf-8")
    vocabularies.compare(1, computed.append)
    assert computed[6:] == [True, True]


def test_a_file_that_cannot_be_read_is_named(folder: Path) -> None:
    (folder / "toy.json").write_text('{"model": {"type": "Unknown", "vocab": {}}}', "utf-8")
    column = compare(folder, "Right")
    assert column.cells == {}
    assert column.fault == "toy.json is a tokenizer.json that cannot be converted: tokenizer.json: model: is of type \"Unknown\", which the specification does not cover; it reads BPE, WordPiece, WordLevel, Unigram"  # fmt: skip


def run(*arguments: str) -> tuple[int, list[str]]:
    done = CliRunner().invoke(group, ["matrix", *arguments], standalone_mode=False)
    lines = [str(done.exception)] if isinstance(done.exception, DataError) else done.stdout.splitlines()
    return done.exit_code if done.exception else done.return_value, lines


def test_a_file_that_cannot_be_read_is_no_success(folder: Path) -> None:
    (folder / "toy.json").write_text('{"model": {"type": "Unknown", "vocab": {}}}', "utf-8")
    status, lines = run("--list", str(listed("Right")), "--vocabularies", str(folder))
    assert (status, lines[-1].partition(" in ")[0]) == (2, "0 cells computed and 0 kept,")


@pytest.mark.long
def test_the_command_shows_a_table(folder: Path) -> None:
    file = listed("Right", "Own", "Refuses", "Missing")
    status, lines = run("--list", str(file), "--vocabularies", str(folder))
    assert (status, lines[:4]) == (
        0,
        [
            "implementation    1 ids tokens spans text",
            f"right {__version__}    ~100 100    100   100  100",
            f"own {__version__}       100 100    100   100  100",
            f"refuses {__version__}     ·   ·      ·     ·    ·",
        ],
    )
    assert lines[5].endswith("The last columns are over all files: 1 toy (tokenizer.json).")
    assert lines[7:9] == [
        "mine:Missing: not here: cannot be found: module 'mine' has no attribute 'Missing'",
        f"refuses {__version__}: toy: does not load it: has no BPE",
    ]
    assert lines[10].startswith("3 cells computed and 0 kept, in ")
    status, lines = run("--list", str(file), "--vocabularies", str(folder), "--format", "markdown")
    assert lines[:3] == [
        "| implementation | 1 | ids | tokens | spans | text |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        f"| right {__version__} | ~100 | 100 | 100 | 100 | 100 |",
    ]
    assert r"- mine\:Missing\: not here\: cannot be found\: module 'mine' has no attribute 'Missing'" in lines
    assert lines[-1].startswith("0 cells computed and 3 kept, in ")


def test_a_folder_without_files_is_refused(folder: Path) -> None:
    (folder / "toy.json").unlink()
    status, lines = run("--list", str(listed("Own")), "--vocabularies", str(folder))
    assert (status, lines) == (1, [f"{folder}: has no files; conformance/tests/shipped/fetch.py fetches some"])


def test_a_file_that_is_no_vocabulary_is_refused(folder: Path) -> None:
    (folder / "readme.md").write_text("x", "utf-8")
    status, lines = run("--list", str(listed("Own")), "--vocabularies", str(folder))
    said = "is not named like a vocabulary; keep only vocabularies in this folder"
    assert (status, lines) == (1, [f"{folder / 'readme.md'}: {said}"])


def test_a_cell_that_is_none_is_refused(folder: Path) -> None:
    compare(folder, "Own")
    (cell,) = (folder / "cells").iterdir()
    cell.write_text("{}\n", "utf-8")
    with pytest.raises(DataError, match=r"is no cell of the matrix of vocabularies; remove it, and start again$"):
        compare(folder, "Own")
