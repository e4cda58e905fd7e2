"""What a question is cut down to is still something of which the specification speaks."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tokref.charsmap import read_map
from tokspec.compare.shrink import (
    PASSES,
    Question,
    Spent,
    is_sound,
    minimize,
    minimize_sequence,
    narrow_sequence,
    offer,
)
from tokspec.fuzz.characters import CHARACTER_MAPS, shorter_maps

BPE = {
    "type": "bpe",
    "vocabulary": ["<s>", "a", "b", "ab", "<unk>"],
    "merges": [["a", "b"]],
    "unknown_token": "<unk>",
    "special_tokens": ["<s>"],
}


def minimized(question: Question, shows: Callable[[Question], bool], **options: Any) -> Question:
    return minimize(question, lambda few: [shows(each) for each in few], **options)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (BPE, True),
        ({**BPE, "special_tokens": ["<s>", "</s>"]}, False),
        ({**BPE, "merges": [["a", "b"], ["b", "b"]]}, False),
        ({**BPE, "unknown_token": "?"}, False),
        ({"type": "bpe", "merges": [["a", "b"]]}, False),
        ({"type": "bpe", "special_tokens": ["<s>"]}, True),
        ({"type": "wordpiece", "vocabulary": ["a"]}, True),
        ({"type": "unigram", "tokens": [["a", 1], ["a", 2]]}, False),
        ({"normalizer": {"type": "nfc"}}, True),
    ],
)
def test_a_model_is_sound_that_names_only_its_own_tokens(model: Mapping[str, Any], expected: bool) -> None:
    assert is_sound(model) == expected


def test_a_word_does_not_become_empty() -> None:
    question = Question({"type": "bpe"}, "count_words", {"corpus": {"words": [["ab", 3]]}})
    small = minimized(question, lambda candidate: bool(candidate.input["corpus"]["words"]))
    assert small.input == {"corpus": {"words": [["a", 0]]}}


def test_tokens_go_with_what_names_them() -> None:
    assert minimized(Question(BPE, "normalize", {"text": "a"}), lambda candidate: True).model == {}


def test_a_special_token_stays_in_the_vocabulary() -> None:
    small = minimized(Question(BPE, "encode", {"text": "a<s>b"}), lambda each: bool(each.model.get("special_tokens")))
    expected = {"type": "bpe", "vocabulary": ["a"], "special_tokens": ["a"]}
    assert (small.model, small.input) == (expected, {"text": ""})


def test_ids_follow_the_tokens_that_they_name() -> None:
    model = {"type": "bpe", "vocabulary": ["a", "b", "c", "d"]}

    def decodes_c(candidate: Question) -> bool:
        tokens = candidate.model.get("vocabulary", [])
        return [tokens[id] for id in candidate.input["ids"] if id < len(tokens)] == ["c"]

    small = minimized(Question(model, "decode", {"ids": [2]}), decodes_c)
    assert (small.model, small.input) == ({"type": "bpe", "vocabulary": ["c"]}, {"ids": [0]})


def test_a_model_that_encodes_keeps_a_token() -> None:
    assert minimized(Question(BPE, "encode", {"text": "a"}), lambda candidate: True).model["vocabulary"] == ["a"]


def test_what_tells_nothing_of_a_model_goes() -> None:
    inner = {"type": "sequence", "normalizers": [{"type": "nfc"}, {"type": "bert", "lowercase": True}]}
    model = {"normalizer": inner, "decoder": {"type": "byte_level"}}
    small = minimized(Question(model, "normalize", {"text": "Éaz"}), lambda each: "bert" in str(each.model))
    assert (small.model, small.input) == ({"normalizer": {"type": "bert"}}, {"text": ""})


def test_a_name_of_a_template_goes_with_all_that_name_it() -> None:
    template = {
        "type": "template",
        "single": [{"special": "<s>"}, {"sequence": "A"}],
        "pair": [{"sequence": "A"}, {"sequence": "B"}, {"special": "<s>"}],
        "special_tokens": [{"name": "<s>", "ids": [0], "tokens": ["<s>"]}],
    }

    def puts_a_text_in(candidate: Question) -> bool:
        found = candidate.model.get("post_processor", {})
        names = {row.get("name") for row in found.get("special_tokens", ())}
        named = {item["special"] for key in ("single", "pair") for item in found.get(key, ()) if "special" in item}
        return found.get("single", [])[-1:] == [{"sequence": "A"}] and names == named

    small = minimized(Question({"post_processor": template}, "encode", {"text": "a", "pair": "b"}), puts_a_text_in)
    kept = {"type": "template", "single": [{"sequence": "A"}], "pair": [], "special_tokens": []}
    assert (small.model, small.input) == ({"post_processor": kept}, {"text": ""})


def test_a_model_that_makes_no_difference_becomes_one_of_the_characters() -> None:
    model = {"type": "unigram", "tokens": [["<unk>", -1.0], ["ab", -2.5]], "weights": "log_probability"}
    question = Question({**model, "padding": {"strategy": {"fixed": 3}}}, "encode", {"text": "a"})
    small = minimized(question, lambda each: "padding" in each.model and each.input["text"] == "a")
    assert small.model == {"padding": {}, "type": "bpe", "vocabulary": ["a"]}


def test_frequencies_stand_for_logarithms() -> None:
    model = {"type": "unigram", "tokens": [["a", -1.5], ["b", -2.5]], "weights": "log_probability"}
    small = minimized(Question(model, "segment", {"word": "a"}), lambda each: each.input["word"] == "a")
    assert small.model == {"type": "unigram", "tokens": [["a", 1]]}


def test_parameters_become_shorter() -> None:
    split = {"type": "split", "pattern": {"regex": r"\p{L}+|\s"}, "behavior": "isolated"}
    question = Question({"pre_tokenizer": split}, "pre_tokenize", {"text": "a"})
    small = minimized(question, lambda each: "regex" in str(each.model) and "behavior" in str(each.model))
    assert small.model == {"pre_tokenizer": {**split, "pattern": {"regex": "a"}}}


def test_a_plain_letter_stands_for_others() -> None:
    model = {"type": "bpe", "vocabulary": ["é", "éé"], "merges": [["é", "é"]]}
    small = minimized(
        Question(model, "encode", {"text": "éé"}),
        lambda each: len(each.input["text"]) == 2 and len(each.model.get("merges", ())) == 1,
    )
    assert (small.model["vocabulary"], small.input) == (["a", "aa"], {"text": "aa"})


def test_a_letter_stands_for_a_token_wherever_it_is_named() -> None:
    post_processor = {"type": "bert", "sep": ["</s>", 1], "cls": ["a", 1]}
    model = {"type": "bpe", "vocabulary": ["</s>", "a"], "unknown_token": "</s>", "post_processor": post_processor}

    def names_it(each: Question) -> bool:
        separator, _ = each.model.get("post_processor", {}).get("sep", ("", 0))
        return "a" != separator == each.input["text"] == each.model.get("unknown_token")

    small = minimized(Question(model, "encode", {"text": "</s>"}), names_it)
    expected = {
        **model,
        "vocabulary": ["b"],
        "unknown_token": "b",
        "post_processor": {**post_processor, "sep": ["b", 1]},
    }
    assert (small.model, small.input) == (expected, {"text": "b"})


def test_a_short_character_map_stands_for_a_long_one() -> None:
    def changes_two(each: Question) -> bool:
        charsmap = each.model.get("normalizer", {}).get("charsmap", "")
        steps = read_map(b64decode(charsmap)).steps(each.input["text"]) if charsmap else []
        return any(end - start == 2 for _, start, end in steps)

    model = {"normalizer": {"type": "precompiled", "charsmap": CHARACTER_MAPS[1]}}
    small = minimized(
        Question(model, "normalize", {"text": "xabx"}), changes_two, passes=(*PASSES, offer(shorter_maps))
    )
    charsmap = "EAAAAACAAQBhiAEAYQUAAAAAAIBhAA=="  # of aa to a
    assert (small.model["normalizer"]["charsmap"], small.input) == (charsmap, {"text": "aa"})


def test_a_letter_more_stands_for_what_a_stage_had_added() -> None:
    model = {"pre_tokenizer": {"type": "sequence", "pre_tokenizers": [{"type": "metaspace"}, {"type": "digits"}]}}

    def has_two_pieces(each: Question) -> bool:
        found = str(each.model)
        text = each.input["text"]
        return "digits" in found and text[-1:].isdigit() and len(text) + ("metaspace" in found) == 2

    small = minimized(Question(model, "pre_tokenize", {"text": "1"}), has_two_pieces)
    assert (small.model, small.input) == ({"pre_tokenizer": {"type": "digits"}}, {"text": "a1"})


def test_a_name_of_a_template_stands_for_one_token() -> None:
    def names_a_token(each: Question) -> bool:
        (row,) = each.model.get("post_processor", {}).get("special_tokens") or [{"ids": [], "tokens": []}]
        return len(row["ids"]) == len(row["tokens"]) > 0 and row["name"] not in row["tokens"]

    row = {"name": "</s>", "ids": [1, 2], "tokens": ["a", "</s>"]}
    template = {"type": "template", "single": [], "pair": [{"sequence": "B"}], "special_tokens": [row]}
    small = minimized(Question({"post_processor": template}, "encode", {"text": "a"}), names_a_token)
    kept = {**template, "pair": [], "special_tokens": [{"name": "b", "ids": [1], "tokens": ["a"]}]}
    assert (small.model, small.input) == ({"post_processor": kept}, {"text": ""})


# Sequences


def test_a_long_text_is_cut_down_before_it_is_made_small() -> None:
    asked = 0

    def shows(texts: list[str]) -> list[bool]:
        nonlocal asked
        asked += len(texts)
        return ["qu" in text for text in texts]

    text = "word " * 2000 + "quick" + " word" * 2000
    assert minimize_sequence(narrow_sequence(text, shows), shows) == "qu"
    assert asked < 100


@pytest.mark.parametrize("length", [1, 2, 3, 7, 16, 33])
def test_a_sequence_is_left_with_what_is_needed_wherever_that_is(length: int) -> None:
    items = list(range(length))
    for needed in ([0], [length - 1], [length // 2], [0, length - 1], items):
        wanted = set(needed)

        def shows(candidates: list[list[int]], wanted: set[int] = wanted) -> list[bool]:
            return [wanted.issubset(each) for each in candidates]

        assert minimize_sequence(items, shows) == sorted(wanted)


def test_when_nothing_more_is_asked_what_there_is_stays() -> None:
    asked = iter([[True], [False, False]])

    def shows(candidates: list[Any]) -> list[bool]:
        found = next(asked, None)
        if found is None:
            raise Spent
        return [*found, *[False] * len(candidates)][: len(candidates)]

    assert minimize_sequence("ab" * 10, shows) == "ab" * 5
    assert narrow_sequence("abc", shows) == "abc"
