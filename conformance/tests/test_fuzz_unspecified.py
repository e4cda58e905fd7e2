"""What no clause specifies is no finding, whatever is answered; and what stands next to it still is one."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.compare.shrink import Question
from tokspec.fuzz.checker import Checker, Side
from tokspec.fuzz.strategies import Example, examples
from tokspec.fuzz.unspecified import UNSPECIFIED
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, Request
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.specification import load_specification


class Otherwise(InProcessSession):
    """Answers everything with one reply."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(ReferenceAdapter())
        self.reply = reply

    def _reply(self, request: Request) -> Reply:
        return self.reply


def state(model: Any, operation: str, input: Any, given: Mapping[str, Any] | str, **choices: str) -> str:
    """Return what comes of a comparison with the reference; a text is the reason of a refusal."""
    reply = Refused(given, "?") if isinstance(given, str) else Answer(given)
    made = Checker(Side(lambda: Otherwise(reply)), choices=choices)
    return made.compare_one(Question(model, operation, input)).state


WORDS = {"type": "wordlevel", "vocabulary": ["a", "b", "c", "d"]}
BPE = {"type": "bpe", "vocabulary": ["a", "b", "ab"], "merges": [["a", "b"]]}
PREFIXED = {**BPE, "continuing_prefix": "#", "vocabulary": ["a", "b", "#b", "ab"]}
UNIGRAM = {"type": "unigram", "tokens": [["a", 1], ["b", 1], ["ab", 2]], "piece_types": {"user_defined": ["ab"]}}
BYTES = {"type": "bpe", "vocabulary": ["a", "<0xC3>", "<0xA9>", "<0xFF>"], "merges": []}
FALLBACK = {**BYTES, "decoder": {"type": "byte_fallback"}}
UNTRAINED = {"type": "unigram"}
FREQUENCIES = {"frequencies": {"a": 1}, "total": 1}
SHIFTED = {"tokens": ["ab"], "ids": [2], "spans": [[0, 0]]}
TOKENS = {"tokens": ["a"], "ids": [0], "spans": [[0, 1]]}
NONE: dict[str, list[Any]] = {"tokens": [], "ids": [], "spans": []}
TEXT = {"text": "?"}
PIECES = {"pieces": [["?", 0, 1]]}
PARTS = {"parts": ["?", "?"]}
ENDED = {**PARTS, "end": "?"}


def replaced(regex: str) -> dict[str, Any]:
    return {"normalizer": {"type": "replace", "pattern": {"regex": regex}, "content": "x"}}


def split(regex: str) -> dict[str, Any]:
    return {"pre_tokenizer": {"type": "split", "pattern": {"regex": regex}, "behavior": "isolated"}}


def suffixed(suffix: str) -> dict[str, Any]:
    return {**BPE, "decoder": {"type": "bpe", "suffix": suffix}}


def added(*contents: str, **flags: bool) -> list[dict[str, Any]]:
    return [{"content": content, "id": 7 + place, **flags} for place, content in enumerate(contents)]


def template(*texts: str) -> dict[str, Any]:
    single, pair = ([{"sequence": text} for text in listed] for listed in texts)
    return {"type": "template", "single": single, "pair": pair, "special_tokens": []}


def merging(right: str) -> dict[str, Any]:
    return {**PREFIXED, "merges": [["a", right]]}


def mapping(units: list[int], replacements: bytes) -> dict[str, Any]:
    data = b"".join(number.to_bytes(4, "little") for number in (4 * len(units), *units)) + replacements
    return {"normalizer": {"type": "precompiled", "charsmap": b64encode(data).decode()}}


def trimmed(normalizer: bool) -> dict[str, Any]:
    model = {**WORDS, "added_tokens": added("x", normalized=True), "post_processor": {"type": "byte_level"}}
    return {**model, "normalizer": {"type": "lowercase"}} if normalizer else model


