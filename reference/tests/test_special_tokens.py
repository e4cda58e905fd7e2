from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tokref import split_special_tokens

SPECIAL = ("ab", "abc", "c")


def test_the_longest_is_taken_where_several_begin() -> None:
    assert split_special_tokens("xabcab c", SPECIAL) == [
        ("x", 0, False),
        ("abc", 1, True),
        ("ab", 4, True),
        (" ", 6, False),
        ("c", 7, True),
    ]


def test_special_tokens_are_no_patterns() -> None:
    assert split_special_tokens("a.b|", (".", "|")) == [
        ("a", 0, False),
        (".", 1, True),
        ("b", 2, False),
        ("|", 3, True),
    ]


def test_without_special_tokens_the_text_is_one_stretch() -> None:
    assert split_special_tokens("a b", ()) == [("a b", 0, False)]
    assert split_special_tokens("", ()) == split_special_tokens("", SPECIAL) == []


@given(st.text("abcx", max_size=12))
def test_matching_is_that_of_a_walk_from_left_to_right(text: str) -> None:
    expected: list[tuple[str, int, bool]] = []
    position = begin = 0
    while position < len(text):
        token = next((token for token in ("abc", "ab", "c") if text.startswith(token, position)), "")
        if token:
            expected += [(text[begin:position], begin, False)] if begin < position else []
            expected.append((token, position, True))
            begin = position + len(token)
        position += len(token) or 1
    expected += [(text[begin:], begin, False)] if begin < len(text) else []
    assert split_special_tokens(text, SPECIAL) == expected
