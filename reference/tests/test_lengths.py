from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokref import Choices, Encoding, InputError, encode_inputs, from_mapping
from tokref.lengths import truncate
from tokref.values import EncodedToken, Truncation

BERT = {"type": "bert", "cls": ["<", 8], "sep": [">", 9]}


def encodings(inputs: list[list[str]], adds: bool = True, **parts: Any) -> list[Encoding]:
    tokenizer = from_mapping({"type": "bpe", "vocabulary": list("abcdefgh"), **parts})
    return encode_inputs(inputs, tokenizer, Choices(), adds)


def written(encoding: Encoding) -> list[str]:
    """Return the tokens of an encoding as a string, and those of what overflows."""
    return ["".join(token.text for token in part.tokens) for part in (encoding, *encoding.overflowing)]


def cut(
    texts: list[str], max_length: int, adds: bool = True, post_processor: Any = BERT, **truncation: Any
) -> list[str]:
    limits = {"max_length": max_length, **truncation}
    [encoding] = encodings([texts], adds, post_processor=post_processor, truncation=limits)
    return written(encoding)


@pytest.mark.parametrize(
    ("texts", "max_length", "options", "expected"),
    [
        (["abc"], 5, {}, ["<abc>"]),
        (["abcd"], 5, {}, ["<abc>", "<d>"]),
        (["abcd"], 5, {"direction": "left"}, ["<bcd>", "<a>"]),
        (["abcdef"], 5, {"stride": 1}, ["<abc>", "<cde>", "<ef>"]),
        (["abcde"], 5, {"stride": 1}, ["<abc>", "<cde>"]),
        (["abcdef"], 5, {"stride": 2}, ["<abc>", "<bcd>", "<cde>", "<def>"]),
        (["abcdef"], 5, {"stride": 1, "direction": "left"}, ["<def>", "<bcd>", "<ab>"]),
        (["abcde"], 5, {"stride": 1, "direction": "left"}, ["<cde>", "<abc>"]),
        (["abcd"], 4, {"adds": False}, ["abcd"]),
        (["abcd"], 3, {"adds": False}, ["abc", "d"]),
        (["abcd"], 0, {"adds": False}, ["", "abcd"]),
        (["abcd"], 2, {}, ["<>", "<abcd>"]),
        ([""], 2, {}, ["<>"]),
        (["abcd", ""], 3, {}, ["<>>", "<abcd>>"]),
        (["abc", "de"], 8, {}, ["<abc>de>"]),
        (["abcd", "e"], 6, {}, ["<ab>e>", "<cd>e>"]),
        (["a", "bcde"], 6, {}, ["<a>bc>", "<a>de>"]),
        (["abc", "def"], 7, {}, ["<ab>de>", "<c>de>", "<c>f>", "<ab>f>"]),
        (["abc", "def"], 7, {"direction": "left"}, ["<bc>ef>", "<a>ef>", "<a>d>", "<bc>d>"]),
        (["abcd", "efgh"], 5, {}, ["<a>e>", "<b>e>", "<b>f>", "<b>g>", "<b>h>", *["<c>e>", "<c>f>", "<c>g>", "<c>h>"],
                                   *["<d>e>", "<d>f>", "<d>g>", "<d>h>", "<a>f>", "<a>g>", "<a>h>"]]),
        (["abc", "de"], 7, {"strategy": "only_first"}, ["<ab>de>", "<c>de>"]),
        (["abc", "de"], 7, {"strategy": "only_second"}, ["<abc>d>", "<abc>e>"]),
        (["abc"], 4, {"strategy": "only_first"}, ["<ab>", "<c>"]),
        (["abc"], 5, {"strategy": "only_second"}, ["<abc>"]),
        (["ab"], 2, {"strategy": "only_second"}, ["<>", "<ab>"]),
        (["abc"], 2, {"post_processor": None}, ["ab", "c"]),
    ],
)  # fmt: skip
def test_what_is_cut(texts: list[str], max_length: int, options: dict[str, Any], expected: list[str]) -> None:
    assert cut(texts, max_length, **options) == expected


