"""Formats of SentencePiece and of llama.cpp: what they cannot express, what reading back gives, and what they need."""

from __future__ import annotations

import sys
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from struct import pack, unpack
from typing import Any

import pytest

from tokspec.base.errors import DataError, Unsupported
from tokspec.formats import files, read, write
from tokspec.formats.neutral import fill_defaults, log_probabilities, tokens_in_id_order
from tokspec.formats.sentencepiece_model import WHITE_SPACE, Piece, Spaces, pieces_of, spaces_of
from tokspec.suite.fixtures import load_suite

BPE: dict[str, Any] = {"type": "bpe", "vocabulary": ["u", "g", "▁", "ug"], "merges": [["u", "g"]]}
UNIGRAM: dict[str, Any] = {"type": "unigram", "tokens": [["<unk>", -9], ["▁", -1], ["▁a", -2]], "weights": "log_probability"}  # fmt: skip
WORDPIECE: dict[str, Any] = {"type": "wordpiece", "vocabulary": ["[UNK]", "hug", "##s"]}
ALWAYS: dict[str, Any] = {"type": "metaspace"}
UNCASED: dict[str, Any] = {**WORDPIECE, "normalizer": {"type": "bert"}, "pre_tokenizer": {"type": "bert"}}
BYTES: dict[str, Any] = {**BPE, "pre_tokenizer": {"type": "byte_level"}}
#: A character map that makes U+0020 of all other white space.
MAP: dict[str, Any] = {"type": "precompiled", "charsmap": b64encode(WHITE_SPACE).decode()}
MODEL, GGUF = "sentencepiece.model", "vocab.gguf"


def refusal(format: str, model: Mapping[str, Any]) -> str:
    with pytest.raises(Unsupported) as caught:
        write(format, model)
    return caught.value.message


