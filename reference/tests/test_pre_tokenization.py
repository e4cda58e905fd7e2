from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import HARD_TEXTS, TEXTS

from tokref import (
    AlignedText,
    BertPreTokenizer,
    ByteLevel,
    Metaspace,
    PreTokenizerSequence,
    WhitespaceSplit,
    join_byte_level,
    pre_tokenize,
)
from tokref.alignment import PlainText
from tokref.pre_tokenization import pieces_of

PRE_TOKENIZERS = {
    "none": None,
    "bert": BertPreTokenizer(),
    "whitespace_split": WhitespaceSplit(),
    "byte_level": ByteLevel(),
    "byte_level, prefix": ByteLevel(add_prefix_space=True),
    "byte_level, uncut": ByteLevel(use_regex=False),
    "metaspace": Metaspace(),
    "metaspace, uncut": Metaspace(split_at_replacement=False),
    "t5": PreTokenizerSequence((WhitespaceSplit(), Metaspace())),
    "three": PreTokenizerSequence((BertPreTokenizer(), ByteLevel(add_prefix_space=True), Metaspace("Ġ"))),
}


def pieces(text: str, name: str) -> list[tuple[str, int, int]]:
    found = pre_tokenize(AlignedText(text), PRE_TOKENIZERS[name])
    return [(piece.text, *piece.span(0, len(piece.text))) for piece in found]


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
@given(text=TEXTS | HARD_TEXTS, start=st.integers(0, 1))
def test_the_quick_way_gives_the_same_pieces(name: str, text: str, start: int) -> None:
    slow = [piece.text for piece in pre_tokenize(AlignedText(text, start), PRE_TOKENIZERS[name])]
    assert pieces_of(PlainText(text, start), PRE_TOKENIZERS[name]) == slow


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
@given(text=TEXTS | HARD_TEXTS)
def test_pieces_stand_in_order_inside_the_text_and_are_not_empty(name: str, text: str) -> None:
    found = pieces(text, name)
    assert all(piece for piece, _, _ in found)
    spans = [(start, end) for _, start, end in found]
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    if name != "three":  # bytes of one character may lie in two of its pieces
        assert all(first[1] <= second[0] for first, second in pairwise(spans))


@given(TEXTS | HARD_TEXTS)
def test_byte_level_loses_nothing(text: str) -> None:
    found = pieces(text, "byte_level")
    assert join_byte_level([piece for piece, _, _ in found]) == text
    assert "".join(text[start:end] for _, start, end in found) == text


def test_berts_pieces() -> None:
    expected = [("Hello", 0, 5), (",", 5, 6), ("how", 7, 10), ("are", 11, 14), ("you", 16, 19), ("?", 19, 20)]
    assert pieces("Hello, how are  you?", "bert") == expected
    assert [piece for piece, _, _ in pieces("a+b¿c`d\u2028e中_", "bert")] == [
        "a",
        "+",
        "b",
        "¿",
        "c",
        "`",
        "d",
        "e中",
        "_",
    ]


def test_gpt_2s_pieces() -> None:
    expected = [("Hello", 0, 5), (",", 5, 6), ("Ġhow", 6, 10), ("Ġare", 10, 14), ("Ġ", 14, 15), ("Ġyou", 15, 19)]
    assert pieces("Hello, how are  you?", "byte_level") == [*expected, ("?", 19, 20)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it's we'LL don't", ["it", "'s", "Ġwe", "'", "LL", "Ġdon", "'t"]),
        ("a\n\nb", ["a", "Ċ", "Ċ", "b"]),
        ("a \n b", ["a", "ĠĊ", "Ġb"]),
        ("a  ", ["a", "ĠĠ"]),
        ("½!2²x", ["Â½", "!", "2Â²", "x"]),
        (" é", ["ĠÃ©"]),
    ],
)
def test_what_gpt_2s_pattern_cuts(text: str, expected: list[str]) -> None:
    assert [piece for piece, _, _ in pieces(text, "byte_level")] == expected


def test_a_prefix_takes_no_room() -> None:
    assert pieces("ab c", "byte_level, prefix") == [("Ġab", 0, 2), ("Ġc", 2, 4)]
    assert pieces(" ab", "byte_level, prefix") == [("Ġab", 0, 3)]
    assert [piece for piece, _, _ in pieces("\nab", "byte_level, prefix")] == ["Ġ", "Ċ", "ab"]
    assert pieces("ab", "metaspace") == [("▁ab", 0, 2)]
    assert pieces("▁ab", "metaspace") == [("▁ab", 0, 3)]


def test_bytes_share_the_span_of_their_character() -> None:
    (piece,) = pre_tokenize(AlignedText("éa中"), ByteLevel())
    assert [piece.span(index, index + 1) for index in range(6)] == [(0, 1), (0, 1), (1, 2), (2, 3), (2, 3), (2, 3)]


def test_t5s_pieces() -> None:
    expected = [("▁Hello,", 0, 6), ("▁how", 7, 10), ("▁are", 11, 14), ("▁you?", 16, 20)]
    assert pieces("Hello, how are  you?", "t5") == expected


@pytest.mark.parametrize(
    ("text", "scheme", "expected"),
    [
        ("a b", "always", ["▁a", "▁b"]),
        ("a  b", "always", ["▁a", "▁", "▁b"]),
        ("a b", "never", ["a", "▁b"]),
        (" a\tb", "first", ["▁a\tb"]),
    ],
)
def test_metaspaces_schemes(text: str, scheme: str, expected: list[str]) -> None:
    found = pre_tokenize(AlignedText(text), Metaspace(prepend_scheme=scheme))  # type: ignore[arg-type]
    assert [piece.text for piece in found] == expected


def test_first_looks_at_the_start_of_the_input() -> None:
    sequence = PreTokenizerSequence((WhitespaceSplit(), Metaspace(prepend_scheme="first")))
    assert [piece.text for piece in pre_tokenize(AlignedText("a b"), sequence)] == ["▁a", "b"]
    assert [piece.text for piece in pre_tokenize(AlignedText(" a b"), sequence)] == ["a", "b"]
    assert [piece.text for piece in pre_tokenize(AlignedText("a b", 3), sequence)] == ["a", "b"]


def test_white_space_is_unicodes_property() -> None:
    assert pieces("a\x1cb\u0085c\u200bd", "whitespace_split") == [("a\x1cb", 0, 3), ("c\u200bd", 4, 7)]
