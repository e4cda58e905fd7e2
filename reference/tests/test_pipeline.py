"""The stages together, against a pipeline that keeps for every character the place in the input that it came from."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given

from tokref import AddedToken, Bpe, Choices, InputError, Token, Tokenizer, decode, encode, from_mapping, tokens_of
from tokref.pre_tokenization import BYTE_CHARACTERS

from .strategies import ASSIGNED_TEXTS, HARD_TEXTS, TEXTS

BYTES = from_mapping(
    {
        "type": "bpe",
        "vocabulary": [*BYTE_CHARACTERS, "Ġa", "Ã©", "<|end|>"],
        "merges": [["Ġ", "a"], ["Ã", "©"]],
        "special_tokens": ["<|end|>"],
        "pre_tokenizer": {"type": "byte_level"},
        "decoder": {"type": "byte_level"},
    }
)
BERT = from_mapping(
    {
        "type": "wordpiece",
        "vocabulary": ["[UNK]", "[MASK]", *"abe中", *(f"##{letter}" for letter in "abe")],
        "special_tokens": ["[MASK]"],
        "normalizer": {"type": "bert", "strip_accents": False},
        "pre_tokenizer": {"type": "bert"},
    }
)
T5 = from_mapping(
    {
        "type": "unigram",
        "tokens": [["<unk>", 0], ["▁", 3], ["a", 2], ["▁a", 1]],
        "unknown_token": "<unk>",
        "normalizer": {"type": "nfkc"},
        "pre_tokenizer": {"type": "metaspace", "prepend_scheme": "first"},
    }
)
SEQUENCE = from_mapping(
    {
        "type": "bpe",
        "vocabulary": [*"▁abé", "▁a", "ab", "<s>"],
        "merges": [["▁", "a"], ["a", "b"]],
        "special_tokens": ["<s>"],
        "normalizer": {"type": "lowercase"},
        "pre_tokenizer": {
            "type": "sequence",
            "pre_tokenizers": [{"type": "whitespace_split"}, {"type": "metaspace", "prepend_scheme": "first"}],
        },
    }
)
KEPT = Choices(bpe_unknown_without_token="kept")


# Brute force: a text is a list of characters, and each knows the one place that it came from, or none


class Character(NamedTuple):
    text: str
    place: int | None


Characters = list[Character]


def read(text: str, start: int) -> Characters:
    return [Character(character, start + place) for place, character in enumerate(text)]


def joined(characters: Characters) -> str:
    return "".join(character.text for character in characters)


def token_of(text: str, characters: Characters, tokenizer: Tokenizer) -> Token:
    assert tokenizer.model is not None
    places = [character.place for character in characters if character.place is not None]
    start, end = (min(places), max(places) + 1) if places else (-1, -1)  # of added characters alone: not specified
    return Token(text, tokenizer.model.vocabulary.get(text), start, end)


def lowered(characters: Characters) -> Characters:
    """Lower the text as a whole, for a capital sigma sees its neighbours; each character becomes as many as by itself."""
    whole = iter(joined(characters).lower())
    return [Character(next(whole), place) for text, place in characters for _ in text.lower()]


def cut(characters: Characters, drops: Callable[[str], bool], stands_alone: Callable[[str], bool]) -> list[Characters]:
    pieces: list[Characters] = [[]]
    for character in characters:
        if drops(character.text):
            pieces.append([])
        elif stands_alone(character.text):
            pieces += [[character], []]
        else:
            pieces[-1].append(character)
    return [piece for piece in pieces if piece]


def is_white_space(character: str) -> bool:
    """Say so by Python's own property, which has four separators more."""
    return character.isspace() and character not in "\x1c\x1d\x1e\x1f"


def is_punctuation(character: str) -> bool:
    return character in string.punctuation or unicodedata.category(character).startswith("P")


