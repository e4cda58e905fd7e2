"""``sentencepiece.model``: the protocol buffer that SentencePiece saves, of BPE and Unigram models.

The normalizer is the identity, or for white-space split a map of white space to U+0020; pre-tokenizers are what
SentencePiece does with spaces (:mod:`tokspec.formats.pieces`).
Special tokens are user-defined pieces. A model without an unknown token has the piece ``<no unknown token>`` after its
last: whoever meets its id in a result has met an unknown symbol. Scores are the weights as numbers of 32 bits; those of
a BPE model are its ids, negative. The decoder is told beside the file; where nothing is, it is ``metaspace``.

It cannot express, and the writer refuses as ``unsupported``:

* a model that is neither BPE nor Unigram, or has no vocabulary; a normalizer; a lone surrogate, in any string;
* a pre-tokenizer other than none, metaspace with ``▁``, and the sequence of white-space split and metaspace of T5;
* a pre-tokenizer that splits, with a token across a split or without ``▁``: SentencePiece does not split;
* special tokens where ``▁`` is put before the text: SentencePiece puts it there once, before special tokens too;
* a metaspace decoder where no ``▁`` is put before the text: whether the first one is dropped is one flag for both;
* an unknown or special token that is not in the vocabulary; an empty token, and one with U+0000;
* merges that do not follow from the order of the tokens (:mod:`tokspec.formats.tiktoken_ranks`);
* a weight that has no logarithm, or is beyond numbers of 32 bits.

SentencePiece dissents for some texts, whatever the file says: it puts ``▁`` also before a text that begins with a space
or with ``▁`` (PRE-META-2), and decodes every ``▁`` as a space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any

from tokspec.base.errors import DataError
from tokspec.formats.files import beside, pack, unpack
from tokspec.formats.neutral import fill_defaults
from tokspec.formats.packages import needed
from tokspec.formats.pieces import MARK, NO_UNKNOWN, PRE_TOKENIZERS, WHITE_SPACE, Piece, Spaces, pieces_of, spaces_of
from tokspec.formats.tiktoken_ranks import merges_of
from tokspec.formats.weights import is_weight

__all__ = ["read", "write"]

FORMAT = "sentencepiece.model"
_TYPES = {"UNIGRAM": "unigram", "BPE": "bpe"}
_KINDS = ("NORMAL", "UNKNOWN", "USER_DEFINED")


def _message() -> Any:
    return needed("sentencepiece.sentencepiece_model_pb2", FORMAT).ModelProto()


def write(content: Mapping[str, Any]) -> dict[str, Any]:
    """Write a model of the fixtures as the file.

    Raises:
        Unsupported: the file cannot express the model.
        DataError: a package is missing.

    >>> write({"type": "unigram"})
    Traceback (most recent call last):
        ...
    tokspec.base.errors.Unsupported: unsupported: sentencepiece.model holds a vocabulary, and this model is not trained
    """
    model = fill_defaults(content)
    pieces, spaces = pieces_of(model, FORMAT), spaces_of(model, FORMAT)
    message = _message()
    for id, piece in enumerate(pieces):
        kind = message.SentencePiece.Type.Value(piece.kind)
        message.pieces.add(piece=piece.token, score=piece.score, type=kind)
        if piece.kind == "UNKNOWN":
            message.trainer_spec.unk_id, message.trainer_spec.unk_piece = id, piece.token
    message.trainer_spec.model_type = message.trainer_spec.ModelType.Value(model["type"].upper())
    message.trainer_spec.vocab_size = len(pieces)
    for absent in ("bos_id", "eos_id", "pad_id"):
        setattr(message.trainer_spec, absent, -1)
    message.normalizer_spec.name = "identity"
    for key, value in asdict(spaces).items():
        setattr(message.normalizer_spec, key, value)
    if spaces.remove_extra_whitespaces:
        message.normalizer_spec.name = "user_defined"
        message.normalizer_spec.precompiled_charsmap = WHITE_SPACE
    told = {key: value for key, value in model.items() if key == "decoder"}
    return pack({FORMAT: message.SerializeToString(deterministic=True)}, told)


def read(content: Any) -> dict[str, Any]:
    """Read the file; merges are those that the order of its pieces implies.

    Reading back what the suite wrote gives the same model, but for this: frequencies are logarithms then, of 32 bits;
    special tokens are in the order of their ids; a metaspace for the start of the input puts its mark always, and it
    splits unless a token goes across a mark.

    Raises:
        DataError: with the key of what the specification does not cover; a package is missing.

    >>> read({"pieces": []})
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: is no content of files; it needs an object with the key files
    """
    (data,) = unpack(content, FORMAT)
    message = _message()
    try:
        message.ParseFromString(data)
    except needed("google.protobuf.message", FORMAT).DecodeError:
        raise DataError("is no model of SentencePiece", FORMAT) from None
    for key, value in _uncovered(message):
        raise DataError(f"is {value}, which the specification does not cover", FORMAT, key=key)
    return {**_model(message), **_stages(message), **beside(content, {"decoder": {"type": "metaspace"}})}


def _uncovered(message: Any) -> Iterator[tuple[str, str]]:
    """Return the keys and values that say what the specification has nothing for."""
    trainer, kinds = message.trainer_spec, message.SentencePiece.Type
    kind = trainer.ModelType.Name(trainer.model_type)
    if kind not in _TYPES:
        yield "trainer_spec.model_type", kind
    for key in ("byte_fallback", "treat_whitespace_as_suffix"):
        if getattr(trainer, key):
            yield f"trainer_spec.{key}", "true"
    for spec in ("normalizer_spec", "denormalizer_spec"):
        if getattr(message, spec).precompiled_charsmap not in (b"", WHITE_SPACE):
            yield f"{spec}.precompiled_charsmap", "a table of characters"
    for index, piece in enumerate(message.pieces):
        if kinds.Name(piece.type) not in _KINDS:
            yield f"pieces[{index}].type", f"{kinds.Name(piece.type)} ({piece.piece!r})"
        if not is_weight(piece.score):
            yield f"pieces[{index}].score", f"{piece.score}"


def _stages(message: Any) -> dict[str, Any]:
    """Return the pre-tokenizer, which does not split where a piece goes across a mark."""
    spaces = Spaces(*(getattr(message.normalizer_spec, field.name) for field in fields(Spaces)))
    said = ", ".join(f"{key} {str(value).lower()}" for key, value in asdict(spaces).items())
    part = PRE_TOKENIZERS.get(spaces, {})
    normal = message.SentencePiece.Type.Value("NORMAL")
    crossing = [piece.piece for piece in message.pieces if piece.type == normal and MARK in piece.piece[1:]]
    if part and part["type"] == "sequence" and crossing:
        said, part = f"{said}, and {crossing[0]!r} a piece", {}
    if part is None:
        return {}
    if not part:
        raise DataError(f"is {said}, which the specification does not cover", FORMAT, key="normalizer_spec")
    return {"pre_tokenizer": {**part, "split": False} if crossing else part}


def _model(message: Any) -> dict[str, Any]:
    kinds = message.SentencePiece.Type
    pieces = [Piece(piece.piece, piece.score, kinds.Name(piece.type)) for piece in message.pieces]
    tokens = [piece.token for piece in pieces]
    unknown = [piece.token for piece in pieces if piece.kind == "UNKNOWN"]
    if len(unknown) != 1 or len(set(tokens)) < len(tokens):
        raise DataError("has a token twice, or not one unknown token", FORMAT, key="pieces")
    if tokens[-1] == NO_UNKNOWN:
        unknown, pieces = [], pieces[:-1]
    model: dict[str, Any] = {"type": _TYPES[message.trainer_spec.ModelType.Name(message.trainer_spec.model_type)]}
    model.update(_TOKENS[model["type"]](pieces))
    special = [piece.token for piece in pieces if piece.kind == "USER_DEFINED"]
    if special:
        model["special_tokens"] = special
    return {**model, "unknown_token": unknown[0]} if unknown else model


def _bpe(pieces: list[Piece]) -> dict[str, Any]:
    ordinary = sorted((piece for piece in pieces if piece.kind == "NORMAL"), key=lambda piece: -piece.score)
    merges = [list(merge) for merge in merges_of([piece.token for piece in ordinary])]
    return {"vocabulary": [piece.token for piece in pieces], "merges": merges}


def _unigram(pieces: list[Piece]) -> dict[str, Any]:
    return {"tokens": [[piece.token, piece.score] for piece in pieces], "weights": "log_probability"}


_TOKENS: Mapping[str, Callable[[list[Piece]], dict[str, Any]]] = {"bpe": _bpe, "unigram": _unigram}
