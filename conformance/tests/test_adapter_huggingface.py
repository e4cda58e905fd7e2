"""The adapter of Hugging Face tokenizers, asked as the suite asks it."""

from __future__ import annotations

from typing import Any

import pytest
import tokenizers

from tokspec.adapter import Hello, Refusal, Unsupported
from tokspec.formats import write
from tokspec.protocol.messages import Refused, Request
from tokspec.published.huggingface import OTHER_TRAINERS, TokenizersAdapter
from tokspec.published.sharing import ALL_COMPONENTS as COMPONENTS
from tokspec.published.sharing import TOKENIZERS_CHOICES as CHOICES
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.specification import load_specification

BPE: dict[str, Any] = {
    "type": "bpe",
    "vocabulary": ["<unk>", "b", "g", "h", "u", "ug", "hug"],
    "merges": [["u", "g"], ["h", "ug"]],
    "unknown_token": "<unk>",
}
UNIGRAM: dict[str, Any] = {
    "type": "unigram",
    "tokens": [["<unk>", -5.0], ["a", -1.0], ["b", -1.0], ["ab", -2.0], ["bc", -3.0]],
    "weights": "log_probability",
    "unknown_token": "<unk>",
}
WORDPIECE: dict[str, Any] = {"type": "wordpiece", "vocabulary": ["hug", "##s"]}
TOY = [["hug", 10], ["pug", 5], ["pun", 12], ["bun", 4], ["hugs", 5]]
ALPHABET = ["b", "g", "h", "n", "p", "s", "u"]


def run(operation: str, model: dict[str, Any], **input: Any) -> Any:
    adapter = TokenizersAdapter()
    return adapter.run(operation, adapter.load("tokenizer.json", write("tokenizer.json", model)), input)


def without(model: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in model.items() if name != key}


def test_hello() -> None:
    assert TokenizersAdapter().hello() == Hello(
        name="tokenizers",
        version=tokenizers.__version__,
        language="Python, Rust",
        operations=("normalize", "pre_tokenize", "encode", "encode_batch", "decode", "decode_stream", "train"),
        formats=("tokenizer.json",),
        choices=CHOICES,
        encode_fields=(
            *("tokens", "ids", "spans", "type_ids", "special_tokens_mask", "attention_mask", "word_ids"),
            *("sequence_ids", "overflowing"),
        ),
        other_trainers=OTHER_TRAINERS,
        encode_options=("pair", "add_special_tokens", "allowed_special"),
        decode_options=("skip_special_tokens",),
        components=COMPONENTS,
        reads_file=True,
    )


def test_other_trainers_are_not_asked() -> None:
    with InProcessSession(TokenizersAdapter()) as session:
        requests = [Request("train", name, {"type": name}, {}) for name in OTHER_TRAINERS]
        replies = [reply for _, reply in session.ask(requests)]
    assert replies == [
        Refused("unsupported", "trains wordpiece by another algorithm: merges the most frequent pair, as BPE does"),
        Refused(
            "unsupported",
            "trains unigram by another algorithm: expectation-maximization, and pruning by an approximate loss",
        ),
    ]


def test_the_choices_are_options_of_the_specification() -> None:
    choices = load_specification().choices
    assert [name for name, option in CHOICES.items() if option not in choices[name].options] == []


def test_normalize() -> None:
    assert run("normalize", {"normalizer": {"type": "bert"}}, text="Héllo 中") == {"text": "hello  中 "}


def test_pre_tokenize_counts_code_points() -> None:
    model = {"pre_tokenizer": {"type": "whitespace_split"}}
    assert run("pre_tokenize", model, text="😀 é") == {"pieces": [("😀", 0, 1), ("é", 2, 3)]}


def test_encode() -> None:
    assert run("encode", BPE, text="bugx") == {
        "tokens": ["b", "ug", "<unk>"],
        "ids": [1, 5, 0],
        "spans": [(0, 1), (1, 3), (3, 4)],
        "type_ids": [0, 0, 0],
        "special_tokens_mask": [0, 0, 0],
        "attention_mask": [1, 1, 1],
        "word_ids": [0, 0, 0],
        "sequence_ids": [0, 0, 0],
        "overflowing": [],
    }


def test_encode_gives_the_library_s_own_token_of_what_is_unknown() -> None:
    found = run("encode", UNIGRAM, text="axyb")
    assert (found["tokens"], found["ids"]) == (["a", "xy", "b"], [1, 0, 2])


#: What the post-processor puts in is named "S" and is no token of the vocabulary.
TEMPLATE: dict[str, Any] = {
    **BPE,
    "post_processor": {
        "type": "template",
        "single": [{"special": "S"}, {"sequence": "A"}],
        "pair": [{"sequence": "A"}, {"special": "S"}, {"sequence": "B", "type_id": 1}],
        "special_tokens": [{"name": "S", "ids": [9], "tokens": ["S"]}],
    },
}


