"""What is drawn: of every kind, sound, the same for the same seed, and able to tell options apart."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import find as find_smallest
from hypothesis import seed as seeded
from hypothesis import strategies as st

from tokref.choices import Choices
from tokref.patterns import compile_pattern
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.compare.shrink import is_sound, listed_tokens
from tokspec.formats.tiktoken_ranks import merges_of
from tokspec.fuzz.backend import BACKEND
from tokspec.fuzz.characters import CHARACTER_MAPS, ODD, ROWS, has_newer
from tokspec.fuzz.checker import Side, reference_with
from tokspec.fuzz.components import _PATTERNS, components_of
from tokspec.fuzz.families import BROKEN, FAMILIES, generated
from tokspec.fuzz.strategies import Example, examples, models_with_texts, texts
from tokspec.protocol.messages import Answer, Refused
from tokspec.suite import schema
from tokspec.suite.components import TABLE
from tokspec.suite.schema import operations
from tokspec.suite.specification import load_specification

pytestmark = pytest.mark.slow

CHOICES = load_specification().choices

#: Families in which each choice makes a difference; the last makes spans, which the reference counts in code points.
WHERE = {
    "bpe_training_tie": "training",
    "bpe_merge_order": "bpe",
    "bpe_pairs": "bpe",
    "bpe_unknown_run": "bpe",
    "bpe_unknown_without_token": "bpe",
    "unigram_unknown": "unigram",
    "metaspace_leading_space": "stages",
    "unknown_id": "bpe",
    "final_sigma": "stages",
    "merge_outside_vocabulary": "bpe",
    "duplicate_token": "unigram",
    "unigram_unknown_without_token": "unigram",
    "join_without_decoder": "bpe",
    "wordpiece_length_unit": "wordpiece",
    "bert_clean_text": "wordpiece",
}


#: Choices that matter to a few of thousands of examples, or to none that is drawn.
RARE = {
    *("bpe_merge_places", "truncation_odd", "pattern_end", "pattern_interval_plus", "wordpiece_cleanup"),
    *("byte_fallback_invalid", "trim_offsets", "byte_level_added_tokens", "pattern_posix_class"),
    *("unigram_unknown_score", "special_not_allowed"),
}


def drawn(strategy: st.SearchStrategy[Any], count: int, seed: int = 1) -> list[Any]:
    found: list[Any] = []

    @settings(
        max_examples=count,
        database=None,
        phases=[Phase.generate],
        backend=BACKEND,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @seeded(seed)
    @given(strategy)
    def take(value: Any) -> None:
        found.append(value)

    take()
    return found


@cache
def made(family: str, count: int = 60) -> Sequence[Example]:
    return drawn(examples([family]), count)


@pytest.mark.parametrize("family", FAMILIES)
def test_models_and_requests_obey_the_schema(family: str) -> None:
    for example in made(family):
        for operation, input in example.requests:
            assert [message for _, message in schema.errors(input, f"operations/{operation}/input")] == []
        if is_sound(example.model):
            assert [message for _, message in schema.errors(dict(example.model), "model")] == []


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "broken"])
def test_the_reference_loads_every_sound_model(family: str) -> None:
    reference = Side(lambda: reference_with({}))
    for example in made(family):
        if is_sound(example.model):
            for reply in reference.ask(example.model, example.requests)[0]:
                assert not isinstance(reply, Refused) or reply.reason != "invalid_model", (example.model, reply)


def test_models_are_sound_unless_they_are_broken_on_purpose() -> None:
    assert [
        each.model
        for family in ("stages", "bpe-bytes", "training")
        for each in made(family)
        if not is_sound(each.model)
    ] == []
    for family, most in (("bpe", 0.3), ("unigram", 0.3), ("wordpiece", 0.3)):
        unsound = [each.model for each in made(family, 150) if not is_sound(each.model)]
        assert 0 < len(unsound) < most * 150
    for model in (each.model for each in made("wordpiece", 150) if not is_sound(each.model)):
        assert model["unknown_token"] not in model["vocabulary"]  # texts that need it are refused (WP-MODEL-1)


def test_broken_models_are_refused_for_the_reasons_that_the_specification_has() -> None:
    reference = Side(lambda: reference_with({}))
    broken = [each for family in ("bpe", "unigram") for each in made(family) if not is_sound(each.model)]
    replies = [reply for each in broken for reply in reference.ask(each.model, each.requests)[0]]
    assert {"invalid_model", "unknown_symbol"} <= {reply.reason for reply in replies if isinstance(reply, Refused)}


@pytest.mark.parametrize("model", BROKEN)
def test_the_reference_refuses_every_broken_model(model: dict[str, Any]) -> None:
    (replies,) = Side(lambda: reference_with({})).ask(model, [("encode", {"text": "abc"})])
    assert [reply.reason for reply in replies if isinstance(reply, Refused)] == ["invalid_model"]


@pytest.mark.parametrize(
    ("number", "text", "expected"),
    [
        (0, "aba", "bbb"),
        (1, "abaa", "X"),
        (2, "é\n", "e "),
        (3, "ba", " a ▁"),
        (6, "a\u0301b\u0301", "áb"),
        (7, "aba", "YXX"),
    ],
)
def test_character_maps_say_what_they_are_made_of(number: int, text: str, expected: str) -> None:
    model = {"normalizer": {"type": "precompiled", "charsmap": CHARACTER_MAPS[number]}}
    ((reply,),) = Side(lambda: reference_with({})).ask(model, [("normalize", {"text": text})])
    assert isinstance(reply, Answer)
    assert reply.result == {"text": expected}


def test_no_pattern_matches_nothing() -> None:
    regexes = {pattern["regex"] for pattern in _PATTERNS if "regex" in pattern}
    compiled = [compile_pattern(regex, Choices()) for regex in regexes]
    assert [each.pattern for each in compiled for match in each.finditer("ab Aé1.\n$😀 中") if not match[0]] == []


def test_the_same_seed_draws_the_same() -> None:
    for family in FAMILIES:
        assert drawn(examples([family]), 3, 7) == drawn(examples([family]), 3, 7)
        assert drawn(examples([family]), 3, 7) != drawn(examples([family]), 3, 8)


def test_every_operation_is_asked_and_every_component_is_drawn() -> None:
    everything = [each for family in FAMILIES for each in made(family)]
    assert {operation for each in everything for operation, _ in each.requests} == set(operations())
    named = {name for each in everything for name in components_of(each.model)}
    assert {row.name for row in TABLE if row.name != "added_token"} - named == set()


def test_only_the_operations_that_are_wanted_are_asked() -> None:
    asked = {
        operation for each in drawn(examples(operations=["decode", "encode"]), 50) for operation, _ in each.requests
    }
    assert asked == {"decode", "encode"}


def test_decoders_alone_are_asked_of_some_tokens() -> None:
    asked = [input for example in made("stages") for operation, input in example.requests if operation == "decode"]
    assert len(asked) > 20
    assert {"tokens": []} not in asked


def test_odd_parts_have_characters_of_every_general_category() -> None:
    everything = {
        unicodedata.category(character)
        for part in (*ODD, *(part for row in ROWS for part in row))
        for character in part
    }
    every = {unicodedata.category(chr(code)) for code in range(0x110000)}
    assert every - everything == set()


def test_rows_hold_what_all_versions_of_unicode_agree_about() -> None:
    assert [part for row in ROWS for part in row if has_newer(part)] == []


def test_texts_have_tokens_and_special_tokens() -> None:
    found = drawn(texts(["hug", "##s"], ["<s>"]), 200)
    assert sum("hug" in text for text in found) > 20
    assert sum("<s>" in text for text in found) > 20


@pytest.mark.long
@pytest.mark.parametrize("name", WHERE)
def test_examples_tell_the_options_of_a_choice_apart(name: str) -> None:
    answers: dict[str, list[Any]] = {option: [] for option in CHOICES[name].options}
    for option, found in answers.items():
        side = Side(lambda option=option: reference_with({name: option}))  # type: ignore[misc]
        for example in made(WHERE[name], 500 if WHERE[name] in ("stages", "wordpiece") else 150):
            replies = side.ask(example.model, example.requests)[0]
            found += [reply.result if isinstance(reply, Answer) else str(reply) for reply in replies]
    different = {option for option in answers if sum(mine == answers[option] for mine in answers.values()) == 1}
    assert different == set(CHOICES[name].options)


def test_choices_without_a_family_need_none() -> None:
    # a tie is left open, a score starts where a request says, and the others tell how an answer is written
    without = {"unigram_tie", "unigram_score_start", "offset_unit", "unknown_token_text"}
    assert set(CHOICES) - set(WHERE) == without | RARE


def test_models_of_bytes_can_be_written_without_their_merges() -> None:
    for _, model, _ in drawn(generated(("bpe-bytes",)), 40):
        if "special_tokens" not in model:
            assert model["merges"] == [[left, right] for left, right in merges_of(model["vocabulary"])]
        assert len(listed_tokens(model)) >= 256


def test_what_the_reference_declares_is_what_it_is_held_to() -> None:
    declared = ReferenceAdapter({"unknown_id": "skipped"}).hello().choices
    assert reference_with(declared).hello.choices == declared


@pytest.mark.long
@pytest.mark.parametrize(
    ("holds", "text", "size"),
    [
        (lambda model, text: "é" in text, "é", 70),
        (lambda model, text: "merges" in model and len(text) > 1, "aa", 50),
        (lambda model, text: "special_tokens" in model, "", 90),
    ],
)
def test_what_users_draw_shrinks(holds: Callable[[Any, str], bool], text: str, size: int) -> None:
    limits = settings(max_examples=5000, database=None, suppress_health_check=list(HealthCheck), derandomize=True)
    found, written = find_smallest(models_with_texts(), lambda each: holds(*each), settings=limits)
    assert (len(written), len(str(found)) <= size) == (len(text), True)


def test_the_backend_is_that_which_draws_the_same_everywhere() -> None:
    assert BACKEND == "tokspec"


#: Draws the same examples, as Hypothesis's own backend has drawn some of the same kinds before, or has not.
TWICE = """
import hashlib
import sys
sys.path[:0] = [{here!r}]
from test_fuzz_strategies import drawn, examples
from hypothesis import HealthCheck, given, settings

if {after}:
    @settings(database=None, max_examples=60, suppress_health_check=list(HealthCheck))
    @given(examples(["bpe", "training"]))
    def earlier(example): pass
    earlier()
found = repr(drawn(examples(["bpe", "training"]), 60))
print(hashlib.sha256(found.encode("utf-8", "surrogatepass")).hexdigest())
"""


def test_examples_are_the_same_after_other_tests_in_the_process() -> None:
    seen = set[str]()
    for after in (False, True):
        program = TWICE.format(here=str(Path(__file__).parent), after=after)
        seen.add(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
    assert len(seen) == 1
