"""What a failing case costs: of which effect each field is, and what is counted and required by effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.judge.effects import Effect, asked_effects, effects_of
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Verdict, join_rows, judge
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.suite.cases import bare_case
from tokspec.suite.specification import load_specification

CommandLine = Callable[..., tuple[int, str, str]]

RIGHT: dict[str, Any] = {"tokens": ["b", "ug"], "ids": [1, 8], "spans": [[0, 1], [1, 3]], "overflowing": []}
HELLO = Hello("x", "1", "C", ("encode", "decode"), encode_fields=("tokens", "ids", "spans", "overflowing"))


@pytest.mark.parametrize(
    ("operation", "given", "effects"),
    [
        ("encode", {"tokens": ["b", "u"]}, ["names"]),
        ("encode", {"tokens": ["b", "u"], "spans": [[0, 1], [1, 2]]}, ["positions", "names"]),
        ("encode", {"tokens": ["b", "u"], "ids": [1, 2]}, ["model input", "names"]),
        ("encode", {"overflowing": [{"ids": [1]}]}, ["model input"]),
        ("decode", {"text": "x"}, ["text"]),
        ("decode_with_offsets", {"offsets": [1]}, ["positions"]),
        ("normalize", {"text": "x"}, ["inspection and training"]),
        ("train", {"merges": []}, ["inspection and training"]),
    ],
)
def test_each_field_has_its_effect(operation: str, given: dict[str, Any], effects: list[str]) -> None:
    right = RIGHT if operation == "encode" else dict.fromkeys(given)
    found = effects_of(operation, right, {**right, **given}, {}, ids=True)
    assert [effect.value for effect in found] == effects


def test_of_overflowing_parts_each_field_has_its_effect() -> None:
    right = {"ids": [1], "overflowing": [{"ids": [2], "tokens": ["a"]}]}
    wrong = {"ids": [1], "overflowing": [{"ids": [2], "tokens": ["b"]}]}
    assert effects_of("encode", right, wrong, {}, ids=True) == (Effect.NAMES,)
    assert asked_effects("encode", [right], ("ids", "tokens", "overflowing")) == (Effect.MODEL_INPUT, Effect.NAMES)


def test_the_tokens_of_what_gives_no_ids_are_the_input_of_a_model() -> None:
    assert effects_of("encode", {"tokens": ["a"]}, {"tokens": ["b"]}, {}, ids=False) == (Effect.MODEL_INPUT,)
    assert asked_effects("encode", [{"tokens": ["a"]}], ("tokens",)) == (Effect.MODEL_INPUT,)


CASE = replace(bare_case("one", "encode", {"text": "bug"}, clauses=("ENC-1",)), outcome={"expect": RIGHT})


@pytest.mark.parametrize(
    ("outcome", "reply", "asks", "effects"),
    [
        ({"expect": RIGHT}, Answer(RIGHT), ["model input", "positions", "names"], []),
        ({"expect": RIGHT}, Answer({**RIGHT, "ids": [1, 2]}), ["model input", "positions", "names"], ["model input"]),
        ({"expect": RIGHT}, Fault("crash", "it died"), ["model input", "positions", "names"], ["crash"]),
        ({"expect": RIGHT}, Answer({"ids": "x"}), ["model input", "positions", "names"], ["crash"]),
        ({"expect": RIGHT}, Refused("invalid_input", ""), ["model input", "positions", "names"], ["refusal"]),
        ({"expect": RIGHT}, Refused("unsupported", ""), [], []),
        ({"error": "invalid_input"}, Refused("invalid_input", ""), ["refusal"], []),
        ({"error": "invalid_input"}, Refused("invalid_model", ""), ["refusal"], ["refusal"]),
        ({"error": "invalid_input"}, Answer(RIGHT), ["refusal"], ["refusal"]),
    ],
)
def test_a_verdict_has_its_effects(outcome: Any, reply: Reply, asks: list[str], effects: list[str]) -> None:
    result = judge(replace(CASE, outcome=outcome), reply, HELLO, load_specification().defaults())
    assert ([each.value for each in result.asks], [each.value for each in result.effects]) == (asks, effects)


def test_a_table_has_the_effects_of_all_its_rows_the_worst_first() -> None:
    table = CASE.with_rows([({"text": "bug"}, {"expect": RIGHT}, 1)] * 3)
    replies = [Answer({**RIGHT, "tokens": ["b", "u"]}), Answer({**RIGHT, "ids": [1, 2]}), Answer(RIGHT)]
    choices = load_specification().defaults()
    rows = [judge(row, reply, HELLO, choices) for row, reply in zip(table.rows, replies, strict=True)]
    assert join_rows(table, rows).effects == (Effect.MODEL_INPUT, Effect.NAMES)


def test_effects_are_counted_and_known_failures_too() -> None:
    choices = load_specification().defaults()
    replies = [
        Answer(RIGHT),
        Answer({**RIGHT, "tokens": ["b", "u"]}),
        Fault("crash", "it died"),
        Refused("unsupported", ""),
    ]
    passed, names, crashed, refused = (judge(CASE, reply, HELLO, choices) for reply in replies)
    known = replace(crashed, verdict=Verdict.KNOWN_FAILURE)
    run = Run(HELLO, choices, (passed, names, known, refused))
    assert {effect.value: counts for effect, counts in run.by_effect.items() if any(counts)} == {
        "model input": (3, 2, 0),
        "positions": (3, 2, 0),
        "names": (3, 1, 1),
        "crash": (0, 0, 1),
    }


#: The reference with other names of tokens, and with other ids where a program is told to.
ADAPTER = """
from tokspec.adapters.reference import ReferenceAdapter

