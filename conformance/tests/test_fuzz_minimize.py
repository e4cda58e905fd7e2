"""What a question is cut down to is still something of which the specification speaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tokspec.fuzz.checker import Question
from tokspec.fuzz.minimize import is_sound, minimize

BPE = {
    "type": "bpe",
    "vocabulary": ["<s>", "a", "b", "ab", "<unk>"],
    "merges": [["a", "b"]],
    "unknown_token": "<unk>",
    "special_tokens": ["<s>"],
}


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
    small = minimize(question, lambda candidate: bool(candidate.input["corpus"]["words"]))
    assert small.input == {"corpus": {"words": [["a", 0]]}}


def test_tokens_go_with_what_names_them() -> None:
    assert minimize(Question(BPE, "normalize", {"text": "a"}), lambda candidate: True).model == {"type": "bpe"}


def test_a_special_token_stays_in_the_vocabulary() -> None:
    small = minimize(Question(BPE, "encode", {"text": "a<s>b"}), lambda each: bool(each.model.get("special_tokens")))
    expected = {"type": "bpe", "vocabulary": ["<s>"], "special_tokens": ["<s>"]}
    assert (small.model, small.input) == (expected, {"text": ""})


def test_ids_follow_the_tokens_that_they_name() -> None:
    model = {"type": "bpe", "vocabulary": ["a", "b", "c", "d"]}

    def decodes_c(candidate: Question) -> bool:
        tokens = candidate.model.get("vocabulary", [])
        return [tokens[id] for id in candidate.input["ids"] if id < len(tokens)] == ["c"]

    small = minimize(Question(model, "decode", {"ids": [2]}), decodes_c)
    assert (small.model, small.input) == ({"type": "bpe", "vocabulary": ["c"]}, {"ids": [0]})


def test_a_model_that_encodes_keeps_a_token() -> None:
    assert minimize(Question(BPE, "encode", {"text": "a"}), lambda candidate: True).model["vocabulary"] == ["a"]


def test_what_tells_nothing_of_a_model_goes() -> None:
    inner = {"type": "sequence", "normalizers": [{"type": "nfc"}, {"type": "bert", "lowercase": True}]}
    model = {"normalizer": inner, "decoder": {"type": "byte_level"}}
    small = minimize(Question(model, "normalize", {"text": "Éaz"}), lambda each: "bert" in str(each.model))
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

    small = minimize(Question({"post_processor": template}, "encode", {"text": "a", "pair": "b"}), puts_a_text_in)
    kept = {"type": "template", "single": [{"sequence": "A"}], "pair": [], "special_tokens": []}
    assert (small.model, small.input) == ({"post_processor": kept}, {"text": ""})


def test_a_model_that_makes_no_difference_becomes_one_of_the_characters() -> None:
    model = {"type": "unigram", "tokens": [["<unk>", -1.0], ["ab", -2.5]], "weights": "log_probability"}
    question = Question({**model, "padding": {"strategy": {"fixed": 3}}}, "encode", {"text": "a"})
    small = minimize(question, lambda each: "padding" in each.model and each.input["text"] == "a")
    assert small.model == {"padding": {}, "type": "bpe", "vocabulary": ["a"]}


def test_frequencies_stand_for_logarithms() -> None:
    model = {"type": "unigram", "tokens": [["a", -1.5], ["b", -2.5]], "weights": "log_probability"}
    small = minimize(Question(model, "segment", {"word": "a"}), lambda each: each.input["word"] == "a")
    assert small.model == {"type": "unigram", "tokens": [["b", 1]]}


def test_parameters_become_shorter() -> None:
    split = {"type": "split", "pattern": {"regex": r"\p{L}+|\s"}, "behavior": "isolated"}
    question = Question({"pre_tokenizer": split}, "pre_tokenize", {"text": "a"})
    small = minimize(question, lambda each: "regex" in str(each.model) and "behavior" in str(each.model))
    assert small.model == {"pre_tokenizer": {**split, "pattern": {"regex": "a"}}}


def test_a_plain_letter_stands_for_others() -> None:
    model = {"type": "bpe", "vocabulary": ["é", "éé"], "merges": [["é", "é"]]}
    small = minimize(
        Question(model, "encode", {"text": "éé"}),
        lambda each: len(each.input["text"]) == 2 and len(each.model.get("merges", ())) == 1,
    )
    assert (small.model["vocabulary"], small.input) == (["a", "aa"], {"text": "aa"})