def test_encode_with_what_a_post_processor_adds() -> None:
    assert run("encode", TEMPLATE, text="ug", pair="b") == {
        "tokens": ["ug", "S", "b"],
        "ids": [5, 9, 1],
        "spans": [(0, 2), (0, 0), (0, 1)],
        "type_ids": [0, 0, 1],
        "special_tokens_mask": [0, 1, 0],
        "attention_mask": [1, 1, 1],
        "word_ids": [0, None, 0],
        "sequence_ids": [0, None, 1],
        "overflowing": [],
    }
    assert run("encode", TEMPLATE, text="ug", add_special_tokens=False)["tokens"] == ["ug"]
    assert run("encode", TEMPLATE, text="ug")["tokens"] == ["S", "ug"]


def test_encode_what_is_truncated() -> None:
    found = run("encode", {**TEMPLATE, "truncation": {"max_length": 2}}, text="bg")
    assert (found["tokens"], [part["tokens"] for part in found["overflowing"]]) == (["S", "b"], [["S", "g"]])
    with pytest.raises(Refusal) as caught:
        run("encode", {**BPE, "truncation": {"max_length": 1, "strategy": "only_second"}}, text="bg")
    assert str(caught.value) == "invalid_input: Truncation error: Second sequence not provided"


def test_encode_a_batch_with_padding() -> None:
    model = {**TEMPLATE, "padding": {"id": 77, "token": "P", "type_id": 3}}
    found = run("encode_batch", model, inputs=[{"text": "u"}, {"text": "b", "pair": "gb"}], add_special_tokens=False)
    assert [each["tokens"] for each in found["encodings"]] == [["u", "P", "P"], ["b", "g", "b"]]
    assert found["encodings"][0]["ids"] == [4, 77, 77]
    assert found["encodings"][0]["type_ids"] == [0, 3, 3]
    assert found["encodings"][0]["attention_mask"] == [1, 0, 0]


def test_decode_without_special_tokens() -> None:
    model = {**BPE, "special_tokens": ["<unk>"]}
    assert run("decode", model, ids=[1, 0, 5], skip_special_tokens=True) == {"text": "b ug"}
    assert run("decode", model, tokens=["b", "<unk>"], skip_special_tokens=True) == {"text": "b"}


def test_decode_as_a_stream() -> None:
    model = {"type": "bpe", "vocabulary": ["a", "Ã", "¼", "<s>"], "merges": [], "decoder": {"type": "byte_level"}}
    model["special_tokens"] = ["<s>"]
    assert run("decode_stream", model, ids=[0, 1, 3, 2]) == {"parts": ["a", "", "\ufffd<s>", ""]}
    assert run("decode_stream", model, ids=[0, 1, 2, 3], skip_special_tokens=True) == {"parts": ["a", "", "ü", ""]}


def test_encode_adds_no_special_tokens_of_its_own() -> None:
    model = {**BPE, "special_tokens": ["<unk>"]}
    assert run("encode", model, text="b<unk>")["tokens"] == ["b", "<unk>"]


@pytest.mark.parametrize(
    ("model", "input", "text"),
    [
        (BPE, {"ids": [1, 99, 5]}, "b ug"),
        (BPE, {"tokens": ["b", "ug"]}, "b ug"),
        ({**BPE, "special_tokens": ["<unk>"]}, {"ids": [0]}, "<unk>"),
        ({"decoder": {"type": "wordpiece"}}, {"tokens": ["hug", "##s", "a"]}, "hugs a"),
        ({"decoder": {"type": "metaspace"}}, {"tokens": []}, ""),
        ({}, {"tokens": []}, ""),
    ],
)
def test_decode(model: dict[str, Any], input: dict[str, Any], text: str) -> None:
    assert run("decode", model, **input) == {"text": text}


@pytest.mark.parametrize(
    "target", [{"vocabulary_size": 10}, {"merge_count": 3}, {"vocabulary_size": 99, "min_frequency": 15}]
)
def test_train_from_words(target: dict[str, int]) -> None:
    assert run("train", {"type": "bpe"}, corpus={"words": TOY}, **target) == {
        "vocabulary": [*ALPHABET, "ug", "un", "hug"],
        "merges": [["u", "g"], ["u", "n"], ["h", "ug"]],
    }


def test_train_does_not_cut_the_words() -> None:
    model = {"type": "bpe", "pre_tokenizer": {"type": "whitespace_split"}, "normalizer": {"type": "lowercase"}}
    result = {"vocabulary": [" ", "A", "b", " A"], "merges": [[" ", "A"]]}
    assert run("train", model, corpus={"words": [["b A", 2]]}, merge_count=1) == result


