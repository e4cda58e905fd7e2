"""The formats in which models are handed to implementations."""

from __future__ import annotations

import json
import re
from math import log
from typing import Any

import pytest

from tokspec.base.errors import Unsupported
from tokspec.base.paths import fixtures_folder, specification_folder
from tokspec.formats import FORMATS, write
from tokspec.suite import schema
from tokspec.suite.fixtures import load_suite

EMPTY: dict[str, Any] = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": None,
    "post_processor": None,
    "decoder": None,
    "model": {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": {},
        "merges": [],
    },
}

NORMALIZERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nfc": ({"type": "nfc"}, {"type": "NFC"}),
    "nfd": ({"type": "nfd"}, {"type": "NFD"}),
    "nfkc": ({"type": "nfkc"}, {"type": "NFKC"}),
    "nfkd": ({"type": "nfkd"}, {"type": "NFKD"}),
    "lowercase": ({"type": "lowercase"}, {"type": "Lowercase"}),
    "strip_accents": ({"type": "strip_accents"}, {"type": "StripAccents"}),
    "bert": (
        {"type": "bert", "lowercase": False},
        {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": False,
        },
    ),
    "sequence": (
        {"type": "sequence", "normalizers": [{"type": "nfd"}, {"type": "sequence", "normalizers": []}]},
        {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Sequence", "normalizers": []}]},
    ),
}

METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}

PRE_TOKENIZERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "bert": ({"type": "bert"}, {"type": "BertPreTokenizer"}),
    "whitespace_split": ({"type": "whitespace_split"}, {"type": "WhitespaceSplit"}),
    "byte_level": (
        {"type": "byte_level", "add_prefix_space": True},
        {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True, "trim_offsets": False},
    ),
    "metaspace": (
        {"type": "metaspace", "replacement": "_", "prepend_scheme": "first", "split": False},
        {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "split": False},
    ),
    "sequence": (
        {"type": "sequence", "pre_tokenizers": [{"type": "whitespace_split"}, {"type": "metaspace"}]},
        {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, METASPACE]},
    ),
}

DECODERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "byte_level": (
        {"type": "byte_level"},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True},
    ),
    "metaspace": ({"type": "metaspace"}, METASPACE),
    "wordpiece": ({"type": "wordpiece"}, {"type": "WordPiece", "prefix": "##", "cleanup": False}),
}

STAGES = {"normalizer": NORMALIZERS, "pre_tokenizer": PRE_TOKENIZERS, "decoder": DECODERS}


def special(id: int, content: str) -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": id, "content": content, **flags}


def refusal(format: str, model: dict[str, Any]) -> str:
    with pytest.raises(Unsupported) as caught:
        write(format, model)
    return str(caught.value)


@pytest.mark.parametrize(
    ("stage", "kind"),
    [(stage, kind) for stage, table in STAGES.items() for kind in table],
    ids=lambda value: str(value),
)
def test_tokenizer_json_has_every_stage(stage: str, kind: str) -> None:
    neutral, expected = STAGES[stage][kind]
    assert write("tokenizer.json", {stage: neutral}) == {**EMPTY, stage: expected}


@pytest.mark.parametrize("stage", STAGES)
def test_every_kind_of_the_schema_is_tried(stage: str) -> None:
    schema = json.loads((fixtures_folder() / "schema.json").read_text("utf-8"))
    assert set(STAGES[stage]) == set(schema["$defs"][stage]["properties"]["type"]["enum"])


def test_tokenizer_json_of_a_bpe_model() -> None:
    model = {
        "type": "bpe",
        "vocabulary": ["<s>", "u", "g", "ug"],
        "merges": [["u", "g"]],
        "unknown_token": "<s>",
        "special_tokens": ["<s>"],
    }
    part = {**EMPTY["model"], "unk_token": "<s>"}
    part |= {"vocab": {"<s>": 0, "u": 1, "g": 2, "ug": 3}, "merges": [["u", "g"]]}
    assert write("tokenizer.json", model) == {**EMPTY, "added_tokens": [special(0, "<s>")], "model": part}


def test_tokenizer_json_of_a_wordpiece_model() -> None:
    model = {"type": "wordpiece", "vocabulary": ["[UNK]", "hug", "##s"], "max_word_length": 7}
    assert write("tokenizer.json", model)["model"] == {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 7,
        "vocab": {"[UNK]": 0, "hug": 1, "##s": 2},
    }


