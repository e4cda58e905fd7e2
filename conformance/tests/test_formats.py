"""The formats in which models are handed to implementations."""

from __future__ import annotations

import json
import re
from math import log
from typing import Any

import pytest

from tokspec.base.errors import Unsupported
from tokspec.base.files import fixtures_folder, specification_folder
from tokspec.formats import FORMATS, READERS, read, write
from tokspec.formats.neutral import fill_defaults
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
    "replace": (
        {"type": "replace", "pattern": {"string": " "}, "content": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ),
    "prepend": ({"type": "prepend", "prefix": "▁"}, {"type": "Prepend", "prepend": "▁"}),
    "strip": ({"type": "strip", "right": False}, {"type": "Strip", "strip_left": True, "strip_right": False}),
    "nmt": ({"type": "nmt"}, {"type": "Nmt"}),
    "byte_level": ({"type": "byte_level"}, {"type": "ByteLevel"}),
    "precompiled": (
        {"type": "precompiled", "charsmap": "aHVn"},
        {"type": "Precompiled", "precompiled_charsmap": "aHVn"},
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
    "whitespace": ({"type": "whitespace"}, {"type": "Whitespace"}),
    "fixed_length": ({"type": "fixed_length"}, {"type": "FixedLength", "length": 5}),
    "unicode_scripts": ({"type": "unicode_scripts"}, {"type": "UnicodeScripts"}),
    "char_delimiter_split": (
        {"type": "char_delimiter_split", "delimiter": "-"},
        {"type": "CharDelimiterSplit", "delimiter": "-"},
    ),
    "digits": ({"type": "digits"}, {"type": "Digits", "individual_digits": False}),
    "punctuation": (
        {"type": "punctuation", "behavior": "contiguous"},
        {"type": "Punctuation", "behavior": "Contiguous"},
    ),
    "split": (
        {"type": "split", "pattern": {"regex": r"\s+"}, "behavior": "merged_with_next"},
        {"type": "Split", "pattern": {"Regex": r"\s+"}, "behavior": "MergedWithNext", "invert": False},
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
    "bpe": ({"type": "bpe", "suffix": "</w>"}, {"type": "BPEDecoder", "suffix": "</w>"}),
    "ctc": (
        {"type": "ctc", "cleanup": False},
        {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": False},
    ),
    "byte_fallback": ({"type": "byte_fallback"}, {"type": "ByteFallback"}),
    "fuse": ({"type": "fuse"}, {"type": "Fuse"}),
    "strip": (
        {"type": "strip", "content": " ", "start": 1, "stop": 0},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ),
    "replace": (
        {"type": "replace", "pattern": {"regex": "▁"}, "content": " "},
        {"type": "Replace", "pattern": {"Regex": "▁"}, "content": " "},
    ),
    "sequence": (
        {"type": "sequence", "decoders": [{"type": "fuse"}, {"type": "metaspace", "prepend_scheme": "never"}]},
        {"type": "Sequence", "decoders": [{"type": "Fuse"}, {**METASPACE, "prepend_scheme": "never"}]},
    ),
}

CLS = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
FIRST = {"Sequence": {"id": "A", "type_id": 0}}
SECOND = {"Sequence": {"id": "B", "type_id": 1}}

POST_PROCESSORS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "template": (
        {
            "type": "template",
            "single": [{"special": "[CLS]"}, {"sequence": "A"}],
            "pair": [{"special": "[CLS]"}, {"sequence": "A"}, {"sequence": "B", "type_id": 1}],
            "special_tokens": [{"name": "[CLS]", "ids": [2, 5], "tokens": ["[C", "LS]"]}],
        },
        {
            "type": "TemplateProcessing",
            "single": [CLS, FIRST],
            "pair": [CLS, FIRST, SECOND],
            "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2, 5], "tokens": ["[C", "LS]"]}},
        },
    ),
    "bert": (
        {"type": "bert", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]},
        {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]},
    ),
    "roberta": (
        {"type": "roberta", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": False},
        {
            "type": "RobertaProcessing",
            "sep": ["</s>", 2],
            "cls": ["<s>", 0],
            "trim_offsets": False,
            "add_prefix_space": True,
        },
    ),
    "byte_level": (
        {"type": "byte_level", "add_prefix_space": False},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    ),
    "sequence": (
        {"type": "sequence", "post_processors": [{"type": "bert", "sep": ["b", 1], "cls": ["a", 0]}]},
        {"type": "Sequence", "processors": [{"type": "BertProcessing", "sep": ["b", 1], "cls": ["a", 0]}]},
    ),
}

STAGES = {
    "normalizer": NORMALIZERS,
    "pre_tokenizer": PRE_TOKENIZERS,
    "post_processor": POST_PROCESSORS,
    "decoder": DECODERS,
}


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
    model = {"type": "bpe", stage: neutral}
    written = write("tokenizer.json", model)
    assert written == {**EMPTY, stage: expected}
    assert read("tokenizer.json", written) == fill_defaults(model)


@pytest.mark.parametrize("stage", STAGES)
def test_every_kind_of_the_schema_is_tried(stage: str) -> None:
    schema = json.loads((fixtures_folder() / "schema.json").read_text("utf-8"))
    kinds = set(schema["$defs"][stage]["properties"]["type"]["enum"])
    assert set(STAGES[stage]) == kinds - {"sentencepiece"}


@pytest.mark.parametrize("format", [format for format in FORMATS if format not in ("tokspec", "sentencepiece.model")])
@pytest.mark.parametrize(
    ("model", "component"),
    [
        ({"normalizer": {"type": "sentencepiece"}}, "normalizer/sentencepiece"),
        ({"decoder": {"type": "sequence", "decoders": [{"type": "sentencepiece"}]}}, "decoder/sentencepiece"),
        ({"vocabulary": ["a"], "scores": [0]}, "model/bpe/scores"),
        ({"vocabulary": ["a"], "piece_types": {"control": ["a"]}}, "model/bpe/piece_types"),
    ],
)
def test_what_sentencepiece_has_is_not_written_elsewhere(format: str, model: dict[str, Any], component: str) -> None:
    with pytest.raises(Unsupported) as caught:
        write(format, {"type": "bpe", **model})
    assert caught.value.message.endswith(f"{format} has no place for {component}, which this model needs")


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


def test_tokenizer_json_of_a_wordlevel_model_with_ids() -> None:
    model = {"type": "wordlevel", "vocabulary": [["hug", 7], ["<unk>", 2]]}
    written = write("tokenizer.json", model)
    assert written["model"] == {"type": "WordLevel", "unk_token": "<unk>", "vocab": {"hug": 7, "<unk>": 2}}
    assert read("tokenizer.json", written) == {
        "type": "wordlevel",
        "unknown_token": "<unk>",
        "vocabulary": [["<unk>", 2], ["hug", 7]],
    }


FLAGS = {"fuse_unk": True, "byte_fallback": True, "ignore_merges": True}


def test_tokenizer_json_of_a_bpe_model_with_every_parameter() -> None:
    model = {
        "type": "bpe",
        "vocabulary": ["<unk>", "u", "@@g</w>", "ug</w>"],
        "merges": [["u", "@@g</w>"]],
        "unknown_token": "<unk>",
        "continuing_prefix": "@@",
        "end_of_word_suffix": "</w>",
        **FLAGS,
    }
    written = write("tokenizer.json", model)
    assert written["model"] == {
        "type": "BPE",
        "dropout": None,
        "unk_token": "<unk>",
        "continuing_subword_prefix": "@@",
        "end_of_word_suffix": "</w>",
        **FLAGS,
        "vocab": {"<unk>": 0, "u": 1, "@@g</w>": 2, "ug</w>": 3},
        "merges": [["u", "@@g</w>"]],
    }
    assert read("tokenizer.json", written) == model


def test_tokenizer_json_of_a_unigram_model_with_byte_fallback() -> None:
    model = {"type": "unigram", "tokens": [["<0x0A>", -1.5]], "weights": "log_probability", "byte_fallback": True}
    written = write("tokenizer.json", model)
    expected = {"type": "Unigram", "unk_id": None, "vocab": [["<0x0A>", -1.5]], "byte_fallback": True}
    assert (written["model"], read("tokenizer.json", written)) == (expected, model)


def test_tokenizer_json_has_truncation_and_padding() -> None:
    model: dict[str, Any] = {
        "type": "bpe",
        "truncation": {"max_length": 8, "stride": 2},
        "padding": {"strategy": {"fixed": 9}, "direction": "left", "pad_to_multiple_of": 4, "token": "<pad>"},
    }
    written = write("tokenizer.json", model)
    assert written["truncation"] == {"max_length": 8, "strategy": "LongestFirst", "stride": 2, "direction": "Right"}
    assert written["padding"] == {
        "strategy": {"Fixed": 9},
        "direction": "Left",
        "pad_to_multiple_of": 4,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "<pad>",
    }
    assert read("tokenizer.json", written) == fill_defaults(model)
    shortest = write("tokenizer.json", {"truncation": {"max_length": 0}, "padding": {}})
    assert shortest["padding"] == {
        "strategy": "BatchLongest",
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }


def test_tokenizer_json_has_added_tokens_in_the_order_of_their_ids() -> None:
    model = {
        "type": "bpe",
        "vocabulary": ["<s>", "u"],
        "merges": [],
        "special_tokens": ["<s>"],
        "added_tokens": [{"content": "b", "id": 9, "lstrip": True}, {"content": "u", "special": False}],
    }
    written = write("tokenizer.json", model)
    assert written["added_tokens"] == [
        special(0, "<s>"),
        {**special(1, "u"), "special": False},
        {**special(9, "b"), "lstrip": True},
    ]
    assert read("tokenizer.json", written)["added_tokens"] == written["added_tokens"]


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


@pytest.mark.parametrize(
    ("model", "vocabulary"),
    [
        ({"decoder": {"type": "fuse"}}, {"<unk>": 0}),
        ({"normalizer": {"type": "nfc"}, "added_tokens": [{"content": "<m>", "id": 4}]}, {"<m>": 4}),
        ({"pre_tokenizer": {"type": "bert"}, "special_tokens": ["<a>", "<b>"]}, {"<a>": 0, "<b>": 1}),
    ],
)
def test_tokenizer_json_of_stages_alone_has_one_token_or_the_added_ones(
    model: dict[str, Any], vocabulary: dict[str, int]
) -> None:
    for format in ("tokenizer.json", "tokenizer.json-legacy"):
        written = write(format, model)["model"]
        assert (written["type"], written["vocab"], written["merges"]) == ("BPE", vocabulary, [])


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
            {"type": "bpe", "vocabulary": ["a"], "merges": [], "added_tokens": [{"content": "<s>"}]},
            "unsupported: the added token '<s>' is not in the vocabulary",
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


def test_a_decoder_of_the_first_scheme_is_written_as_it_is() -> None:
    model = {"type": "bpe", "vocabulary": ["a"], "decoder": {"type": "metaspace", "prepend_scheme": "first"}}
    assert write("tokenizer.json", model)["decoder"] == {**METASPACE, "prepend_scheme": "first"}


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
    table = chapter.split("## Formats")[1].split("\n## ")[0]
    assert re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE) == [*dict.fromkeys([*FORMATS, *READERS])]


@pytest.mark.parametrize("vocabulary", [["a", "a"], [["a", 0], ["a", 1]]])
def test_a_token_listed_twice_has_no_place_in_an_object(vocabulary: list[Any]) -> None:
    with pytest.raises(Unsupported) as caught:
        write("tokenizer.json", {"type": "bpe", "vocabulary": vocabulary, "merges": []})
    message = "unsupported: the vocabulary lists a token twice, and tokenizer.json has it as keys of an object"
    assert str(caught.value) == message
