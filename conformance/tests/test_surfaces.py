"""``surface_tokens`` of a fixture: the outcomes that the loader makes of them, and whether they are right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tokspec.base.errors import DataError
from tokspec.suite.fixtures import load_suite

CASE = """\
about: "Unknown characters."
source: [{{implementation: "tokenizers 0.23.3"}}]
cases:
  - id: some-case
    clauses: [ENC-9]
    why: "x is unknown."
    since: "0.3.0"
    model: {model}
    operation: encode
    input: {{text: "ax"}}
    {outcome}
    verified_by: ["hand: x is no token"]
"""

BPE = '{type: "bpe", vocabulary: ["?", "a"], merges: [], unknown_token: "?"}'
UNIGRAM = '{type: "unigram", tokens: [["?", 1], ["a", 1]], unknown_token: "?"}'
WORDS = '{type: "wordlevel", vocabulary: ["?", "a"], unknown_token: "?"}'

ENTRY, SURFACE = {"expect": {"tokens": ["a", "?"], "ids": [1, 0]}}, {"expect": {"tokens": ["a", "x"], "ids": [1, 0]}}


def outcome_of(folder: Path, model: str, outcome: str) -> object:
    (folder / "some.yaml").write_text(CASE.format(model=model, outcome=outcome), "utf-8")
    return load_suite(folder).cases["some-case"].outcome


def by_option(in_unigram: object) -> dict[str, object]:
    options = {"entry": ENTRY, "surface": SURFACE, "surface_in_unigram": in_unigram}
    return {"by_choice": {"unknown_token_text": options}}


@pytest.mark.parametrize(
    ("model", "expected"), [(BPE, by_option(ENTRY)), (UNIGRAM, by_option(SURFACE)), (WORDS, ENTRY)]
)
def test_the_text_of_an_unknown_token_is_expected_by_the_choice(tmp_path: Path, model: str, expected: object) -> None:
    written = 'expect: {tokens: ["a", "?"], surface_tokens: ["a", "x"], ids: [1, 0]}'
    assert outcome_of(tmp_path, model, written) == expected


def test_surfaces_stand_within_another_choice_and_in_one_of_several_answers(tmp_path: Path) -> None:
    answers = '[{tokens: ["a", "?"], surface_tokens: ["a", "x"], ids: [1, 0]}, {tokens: ["a"], ids: [1]}]'
    written = f"by_choice: {{bpe_unknown_run: {{each: {{one_of: {answers}}}, fused: {{error: unknown_symbol}}}}}}"
    both = [{"one_of": [each["expect"], {"tokens": ["a"], "ids": [1]}]} for each in (ENTRY, SURFACE)]
    options = {"entry": both[0], "surface": both[1], "surface_in_unigram": both[0]}
    each = {"by_choice": {"unknown_token_text": options}}
    expected = {"by_choice": {"bpe_unknown_run": {"each": each, "fused": {"error": "unknown_symbol"}}}}
    assert outcome_of(tmp_path, BPE, written) == expected


def test_surfaces_have_one_text_for_each_token(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        outcome_of(tmp_path, BPE, 'expect: {tokens: ["a", "?"], surface_tokens: ["a"], ids: [1, 0]}')
    message = "ids: has 2 entries, and tokens has 1; both have one a token"
    assert str(caught.value) == f"some.yaml:11: cases[0].expect.{message}"


#: Texts that a normalizer writes in other characters, tokens of bytes, and prefixes of tokens: worked out by hand.
BY_HAND = {
    *(f"bpe-unknown-span-of-what-was-composed#{row}" for row in (1, 2, 3)),
    *("byte-fallback-all-or-nothing#3", "byte-fallback-and-fuse-unk#3", "byte-fallback-unknown-before-bytes"),
    *("dropout-with-affixes#2", "port-newer-letters-encoded#3", "sp-unused-byte-bpe#2"),
    *(f"unknown-run-with-added-characters#{row}" for row in (1, 2)),
    *(f"unknown-text-normalized{family}#{row}" for family in ("", "-unigram") for row in (1, 2)),
    "unknown-text-without-affixes#2",
}


def surfaces_in(outcome: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the expected results in which an unknown token has the text of its characters."""
    for name, options in outcome.get("by_choice", {}).items():
        if name == "unknown_token_text":
            yield from options["surface"].get("one_of", [options["surface"].get("expect")])
        else:
            for inner in options.values():
                yield from surfaces_in(inner)


def spelled(encoding: Mapping[str, Any]) -> str:
    """Return what the tokens of an encoding and of its overflowing parts spell, without marks and white space."""
    parts = [encoding, *encoding.get("overflowing", ())]
    return "".join("".join(token for part in parts for token in part["tokens"]).replace("▁", "").split())


def test_the_tokens_with_their_surfaces_spell_the_text() -> None:
    """The input alone decides whether an outcome is right, because no implementation is asked."""
    found: dict[str, list[bool]] = {}
    for question in (question for case in load_suite().cases.values() for question in case.questions):
        for result in surfaces_in(question.outcome):
            inputs = question.input.get("inputs", [question.input])
            for encoding, each in zip(result.get("encodings", [result]), inputs, strict=True):
                whole = "".join((each["text"] + each.get("pair", "")).split())
                found.setdefault(question.id, []).append(spelled(encoding) == whole)
    assert {id for id, equal in found.items() if not all(equal)} == BY_HAND
    assert sum(map(len, found.values())) > 250