#: By clause: what is left open, and what is next to it and not open.
KINDS: Mapping[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "TERM-8": (
        ({"pre_tokenizer": {"type": "whitespace_split"}}, "pre_tokenize", {"text": "\ud800"}, PIECES),
        ({"pre_tokenizer": {"type": "whitespace_split"}}, "pre_tokenize", {"text": "é"}, PIECES),
    ),
    "TERM-6": (
        (replaced(r"\p{L}"), "normalize", {"text": "\U000e1000"}, TEXT),
        (replaced(r"\p{L}"), "normalize", {"text": "\U0001ffff"}, TEXT),
    ),
    "NORM-MAP-3": (
        (mapping([(ord("a") ^ 1) << 10, ord("a") | 1 << 8 | 5 << 10], b""), "normalize", {"text": "a"}, TEXT),
        ({"normalizer": {"type": "precompiled", "charsmap": ""}}, "normalize", {"text": "a"}, TEXT),
    ),
    "PRE-SCRIPTS-1": (
        ({"pre_tokenizer": {"type": "unicode_scripts"}}, "pre_tokenize", {"text": "a\u061c"}, PIECES),
        ({"pre_tokenizer": {"type": "unicode_scripts"}}, "pre_tokenize", {"text": "a1"}, PIECES),
    ),
    "PATTERN-1": (
        (replaced("b*"), "normalize", {"text": "a"}, TEXT),
        (replaced("b+"), "normalize", {"text": "a"}, TEXT),
    ),
    "PATTERN-6": (
        (split(r"(?i:\p{Lu})"), "pre_tokenize", {"text": "a"}, PIECES),
        (split(r"(?i:[\p{Lu}]a)|\p{L}"), "pre_tokenize", {"text": "a"}, PIECES),
    ),
    "PATTERN-7": (
        (split("(?=b)*a"), "pre_tokenize", {"text": "ab"}, PIECES),
        (split("(?=b)b"), "pre_tokenize", {"text": "ab"}, PIECES),
    ),
    "PATTERN-8": (
        (split("[a-&&a]"), "pre_tokenize", {"text": "a"}, PIECES),
        (split("[-a&&a]"), "pre_tokenize", {"text": "a"}, PIECES),
    ),
    "PATTERN-16": (
        (split(r"(a?)*\1b"), "pre_tokenize", {"text": "ab"}, PIECES),
        (split(r"(?:(a)|b)+\1b"), "pre_tokenize", {"text": "ab"}, PIECES),
    ),
    "PATTERN-14": (
        (split(r"a\Z"), "pre_tokenize", {"text": "a\n\n"}, PIECES),
        (split(r"a\Z"), "pre_tokenize", {"text": "a\n"}, PIECES),
    ),
    "ADDED-15": (
        (WORDS, "encode", {"text": "b", "allowed_special": ["b"]}, TOKENS),
        ({**WORDS, "special_tokens": ["b"]}, "encode", {"text": "b", "allowed_special": ["b"]}, TOKENS),
    ),
    "ADDED-5": (
        (
            {**WORDS, "normalizer": {"type": "lowercase"}, "added_tokens": added("X", "x", normalized=True)},
            "encode",
            {"text": "x"},
            TOKENS,
        ),
        (
            {**WORDS, "normalizer": {"type": "lowercase"}, "added_tokens": added("X", "y", normalized=True)},
            "encode",
            {"text": "x"},
            TOKENS,
        ),
    ),
    "ADDED-7": (
        ({**WORDS, "added_tokens": added("x", " x", rstrip=True)}, "encode", {"text": "x x"}, TOKENS),
        ({**WORDS, "added_tokens": added("x", "xx", rstrip=True)}, "encode", {"text": "x x"}, TOKENS),
    ),
    "TRUST-1": (
        (
            {**UNIGRAM, "special_tokens": ["ab"], "normalizer": {"type": "sentencepiece", "add_dummy_prefix": False}},
            "encode",
            {"text": "a", "allowed_special": []},
            NONE,
        ),
        ({**UNIGRAM, "special_tokens": ["ab"]}, "encode", {"text": "a", "allowed_special": []}, NONE),
    ),
    "BATCH-1": (
        (
            {**WORDS, "special_tokens": ["a"]},
            "encode_batch",
            {"inputs": [{"text": "x"}, {"text": "a"}], "disallowed_special": "all", "allowed_special": []},
            "unknown_symbol",
        ),
        (
            {**WORDS, "special_tokens": ["a"]},
            "encode_batch",
            {"inputs": [{"text": "b"}, {"text": "a"}], "disallowed_special": "all", "allowed_special": []},
            "unknown_symbol",
        ),
    ),
    "PARTS-1": (
        (BPE, "encode_parts", {"parts": [{"ids": [9]}, {"text": "x"}]}, "unknown_symbol"),
        (BPE, "encode_parts", {"parts": [{"ids": [9]}, {"text": "a"}]}, "unknown_symbol"),
    ),
    "BPE-TRAIN-16": (
        (
            {"type": "bpe", "continuing_prefix": "#"},
            "train",
            {"corpus": {"words": [["ab", 1]]}, "merge_count": 1},
            {"vocabulary": ["a"], "merges": []},
        ),
        (
            {"type": "bpe", "end_of_word_suffix": "#"},
            "train",
            {"corpus": {"words": [["ab", 1]]}, "merge_count": 1},
            {"vocabulary": ["a"], "merges": []},
        ),
    ),
    "BPE-AFFIX-3": (
        (merging("b"), "encode", {"text": "ab"}, TOKENS),
        (merging("#b"), "encode", {"text": "ab"}, TOKENS),
    ),
    "BPE-AFFIX-3 refused": (
        (merging("b"), "encode", {"text": "ab"}, "invalid_model"),
        (merging("#b"), "encode", {"text": "ab"}, "invalid_model"),
    ),
    "BPE-AFFIX-5": (
        (PREFIXED, "encode", {"text": "ax"}, TOKENS),
        (BPE, "encode", {"text": "ax"}, TOKENS),
    ),
    "BPE-DROPOUT-1": (
        ({**BPE, "merges": [], "scores": [0, 0, 1], "dropout": 1}, "encode", {"text": "ab"}, TOKENS),
        ({**BPE, "dropout": 1}, "encode", {"text": "ab"}, TOKENS),
    ),
    "BPE-BYTES-1": (
        (
            {**BYTES, "byte_fallback": True, "vocabulary": [*BYTES["vocabulary"], "<0xC3><0xA9>"]},
            "encode",
            {"text": "é"},
            TOKENS,
        ),
        ({**BYTES, "byte_fallback": True}, "encode", {"text": "é"}, TOKENS),
    ),
    "SP-NORM-2": (
        (
            {**UNIGRAM, "normalizer": {"type": "sentencepiece", "add_dummy_prefix": False}},
            "encode",
            {"text": "ab"},
            SHIFTED,
        ),
        (UNIGRAM, "encode", {"text": "ab"}, SHIFTED),
    ),
    "SP-TYPE-2": (
        (UNIGRAM, "viterbi", {"word": "ab"}, {"table": [None]}),
        (UNIGRAM, "viterbi", {"word": "b"}, {"table": [None]}),
    ),
    "SP-TYPE-2 segment": (
        (UNIGRAM, "segment", {"word": "ab"}, {"tokens": ["a", "b"], "score": 0.5}),
        (UNIGRAM, "segment", {"word": "b"}, {"tokens": ["b"], "score": 0.5}),
    ),
    "SP-TYPE-2 token_probabilities": (
        (UNIGRAM, "token_probabilities", {}, {"probabilities": {}}),
        ({**UNIGRAM, "piece_types": {}, "type": "unigram"}, "encode", {"text": "a"}, NONE),
    ),
    "SP-TYPE-2 loss_increase": (
        (UNIGRAM, "loss_increase", {"corpus": {"words": [["a", 1]]}, "token": "ab"}, {"increase": 3.0}),
        (
            {key: UNIGRAM[key] for key in ("type", "tokens")},
            "loss_increase",
            {"corpus": {"words": [["a", 1]]}, "token": "ab"},
            {"increase": 3.0},
        ),
    ),
    "SP-TYPE-2 prune_step": (
        (UNIGRAM, "prune_step", {"corpus": {"words": [["a", 1]]}, "fraction": 0.5}, {"removed": [], "size": 3}),
        (
            {key: UNIGRAM[key] for key in ("type", "tokens")},
            "prune_step",
            {"corpus": {"words": [["a", 1]]}, "fraction": 0.5},
            {"removed": [], "size": 3},
        ),
    ),
    "POST-BYTE-3": (
        (trimmed(True), "encode", {"text": "x"}, {"tokens": ["x"], "ids": [7], "spans": [[0, 0]]}),
        (trimmed(False), "encode", {"text": "x"}, {"tokens": ["x"], "ids": [7], "spans": [[0, 0]]}),
    ),
    "POST-BYTE-3 in a batch": (
        (
            trimmed(True),
            "encode_batch",
            {"inputs": [{"text": "x"}]},
            {"encodings": [{"tokens": ["x"], "ids": [7], "spans": [[0, 0]]}]},
        ),
        (
            trimmed(True),
            "encode_batch",
            {"inputs": [{"text": "x"}]},
            {"encodings": [{"tokens": ["a"], "ids": [0], "spans": [[0, 0]]}]},
        ),
    ),
    "TRUNC-8": (
        (
            {**BPE, "truncation": {"max_length": 2}, "post_processor": template("A", "BA")},
            "encode",
            {"text": "aaa", "pair": "b"},
            {**TOKENS, "tokens": ["b", "a"], "ids": [1, 0], "spans": [[0, 1], [0, 1]], "overflowing": []},
        ),
        (
            {**BPE, "truncation": {"max_length": 2}, "post_processor": template("A", "AB")},
            "encode",
            {"text": "aaa", "pair": "b"},
            {**TOKENS, "tokens": ["a", "b"], "ids": [0, 1], "spans": [[0, 1], [0, 1]], "overflowing": []},
        ),
    ),
    "DEC-BPE-1": (
        (suffixed(""), "decode", {"tokens": ["a"]}, TEXT),
        (suffixed("b"), "decode", {"tokens": ["a"]}, TEXT),
    ),
    "DEC-CTC-2": (
        ({"decoder": {"type": "ctc", "pad_token": ""}}, "decode", {"tokens": ["a"]}, TEXT),
        ({"decoder": {"type": "ctc", "pad_token": "b"}}, "decode", {"tokens": ["a"]}, TEXT),
    ),
    "DEC-CTC-3": (
        ({"decoder": {"type": "ctc", "word_delimiter_token": ""}}, "decode", {"tokens": ["a"]}, TEXT),
        ({"decoder": {"type": "ctc", "word_delimiter_token": "b"}}, "decode", {"tokens": ["a"]}, TEXT),
    ),
    "DEC-WP-3": (
        ({"decoder": {"type": "wordpiece", "cleanup": True}}, "decode", {"tokens": ["a", "do not"]}, TEXT),
        ({"decoder": {"type": "wordpiece"}}, "decode", {"tokens": ["a", "do not"]}, TEXT),
    ),
    "DEC-SEQUENCE-1": (
        ({"decoder": {"type": "sequence", "decoders": [{"type": "sentencepiece"}]}}, "decode", {"tokens": ["a"]}, TEXT),
        ({"decoder": {"type": "sentencepiece"}}, "decode", {"tokens": ["a"]}, TEXT),
    ),
    "DEC-FALLBACK-1": (
        ({"decoder": {"type": "byte_fallback"}}, "decode", {"tokens": ["<0x4a>"]}, TEXT),
        ({"decoder": {"type": "byte_fallback"}}, "decode", {"tokens": ["<0x4A>"]}, TEXT),
    ),
    "DEC-STREAM-4": (
        (FALLBACK, "decode_stream", {"ids": [1, 3]}, PARTS),
        (FALLBACK, "decode_stream", {"ids": [1, 2]}, PARTS),
    ),
    "STREAM-9": (
        (
            {**BPE, "decoder": {"type": "strip", "content": "a", "start": 1, "stop": 1}},
            "decode_stream",
            {"ids": [0, 1], "end": True},
            ENDED,
        ),
        ({**BPE, "decoder": {"type": "fuse"}}, "decode_stream", {"ids": [0, 1], "end": True}, ENDED),
    ),
    "STREAM-3": (
        (FALLBACK, "decode_stream", {"ids": [1, 2], "end": True}, {"parts": ["", ""], "end": "é"}),
        (FALLBACK, "decode_stream", {"ids": [0, 0], "end": True}, {"parts": ["", ""], "end": "aa"}),
    ),
    "STREAM-8": (
        (FALLBACK, "decode_stream", {"ids": [0, 0], "end": True, "beside": [9]}, ENDED),
        (FALLBACK, "decode_stream", {"ids": [0, 0], "end": True, "beside": [0]}, ENDED),
    ),
    "PROTO-7": (
        (UNTRAINED, "substring_frequencies", {"corpus": {"words": [["ab", 2**53 - 1]]}}, FREQUENCIES),
        (UNTRAINED, "substring_frequencies", {"corpus": {"words": [["ab", 2**50]]}}, FREQUENCIES),
    ),
}