def longest_first(piece: Characters) -> list[Token]:
    vocabulary = BERT.model.vocabulary
    tokens, rest = list[Token](), piece
    while rest:
        prefix = "##" if tokens else ""
        fitting = [end for end in range(1, len(rest) + 1) if prefix + joined(rest[:end]) in vocabulary]
        if not fitting or len(piece) > 100:
            return [token_of("[UNK]", piece, BERT)]
        tokens.append(token_of(prefix + joined(rest[: max(fitting)]), rest[: max(fitting)], BERT))
        rest = rest[max(fitting) :]
    return tokens


def bert(text: str, start: int) -> list[Token]:
    clean: Characters = []
    for character, place in read(text, start):
        category = unicodedata.category(character)
        if character in "\t\n\r" or category.startswith("Z"):
            clean.append(Character(" ", place))
        elif character != "\ufffd" and category not in ("Cc", "Cf", "Co", "Cs"):
            clean.append(Character(character, place))
    apart: Characters = []
    for character in clean:
        is_ideograph = character.text == "中"
        apart += [Character(" ", None), character, Character(" ", None)] if is_ideograph else [character]
    pieces = cut(lowered(apart), is_white_space, is_punctuation)
    return [token for piece in pieces for token in longest_first(piece)]


def merged(piece: Characters, tokenizer: Tokenizer) -> list[Token]:
    """Merge as the list of merges says, one after the other; each of them has its turn once."""
    assert isinstance(tokenizer.model, Bpe)
    parts = [[character] for character in piece]
    for left, right in tokenizer.model.merges:
        number = 0
        while number < len(parts) - 1:
            if (joined(parts[number]), joined(parts[number + 1])) == (left, right):
                parts[number : number + 2] = [parts[number] + parts[number + 1]]
            number += 1
    return [token_of(joined(part), part, tokenizer) for part in parts]


def split_at_spaces(text: str, start: int) -> list[Token]:
    """Lower, cut at white space, and put the mark before the first piece of the input, if nothing was dropped before."""
    characters = lowered(read(text, start))
    pieces = cut(characters, is_white_space, lambda _: False)
    if pieces and start == 0 and pieces[0][0] is characters[0] and characters[0].text != "▁":
        pieces[0].insert(0, Character("▁", None))
    tokens = [merged(part, SEQUENCE) for piece in pieces for part in split_before(piece, "▁")]
    return [token for part in tokens for token in part]


def split_before(piece: Characters, mark: str) -> list[Characters]:
    parts: list[Characters] = [[]]
    for character in piece:
        parts += [[]] if character.text == mark else []
        parts[-1].append(character)
    return [part for part in parts if part]


def byte_level(text: str, start: int) -> list[Token]:
    """Write bytes; of the two merges one needs a space before an a, where a piece always begins."""
    written = [
        Character(BYTE_CHARACTERS[byte], place) for character, place in read(text, start) for byte in character.encode()
    ]
    return merged(written, BYTES)


def by_hand(text: str, special_token: str, encode_stretch: Callable[[str, int], list[Token]], id: int) -> list[Token]:
    tokens: list[Token] = []
    start = 0
    for number, stretch in enumerate(text.split(special_token)):
        if number > 0:
            tokens.append(Token(special_token, id, start, start + len(special_token)))
            start += len(special_token)
        tokens += encode_stretch(stretch, start) if stretch else []
        start += len(stretch)
    return tokens


@pytest.mark.parametrize(
    ("tokenizer", "special_token", "encode_stretch"),
    [(BYTES, "<|end|>", byte_level), (BERT, "[MASK]", bert), (SEQUENCE, "<s>", split_at_spaces)],
    ids=["bytes", "bert", "sequence"],
)
@given(text=ASSIGNED_TEXTS | HARD_TEXTS)
def test_tokens_and_spans_are_those_of_characters_that_know_their_place(
    tokenizer: Tokenizer, special_token: str, encode_stretch: Callable[[str, int], list[Token]], text: str
) -> None:
    for whole in (text, f"{text}{special_token}ab 中a b{special_token}{text}"):
        assert tokenizer.model is not None
        expected = by_hand(whole, special_token, encode_stretch, tokenizer.model.vocabulary[special_token])
        found = encode(whole, tokenizer, KEPT)
        assert [
            token._replace(start=-1, end=-1) if wanted.start < 0 else token
            for token, wanted in zip(found, expected, strict=True)
        ] == expected


