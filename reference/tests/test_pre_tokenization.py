from __future__ import annotations

import string
import unicodedata
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

from tokref import AlignedText, Component, InputError, from_mapping, pre_tokenize
from tokref.pre_tokenization import BYTE_CHARACTERS, utf_8

from .strategies import ASSIGNED_TEXTS, HARD_TEXTS, TEXTS

WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
BYTE_OF = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}


def component(type: str, **parameters: Any) -> Component:
    pre_tokenizer = from_mapping({"pre_tokenizer": {"type": type, **parameters}}).pre_tokenizer
    assert pre_tokenizer is not None
    return pre_tokenizer


def sequence(*parts: dict[str, Any]) -> Component:
    return component("sequence", pre_tokenizers=list(parts))


FIRST = {"type": "metaspace", "prepend_scheme": "first"}
PRE_TOKENIZERS = {
    "none": None,
    "bert": component("bert"),
    "whitespace_split": component("whitespace_split"),
    "byte_level": component("byte_level"),
    "byte_level, prefix": component("byte_level", add_prefix_space=True),
    "byte_level, uncut": component("byte_level", use_regex=False),
    "metaspace": component("metaspace"),
    "metaspace, uncut": component("metaspace", split=False),
    "t5": sequence({"type": "whitespace_split"}, {"type": "metaspace"}),
    "three": sequence(
        {"type": "bert"},
        {"type": "byte_level", "add_prefix_space": True},
        {"type": "metaspace", "replacement": "Ġ"},
    ),
}


def pieces(text: str, name: str) -> list[tuple[str, int, int]]:
    found = pre_tokenize(AlignedText.from_input(text), PRE_TOKENIZERS[name])
    return [(piece.text, *piece.span(0, len(piece.text))) for piece in found]


def texts(text: AlignedText | str, pre_tokenizer: Component | None) -> list[str]:
    aligned = AlignedText.from_input(text) if isinstance(text, str) else text
    return [piece.text for piece in pre_tokenize(aligned, pre_tokenizer)]


# Properties, and the rules again, a character after the other


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
@given(text=TEXTS | HARD_TEXTS)
def test_pieces_are_in_order_inside_the_text_and_not_empty(name: str, text: str) -> None:
    found = pieces(text, name)
    assert all(piece for piece, _, _ in found)
    spans = [(start, end) for _, start, end in found]
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    if name != "three":  # bytes of one character may lie in two of its pieces
        assert all(first[1] <= second[0] for first, second in pairwise(spans))


@given(TEXTS | HARD_TEXTS)
def test_white_space_is_a_list_of_25_characters(text: str) -> None:
    assert len(WHITE_SPACE) == 25
    expected: list[tuple[str, int, int]] = []
    begin = 0
    for place, character in enumerate(f"{text} "):
        if character in WHITE_SPACE:
            expected += [(text[begin:place], begin, place)] if begin < place else []
            begin = place + 1
    assert pieces(text, "whitespace_split") == expected


@given(ASSIGNED_TEXTS | HARD_TEXTS)
def test_punctuation_and_white_space_cut_for_bert(text: str) -> None:
    expected: list[tuple[str, int, int]] = []
    begin = 0
    for place, character in enumerate(f"{text} "):
        is_punctuation = character in string.punctuation or unicodedata.category(character)[0] == "P"
        if character in WHITE_SPACE or is_punctuation:
            expected += [(text[begin:place], begin, place)] if begin < place else []
            expected += [(character, place, place + 1)] if is_punctuation else []
            begin = place + 1
    assert pieces(text, "bert") == expected


def gpt_2_classes(text: str) -> list[str]:
    """Class each character: white space, letter, number, or other."""

    def class_of(character: str) -> str:
        if character in WHITE_SPACE:
            return "space"
        return unicodedata.category(character)[0] if unicodedata.category(character)[0] in "LN" else "other"

    return [class_of(character) for character in text]


def gpt_2_end(text: str, classes: list[str], begin: int) -> int:
    """Return where the match that begins at a place ends: each alternative in turn, as long as it can be."""
    for suffix in ("s", "t", "re", "ve", "m", "ll", "d"):
        if text.startswith(f"'{suffix}", begin):
            return begin + 1 + len(suffix)
    first = begin + 1 if text[begin] == " " and classes[begin + 1 : begin + 2] not in ([], ["space"]) else begin
    end = first
    while end < len(text) and classes[end] == classes[first]:
        end += 1
    if classes[first] != "space" or end == len(text) or end - begin == 1:
        return end
    return end - 1


@given(ASSIGNED_TEXTS | HARD_TEXTS)
def test_gpt_2_cuts_where_a_scanner_does(text: str) -> None:
    classes, begin = gpt_2_classes(text), 0
    expected: list[tuple[str, int, int]] = []
    while begin < len(text):
        end = gpt_2_end(text, classes, begin)
        expected.append((text[begin:end], begin, end))
        begin = end
    found = pieces(text, "byte_level")
    assert [(bytes(BYTE_OF[character] for character in piece).decode(), *span) for piece, *span in found] == expected


# Bytes