@pytest.mark.parametrize(
    ("format", "model", "message"),
    [
        (MODEL, WORDPIECE, f"{MODEL} holds bpe and unigram models, and this one is of type wordpiece"),
        (MODEL, {"type": "bpe"}, f"{MODEL} holds a vocabulary, and this model is not trained"),
        (MODEL, {**BPE, "normalizer": {"type": "nfc"}}, f"{MODEL} is written without a normalizer other than a character map, and this model has one"),
        (MODEL, {**BPE, "byte_fallback": True}, f"{MODEL} falls back to bytes if it has all of them, and this model has no '<0x00>'"),
        (
            MODEL,
            {**BPE, "normalizer": MAP, "pre_tokenizer": {"type": "sequence", "pre_tokenizers": [{"type": "whitespace_split"}, ALWAYS]}},
            f"{MODEL} has one character map, which white-space split needs, and this model has another",
        ),
        (GGUF, {**BYTES, "byte_fallback": True}, f"{GGUF} does not support the byte fallback setting of this model"),
        (GGUF, {**BPE, "normalizer": MAP}, f"{GGUF} has no place for normalizer/precompiled, which this model needs"),
        (MODEL, BYTES, f"{MODEL} has no pre-tokenizer but metaspace with '▁' and that of T5"),
        (MODEL, {**BPE, "pre_tokenizer": {"type": "metaspace", "replacement": "_"}}, f"{MODEL} has no pre-tokenizer but metaspace with '▁' and that of T5"),
        (MODEL, {**BPE, "pre_tokenizer": ALWAYS, "special_tokens": ["▁"]}, f"{MODEL} puts '▁' before the whole text only, and before a special token too"),
        (MODEL, {**BPE, "vocabulary": ["a▁"], "merges": [], "pre_tokenizer": ALWAYS}, f"{MODEL} does not split at '▁', and 'a▁' goes across it"),
        (MODEL, {**BPE, "vocabulary": ["a"], "merges": [], "pre_tokenizer": ALWAYS}, f"{MODEL} does not split at '▁', which is not in the vocabulary"),
        (MODEL, {**BPE, "merges": []}, f"{MODEL} merges 'u' and 'g', but the model's list of merges ends there"),
        (MODEL, {**BPE, "unknown_token": "?"}, f"{MODEL} has no token outside the vocabulary, but this model has '?'"),
        (MODEL, {**BPE, "unknown_token": "u", "special_tokens": ["u"]}, f"{MODEL} never finds the unknown token in a text, and here 'u' is special too"),
        (MODEL, {**BPE, "vocabulary": ["a\0"], "merges": []}, f"{MODEL} cannot hold the token 'a\\x00'"),
        (MODEL, {**BPE, "vocabulary": ["\ud800"], "merges": []}, f"{MODEL} is UTF-8 and cannot hold the lone surrogate in '\\ud800'"),
        (MODEL, {**UNIGRAM, "tokens": [["a", 0]], "weights": "frequency"}, f"the frequency of 'a' has no logarithm, and {MODEL} holds logarithms"),
        (MODEL, {**UNIGRAM, "tokens": [["a", -1e39]]}, f"{MODEL} holds numbers of 32 bits, and the weight of 'a' is beyond them"),
        (MODEL, {**BPE, "vocabulary": [["u", 1]], "merges": []}, f"{MODEL} has no place for vocabulary_ids, which this model needs"),
        (MODEL, {**BPE, "added_tokens": [{"content": "u"}]}, f"{MODEL} has no place for added_tokens/content, which this model needs"),
        (MODEL, {**BPE, "truncation": {"max_length": 9}}, f"{MODEL} has no place for truncation, which this model needs"),
        (MODEL, {**BPE, "post_processor": {"type": "byte_level"}}, f"{MODEL} has no place for post_processor/byte_level, which this model needs"),
        (MODEL, {**BPE, "ignore_merges": True}, f"{MODEL} has no place for model/bpe/ignore_merges, which this model needs"),
        (MODEL, {**BPE, "unknown_token": "u", "fuse_unk": False}, f"{MODEL} makes one unknown token of several characters, and this model does not fuse them"),
        (GGUF, {**BYTES, "normalizer": {"type": "prepend", "prefix": "a"}}, f"{GGUF} has no place for normalizer/prepend, which this model needs"),
        (GGUF, {}, f"{GGUF} holds bpe and wordpiece and unigram models, and this one has no type"),
        (GGUF, BPE, f"{GGUF} has '▁' for every space, and this model has no metaspace"),
        (GGUF, {**BPE, "pre_tokenizer": ALWAYS, "unknown_token": "u", "merges": []}, f"{GGUF} writes unknown characters of a BPE model as bytes, not as an unknown token"),
        (GGUF, {**BPE, "pre_tokenizer": ALWAYS, "vocabulary": ["▁", "<0x0A>"], "merges": []}, f"{GGUF} has '<0x0A>' for a byte, and this model for a token"),
        (GGUF, {**BPE, "pre_tokenizer": {"type": "sequence", "pre_tokenizers": [{"type": "whitespace_split"}, ALWAYS]}}, f"{GGUF} drops no white space in a BPE model, and this pre-tokenizer does"),
        (GGUF, {**BYTES, "merges": []}, f"{GGUF} has a list of merges for a byte-level model, which cannot be empty"),
        (GGUF, {**BYTES, "merges": [["a b", "c"]]}, f"{GGUF} holds a merge as one string and splits ('a b', 'c') elsewhere"),
        (GGUF, {**BYTES, "unknown_token": "u"}, f"{GGUF} does not support the unknown token setting of this model"),
        (GGUF, {**BYTES, "special_tokens": ["<s>"]}, "the special token '<s>' is not in the vocabulary"),
        (GGUF, WORDPIECE, f"{GGUF} does not support the normalizer setting of this model"),
        (GGUF, {**UNCASED, "max_word_length": 7}, f"{GGUF} does not support the max word length setting of this model"),
        (GGUF, {**UNCASED, "vocabulary": ["hug"]}, f"{GGUF} wants the id of '[UNK]', which is not in the vocabulary"),
        (GGUF, {**UNCASED, "vocabulary": ["[UNK]", "##▁s", "s"]}, f"{GGUF} marks the start of a word by '▁', and two tokens are then the same"),
    ],
)  # fmt: skip
def test_what_a_format_cannot_express_is_refused(format: str, model: dict[str, Any], message: str) -> None:
    assert refusal(format, model) == message


