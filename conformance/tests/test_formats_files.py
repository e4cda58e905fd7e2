"""Formats that are files of text: what is written, what is refused, and what reading gives back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokspec.base.display import shorten
from tokspec.base.errors import DataError, Unsupported
from tokspec.formats import FORMATS, READERS, read, write
from tokspec.formats.files import unpack
from tokspec.formats.neutral import added_tokens_of, by_id, fill_defaults, has_ids, ids_of, log_probabilities
from tokspec.formats.tiktoken_ranks import merges_of
from tokspec.suite.fixtures import load_suite

BPE: dict[str, Any] = {"type": "bpe", "vocabulary": ["u", "g", "h", "ug", "hug"], "merges": [["u", "g"], ["h", "ug"]]}
BYTES: dict[str, Any] = {**BPE, "pre_tokenizer": {"type": "byte_level"}}
WORDPIECE: dict[str, Any] = {"type": "wordpiece", "vocabulary": ["[UNK]", "hug", "##s"]}
BYTE_LEVEL = {"type": "byte_level", "add_prefix_space": False, "use_regex": True}


FLAGS = {"special": True, **dict.fromkeys(("normalized", "lstrip", "rstrip", "single_word"), False)}
NO_PATTERN = (
    "has no pattern to split a text by; give it in a file of the same name that ends in .beside.json, "
    'such as {"pattern": "…", "special_tokens": {"<|end|>": 5}}'
)


def refusal(format: str, model: Mapping[str, Any]) -> str:
    with pytest.raises(Unsupported) as caught:
        write(format, model)
    return caught.value.message


def complaint(format: str, content: Any) -> str:
    with pytest.raises(DataError) as caught:
        read(format, content)
    return str(caught.value)


def test_the_files_of_gpt2() -> None:
    model = {**BPE, "unknown_token": "u", "special_tokens": ["h"], "decoder": {"type": "metaspace"}}
    assert write("vocab.json+merges.txt", model) == {
        "files": {
            "vocab.json": '{"u": 0, "g": 1, "h": 2, "ug": 3, "hug": 4}\n',
            "merges.txt": "#version: 0.2\nu g\nh ug\n",
        },
        "beside": {
            "type": "bpe",
            "unknown_token": "u",
            "special_tokens": ["h"],
            "decoder": {"type": "metaspace", "replacement": "▁"},
        },
    }


def test_the_file_of_bert() -> None:
    assert write("vocab.txt", {**WORDPIECE, "max_word_length": 7}) == {
        "files": {"vocab.txt": "[UNK]\nhug\n##s\n"},
        "beside": {
            "type": "wordpiece",
            "unknown_token": "[UNK]",
            "continuing_prefix": "##",
            "max_word_length": 7,
        },
    }


def test_the_file_of_tiktoken_leaves_special_tokens_out() -> None:
    model = {**BYTES, "vocabulary": ["<s>", "Ġ", "u", "g", "ug", "<e>"], "merges": [["u", "g"]]}
    assert write("vocab.tiktoken", {**model, "special_tokens": ["<e>", "<s>"]}) == {
        "files": {"vocab.tiktoken": "IA== 1\ndQ== 2\nZw== 3\ndWc= 4\n"},
        "beside": {"type": "bpe", "pre_tokenizer": BYTE_LEVEL, "special_tokens": {"<e>": 5, "<s>": 0}},
    }


def test_the_file_of_tiktoken_without_special_tokens_tells_of_none() -> None:
    model = {"type": "bpe", "vocabulary": ["u"], "pre_tokenizer": {"type": "byte_level"}, "special_tokens": []}
    beside = {"type": "bpe", "pre_tokenizer": BYTE_LEVEL}
    assert write("vocab.tiktoken", model) == {"files": {"vocab.tiktoken": "dQ== 0\n"}, "beside": beside}


@pytest.mark.parametrize("special", [{}, {"special_tokens": {"<e>": 7}}])
def test_the_file_of_tiktoken_tells_a_pattern_as_people_do(special: dict[str, Any]) -> None:
    content = {"files": {"vocab.tiktoken": "dQ== 0\nZw== 1\ndWc= 2\n"}, "beside": {"pattern": r"\w+| ", **special}}
    model = read("vocab.tiktoken", content)
    assert write("vocab.tiktoken", model) == {**content, "beside": {"type": "bpe", **content["beside"]}}
    other = {**model, "decoder": {"type": "metaspace"}}
    assert write("vocab.tiktoken", other)["beside"].keys() >= {"pre_tokenizer", "decoder", "ignore_merges"}


def test_files_that_have_ids_keep_them() -> None:
    model = {**BPE, "vocabulary": [["u", 3], ["g", 9], ["ug", 4]], "merges": [["u", "g"]]}
    written = write("vocab.json+merges.txt", model)
    assert written["files"]["vocab.json"] == '{"u": 3, "g": 9, "ug": 4}\n'
    assert read("vocab.json+merges.txt", written)["vocabulary"] == [["u", 3], ["ug", 4], ["g", 9]]
    ranks = {**BYTES, "vocabulary": [["u", 3], ["g", 4], ["ug", 9]], "merges": [["u", "g"]]}
    written = write("vocab.tiktoken", ranks)
    assert written["files"] == {"vocab.tiktoken": "dQ== 3\nZw== 4\ndWc= 9\n"}
    assert read("vocab.tiktoken", written)["vocabulary"] == ranks["vocabulary"]


def test_what_is_told_beside_files_is_whatever_else_a_model_has() -> None:
    split = {"type": "split", "pattern": {"regex": "a+"}, "behavior": "isolated", "invert": False}
    later = {
        "pre_tokenizer": {"type": "sequence", "pre_tokenizers": [split, BYTE_LEVEL]},
        "truncation": {"max_length": 9, "strategy": "only_first", "stride": 0, "direction": "left"},
        "added_tokens": [{"content": "<s>", "id": 7}],
        "ignore_merges": True,
    }
    flags = {"special": True, "normalized": False, "lstrip": False, "rstrip": False, "single_word": False}
    for format in ("vocab.json+merges.txt", "vocab.tiktoken"):
        written = write(format, {**BPE, **later})
        beside = {"type": "bpe", **later, "added_tokens": [{**flags, "content": "<s>", "id": 7}]}
        assert written["beside"] == beside
        assert read(format, written) == {**BPE, **beside}


MERGES = "merges.txt cannot hold the merge of {!r} and {!r}: its loaders split at white space"
LINES = "vocab.txt has a token a line and cannot hold {!r}: its loaders strip white space"


@pytest.mark.parametrize(
    ("format", "model", "message"),
    [
        ("vocab.json+merges.txt", WORDPIECE, "vocab.json+merges.txt holds bpe models, and this one is of type wordpiece"),
        (
            "vocab.txt",
            {**WORDPIECE, "vocabulary": [["[UNK]", 1]]},
            "vocab.txt has no ids: they are the positions of its tokens, and those of this model are not",
        ),
        ("vocab.json+merges.txt", {}, "vocab.json+merges.txt holds bpe models, and this one has no type"),
        ("vocab.json+merges.txt", {"type": "bpe"}, "vocab.json+merges.txt holds a vocabulary, and this model is not trained"),
        ("vocab.json+merges.txt", {**BPE, "merges": [["a b", "c"]]}, MERGES.format("a b", "c")),
        ("vocab.json+merges.txt", {**BPE, "merges": [["a", "\x85"]]}, MERGES.format("a", "\x85")),
        ("vocab.json+merges.txt", {**BPE, "merges": [["", "a"]]}, MERGES.format("", "a")),
        (
            "vocab.json+merges.txt",
            {**BPE, "merges": [["#version", ":"]]},
            "merges.txt cannot hold a merge of '#version': its loaders skip lines that begin so",
        ),
        (
            "vocab.json+merges.txt",
            {**BPE, "vocabulary": ["\ud800"]},
            "vocab.json+merges.txt is UTF-8 and cannot hold the lone surrogate in '\\ud800'",
        ),
        ("vocab.txt", BPE, "vocab.txt holds wordpiece models, and this one is of type bpe"),
        ("vocab.txt", {**WORDPIECE, "vocabulary": ["a", "b\u2028"]}, LINES.format("b\u2028")),
        ("vocab.txt", {**WORDPIECE, "vocabulary": ["a", ""]}, LINES.format("")),
        ("vocab.tiktoken", BPE, "vocab.tiktoken holds tokens of bytes, and those of this model are of characters"),
        ("vocab.tiktoken", {**BYTES, "unknown_token": "u"}, "vocab.tiktoken has no unknown token, and this model has 'u'"),
        ("vocab.tiktoken", {**BYTES, "vocabulary": ["▁"], "merges": []}, "vocab.tiktoken holds bytes, and '▁' represents no bytes"),
        ("vocab.tiktoken", {**BYTES, "special_tokens": ["<s>"]}, "the special token '<s>' is not in the vocabulary"),
        (
            "vocab.tiktoken",
            {**BYTES, "merges": [["u", "g"]]},
            "vocab.tiktoken merges 'h' and 'ug', but the model's list of merges ends there",
        ),
        (
            "vocab.tiktoken",
            {**BYTES, "merges": [["h", "ug"], ["u", "g"]]},
            "vocab.tiktoken has no merges, and its ranks do not merge 'h' and 'ug' there",
        ),
        (
            "vocab.tiktoken",
            {**BYTES, "merges": [["u", "g"], ["h", "ug"], ["h", "u"]]},
            "vocab.tiktoken has no merges, and its ranks do not merge 'h' and 'u' there",
        ),
        (
            "tokenizer.json-legacy",
            {**BPE, "merges": [["a b", "c"]]},
            "the merge of 'a b' and 'c' has a space in it, which older versions split at",
        ),
        (
            "tokenizer.json-legacy",
            {**BPE, "merges": [["#version", "c"]]},
            "the merge of '#version' and 'c' begins as a version does, which older versions skip",
        ),
    ],
)  # fmt: skip
def test_what_a_format_cannot_express_is_refused(format: str, model: dict[str, Any], message: str) -> None:
    assert refusal(format, model) == message


def test_the_older_tokenizer_json() -> None:
    metaspace = {"type": "metaspace", "prepend_scheme": "never", "split": False}
    stages = {"pre_tokenizer": {"type": "sequence", "pre_tokenizers": [{"type": "whitespace_split"}, metaspace]}}
    written = write("tokenizer.json-legacy", {**BPE, **stages, "decoder": {"type": "metaspace"}})
    newer = write("tokenizer.json", {**BPE, **stages, "decoder": {"type": "metaspace"}})
    plain = {"type": "Metaspace", "replacement": "▁", "split": True}
    assert written == {
        **newer,
        "model": {**newer["model"], "merges": ["u g", "h ug"]},
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "WhitespaceSplit"},
                {**plain, "split": False, "prepend_scheme": "never", "add_prefix_space": False},
            ],
        },
        "decoder": {**plain, "prepend_scheme": "always", "add_prefix_space": True},
    }


def with_ids_in_order(model: dict[str, Any]) -> dict[str, Any]:
    """Ids that are positions are not said, and others are in order."""
    return {**model, "vocabulary": by_id(ids_of(model), "")} if has_ids(model) else model


def with_one_kind_of_tokens(model: dict[str, Any]) -> dict[str, Any]:
    """Special tokens as added tokens, all in the order of their ids."""
    rest = {key: value for key, value in model.items() if key not in ("special_tokens", "added_tokens")}
    return {**rest, "added_tokens": sorted(added_tokens_of(model), key=lambda token: token["id"])}


def as_tokenizer_json(model: dict[str, Any]) -> dict[str, Any]:
    """What ``tokenizer.json`` keeps of a model: no missing type or vocabulary of stages alone, no empty vocabulary, no frequencies, no unknown token without tokens, no silence on fused ones."""
    if "type" not in model:
        ids = {token["content"]: token["id"] for token in added_tokens_of(model)} or {"<unk>": 0}
        model = {"type": "bpe", "vocabulary": by_id(ids, ""), "merges": [], **model}
    model = with_ids_in_order(model)
    if model["type"] == "bpe" and "unknown_token" in model:
        model = {"fuse_unk": False, **model}
    if model.get("vocabulary") == []:
        model = {key: value for key, value in model.items() if key not in ("vocabulary", "merges")}
    if model["type"] == "unigram" and "tokens" not in model:
        return {key: value for key, value in model.items() if key != "unknown_token"}
    if model["type"] == "unigram":
        return {**model, "tokens": log_probabilities(model, ""), "weights": "log_probability"}
    return model


KEPT = dict.fromkeys(("vocab.json+merges.txt", "vocab.txt", "vocab.tiktoken"), with_ids_in_order) | (
    {"tokspec": lambda model: model, **dict.fromkeys(("tokenizer.json", "tokenizer.json-legacy"), as_tokenizer_json)}
)

#: How many of the models of the cases each format expresses, at least.
EXPRESSED = {"tokspec": 60, "tokenizer.json": 60, "tokenizer.json-legacy": 60, "vocab.tiktoken": 5}


@pytest.mark.slow
@pytest.mark.parametrize("format", KEPT)
def test_reading_back_gives_the_same_model(format: str) -> None:
    expressed = 0
    for case in load_suite().cases.values():
        model = fill_defaults(case.model.content)
        if model.get("type") == "bpe" and "vocabulary" in model:
            model = {"merges": [], **model}
        try:
            written = write(format, model)
        except Unsupported:
            continue
        if case.outcome.get("error") == "invalid_model":
            continue
        if format != "tokspec" or not has_surrogate(model):
            found, kept = read(format, written), KEPT[format](model)
            if format.startswith("tokenizer.json"):
                kept = without_defaults(kept)
                if "special_tokens" in kept:  # the file has them in the order of their ids
                    ids = ids_of(model)
                    kept["special_tokens"] = sorted(kept["special_tokens"], key=lambda token: ids.get(token, len(ids)))
            if "added_tokens" in kept and format.startswith("tokenizer.json"):
                found, kept = with_one_kind_of_tokens(found), with_one_kind_of_tokens(kept)
            assert found == kept, case.id
            expressed += 1
    assert expressed >= EXPRESSED.get(format, 20)


def without_defaults(model: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what reads like its absence: no dropout, no cleanup but that of CTC, and multiples of nothing."""
    kept = {key: value for key, value in model.items() if key != "dropout" or value}
    for key, name, silent in (("decoder", "cleanup", False), ("padding", "pad_to_multiple_of", 0)):
        if key in kept and kept[key].get("type") != "ctc" and kept[key].get(name) == silent:
            kept[key] = {other: each for other, each in kept[key].items() if other != name}
    return kept


