"""The clauses that a difference may be about: the first one named, and all that are candidates."""

from __future__ import annotations

from typing import Any

import pytest

from tokspec.compare.shrink import Question
from tokspec.fuzz.checker import AGAIN
from tokspec.fuzz.clauses import _ROWS, candidates
from tokspec.suite.components import TABLE
from tokspec.suite.schema import operations
from tokspec.suite.specification import load_specification

UNTRAINED: dict[str, Any] = {"corpus": {"words": [["ab", 1]]}}
UNIGRAM = {"type": "unigram", "tokens": [["a", 1]]}
BPE = {"type": "bpe", "vocabulary": ["a"]}
WORDPIECE = {"type": "wordpiece", "vocabulary": ["a"]}


@pytest.mark.parametrize("how", ["not refused as", "crash, not refused as", "timeout, not refused as"])
@pytest.mark.parametrize(
    ("model", "operation", "input", "reason", "clause"),
    [
        ({"type": "wordpiece"}, "training_state", {**UNTRAINED, "steps": -1}, "invalid_input", "ERROR-2"),
        ({"type": "bpe"}, "best_pair", {"corpus": {"words": []}}, "invalid_input", "ERROR-2"),
        (UNIGRAM, "loss_increase", {**UNTRAINED, "token": "q"}, "invalid_input", "ERROR-2"),
        (UNIGRAM, "loss", UNTRAINED, "invalid_input", "UNI-LOSS-3"),
        (UNIGRAM, "loss", UNTRAINED, "no_segmentation", "UNI-UNK-2"),
        (UNIGRAM, "segment", {"word": "b"}, "no_segmentation", "UNI-UNK-2"),
        (BPE, "encode", {"text": "b"}, "unknown_symbol", "BPE-ENC-8"),
        (WORDPIECE, "encode", {"text": "b"}, "unknown_symbol", "WP-MODEL-1"),
        (BPE, "decode", {"ids": [1]}, "unknown_id", "DEC-3"),
        (BPE, "encode", {"text": "b"}, "invalid_model", "BPE-MODEL-3"),
        ({**BPE, "scores": []}, "encode", {"text": "b"}, "invalid_model", "SP-SCORE-2"),
        ({**BPE, "added_tokens": []}, "encode", {"text": "b"}, "invalid_model", "ADDED-14"),
        (BPE, "encode", {"text": "b", "disallowed_special": "all"}, "invalid_input", "ADDED-17"),
    ],
)
def test_a_refusal_that_is_due_has_its_clause_whatever_comes_instead(
    how: str, model: Any, operation: str, input: Any, reason: str, clause: str
) -> None:
    assert candidates(Question(model, operation, input), f"{how} {reason}")[0] == clause


BYTES = {"pre_tokenizer": {"type": "byte_level"}}


@pytest.mark.parametrize(
    ("model", "operation", "input", "kind", "clause"),
    [
        ({"normalizer": {"type": "nfc"}}, "normalize", {"text": "a"}, "text", "NORM-UNICODE-2"),
        ({"normalizer": {"type": "nfc"}}, "normalize", {"text": "\u2e52"}, "text", "TERM-6"),
        ({}, "normalize", {"text": "a"}, "text", "NORM-1"),
        (BYTES, "pre_tokenize", {"text": "a"}, "pieces", "PRE-BYTE-1"),
        (BYTES, "pre_tokenize", {"text": "\ud800"}, "not refused as invalid_input", "PRE-BYTE-6"),
        ({"decoder": {"type": "wordpiece"}}, "decode", {"tokens": ["a"]}, "text", "DEC-WP-1"),
        (BPE, "decode", {"tokens": ["a"]}, "text", "DEC-7"),
        (BPE, "encode", {"text": "a"}, "tokens", "BPE-ENC-1"),
        (BPE, "encode", {"text": "a"}, "spans", "TERM-3"),
        ({**BPE, **BYTES}, "encode", {"text": "a"}, "spans", "ENC-3"),
        ({**BPE, **BYTES}, "encode", {"text": "a"}, "tokens", "ENC-1"),
        ({**BPE, "special_tokens": ["a"]}, "encode", {"text": "a"}, "tokens", "ADDED-1"),
        ({**BPE, "unknown_token": "a"}, "encode", {"text": "a"}, "tokens", "BPE-ENC-6"),
        ({**WORDPIECE, "max_word_length": 1}, "encode", {"text": "a"}, "tokens", "WP-ENC-4"),
        (UNIGRAM, "encode", {"text": "a"}, "tokens", "UNI-SEG-2"),
        (UNIGRAM, "encode", {"text": "a"}, AGAIN, "ERROR-1"),
        (UNIGRAM, "nbest", {"word": "a", "nbest_size": 1}, "segmentations", "UNI-NBEST-1"),
        ({**BPE, "decoder": {"type": "byte_level"}}, "decode_bytes", {"ids": [0]}, "bytes", "DEC-BYTES-1"),
        ({**BPE, "special_tokens": ["a"]}, "encode", {"text": "a", "allowed_special": []}, "tokens", "ADDED-15"),
        ({"type": "bpe"}, "count_words", UNTRAINED, "words", "BPE-TRAIN-1"),
        ({"type": "bpe"}, "train", UNTRAINED, "vocabulary", "BPE-TRAIN-2"),
        ({"type": "bpe"}, "train", UNTRAINED, "merges", "BPE-TRAIN-7"),
    ],
)
def test_what_is_left_of_an_example_names_the_clause(
    model: Any, operation: str, input: Any, kind: str, clause: str
) -> None:
    assert candidates(Question(model, operation, input), kind)[0] == clause


def test_every_pattern_names_clauses_of_the_specification() -> None:
    clauses = load_specification().clauses
    patterns = [pattern for each in (*_ROWS, *TABLE) for pattern in each.clauses.split()]
    named = [
        [id for id in clauses if id == pattern or (pattern[-1] == "*" and id.startswith(pattern[:-1]))]
        for pattern in patterns
    ]
    assert [pattern for pattern, found in zip(patterns, named, strict=True) if not found] == []


@pytest.mark.parametrize("operation", operations())
def test_every_operation_has_candidates(operation: str) -> None:
    for model in ({}, BPE, WORDPIECE, UNIGRAM):
        for kind in ("tokens", "crash", "not refused as invalid_model", "refused as unknown_symbol", AGAIN):
            assert candidates(Question(model, operation, {"text": "a"}), kind)
