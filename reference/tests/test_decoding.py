from __future__ import annotations

import pytest
from hypothesis import given

from tokref import Bpe, Choices, InputError, Tokenizer, decode, decode_stream, from_mapping, tokens_of
from tokref.decoding import join_tokens
from tokref.pre_tokenization import BYTE_CHARACTERS

from .strategies import TEXTS


def decoder(type: str, **parameters: str) -> Tokenizer:
    return from_mapping({"decoder": {"type": type, **parameters}})


NONE = Tokenizer()
BYTE_LEVEL = decoder("byte_level")
METASPACE = decoder("metaspace")
WORDPIECE = decoder("wordpiece")
TWO = Tokenizer(Bpe({"a": 0, "b": 1}))
REMOVED = Choices(metaspace_leading_space="removed")
REMOVED_FROM_FIRST = Choices(metaspace_leading_space="removed_from_first_token")
SKIPPED = Choices(unknown_id="skipped")


@pytest.mark.parametrize(
    ("tokenizer", "tokens", "expected"),
    [
        (NONE, [], ""),
        (NONE, ["a", "##b"], "a ##b"),
        (NONE, ["a", "", "b"], "a  b"),
        (TWO, ["b", "a"], "b a"),
        (BYTE_LEVEL, [], ""),
        (BYTE_LEVEL, ["Ġä", "¾Ĩ", "!"], " 來!"),
        (BYTE_LEVEL, ["ä¾", "a"], "\ufffda"),  # the beginning of a sequence becomes one replacement character
        (BYTE_LEVEL, ["íłĢ"], "\ufffd\ufffd\ufffd"),  # no byte of a surrogate begins a valid sequence
        (BYTE_LEVEL, ["ï»¿a"], "\ufeffa"),
        (BYTE_LEVEL, ["中", "Ġ"], "中 "),
        (BYTE_LEVEL, ["Ġ中"], "Ġ中"),  # the whole token stands for itself
        (METASPACE, [], ""),
        (METASPACE, ["▁a", "▁▁b"], " a  b"),
        (decoder("metaspace", replacement="_"), ["_a", "▁b"], " a▁b"),
        (WORDPIECE, [], ""),
        (WORDPIECE, ["##s", "hug", "##s", "pug"], "##s hugs pug"),
        (decoder("wordpiece", prefix="@"), ["a", "@b", "##c"], "ab ##c"),
        (decoder("wordpiece", prefix=""), ["a", "b", "##c"], "ab##c"),
    ],
)
def test_tokens_become_text(tokenizer: Tokenizer, tokens: list[str], expected: str) -> None:
    assert decode(tokens, tokenizer, Choices()) == expected


@pytest.mark.parametrize(
    ("choices", "tokens", "expected"),
    [
        (Choices(), ["▁▁a", "▁b"], "  a b"),
        (REMOVED, ["▁▁a", "▁b"], " a b"),
        (REMOVED, ["a", "▁b"], "a b"),
        (REMOVED, [" a"], " a"),
        (REMOVED_FROM_FIRST, ["▁▁a▁", "▁b"], "a b"),
    ],
)
def test_the_space_at_the_start_is_a_choice(choices: Choices, tokens: list[str], expected: str) -> None:
    assert decode(tokens, METASPACE, choices) == expected


@given(TEXTS)
def test_bytes_become_their_text_however_they_are_cut(text: str) -> None:
    written = [BYTE_CHARACTERS[byte] for byte in text.encode()]
    assert join_tokens(written, BYTE_LEVEL.decoder, Choices()) == text
    assert join_tokens(["".join(written)], BYTE_LEVEL.decoder, Choices()) == text


def test_a_token_with_a_lone_surrogate_has_no_bytes() -> None:
    with pytest.raises(InputError) as caught:
        decode(["a", "Ġ\udfff"], BYTE_LEVEL, Choices())
    message = "the lone surrogate U+DFFF has no UTF-8; replace it"
    assert (caught.value.reason, caught.value.message) == ("invalid_input", message)


@pytest.mark.parametrize(
    ("ids", "tokenizer", "message"),
    [
        ([0, 2], TWO, "id 2 has no entry in a vocabulary of 2"),
        ([-1], TWO, "id -1 has no entry in a vocabulary of 2"),
        ([0], NONE, "id 0 has no entry in a vocabulary of 0"),
        ([0], Tokenizer(Bpe()), "id 0 has no entry in a vocabulary of 0"),
    ],
)
def test_an_unknown_id_is_refused_or_skipped(ids: list[int], tokenizer: Tokenizer, message: str) -> None:
    with pytest.raises(InputError) as caught:
        tokens_of(ids, tokenizer, Choices())
    assert (caught.value.reason, caught.value.message) == ("unknown_id", message)
    assert tokens_of(ids[-1:], tokenizer, SKIPPED) == []


