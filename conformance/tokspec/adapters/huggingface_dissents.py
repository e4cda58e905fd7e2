"""Where Hugging Face ``tokenizers`` is known to dissent from the specification: the rows of ``spec/08-choices.md``.

A dissent is told before the library is asked, by what the model or the text has, and is answered with ``unsupported``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from unicodedata import is_normalized

from tokenizers import Tokenizer
from tokenizers.models import Unigram, WordPiece

from tokspec.adapter import Unsupported

__all__ = ["OTHER_TRAINING", "refuse_model", "refuse_text"]

#: What its other trainers do, by the type of the model.
OTHER_TRAINING = {
    WordPiece: "its WordPiece trainer ranks pairs by count, as BPE does (WP-TRAIN-3)",
    Unigram: "its Unigram trainer estimates frequencies and prunes by an approximate loss (UNI-PRUNE-2)",
}

#: The ideographs that its BERT normalizer has not (huggingface/tokenizers#2395).
_FORGOTTEN = ("\U0002b820", "\U0002b91f")

#: Characters of cases that its tables have not: its categories are those of Unicode 8, its decompositions of 12.0.
_NEWER = frozenset("\u1df6\u2e43\u32ff")

#: How it writes sequences that hold nothing but sequences.
_NO_STAGES = re.compile(r"(Sequence\(pretokenizers=\[|\]\)|, )+")

#: How it writes the scheme that looks for the start of the input.
_FIRST = re.compile(r"\bprepend_scheme=first\b")

#: How its normalizers that compose are written.
_COMPOSES = re.compile(r"\bNFK?C\b")


def refuse_text(operation: str, tokenizer: Tokenizer, text: str) -> None:
    """Refuse a text for which the library is known to dissent.

    Raises:
        Unsupported: with what the library does, and the clause.
    """
    if any(_FORGOTTEN[0] <= character <= _FORGOTTEN[-1] for character in text):
        raise Unsupported("sets no ideograph apart from U+2B820 to U+2B91F (NORM-BERT-3)")
    if not _NEWER.isdisjoint(text):
        raise Unsupported("has no tables of what Unicode has since version 9 (TERM-6)")
    if operation == "pre_tokenize" and not text and _NO_STAGES.fullmatch(str(tokenizer.pre_tokenizer)):
        raise Unsupported("makes a piece of an empty text where a sequence is empty (PRE-2)")
    if operation == "encode" and _COMPOSES.search(str(tokenizer.normalizer)) and not is_normalized("NFC", text):
        raise Unsupported("gives a composed character the span of the first that it was made of (ENC-3)")
    if operation == "encode" and _FIRST.search(str(tokenizer.pre_tokenizer)) and _loses_its_start(tokenizer, text):
        raise Unsupported("puts no replacement behind what its normalizer removed, with the scheme first (PRE-META-2)")


def _loses_its_start(tokenizer: Tokenizer, text: str) -> bool:
    return tokenizer.normalizer is not None and bool(text) and not tokenizer.normalizer.normalize_str(text[0])


def refuse_model(model: Mapping[str, Any]) -> None:
    """Refuse a model, as it stands in a ``tokenizer.json``, with which the library is known to dissent.

    Raises:
        Unsupported: with what the library does, and the clause.

    >>> refuse_model({"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b"]})
    Traceback (most recent call last):
        ...
    tokspec.errors.Unsupported: unsupported: panics at a merge whose product is longer than every token (BPE-MODEL-1)
    """
    for dissents, reason in _OF_MODELS[model["type"]]:
        if dissents(model):
            raise Unsupported(reason)


def _merges_unknown_token(model: Mapping[str, Any]) -> bool:
    return any(model.get("unk_token") in merge for merge in _merges(model))


def _makes_longest_token(model: Mapping[str, Any]) -> bool:
    longest = max(map(len, model["vocab"]), default=0)
    return any(len("".join(merge)) > longest for merge in _merges(model))


def _merges(model: Mapping[str, Any]) -> list[list[str]]:
    """Give merges as their parts, which the format of old versions joins by a space."""
    return [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]


def _lists_twice(model: Mapping[str, Any]) -> bool:
    return len({token for token, _ in model["vocab"]}) < len(model["vocab"])


def _has_joined_characters_only(model: Mapping[str, Any]) -> bool:
    tokens = {token for token, _ in model["vocab"]}
    return model["unk_id"] is None and any(character not in tokens for token in tokens for character in token)


#: By the type of the model: what tells such a model, and what the library does.
_OF_MODELS: Mapping[str, tuple[tuple[Callable[[Mapping[str, Any]], bool], str], ...]] = {
    "BPE": (
        (_merges_unknown_token, "merges what it does not know where a merge names the unknown token (BPE-ENC-6)"),
        (_makes_longest_token, "panics at a merge whose product is longer than every token (BPE-MODEL-1)"),
    ),
    "WordPiece": (),
    "Unigram": (
        (_lists_twice, "loads a model that lists a token twice (TERM-4)"),
        (
            _has_joined_characters_only,
            "needs an unknown token for a character that is none by itself, whether or not it is used (UNI-UNK-1)",
        ),
    ),
}
