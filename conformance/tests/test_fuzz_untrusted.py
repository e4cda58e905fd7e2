"""Untrusted texts: what is drawn, what is found, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import DataError
from tokspec.cli import tokspec
from tokspec.fuzz.campaign import Budget
from tokspec.fuzz.checker import Side
from tokspec.fuzz.untrusted import FAMILIES, Guard, Untrusted, _forms, hidden_tokens, untrusted_texts
from tokspec.sessions.in_process import InProcessSession

#: Takes no notice of what is allowed; refuses to be asked; crashes.
ADAPTERS = """
from dataclasses import replace
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import DataError
from tokspec.adapter import Unsupported

class Finds(ReferenceAdapter):
    def run(self, operation, model, input):
        return super().run(operation, model, {key: value for key, value in input.items() if key != "allowed_special"})

class Knows(ReferenceAdapter):
    def hello(self):
        return replace(super().hello(), encode_options=("pair",))
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "guarded.py").write_text(ADAPTERS, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def call(*words: str) -> tuple[int, list[str]]:
        done = CliRunner().invoke(tokspec, ["fuzz", "--no-database", *words], standalone_mode=False)
        if done.exception:
            raise done.exception
        return done.return_value, done.stdout.splitlines()

    return call


def test_no_text_becomes_a_special_token_of_the_reference() -> None:
    made = Untrusted(Guard(Side(lambda: InProcessSession(ReferenceAdapter()))), 1, Budget(examples=150), FAMILIES)
    assert list(made.run()) == []
    assert made.tally.states["same"] > 300
    (said,) = made.summary()
    assert said == f"{made.tally.states['same']} texts in which no special token is allowed: none became one"


@pytest.mark.slow
def test_a_text_that_becomes_one_is_found_and_made_small(run: Any) -> None:
    status, lines = run(
        "--in-process",
        "--impl",
        "guarded:Finds",
        "--untrusted",
        "--only",
        "wordlevel",
        "--seed",
        "1",
        "--examples",
        "40",
    )
    assert status == 1
    assert lines[0].startswith("TRUST-1 encode: a control id  (met ")
    assert any(line.startswith("  problem   became ") and line.endswith(", which is not allowed") for line in lines)
    assert any(line.endswith("--seed 1 --examples 1 --untrusted --no-database") for line in lines)
    assert " texts in which no special token is allowed: " in lines[-2]
    assert " became one, the shortest " in lines[-2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--impl", "guarded:Knows"), "tokref 0.3.0: does not know the option allowed_special"),
        (
            ("--only", "training"),
            "--only: 'training' has no texts for --untrusted; there are bpe, bpe-bytes, wordpiece, unigram, wordlevel",
        ),
        (("--pattern", "gpt2"), "--untrusted: tries texts that it draws on one implementation; leave out --pattern"),
        (("--against", "tokfast"), "--untrusted: tries texts that it draws on one implementation; leave out --against"),
    ],
)
def test_what_cannot_be_asked_is_one_line(run: Any, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(DataError) as raised:
        run("--in-process", "--untrusted", *words)
    assert str(raised.value) == message


HIDDEN: list[tuple[Mapping[str, Any], Mapping[str, int | None]]] = [
    ({"type": "bpe", "vocabulary": ["a", "<s>"], "special_tokens": ["<s>"]}, {"<s>": 1}),
    ({"type": "bpe", "vocabulary": [["a", 4], ["<s>", 9]], "special_tokens": ["<s>"]}, {"<s>": 9}),
    ({"type": "bpe", "vocabulary": ["a"], "added_tokens": [{"content": "<s>", "id": 7}]}, {"<s>": 7}),
    ({"type": "bpe", "vocabulary": ["a"], "added_tokens": [{"content": "b", "id": 7, "special": False}]}, {}),
    (
        {
            "type": "unigram",
            "tokens": [["<u>", 1], ["</s>", 1]],
            "unknown_token": "<u>",
            "special_tokens": ["<u>", "</s>"],
        },
        {"</s>": 1},
    ),
    ({"type": "wordpiece", "vocabulary": ["[UNK]", "[CLS]"], "special_tokens": ["[UNK]", "[CLS]"]}, {"[CLS]": 1}),
    ({"type": "bpe", "vocabulary": ["<0x41>"], "byte_fallback": True, "special_tokens": ["<0x41>"]}, {}),
    ({"type": "bpe", "vocabulary": ["<0x41>"], "special_tokens": ["<0x41>"]}, {"<0x41>": 0}),
]


@pytest.mark.parametrize(("model", "expected"), HIDDEN)
def test_hidden_tokens_are_the_special_ones_but_for_unknown_text_and_bytes(
    model: Mapping[str, Any], expected: Mapping[str, int | None]
) -> None:
    assert hidden_tokens(model) == expected


def test_a_token_is_drawn_in_every_form() -> None:
    found = set(_forms(["<|end|>", "<s>"]))
    assert {
        "|end|>",
        "<|end|",
        "<|END|>",
        "＜｜ｅｎｄ｜＞",
        " <|end|>",
        "<|e\u200dnd|>",
        "<|e<s>nd|>",
        "<|end|><|end|>",
        "\n<s>\n",
    } <= found


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("<s>", "'<s>' is one text; give a list of contents of special tokens, such as ['<s>']"),
        (None, "None is not a list; give a list of contents of special tokens"),
        ([5], "holds 5 at place 0; give a list of contents of special tokens"),
        ([], "is empty; list the contents of your special tokens"),
        (["<s>", ""], "holds '' at place 1, which no text can have"),
        (["\ud800"], "holds '\\ud800' at place 0, which no text can have"),
    ],
)
def test_what_is_no_list_of_special_tokens_is_told(given: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        untrusted_texts(given)
    assert str(caught.value) == f"special_tokens: {message}"