# Properties


@pytest.mark.parametrize("tokenizer", [BYTES, BERT, T5, SEQUENCE], ids=["bytes", "bert", "t5", "sequence"])
@given(text=TEXTS | HARD_TEXTS)
def test_spans_are_in_order_inside_the_text_and_ids_name_the_tokens(tokenizer: Tokenizer, text: str) -> None:
    tokens = encode(text, tokenizer, KEPT)
    assert all(0 <= token.start <= token.end <= len(text) for token in tokens)
    assert all(one.start <= two.start and one.end <= two.end for one, two in pairwise(tokens))
    known = [token for token in tokens if token.id is not None]
    assert tokens_of([token.id for token in known], tokenizer, Choices()) == [token.text for token in known]
    assert all(token.text not in tokenizer.model.vocabulary for token in tokens if token.id is None)


@given(TEXTS | HARD_TEXTS)
def test_bytes_bring_back_every_text(text: str) -> None:
    text = text + "<|end|> é" + text
    tokens = encode(text, BYTES, Choices())
    assert "<|end|>" in [token.text for token in tokens]
    assert decode([token.text for token in tokens], BYTES, Choices()) == text
    assert decode(tokens_of([token.id for token in tokens], BYTES, Choices()), BYTES, Choices()) == text


# Worked by hand


@pytest.mark.parametrize(
    ("tokenizer", "text", "expected"),
    [
        (BERT, "Ab [MASK]e", [("a", 2, 0, 1), ("##b", 7, 1, 2), ("[MASK]", 1, 3, 9), ("e", 4, 9, 10)]),
        (BERT, "e\u200db中", [("e", 4, 0, 1), ("##b", 7, 2, 3), ("中", 5, 3, 4)]),
        (BERT, "", []),
        (BERT, " \u200d\n", []),
        (BYTES, "", []),
        (BYTES, "é a", [("Ã©", 257, 0, 1), ("Ġa", 256, 1, 3)]),
        (T5, "", []),
        (T5, "ﬁa", [("<unk>", 0, 0, 2)]),
        (T5, "ａ a", [("▁a", 3, 0, 1), ("▁a", 3, 1, 3)]),
        (SEQUENCE, "A b", [("▁a", 4, 0, 1), ("b", 2, 2, 3)]),
        (SEQUENCE, " A b", [("a", 1, 1, 2), ("b", 2, 3, 4)]),
        (SEQUENCE, "<s>ab", [("<s>", 6, 0, 3), ("ab", 5, 3, 5)]),
    ],
)
def test_encoding(tokenizer: Tokenizer, text: str, expected: list[tuple[str, int, int, int]]) -> None:
    assert encode(text, tokenizer, Choices()) == expected


DOTS = from_mapping(
    {
        "type": "bpe",
        "vocabulary": ["▁", ".", "a", "▁."],
        "merges": [["▁", "."]],
        "normalizer": {"type": "nfkc"},
        "pre_tokenizer": {
            "type": "sequence",
            "pre_tokenizers": [{"type": "bert"}, {"type": "metaspace", "prepend_scheme": "first"}],
        },
    }
)


def test_of_the_pieces_of_one_character_only_one_is_first() -> None:
    assert encode("…a", DOTS, Choices()) == [("▁.", 3, 0, 1), (".", 1, 0, 1), (".", 1, 0, 1), ("a", 2, 1, 2)]


def test_special_tokens_need_no_entry_where_there_is_no_vocabulary() -> None:
    tokenizer = Tokenizer(Bpe(), added_tokens=(AddedToken("<s>"),))
    assert encode("<s>x", tokenizer, KEPT) == [("<s>", None, 0, 3), ("x", None, 3, 4)]


def test_encoding_needs_a_model() -> None:
    with pytest.raises(InputError) as caught:
        encode("a", Tokenizer(), Choices())
    assert (caught.value.reason, caught.value.message) == ("unsupported", "encoding needs a model")