def test_train_from_texts_with_special_tokens() -> None:
    model = {
        "type": "bpe",
        "normalizer": {"type": "lowercase"},
        "pre_tokenizer": {"type": "whitespace_split"},
        "special_tokens": ["<s>", "<a>"],
    }
    assert run("train", model, corpus={"texts": ["AB ab", "c"]}, merge_count=5) == {
        "vocabulary": ["<s>", "<a>", "a", "b", "c", "ab"],
        "merges": [["a", "b"]],
    }


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({**BPE, "unknown_token": "[U]"}, "Unk token `[U]` not found in the vocabulary"),
        (WORDPIECE, "WordPiece error: Missing [UNK] token from the vocabulary"),
        ({"type": "unigram", "tokens": [["u", 1]]}, "Encountered an unknown token but `unk_id` is missing"),
    ],
)
def test_an_unknown_without_a_token_is_an_unknown_symbol(model: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal) as caught:
        run("encode", model, text="x")
    assert (caught.value.reason, caught.value.message) == ("unknown_symbol", message)


@pytest.mark.parametrize(
    ("operation", "model", "input", "message"),
    [
        ("encode", BPE, {"text": "\ud800"}, "takes Unicode text, and a lone surrogate is none"),
        ("normalize", BPE, {"text": "a"}, "offers normalizers alone, and the model has none"),
        ("pre_tokenize", BPE, {"text": "a"}, "offers pre-tokenizers alone, and the model has none"),
        ("decode", BPE, {"tokens": ["x"]}, "decodes ids, and a token that is not in the vocabulary has none"),
        (
            "train",
            {"type": "bpe"},
            {"corpus": {"words": [["a", 2**31]]}, "merge_count": 1},
            "takes texts, so a word is repeated by its count, but the counts add up to more than 1000000",
        ),
        (
            "train",
            {"type": "bpe"},
            {"corpus": {"words": [["a", 0]]}, "merge_count": 1},
            "takes texts, and a word with the count 0 stands in none",
        ),
    ],
)
def test_what_is_not_supported(operation: str, model: dict[str, Any], input: dict[str, Any], message: str) -> None:
    with pytest.raises(Unsupported) as caught:
        run(operation, model, **input)
    assert caught.value.message == message


def test_a_merge_out_of_the_vocabulary_is_an_invalid_model() -> None:
    with pytest.raises(Refusal) as caught:
        run("encode", {"type": "bpe", "vocabulary": ["a", "ab"], "merges": [["a", "b"]]}, text="a")
    assert caught.value.reason == "invalid_model"
    assert caught.value.message.startswith("Token `b` out of vocabulary at line 1 column ")


def test_merges_without_a_new_token_are_answered_though_the_library_counts_tokens() -> None:
    """One merge is asked for: a and b make a token that is there, and so the library goes on to the next."""
    model = {"type": "bpe", "special_tokens": ["ab"]}
    assert run("train", model, corpus={"words": [["abc", 2]]}, merge_count=1) == {
        "vocabulary": ["ab", "a", "b", "c", "abc"],
        "merges": [["a", "b"], ["ab", "c"]],
    }


def test_an_id_beyond_32_bits_is_not_supported() -> None:
    with pytest.raises(Unsupported) as caught:
        run("decode", BPE, ids=[2**32])
    assert str(caught.value) == "unsupported: takes ids of 32 bits, as its library in Rust has them"


def test_other_exceptions_are_crashes() -> None:
    with pytest.raises(OverflowError):
        run("decode", BPE, ids=[-1])


METASPACE = {"type": "bpe", "vocabulary": ["a"], "pre_tokenizer": {"type": "metaspace"}}
MARKS = {"type": "bpe", "vocabulary": ["a", "\u0301", "\u0323"], "normalizer": {"type": "nfd"}}
BERT_CUTS = {"pre_tokenizer": {"type": "bert"}}


@pytest.mark.parametrize(
    ("operation", "model", "text", "result"),
    [
        pytest.param("normalize", {"normalizer": {"type": "bert"}}, "\u08d4", "\u08d4", id="a mark of Unicode 9"),
        pytest.param("normalize", {"normalizer": {"type": "nfkc"}}, "\u32ff", "\u32ff", id="of Unicode 12.1"),
        pytest.param("pre_tokenize", BERT_CUTS, "\u2e4fa", [("\u2e4fa", 0, 2)], id="punctuation of Unicode 12"),
        pytest.param("encode", without(BPE, "unknown_token"), "xb", [(0, 1)], id="spans behind what is dropped"),
        pytest.param("encode", METASPACE, "a", [(0, 1)], id="spans behind a mark that is dropped"),
        pytest.param("encode", MARKS, "a\u0301\u0323", [(0, 1), (1, 2), (2, 3)], id="spans of marks in another order"),
    ],
)
def test_what_the_library_does_otherwise_is_answered(
    operation: str, model: dict[str, Any], text: str, result: Any
) -> None:
    """Known failures, not refusals: what differs from the specification is the suite's to judge."""
    answer = run(operation, model, text=text)
    assert answer[{"encode": "spans", "pre_tokenize": "pieces"}.get(operation, "text")] == result


def test_a_panic_is_no_refusal() -> None:
    with pytest.raises(BaseException, match="range end index 2 out of range"):
        run("encode", {"type": "bpe", "vocabulary": ["a", "b"], "merges": [["a", "b"]]}, text="ab")
