"""``tokspec matrix --model``: what each implementation makes of a user's file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

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


ASKED = ("matrix", "--model", "tokenizer.json", "--made", "0")


@pytest.mark.usefixtures("ports")
def test_each_is_asked_about_the_file_and_the_best_comes_first(run: Run) -> None:
    status, out, _ = run(*ASKED, "--impl", "ports:Wrong", "--impl", "ports:Refuses", "--impl", "ports:Right")
    assert status == 2  # one that is named cannot be asked
    head, right, wrong, refuses = (line.split("  ") for line in out.splitlines())
    cells = [[cell.strip() for cell in line if cell.strip()] for line in (head, right, wrong)]
    assert cells[0] == ["implementation", "gets", "model input", "text", "positions", "most often"]
    of = int(cells[1][2].split(" of ")[1].replace(",", ""))
    assert cells[1][:3] == ["right 1", "your file", f"{of:,} of {of:,}"]
    assert cells[1][4] == "·"
    assert cells[2][:3] == ["wrong 1", "your file", f"{of - 2:,} of {of:,}"]  # "ab" is a token, and two in a row
    assert cells[2][4].startswith(f"{int(cells[2][4].split(' of ')[1]) - 1:,} of ")
    assert cells[2][5] == 'encode: cuts where A does not, at letters (latin): 2, as "ab"'
    assert "".join(refuses) == "refuses 1: refuses the model: invalid_model: no BPE here"


@pytest.mark.usefixtures("ports")
def test_a_table_in_markdown(run: Run) -> None:
    status, out, _ = run(*ASKED, "--impl", "ports:Right", "--format", "markdown")
    lines = out.splitlines()
    assert (status, lines[:2]) == (
        0,
        [
            "| implementation | gets | model input | text | positions | most often |",
            "| --- | --- | ---: | ---: | ---: | --- |",
        ],
    )
    assert lines[2].startswith("| right 1 | your file | ")


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
    assert (status, out.splitlines()) == (2, [said])


def test_names_need_a_model(run: Run) -> None:
    status, _, err = run("matrix", "--impl", "tokenizers")
    message = "--impl is for --model FILE; without it the list says who is judged"
    assert (status, err) == (2, f"tokspec: {message}; see tokspec matrix --help\n")