def test_the_alphabet_is_that_of_gpt_2() -> None:
    themselves = [byte for byte in range(256) if BYTE_CHARACTERS[byte] == chr(byte)]
    assert themselves == [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [ord(character) for byte, character in enumerate(BYTE_CHARACTERS) if byte not in themselves]
    assert others == list(range(0x100, 0x144))


@pytest.mark.parametrize("ask", [utf_8, lambda text: texts(text, PRE_TOKENIZERS["byte_level"])])
def test_a_lone_surrogate_has_no_bytes(ask: Any) -> None:
    with pytest.raises(InputError) as caught:
        ask("a\ud800")
    message = "the lone surrogate U+D800 has no UTF-8; replace it"
    assert (caught.value.reason, caught.value.message) == ("invalid_input", message)


def test_a_lone_surrogate_is_a_character_where_no_bytes_are_needed() -> None:
    assert pieces("a\ud800 b", "bert") == [("a\ud800", 0, 2), ("b", 3, 4)]


def test_bytes_share_the_span_of_their_character() -> None:
    (piece,) = pre_tokenize(AlignedText.from_input("éa中"), component("byte_level"))
    assert piece.spans == ((0, 1), (0, 1), (1, 2), (2, 3), (2, 3), (2, 3))


# Pieces, worked by hand


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "bert",
            "Hello, how are  you?",
            [("Hello", 0, 5), (",", 5, 6), ("how", 7, 10), ("are", 11, 14), ("you", 16, 19), ("?", 19, 20)],
        ),
        (
            "byte_level",
            "Hello, how are  you?",
            [
                ("Hello", 0, 5),
                (",", 5, 6),
                ("Ġhow", 6, 10),
                ("Ġare", 10, 14),
                ("Ġ", 14, 15),
                ("Ġyou", 15, 19),
                ("?", 19, 20),
            ],
        ),
        ("t5", "Hello, how are  you?", [("▁Hello,", 0, 6), ("▁how", 7, 10), ("▁are", 11, 14), ("▁you?", 16, 20)]),
        ("byte_level, prefix", "ab c", [("Ġab", 0, 2), ("Ġc", 2, 4)]),
        ("byte_level, prefix", " ab", [("Ġab", 0, 3)]),
        ("byte_level, uncut", "a  b", [("aĠĠb", 0, 4)]),
        ("metaspace", "ab", [("▁ab", 0, 2)]),
        ("metaspace", "▁ab", [("▁ab", 0, 3)]),
        ("metaspace, uncut", "a b", [("▁a▁b", 0, 3)]),
        ("whitespace_split", "a\x1cb\u0085c\u200bd", [("a\x1cb", 0, 3), ("c\u200bd", 4, 7)]),
        ("none", " a b", [(" a b", 0, 4)]),
    ],
)
def test_pieces(name: str, text: str, expected: list[tuple[str, int, int]]) -> None:
    assert pieces(text, name) == expected


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_an_empty_text_has_no_pieces(name: str) -> None:
    assert pieces("", name) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("bert", "a+b¿c`d\u2028e中_", ["a", "+", "b", "¿", "c", "`", "d", "e中", "_"]),
        ("byte_level", "it's we'LL don't", ["it", "'s", "Ġwe", "'", "LL", "Ġdon", "'t"]),
        ("byte_level", "a\n\nb", ["a", "Ċ", "Ċ", "b"]),
        ("byte_level", "a \n b", ["a", "ĠĊ", "Ġb"]),
        ("byte_level", "a  ", ["a", "ĠĠ"]),
        ("byte_level", "½!2²x", ["Â½", "!", "2Â²", "x"]),
        ("byte_level", " é", ["ĠÃ©"]),
        ("byte_level, prefix", "\nab", ["Ġ", "Ċ", "ab"]),
    ],
)
def test_texts_of_pieces(name: str, text: str, expected: list[str]) -> None:
    assert texts(text, PRE_TOKENIZERS[name]) == expected


@pytest.mark.parametrize(
    ("text", "scheme", "expected"),
    [
        ("a b", "always", ["▁a", "▁b"]),
        ("a  b", "always", ["▁a", "▁", "▁b"]),
        ("a b", "never", ["a", "▁b"]),
        ("a b", "first", ["▁a", "▁b"]),
        (" a\tb", "first", ["▁a\tb"]),
    ],
)
def test_the_schemes_of_metaspace(text: str, scheme: str, expected: list[str]) -> None:
    assert texts(text, component("metaspace", prepend_scheme=scheme)) == expected


SPLIT_FIRST = sequence({"type": "whitespace_split"}, FIRST)


@pytest.mark.parametrize(
    ("text", "pre_tokenizer", "expected"),
    [
        (AlignedText.from_input("a b"), SPLIT_FIRST, ["▁a", "b"]),
        (AlignedText.from_input(" a b"), SPLIT_FIRST, ["a", "b"]),
        (AlignedText.from_input("a b", 3), SPLIT_FIRST, ["a", "b"]),
        # made from one character of the input: only the first of them is first
        (
            AlignedText("...a", ((0, 1), (0, 1), (0, 1), (1, 2))),
            sequence({"type": "bert"}, FIRST),
            ["▁.", ".", ".", "a"],
        ),
        (AlignedText.from_input("¡"), sequence({"type": "byte_level"}, {"type": "bert"}, FIRST), ["▁Â", "¡"]),
        # an added space that is dropped stands before the piece
        (AlignedText.from_input("一").prefix(" "), SPLIT_FIRST, ["一"]),
        # what the normalizer removed does not
        (AlignedText.from_input("xa").rewrite([("", 0, 1), ("a", 1, 2)]), SPLIT_FIRST, ["▁a"]),
    ],
)
def test_first_is_the_first_text_of_the_input_alone(
    text: AlignedText, pre_tokenizer: Component, expected: list[str]
) -> None:
    assert texts(text, pre_tokenizer) == expected


def test_a_replacement_that_is_special_in_patterns() -> None:
    assert texts("a b\nc", component("metaspace", replacement="]")) == ["]a", "]b\nc"]
    assert texts("a b", component("metaspace", replacement="^")) == ["^a", "^b"]
