"""``tokspec matrix --model``: what each implementation makes of a user's file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tokspec.results import recorded
from tokspec.results.one_file import FileRow
from tokspec.results.recorded import RESULTS, Recorded, read_results, write_results
from tokspec.suite.packs import ENDING, packs_folder
from tokspec.suite.recordings import read_recording

Run = Callable[..., tuple[int, str, str]]

MODEL = {
    "version": "1.0",
    "added_tokens": [],
    "model": {"type": "BPE", "unk_token": "?", "vocab": {"?": 0, "a": 1, "b": 2, "ab": 3}, "merges": [["a", "b"]]},
}

PORTS = """
from tokspec.adapter import Hello, Refusal
from tokspec.adapters.tokfast import TokfastAdapter

class Right:
    name = "right"
    fields = ("ids",)
    def __init__(self): self.inner = TokfastAdapter()
    def hello(self):
        return Hello(self.name, "1", "Python", ("encode", "decode"), ("tokenizer.json",), encode_fields=self.fields)
    def load(self, format, content):
        from tokspec.formats import read
        return self.inner.load("tokspec", read("tokenizer.json", content))
    def run(self, operation, model, input):
        found = self.inner.run(operation, model, input)
        return {name: found[name] for name in ("text", *self.fields) if name in found}

class Wrong(Right):
    name = "wrong"
    fields = ("ids", "spans")
    def run(self, operation, model, input):
        found = super().run(operation, model, input)
        if operation == "encode" and input["text"] == "ab":
            found = {"ids": [1, 2], "spans": [[0, 1], [1, 2]]}
        if operation == "encode" and input["text"] == "https://www.example.org/":
            found["spans"][0] = [0, 2]
        return {"text": found["text"].upper()} if operation == "decode" else found

class Refuses(Right):
    name = "refuses"
    def load(self, format, content):
        raise Refusal("invalid_model", "no BPE here")
"""


@pytest.fixture
def ports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ports.py").write_text(PORTS, "utf-8")
    (tmp_path / "tokenizer.json").write_text(json.dumps(MODEL), "utf-8")
    monkeypatch.chdir(tmp_path)


WITHOUT = "Without a result, because they do not load the file or cannot be asked:"

ASKED = ("matrix", "--model", "tokenizer.json", "--made", "0")


@pytest.mark.usefixtures("ports")
def test_each_is_asked_about_the_file_and_the_best_comes_first(run: Run) -> None:
    status, out, _ = run(*ASKED, "--impl", "ports:Wrong", "--impl", "ports:Refuses", "--impl", "ports:Right")
    assert status == 2  # one that is named cannot be asked
    head, right, wrong, heading, refuses = (line.split("  ") for line in out.splitlines())
    cells = [[cell.strip() for cell in line if cell.strip()] for line in (head, right, wrong)]
    assert cells[0] == ["implementation", "language", "gets", "model input", "text", "positions", "most often"]
    of = int(cells[1][3].split(" of ")[1].replace(",", ""))
    assert cells[1][:4] == ["right 1", "Python", "your file", f"{of:,} of {of:,}"]
    assert cells[1][5] == "·"
    assert cells[2][:4] == [
        "wrong 1",
        "Python",
        "your file",
        f"{of - 2:,} of {of:,}",
    ]  # "ab" is a token, and two in a row
    assert cells[2][5].startswith(f"{int(cells[2][5].split(' of ')[1]) - 1:,} of ")
    assert cells[2][6] == 'encode: cuts where A does not, at letters (latin): 2, as "ab"'
    assert heading == [WITHOUT]
    assert "".join(refuses) == "refuses 1: refuses the model: invalid_model: no BPE here"


@pytest.mark.usefixtures("ports")
def test_a_table_in_markdown(run: Run) -> None:
    status, out, _ = run(*ASKED, "--impl", "ports:Right", "--format", "markdown")
    lines = out.splitlines()
    assert (status, lines[:2]) == (
        0,
        [
            "| implementation | language | gets | model input | text |",
            "| --- | --- | --- | ---: | ---: |",
        ],
    )
    assert lines[2].startswith("| right 1 | Python | your file | ")


@pytest.mark.usefixtures("ports")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ports:Refuses", "refuses 1: refuses the model: invalid_model: no BPE here"),
        ("ports:Missing", "ports:Missing: cannot be found: module 'ports' has no attribute 'Missing'"),
    ],
)
def test_who_cannot_be_asked_is_no_success(run: Run, name: str, said: str) -> None:
    status, out, _ = run(*ASKED, "--impl", name)
    assert (status, out.splitlines()) == (2, [WITHOUT, f"  {said}"])


def test_names_need_a_model(run: Run) -> None:
    status, _, err = run("matrix", "--impl", "tokenizers")
    message = "--impl needs --model FILE; without it, the list says what is judged"
    assert (status, err) == (2, f"tokspec: {message}; see tokspec matrix --help\n")


#: Two libraries, the second of which gets one text wrong, and one that does not load the file.
RECORDED = Recorded(
    "hug-1",
    "tokenizer.json",
    "tokenizer.json",
    "npm hug 1.0.0",
    "ab" * 32,
    "bpe",
    {"one 1": "2026-11-01", "two 2": "2026-11-02", "three 3": "2026-11-02"},
    [
        FileRow("one 1", "Rust", "", (1200, 1200), (300, 300)),
        FileRow("two 2", "Go", "", (1199, 1200), (300, 300), worst='encode: other merges, as "hug"'),
        FileRow("three 3", "Java", reason="refuses the model: invalid_model: no BPE here"),
    ],
)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(recorded, "fixtures_folder", lambda: tmp_path)
    write_results(tmp_path / RESULTS, {"hug-1": RECORDED})
    return tmp_path / RESULTS


def test_what_is_recorded_is_read_as_it_was_written(results: Path) -> None:
    write_results(results, {"pug": replace(RECORDED, name="pug", rows=RECORDED.rows[::-1]), "hug-1": RECORDED})
    assert read_results() == {"hug-1": RECORDED, "pug": replace(RECORDED, name="pug")}


@pytest.mark.usefixtures("results")
def test_a_name_shows_what_is_recorded(run: Run) -> None:
    assert run("matrix", "--model", "hug-1")[:2] == (
        0,
        """hug-1: recorded results for tokenizer.json of npm hug 1.0.0, judged by its pack from 2026-11-01 to 2026-11-02.
