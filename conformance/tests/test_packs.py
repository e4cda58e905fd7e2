"""Packs: read, found by name, judged as cases of the user's own file, and refused where they are wrong."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tokspec.base.errors import DataError
from tokspec.cli import tokspec as group
from tokspec.formats.user_model import UserModel
from tokspec.suite import packs
from tokspec.suite.packs import cases_of, find_pack
from tokspec.suite.recordings import Header, read_recording, write_recording

MODEL = json.dumps(
    {
        "version": "1.0",
        "added_tokens": [
            {"id": 3, "content": "[SEP]", "special": True}
            | dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}},
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {"[UNK]": 0, "hug": 1, "##s": 2, "[SEP]": 3},
        },
    }
)
HEADER: dict[str, Any] = {
    "tokspec_pack": 1,
    "name": "toy",
    "files": {"tokenizer.json": sha256(MODEL.encode()).hexdigest()},
    "agreed": [{"name": "one", "version": "1", "lines": 2}, {"name": "another", "version": "2", "lines": 2}],
    "suite": "0.2.0",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tokenizer.json").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_pack(*lines: dict[str, Any], header: dict[str, Any] = HEADER) -> Path:
    file = Path("toy.pack.jsonl")
    file.write_text("".join(json.dumps(line) + "\n" for line in (header, *lines)))
    return file


def run(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["run", *arguments])


LINES = (
    {"text": "hugs", "ids": [1, 2, 3], "decoded": "hugs [SEP]", "why": "a word"},
    {"text": "hugs hug", "add_special_tokens": False, "ids": [1, 2, 1]},
    {"text": "", "add_special_tokens": False, "ids": [], "decoded": None},
)


@pytest.mark.parametrize("impl", ["reference", "tokfast", "tokenizers"])
def test_a_pack_is_judged_with_the_file_of_the_user(folder: Path, impl: str) -> None:
    done = run("--pack", str(write_pack(*LINES)), "--model", "tokenizer.json", "--impl", impl)
    *lines, last = done.stdout.splitlines()
    assert last.partition(" conforms: ")[2] == "5 cases = 5 pass"
    assert [line.split() for line in lines] == [  # a pack says nothing of chapters and profiles
        ["effect", "asked", "right", "failing"],
        ["model", "input", "3", "3", "·"],
        ["text", "2", "2", "·"],
        [],
    ]
    assert done.stderr == ""


def test_a_wrong_line_is_shown_with_its_place_and_the_command(folder: Path) -> None:
    wrong = {"text": "hug", "add_special_tokens": False, "ids": [2]}
    done = run("--pack", str(write_pack(*LINES, wrong)), "--model", "tokenizer.json", "--impl", "tokenizers")
    lines = done.stdout.splitlines()
    assert lines[0] == "FAIL toy-0005-encode  (toy.pack.jsonl:5)"
    again = "tokspec run --impl tokenizers --pack toy.pack.jsonl --model tokenizer.json --select toy-0005-encode"
    assert f"  again     {again}" in lines
    assert lines[-1] == "tokenizers 0.23.3 does not conform: 7 cases = 5 pass + 2 fail"
    selected = run(*again.split()[2:])
    assert selected.stdout.splitlines()[-1] == "tokenizers 0.23.3 does not conform: 1 case = 1 fail"


#: A port that adds nothing, and has no option to say so.
PORT = """
from tokspec.adapter import Hello
class Port:
    def hello(self):
        return Hello("port", "1", "C", ("encode",), formats=("tokenizer.json",), encode_fields=("ids",))
    def load(self, format, content):
        return content["model"]["vocab"]
    def run(self, operation, model, input):
        assert list(input) == ["text"]
        return {"ids": [1, 2, 1] if input["text"] else []}