def has_surrogate(model: Mapping[str, Any]) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in json.dumps(model, ensure_ascii=False))


@pytest.mark.parametrize(
    ("format", "files", "message"),
    [
        ("vocab.json+merges.txt", {"vocab.json": "{}"}, "merges.txt: is missing; the format is the files vocab.json and merges.txt"),
        ("vocab.json+merges.txt", {"vocab.json": "{", "merges.txt": ""}, "vocab.json:1: is not JSON: Expecting property name enclosed in double quotes at column 2"),
        ("vocab.json+merges.txt", {"vocab.json": "[" * 100_000, "merges.txt": ""}, "vocab.json: is nested too deeply"),
        ("vocab.json+merges.txt", {"vocab.json": '{"a": 0, "a": 1}', "merges.txt": ""}, "vocab.json: has the key 'a' twice; keep one"),
        ("vocab.json+merges.txt", {"vocab.json": '{"a": 1, "b": 1}', "merges.txt": ""}, 'vocab.json: b: is 1, the id of "a" too'),
        ("vocab.json+merges.txt", {"vocab.json": "[]", "merges.txt": ""}, "vocab.json: is not an object"),
        ("vocab.json+merges.txt", {"vocab.json": '{"a": 0.0}', "merges.txt": ""}, "vocab.json: a: is 0.0, which is not an integer from 0 to 4294967295"),
        ("vocab.json+merges.txt", {"vocab.json": '{"\\ud800": 0}', "merges.txt": ""}, "vocab.json+merges.txt: vocab.json+merges.txt is UTF-8 and cannot hold the lone surrogate in '\\ud800'"),
        ("vocab.json+merges.txt", {"vocab.json": "{}", "merges.txt": "#version: 0.2\na b\na b c\n"}, "merges.txt:3: 'a b c' is not a merge; it needs two tokens with one space between them"),
        ("vocab.json+merges.txt", {"vocab.json": "{}", "merges.txt": {"base64": "/w=="}}, "merges.txt: is not UTF-8 at byte 0; save it as UTF-8"),
        ("vocab.txt", {"vocab.txt": "a\nb\na\n"}, "vocab.txt:3: 'a' is on line 1 too; tokens are distinct"),
        ("vocab.txt", {"vocab.txt": "a\n\nb\n"}, "vocab.txt:2: '' is empty or has white space; a line is a token"),
        ("vocab.txt", {"vocab.txt": {"base64": "*"}}, 'vocab.txt: is neither a text nor {"base64": …}'),
        ("vocab.tiktoken", {"vocab.tiktoken": "YQ== 0\n*\n"}, "vocab.tiktoken:2: '*' is not a rank; it needs base64, a space and a number"),
        ("vocab.tiktoken", {"vocab.tiktoken": "YQ== 0\nYQ== 1\n"}, "vocab.tiktoken:2: the token of 'YQ== 1' appears twice; tokens are distinct"),
        ("vocab.tiktoken", {"vocab.tiktoken": ""}, "vocab.tiktoken: holds no ranks"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_files_is_named(format: str, files: dict[str, Any], message: str) -> None:
    assert complaint(format, {"files": files}) == message


@pytest.mark.parametrize(
    ("format", "content", "message"),
    [
        ("vocab.txt", {"files": {"vocab.txt": "a"}, "beside": []}, "beside: is not an object"),
        ("vocab.txt", {"files": {"vocab.txt": {"base64": "é"}}}, 'vocab.txt: is neither a text nor {"base64": …}'),
        ("vocab.txt", {"files": {"vocab.txt": "a"}, "beside": {"speed": 3}}, "vocab.txt: beside.speed: is an unknown key; known are about, added_tokens, continuing_prefix, decoder, max_word_length, normalizer, padding, post_processor, pre_tokenizer, special_tokens, truncation, type, unknown_token, vocabulary"),
        ("vocab.txt", {"files": {"vocab.txt": "a"}, "beside": {"\ud800": 3}}, "vocab.txt: vocab.txt is UTF-8 and cannot hold the lone surrogate in '\\ud800'"),
        ("vocab.tiktoken", {"files": {"vocab.tiktoken": "YQ== 1\nYg== 1\n"}, "beside": {"pattern": "."}}, 'vocab.tiktoken: b: is 1, the id of "a" too'),
        ("vocab.tiktoken", {"files": {"vocab.tiktoken": "YQ== 0"}}, f"vocab.tiktoken: {NO_PATTERN}"),
        ("vocab.tiktoken", {"files": {"vocab.tiktoken": "YQ== 0"}, "beside": {"special_tokens": {}}}, f"vocab.tiktoken: {NO_PATTERN}"),
        ("vocab.tiktoken", {"files": {"vocab.tiktoken": "YQ== 0"}, "beside": {"pattern": 5}}, "vocab.tiktoken: beside.pattern: is not a string"),
        ("vocab.tiktoken", {"files": {"vocab.tiktoken": "YQ== 0"}, "beside": {"pattern": "a", "pre_tokenizer": {}}}, "vocab.tiktoken: beside.pattern: is given with a pre_tokenizer; give only one of them"),
        ("vocab.tiktoken", {"files": {"vocab.tiktoken": "YQ== 0"}, "beside": {"special_tokens": ["a"]}}, "vocab.tiktoken: beside.special_tokens: is not an object that maps tokens to ids"),
        ("tokspec", [], "tokspec: is not an object"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_content_is_named(format: str, content: Any, message: str) -> None:
    assert complaint(format, content) == message


def test_a_content_without_files_is_none() -> None:
    assert complaint("vocab.txt", []) == "is not the content of files, which is an object with the key files"


def test_what_the_suite_does_not_read_is_said() -> None:
    assert complaint("vocab.gguf", {}) == f"the suite does not read vocab.gguf; it reads {', '.join(READERS)}"
    assert [format for format in FORMATS if format not in READERS] == ["vocab.gguf"]


def by_pattern(pattern: str) -> dict[str, Any]:
    split = {"type": "split", "invert": True, "pattern": {"regex": pattern}, "behavior": "removed"}
    return {
        "pre_tokenizer": {"type": "sequence", "pre_tokenizers": [split, {**BYTE_LEVEL, "use_regex": False}]},
        "decoder": {"type": "byte_level"},
        "ignore_merges": True,
    }


def test_a_file_of_tiktoken_is_cut_by_the_pattern_that_is_told_beside_it() -> None:
    """Ranks need not begin at 0 and may have holes, one stands for no bytes, and no special token is in the vocabulary."""
    told = {"pattern": "[ug]+", "special_tokens": {"<e>": 7, "<s>": 4}, "normalizer": {"type": "nfc"}}
    assert read("vocab.tiktoken", {"files": {"cl.tiktoken": "dQ== 3\nZw== 5\ndWc= 9\n= 11\n"}, "beside": told}) == {
        "type": "bpe",
        "vocabulary": [["u", 3], ["g", 5], ["ug", 9], ["", 11]],
        "merges": [["u", "g"]],
        **by_pattern("[ug]+"),
        "normalizer": {"type": "nfc"},
        "added_tokens": [{"content": "<e>", "id": 7, **FLAGS}, {"content": "<s>", "id": 4, **FLAGS}],
    }


TEKKEN: dict[str, Any] = {
    "config": {"pattern": ".", "default_vocab_size": 5, "default_num_special_tokens": 3, "version": "v11"},
    "vocab": [{"rank": rank, "token_bytes": token} for rank, token in enumerate(["dQ==", "Zw==", "dWc="])],
    "special_tokens": [{"rank": 0, "token_str": "<unk>"}, {"rank": 1, "token_str": "<s>"}],
}


def test_a_file_of_tekken_has_its_special_tokens_first_and_is_cut_to_its_size() -> None:
    names = ("<unk>", "<s>", "<SPECIAL_2>")
    assert read("tekken.json", TEKKEN) == {
        "type": "bpe",
        "vocabulary": [["u", 3], ["g", 4]],
        "merges": [],
        **by_pattern("."),
        "added_tokens": [{"content": name, "id": id, **FLAGS} for id, name in enumerate(names)],
    }


def test_an_old_file_of_tekken_names_no_special_tokens() -> None:
    config = {**TEKKEN["config"], "version": "v3", "default_vocab_size": 25, "default_num_special_tokens": 22}
    model = read("tekken.json", {"vocab": TEKKEN["vocab"], "config": config})
    assert [token["content"] for token in model["added_tokens"]][18:] == [
        *("[/SYSTEM_PROMPT]", "[TOOL_CONTENT]", "<SPECIAL_20>", "<SPECIAL_21>")
    ]
    assert model["merges"] == [["u", "g"]]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"config": {**TEKKEN["config"], "default_num_special_tokens": 10**9, "default_vocab_size": 10**9 + 2}}, "config.default_num_special_tokens: is 1000000000; a file has 0 to 65536 special tokens"),
        ({"config": {**TEKKEN["config"], "default_num_special_tokens": -1}}, "config.default_num_special_tokens: is -1; a file has 0 to 65536 special tokens"),
        ({"config": {**TEKKEN["config"], "version": f"v{'9' * 5000}"}, "special_tokens": None}, f"special_tokens: is missing; a file of version {shorten('v' + '9' * 5000)} names them"),
        ({"config": {**TEKKEN["config"], "version": "v²"}, "special_tokens": None}, "special_tokens: is missing; a file of version v² names them"),
        ({"config": {}}, "config.default_num_special_tokens: is missing or not an integer"),
        ({"config": {**TEKKEN["config"], "default_vocab_size": 7}}, "config.default_vocab_size: leaves 4 tokens that are not special, of 3 in vocab"),
        ({"config": {**TEKKEN["config"], "pattern": None}}, "config.pattern: is missing or not a text"),
        ({"config": {**TEKKEN["config"], "default_num_special_tokens": 1, "default_vocab_size": 4}}, "config.default_num_special_tokens: is 1, and there are 2 special tokens"),
        ({"special_tokens": None}, "special_tokens: is missing; a file of version v11 names them"),
        ({"special_tokens": [{"rank": 1, "token_str": "<s>"}]}, "special_tokens[0].rank: is 1; special tokens must be in the order of their ranks"),
        ({"vocab": [{"rank": 1, "token_bytes": "dQ=="}] * 2}, "vocab[0].rank: is 1; tokens must be in the order of their ranks, from 0"),
        ({"vocab": [{"rank": 0, "token_bytes": "dQ"}] * 2}, "vocab[0].token_bytes: is not base64"),
        ({"vocab": [{"rank": rank, "token_bytes": "dQ=="} for rank in range(2)]}, "vocab: lists a token twice"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_of_tekken_is_named(changed: dict[str, Any], message: str) -> None:
    assert complaint("tekken.json", {**TEKKEN, **changed}) == f"tekken.json: {message}"


def merges_by_the_definition(tokens: list[str]) -> list[tuple[str, str]]:
    """The merge that makes each token: of what the tokens before it make of its characters, if two parts are left."""
    found = []
    for rank, token in enumerate(tokens):
        parts = list(token)
        while True:
            pairs = [
                (tokens.index(made), at)
                for at in range(len(parts) - 1)
                if (made := parts[at] + parts[at + 1]) in tokens[:rank]
            ]
            if not pairs:
                break
            _, at = min(pairs)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        if len(parts) == 2 and all(part in tokens for part in parts):
            found.append((parts[0], parts[1]))
    return found


@given(st.lists(st.text("ab", min_size=2, max_size=9), unique=True, max_size=12))
def test_the_merges_of_ranks_are_those_of_the_definition(longer: list[str]) -> None:
    tokens = ["a", "b", *longer]
    assert list(merges_of(tokens)) == merges_by_the_definition(tokens)


def test_files_end_their_lines_as_they_like() -> None:
    assert read("vocab.txt", {"files": {"vocab.txt": "a\r\nb"}})["vocabulary"] == ["a", "b"]


def test_binary_and_text_are_the_same_bytes() -> None:
    assert unpack({"files": {"a": "hug", "b": {"base64": "aHVn"}}}, "a", "b") == [b"hug", b"hug"]