def test_the_pieces_of_a_model() -> None:
    model = fill_defaults({**BPE, "special_tokens": ["ug"], "merges": [], "unknown_token": "g"})
    assert pieces_of(model, MODEL) == [
        Piece("u", 0.0),
        Piece("g", -1.0, "UNKNOWN"),
        Piece("▁", -2.0),
        Piece("ug", -3.0, "USER_DEFINED"),
    ]


@pytest.mark.parametrize(
    ("pre_tokenizer", "spaces"),
    [
        (None, Spaces()),
        ({"type": "metaspace", "prepend_scheme": "never"}, Spaces(escape_whitespaces=True)),
        ({"type": "metaspace", "prepend_scheme": "first", "split": False}, Spaces(True, False, True)),
        ({"type": "sequence", "pre_tokenizers": [{"type": "whitespace_split"}, ALWAYS]}, Spaces(True, True, True)),
    ],
)
def test_spaces(pre_tokenizer: Any, spaces: Spaces) -> None:
    model = BPE if pre_tokenizer is None else {**BPE, "pre_tokenizer": pre_tokenizer}
    assert spaces_of(fill_defaults(model), MODEL) == spaces


@pytest.mark.parametrize(
    ("format", "package", "installed"), [(MODEL, "sentencepiece", "sentencepiece protobuf"), (GGUF, "gguf", "gguf")]
)
def test_a_missing_package_is_said(format: str, package: str, installed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("sentencepiece", "sentencepiece.sentencepiece_model_pb2", "gguf"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DataError) as caught:
        write(format, {**UNIGRAM, "pre_tokenizer": ALWAYS})
    how = f"install it with pip install {installed}"
    assert str(caught.value) == f"the format {format} needs the package {package}; {how}"


def single(number: float) -> float:
    value: float = unpack("<f", pack("<f", number))[0]
    return value


def kept(model: dict[str, Any]) -> dict[str, Any]:
    """What ``sentencepiece.model`` keeps of a model: numbers of 32 bits, where marks are put, and scores or merges."""
    as_it_is = model.get("normalizer", {}).get("type") == "sentencepiece"
    kept = {key: value for key, value in model.items() if key != "fuse_unk" and (key, value) != ("dropout", 0)}
    if as_it_is:
        spaces = {key: model["normalizer"][key] for key in ("add_dummy_prefix", "remove_extra_whitespaces")}
        kept["decoder"] = {"type": "sentencepiece", **spaces, "unk_surface": " ⁇ ", **model.get("decoder", {})}
        kept["piece_types"] = {key: tokens for key, tokens in kept.get("piece_types", {}).items() if tokens}
    elif "piece_types" in model:
        kept["piece_types"] = {key: tokens for key, tokens in model["piece_types"].items() if key != "byte"}
        kept = {key: value for key, value in kept.items() if value != {}}
    if model["type"] == "unigram":
        kept["weights"] = "log_probability"
        kept["tokens"] = [[token, single(weight)] for token, weight in log_probabilities(model, "")]
    else:
        ids = [-id for id, _ in enumerate(tokens_in_id_order(model))]
        kept["scores"] = [single(score) for score in model.get("scores", ids)]
        if as_it_is:
            kept["fuse_unk"] = True
        elif kept["scores"] == ids:
            kept = {"merges": [], **kept}
            del kept["scores"]
        if "scores" in kept:
            kept.pop("merges", None)
    if model.get("pre_tokenizer", {}).get("type") == "metaspace":
        scheme = "never" if model["pre_tokenizer"]["prepend_scheme"] == "never" else "always"
        splits = not any("▁" in token[1:] for token in tokens_in_id_order(model))
        kept["pre_tokenizer"] = {**model["pre_tokenizer"], "prepend_scheme": scheme, "split": splits}
    return kept


@pytest.mark.interop
def test_reading_back_gives_the_same_model() -> None:
    pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    expressed = 0
    for case in load_suite().cases.values():
        model = fill_defaults(case.model.content)
        try:
            written = write(MODEL, model)
        except Unsupported:
            continue
        if len(set(tokens_in_id_order(model))) < len(tokens_in_id_order(model)):  # which no reader takes
            continue
        assert read(MODEL, written) == kept(model), case.id
        expressed += 1
    assert expressed >= 180


@pytest.mark.interop
@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("trainer_spec", "model_type"), 3, "trainer_spec.model_type: is WORD, which the specification does not cover"),
        (("trainer_spec", "treat_whitespace_as_suffix"), True, "trainer_spec.treat_whitespace_as_suffix: is true, which is not what is given with the file"),
        (("denormalizer_spec", "precompiled_charsmap"), b"x", "denormalizer_spec.precompiled_charsmap: is a character map, which the specification does not cover"),
        (("normalizer_spec", "remove_extra_whitespaces"), True, "normalizer_spec: is add_dummy_prefix false, remove_extra_whitespaces true, escape_whitespaces false, which the specification does not cover"),
        (("pieces", 0, "type"), 2, "pieces: has a token twice, or not one unknown token"),
        (("pieces", 0, "piece"), "g", "pieces: has a token twice, or not one unknown token"),
    ],
)  # fmt: skip
def test_what_the_specification_does_not_cover_is_named(path: tuple[Any, ...], value: Any, message: str) -> None:
    protocol = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    proto = protocol.ModelProto()
    proto.ParseFromString(files.unpack(write(MODEL, BPE), MODEL)[0])
    part: Any = proto
    for step in path[:-1]:
        part = part[step] if isinstance(step, int) else getattr(part, step)
    setattr(part, path[-1], value)
    with pytest.raises(DataError) as caught:
        read(MODEL, files.pack({"spm.model": proto.SerializeToString()}, {"type": "bpe"}))
    assert str(caught.value) == f"{MODEL}: {message}"


