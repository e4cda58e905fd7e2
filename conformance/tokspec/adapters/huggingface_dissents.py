"""Where Hugging Face ``tokenizers`` is known to dissent from the specification: the rows of ``spec/08-choices.md``.

A dissent is told by what the model or the text has, or by where the spans of an encoding end, and is answered with
``unsupported``, or without spans where only they are wrong. What tells one may be a little wider than the fault, never
as wide as an operation or a stage.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import dropwhile
from typing import Any
from unicodedata import is_normalized

from tokenizers import Tokenizer
from tokenizers.models import BPE, Unigram, WordPiece

from tokspec.adapter import Unsupported
from tokspec.adapters.huggingface_unicode import has_unknown, put_in_order

__all__ = ["OTHER_TRAINING", "has_wrong_spans", "refuse_input", "refuse_model"]

#: What its other trainers do, by the type of the model.
OTHER_TRAINING = {
    WordPiece: "its WordPiece trainer ranks pairs by count, as BPE does (WP-TRAIN-3)",
    Unigram: "its Unigram trainer estimates frequencies and prunes by an approximate loss (UNI-PRUNE-2)",
}

#: The ideographs that its BERT normalizer has not (huggingface/tokenizers#2395).
_FORGOTTEN = ("\U0002b820", "\U0002b91f")

#: The stages that an operation goes through.
_STAGES = {
    "normalize": ("normalizer",),
    "pre_tokenize": ("pre_tokenizer",),
    "encode": ("normalizer", "pre_tokenizer"),
    "train": ("normalizer", "pre_tokenizer"),
}


def refuse_input(operation: str, tokenizer: Tokenizer, input: Mapping[str, Any]) -> None:
    """Refuse an input for which the library is known to dissent.

    Raises:
        Unsupported: with what the library does, and the clause.

    >>> refuse_input("encode", Tokenizer(BPE({"a": 0}, [])), {"text": "\U0002b820"})
    Traceback (most recent call last):
        ...
    tokspec.base.errors.Unsupported: unsupported: sets no ideograph apart from U+2B820 to U+2B91F (NORM-BERT-3)
    """
    for text in [input["text"]] if "text" in input else input.get("corpus", {}).get("texts", ()):
        for dissents, reason in (*_OF_TEXTS, *_OF_OPERATIONS.get(operation, ())):
            if dissents(operation, tokenizer, text):
                raise Unsupported(reason)


def has_wrong_spans(tokenizer: Tokenizer, text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Say whether the spans of an encoding are known to be other ones: of composed characters, marks that it puts in
    order (ENC-3), and what stands behind a character that it drops (BPE-ENC-8).

    >>> tokenizer = Tokenizer(BPE({"a": 0}, []))
    >>> has_wrong_spans(tokenizer, "ba", tokenizer.encode("ba").offsets)
    True
    """
    return (
        _composes_characters(tokenizer, text)
        or _puts_marks_in_order(tokenizer, text, spans)
        or _drops_before_others(tokenizer, text)
    )


def _has_forgotten_ideograph(operation: str, tokenizer: Tokenizer, text: str) -> bool:
    return any(_FORGOTTEN[0] <= character <= _FORGOTTEN[-1] for character in text)


def _has_newer_character(operation: str, tokenizer: Tokenizer, text: str) -> bool:
    if text.isascii():
        return False
    seen = text if operation == "pre_tokenize" else text + _normalized(tokenizer, text)
    types = {stage["type"] for name in _STAGES.get(operation, ()) for stage in _stages(getattr(tokenizer, name))}
    return has_unknown(seen, types)


def _has_no_stages(operation: str, tokenizer: Tokenizer, text: str) -> bool:
    return not text and tokenizer.pre_tokenizer is not None and not list(_stages(tokenizer.pre_tokenizer))


def _composes_characters(tokenizer: Tokenizer, text: str) -> bool:
    """Say whether a text is composed, and not each of its characters by itself."""
    if text.isascii() or not any(stage["type"] in ("NFC", "NFKC") for stage in _stages(tokenizer.normalizer)):
        return False
    if not is_normalized("NFC", text):
        return True
    return _normalized(tokenizer, text) != "".join(_normalized(tokenizer, character) for character in text)


