"""The suite's own texts: that each is there once and whole, and that nothing which tokenizers trip over is missing."""

from __future__ import annotations

import unicodedata
from collections import Counter
from pathlib import Path

import pytest
import regex

from tokspec.base.errors import DataError
from tokspec.compare.named_texts import NamedText, load_texts

TEXTS = load_texts()
ALL = "".join(text.text for text in TEXTS)


def test_every_text_is_there_once() -> None:
    assert [text for text, count in Counter(text.text for text in TEXTS).items() if count > 1] == []
    assert len({text.id for text in TEXTS}) == len(TEXTS)


def test_how_many_there_are() -> None:
    assert Counter(text.category for text in TEXTS) == {
        "addresses": 11,
        "code": 45,
        "emoji": 24,
        "hidden": 29,
        "long": 50,
        "marks": 33,
        "numbers": 28,
        "scripts": 108,
        "special_tokens": 17,
        "white_space": 36,
        "words": 31,
    }


def test_every_text_is_unicode() -> None:
    assert ALL.encode().decode() == ALL


def test_scripts_are_many() -> None:
    scripts = "".join(text.text for text in TEXTS if text.category == "scripts")
    found = {unicodedata.name(letter).split()[0] for letter in scripts if letter.isalpha()}
    assert len(found) >= 60


@pytest.mark.parametrize("pattern", [r"\p{White_Space}", r"\p{Cc}", r"\p{Bidi_Control}"])
def test_every_character_of_a_kind_is_there(pattern: str) -> None:
    kind = regex.compile(pattern)
    wanted = {chr(point) for point in range(0x110000) if kind.fullmatch(chr(point))}
    assert wanted - set(ALL) == set()


def test_every_general_category_is_there() -> None:
    found = {unicodedata.category(character) for character in ALL}
    every = {unicodedata.category(chr(point)) for point in range(0x110000)}
    assert every - found == {"Cs"}


def test_normal_forms_make_a_difference() -> None:
    for form, least in {"NFC": 15, "NFD": 50, "NFKC": 50, "NFKD": 80}.items():
        assert sum(unicodedata.normalize(form, text.text) != text.text for text in TEXTS) >= least


@pytest.mark.parametrize(
    ("yaml", "message"),
    [
        ("- a", "x.yaml:1: is not an object that maps names to texts"),
        ("a: 1", "x.yaml:1: a: is neither a text nor {text: …, times: …}"),
        ("a: {text: b, times: 2, c: 1}", "x.yaml:1: a: is neither a text nor {text: …, times: …}"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, yaml: str, message: str) -> None:
    (tmp_path / "x.yaml").write_text(yaml, "utf-8")
    with pytest.raises(DataError) as caught:
        load_texts(tmp_path)
    assert str(caught.value) == message


def test_a_text_is_repeated(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("a: {text: ab, times: 3}\nb: c", "utf-8")
    assert load_texts(tmp_path) == (NamedText("x", "a", "ababab"), NamedText("x", "b", "c"))
