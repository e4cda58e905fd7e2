"""The clauses that a difference may be about, by its request, its kind, and what its model still has.

Everything that a model still has after shrinking is needed to show the difference: a normalizer in it matters, and so
does a special token. The rows of ``_ROWS`` that fit give the candidates in order, and the first one is named. It is a
proposal: the person who turns the finding into a case decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tokspec.compare.shrink import Question
from tokspec.fuzz.characters import is_recent
from tokspec.fuzz.checker import AGAIN
from tokspec.fuzz.components import components_of
from tokspec.suite.components import rows_of
from tokspec.suite.operations import OPERATIONS
from tokspec.suite.specification import load_specification


@dataclass(frozen=True)
class _Row:
    """Patterns of clause ids for operations, kinds of differences (as a regular expression) and a component."""

    operations: str
    clauses: str
    kinds: str = ""
    component: str = ""


_OUTCOMES = r"tokens|ids|crash|refused"

_ROWS: tuple[_Row, ...] = (
    _Row("*", "ERROR-1", re.escape(AGAIN)),
    _Row("*", "SP-TYPE-1", "invalid_model", "piece_types"),
    _Row("*", "SP-SCORE-2", "invalid_model", "scores"),
    _Row("*", "NORM-MAP-1", "invalid_model", "normalizer/precompiled"),
    _Row("*", "NORM-MAP-1", "invalid_model", "normalizer/sentencepiece"),
    _Row("*", "POST-TEMPLATE-4", "invalid_model", "post_processor"),
    _Row("*", "TRUNC-9", "invalid_model", "truncation"),
    _Row("*", "ADDED-14", "invalid_model", "added_tokens"),
    _Row("*", "TERM-9", "invalid_model", "vocabulary_ids"),
    _Row("*", "SPECIAL-5 ADDED-14", "invalid_model", "special_tokens"),
    _Row("*", "BPE-MODEL-3 TERM-10", "invalid_model", "model/bpe"),
    _Row("*", "TERM-10 UNI-MODEL-3", "invalid_model", "model/unigram"),
    _Row("*", "TERM-10 WP-MODEL-3", "invalid_model", "model/wordpiece"),
    _Row("*", "PROTO-*", "protocol"),
    # a difference in an earlier stage is a finding about that stage
    _Row("normalize", "NORM-1"),
    _Row("pre_tokenize", "PRE-1 PRE-2"),
    _Row("encode encode_batch", "ADDED-*", "", "added_tokens"),
    _Row("encode encode_batch", "TRUNC-*", "", "truncation"),
    _Row("encode encode_batch", "PAD-*", "", "padding"),
    _Row("encode encode_batch", "POST-1 POST-*", "", "post_processor"),
    _Row("encode encode_batch", "BPE-WHOLE-*", "", "ignore_merges"),
    _Row("encode encode_batch", "BPE-DROPOUT-*", "", "dropout"),
    _Row("encode encode_batch", "SP-SCORE-*", "", "scores"),
    _Row("encode encode_batch", "SP-TYPE-* SP-SYMBOL-* SP-UNUSED-*", "", "piece_types"),
    _Row("encode encode_batch", "BPE-BYTES-* UNI-BYTES-*", "", "byte_fallback"),
    _Row("encode encode_batch", "BPE-AFFIX-*", "", "end_of_word_suffix"),
    _Row("encode encode_batch", "BPE-ENC-10 BPE-ENC-11", "", "fuse_unk"),
    _Row("encode", "BPE-AFFIX-*", _OUTCOMES, "continuing_prefix"),
    _Row("encode encode_batch", "WL-*", "", "model/wordlevel"),
    _Row("encode encode_batch", "ENC-7", "", "vocabulary_ids"),
    *(_Row(operation.name, operation.clauses) for operation in OPERATIONS if operation.clauses),
    _Row("encode", "ADDED-*", _OUTCOMES, "special_tokens"),
    _Row("encode", "BPE-ENC-8 BPE-MODEL-2", "not refused as unknown_symbol", "model/bpe"),
    _Row("encode", "BPE-ENC-6 BPE-ENC-7 BPE-MODEL-2", _OUTCOMES, "unknown_token"),
    _Row("encode", "WP-MODEL-1", "not refused as unknown_symbol", "model/wordpiece"),
    _Row("encode", "WP-ENC-4", _OUTCOMES, "max_word_length"),
    _Row("encode", "UNI-UNK-3 UNI-MODEL-2 UNI-ENC-1", "not refused as unknown_symbol", "model/unigram"),
    _Row("encode", "ENC-3 ENC-5", "spans", "normalizer"),
    _Row("encode", "ENC-3", "spans", "pre_tokenizer"),
    _Row("encode", "TERM-3 ENC-3 BPE-ENC-8", "spans"),
    _Row("encode", "ENC-1 ENC-4 ENC-6 ENC-7", _OUTCOMES, "normalizer"),
    _Row("encode", "ENC-1 ENC-4 ENC-6 ENC-7", _OUTCOMES, "pre_tokenizer"),
    _Row("encode", "BPE-ENC-* BPE-BYTE-*", _OUTCOMES, "model/bpe"),
    _Row("encode", "WP-ENC-* WP-MODEL-1", _OUTCOMES, "model/wordpiece"),
    _Row("encode", "UNI-SEG-2 UNI-SEG-3 UNI-UNK-3 UNI-ENC-1", _OUTCOMES, "model/unigram"),
    _Row("encode encode_batch", "ENC-* TERM-1 TERM-2 TERM-3 TERM-9"),
    _Row("decode", "DEC-3", "unknown_id"),
    _Row("decode", "DEC-7 DEC-2 DEC-3 DEC-4 DEC-5 DEC-6"),
    _Row("count_words", "BPE-TRAIN-1 ENC-1 TERM-7"),
    _Row(
        "best_pair training_state pair_frequencies pair_scores loss_increase", "ERROR-2", "not refused as invalid_input"
    ),
    _Row("segment segmentations viterbi loss loss_increase", "UNI-LOSS-3", "invalid_input"),
    _Row("segment loss loss_increase prune_step", "UNI-UNK-2", "no_segmentation"),
    _Row("base_vocabulary", "BPE-TRAIN-2 BPE-TRAIN-3", "", "model/bpe"),
    _Row("base_vocabulary", "WP-TRAIN-1 WP-TRAIN-2", "", "model/wordpiece"),
    _Row("training_state", "BPE-TRAIN-9 BPE-TRAIN-5 BPE-TRAIN-7 BPE-TRAIN-8 BPE-TRAIN-10", "", "model/bpe"),
    _Row("training_state", "WP-TRAIN-5 WP-TRAIN-4 WP-TRAIN-8", "", "model/wordpiece"),
    _Row("pair_frequencies", "BPE-TRAIN-5 BPE-TRAIN-4 BPE-TRAIN-6 BPE-TRAIN-9 BPE-TRAIN-14"),
    _Row("pair_scores", "WP-TRAIN-3 WP-TRAIN-5 WP-TRAIN-8"),
    _Row("best_pair", "BPE-TRAIN-8 BPE-TRAIN-7 BPE-TRAIN-14 BPE-TRAIN-5", "", "model/bpe"),
    _Row("best_pair", "WP-TRAIN-4 WP-TRAIN-3 WP-TRAIN-8", "", "model/wordpiece"),
    _Row("train", "BPE-TRAIN-2 BPE-TRAIN-3 BPE-TRAIN-10", "vocabulary", "model/bpe"),
    _Row("train training_trace", "BPE-TRAIN-7 BPE-TRAIN-8 BPE-TRAIN-*", "", "model/bpe"),
    _Row("train", "WP-TRAIN-4 WP-TRAIN-*", "", "model/wordpiece"),
    _Row("training_trace", "WP-TRAIN-3 WP-TRAIN-*", "", "model/wordpiece"),
    _Row("train", "UNI-PRUNE-2 UNI-PRUNE-* UNI-INIT-*", "", "model/unigram"),
    _Row("training_trace", "UNI-PRUNE-4 UNI-PRUNE-* UNI-INIT-*", "", "model/unigram"),
    _Row("substring_frequencies", "UNI-INIT-1 UNI-INIT-2"),
    _Row("ranked_substrings", "UNI-INIT-4 UNI-INIT-1 UNI-INIT-2"),
    _Row("initial_vocabulary", "UNI-INIT-5 UNI-INIT-*"),
    _Row("token_probabilities", "UNI-PROB-*"),
    _Row("segmentations", "UNI-SEG-1 UNI-PROB-*"),
    _Row("viterbi", "UNI-SEG-4 UNI-SEG-2 UNI-SEG-3 UNI-SCORE-2"),
    _Row("segment", "UNI-SEG-2 UNI-SEG-3 UNI-SCORE-2 UNI-PROB-*"),
    _Row("loss", "UNI-LOSS-1 UNI-SCORE-2"),
    _Row("loss_increase", "UNI-LOSS-2 UNI-LOSS-1"),
    _Row("prune_step", "UNI-PRUNE-2 UNI-PRUNE-* UNI-LOSS-2"),
    _Row("*", "ERROR-1 TERM-*"),
)

#: The kind of a difference where a text became a special token that is not allowed.
CONTROL_ID = "a control id"

#: The stage whose result an operation shows.
_SHOWN = {"normalize": "normalizer", "pre_tokenize": "pre_tokenizer", "decode": "decoder", "decode_stream": "decoder"}


def candidates(question: Question, kind: str) -> tuple[str, ...]:
    """Return the clauses that a difference of a kind may be about, most likely first.

    >>> model = {"normalizer": {"type": "nfc"}}
    >>> candidates(Question(model, "normalize", {"text": "a"}), "text")[:2]
    ('NORM-UNICODE-2', 'NORM-1')
    """
    return tuple(dict.fromkeys(_candidates(question, kind)))


def _candidates(question: Question, kind: str) -> Iterator[str]:
    has = components_of(question.model)
    has |= {name.partition("/")[0] for name in has}
    if has & {"normalizer", "pre_tokenizer"} and is_recent(_texts(question.input)):
        yield "TERM-6"
    if kind == CONTROL_ID:
        yield "TRUST-1"
    if "disallowed_special" in question.input:
        yield from _matching("ADDED-17 ADDED-18")
    if "allowed_special" in question.input:
        yield from _matching("ADDED-15 ADDED-16")
    if "not refused as invalid_input" in kind and "text" in question.input:
        yield "PRE-BYTE-6"
    if kind != AGAIN and not kind.endswith("invalid_model"):
        yield from _of_components(question.operation, has)
    for row in _ROWS:
        is_asked = row.operations == "*" or question.operation in row.operations.split()
        if is_asked and re.search(row.kinds, kind) and (not row.component or row.component in has):
            yield from _matching(row.clauses)


def _of_components(operation: str, has: frozenset[str]) -> Iterator[str]:
    """Return the clauses of the components of the stage whose result an operation shows, those of sequences last."""
    shown = [row for row in rows_of(_SHOWN.get(operation, "")) if row.name in has]
    for row in sorted(shown, key=lambda row: row.type == "sequence"):
        yield from _matching(row.clauses)


def _texts(input: Mapping[str, Any]) -> str:
    return "".join([input.get("text", ""), *input.get("corpus", {}).get("texts", ())])


@cache
def _matching(patterns: str) -> tuple[str, ...]:
    """Return the clauses of the specification that patterns match: an id, or a prefix of several with a star."""
    clauses = [id for id, clause in load_specification().clauses.items() if clause.level != "RETIRED"]
    return tuple(
        id
        for pattern in patterns.split()
        for id in clauses
        if id == pattern or (pattern.endswith("*") and id.startswith(pattern[:-1]))
    )