def _puts_marks_in_order(tokenizer: Tokenizer, text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Say whether marks are given the spans of those whose places they take."""
    if text.isascii() or not any(_decomposes(stage) for stage in _stages(tokenizer.normalizer)):
        return False
    ends = {place for span in spans for place in span}
    return any(not ends.isdisjoint(range(start + 1, end)) for start, end in put_in_order(text))


def _decomposes(stage: Mapping[str, Any]) -> bool:
    if stage["type"] == "BertNormalizer":
        strips = stage["strip_accents"]
        return bool(stage["lowercase"] if strips is None else strips)
    return stage["type"] in ("NFC", "NFD", "NFKC", "NFKD")


def _loses_its_start(operation: str, tokenizer: Tokenizer, text: str) -> bool:
    is_first = any(stage.get("prepend_scheme") == "first" for stage in _stages(tokenizer.pre_tokenizer))
    return is_first and bool(text) and not _normalized(tokenizer, text[0])


def _drops_before_others(tokenizer: Tokenizer, text: str) -> bool:
    """Say whether a piece has a character without a token before one that has one, and the model no unknown token."""
    model = tokenizer.model
    if not isinstance(model, BPE) or model.unk_token is not None:
        return False
    pieces = _pieces(tokenizer, text)
    known = {character for character in set().union(*pieces) if model.token_to_id(character) is not None}
    return any(not known.isdisjoint(_from_first_unknown(piece, known)) for piece in pieces)


def _from_first_unknown(piece: str, known: Collection[str]) -> Iterator[str]:
    return dropwhile(known.__contains__, piece)


def _pieces(tokenizer: Tokenizer, text: str) -> list[str]:
    """Give the pieces of a text, each stretch between special tokens cut for itself."""
    added = sorted((token.content for token in tokenizer.get_added_tokens_decoder().values()), key=len, reverse=True)
    stretches = re.split("|".join(map(re.escape, added)), text) if added else [text]
    normalized = [_normalized(tokenizer, stretch) for stretch in stretches if stretch]
    if tokenizer.pre_tokenizer is None:
        return normalized
    return [piece for each in normalized for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(each)]


def _normalized(tokenizer: Tokenizer, text: str) -> str:
    normalized: str = text if tokenizer.normalizer is None else tokenizer.normalizer.normalize_str(text)
    return normalized


def _stages(stage: Any) -> Iterator[Mapping[str, Any]]:
    """Give a stage as it stands in a ``tokenizer.json``; of a sequence, all that it holds."""
    return iter(()) if stage is None else _members(json.loads(stage.__getstate__()))


def _members(stage: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if stage["type"] != "Sequence":
        yield stage
    for member in (*stage.get("normalizers", ()), *stage.get("pretokenizers", ())):
        yield from _members(member)


#: What tells a text for which the library dissents, and what it does.
_Row = tuple[Callable[[str, Tokenizer, str], bool], str]
_OF_TEXTS: tuple[_Row, ...] = (
    (_has_forgotten_ideograph, "sets no ideograph apart from U+2B820 to U+2B91F (NORM-BERT-3)"),
    (_has_newer_character, "has no tables of what Unicode has since version 9 (TERM-6)"),
)

#: Likewise, for one operation.
_OF_OPERATIONS: Mapping[str, tuple[_Row, ...]] = {
    "pre_tokenize": ((_has_no_stages, "makes a piece of an empty text where a sequence is empty (PRE-2)"),),
    "encode": (
        (
            _loses_its_start,
            "puts no replacement behind what its normalizer removed, with the scheme first (PRE-META-2)",
        ),
    ),
}


def refuse_model(model: Mapping[str, Any]) -> None:
    """Refuse a model, as it stands in a ``tokenizer.json``, with which the library is known to dissent.

    Raises:
        Unsupported: with what the library does, and the clause.

    >>> refuse_model({"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b"]})
    Traceback (most recent call last):
        ...
    tokspec.base.errors.Unsupported: unsupported: panics at a merge whose product is longer than every token (BPE-MODEL-1)
    """  # noqa: E501
    for dissents, reason in _OF_MODELS[model["type"]]:
        if dissents(model):
            raise Unsupported(reason)


def _merges_unknown_token(model: Mapping[str, Any]) -> bool:
    return any(model.get("unk_token") in merge for merge in _merges(model))


def _makes_longest_token(model: Mapping[str, Any]) -> bool:
    longest = max((_bytes(token) for token in model["vocab"]), default=0)
    return any(_bytes("".join(merge)) > longest for merge in _merges(model))


def _bytes(token: str) -> int:
    return len(token.encode("utf-8", "surrogatepass"))


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