@pytest.mark.interop
def test_a_model_without_pieces_says_so() -> None:
    pytest.importorskip("sentencepiece")
    with pytest.raises(DataError) as caught:
        read(MODEL, files.pack({"spm.model": b""}))
    assert str(caught.value) == f"{MODEL}: pieces: has no pieces"


@pytest.mark.interop
def test_a_token_across_a_mark_is_not_covered_where_words_are_split() -> None:
    protocol = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    proto = protocol.ModelProto()
    proto.ParseFromString(files.unpack(write(MODEL, {**UNIGRAM, "tokens": [["▁", 1], ["u", 1]]}), MODEL)[0])
    proto.pieces[1].piece = "▁▁"
    for key in ("add_dummy_prefix", "escape_whitespaces"):
        setattr(proto.normalizer_spec, key, True)
    content = files.pack({"spm.model": proto.SerializeToString()}, {"type": "unigram"})
    assert read(MODEL, content)["pre_tokenizer"] == {
        **ALWAYS,
        "replacement": "▁",
        "prepend_scheme": "always",
        "split": False,
    }
    proto.normalizer_spec.remove_extra_whitespaces = True
    with pytest.raises(DataError) as caught:
        read(MODEL, files.pack({"spm.model": proto.SerializeToString()}, {"type": "unigram"}))
    said = "add_dummy_prefix true, remove_extra_whitespaces true, escape_whitespaces true"
    refused = f"is {said}, and '▁▁' a piece, which the specification does not cover"
    assert str(caught.value) == f"{MODEL}: normalizer_spec: {refused}"


