"""The adapter in JavaScript, run with Node.js. It needs ``npm ci`` in its folder."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tokspec.formats import write
from tokspec.suite import schema
from tokspec.suite.specification import load_specification

pytestmark = [pytest.mark.interop, pytest.mark.slow]

FOLDER = Path(__file__).parents[1] / "adapters" / "node"
SECONDS = 30

BPE: dict[str, Any] = {
    "type": "bpe",
    "vocabulary": ["<unk>", "b", "g", "u", "ug", "\u2028"],
    "merges": [["u", "g"]],
    "unknown_token": "<unk>",
}
UNIGRAM: dict[str, Any] = {
    "type": "unigram",
    "tokens": [["<unk>", -5.0], ["a", -1.0], ["b", -1.0]],
    "weights": "log_probability",
    "unknown_token": "<unk>",
}


TEMPLATE: dict[str, Any] = {
    **BPE,
    "post_processor": {
        "type": "template",
        "single": [{"special": "<unk>"}, {"sequence": "A"}],
        "pair": [{"sequence": "A"}, {"special": "<unk>"}, {"sequence": "B", "type_id": 1}],
        "special_tokens": [{"name": "<unk>", "ids": [0], "tokens": ["<unk>"]}],
    },
}


def encoding(tokens: list[str], ids: list[int | None]) -> dict[str, Any]:
    return {"tokens": tokens, "ids": ids, "attention_mask": [1] * len(ids)}


class Program:
    """The adapter as a running program: one line in, one line out."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            ["node", str(FOLDER / "adapter.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )

    def line(self, text: str) -> Any:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def ask(self, op: str, **keys: Any) -> Any:
        reply = self.line(json.dumps({"id": 7, "op": op, **keys}, ensure_ascii=False))
        assert reply.pop("id") == 7
        return reply

    def run(self, operation: str, model: dict[str, Any], **input: Any) -> Any:
        content = write("tokenizer.json", model)
        loaded = self.ask("load", model="m", format="tokenizer.json", content=content)
        return self.ask(operation, model="m", input=input) if loaded == {"ok": {}} else loaded


@pytest.fixture
def program() -> Iterator[Program]:
    program = Program()
    yield program
    program.process.kill()
    program.process.communicate()


def unsupported(message: str) -> dict[str, Any]:
    return {"refused": {"reason": "unsupported", "message": message}}


def test_hello(program: Program) -> None:
    hello = program.ask("hello", protocol=1)["ok"]
    unicode, choices, components = hello.pop("unicode"), hello.pop("choices"), hello.pop("components")
    assert set(components) < set(schema.definitions()["component"]["enum"])
    assert hello == {
        "protocol": 1,
        "name": "@huggingface/tokenizers",
        "version": "0.2.0",
        "language": "JavaScript",
        "operations": ["normalize", "pre_tokenize", "encode", "decode"],
        "formats": ["tokenizer.json"],
        "reads_file": True,
        "encode_fields": ["tokens", "ids", "type_ids", "attention_mask"],
        "encode_options": ["pair", "add_special_tokens"],
        "decode_options": ["skip_special_tokens"],
        "many": ["encode", "decode"],
    }
    assert float(unicode) >= 15
    known = load_specification().choices
    assert [name for name, option in choices.items() if option not in known[name].options] == []


def test_the_choices_are_those_of_the_readme(program: Program) -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    rows = "".join(f"| `{name}` | `{option}` |\n" for name, option in program.ask("hello")["ok"]["choices"].items())
    assert rows == "".join(
        line[: line.rindex(" | ") + 2] + "\n" for line in readme.split("## Choices")[1].split("\n")[6:-1]
    )


@pytest.mark.parametrize(
    ("operation", "model", "input", "result"),
    [
        ("normalize", {"normalizer": {"type": "lowercase"}}, {"text": "ΑΣ"}, {"text": "ας"}),
        ("encode", BPE, {"text": "bugx"}, encoding(["b", "ug", "<unk>"], [1, 4, 0])),
        ("encode", BPE, {"text": "\u2028"}, encoding(["\u2028"], [5])),
        ("encode", UNIGRAM, {"text": "axyb"}, encoding(["a", "xy", "b"], [1, 0, 2])),
        (
            "encode",
            TEMPLATE,
            {"text": "b", "pair": "ug"},
            {**encoding(["b", "<unk>", "ug"], [1, 0, 4]), "type_ids": [0, 0, 1]},
        ),
        (
            "encode",
            TEMPLATE,
            {"text": "b", "pair": "ug", "add_special_tokens": False},
            {**encoding(["b", "ug"], [1, 4]), "type_ids": [0, 1]},
        ),
        ("decode", {**BPE, "special_tokens": ["<unk>"]}, {"ids": [1, 0], "skip_special_tokens": True}, {"text": "b"}),
        ("decode", BPE, {"ids": [1, 4]}, {"text": "b ug"}),
        ("decode", BPE, {"tokens": ["b", "ug"]}, {"text": "b ug"}),
        ("decode", {"decoder": {"type": "wordpiece"}}, {"tokens": ["hug", "##s"]}, {"text": "hugs"}),
    ],
)
def test_operations(
    program: Program, operation: str, model: dict[str, Any], input: dict[str, Any], result: dict[str, Any]
) -> None:
    assert program.run(operation, model, **input) == {"ok": result}


