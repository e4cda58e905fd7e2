"""What a format cannot say: inputs and models for which a file says something else than the model are not asked about."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tokspec.base.errors import Unsupported
from tokspec.formats import refuse_input, write

Run = Callable[..., tuple[int, str, str]]

MODEL, GGUF = "sentencepiece.model", "vocab.gguf"
PLAIN: dict[str, Any] = {"type": "bpe", "vocabulary": ["▁", "a", "b"], "merges": []}
MARKED: dict[str, Any] = {**PLAIN, "pre_tokenizer": {"type": "metaspace"}}
SPLIT = {"pre_tokenizer": {"type": "sequence", "pre_tokenizers": [{"type": "whitespace_split"}, {"type": "metaspace"}]}}
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]

UNKNOWN = "must have an unknown token, and this model has none for a character of the text"
MARK = "puts '▁' before every text, but this model does not put it before one that begins with it"
ID = "must have tokens that this model does not have, and the input has the id of one"
REFUSES = "has no such model, and of normalizers alone NFKC, character maps and its own"


@pytest.mark.parametrize(
    ("format", "model", "input", "limit"),
    [
        (MODEL, PLAIN, {"text": "ab▁"}, ""),
        (MODEL, PLAIN, {"text": "ax"}, UNKNOWN),
        (MODEL, PLAIN, {"text": "a b"}, UNKNOWN),
        (MODEL, MARKED, {"text": "a b"}, ""),
        (GGUF, MARKED, {"text": "ax"}, UNKNOWN),
        (MODEL, PLAIN, {"inputs": [{"text": "a"}, {"text": "x"}]}, UNKNOWN),
        (GGUF, MARKED, {"parts": [{"text": "a"}, {"text": "x"}]}, UNKNOWN),
        (MODEL, {"type": "unigram", "tokens": [["ab", 1]]}, {"word": "ab"}, UNKNOWN),
        (MODEL, {**PLAIN, "special_tokens": ["<s>"], "vocabulary": ["<s>", "a"]}, {"text": "<s>a<s>"}, ""),
        (MODEL, {**PLAIN, "special_tokens": ["<s>"], "vocabulary": ["<s>", "a"]}, {"text": "<a"}, UNKNOWN),
        (MODEL, {**PLAIN, "piece_types": {"unused": ["b"]}}, {"text": "ab"}, UNKNOWN),
        (MODEL, {**PLAIN, "vocabulary": ["a"], "pre_tokenizer": {"type": "metaspace", "split": False}}, {"text": "a"}, UNKNOWN),
        (MODEL, {**PLAIN, "unknown_token": "b"}, {"text": "x"}, ""),
        (MODEL, {**PLAIN, "vocabulary": BYTES, "byte_fallback": True}, {"text": "x"}, ""),
        (MODEL, {**PLAIN, "normalizer": {"type": "precompiled", "charsmap": "AQAA"}}, {"text": "x"}, ""),
        (MODEL, {**PLAIN, "normalizer": {"type": "sentencepiece"}}, {"text": "  a  b "}, ""),
        (MODEL, {**PLAIN, "normalizer": {"type": "sentencepiece"}}, {"text": "a\tb"}, UNKNOWN),
        (GGUF, {**PLAIN, "pre_tokenizer": {"type": "byte_level"}}, {"text": "x"}, ""),
        ("vocab.json+merges.txt", PLAIN, {"text": "x"}, ""),
        (MODEL, PLAIN, {"ids": [2]}, ""),
        (MODEL, PLAIN, {"ids": [0, 3]}, ID),
        (MODEL, PLAIN, {"ids": [4]}, ""),
        (GGUF, MARKED, {"ids": [4]}, ID),
        (MODEL, MARKED, {"text": ""}, ""),
        (MODEL, MARKED, {"text": "▁a"}, MARK),
        (MODEL, MARKED, {"text": " a"}, MARK),
        (GGUF, MARKED, {"text": "▁"}, MARK),
        (MODEL, {**MARKED, "unknown_token": "b"}, {"text": "▁x"}, MARK),
        (MODEL, {**PLAIN, "pre_tokenizer": {"type": "metaspace", "prepend_scheme": "never"}}, {"text": "▁a"}, ""),
        (MODEL, {**PLAIN, **SPLIT}, {"text": " a\tb "}, ""),
        (MODEL, {**PLAIN, **SPLIT}, {"text": "a ▁b"}, MARK),
    ],
)  # fmt: skip
def test_an_input_of_which_the_file_says_something_else(
    format: str, model: Mapping[str, Any], input: Mapping[str, Any], limit: str
) -> None:
    said = ""
    try:
        refuse_input(format, model, input)
    except Unsupported as refusal:
        said = refusal.message
    assert said == (f"{format} {limit}" if limit else "")


TIED: dict[str, Any] = {"type": "unigram", "weights": "log_probability"}
ORDER = f"{MODEL} holds numbers of 32 bits, which change whether 'ab' or 'a' and 'b' is better"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"type": "bpe", "vocabulary": ["a", "b"], "scores": [-16777217, -16777216]}, f"{MODEL} holds numbers of 32 bits, to which the scores of 'a' and 'b' are one"),
        ({**TIED, "tokens": [["a", -1], ["b", -1], ["ab", -2.00000003]]}, ORDER),
        ({**TIED, "tokens": [["a", -1], ["b", -1.00000003], ["ab", -2]]}, ORDER),
        ({**TIED, "tokens": [["a", -16777217], ["b", -1], ["ab", -16777218]]}, ORDER),
        ({"type": "unigram", "tokens": [["a", 10**5], ["b", 10**5], ["ab", 1], ["c", 10**10 - 2 * 10**5]]}, ORDER),
    ],
)  # fmt: skip
def test_scores_that_32_bits_do_not_tell_apart(model: dict[str, Any], message: str) -> None:
    with pytest.raises(Unsupported) as caught:
        write(MODEL, model)
    assert caught.value.message == message


@pytest.mark.parametrize(
    "model",
    [
        {"type": "bpe", "vocabulary": ["a", "b", "c"], "scores": [-1, -1, -1.2]},
        {**TIED, "tokens": [["a", -1.1], ["b", -2.3], ["ab", -3.2], ["c", -16777217], ["d", -16777216]]},
        {**TIED, "tokens": [["a", -1], ["b", -1], ["ab", -2]]},
        {"type": "unigram", "tokens": [["a", 2], ["b", 2], ["ab", 1]]},
    ],
)
def test_scores_that_keep_their_order_are_written(model: dict[str, Any]) -> None:
    pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    assert list(write(MODEL, model)["files"]) == [MODEL]


@pytest.mark.interop
@pytest.mark.parametrize("how", [(), ("--in-process",)])
@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("bpe-unknown-without-token", f"{MODEL} {UNKNOWN}"),
        ("unigram-unknown-without-token", f"{MODEL} {UNKNOWN}"),
        ("port-after-a-refusal", f"row 2 of 4: {MODEL} {UNKNOWN}"),
        ("decode-metaspace-id-at-the-end", f"{MODEL} {ID}"),
        ("t5-mark-alone", f"{MODEL} {MARK}"),
        ("bpe-encode-mark-that-is-there", f"{MODEL} {MARK}"),
        ("scores-beyond-single-precision", f"{MODEL} holds numbers of 32 bits, to which the scores of 'ab' and 'bc' are one; {REFUSES}"),
        ("port-near-ties-in-single-precision", f"{ORDER}; {REFUSES}"),
    ],
)  # fmt: skip
def test_a_limit_of_its_format_is_no_failure_of_sentencepiece(
    run: Run, how: tuple[str, ...], case: str, reason: str, tmp_path: Path
) -> None:
    pytest.importorskip("sentencepiece")
    file = tmp_path / "report.ndjson"
    run("run", "--impl", "sentencepiece", *how, "--select", case, "--select", "bpe-toy-encode-bug", "--report", file)
    records = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    found = {record["case"]: (record["verdict"], record.get("detail", "")) for record in records if "verdict" in record}
    assert found == {case: ("unsupported", reason), "bpe-toy-encode-bug": ("pass", "")}


@pytest.mark.interop
def test_stages_alone_are_loaded_by_a_library_that_takes_no_empty_vocabulary(run: Run) -> None:
    pytest.importorskip("fastokens")
    status, printed, _ = run("run", "--impl", "fastokens", "--select", "fuse-joins")
    assert (status, printed.splitlines()[-1]) == (0, "fastokens 0.3.5 conforms: 1 case = 1 pass")
