"""``tokspec model``: models of the fixtures as files, and files as models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tokspec.formats import READERS
from tokspec.formats.neutral import fill_defaults
from tokspec.formats.tiktoken_ranks import from_bytes
from tokspec.suite.fixtures import load_suite
from tokspec.suite.strict_yaml import parse_yaml, read_yaml


@pytest.mark.slow
def test_the_model_of_a_case_is_printed_as_programs_get_it(run: Any) -> None:
    status, printed, _ = run("model", "bpe-toy-encode-bug")
    assert (status, json.loads(printed)) == (0, fill_defaults(load_suite().cases["bpe-toy-encode-bug"].model.content))


@pytest.mark.slow
def test_a_model_is_written_and_read_as_a_fixture(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    assert run("model", "four-sentences-lower-bpe", "--format", "tokenizer.json", "-o", file) == (0, "", "")
    status, printed, _ = run("model", "--read", file)
    (tmp_path / "model.yaml").write_text(printed, "utf-8")
    model = load_suite().cases["bpe-four-lower-encode-document"].model
    assert (status, model.name) == (0, "four-sentences-lower-bpe")
    assert read_yaml(tmp_path / "model.yaml").value == fill_defaults(model.content)


def test_several_files_are_written_into_a_folder(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "gpt2"
    told = '{"type": "bpe", "unknown_token": "[UNK]"}'
    status, printed, noted = run("model", "toy-bpe", "--format", "vocab.json+merges.txt", "-o", folder)
    assert (status, printed, noted) == (
        0,
        "",
        f"{folder}: the file does not contain this, so tell its loader: {told}\n",
    )
    assert {file.name for file in folder.iterdir()} == {"vocab.json", "merges.txt"}
    assert (folder / "merges.txt").read_text("utf-8") == "#version: 0.2\nu g\nu n\nh ug\n"
    vocabulary = '["[UNK]", "b", "g", "h", "n", "p", "s", "u", "ug", "un", "hug"]'
    expected = f'type: "bpe"\nvocabulary: {vocabulary}\nmerges: [["u", "g"], ["u", "n"], ["h", "ug"]]\n'
    assert run("model", "--read", folder) == (0, expected, "")
    assert run("model", "--read", folder / "vocab.json") == (0, expected, "")
    for name, first in {"vocab.json": "encoder.json", "merges.txt": "vocab.bpe"}.items():
        (folder / name).rename(folder / first)
        assert run("model", "--read", folder) == (0, expected, "")
        assert run("model", "--read", folder / first) == (0, expected, "")
    (folder / "vocab.bpe").write_text("u g h", "utf-8")
    message = "'u g h' is not a merge; it needs two tokens with one space between them"
    assert run("model", "--read", folder) == (2, "", f"tokspec: {folder / 'vocab.bpe'}:1: {message}\n")


def test_of_a_folder_with_a_tokenizer_json_that_is_read(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    run("model", "toy-bpe", "--format", "vocab.json+merges.txt", "-o", folder)
    run("model", "toy-unigram", "--format", "tokenizer.json", "-o", folder / "tokenizer.json")
    assert run("model", "--read", folder) == run("model", "--read", folder / "tokenizer.json")


def test_merges_of_bytes_need_to_be_told_how_a_text_is_cut(run: Any, tmp_path: Path) -> None:
    tokens = [*(from_bytes(bytes([byte])) for byte in range(256)), "<|end|>"]
    (tmp_path / "vocab.json").write_text(json.dumps({token: id for id, token in enumerate(tokens)}), "utf-8")
    (tmp_path / "merges.txt").write_text("", "utf-8")
    told = '{"pre_tokenizer": {"type": "byte_level"}, "decoder": {"type": "byte_level"}, "special_tokens": ["<|end|>"]}'
    message = (
        f"tokspec: {tmp_path / 'vocab.json'}: has tokens of bytes, but nothing says how a text is split before it "
        f"becomes bytes; name the tokenizer.json, or write {tmp_path / 'vocab.beside.json'}, for a model that splits "
        f"as GPT-2 does: {told}\n"
    )
    assert run("model", "--read", tmp_path) == (2, "", message)
    assert run("diff", "reference", "tokfast", "--model", tmp_path) == (2, "", message)
    (tmp_path / "vocab.beside.json").write_text(told, "utf-8")
    status, printed, noted = run("model", "--read", tmp_path)
    assert (status, noted) == (0, "")
    assert printed.endswith(
        'pre_tokenizer: {"type": "byte_level", "add_prefix_space": false, "use_regex": true}\n'
        'decoder: {"type": "byte_level"}\nspecial_tokens: ["<|end|>"]\n'
    )


def test_the_current_folder_is_a_folder_of_files(run: Any, tmp_path: Path, monkeypatch: Any) -> None:
    run("model", "toy-bpe", "--format", "vocab.json+merges.txt", "-o", tmp_path / "gpt2")
    monkeypatch.chdir(tmp_path / "gpt2")
    assert run("model", "--read", ".") == run("model", "--read", tmp_path / "gpt2")
    assert run("model", "--read", "/") == (2, "", "tokspec: /vocab.json: cannot be read: No such file or directory\n")
    for name in (".", "/"):
        message = f"tokspec: {name}: is not a regular file\n"
        assert run("model", "--read", name, "--format", "vocab.tiktoken") == (2, "", message)


def test_a_pattern_is_told_in_a_file_beside_one_of_ranks(run: Any, tmp_path: Path) -> None:
    file, beside = tmp_path / "gpt.tiktoken", tmp_path / "gpt.beside.json"
    file.write_text("dQ== 0\nZw== 1\n", "utf-8")
    status, printed, noted = run("model", "--read", file)
    assert (status, printed, noted.count("\n")) == (2, "", 1)
    assert noted.startswith(f"tokspec: {file}: has no pattern to split a text by; give it in a file")
    beside.write_text('{"pattern": "u+", "special_tokens": {"<s>": 5}}', "utf-8")
    status, printed, noted = run("model", "--read", file)
    assert (status, noted, read_own(printed)["vocabulary"]) == (0, "", ["u", "g"])
    beside.write_text('{"pattern": "u+", "telepathy": true}', "utf-8")
    message = "telepathy: is an unknown key; known are about, added_tokens, "
    status, printed, noted = run("model", "--read", file)
    assert (status, printed, noted.startswith(f"tokspec: {beside}: {message}")) == (2, "", True)
    beside.write_text("{", "utf-8")
    message = "is not JSON: Expecting property name enclosed in double quotes at column 2"
    assert run("model", "--read", file) == (2, "", f"tokspec: {beside}:1: {message}\n")


def read_own(printed: str) -> Any:
    return parse_yaml(printed, "model.yaml").value


def test_what_is_there_is_replaced_whole(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "vocab.txt"
    file.write_text("what was there before, and is longer than what comes\n" * 99, "utf-8")
    assert run("model", "four-sentences-lower-wordpiece", "--format", "vocab.txt", "-o", file)[0] == 0
    assert file.read_text("utf-8").splitlines()[:2] == ["[PAD]", "[UNK]"]
    assert [each.name for each in tmp_path.iterdir()] == ["vocab.txt"]


def test_what_cannot_be_written_leaves_nothing(run: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    message = f"tokspec: {tmp_path / 'out'}: cannot be written: Is a directory\n"
    assert run("model", "toy-bpe", "-o", tmp_path / "out") == (2, "", message)
    missing = tmp_path / "missing" / "model.json"
    message = f"tokspec: {missing}: cannot be written: No such file or directory\n"
    assert run("model", "toy-bpe", "-o", missing) == (2, "", message)
    assert [each.name for each in tmp_path.rglob("*")] == ["out"]


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def test_what_is_wrong_is_one_line(run: Any, tmp_path: Path) -> None:
    usage = "see tokspec model --help"
    folder = write(tmp_path / "gpt2" / "vocab.json", "{}").parent
    merges = write(folder / "merges.txt", "a\n")
    broken = write(tmp_path / "broken.json", "{\n")
    dropout = write(tmp_path / "dropout.json", '{"model": {"type": "BPE", "dropout": 0.5}}')
    named = write(tmp_path / "a.yaml", "")
    listed = ", ".join(
        ["vocab.json+merges.txt", "tokenizer.json", "vocab.txt", "sentencepiece.model", "vocab.tiktoken", "tekken.json"]
    )
    empty = write(tmp_path / "empty" / "vocab.txt", "")
    ranks = "YQ== 0\nIA== 1\nIGE= 2\n"
    negative, listed_beside = write(tmp_path / "neg.tiktoken", ranks), write(tmp_path / "list.tiktoken", ranks)
    write(tmp_path / "neg.beside.json", '{"pattern": ".", "special_tokens": {"<|x|>": -5}}')
    beside = write(tmp_path / "list.beside.json", "[]")
    expected = {
        ("--read", empty): f"{empty}: is empty; a model has tokens",
        ("--read", negative): f"{tmp_path / 'neg.beside.json'}: special_tokens.<|x|>: is -5, which is not an integer from 0 to 4294967295",
        ("--read", listed_beside): f"{beside}: is not an object",
        (): f"give a CASE to write its model, or --read FILE to read one; {usage}",
        ("toy-bpe", "--read", broken): f"give a CASE to write its model, or --read FILE to read one; {usage}",
        ("--read", broken, "-o", broken): f"--read prints, and -o is for a CASE; {usage}",
        ("toy-bep",): "'toy-bep' is neither a case nor a model; did you mean toy-bpe?",
        ("toy-bpe", "--format", "vocab.txt"): "toy-bpe: cannot be written: vocab.txt holds wordpiece models, and this one is of type bpe",
        ("--read", tmp_path / "no.txt"): f"{tmp_path / 'no.txt'}: cannot be read: No such file or directory",
        ("--read", "/dev/zero", "--format", "vocab.txt"): "/dev/zero: is not a regular file",
        ("--read", broken): f"{broken}:2: is not JSON: Expecting property name enclosed in double quotes at column 1",
        ("--read", dropout): f"{dropout}: model.dropout: is 0.5, which is not null, 0 or 1, and dropout between them chooses merges at random, which the specification does not cover",
        ("--read", folder): f"{merges}:1: 'a' is not a merge; it needs two tokens with one space between them",
        ("--read", named): f"{named}: does not say by its name what it is; give --format one of {listed}",
        ("--read", broken, "--format", "vocab.gguf"): f"{broken}: the suite does not read vocab.gguf; it reads {', '.join(READERS)}",
    }  # fmt: skip
    for arguments, message in expected.items():
        assert run("model", *arguments) == (2, "", f"tokspec: {message}\n"), arguments
