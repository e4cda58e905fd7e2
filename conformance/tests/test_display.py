"""Text that an implementation may return, made fit to be shown."""

from __future__ import annotations

import unicodedata

import pytest

from tokspec.base.display import compact, quote, shorten, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, with \\ and \"'", "plain text, with \\ and \"'"),
        ("\x1b[2J\x1b]0;title\x07", "\\u001b[2J\\u001b]0;title\\u0007"),
        ("right\rwrong", "right\\u000dwrong"),
        ("one\ntwo\tthree\x00\x7f\x85", "one\\u000atwo\\u0009three\\u0000\\u007f\\u0085"),
        ("\u202eabc\u202c \u2066x\u2069 \u200f", "\\u202eabc\\u202c \\u2066x\\u2069 \\u200f"),
        ("a\u200bb\u200dc\u00add\ufeffe\u2060f", "a\\u200bb\\u200dc\\u00add\\ufeffe\\u2060f"),
        ("\xa0\u2003\u3000\u2028", "\\u00a0\\u2003\\u3000\\u2028"),
        ("\ud800 \udfff", "\\ud800 \\udfff"),
        ("e\u0301 \u0e31 \ufe0f", "e\\u0301 \\u0e31 \\ufe0f"),
        ("\u115f\u1160\u3164\uffa0\u2800", "\\u115f\\u1160\\u3164\\uffa0\\u2800"),
        ("\ue000 \U000e0041 \U0010ffff", "\\ue000 \\U000e0041 \\U0010ffff"),
        ("é ß 東京 ภาษา Ġis ▁This 👋🏽 ½ №", "é ß 東京 ภาษา Ġis ▁This 👋🏽 ½ №"),
    ],
    ids=[
        "plain",
        "terminal",
        "return",
        "controls",
        "bidirectional",
        "no width",
        "spaces",
        "surrogates",
        "marks",
        "blank letters",
        "unassigned",
        "letters",
    ],
)
def test_what_cannot_be_seen_is_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


def test_nothing_is_left_that_moves_hides_or_joins() -> None:
    basic_plane_and_tags = "".join(map(chr, [*range(0x10000), *range(0xE0000, 0xE0200)]))
    left = {unicodedata.category(character)[0] for character in visible(basic_plane_and_tags) if character != " "}
    assert left == {"L", "N", "P", "S"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"tokens": ["b", "ug"], "ids": [1, None]}, '{"tokens": ["b", "ug"], "ids": [1, null]}'),
        ({"a\x1b": "\u202e\ud800"}, '{"a\\u001b": "\\u202e\\ud800"}'),
        ("\\u001b", '"\\\\u001b"'),
        ("\r\n\t", '"\\r\\n\\t"'),
        (float("nan"), "NaN"),
        ({1}, '"{1}"'),
    ],
)
def test_a_value_is_json_on_one_line(value: object, shown: str) -> None:
    assert compact(value) == shown


@pytest.mark.parametrize(
    ("longest", "shown"),
    [(10, "0123456789"), (9, "0123 … 6789"), (3, "0 … 9"), (2, "0 … 9")],
)
def test_a_long_text_loses_its_middle(longest: int, shown: str) -> None:
    assert shorten("0123456789", longest) == shown


def test_an_excerpt_is_short_printable_ascii() -> None:
    assert quote("it's\u202e\x07") == '"it\'s\\u202e\\x07"'
    assert quote("x" * 250) == f"'{'x' * 200}' and 50 more characters"
    assert quote("\u0e02".encode() * 2, 4) == "'\\u0e02\\\\xe0' and 2 more bytes"