class Names(ReferenceAdapter):
    def run(self, operation, model, input):
        result = super().run(operation, model, input)
        return {**result, "tokens": ["x" for _ in result["tokens"]]} if operation == "encode" else result

class Ids(ReferenceAdapter):
    def run(self, operation, model, input):
        result = super().run(operation, model, input)
        return {**result, "ids": [7 for _ in result["ids"]]} if operation == "encode" else result
"""


#: The cases of a clause in a version of the suite, so that younger ones change nothing.
SELECTED = ("--select", "BPE-ENC-3", "--fixtures-version", "0.2.0")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "costly.py").write_text(ADAPTER, "utf-8")
    return tmp_path


def test_a_run_ends_with_what_its_failures_cost(run: CommandLine, folder: Path) -> None:
    status, out, _ = run("run", "--impl", "costly:Names", "--select", "bpe-toy-encode-bug")
    assert (status, out.splitlines()[-6:]) == (
        1,
        [
            "effect          asked  right  failing",
            "model input         1      1        ·",
            "positions           1      1        ·",
            "names               1      ·        1",
            "",
            "tokref 0.3.0 does not conform: 1 case = 1 fail",
        ],
    )


def test_the_input_of_a_model_is_required_alone(run: CommandLine, folder: Path) -> None:
    def complaints(adapter: str, required: str) -> list[str]:
        *_, out, _ = run("run", "--impl", f"costly:{adapter}", *SELECTED, "--require", required)
        return [line for line in out.splitlines() if line.startswith("--require")]

    assert complaints("Names", "BPE-ENC-3:input") == []
    listed = "byte-merges-order, byte-merges-of-merged-tokens, byte-merges-repeated-letters-before-others and 46 more"
    assert complaints("Names", "BPE-ENC-3") == [f"--require BPE-ENC-3: 0 of 49 cases pass (49 fail): {listed}"]
    assert complaints("Ids", "BPE-ENC-3:input") == [
        f"--require BPE-ENC-3:input: 0 of 49 cases get it right (49 fail): {listed}"
    ]


def test_a_report_keeps_the_effects(run: CommandLine, folder: Path) -> None:
    _, told, _ = run(
        "run", "--impl", "costly:Names", *SELECTED, "--show", "0", "--report", "report.ndjson", "--junit", "junit.xml"
    )
    _, read, _ = run("report", "report.ndjson", "--show", "0")
    table = told[told.index("effect ") :]
    assert read[read.index("effect ") :] == table
    assert '<property name="effect" value="names" />' in (folder / "junit.xml").read_text("utf-8")
