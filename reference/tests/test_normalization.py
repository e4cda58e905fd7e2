from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

from tokref import AlignedText, Choices, Component, from_mapping, normalize

from .strategies import HARD_TEXTS, TEXTS


def component(type: str, **parameters: Any) -> Component:
    normalizer = from_mapping({"normalizer": {"type": type, **parameters}}).normalizer
    assert normalizer is not None
    return normalizer


FORMS = ["nfc", "nfd", "nfkc", "nfkd"]
CONTEXTUAL, PLAIN = Choices(), Choices(final_sigma="plain")
NORMALIZERS = {
    **{form: component(form) for form in FORMS},
    "lowercase": component("lowercase"),
    "strip_accents": component("strip_accents"),
    "bert": component("bert"),
    "bert, cased": component("bert", lowercase=False),
    "sequence": component(
        "sequence", normalizers=[{"type": name} for name in ("nfkd", "strip_accents", "lowercase", "nfc")]
    ),
    "empty": component("sequence", normalizers=[]),
}


def text_of(normalizer: Component | None, text: str, choices: Choices = CONTEXTUAL) -> str:
    return normalize(AlignedText.from_input(text), normalizer, choices).text


def spans_of(name: str, text: str) -> tuple[tuple[int, int], ...]:
    return normalize(AlignedText.from_input(text), NORMALIZERS[name], Choices()).spans


def lowered(text: str, choices: Choices) -> str:
    return (text.replace("Σ", "σ") if choices.final_sigma == "plain" else text).lower()


def without_marks(text: str) -> str:
    return "".join(character for character in text if unicodedata.category(character)[0] != "M")


def by_hand(name: str, text: str, choices: Choices) -> str:
    """Normalize the whole text at once, without alignment, by Python's own functions."""
    match name:
        case "lowercase":
            return lowered(text, choices)
        case "strip_accents":
            return without_marks(text)
        case "sequence":
            kept = without_marks(unicodedata.normalize("NFKD", text))
            return unicodedata.normalize("NFC", lowered(kept, choices))
        case "empty":
            return text
    return unicodedata.normalize(name.upper(), text)


@pytest.mark.parametrize("name", [name for name in NORMALIZERS if not name.startswith("bert")])
@pytest.mark.parametrize("choices", [CONTEXTUAL, PLAIN], ids=["contextual", "plain"])
@given(text=TEXTS | HARD_TEXTS)
def test_the_text_is_that_of_pythons_own_functions(name: str, choices: Choices, text: str) -> None:
    assert text_of(NORMALIZERS[name], text, choices) == by_hand(name, text, choices)


@pytest.mark.parametrize("name", NORMALIZERS)
@given(text=TEXTS | HARD_TEXTS)
def test_spans_are_in_the_order_of_the_text(name: str, text: str) -> None:
    aligned = normalize(AlignedText.from_input(text), NORMALIZERS[name], Choices())
    assert len(aligned.spans) == len(aligned.text)
    assert all(0 <= start <= end <= len(text) for start, end in aligned.spans)
    assert all(one[0] <= two[0] and one[1] <= two[1] for one, two in pairwise(aligned.spans))
    assert aligned.is_first


@pytest.mark.parametrize("form", FORMS)
@given(text=TEXTS | HARD_TEXTS)
def test_every_span_normalizes_to_what_came_from_it(form: str, text: str) -> None:
    spans = dict.fromkeys(spans_of(form, text))
    assert "".join(unicodedata.normalize(form.upper(), text[slice(*span)]) for span in spans) == text_of(
        NORMALIZERS[form], text
    )


