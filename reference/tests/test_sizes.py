"""A small input may ask for very much: that is refused at the door, and what asks for a little less is answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tokref import Choices, InputError, Unigram, encode_inputs, from_mapping
from tokref.alignment import AlignedText
from tokref.normalization import normalize
from tokref.patterns import compile_pattern
from tokref.reading.ceilings import TimedPattern, refuse_heavy_pattern, refuse_large_encoding, refuse_many_segmentations
from tokref.unigram import segmentations
from tokref.values import set_kind

from .strategies import charsmap

BPE = {"type": "bpe", "vocabulary": ["a"], "merges": []}


def encode(texts: list[str], **parts: Any) -> int:
    """Return how many tokens there are with those that overflow."""
    tokenizer = from_mapping({**BPE, **parts})
    refuse_large_encoding([texts], tokenizer, Choices(), True, "all", ())
    [encoding] = encode_inputs([texts], tokenizer, Choices(), True)
    return sum(len(part.tokens) for part in (encoding, *encoding.overflowing))


def replace(count: int) -> int:
    parts = from_mapping({"normalizer": {"type": "precompiled", "charsmap": charsmap({"a": "b" * count})}})
    return len(normalize(AlignedText.from_input("a"), parts.normalizer, Choices()).text)


def pair(first: int, second: int) -> int:
    """Encode a pair that is cut to a token each, so that there are as many parts as tokens."""
    return encode(["a" * first, "a" * second], truncation={"max_length": 2})


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (r"a{1001}", "the pattern has the repetition '{1001}', which counts above 1000, or 10000 with those in it"),
        (r"a{2,1001}", "the pattern has the repetition '{2,1001}', which counts above 1000, or 10000 with those in it"),
        (
            r"(?:a|(?:b{100}c)+){101}",
            "the pattern has the repetition '{101}', which counts above 1000, or 10000 with those in it",
        ),
        ("a{" + "9" * 3000 + "}", f"the pattern has the repetition '{{{'9' * 46}...{'9' * 47}}}', which"),
        ("a" + "[" * 22 + "]" * 22, "the pattern has classes nested deeper than 20 levels"),
        (r"a\x{110000}", r"the pattern has '\\x{110000}' at 1, which is no character"),
    ],
)
def test_a_pattern_that_asks_for_much_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        refuse_heavy_pattern(pattern)
    assert caught.value.reason == "unsupported"
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(("pattern", "place"), [(r"ab\Xc", 2), (r"a\x{110000}", 1), ("a(?P<b>c)", 1), ("(a", None)])
def test_a_refusal_says_where_in_a_pattern_the_construct_begins(pattern: str, place: int | None) -> None:
    with pytest.raises(InputError) as caught:
        compile_pattern(pattern, Choices())
    assert caught.value.place == place


@pytest.mark.parametrize(
    "pattern", [r"a{1000}", r"(?:a{100}){100}", r"(?:a{1000}b{1000}){10}", r"[[[a]b]&&[a]]", r"\x{10FFFF}"]
)
def test_a_pattern_that_asks_for_less_is_compiled(pattern: str) -> None:
    refuse_heavy_pattern(pattern)
    assert compile_pattern(pattern, Choices())


def test_a_pattern_is_refused_where_it_is_read() -> None:
    for stage in ({"normalizer": {"type": "replace", "content": ""}}, {"decoder": {"type": "replace", "content": ""}}):
        [(name, given)] = stage.items()
        with pytest.raises(InputError) as caught:
            from_mapping({name: {**given, "pattern": {"regex": "a" * 4097}}})
        message = "a pattern of 4097 characters is longer than 4096"
        assert (caught.value.reason, caught.value.message) == ("unsupported", message)


def test_a_search_that_takes_too_long_is_given_up() -> None:
    pattern = TimedPattern("(?:a|a)+b")
    assert pattern.search("aab", Choices()) == [(0, 3)]
    with pytest.raises(InputError) as caught:
        pattern.search("a" * 100 + "c", Choices(), timeout=0.05)
    assert caught.value.reason == "unsupported"
    assert caught.value.message.endswith("takes too long")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: encode(["aa"], padding={"strategy": {"fixed": 2**20 + 3}}),
            "padding would put in 1048577 tokens, more than 1048576",
        ),
        (
            lambda: encode(["aa"], padding={"pad_to_multiple_of": 10**15}),
            "padding would put in 999999999999998 tokens, more than 1048576",
        ),
        (lambda: pair(1000, 101), "100999 parts would overflow, more than 100000"),
        (lambda: replace(1001), "the character map has a replacement of 1001 characters, more than 1000"),
        (
            lambda: refuse_many_segmentations("a" * 40, Unigram({"a": 1, "aa": 1})),
            "'aaaaaaaaaaaaaaaaaaaaaaaaa' has 121393 segmentations, more than 100000",
        ),
    ],
    ids=["fixed", "multiple", "overflowing", "replacement", "segmentations"],
)
def test_what_asks_for_much_is_refused(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        ask()
    assert (caught.value.reason, caught.value.message) == ("unsupported", message)


def test_what_asks_for_less_is_answered() -> None:
    assert encode(["aa"], padding={"strategy": {"fixed": 100_000}}) == 100_000
    assert pair(100, 20) == 4000
    assert replace(1000) == 1000
    refuse_many_segmentations("a" * 20, Unigram({"a": 1, "aa": 1}))
    assert len(segmentations("a" * 20, Unigram({"a": 1, "aa": 1}))) == 10946


class Counted(str):
    """A text that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)


def test_kinds_are_set_without_comparing_all_with_all() -> None:
    """A file of SentencePiece has 250,000 tokens, and thousands of them of a type that no text has."""
    weights = {Counted(number): -1.0 for number in range(500)}
    Counted.compared = 0
    model = set_kind("unused", [Counted(number) for number in range(400)], Unigram(weights))
    assert len(model.ordinary) == 100
    assert Counted.compared < 4000