#: What has to be chosen for a clause to leave anything open.
CHOSEN = {
    "TERM-8": {"offset_unit": "byte"},
    "BPE-AFFIX-5": {"bpe_unknown_without_token": "kept"},
    "STREAM-8": {"unknown_id": "skipped"},
}


@pytest.mark.parametrize("name", KINDS)
def test_what_a_clause_leaves_open_is_not_a_finding(name: str) -> None:
    open, specified = KINDS[name]
    chosen = CHOSEN.get(name, {})
    assert (state(*open, **chosen), state(*specified, **chosen)) == ("open", "differs")


@settings(max_examples=40, database=None, derandomize=True, deadline=None)
@given(examples())
def test_whatever_is_drawn_can_be_asked_about(example: Example) -> None:
    """A refusal for no reason differs from every answer, so all rows of the table are asked."""
    made = Checker(Side(partial(Otherwise, Refused("no_segmentation", "?"))))
    list(made.compare(example.model, example.requests[::5]))


#: Clauses that leave something open that no model and request can show which are drawn or come of shrinking, or that
#: tolerance.py takes from the answer.
ELSEWHERE = {
    "PARTS-1": "the row of BATCH-1 tells batches and prompts of which several parts are refused",
    "PATTERN-8": "the row of PATTERN-1 tells all of patterns",
    "PATTERN-16": "the row of PATTERN-1 tells all of patterns",
    "NORM-MAP-1": "the row of NORM-MAP-3 tells a map without units",
    "PRE-1": "tolerance.py: spans of added characters alone",
    "ENC-3": "tolerance.py: spans of added characters alone",
    "POST-SEQUENCE-1": "the reference refuses it as unsupported",
    "SP-SCORE-1": "a score of -0 is not drawn",
    "DEC-CTC-2": "the row of DEC-BPE-1 tells the empty parameters of all decoders",
    "DEC-CTC-3": "the row of DEC-BPE-1 tells the empty parameters of all decoders",
    "PATTERN-2": "the reference refuses it as unsupported",
    "PATTERN-7": "the row of PATTERN-1 tells all of patterns",
    "PATTERN-11": "the reference refuses it as unsupported",
    "PATTERN-6": "the row of PATTERN-1 tells all of patterns",
    "PATTERN-14": "the row of PATTERN-1 tells all of patterns",
}


def test_every_clause_that_leaves_something_open_is_in_the_table() -> None:
    clauses = load_specification().clauses
    words = ("not specified", "utside this specification")
    silent = {id for id, clause in clauses.items() if any(each in clause.text for each in words)}
    assert silent - UNSPECIFIED.keys() - ELSEWHERE.keys() == set()
    assert {name.split()[0] for name in KINDS} == {*UNSPECIFIED, *(ELSEWHERE.keys() & KINDS.keys())}
    assert ELSEWHERE.keys() - silent == set()


@pytest.mark.parametrize(("count", "state"), [(2**53 - 1, "open"), (2**50, "differs")])
def test_a_sum_beyond_the_integers_of_a_message_may_break_the_protocol(count: int, state: str) -> None:
    made = Checker(Side(lambda: Otherwise(Fault("protocol", "a line holds an integer beyond 2^53 - 1"))))
    assert (
        made.compare_one(Question(UNTRAINED, "substring_frequencies", {"corpus": {"words": [["ab", count]]}})).state
        == state
    )
