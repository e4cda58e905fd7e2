"""What an example is cut down to is still something of which the specification speaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.fuzz.budget import Budget
from tokspec.fuzz.campaign import Campaign
from tokspec.fuzz.checker import Checker, Conversations
from tokspec.fuzz.cuts import PASSES
from tokspec.fuzz.example import Example
from tokspec.fuzz.models import FAMILIES, model
from tokspec.fuzz.properties import PROPERTIES, PropertyChecker
from tokspec.fuzz.requests import asked
from tokspec.fuzz.shrink import shrunk
from tokspec.fuzz.soundness import faults
from tokspec.sessions.in_process import InProcessSession

#: What the families of models that contradict themselves make.
ON_PURPOSE = {
    "bpe-broken": {"a merge is not listed", "the unknown token is not listed"},
    "unigram-broken": {"a token is listed twice", "the unknown token is not listed"},
}
#: A WordPiece model may be without its unknown token: texts that need it are refused (WP-MODEL-1).
WITHOUT_UNKNOWN = {family: {"the unknown token is not listed"} for family in FAMILIES if family.startswith("wordpiece")}


def made(family: str, numbers: int) -> list[Example]:
    found = []
    for number in range(numbers):
        random = Random(f"1/{family}/{number}")
        generated = model(random, family)
        found += [Example(generated.model, operation, input) for operation, input in asked(random, generated)]
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_models_are_sound_but_where_they_are_made_otherwise(family: str) -> None:
    found = {fault for example in made(family, 60) for fault in faults(example)}
    assert found == {**ON_PURPOSE, **WITHOUT_UNKNOWN}.get(family, set())


@pytest.mark.parametrize("family", FAMILIES)
def test_no_cut_makes_a_sound_model_unsound(family: str) -> None:
    for example in made(family, 3)[::7]:
        for cuts in PASSES:
            for candidate in islice(cuts(example), 60):
                assert faults(candidate) <= faults(example)


BPE = {
    "type": "bpe",
    "vocabulary": ["<s>", "a", "b", "ab", "<unk>"],
    "merges": [["a", "b"]],
    "unknown_token": "<unk>",
    "special_tokens": ["<s>"],
}


@pytest.mark.parametrize(
    ("model", "operation", "expected"),
    [
        (BPE, "encode", set()),
        ({**BPE, "special_tokens": ["<s>", "</s>"]}, "encode", {"a special token is not listed"}),
        ({**BPE, "merges": [["a", "b"], ["b", "b"]]}, "encode", {"a merge is not listed"}),
        ({**BPE, "unknown_token": "?"}, "decode", {"the unknown token is not listed"}),
        ({"type": "bpe", "merges": [["a", "b"]]}, "train", {"merges without tokens"}),
        ({"type": "bpe"}, "encode", {"no tokens"}),
        ({"type": "bpe", "special_tokens": ["<s>"]}, "train", set()),
        ({"type": "bpe"}, "decode", set()),
        ({"type": "wordpiece", "vocabulary": ["a"]}, "encode", set()),
        ({"type": "unigram", "tokens": [["a", -1.5]]}, "segment", {"a frequency is negative"}),
        ({"type": "unigram", "tokens": [["a", -1.5]], "weights": "log_probability"}, "segment", set()),
        ({"type": "unigram", "tokens": [["a", 1], ["a", 2]]}, "segment", {"a token is listed twice"}),
        ({"normalizer": {"type": "nfc"}}, "encode", set()),
    ],
)
def test_what_is_wrong_with_a_model_is_named(model: Mapping[str, Any], operation: str, expected: set[str]) -> None:
    assert faults(Example(model, operation, {"text": "a"})) == expected


def test_a_word_stays_one() -> None:
    example = Example({"type": "bpe"}, "count_words", {"corpus": {"words": [["ab", 3]]}})
    small = shrunk(example, lambda candidates: [bool(each.input["corpus"]["words"]) for each in candidates])
    assert small.input == {"corpus": {"words": [["a", 0]]}}
    assert faults(replace(small, input={"corpus": {"words": [["", 0]]}})) == {"a word is empty"}


def test_tokens_go_with_what_names_them() -> None:
    example = Example(BPE, "normalize", {"text": "a"})
    assert shrunk(example, lambda candidates: [True] * len(candidates)).model == {"type": "bpe"}


def test_a_special_token_stays_in_the_vocabulary() -> None:
    def has_special(candidates: Any) -> list[bool]:
        return ["special_tokens" in each.model and bool(each.model["special_tokens"]) for each in candidates]

    small = shrunk(Example(BPE, "encode", {"text": "a<s>b"}), has_special)
    assert (small.model, small.input) == (
        {"type": "bpe", "vocabulary": ["a"], "special_tokens": ["a"]},
        {"text": ""},
    )


class Blind(ReferenceAdapter):
    """The reference without an eye for special tokens."""

    def load(self, format: str, content: Any) -> Any:
        return super().load(format, {key: value for key, value in content.items() if key != "special_tokens"})


def test_findings_of_special_tokens_have_them_listed() -> None:
    judged = Conversations(lambda: InProcessSession(Blind()))
    campaign = Campaign([Checker(judged)], 1, Budget(examples=1500), ("bpe-special", "wordpiece-bert"))
    found = [(each.clause, each.kind, each.example.model, each.example.input) for each in campaign.run()]
    assert [clause for clause, *_ in found] == ["ADDED-1", "ADDED-1", "ADDED-4"][: len(found)]
    for *_, shown, _ in found:
        assert set(shown["special_tokens"]) <= set(shown["vocabulary"])


def test_an_unsound_example_of_old_makes_no_finding_of_a_property() -> None:
    judged = Conversations(lambda: InProcessSession(ReferenceAdapter()))
    first = Checker(judged)
    old = Example({"type": "bpe", "special_tokens": ["a"]}, "encode", {"text": "a"})
    states = {each.name: PropertyChecker(each, judged, first.choices).compare([old])[0].state for each in PROPERTIES}
    assert "differs" not in states.values()
    assert first.compare([old])[0].state == "same"
