from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokref import AddedToken, AlignedText, Bpe, Choices, Component, Token, Tokenizer, encode
from tokref.added_tokens import raw_contents, split_added_tokens

SPECIAL = ("ab", "abc", "c")


def stretches(text: str, *tokens: AddedToken) -> list[tuple[str, int, bool]]:
    """Return each stretch with its start, and whether it is an added token."""
    found = split_added_tokens(AlignedText.from_input(text), raw_contents(tokens))
    return [(part.text, part.spans[0][0], token is not None) for part, token in found]


@pytest.mark.parametrize(
    ("text", "contents", "expected"),
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
def test_stretches(text: str, contents: tuple[str, ...], expected: list[tuple[str, int, bool]]) -> None:
    assert stretches(text, *map(AddedToken, contents)) == expected


@given(st.text("abcx ", max_size=12), st.lists(st.text("abc", min_size=1, max_size=3), unique=True, max_size=4))
def test_stretches_are_those_of_a_regular_expression(text: str, contents: list[str]) -> None:
    if not contents:
        assert stretches(text) == ([(text, 0, False)] if text else [])
        return
    longest_first = sorted(contents, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    expected, begin = [], 0
    for match in pattern.finditer(text):
        expected.append((text[begin : match.start()], begin, False))
        expected.append((match.group(), match.start(), True))
        begin = match.end()
    expected.append((text[begin:], begin, False))
    assert stretches(text, *map(AddedToken, contents)) == [stretch for stretch in expected if stretch[0]]


LEFT, RIGHT = AddedToken("<l>", lstrip=True), AddedToken("<r>", rstrip=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a \t<l> b", [("a", 0, False), (" \t<l>", 1, True), (" b", 6, False)]),
        (" <l>", [(" <l>", 0, True)]),
        ("a <r>\u3000\x85b", [("a ", 0, False), ("<r>\u3000\x85", 2, True), ("b", 7, False)]),
        ("<r> \x1c", [("<r> ", 0, True), ("\x1c", 4, False)]),
        ("<r>  <l>", [("<r>  ", 0, True), ("<l>", 5, True)]),
        ("<l>  <r>", [("<l>", 0, True), ("  ", 3, False), ("<r>", 5, True)]),
        ("<l> <l>", [("<l>", 0, True), (" <l>", 3, True)]),
    ],
    ids=ascii,
)
def test_white_space_that_is_taken(text: str, expected: list[tuple[str, int, bool]]) -> None:
    assert stretches(text, LEFT, RIGHT) == expected


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("ab", True),
        (" ab-", True),
        ("½ab²", True),
        ("xab", False),
        ("abx", False),
        ("_ab", False),
        ("ab5", False),
        ("Ⅷab", False),
        ("ab\u0301", False),
        ("ab\u200d", False),
        ("ab\u200b", True),
        ("來ab", False),
        ("<s>ab", True),
    ],
)
def test_a_single_word(text: str, is_found: bool) -> None:
    found = stretches(text, AddedToken("ab", single_word=True), AddedToken("<s>"))
    assert (text.index("ab") in [start for part, start, is_added in found if is_added]) == is_found


def test_a_discarded_match_is_not_searched() -> None:
    tokens = AddedToken("ab", single_word=True), AddedToken("b"), AddedToken("bc")
    assert stretches("abc", *tokens) == [("abc", 0, False)]
    assert stretches("abb", *tokens) == [("ab", 0, False), ("b", 2, True)]


LOWERED = Tokenizer(
    Bpe({"a": 0, "o": 1, "f": 2, " ": 3, "foo": 4, "<": 5}),
    Component("lowercase"),
    added_tokens=(
        AddedToken("Foo", 9, normalized=True, rstrip=True),
        AddedToken("oF", 7),
        AddedToken("foo", 4, single_word=True),
    ),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aFOO  a", [("a", 0, 0, 1), ("Foo", 9, 1, 6), ("a", 0, 6, 7)]),
        ("FooF", [("f", 2, 0, 1), ("o", 1, 1, 2), ("oF", 7, 2, 4)]),
        (" foo", [(" ", 3, 0, 1), ("foo", 4, 1, 4)]),
        ("afoo", [("a", 0, 0, 1), ("Foo", 9, 1, 4)]),
    ],
)
def test_two_passes(text: str, expected: list[Token]) -> None:
    assert encode(text, LOWERED, Choices()) == expected


def test_a_content_of_which_nothing_is_left_is_not_found() -> None:
    tokenizer = Tokenizer(
        Bpe({"a": 0}), Component("strip_accents"), added_tokens=(AddedToken("\u0301", 1, normalized=True),)
    )
    assert encode("a\u0301a", tokenizer, Choices()) == [("a", 0, 0, 1), ("a", 0, 2, 3)]