def decomposed(character: str) -> str:
    """Decompose canonically, by the table of the Unicode Character Database and the arithmetic of Hangul."""
    if "가" <= character <= "힣":
        number = ord(character) - 0xAC00
        trailing = chr(0x11A7 + number % 28) if number % 28 else ""
        return chr(0x1100 + number // 588) + chr(0x1161 + number % 588 // 28) + trailing
    parts = unicodedata.decomposition(character).split()
    if not parts or parts[0].startswith("<"):
        return character
    return "".join(decomposed(chr(int(part, 16))) for part in parts)


@given(TEXTS | HARD_TEXTS)
def test_only_clusters_whose_marks_change_places_share_a_span(text: str) -> None:
    """Decompose and sort by hand, one swap at a time; a cluster begins at each character without a leading mark."""
    clusters: list[list[int]] = []
    for place, character in enumerate(text):
        is_mark = unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0
        clusters[-1].append(place) if is_mark and clusters else clusters.append([place])
    expected: list[tuple[str, tuple[int, int]]] = []
    for cluster in clusters:
        row = [(part, (place, place + 1)) for place in cluster for part in decomposed(text[place])]
        is_sorted = True
        for _ in row:
            for left in range(len(row) - 1):
                if unicodedata.combining(row[left][0]) > unicodedata.combining(row[left + 1][0]) > 0:
                    row[left], row[left + 1] = row[left + 1], row[left]
                    is_sorted = False
        whole = cluster[0], cluster[-1] + 1
        expected += row if is_sorted else [(part, whole) for part, _ in row]
    aligned = normalize(AlignedText.from_input(text), NORMALIZERS["nfd"], Choices())
    assert list(zip(aligned.text, aligned.spans, strict=True)) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected", "spans"),
    [
        ("nfc", "xe\u0301y", "xéy", ((0, 1), (1, 3), (3, 4))),
        ("nfc", "\u1100\u1161\u11a8a", "각a", ((0, 3), (3, 4))),
        ("nfc", "e\u0327\u0301", "ȩ\u0301", ((0, 3), (0, 3))),  # a cluster in which something was composed
        ("nfd", "ée\u0301", "e\u0301e\u0301", ((0, 1), (0, 1), (1, 2), (2, 3))),
        ("nfkd", "ﬁx", "fix", ((0, 1), (0, 1), (1, 2))),
        ("nfd", "a\u0301\u0316b", "a\u0316\u0301b", ((0, 3), (0, 3), (0, 3), (3, 4))),
        ("nfd", "\u0301\u0323", "\u0323\u0301", ((0, 2), (0, 2))),
        ("bert", "a\u0301\u0327", "a", ((0, 3),)),
        ("bert", "a\u0301", "a", ((0, 1),)),
        ("bert", "中", " 中 ", ((0, 0), (0, 1), (1, 1))),
        ("bert", "a\u200db", "ab", ((0, 1), (2, 3))),
        ("lowercase", "İx", "i\u0307x", ((0, 1), (0, 1), (1, 2))),
    ],
)
def test_spans(name: str, text: str, expected: str, spans: tuple[tuple[int, int], ...]) -> None:
    assert normalize(AlignedText.from_input(text), NORMALIZERS[name], Choices()) == AlignedText(expected, spans)


def test_without_a_normalizer_nothing_changes() -> None:
    text = AlignedText.from_input("É", 3)
    assert normalize(text, None, Choices()) is text


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("lowercase", "İIΣA ΑΣ", "i\u0307iσa ας"),
        ("strip_accents", "Kanto\u0304 ō ザ a\u0903\u20dd", "Kanto ō ザ a"),  # marks of all three categories
        ("bert", "Kanto\u0304 ō ザ a\u0903\u20dd", "kanto o サ a\u0903\u20dd"),  # of category Mn alone
        ("bert", "a\0b\ufffdc\u200dd\te\nf\rg\u00a0h\u3000i\x0bj\ue000k\ud800l\u0378m", "abcd e f g h ijkl\u0378m"),
        ("empty", "É", "É"),
        ("sequence", "ÉﬁΣ", "efiς"),
    ],
)
def test_texts(name: str, text: str, expected: str) -> None:
    assert text_of(NORMALIZERS[name], text) == expected


def test_a_final_sigma_is_a_choice() -> None:
    assert text_of(NORMALIZERS["lowercase"], "ΑΣ ΑΣΑ", PLAIN) == "ασ ασα"
    assert text_of(NORMALIZERS["bert"], "ΑΣ", PLAIN) == "ασ"
    assert text_of(NORMALIZERS["bert"], "ΑΣ") == "ας"


def test_ideographs_are_the_eight_ranges() -> None:
    bert = component("bert", clean_text=False, strip_accents=False, lowercase=False)
    ends = "㐀䶿一鿿豈\ufaff\U00020000\U0002a6df\U0002a700\U0002b73f\U0002b740\U0002b81f\U0002b820\U0002ceaf\U0002f800\U0002fa1f"
    assert text_of(bert, ends) == "".join(f" {character} " for character in ends)
    others = "かカ가\u33ff\u4dc0\ua000\uf8ff\ufb00\U0002a6e0\U0002ceb0\U0002f7ff\U0002fa20"
    assert text_of(bert, others) == others


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, "hello 中 a"),
        ({"lowercase": False}, "Héllo 中 A"),
        ({"strip_accents": True, "lowercase": False}, "Hello 中 A"),
        ({"strip_accents": False}, "héllo 中 a"),
        ({"strip_accents": None}, "hello 中 a"),
        ({"handle_chinese_chars": False}, "hello中a"),
        ({"clean_text": False}, "hel\0lo 中 a"),
    ],
)
def test_the_steps_of_bert_can_be_left_out(parameters: dict[str, bool | None], expected: str) -> None:
    assert text_of(component("bert", **parameters), "Hél\0lo中A") == expected
