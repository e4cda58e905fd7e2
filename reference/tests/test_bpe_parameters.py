from __future__ import annotations

from typing import Any

import pytest

from tokref import AlignedText, Choices, InputError, Token, encode, from_mapping
from tokref.unigram import encode_unigram

BYTES = ["<0xC3>", "<0xA9>", "<0xE2>"]


def tokens(text: str, choices: Choices | None = None, **model: Any) -> list[str]:
    """Encode with the letters a and b; return each token with its span."""
    parts = {"type": "bpe", "vocabulary": ["?", "a", "b"], "merges": [], "unknown_token": "?", **model}
    return [
        f"{token.text} {token.start}-{token.end}" for token in encode(text, from_mapping(parts), choices or Choices())
    ]


@pytest.mark.parametrize(("fuse_unk", "option"), [(True, "each"), (True, "fused"), (False, "each"), (False, "fused")])
def test_a_model_says_whether_unknown_characters_are_fused(fuse_unk: bool, option: Any) -> None:
    expected = ["? 0-2", "a 2-3", "? 3-4"] if fuse_unk else ["? 0-1", "? 1-2", "a 2-3", "? 3-4"]
    assert tokens("xyax", Choices(bpe_unknown_run=option), fuse_unk=fuse_unk) == expected


WHOLE = {"vocabulary": ["?", "a", "b", "ab", "abb"], "merges": [["a", "b"]]}


@pytest.mark.parametrize(
    ("text", "ignored", "expected"),
    [
        ("abb", True, ["abb 0-3"]),
        ("abb", False, ["ab 0-2", "b 2-3"]),
        ("abba", True, ["ab 0-2", "b 2-3", "a 3-4"]),
        ("?", True, ["? 0-1"]),
    ],
)
def test_a_piece_that_is_a_token(text: str, ignored: bool, expected: list[str]) -> None:
    assert tokens(text, ignore_merges=ignored, **WHOLE) == expected


SUFFIX = {
    "vocabulary": ["?", "a", "b", "a</w>", "b</w>", "ab</w>", "aab</w>"],
    "merges": [["a", "b</w>"], ["a", "ab</w>"]],
    "end_of_word_suffix": "</w>",
    "pre_tokenizer": {"type": "whitespace_split"},
}
PREFIX = {
    "vocabulary": ["?", "a", "b", "##a", "##b", "ab", "##ba", "aba"],
    "merges": [["##b", "##a"], ["a", "##ba"]],
    "continuing_prefix": "##",
}
BOTH = {
    "vocabulary": ["?", "a", "##b", "##b$", "##bb$", "abb$"],
    "merges": [["##b", "##b$"], ["a", "##bb$"]],
    "continuing_prefix": "##",
    "end_of_word_suffix": "$",
}


@pytest.mark.parametrize(
    ("text", "model", "expected"),
    [
        ("a aab", SUFFIX, ["a</w> 0-1", "aab</w> 2-5"]),
        ("ba", SUFFIX, ["b 0-1", "a</w> 1-2"]),
        ("xa", SUFFIX, ["? 0-1", "a</w> 1-2"]),
        ("ax", SUFFIX, ["a 0-1", "? 1-2"]),
        ("aba", PREFIX, ["aba 0-3"]),
        ("baba", PREFIX, ["b 0-1", "##a 1-2", "##ba 2-4"]),
        ("abb", BOTH, ["abb$ 0-3"]),
        ("b", BOTH, ["? 0-1"]),  # only ##b and ##b$ are tokens
    ],
)
def test_affixes(text: str, model: dict[str, Any], expected: list[str]) -> None:
    assert tokens(text, Choices(bpe_merge_order="lowest_rank"), **model) == expected
    assert tokens(text, **model) == expected
    if model is SUFFIX:  # all of whose pairs that make a token are listed
        assert tokens(text, Choices(bpe_pairs="in_vocabulary"), **model) == expected


def test_a_suffix_stays_with_a_character_that_is_dropped() -> None:
    dropping = Choices(bpe_unknown_without_token="dropped_before_merging")
    assert tokens("ax", dropping, **{**SUFFIX, "unknown_token": None}) == ["a 0-1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aéb", ["a 0-1", "<0xC3> 1-2", "<0xA9> 1-2", "b 2-3"]),
        ("éé", ["<0xC3> 0-1", "<0xA9> 0-1", "<0xC3> 1-2", "<0xA9> 1-2"]),
        ("x→é", ["? 0-1", "? 1-2", "<0xC3> 2-3", "<0xA9> 2-3"]),  # of → only one of three bytes is a token
        ("xéx", ["? 0-1", "<0xC3> 1-2", "<0xA9> 1-2", "? 2-3"]),
    ],
)
def test_bytes_of_unknown_characters(text: str, expected: list[str]) -> None:
    assert tokens(text, vocabulary=["?", "a", "b", *BYTES], byte_fallback=True) == expected


def test_bytes_are_neither_fused_nor_dropped() -> None:
    model = {"vocabulary": ["?", "a", *BYTES], "byte_fallback": True}
    assert tokens("xéxy", fuse_unk=True, **model) == ["? 0-1", "<0xC3> 1-2", "<0xA9> 1-2", "? 2-4"]
    dropping = Choices(bpe_unknown_without_token="dropped_before_merging")
    assert tokens("xéa", dropping, **{**model, "unknown_token": None}) == ["<0xC3> 1-2", "<0xA9> 1-2", "a 2-3"]
    assert tokens("é", **{**model, "unknown_token": None}) == ["<0xC3> 0-1", "<0xA9> 0-1"]


def test_a_lone_surrogate_has_no_bytes() -> None:
    with pytest.raises(InputError) as caught:
        tokens("\ud800", byte_fallback=True)
    assert caught.value.reason == "invalid_input"


@pytest.mark.parametrize(
    ("text", "option", "expected"),
    [
        ("aéb", "run", [("a", 1, 0, 1), ("<0xC3>", 3, 1, 2), ("<0xA9>", 4, 1, 2), ("b", 2, 2, 3)]),
        ("éxa", "run", [("?", 0, 0, 2), ("a", 1, 2, 3)]),
        ("é", "piece", [("<0xC3>", 3, 0, 1), ("<0xA9>", 4, 0, 1)]),
        ("éa", "piece", [("?", 0, 0, 2)]),
    ],
)
def test_bytes_in_unigram(text: str, option: Any, expected: list[Token]) -> None:
    weights = [["?", 0], ["a", 1], ["b", 1], ["<0xC3>", 0], ["<0xA9>", 0]]
    model = from_mapping({"type": "unigram", "tokens": weights, "unknown_token": "?", "byte_fallback": True}).model
    found = encode_unigram(AlignedText.from_input(text), model, Choices(unigram_unknown=option))  # type: ignore[arg-type]
    assert found == expected


def test_word_level() -> None:
    model = {"type": "wordlevel", "vocabulary": [["ab", 7], ["<unk>", 3]], "pre_tokenizer": {"type": "bert"}}
    assert encode("ab abc,", from_mapping(model), Choices()) == [
        ("ab", 7, 0, 2),
        ("<unk>", 3, 3, 6),
        ("<unk>", 3, 6, 7),
    ]
    with pytest.raises(InputError) as caught:
        encode("abc", from_mapping({**model, "unknown_token": "?"}), Choices())
    assert (caught.value.reason, caught.value.message) == (
        "unknown_symbol",
        "'abc' is unknown and the unknown token '?' is not in the vocabulary",
    )
