"""Reading ``tokenizer.json``: every key is taken over, says nothing, or is refused and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from random import Random
from typing import Any

import pytest

from tokspec.base.errors import DataError
from tokspec.formats import read, write
from tokspec.formats.files import load_json

PAIR = [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}]
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": False,
}
BPE: dict[str, Any] = {"type": "BPE", "vocab": {"u": 0, "g": 1, "ug": 2}, "merges": [["u", "g"]]}
UNIGRAM: dict[str, Any] = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.5]]}
SPECIAL = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


def complaint(content: Any) -> str:
    with pytest.raises(DataError) as caught:
        read("tokenizer.json", content)
    return str(caught.value)


def test_a_whole_tokenizer() -> None:
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": 2, "content": "ug", **SPECIAL}],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFD"}, BERT]},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {**BPE, "dropout": None, "unk_token": "u", "continuing_subword_prefix": "", "fuse_unk": False},
    }  # fmt: skip
    bert = {"type": "bert", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": False}
    assert read("tokenizer.json", content) == {
        "type": "bpe",
        "vocabulary": ["u", "g", "ug"],
        "merges": [["u", "g"]],
        "unknown_token": "u",
        "fuse_unk": False,
        "special_tokens": ["ug"],
        "normalizer": {"type": "sequence", "normalizers": [{"type": "nfd"}, bert]},
        "pre_tokenizer": {"type": "byte_level", "add_prefix_space": True, "use_regex": True},
        "decoder": {"type": "byte_level"},
    }


def test_a_unigram_model() -> None:
    assert read("tokenizer.json", {"model": UNIGRAM}) == {
        "type": "unigram",
        "tokens": [["<unk>", 0.0], ["a", -1.5]],
        "weights": "log_probability",
        "unknown_token": "<unk>",
    }


@pytest.mark.parametrize(
    ("part", "scheme"),
    [
        ({"add_prefix_space": True}, "always"),
        ({"add_prefix_space": False, "str_rep": "▁"}, "never"),
        ({"add_prefix_space": True, "prepend_scheme": "first"}, "first"),
        ({}, "always"),
    ],
)
def test_a_metaspace_of_any_age(part: dict[str, Any], scheme: str) -> None:
    content = {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", **part}, "model": BPE}
    assert read("tokenizer.json", content)["pre_tokenizer"] == {
        "type": "metaspace",
        "replacement": "▁",
        "prepend_scheme": scheme,
        "split": True,
    }


def nested(depth: int) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "NFC"}
    for _ in range(depth):
        part = {"type": "Sequence", "normalizers": [part]}
    return part


def added(id: int, content: str, **flags: bool) -> dict[str, Any]:
    return {"id": id, "content": content, **SPECIAL, **flags}


def test_ids_with_holes_in_any_order() -> None:
    content = {"model": {**BPE, "vocab": {"ug": 7, "u": 2, "g": 4_294_967_295}}}
    assert read("tokenizer.json", content)["vocabulary"] == [["u", 2], ["ug", 7], ["g", 4_294_967_295]]


@pytest.mark.parametrize(
    ("merges", "read_as"),
    [
        (["u g"], [["u", "g"]]),
        (["#version: 0.2", "u\u00a0 g"], [["u\u00a0", "g"]]),
        ([["u", "g"]], [["u", "g"]]),
        ([["#version:", "0.2"], ["u v", "g"]], [["#version:", "0.2"], ["u v", "g"]]),
        ([["u", "g"], ["u", "g"]], [["u", "g"], ["u", "g"]]),
        ([" g"], [["", "g"]]),
    ],
)
def test_merges_of_any_age(merges: Any, read_as: Any) -> None:
    """A space alone separates the tokens of a string."""
    assert read("tokenizer.json", {"model": {**BPE, "merges": merges}})["merges"] == read_as


@pytest.mark.parametrize(
    ("part", "model"),
    [
        ({"vocab": {"u": 0}, "merges": [], "unk_token": "u"}, {"type": "bpe", "vocabulary": ["u"], "merges": [], "unknown_token": "u", "fuse_unk": False}),
        (
            {"vocab": {"u": 0}, "unk_token": "u", "continuing_subword_prefix": "_", "max_input_chars_per_word": 9},
            {"type": "wordpiece", "vocabulary": ["u"], "unknown_token": "u", "continuing_prefix": "_", "max_word_length": 9},
        ),
        ({"vocab": {"u": 0}, "unk_token": "u"}, {"type": "wordlevel", "vocabulary": ["u"], "unknown_token": "u"}),
        ({"vocab": [["u", 0.5]], "unk_id": None}, {"type": "unigram", "tokens": [["u", 0.5]], "weights": "log_probability"}),
    ],
)  # fmt: skip
def test_a_model_without_a_type(part: Any, model: Any) -> None:
    assert read("tokenizer.json", {"model": part}) == model


@pytest.mark.parametrize(
    ("tokens", "model"),
    [
        ([added(2, "ug"), added(0, "u")], {"special_tokens": ["ug", "u"]}),
        ([added(2, "ug", special=False)], {"added_tokens": [added(2, "ug", special=False)]}),
        ([added(0, "u"), added(9, "x")], {"added_tokens": [added(0, "u"), added(9, "x")]}),
        ([], {}),
    ],
)
def test_added_tokens(tokens: Any, model: Any) -> None:
    found = read("tokenizer.json", {"model": BPE, "added_tokens": tokens})
    assert {key: found[key] for key in ("special_tokens", "added_tokens") if key in found} == model


def test_added_tokens_of_an_untrained_model() -> None:
    empty = {**BPE, "vocab": {}, "merges": []}
    tokens = [added(0, "<s>"), added(1, "</s>")]
    assert read("tokenizer.json", {"model": empty, "added_tokens": tokens}) == {
        "type": "bpe",
        "special_tokens": ["<s>", "</s>"],
    }
    assert read("tokenizer.json", {"model": empty, "added_tokens": tokens[1:]}) == {
        "type": "bpe",
        "added_tokens": tokens[1:],
    }


def test_values_that_say_nothing_are_left_out() -> None:
    content = {
        "padding": {
            "strategy": "BatchLongest",
            "direction": "Right",
            "pad_to_multiple_of": 0,
            "pad_id": 3,
            "pad_type_id": 0,
            "pad_token": "<pad>",
        },
        "truncation": {"max_length": 5, "strategy": "OnlySecond", "stride": 0},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [],
            "pair": PAIR,
            "special_tokens": {},
            "use_regex": True,
        },
        "decoder": {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "str_rep": "_"},
        "model": {**BPE, "dropout": 0.0, "end_of_word_suffix": "", "fuse_unk": None, "byte_fallback": False},
    }
    assert read("tokenizer.json", content) == {
        "type": "bpe",
        "vocabulary": ["u", "g", "ug"],
        "merges": [["u", "g"]],
        "padding": {"strategy": "batch_longest", "direction": "right", "id": 3, "type_id": 0, "token": "<pad>"},
        "truncation": {"max_length": 5, "strategy": "only_second", "stride": 0, "direction": "right"},
        "post_processor": {
            "type": "template",
            "single": [],
            "pair": [{"sequence": "A", "type_id": 0}, {"sequence": "B", "type_id": 1}],
            "special_tokens": [],
        },
        "decoder": {"type": "metaspace", "replacement": "_"},
    }


NOT = "which the specification does not cover"
NAMED = (
    "NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, BertNormalizer, Replace, Prepend, Strip, Precompiled, Nmt, "
    "ByteLevel, Sequence"
)
ITEM = {"SpecialToken": {"id": "[X]", "type_id": 0}}


def template(**keys: Any) -> dict[str, Any]:
    return {"model": BPE, "post_processor": {"type": "TemplateProcessing", "single": [], "pair": PAIR, "special_tokens": {}, **keys}}  # fmt: skip


#: What is not covered.
UNCOVERED: list[tuple[Any, str]] = [
    ({"model": {**BPE, "type": "Neural"}}, f'model: is of type "Neural", {NOT}; it reads BPE, WordPiece, WordLevel, Unigram'),
    ({"model": {**BPE, "dropout": 0.1}}, f"model.dropout: is 0.1, which is not null, 0 or 1, and dropout between them chooses merges at random, {NOT}"),
    ({"model": {**BPE, "speed": 3}}, "model.speed: is a key that the specification does not cover"),
    ({"model": BPE, "sp\ned": 3}, "sp\\u000aed: is a key that the specification does not cover"),
    ({"model": BPE, "version": "2.0"}, 'version: is "2.0"; the suite reads "1.0"'),
    ({"model": BPE, "normalizer": {"type": "NFX"}}, f'normalizer: is of type "NFX", {NOT}; it reads {NAMED}'),
    (
        {"model": BPE, "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "NFX"}]}},
        f'normalizer.normalizers[1]: is of type "NFX", {NOT}; it reads {NAMED}',
    ),
    ({"model": BPE, "decoder": {"type": "CTC", "pad_token": "", "cleanup": True}}, "decoder.word_delimiter_token: is missing"),
]  # fmt: skip

#: Files that no loader can make sense of.
BROKEN: list[tuple[Any, str]] = [
    ([], "is not an object"),
    ({}, "model: is missing; a tokenizer.json has a model"),
    ({"model": []}, "model: is not an object"),
    ({"model": {"type": []}}, f"model: is of type [], {NOT}; it reads BPE, WordPiece, WordLevel, Unigram"),
    ({"model": {"type": "BPE", "vocab": {}}}, "model.merges: is missing"),
    ({"model": {"type": "WordPiece", "vocab": {}, "unk_token": "u"}}, "model.continuing_subword_prefix: is missing"),
    ({"model": {**BPE, "fuse_unk": 1}}, "model.fuse_unk: is 1, which is not true or false"),
    ({"model": {**BPE, "vocab": []}}, "model.vocab: is not an object"),
    ({"model": {**BPE, "vocab": {"u": 1.0}}}, "model.vocab.u: is 1.0, which is not an integer from 0 to 4294967295"),
    ({"model": {**BPE, "vocab": {"u": True}}}, "model.vocab.u: is true, which is not an integer from 0 to 4294967295"),
    ({"model": {**BPE, "vocab": {"u": -1}}}, "model.vocab.u: is -1, which is not an integer from 0 to 4294967295"),
    ({"model": {**BPE, "vocab": {"u": 1, "g": 1}}}, 'model.vocab.g: is 1, the id of "u" too'),
    ({"model": {**BPE, "merges": None}}, "model.merges: is not a list"),
    ({"model": {**BPE, "merges": ["u  g"]}}, 'model.merges[0]: is "u  g", which is not two tokens with a space between them'),
    ({"model": {**BPE, "merges": ["u\u00a0g"]}}, 'model.merges[0]: is "u\\u00a0g", which is not two tokens with a space between them'),
    ({"model": {**BPE, "merges": ["u g", ["u", "g"]]}}, 'model.merges[1]: is ["u", "g"], which is not two tokens with a space between them'),
    ({"model": {**BPE, "merges": [["u", 3]]}}, 'model.merges[0]: is ["u", 3], which is not a pair of tokens'),
    ({"model": {**UNIGRAM, "unk_id": 2}}, "model.unk_id: is 2, which is not an id of the 2 tokens"),
    ({"model": {**UNIGRAM, "vocab": [["a"]]}}, 'model.vocab[0]: is ["a"], which is not a pair of a token and a logarithm'),
    ({"model": {**UNIGRAM, "vocab": [["a", float("nan")]]}}, 'model.vocab[0]: is ["a", NaN], which is not a pair of a token and a logarithm'),
    ({"model": {**UNIGRAM, "vocab": {"a": 0}}}, "model.vocab: is not a list of pairs of a token and a logarithm"),
    ({"model": BPE, "post_processor": {"type": "ByteLevel"}}, "post_processor.add_prefix_space: is missing"),
    ({"model": BPE, "post_processor": {"type": "BertProcessing", "sep": ["x"], "cls": ["y", 0]}}, 'post_processor.sep: is ["x"], which is not a pair of a token and an id'),
    ({"model": BPE, "post_processor": {"type": "BertProcessing", "sep": [0, "x"], "cls": ["y", 0]}}, "post_processor.sep[0]: is 0, which is not a string"),
    (template(single=[ITEM]), 'post_processor.single[0]: names "[X]", which special_tokens does not have'),
    (template(pair=[{"Sequence": {"id": "A", "type_id": 0}}, ITEM]), 'post_processor.pair[1]: names "[X]", which special_tokens does not have'),
    (template(single=[{"Sequence": {"id": "B", "type_id": 0}}]), "post_processor.single[0]: names the sequence B, and a single text is A"),
    (template(pair=PAIR[:1]), "post_processor.pair: does not have both of the sequences A and B"),
    (template(single=["[CLS] $A"]), "post_processor.single[0]: is not an object"),
    (template(single=[{}]), "post_processor.single[0]: is {}, which is not an object with one of the keys Sequence, SpecialToken"),
    (template(single=[{"Sequence": {"id": "C", "type_id": 0}}]), 'post_processor.single[0].Sequence.id: is "C", which is not one of A, B'),
    (template(single=[{"Sequence": {"id": "A", "type_id": -1}}]), "post_processor.single[0].Sequence.type_id: is -1, which is not an integer from 0 to 4294967295"),
    (template(special_tokens={"[X]": {"id": "[Y]", "ids": [0], "tokens": ["[X]"]}}), 'post_processor.special_tokens.[X].id: is "[Y]", but its key is "[X]"'),
    (template(special_tokens={"[X]": {"id": "[X]", "ids": [0, 1], "tokens": ["[X]"]}}), "post_processor.special_tokens.[X].tokens: has 1 entries, but ids has 2"),
    ({"model": BPE, "normalizer": {"type": "Sequence"}}, "normalizer.normalizers: is missing"),
    ({"model": BPE, "normalizer": {"type": "Sequence", "normalizers": {}}}, "normalizer.normalizers: is not a list"),
    ({"model": BPE, "normalizer": {"normalizers": []}}, "normalizer.type: is missing"),
    ({"model": BPE, "normalizer": {"type": "Sequence", "normalizers": [None]}}, "normalizer.normalizers[0]: is not an object"),
    ({"model": BPE, "normalizer": {**REPLACE, "pattern": " "}}, "normalizer.pattern: is not an object"),
    ({"model": BPE, "normalizer": {**REPLACE, "pattern": {"String": " ", "Regex": " "}}}, 'normalizer.pattern: is {"String": " ", "Regex": " "}, which is not an object with one of the keys String, Regex'),
    ({"model": BPE, "normalizer": {"type": "Precompiled", "precompiled_charsmap": "é"}}, 'normalizer.precompiled_charsmap: is "\\u00e9", which is not base64'),
    ({"model": BPE, "normalizer": nested(1000)}, "is nested too deeply"),
    ({"model": BPE, "pre_tokenizer": {"type": "Metaspace", "replacement": "__"}}, 'pre_tokenizer.replacement: is "__", which is not one character'),
    (
        {"model": BPE, "pre_tokenizer": {"type": "Metaspace", "replacement": "_", "add_prefix_space": False, "prepend_scheme": "first"}},
        'pre_tokenizer.add_prefix_space: is false, and prepend_scheme is "first"',
    ),
    ({"model": BPE, "decoder": {"type": "Strip", "content": " ", "start": float("inf"), "stop": 0}}, "decoder.start: is Infinity, which is not an integer from 0 to 18446744073709551615"),
    ({"model": BPE, "truncation": {"max_length": 5, "strategy": "Longest", "stride": 0}}, 'truncation.strategy: is "Longest", which is not one of LongestFirst, OnlyFirst, OnlySecond'),
    ({"model": BPE, "padding": {"strategy": {"Fixed": -1}}}, "padding.strategy.Fixed: is -1, which is not an integer from 0 to 18446744073709551615"),
    ({"model": BPE, "padding": {"strategy": "Longest"}}, 'padding.strategy: is "Longest", which is not BatchLongest or an object with the key Fixed'),
    ({"model": BPE, "added_tokens": {}}, "added_tokens: is not a list"),
    ({"model": BPE, "added_tokens": [3]}, "added_tokens[0]: is not an object"),
    ({"model": BPE, "added_tokens": [{"id": 0, **SPECIAL}]}, "added_tokens[0].content: is missing"),
    ({"model": BPE, "added_tokens": [{**added(0, "u"), "lstrip": None}]}, "added_tokens[0].lstrip: is null, which is not true or false"),
    ({"model": BPE, "added_tokens": [added(9, "")]}, "added_tokens[0].content: is empty"),
    ({"model": BPE, "added_tokens": [added(9, "x"), added(9, "y")]}, 'added_tokens[1].id: is 9, the id of "x" too'),
    ({"model": BPE, "added_tokens": [added(9, "x"), added(8, "x")]}, 'added_tokens[1].content: is "x", as that of added_tokens[0]'),
    ({"model": BPE, "added_tokens": [added(1, "x")]}, 'added_tokens[0].id: is 1, the id of "g" too'),
    ({"model": BPE, "added_tokens": [added(3, "u")]}, 'added_tokens[0].id: is 3, and "u" has the id 0 in the vocabulary'),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), UNCOVERED + BROKEN)
def test_what_cannot_be_read_is_named(content: Any, message: str) -> None:
    assert complaint(content) == f"tokenizer.json: {message}"


SEEDS: tuple[dict[str, Any], ...] = (
    {
        "version": "1.0",
        "truncation": {"direction": "Left", "max_length": 5, "strategy": "LongestFirst", "stride": 1},
        "padding": {
            "strategy": {"Fixed": 8},
            "direction": "Left",
            "pad_to_multiple_of": 4,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "u",
        },
        "added_tokens": [added(2, "ug"), added(5, " x ", special=False, lstrip=True), added(9, "y", normalized=True)],
        "normalizer": {"type": "Sequence", "normalizers": [BERT, REPLACE, {"type": "Prepend", "prepend": "▁"}]},
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": "a+"}, "behavior": "Isolated", "invert": False},
                {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
            ],
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [ITEM, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}, ITEM],
            "special_tokens": {"[X]": {"id": "[X]", "ids": [1, 2], "tokens": ["[", "X]"]}},
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [REPLACE, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}],
        },
        "model": {**BPE, "dropout": None, "unk_token": "u", "fuse_unk": True, "vocab": {"u": 0, "g": 1, "ug": 2, "ö": 7}},
    },
    {
        "added_tokens": [added(0, "<unk>")],
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": "aHVn"},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True, "prepend_scheme": "first"},
        "post_processor": {
            "type": "RobertaProcessing",
            "sep": ["a", 1],
            "cls": ["<unk>", 0],
            "trim_offsets": True,
            "add_prefix_space": True,
        },
        "decoder": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
        "model": {**UNIGRAM, "byte_fallback": True},
    },
    {
        "pre_tokenizer": {"type": "Punctuation"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {"[UNK]": 3, "a": 0},
        },
    },
)  # fmt: skip

VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        7,
        -1,
        2**32,
        2**64,
        10**400,
        0.0,
        1.5,
        1e300,
        float("nan"),
        float("inf"),
        "",
        "A",
        "Ġ ",
    ),
    *("\n", "\0", "\ud800", "\u202e", "x" * 99, "Sequence", "NFC", "BPE", "WordLevel", "Fixed", "type", [], {}, [[]]),
    *([None, None], ["a", 0], {"type": "NFC"}, {"type": "Sequence"}, {"": 0}, {"String": 3}, {"type": {}}),
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every object and list in a value with every key of each."""
    if not isinstance(value, dict | list):
        return []
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


