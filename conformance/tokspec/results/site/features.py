"""Features of implementations, in plain words, and the cases that show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from tokspec.suite.cases import Case
from tokspec.suite.components import needed_components


class Feature(NamedTuple):
    """A feature: its group, its name, other words to search for it, and a test whether a case shows it."""

    group: str
    name: str
    also: str
    shows: Callable[[Case], bool]


def _type(kind: str) -> Callable[[Case], bool]:
    return lambda case: _model(case).get("type") == kind


def _needs(*components: str) -> Callable[[Case], bool]:
    """Return a test whether the model of a case needs a component whose name begins with one of some names."""
    return lambda case: any(each.startswith(components) for each in needed_components(_model(case)))


def _has(kind: str) -> Callable[[Case], bool]:
    """Return a test whether a normalizer, pre-tokenizer or decoder of a case, alone or in a sequence, has a type."""
    return lambda case: any(
        kind in _kinds(_model(case).get(stage)) for stage in ("normalizer", "pre_tokenizer", "decoder")
    )


def _kinds(component: object) -> Iterator[object]:
    if isinstance(component, Mapping):
        yield component.get("type")
        component = [*component.values()]
    if isinstance(component, list | tuple):
        for each in component:
            yield from _kinds(each)


def _asks(operation: str) -> Callable[[Case], bool]:
    return lambda case: case.operation == operation


def _takes(option: str) -> Callable[[Case], bool]:
    return lambda case: any(option in question.input for question in case.questions)


def _about(*clauses: str) -> Callable[[Case], bool]:
    return lambda case: any(id.startswith(clauses) for id in case.clauses)


def _model(case: Case) -> dict[str, object]:
    return dict(case.model.content)


FEATURES: tuple[Feature, ...] = (
    Feature("models", "BPE", "byte pair encoding gpt llama", _type("bpe")),
    Feature("models", "WordPiece", "bert", _type("wordpiece")),
    Feature("models", "Unigram", "sentencepiece t5 xlnet viterbi", _type("unigram")),
    Feature("models", "whole words", "wordlevel", _type("wordlevel")),
    Feature("text", "byte-level text", "gpt-2 llama 3 bytelevel", _has("byte_level")),
    Feature(
        "text",
        "byte fallback",
        "llama 2 unknown bytes",
        _needs("model/bpe/byte_fallback", "model/unigram/byte_fallback"),
    ),
    Feature("text", "words with a mark (▁)", "metaspace sentencepiece t5", _has("metaspace")),
    Feature("text", "BERT's text", "wordpiece lowercase accents ideographs", _has("bert")),
    Feature("text", "normal forms of Unicode", "nfc nfkc nfd", _about("NORM-UNICODE")),
    Feature("text", "regular expressions", "pattern split", _about("PATTERN", "PRE-SPLIT")),
    Feature(
        "text",
        "unknown characters",
        "unk fused",
        _about("BPE-ENC-6", "BPE-ENC-8", "BPE-ENC-10", "UNI-UNK", "WP-ENC-3", "WL-2"),
    ),
    Feature(
        "SentencePiece", "types of pieces", "control user defined unused", _about("SP-TYPE", "SP-SYMBOL", "SP-UNUSED")
    ),
    Feature("SentencePiece", "normalizer of SentencePiece", "dummy prefix extra white space", _about("SP-NORM")),
    Feature(
        "added tokens", "special tokens in the text", "eos bos", _about("ADDED-1", "ADDED-2", "ADDED-3", "ADDED-4")
    ),
    Feature(
        "added tokens",
        "flags of added tokens",
        "lstrip rstrip single_word normalized",
        _about("ADDED-5", "ADDED-6", "ADDED-7", "ADDED-8", "ADDED-9"),
    ),
    Feature(
        "added tokens",
        "untrusted text",
        "allowed_special injection encode_ordinary split_special_tokens",
        _about("TRUST", "ADDED-15", "ADDED-16", "ADDED-17", "ADDED-18"),
    ),
    Feature("added tokens", "prompts in parts", "chat messages segments", _asks("encode_parts")),
    Feature("around the text", "special tokens put in", "post-processor template cls sep bos", _about("POST")),
    Feature("around the text", "pairs of texts", "type ids", _takes("pair")),
    Feature("around the text", "truncation and padding", "max_length stride overflowing", _about("TRUNC", "PAD")),
    Feature("around the text", "batches", "encode_batch", _asks("encode_batch")),
    Feature("around the text", "places in the text", "spans offsets", _about("ENC-3", "ENC-5", "ENC-6")),
    Feature("back to text", "decoding", "decode ids text", _asks("decode")),
    Feature("back to text", "streaming", "incremental detokenizer", _asks("decode_stream")),
    Feature("back to text", "stop strings", "stop sequences", _asks("decode_until")),
    Feature("training", "training", "learn vocabulary merges", _asks("train")),
)
"""The features, in display order."""

#: Words that somebody may search for, each followed by the words that match it.
SYNONYMS: tuple[tuple[str, ...], ...] = (
    ("unk", "unknown"),
    ("fused", "fused", "fuse"),
    ("spm", "sentencepiece"),
    ("hf", "huggingface", "tokenizers"),
    ("spans", "offsets", "spans"),
    ("streaming", "stream", "incremental"),
    ("vocab", "vocabulary"),
    ("pretokenizer", "pre tokenization", "pre tokenizer"),
    ("bos", "special token"),
    ("eos", "special token"),
    ("regex", "pattern", "regular expression"),
    ("emoji", "four bytes", "utf 8"),
    ("bytes", "byte"),
    ("injection", "untrusted"),
    ("chat", "prompt", "parts"),
    ("chinese", "ideograph"),
    ("cjk", "ideograph"),
    ("oov", "unknown"),
)


def features_of(case: Case) -> str:
    """Return the names of the features that a case shows, with a bar between them."""
    return "|".join(each.name for each in FEATURES if each.shows(case))
