from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from strategies import HARD_TEXTS, TEXTS

from tokref import (
    AlignedText,
    Choices,
    EachCharacter,
    Lowercase,
    NormalizerSequence,
    UnicodeForm,
    bert_normalizer,
    clean_text,
    lowercase,
    normalize,
    separate_ideographs,
    strip_accents,
)

NORMALIZERS = {
    **{form: UnicodeForm(form) for form in ("NFC", "NFD", "NFKC", "NFKD")},
    "lowercase": Lowercase(),
    "strip_accents": EachCharacter(strip_accents),
    "bert": bert_normalizer(),
    "bert, cased": bert_normalizer(lowercase=False),
    "sequence": NormalizerSequence(
        (UnicodeForm("NFKD"), EachCharacter(strip_accents), Lowercase(), UnicodeForm("NFC"))
    ),
    "empty": NormalizerSequence(()),
}


@pytest.mark.parametrize("name", NORMALIZERS)
@given(text=TEXTS | HARD_TEXTS)
def test_the_way_with_alignment_gives_the_same_text_and_spans_in_order(name: str, text: str) -> None:
    for choices in (Choices(), Choices(final_sigma="plain")):
        aligned = NORMALIZERS[name].align(AlignedText(text), choices)
        assert aligned.text == NORMALIZERS[name].normalize(text, choices)
        spans = [aligned.span(index, index + 1) for index in range(len(aligned.text))]
        assert all(0 <= start <= end <= len(text) for start, end in spans)
        assert [start for start, _ in spans] == sorted(start for start, _ in spans)
        assert [end for _, end in spans] == sorted(end for _, end in spans)


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
@given(text=TEXTS | HARD_TEXTS)
def test_every_span_normalizes_to_what_came_from_it(form: str, text: str) -> None:
    aligned = UnicodeForm(form).align(AlignedText(text), Choices())
    spans = [aligned.span(index, index + 1) for index in range(len(aligned.text))]
    assert "".join(unicodedata.normalize(form, text[slice(*span)]) for span in dict.fromkeys(spans)) == aligned.text


def spans_of(name: str, text: str) -> object:
    return NORMALIZERS[name].align(AlignedText(text), Choices()).spans


def test_composition_covers_all_that_was_composed() -> None:
    assert spans_of("NFC", "xe\u0301y") == ((0, 1), (1, 3), (3, 4))
    assert spans_of("NFC", "\u1100\u1161\u11a8a") == ((0, 3), (3, 4))


def test_decomposition_without_a_change_of_order_keeps_every_character_apart() -> None:
    assert spans_of("NFD", "ée\u0301") == ((0, 1), (0, 1), (1, 2), (2, 3))
    assert spans_of("NFKD", "ﬁx") == ((0, 1), (0, 1), (1, 2))


def test_marks_that_change_places_share_the_span_of_their_cluster() -> None:
    assert UnicodeForm("NFD").align(AlignedText("a\u0301\u0316b"), Choices()) == AlignedText(
        "a\u0316\u0301b", 0, ((0, 3), (0, 3), (0, 3), (3, 4))
    )


def test_text_that_stays_the_same_is_not_aligned_anew() -> None:
    text = AlignedText("hello")
    assert all(normalizer.align(text, Choices()) is text for normalizer in NORMALIZERS.values())


def test_no_normalizer_changes_nothing() -> None:
    assert normalize("É", None, Choices()) == "É"


def test_lowercase_is_unicodes_full_mapping() -> None:
    assert lowercase("İIΣA ΑΣ", Choices()) == "i\u0307iσa ας"
    assert lowercase("İIΣA ΑΣ", Choices(final_sigma="plain")) == "i\u0307iσa ασ"


def test_strip_accents_does_not_decompose() -> None:
    assert strip_accents("Kanto\u0304 ō ザ") == "Kanto ō ザ"


def test_cleaning_removes_controls_and_makes_spaces() -> None:
    assert clean_text("a\0b\ufffdc\u200dd\te\nf\rg\u00a0h\u3000i\x0bj\ue000k") == "abcd e f g h ijk"


def test_ideographs_are_the_eight_ranges() -> None:
    ends = "㐀䶿一鿿豈\ufaff\U00020000\U0002a6df\U0002a700\U0002b73f\U0002b740\U0002b81f\U0002b820\U0002ceaf"
    assert separate_ideographs(ends) == "".join(f" {character} " for character in ends)
    others = "かカ가\u33ff\u4dc0\ua000\uf8ff\ufb00\U0002a6e0\U0002ceb0\U0002f7ff\U0002fa20"
    assert separate_ideographs(others) == others


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, "hello 中 a"),
        ({"lowercase": False}, "Héllo 中 A"),
        ({"strip_accents": True, "lowercase": False}, "Hello 中 A"),
        ({"strip_accents": False}, "héllo 中 a"),
        ({"handle_chinese_chars": False}, "hello中a"),
        ({"clean_text": False}, "hel\0lo 中 a"),
    ],
)
def test_berts_steps_can_be_left_out(parameters: dict[str, bool], expected: str) -> None:
    assert normalize("Hél\0lo中A", bert_normalizer(**parameters), Choices()) == expected