def test_skipped_ids_leave_the_others() -> None:
    assert tokens_of([1, 2, -1, 0], TWO, SKIPPED) == ["b", "a"]


def test_an_unknown_token_is_refused_or_skipped() -> None:
    with pytest.raises(InputError) as caught:
        decode(["a", "x"], TWO, Choices())
    assert (caught.value.reason, caught.value.message) == ("unknown_id", "token 'x' is not in the vocabulary")
    assert decode(["a", "x", "b"], TWO, SKIPPED) == "a b"
    assert decode(["x"], TWO, SKIPPED) == ""


@pytest.mark.parametrize("tokenizer", [NONE, Tokenizer(Bpe())])
def test_without_a_vocabulary_every_token_is_decoded(tokenizer: Tokenizer) -> None:
    assert decode(["x", "y"], tokenizer, Choices()) == "x y"


ADDED = from_mapping(
    {
        "type": "bpe",
        "vocabulary": ["▁a", "▁b", "<s>"],
        "special_tokens": ["<s>"],
        "added_tokens": [{"content": "<N>", "id": 9, "special": False, "normalized": True}],
        "normalizer": {"type": "lowercase"},
        "decoder": {"type": "metaspace"},
    }
)


def test_special_tokens_are_skipped_before_the_decoder_sees_the_tokens() -> None:
    tokens = ["<s>", "▁a", "<N>", "<s>", "▁b"]
    assert tokens_of([2, 0, 9, 2, 1], ADDED, Choices()) == tokens
    assert decode(tokens, ADDED, REMOVED) == "<s> a<N><s> b"
    assert decode(tokens, ADDED, REMOVED, skip_special_tokens=True) == "a<N> b"
    assert decode(["<s>"], ADDED, Choices(), skip_special_tokens=True) == ""


CLEANING = from_mapping({"decoder": {"type": "wordpiece", "cleanup": True}})


@pytest.mark.parametrize(
    ("tokens", "each_token", "whole_text"),
    [
        (["a", ".", "##.", "?", "!", ",", ";"], "a..?!, ;", "a..?!, ;"),
        (["it", "'s", "'m", "'ve", "'re", "n't", "'S"], "it's'm've'ren't 'S", "it's'm've'ren't 'S"),
        (["a", "'", "b"], "a ' b", "a'b"),
        (["a", "##b", "##'s", " .", "."], "ab's ..", "ab's .."),
        (["a", "## .", "'small"], "a.'small", "a.'small"),
        (["a", " ' ", "n't"], "a 'n't", "a 'n't"),
    ],
)
def test_cleanup(tokens: list[str], each_token: str, whole_text: str) -> None:
    assert decode(tokens, CLEANING, Choices()) == each_token
    assert decode(tokens, CLEANING, Choices(wordpiece_cleanup="whole_text")) == whole_text


BYTES = from_mapping(
    {
        "type": "bpe",
        "vocabulary": ["a", "Ã", "©", "aÃ", "ï", "¿½", "<s>"],
        "special_tokens": ["<s>"],
        "decoder": {"type": "byte_level"},
    }
)


@pytest.mark.parametrize(
    ("ids", "parts"),
    [
        ([], []),
        ([0, 1, 2], ["a", "", "é"]),
        ([3, 2], ["", "aé"]),
        ([1, 6, 2], ["", "", "é"]),
        ([0, 4, 5, 0], ["a", "", "", "\ufffda"]),  # the text itself has the character
        ([2, 0, 1], ["", "\ufffda", ""]),
    ],
)
def test_a_stream(ids: list[int], parts: list[str]) -> None:
    assert decode_stream(ids, BYTES, Choices(), skip_special_tokens=True) == parts


def test_a_stream_joins_as_the_whole() -> None:
    ids = [0, 2, 1, 9]
    assert decode_stream(ids, ADDED, REMOVED) == ["a", "<s>", " b", "<N>"]
    with pytest.raises(InputError):
        decode_stream([0, 5], ADDED, REMOVED)
    assert decode_stream([0, 5, 1], ADDED, Choices(unknown_id="skipped")) == [" a", "", " b"]