def test_tokenizer_json_of_a_unigram_model_with_frequencies() -> None:
    model = {"type": "unigram", "tokens": [["h", 15], ["hug", 15], ["u", 30]]}
    assert write("tokenizer.json", model)["model"] == {
        "type": "Unigram",
        "unk_id": None,
        "vocab": [["h", log(15 / 60)], ["hug", log(15 / 60)], ["u", log(30 / 60)]],
        "byte_fallback": False,
    }


def test_tokenizer_json_of_a_unigram_model_with_logarithms() -> None:
    tokens = [["a", -1.5], ["<unk>", 0]]
    model = {"type": "unigram", "tokens": tokens, "weights": "log_probability", "unknown_token": "<unk>"}
    assert write("tokenizer.json", model)["model"] == {
        "type": "Unigram",
        "unk_id": 1,
        "vocab": [["a", -1.5], ["<unk>", 0]],
        "byte_fallback": False,
    }


def test_tokenizer_json_of_an_untrained_model_numbers_the_special_tokens() -> None:
    model = {"type": "bpe", "special_tokens": ["<s>", "<pad>"]}
    assert write("tokenizer.json", model) == {**EMPTY, "added_tokens": [special(0, "<s>"), special(1, "<pad>")]}


@pytest.mark.parametrize("type", ["wordpiece", "unigram"])
def test_tokenizer_json_of_an_untrained_model_has_an_empty_vocabulary(type: str) -> None:
    assert len(write("tokenizer.json", {"type": type, "unknown_token": "<unk>"})["model"]["vocab"]) == 0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            {"type": "bpe", "vocabulary": ["a"], "merges": [], "special_tokens": ["<s>"]},
            "unsupported: the special token '<s>' is not in the vocabulary",
        ),
        (
            {"type": "unigram", "tokens": [["a", 1]], "unknown_token": "<unk>"},
            "unsupported: the unknown token '<unk>' is not in the vocabulary, and tokenizer.json wants its id",
        ),
        (
            {"type": "unigram", "tokens": [["a", 1], ["b", 0]]},
            "unsupported: the frequency of 'b' has no logarithm, and tokenizer.json holds logarithms",
        ),
        (
            {"type": "bpe", "vocabulary": ["a\ud800"], "merges": []},
            "unsupported: tokenizer.json is UTF-8 and cannot hold the lone surrogate in 'a\\ud800'",
        ),
    ],
)
def test_tokenizer_json_refuses_what_it_cannot_express(model: dict[str, Any], message: str) -> None:
    assert refusal("tokenizer.json", model) == message


def test_an_unknown_format_is_refused() -> None:
    assert refusal("spm", {}) == "unsupported: no writer for the format spm"


def test_tokspec_fills_defaults_at_every_depth() -> None:
    model = {
        "about": "left out",
        "type": "wordpiece",
        "normalizer": {"type": "sequence", "normalizers": [{"type": "bert", "strip_accents": True}]},
        "pre_tokenizer": {
            "type": "sequence",
            "pre_tokenizers": [{"type": "bert"}, {"type": "metaspace", "split": False}],
        },
        "decoder": {"type": "metaspace"},
        "max_word_length": 3,
    }
    bert = {"type": "bert", "clean_text": True, "handle_chinese_chars": True, "strip_accents": True, "lowercase": True}
    metaspace = {"type": "metaspace", "replacement": "▁", "prepend_scheme": "always", "split": False}
    assert write("tokspec", model) == {
        "type": "wordpiece",
        "unknown_token": "[UNK]",
        "continuing_prefix": "##",
        "max_word_length": 3,
        "normalizer": {"type": "sequence", "normalizers": [bert]},
        "pre_tokenizer": {"type": "sequence", "pre_tokenizers": [{"type": "bert"}, metaspace]},
        "decoder": {"type": "metaspace", "replacement": "▁"},
    }


def test_tokspec_shares_nothing_with_the_original() -> None:
    model: dict[str, Any] = {"type": "unigram", "tokens": [["a", 1]], "normalizer": {"type": "nfc"}}
    written = write("tokspec", model)
    written["tokens"][0][1] = 2
    written["normalizer"]["type"] = "nfd"
    assert model == {"type": "unigram", "tokens": [["a", 1]], "normalizer": {"type": "nfc"}}


def test_models_with_all_defaults_are_valid_models_and_stay_as_they_are() -> None:
    for case in load_suite().cases.values():
        written = write("tokspec", case.model.content)
        assert list(schema.errors(written, "model")) == [], case.id
        assert write("tokspec", written) == written, case.id


def test_the_formats_are_those_of_the_protocol() -> None:
    chapter = (specification_folder() / "10-protocol.md").read_text("utf-8")
    table = chapter.split("## Formats")[1].split("## Operations")[0]
    assert re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE) == list(FORMATS)