@pytest.mark.parametrize(
    ("texts", "max_length", "options", "message"),
    [
        (["a"], 1, {}, "max_length is 1, and 2 tokens are added; make it larger"),
        (["a", "b"], 2, {}, "max_length is 2, and 3 tokens are added; make it larger"),
        (["ab"], 3, {"strategy": "only_second"}, "the strategy only_second needs a pair; give one, or a shorter text"),
        (["a", "bcd"], 6, {"strategy": "only_first"}, "only_first would have to remove 1 tokens of 1"),
        (["abc", "d"], 5, {"strategy": "only_second"}, "only_second would have to remove 2 tokens of 1"),
        (["abc"], 4, {"stride": 2}, "the stride 2 is not below 2, the number of tokens that a text keeps"),
        (["abc", "def"], 7, {"stride": 2}, "the stride 2 is not below 2, the number of tokens that a text keeps"),
    ],
)
def test_what_cannot_be_cut(texts: list[str], max_length: int, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        cut(texts, max_length, **options)
    assert (caught.value.reason, caught.value.message) == ("invalid_input", message)


def pop_from_the_longer(first: int, second: int, room: int) -> tuple[int, int]:
    """Count as ``_truncate_seq_pair`` of the program published with BERT cuts."""
    while first + second > room:
        if first > second:
            first -= 1
        else:
            second -= 1
    return first, second


def halve(first: int, second: int, room: int) -> tuple[int, int]:
    """Count by the three cases of the rule, where the longer text keeps one more of an odd room."""
    half = room // 2
    if min(first, second) <= half:
        return (first, room - first) if first <= second else (room - second, second)
    return (half + room % 2, half) if first > second else (half, half + room % 2)


@given(st.integers(0, 9), st.integers(0, 9), st.integers(1, 12))
def test_which_text_is_cut(first: int, second: int, room: int) -> None:
    texts = [(EncodedToken("a", 0, 0, 1),) * size for size in (first, second)]

    def sizes(option: Any) -> tuple[int, ...]:
        return tuple(len(parts[0]) for parts in truncate(texts, Truncation(room), 0, Choices(truncation_odd=option)))

    fits = first + second <= room
    assert sizes("first") == ((first, second) if fits else pop_from_the_longer(first, second, room))
    assert sizes("longer") == ((first, second) if fits else halve(first, second, room))


def test_a_cut_changes_no_span_and_no_word() -> None:
    split = {"type": "whitespace_split"}
    limits = {"max_length": 2, "direction": "left"}
    [encoding] = encodings([["a b cd"]], pre_tokenizer=split, truncation=limits)
    tokens = [
        [(*token[2:4], token.word, token.sequence) for token in part.tokens]
        for part in (encoding, *encoding.overflowing)
    ]
    assert tokens == [[(4, 5, 2, 0), (5, 6, 2, 0)], [(0, 1, 0, 0), (2, 3, 1, 0)]]


@pytest.mark.parametrize(
    ("padding", "expected"),
    [
        ({}, ["<a>--", "<abc>"]),
        ({"direction": "left"}, ["--<a>", "<abc>"]),
        ({"pad_to_multiple_of": 4}, ["<a>-----", "<abc>---"]),
        ({"pad_to_multiple_of": 5}, ["<a>--", "<abc>"]),
        ({"pad_to_multiple_of": 0}, ["<a>--", "<abc>"]),
        ({"strategy": {"fixed": 4}}, ["<a>-", "<abc>"]),
        ({"strategy": {"fixed": 3}, "pad_to_multiple_of": 4}, ["<a>-", "<abc>"]),
        ({"strategy": {"fixed": 0}}, ["<a>", "<abc>"]),
        ({"strategy": {"fixed": 6}, "direction": "left"}, ["---<a>", "-<abc>"]),
    ],
)
def test_padding(padding: dict[str, Any], expected: list[str]) -> None:
    found = encodings([["a"], ["abc"]], post_processor=BERT, padding={"token": "-", **padding})
    assert ["".join(token.text for token in encoding.tokens) for encoding in found] == expected


def test_what_padding_consists_of() -> None:
    [encoding] = encodings([["a"]], padding={"strategy": {"fixed": 2}, "id": 77, "type_id": 3, "token": "-"})
    assert encoding.tokens[1] == EncodedToken("-", 77, 0, 0, 3, True, False, None, None)


def test_parts_that_overflow_are_filled_up_and_do_not_count() -> None:
    limits = {"max_length": 2}
    found = encodings([["abc"], ["d"]], truncation=limits, padding={"token": "-"})
    assert list(map(written, found)) == [["ab", "c-"], ["d-"]]
    assert encodings([], padding={}) == []


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"truncation": {}}, "the truncation needs the key max_length"),
        ({"truncation": {"max_length": -1}}, "-1 is not an integer from 0 to 2**53 - 1"),
        ({"truncation": {"max_length": 2, "stride": 2}}, "the stride 2 of the truncation is not below max_length 2"),
        (
            {"truncation": {"max_length": 2, "strategy": "all"}},
            "'all' is not one of longest_first, only_first, only_second",
        ),
        (
            {"padding": {"strategy": "longest"}},
            "'longest' is neither batch_longest nor an object with the key fixed alone",
        ),
        ({"padding": {"strategy": {"fixed": "2"}}}, "'2' is not an integer from 0 to 2**53 - 1"),
        ({"padding": {"direction": "up"}}, "'up' is not one of right, left"),
    ],
)
def test_lengths_that_contradict_themselves_are_refused(parts: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        encodings([], **parts)
    assert (caught.value.reason, caught.value.message) == ("invalid_model", message)