@pytest.mark.parametrize(
    ("operation", "model", "input", "message"),
    [
        ("train", BPE, {}, "there is no operation train"),
        ("encode", BPE, {"text": 5}, "takes strings, and a lone surrogate stands in none"),
        ("encode", BPE, {"text": {"hex": "eda080"}}, "takes strings, and a lone surrogate stands in none"),
        ("normalize", BPE, {"text": "a"}, "the model has no normalizer to call"),
        ("decode", BPE, {}, "decode takes tokens or ids"),
    ],
)
def test_refusals(program: Program, operation: str, model: dict[str, Any], input: dict[str, Any], message: str) -> None:
    assert program.run(operation, model, **input) == unsupported(message)


METASPACE = {"type": "metaspace"}


@pytest.mark.parametrize(
    ("operation", "model", "input", "result"),
    [
        ("normalize", {"normalizer": {"type": "bert"}}, {"text": "a𠀀"}, {"text": "a𠀀"}),
        ("encode", {"type": "unigram", "tokens": [["▁a▁b", 1]], "pre_tokenizer": METASPACE}, {"text": "a b"}, encoding(["▁a▁b"], [0])),
        ("encode", {"type": "wordpiece", "vocabulary": ["a"]}, {"text": "x"}, encoding(["[UNK]"], [None])),
        ("decode", BPE, {"ids": [99]}, {"text": "<unk>"}),
        ("decode", {"decoder": {"type": "byte_level"}}, {"tokens": ["日"]}, {"text": "\0"}),
    ],
)  # fmt: skip
def test_what_the_library_does_otherwise_is_answered(
    program: Program, operation: str, model: dict[str, Any], input: dict[str, Any], result: dict[str, Any]
) -> None:
    assert program.run(operation, model, **input) == {"ok": result}


def test_what_the_library_throws_is_a_crash(program: Program) -> None:
    assert "token_ids must be a non-empty array" in program.run("decode", BPE, ids=[])["crashed"]["message"]


@pytest.mark.parametrize(
    ("content", "reply"),
    [
        (
            write("tokenizer.json", {"type": "unigram"}),
            {"reason": "invalid_model", "message": "Array must not be empty"},
        ),
        (
            {**write("tokenizer.json", BPE), "normalizer": {"type": "Other"}},
            {"reason": "unsupported", "message": "Unknown Normalizer type: Other"},
        ),
    ],
)
def test_models_that_it_does_not_load(program: Program, content: Any, reply: dict[str, str]) -> None:
    assert program.ask("load", model="m", format="tokenizer.json", content=content) == {"refused": reply}
    assert program.ask("encode", model="m", input={"text": ""}) == unsupported("no model m is loaded")


def test_any_other_error_of_loading_is_a_crash(program: Program) -> None:
    content = {**write("tokenizer.json", BPE), "normalizer": {"type": "Replace", "pattern": {"Regex": "("}}}
    reply = program.ask("load", model="m", format="tokenizer.json", content=content)
    assert "Invalid regular expression" in reply["crashed"]["message"]


@pytest.mark.parametrize(
    "garbage", ["", "{", "null", "[]", "5", '"bye"', '{"op": "constructor"}', '{"op": 5}', "\ufeff{}"]
)
def test_garbage_is_refused_and_the_program_goes_on(program: Program, garbage: str) -> None:
    reply = program.line(garbage)
    assert (reply["id"], reply["refused"]["reason"]) == (None, "unsupported")
    assert program.run("encode", BPE, text="b") == {"ok": encoding(["b"], [1])}


def test_bye_ends_the_program_though_the_input_stays_open(program: Program) -> None:
    assert program.ask("bye") == {"ok": {}}
    assert program.process.wait(SECONDS) == 0


def test_the_end_of_the_input_ends_the_program(program: Program) -> None:
    assert program.process.communicate(timeout=SECONDS)[0] == ""
    assert program.process.returncode == 0


def test_the_lock_file_names_no_host() -> None:
    lock = json.loads((FOLDER / "package-lock.json").read_text("utf-8"))
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
