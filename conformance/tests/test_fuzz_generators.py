"""What is made at random: of every kind, sound, the same for the same seed, and able to tell options apart."""

from __future__ import annotations

from random import Random

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.formats.tiktoken_ranks import merges_of
from tokspec.fuzz.ages import has_newer
from tokspec.fuzz.characters import by_category
from tokspec.fuzz.checker import Conversations, reference_with
from tokspec.fuzz.maker import examples_of
from tokspec.fuzz.models import FAMILIES, model
from tokspec.fuzz.sweeps import sweep
from tokspec.fuzz.texts import CATEGORIES, Material, text
from tokspec.protocol.messages import Answer, Refused
from tokspec.suite import schema
from tokspec.suite.schema import operations
from tokspec.suite.specification import load_specification

pytestmark = pytest.mark.slow

CHOICES = load_specification().choices

#: Families in which each choice makes a difference; the last makes spans, which the reference counts in code points.
WHERE = {
    "bpe_training_tie": "untrained-bpe",
    "bpe_merge_order": "bpe",
    "bpe_pairs": "bpe",
    "bpe_unknown_run": "bpe",
    "bpe_unknown_without_token": "bpe",
    "unigram_score_start": "unigram",
    "unigram_unknown": "unigram",
    "metaspace_leading_space": "sweep",
    "unknown_id": "bpe",
    "final_sigma": "normalizer",
}


def made(family: str, count: int, offered: tuple[str, ...] = ()) -> list:
    wanted = offered or operations()
    return [example for number in range(count) for example in examples_of(1, family, number, wanted)]


@pytest.mark.parametrize("family", FAMILIES)
def test_models_and_inputs_obey_the_schema(family: str) -> None:
    for example in made(family, 12):
        broken = [
            message for _, message in schema.errors(plain(example.input), f"operations/{example.operation}/input")
        ]
        assert broken == []
        if "broken" not in family:
            assert [message for _, message in schema.errors(plain(example.model), "model")] == []


def plain(value: object) -> object:
    """Copy a value with its corpus as the schema of a fixture has it."""
    return dict(value) if isinstance(value, dict) else value


@pytest.mark.parametrize("family", [family for family in FAMILIES if "broken" not in family])
def test_the_reference_loads_every_model(family: str) -> None:
    examples = made(family, 12)
    for example, reply in zip(examples, Conversations(lambda: reference_with({})).ask(examples), strict=True):
        assert not isinstance(reply, Refused) or reply.reason != "invalid_model", (example, reply)


def test_broken_models_are_refused_for_the_reasons_that_the_specification_has() -> None:
    examples = [*made("bpe-broken", 60), *made("unigram-broken", 60)]
    replies = Conversations(lambda: reference_with({})).ask(examples)
    reasons = {reply.reason for reply in replies if isinstance(reply, Refused)}
    assert {"invalid_model", "unknown_symbol"} <= reasons


def test_the_same_seed_makes_the_same() -> None:
    for family in FAMILIES:
        assert examples_of(7, family, 3, operations()) == examples_of(7, family, 3, operations())
        assert examples_of(7, family, 3, operations()) != examples_of(8, family, 3, operations())


def test_texts_have_parts_of_every_category() -> None:
    random, used = Random(1), set[str]()
    for _ in range(1500):
        text(random, Material("ab", ["ab"], ["<s>"]), used)
    assert used == set(CATEGORIES)


def test_texts_have_characters_of_every_general_category() -> None:
    random = Random(1)
    everything = "".join(text(random, Material("ab", ["ab"], ["<s>"], plain=0.0)) for _ in range(2500))
    missing = [category for category, members in by_category().items() if not set(members) & set(everything)]
    assert missing == []


def test_sweeps_hold_what_all_versions_of_unicode_agree_about_mostly() -> None:
    random = Random(1)
    agreed = sum(not has_newer(sweep(random)) for _ in range(200))
    assert agreed > 140


def test_every_operation_is_asked() -> None:
    asked = {example.operation for family in FAMILIES for example in made(family, 5)}
    assert asked == set(operations())


@pytest.mark.parametrize("name", WHERE)
def test_examples_tell_the_options_of_a_choice_apart(name: str) -> None:
    examples = made(WHERE[name], 50)
    answers = {}
    for option in CHOICES[name].options:
        replies = Conversations(lambda option=option: reference_with({name: option})).ask(examples)
        answers[option] = [reply.result if isinstance(reply, Answer) else str(reply) for reply in replies]
    different = {option for option in answers if sum(mine == answers[option] for mine in answers.values()) == 1}
    assert different == set(CHOICES[name].options)


def test_choices_without_a_family_need_none() -> None:
    assert set(CHOICES) - set(WHERE) == {"unigram_tie", "offset_unit"}


def test_models_by_ranks_can_be_written_without_their_merges() -> None:
    for number in range(50):
        content = model(Random(number), "bpe-all-bytes").model
        ordinary = [token for token in content["vocabulary"] if token not in content.get("special_tokens", ())]
        found = [[left, right] for left, right in merges_of(ordinary)]
        assert content["merges"] == found


def test_what_the_reference_declares_is_what_it_is_held_to() -> None:
    declared = ReferenceAdapter({"unknown_id": "skipped"}).hello().choices
    assert reference_with(declared).hello.choices == declared