@pytest.mark.interop
def test_what_is_no_model_is_said() -> None:
    pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    with pytest.raises(DataError) as caught:
        read(MODEL, files.pack({"spm.model": b"\xff" * 9}))
    assert str(caught.value) == f"{MODEL}: is not a SentencePiece model"


def test_the_map_of_white_space_is_what_the_library_compiles(tmp_path: Path) -> None:
    package = pytest.importorskip("sentencepiece")
    protocol = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    spaces = [*range(0x9, 0xE), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]
    rules = tmp_path / "rules.tsv"
    rules.write_text("".join(f"{code:X}\t20\n" for code in spaces), "utf-8")
    made = protocol.ModelProto()
    made.ParseFromString(package.SentencePieceNormalizer(rule_tsv=str(rules)).serialized_model_proto())
    assert made.normalizer_spec.precompiled_charsmap == WHITE_SPACE


def test_only_a_model_that_splits_at_white_space_has_the_map() -> None:
    protocol = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    marks = {"type": "metaspace"}
    splits = {"type": "sequence", "pre_tokenizers": [{"type": "whitespace_split"}, marks]}
    for stage, name, table in ((marks, "identity", b""), (splits, "user_defined", WHITE_SPACE)):
        written = write(MODEL, {**UNIGRAM, "pre_tokenizer": stage})
        proto = protocol.ModelProto()
        proto.ParseFromString(b64decode(written["files"]["sentencepiece.model"]["base64"]))
        assert (proto.normalizer_spec.name, proto.normalizer_spec.precompiled_charsmap) == (name, table)
        assert read(MODEL, written)["pre_tokenizer"]["type"] == stage["type"]


@pytest.mark.parametrize("stages", [{}, {"pre_tokenizer": {"type": "metaspace", "prepend_scheme": "never"}}])
def test_no_prefix_is_put_where_the_model_puts_none(stages: dict[str, Any]) -> None:
    """SentencePiece drops a first mark in decoding only where it puts one (``metaspace_leading_space: as_put``)."""
    protocol = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    proto = protocol.ModelProto()
    content = write(MODEL, {**UNIGRAM, **stages, "decoder": {"type": "metaspace"}})
    proto.ParseFromString(b64decode(content["files"]["sentencepiece.model"]["base64"]))
    assert proto.normalizer_spec.add_dummy_prefix is False


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_what_is_unknown_falls_back_to_bytes(kind: str) -> None:
    package = pytest.importorskip("sentencepiece")
    tokens = ["a", *(f"<0x{byte:02X}>" for byte in range(256)), "▁"]
    model: dict[str, Any] = {"type": kind, "byte_fallback": True, "decoder": {"type": "metaspace", "replacement": "▁"}}
    if kind == "bpe":
        model |= {"vocabulary": tokens, "merges": []}
    else:
        model |= {"tokens": [[token, -2.0] for token in tokens], "weights": "log_probability"}
    model["pre_tokenizer"] = {"type": "metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    written = write(MODEL, model)
    processor = package.SentencePieceProcessor(model_proto=b64decode(written["files"][MODEL]["base64"]))
    assert processor.encode("aé", out_type=str) == ["▁", "a", "<0xC3>", "<0xA9>"]
    assert processor.decode(processor.encode("aé")) == "aé"
    assert read(MODEL, written) == model


def test_a_character_map_is_kept() -> None:
    package = pytest.importorskip("sentencepiece")
    never = {"type": "metaspace", "replacement": "▁", "prepend_scheme": "never", "split": True}
    model = {"type": "bpe", "vocabulary": ["a", "▁"], "merges": [], "normalizer": MAP, "pre_tokenizer": never}
    written = write(MODEL, model)
    processor = package.SentencePieceProcessor(model_proto=b64decode(written["files"][MODEL]["base64"]))
    assert processor.encode("a\u3000 a", out_type=str) == ["a", "▁", "▁", "a"]
    assert read(MODEL, written) == model
