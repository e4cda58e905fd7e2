from __future__ import annotations

from typing import Any

import pytest

from tokref import Choices, EncodedToken, InputError, Tokenizer, encode_inputs, from_mapping
from tokref.post_processing import post_process, trim_spans

CLS, SEP = ["[CLS]", 8], ["[SEP]", 9]
BERT = {"type": "bert", "cls": CLS, "sep": SEP}
ROBERTA = {"type": "roberta", "cls": CLS, "sep": SEP, "trim_offsets": False}
TEMPLATE = {
    "type": "template",
    "single": [{"special": "in", "type_id": 3}, {"sequence": "A", "type_id": 2}, {"special": "none"}],
    "pair": [{"sequence": "B", "type_id": 1}, {"special": "in"}, {"sequence": "A"}],
    "special_tokens": [
        {"name": "in", "ids": [7, 6], "tokens": ["[IN", "ST]"]},
        {"name": "none", "ids": [], "tokens": []},
    ],
}


def tokenizer(post_processor: Any = None, **parts: Any) -> Tokenizer:
    added = [{"content": "<s>", "id": 5}]
    model = {"type": "bpe", "vocabulary": ["a", "b", " "], "added_tokens": added, **parts}
    return from_mapping({**model, "post_processor": post_processor})


def fields(texts: list[str], post_processor: Any, adds: bool = True) -> list[str]:
    """Return each token with its id, type id, masks, span, word and sequence, in short."""
    [encoding] = encode_inputs([texts], tokenizer(post_processor), Choices(), adds)
    return [
        f"{token.text} {token.id} {token.type_id} {token.is_special:d}{token.is_attended:d} "
        f"{token.start}-{token.end} {token.word} {token.sequence}"
        for token in encoding.tokens
    ]


TEXT = ["a 0 0 01 0-1 0 0", "<s> 5 0 01 1-4 1 0"]
PAIR = ["b 1 1 01 0-1 0 1"]


@pytest.mark.parametrize(
    ("texts", "post_processor", "expected"),
    [
        (["a<s>", "b"], None, [*TEXT, *PAIR]),
        (["a<s>", "b"], {"type": "byte_level"}, [*TEXT, *PAIR]),
        (["a<s>", "b"], {"type": "sequence", "post_processors": []}, [*TEXT, *PAIR]),
        (["a<s>"], BERT, ["[CLS] 8 0 11 0-0 None None", *TEXT, "[SEP] 9 0 11 0-0 None None"]),
        (
            ["a<s>", "b"],
            BERT,
            [
                "[CLS] 8 0 11 0-0 None None",
                *TEXT,
                "[SEP] 9 0 11 0-0 None None",
                *PAIR,
                "[SEP] 9 1 11 0-0 None None",
            ],
        ),
        (["", ""], ROBERTA, ["[CLS] 8 0 11 0-0 None None", *["[SEP] 9 0 11 0-0 None None"] * 3]),
        (
            ["a", "b"],
            ROBERTA,
            [
                "[CLS] 8 0 11 0-0 None None",
                "a 0 0 01 0-1 0 0",
                *["[SEP] 9 0 11 0-0 None None"] * 2,
                "b 1 0 01 0-1 0 1",
                "[SEP] 9 0 11 0-0 None None",
            ],
        ),
        (["a"], TEMPLATE, ["[IN 7 3 11 0-0 None None", "ST] 6 3 11 0-0 None None", "a 0 2 01 0-1 0 0"]),
        (
            ["a", "b"],
            {"type": "sequence", "post_processors": [{"type": "byte_level"}, TEMPLATE]},
            [
                "b 1 1 01 0-1 0 1",
                "[IN 7 0 11 0-0 None None",
                "ST] 6 0 11 0-0 None None",
                "a 0 0 01 0-1 0 0",
            ],
        ),
    ],
)
def test_what_is_put_in(texts: list[str], post_processor: Any, expected: list[str]) -> None:
    assert fields(texts, post_processor) == expected


@pytest.mark.parametrize(
    ("post_processor", "expected"),
    [
        (BERT, [*TEXT, *PAIR]),
        (ROBERTA, [*TEXT, "b 1 0 01 0-1 0 1"]),
        (TEMPLATE, [*PAIR, *TEXT]),
    ],
)
def test_nothing_is_put_in_where_it_is_not_wanted(post_processor: Any, expected: list[str]) -> None:
    assert fields(["a<s>", "b"], post_processor, adds=False) == expected


