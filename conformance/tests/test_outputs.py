"""Files that commands write: none is lost, and nothing but an ordinary file is written to."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tokspec.base.errors import DataError
from tokspec.base.files import resolve_output, write_whole
from tokspec.cli.options import files_of_implementation, refuse_outputs

Run: TypeAlias = Callable[..., tuple[int, str, str]]

MODEL = ("--model", "tokenizer.json")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all that may stand where a file is to be written, a model, a text and a report."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
    Path("loop").symlink_to("loop")
    Path("folder").mkdir()
    Path("texts").mkdir()
    Path("texts/a.txt").write_text("a bug\n")
    for file in ("tokenizer.json", "r.ndjson"):  # which are looked at after the outputs
        Path(file).write_text("{}\n")
    return tmp_path


NO_FILE = {
    "pipe": "it is not a regular file",
    "socket": "it is not a regular file",
    "/dev/null": "it is not a regular file",
    "folder": "Is a directory",
    ".": "Is a directory",
    "loop": "Too many levels of symbolic links",
    "r.ndjson/r": "Not a directory",
}

#: A command with each option that writes a file.
WRITERS = {
    "run --report": ("run", "--select", "bpe-toy-encode-bug", "--report"),
    "run --junit": ("run", "--select", "bpe-toy-encode-bug", "--junit"),
    "cases --bundle": ("cases", "--bundle"),
    "model -o": ("model", "toy-bpe", "--format", "tokenizer.json", "-o"),
    "report -o": ("report", "r.ndjson", "-o"),
    "report --html": ("report", "r.ndjson", "--html"),
    "diff --junit": ("diff", "reference", "tokfast", *MODEL, "--made", "1", "--junit"),
}


def kinds(folder: Path) -> dict[str, int]:
    return {path.name: path.lstat().st_mode for path in folder.iterdir()}


@pytest.mark.parametrize("command", WRITERS)
def test_only_an_ordinary_file_is_written(here: Path, run: Run, command: str) -> None:
    before = kinds(here)
    for place, what in NO_FILE.items():
        if command == "cases --bundle" and what == "Is a directory":
            what = f"Invalid value for '--bundle': File '{place}' is a directory; see tokspec cases --help"
            assert run(*WRITERS[command], place) == (2, "", f"tokspec: {what}\n")
        else:
            assert run(*WRITERS[command], place) == (2, "", f"tokspec: {place}: cannot be written: {what}\n")
    assert kinds(here) == before


@pytest.mark.parametrize("place", NO_FILE)
def test_a_recording_and_a_report_by_its_ending_are_refused_likewise(here: Path, run: Run, place: str) -> None:
    Path("a.ndjson").symlink_to(place)
    what = "Not a directory" if place == "r.ndjson/r" else NO_FILE[place]
    message = f"tokspec: a.ndjson: cannot be written: {what}\n"
    compared = ("diff", "reference", "tokfast", *MODEL, "--made", "1", "--report", "a.ndjson")
    assert run(*compared) == (2, "", message)
    if what == "Is a directory":
        message = "tokspec: a.ndjson: --output: is a folder; give the name of the recording in it\n"
    assert run("record", "reference", *MODEL, "--made", "1", "-o", "a.ndjson") == (2, "", message)


def test_known_failures_are_written_into_an_ordinary_file(here: Path, run: Run) -> None:
    command = ("run", "--select", "bpe-toy-encode-bug", "--update-known-failures", "--known-failures")
    assert run(*command, "loop") == (2, "", "tokspec: loop: cannot be written: Too many levels of symbolic links\n")
    assert run(*command, "pipe") == (2, "", "tokspec: pipe: is not a regular file\n")


def test_several_files_of_a_model_are_written_all_or_none(here: Path, run: Run) -> None:
    command = ("model", "byte-level-256", "--format", "vocab.json+merges.txt", "-o", "folder")
    Path("folder/merges.txt").symlink_to("../pipe")
    assert run(*command) == (2, "", "tokspec: folder/merges.txt: cannot be written: it is not a regular file\n")
    assert sorted(kinds(Path("folder"))) == ["merges.txt"]
    Path("folder/merges.txt").unlink()
    assert run(*command)[0] == 0
    assert sorted(kinds(Path("folder"))) == ["merges.txt", "vocab.json"]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["there", "not-there"])
def test_a_link_stays_and_what_it_points_to_is_written(here: Path, run: Run, target: str) -> None:
    Path("there").write_text("before")
    Path("link").symlink_to(target)
    assert run("model", "toy-bpe", "--format", "tokenizer.json", "-o", "link") == (0, "", "")
    assert Path("link").is_symlink()
    assert Path(target).read_bytes().startswith(b'{"version"')


def test_the_longest_name_is_written(tmp_path: Path) -> None:
    file = tmp_path / ("n" * 255)
    write_whole(file, "bug")
    assert ([each.name for each in tmp_path.iterdir()], file.read_text()) == (["n" * 255], "bug")


def replaced(file: str, option: str, what: str) -> str:
    return f"tokspec: {file}: {option}: is the file that {what} names, and would be overwritten; give another\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "r.ndjson", "-o", "./r.ndjson"), replaced("r.ndjson", "--output", "FILE")),
        (("report", "r.ndjson", "--html", "r.ndjson"), replaced("r.ndjson", "--html", "FILE")),
        (("report", "--compare", "r.ndjson", "r.ndjson", "-o", "r.ndjson"), replaced("r.ndjson", "--output", "FILE")),
        (("diff", "p.ndjson", "reference", "--report", "p.ndjson"), replaced("p.ndjson", "--report", "A")),
        (("diff", "reference", "p.ndjson", "--junit", "p.ndjson"), replaced("p.ndjson", "--junit", "B")),
        (("diff", "reference", "python3 p.py", "--junit", "p.py"), replaced("p.py", "--junit", "B")),
        (
            ("diff", "reference", "tokfast", *MODEL, "--junit", "tokenizer.json"),
            replaced("tokenizer.json", "--junit", "--model"),
        ),
        (
            ("diff", "reference", "tokfast", "--model", "gpt2", "--junit", "gpt2/merges.txt"),
            replaced("gpt2/merges.txt", "--junit", "--model"),
        ),
        (
            ("diff", "reference", "tokfast", *MODEL, "--model-b", "b.json", "--junit", "hard"),
            replaced("hard", "--junit", "--model-b"),
        ),
        (
            ("diff", "reference", "tokfast", "texts", *MODEL, "--junit", "texts/a.txt"),
            replaced("texts/a.txt", "--junit", "FILES"),
        ),
        (
            ("diff", "reference", "tokfast", "texts/*.txt", *MODEL, "--junit", "texts/a.txt"),
            replaced("texts/a.txt", "--junit", "FILES"),
        ),
        (
            ("record", "reference", "t.ndjson", *MODEL, "-o", "t.ndjson"),
            replaced("t.ndjson", "--output", "FILES"),
        ),
        (
            ("record", "python3 p.py a.ndjson", *MODEL, "-o", "a.ndjson"),
            replaced("a.ndjson", "--output", "IMPLEMENTATION"),
        ),
        (("run", "--fixtures", "fix", "--report", "fix/x.yaml"), replaced("fix/x.yaml", "--report", "--fixtures")),
        (("run", "--impl", "python3 p.py", "--junit", "p.py"), replaced("p.py", "--junit", "--impl")),
        (("run", "--impl", "p:Adapter", "--junit", "p.py"), replaced("p.py", "--junit", "--impl")),
        (("cases", "--fixtures", "fix", "--bundle", "fix/x.yaml"), replaced("fix/x.yaml", "--bundle", "--fixtures")),
        (
            ("model", "toy-bpe", "--fixtures", "fix", "-o", "fix/x.yaml"),
            replaced("fix/x.yaml", "--output", "--fixtures"),
        ),
        (
            ("report", "r.ndjson", "-o", "z", "--html", "z"),
            "tokspec: --output and --html name the same file; give each its own; see tokspec report --help\n",
        ),
    ],
)
def test_no_output_replaces_an_input(here: Path, run: Run, arguments: tuple[str, ...], message: str) -> None:
    for file in (
        "p.ndjson",
        "p.py",
        "b.json",
        "t.ndjson",
        "a.ndjson",
        "fix/x.yaml",
        "gpt2/vocab.json",
        "gpt2/merges.txt",
    ):
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).write_text("{}\n")
    Path("hard").hardlink_to("b.json")
    Path("p.ndjson").write_bytes(Path("r.ndjson").read_bytes())
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    assert run(*arguments) == (2, "", message)
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


def test_inputs_are_not_looked_for_without_an_output() -> None:
    def never() -> Iterator[Path]:
        raise AssertionError("looked for")
        yield

    refuse_outputs({"--report": None}, {"--fixtures": never()})


def test_a_name_that_is_no_command_line_stands_for_no_files() -> None:
    assert [
        *files_of_implementation('an open "quote'),
        *files_of_implementation("n" * 5000),
        *files_of_implementation(None),
    ] == []


def test_an_output_that_is_not_there_yet_is_found_through_its_links(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("new")
    assert resolve_output(tmp_path / "link") == (tmp_path / "new").resolve()
    with pytest.raises(DataError, match=r"^\.: cannot be written: Is a directory$"):
        resolve_output(Path())


def test_init_leaves_what_it_did_not_make(here: Path, run: Run) -> None:
    message = "tokspec: loop: cannot be written: File exists; no files were left behind\n"
    assert run("init", "--lang", "python", "loop") == (2, "", message)
    assert Path("loop").is_symlink()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["nope"], ["run", "--impl", "nope"], ["report", "missing"]])
def test_the_exit_status_stays_where_nothing_can_be_said(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-m", "tokspec", *arguments], stderr=full, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.slow
def test_the_exit_status_stays_where_nobody_listens() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-m", "tokspec", "run", "--impl", "nope"], stderr=writing, stdout=writing)
    os.close(writing)
    assert done.returncode == 2


def test_too_little_memory_is_one_line(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("tokspec.cli.cases.load_suite", fail)
    message = "tokspec: there is not enough memory; give it more, or less to do\n"
    assert run("cases") == (2, "", message)


def test_choices_contradict_nothing(run: Run) -> None:
    given = ("--choice", "unknown_id=error", "--choice", "unknown_id=skipped")
    message = "tokspec: --choice: unknown_id cannot be both error and skipped; give one of them\n"
    assert run("run", "--select", "bpe-toy-encode-bug", *given) == (2, "", message)


@pytest.mark.slow
def test_an_empty_name_is_shown(run: Run) -> None:
    assert run("run", "--impl", "@")[2].startswith("tokspec: @: is not installed; installed are ")
    message = "tokspec: '': is not an environment: it has neither bin/python nor Scripts/python.exe\n"
    assert run("run", "--impl", "tokenizers@") == (2, "", message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("record", "x", *MODEL, "-o", "a.ndjson", "--made", "9" * 20), "--made': {} is not in the range 0<=x<=1000000000"),
        (("diff", "a", "b", "--made", "9" * 20), "--made': {} is not in the range 0<=x<=1000000000"),
        (("fuzz", "--show", "9" * 20), "--show': {} is not in the range 0<=x<=1000000000"),
        (("run", "--max-failures", "9" * 20), "--max-failures': {} is not in the range 1<=x<=1000000000"),
        (("run", "--memory-mb", "1e+20"), "--memory-mb': {} is not in the range 0<=x<=1000000000"),
        (("fuzz", "--examples", "9" * 20), "--examples': {} is not in the range 1<=x<=1000000000"),
        (("diff", "a", "b", "--jobs", "9" * 20), "--jobs': {} is not in the range 1<=x<=256"),
        (("diff", "a", "b", "--unit-mb", "nan"), "--unit-mb': {} is not a number"),
        (("diff", "a", "b", "--unit-mb", "inf"), "--unit-mb': {} is not in the range 0<x<=1000000"),
        (("diff", "a", "b", "--sample", "nan"), "--sample': {} is not a number"),
    ],
)  # fmt: skip
def test_numbers_beyond_use_are_refused(run: Run, arguments: tuple[str, ...], message: str) -> None:
    said = f"tokspec: Invalid value for '{message.format(arguments[-1])}; see tokspec {arguments[0]} --help\n"
    assert run(*arguments) == (2, "", said)