"""


def test_a_port_without_the_option_is_taken_to_add_nothing(folder: Path) -> None:
    Path("port.py").write_text(PORT)
    lines = (LINES[1], LINES[2], {**LINES[0], "add_special_tokens": True})
    arguments = ("--pack", str(write_pack(*lines)), "--model", "tokenizer.json", "--impl", "port:Port")
    done = run(*arguments)
    expected = "port 1 conforms: 2 of 5 cases asked = 2 pass, 3 unsupported"
    assert done.stdout.splitlines()[-1] == expected
    assert run(*arguments, "--verify").stdout.splitlines()[-1] == expected


def test_another_file_is_told(folder: Path) -> None:
    file = write_pack(*LINES, header=HEADER | {"files": {"tokenizer.json": "0" * 64}})
    done = run("--pack", str(file), "--model", "tokenizer.json")
    assert done.stderr == "tokenizer.json is not the file that the pack toy was made from\n"


def test_packs_of_the_suite_have_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "packs_folder", lambda: folder)
    file = write_pack(*LINES)
    assert (find_pack("toy"), find_pack(str(file))) == (folder / file, file)
    with pytest.raises(DataError) as caught:
        find_pack("toi")
    assert str(caught.value) == "toi: is neither a file nor a pack; did you mean toy? there are toy"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pack", "toy"], "--pack and --model belong together: a pack is judged with the tokenizer's own file"),
        (["--model", "tokenizer.json"], "--pack and --model belong together"),
        (
            ["--pack", "toy.pack.jsonl", "--model", "tokenizer.json", "--fixtures-version", "0.1.0"],
            "--pack replaces the fixtures; leave out --fixtures and --fixtures-version",
        ),
        (["--pack", "toy.pack.jsonl", "--model", "nothing.json"], "nothing.json: cannot be read"),
    ],
)
def test_options_that_do_not_fit_are_refused(folder: Path, arguments: list[str], message: str) -> None:
    write_pack(*LINES)
    done = run(*arguments)
    assert done.exit_code != 0
    assert message in done.output + str(done.exception)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["{}"], "toy.pack.jsonl:1: is not a recording: its first line is not a header; tokspec record writes one"),
        (['{"tokspec_pack": 1}'], "toy.pack.jsonl:1: lacks the key name"),
        ([json.dumps(HEADER)], "toy.pack.jsonl: has no text with ids; a pack has a header and some texts"),
        ([json.dumps(HEADER), "hugs"], "toy.pack.jsonl:2: a line is not JSON"),
        ([json.dumps(HEADER), '{"text":"a","ids":["1"]}'], 'toy.pack.jsonl:2: ids.0: "1" is not of types'),
        ([json.dumps(HEADER), '{"text":"a","ids":[1.5]}'], "toy.pack.jsonl:2: ids.0: 1.5 is not of types"),
        ([json.dumps(HEADER), '{"text":"a","ids":[1e300]}'], "toy.pack.jsonl:2: 1e+300 is not an integer"),
        (
            [json.dumps(HEADER), '{"text":"a","ids":[1],"id":1}'],
            "toy.pack.jsonl:2: id: is an unknown key; did you mean ids?",
        ),
    ],
)
def test_what_is_wrong_with_a_pack_is_said(folder: Path, lines: list[str], message: str) -> None:
    file = Path("toy.pack.jsonl")
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError) as caught:
        cases_of(read_recording(file), UserModel("tokenizer.json", {}, "tokenizer.json", ""))
    assert str(caught.value).startswith(message)


def test_a_pack_is_compared_with_where_all_lines_are_asked_alike(folder: Path) -> None:
    file = write_pack(*LINES)
    done = CliRunner().invoke(group, ["diff", str(file), "tokenizers", "--model", "tokenizer.json"])
    assert (done.exit_code, done.output) == (1, "")
    message = "encodes some lines with special tokens or in pairs; judge by it with tokspec run --pack"
    assert str(done.exception) == f"toy.pack.jsonl: {message}"
    who = {"name": "tokenizers", "version": "0.23.3", "language": "Rust"}
    model = {"file": "tokenizer.json", "format": "tokenizer.json", "sha256": sha256(MODEL.encode()).hexdigest()}
    lines = [{"text": "hugs", "ids": [1, 2]}, {"text": "hug", "ids": [2], "decoded": "##s"}]
    write_recording(file, Header("0.3.0", who, {}, model, "as called", ("encode", "decode"), {}), lines)
    done = CliRunner().invoke(group, ["diff", str(file), "tokenizers", "--model", "tokenizer.json"])
    assert (
        done.stdout.splitlines()[-1] == "A and B differ in 1 (50 %) of 2 inputs, 7 bytes; 1 (33.3 %) of 3 tokens differ"
    )