def mutate(content: Any, random: Random) -> None:
    """Change a file at one place: another value, or a key that is missing, twice, renamed, or of another place."""
    inside, key = random.choice(places(content))
    other, where = random.choice(places(content))
    match random.randrange(6):
        case 0:
            del inside[key]
        case 1 if isinstance(inside, list):
            inside.insert(random.randrange(len(inside) + 1), deepcopy(inside[key]))
        case 2 if isinstance(inside, dict):
            inside[random.choice(["", "type", "id", "a\nb", key + "x"])] = inside.pop(key)
        case 3:
            inside[key] = deepcopy(other[where])
        case _:
            inside[key] = deepcopy(random.choice(VALUES))


def outcome(load: Callable[[], Any]) -> str:
    """Say what reading gives; what is read has to be written and read again as the same."""
    try:
        model = read("tokenizer.json", load())
    except DataError as error:
        message = str(error)
    else:
        message = ""
    if message:
        assert message.startswith("tokenizer.json:")
        assert message.isprintable()
        assert len(message) < 1000
        return "refused"
    assert read("tokenizer.json", write("tokenizer.json", model)) == model
    return "read"


@pytest.mark.slow
def test_a_changed_file_is_read_or_refused_in_one_line() -> None:
    random = Random(20)
    found = {"read": 0, "refused": 0}
    for _ in range(4000):
        content = deepcopy(random.choice(SEEDS))
        for _ in range(random.choice((1, 1, 1, 2, 5))):
            mutate(content, random)
        found[outcome(partial(deepcopy, content))] += 1
    assert min(found.values()) > 300


def test_a_changed_text_is_read_or_refused_in_one_line() -> None:
    random = Random(21)
    texts = [json.dumps(seed, ensure_ascii=False).encode() for seed in SEEDS]
    pieces = (b"", b'"', b"{", b"]", b",", b"\xff", b"\n", b"NaN", b"9" * 5000, b"[" * 2000, b"\\ud800", b"1e999")
    for _ in range(1000):
        text = random.choice(texts)
        at, length = random.randrange(len(text)), random.choice((0, 1, 1, 9))
        outcome(partial(load_json, text[:at] + random.choice(pieces) + text[at + length :], "tokenizer.json"))