model input: texts with the right ids; text: ids that are decoded to the right text.
For your own file: tokspec matrix --model FILE

implementation  language     model input        text  most often
one 1           Rust      1,200 of 1,200  300 of 300
two 2           Go        1,199 of 1,200  300 of 300  encode: other merges, as "hug"
Without a result, because they do not load the file or cannot be asked:
  three 3: refuses the model: invalid_model: no BPE here

These texts are short, so nothing is truncated. What else a library gets wrong: tokspec bugs LIBRARY
""",
    )


def test_a_name_shows_who_loads_another_file_of_the_model(results: Path, run: Run) -> None:
    other = [
        FileRow("two 2", "Go", "", (9, 9)),
        FileRow("four 4", "Python, Rust", "", (9, 9)),
        FileRow("five 5", reason="no"),
    ]
    asked = {row.who: "2026-11-02" for row in other}
    names = {"hug-1": RECORDED} | {
        name: replace(RECORDED, rows=other, asked=asked) for name in ("hug-1-ranks", "hug-2")
    }
    write_results(results, names)
    assert run("matrix", "--model", "HUG-1")[1].splitlines()[9:] == [
        "",
        "Libraries that load hug-1-ranks (tokenizer.json), but not hug-1: four 4 (Python, all right)",
        "These texts are short, so nothing is truncated. What else a library gets wrong: tokspec bugs LIBRARY",
    ]


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--html", "site"), "--html writes the results of all models; leave out --model"),
        (("--impl", "tokfast"), "--impl needs --model FILE; with a name, the results of all libraries are shown"),
    ],
)
def test_a_name_goes_with_no_other_option(run: Run, options: tuple[str, str], message: str) -> None:
    status, _, err = run("matrix", "--model", "hug-1", *options)
    assert (status, err) == (2, f"tokspec: {message}; see tokspec matrix --help\n")


def test_totals_that_differ_are_explained(results: Path, run: Run) -> None:
    """A library that cannot encode pairs is asked for fewer texts; one that stops gives its own reason."""
    rows = [
        FileRow("one 1", "Rust", "", (1200, 1200), (300, 300)),
        FileRow("two 2", "Go", "", (1100, 1100), (300, 300)),
    ]
    write_results(results, {"hug-1": replace(RECORDED, rows=rows)})
    note = "Totals differ because each library is judged only on what it offers; some cannot encode pairs, for example."
    stopped = [rows[0], replace(rows[1], reason="gave up after 1,100 texts")]
    assert run("matrix", "--model", "hug-1")[1].splitlines()[7:8] == [note]
    markdown = run("matrix", "--model", "hug-1", "--format", "markdown")[1]
    assert markdown.splitlines()[-5:-2] == ["", note, ""]
    write_results(results, {"hug-1": replace(RECORDED, rows=stopped)})
    assert run("matrix", "--model", "hug-1")[1].splitlines()[7:8] == ["two 2: gave up after 1,100 texts"]


@pytest.mark.usefixtures("results")
def test_a_name_of_which_nothing_is_recorded(run: Run) -> None:
    for name in ("hug-2", "Hug-1-instruct-of-somebody"):
        status, _, err = run("matrix", "--model", name)
        assert (status, err) == (
            2,
            f"tokspec: {name}: there is no such file, and no recorded tokenizer of that name; did you mean hug-1? there are hug-1; for another tokenizer give its file\n",
        )


#: The library for which files of a format are made.
LIBRARIES = {
    "tokenizer.json": "tokenizers ",
    "sentencepiece.model": "sentencepiece ",
    "vocab.tiktoken": "tiktoken 0",
    "tekken.json": "mistral-common",
}


def test_what_is_recorded_is_of_the_packs_and_their_library_is_right() -> None:
    results = read_results()
    assert {"llama-3.1", "gpt2", "bert", "qwen-3"} <= results.keys()
    for name, result in results.items():
        assert result.sha256 == read_recording(packs_folder() / f"{name}{ENDING}").header.model["sha256"]
        (row,) = [row for row in result.rows if row.who.startswith(LIBRARIES[result.format])]
        assert (name, row.input[0], row.text[0]) == (name, row.input[1], row.text[1])
        assert row.input[1] >= 300