@pytest.mark.parametrize(
    ("token", "span", "keeps", "trimmed"),
    [
        ("Ġa", (1, 3), False, (2, 3)),
        ("ĠĠ", (1, 3), False, (3, 3)),
        ("Ġb", (3, 4), False, (3, 4)),  # its space was put before the text
        ("aĠ", (0, 2), False, (0, 1)),
        ("Ċ", (4, 5), False, (4, 5)),
        ("Ġ", (0, 1), False, (0, 1)),  # a character of the text that is none
        ("Ġa", (1, 3), True, (1, 3)),
        ("ĠĠb", (1, 4), True, (3, 4)),
        ("Ġ", (1, 2), True, (1, 1)),
    ],
)
def test_trimmed_spans(token: str, span: tuple[int, int], keeps: bool, trimmed: tuple[int, int]) -> None:
    text = "a  b\n"
    trimming = tokenizer({"type": "byte_level", "add_prefix_space": keeps}).post_processor
    [found] = trim_spans([EncodedToken(token, None, *span)], text, trimming, Choices())
    assert (found.start, found.end) == trimmed


def test_only_the_first_token_keeps_its_beginning() -> None:
    trimming = tokenizer({"type": "roberta", "cls": CLS, "sep": SEP}).post_processor
    tokens = [EncodedToken("Ġa", None, 0, 2), EncodedToken("Ġa", None, 2, 4)]
    assert [token[2:4] for token in trim_spans(tokens, " a a", trimming, Choices())] == [(0, 2), (3, 4)]


def test_white_space_that_an_added_token_takes_is_trimmed() -> None:
    added = [{"content": "<s>", "id": 5, "lstrip": True, "rstrip": True}]
    model = tokenizer({"type": "byte_level"}, added_tokens=added)
    [encoding] = encode_inputs([["a \t<s>\n"]], model, Choices())
    assert [token[:4] for token in encoding.tokens] == [("a", 0, 0, 1), ("<s>", 5, 3, 6)]


def test_a_text_is_put_in_as_often_as_the_template_says() -> None:
    twice = tokenizer({**TEMPLATE, "single": [{"sequence": "A"}, {"sequence": "A", "type_id": 1}]}).post_processor
    text = [EncodedToken("a", 0, 0, 1, sequence=0)]
    assert post_process([text], twice, True) == (text[0], text[0]._replace(type_id=1))


@pytest.mark.parametrize(
    ("post_processor", "message"),
    [
        ({"type": "bert"}, "the post_processor bert needs the key cls"),
        ({"type": "bert", "cls": ["a"], "sep": SEP}, "['a'] is not a pair"),
        ({"type": "bert", "cls": CLS, "sep": ["a", -1]}, "-1 is not an integer from 0 to 2**53 - 1"),
        (
            {**TEMPLATE, "single": [{"special": "out"}]},
            "the template single names 'out', which is not in its special_tokens",
        ),
        (
            {**TEMPLATE, "single": [{"sequence": "B"}]},
            "the template single names the sequence B, which is in pairs only",
        ),
        ({**TEMPLATE, "pair": [{"sequence": "A"}]}, "the template pair does not name the sequence B"),
        ({**TEMPLATE, "pair": [{"sequence": "C"}]}, "'C' is not one of A, B"),
        (
            {**TEMPLATE, "pair": [{"type_id": 1}]},
            "the item {'type_id': 1} of a template has to have either special or sequence",
        ),
        (
            {**TEMPLATE, "special_tokens": [{"name": "in", "ids": [1], "tokens": []}]},
            "the special token 'in' of a template has 1 ids, and 0 tokens",
        ),
        (
            {**TEMPLATE, "special_tokens": [{"name": "in", "ids": [], "tokens": []}] * 2},
            "the special token 'in' of a template is listed twice",
        ),
        ({**TEMPLATE, "special_tokens": [{"name": "in"}]}, "a special token of a template needs the key ids"),
    ],
)
def test_a_post_processor_that_contradicts_itself_is_refused(post_processor: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        tokenizer(post_processor)
    assert (caught.value.reason, caught.value.message) == ("invalid_model", message)


def test_a_sequence_of_two_that_put_in_tokens_is_refused() -> None:
    inner = {"type": "sequence", "post_processors": [BERT]}
    with pytest.raises(InputError) as caught:
        tokenizer({"type": "sequence", "post_processors": [ROBERTA, inner]})
    message = "a sequence has more than one post_processor that puts in tokens, which is not specified"
    assert (caught.value.reason, caught.value.message) == ("unsupported", message)
