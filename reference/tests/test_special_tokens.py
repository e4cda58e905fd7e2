from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokref.special_tokens import split_special_tokens

SPECIAL = ("ab", "abc", "c")


@pytest.mark.parametrize(
    ("text", "special_tokens", "expected"),
    [
        ("", (), []),
        ("", SPECIAL, []),
        ("a b", (), [("a b", 0, False)]),
        ("ab", SPECIAL, [("ab", 0, True)]),
        (
            "xabcab c",
            SPECIAL,
            [("x", 0, False), ("abc", 1, True), ("ab", 4, True), (" ", 6, False), ("c", 7, True)],
        ),
        ("a.b|", (".", "|"), [("a", 0, False), (".", 1, True), ("b", 2, False), ("|", 3, True)]),
        ("aaa", ("aa",), [("aa", 0, True), ("a", 2, False)]),
        (" <s>  <s>", ("<s>",), [(" ", 0, False), ("<s>", 1, True), ("  ", 4, False), ("<s>", 6, True)]),
        ("<S>", ("<s>",), [("<S>", 0, False)]),
    ],
    ids=str,
)
def test_stretches(text: str, special_tokens: tuple[str, ...], expected: list[tuple[str, int, bool]]) -> None:
    assert split_special_tokens(text, special_tokens) == expected


@given(st.text("abcx ", max_size=12), st.lists(st.text("abc", min_size=1, max_size=3), unique=True, max_size=4))
def test_stretches_are_those_of_a_regular_expression(text: str, special_tokens: list[str]) -> None:
    if not special_tokens:
        assert split_special_tokens(text, special_tokens) == ([(text, 0, False)] if text else [])
        return
    longest_first = sorted(special_tokens, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    expected, begin = [], 0
    for match in pattern.finditer(text):
        expected.append((text[begin : match.start()], begin, False))
        expected.append((match.group(), match.start(), True))
        begin = match.end()
    expected.append((text[begin:], begin, False))
    assert split_special_tokens(text, special_tokens) == [stretch for stretch in expected if stretch[0]]
