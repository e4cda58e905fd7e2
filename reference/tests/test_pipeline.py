from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from strategies import HARD_TEXTS, TEXTS

from tokref import (
    BYTE_CHARACTERS,
    Choices,
    InputError,
    Token,
    Tokenizer,
    decode,
    encode,
    encode_ids,
    from_mapping,
    tokens_of,
)

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
        "normalizer": {"type": "bert"},
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
        "vocabulary": [*"▁abé", "▁a"],
        "merges": [["▁", "a"]],
        "normalizer": {"type": "nfc"},
        "pre_tokenizer": {
            "type": "sequence",
            "pre_tokenizers": [{"type": "whitespace_split"}, {"type": "metaspace", "prepend_scheme": "first"}],
        },
    }
)


@pytest.mark.parametrize("tokenizer", [BYTES, BERT, T5, SEQUENCE])
@pytest.mark.parametrize("unknown", ["dropped_before_merging", "dropped_after_merging", "kept"])
@given(text=TEXTS | HARD_TEXTS)
def test_ids_alone_are_those_of_the_tokens(tokenizer: Tokenizer, unknown: str, text: str) -> None:
    choices = Choices.from_mapping({"bpe_unknown_without_token": unknown})
    for whole in (text, f"{text}<|end|>a a[MASK]{text}"):
        assert encode_ids(whole, tokenizer, choices) == [token.id for token in encode(whole, tokenizer, choices)]


@pytest.mark.parametrize("tokenizer", [BYTES, BERT, T5])
@given(text=TEXTS | HARD_TEXTS)
def test_spans_stand_in_order_inside_the_text_and_ids_name_the_tokens(tokenizer: Tokenizer, text: str) -> None:
    tokens = encode(text, tokenizer, Choices())
    assert all(0 <= token.start <= token.end <= len(text) for token in tokens)
    assert all(first.start <= second.start and first.end <= second.end for first, second in pairwise(tokens))
    ids = [token.id for token in tokens]
    assert tokens_of([0 if id is None else id for id in ids], tokenizer, Choices()) == [token.text for token in tokens]


@given(TEXTS | HARD_TEXTS)
def test_bytes_bring_back_every_text(text: str) -> None:
    text = text + "<|end|> é" + text
    tokens = [token.text for token in encode(text, BYTES, Choices())]
    assert "<|end|>" in tokens
    assert decode(tokens, BYTES, Choices()) == text


def test_special_tokens_are_matched_before_anything_else() -> None:
    assert encode("Ab [MASK]é", BERT, Choices()) == [
        Token("a", 2, 0, 1),
        Token("##b", 7, 1, 2),
        Token("[MASK]", 1, 3, 9),
        Token("e", 4, 9, 10),
    ]


def test_spans_count_in_the_original_input() -> None:
    assert encode("e\u0301\u200db中", BERT, Choices()) == [
        Token("e", 4, 0, 1),
        Token("##b", 7, 3, 4),
        Token("中", 5, 4, 5),
    ]
    assert encode("ﬁa", T5, Choices()) == [Token("<unk>", 0, 0, 2)]
    assert encode("ａ a", T5, Choices()) == [Token("▁a", 3, 0, 1), Token("▁a", 3, 1, 3)]


def test_nothing_left_gives_no_tokens() -> None:
    assert [encode(text, tokenizer, Choices()) for tokenizer in (BYTES, BERT, T5) for text in [""]] == [[], [], []]
    assert encode(" \u200d\n", BERT, Choices()) == []


def test_encoding_needs_a_model() -> None:
    with pytest.raises(InputError, match=r"^unsupported: encoding needs a model$"):
        encode("a", Tokenizer(), Choices())
