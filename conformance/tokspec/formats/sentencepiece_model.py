"""``sentencepiece.model``: the protocol buffer in which SentencePiece saves BPE and Unigram models.

A model with the normalizer ``sentencepiece`` is written as it is, with its types of pieces, and a file without
``beside`` is read as such a model. In other models the normalizer is the identity, a character map, or for white-space
split a map of white space to U+0020, and pre-tokenizers are expressed by SentencePiece's handling of spaces. Special
tokens are user-defined pieces. A model without an unknown token has the piece ``<unk>`` after its last, or
``<no unknown token>`` if it has a token of that name: the id of this piece in a result means an unknown symbol. Scores
are the weights as 32-bit numbers; in a BPE model, a score is the negative id. ``beside`` holds the type, the unknown
token, the special tokens and the decoder; without ``beside`` the decoder is ``metaspace``.

It cannot express, and the writer refuses as ``unsupported``:

* a model that is neither BPE nor Unigram, or has no vocabulary; a lone surrogate, in any string;
* a normalizer other than a character map, and a character map with white-space split;
* later additions to the specification, except decoders, fused unknown tokens and byte fallback with all 256 tokens:
  added tokens, ids, post-processors, truncation, padding, and other parameters of the model;
* a pre-tokenizer other than none, metaspace with ``▁``, and the sequence of white-space split and metaspace of T5;
* a pre-tokenizer that splits, with a token across a split or without ``▁``: SentencePiece does not split;
* special tokens where ``▁`` is put before the text: SentencePiece puts it there once, before special tokens too;
* an unknown or special token that is not in the vocabulary; an empty token, and one with U+0000;
* merges that do not follow from the order of the tokens (:mod:`tokspec.formats.tiktoken_ranks`);
* a weight that has no logarithm, or is beyond 32-bit numbers;
* scores that 32-bit numbers do not order as the model does: in a BPE model, two that become equal; in a Unigram model,
  those of a token and its two parts if rounding changes which of the two is better. An exact check would have to
  compare all segmentations of a text, which are too many. In Unigram, a single score decides nothing.

The models that it expresses except for some inputs are described in :mod:`tokspec.formats.limits`. SentencePiece also
decodes every ``▁`` as a space, whatever the file says.

The writer first converts a model to the terms of SentencePiece: pieces with scores and kinds, for a whole text in which
spaces are marked. ``vocab.gguf`` shares this step. SentencePiece does not pre-tokenize. That makes no difference if no
token crosses a border between pieces; if one does, the model is refused.
"""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from typing import Any
from zlib import decompress

from tokspec.base.errors import DataError, Unsupported
from tokspec.formats import is_as_before_limits
from tokspec.formats.files import beside, import_package, pack, refuse_surrogates, unpack
from tokspec.formats.neutral import (
    fill_defaults,
    is_weight,
    log_probabilities,
    refuse_components,
    refuse_ids,
    refuse_untrained,
    tokens_in_id_order,
)
from tokspec.formats.tiktoken_ranks import merges_of, refuse_other_merges

FORMAT = "sentencepiece.model"
_TYPES = {"UNIGRAM": "unigram", "BPE": "bpe"}
_KINDS = ("NORMAL", "UNKNOWN", "CONTROL", "USER_DEFINED", "BYTE", "UNUSED")
#: The types of pieces, by their names in a model.
_PIECE_TYPES = {"control": "CONTROL", "user_defined": "USER_DEFINED", "unused": "UNUSED", "byte": "BYTE"}

#: The tokens of byte fallback.
BYTES = [f"<0x{byte:02X}>" for byte in range(0x100)]

#: The character that stands for a space.
MARK = "▁"

#: A character map, as SentencePiece compiles it, that maps all other white space to U+0020 (PRE-SPACE-1). A test
#: compiles it again if the library is installed.
WHITE_SPACE = decompress(
    b64decode(
        "eNol02VM1VEYx/HfvcMXV0TxhW+cgU7FADs2YyYqJqJiKwaK3V03uNywwUBUwBZbwcZuZ3cHGHO7ig0W+v3rf/vsnLP/s53zPM858pMUJFlKS4WL"
        "S/4lpCIWKSBAxmd1FpKS/cyyNmERa5Yt2qzUKswDzSpGQFEjqJdk6yfZu0iO7lJcuOTsKMU3l1xhknu65JktecdLJYlnK5VCWZRBuf9HUNoSqTxj"
        "RVRAMCqB7VQZ1VAVoQhBDVRHLdREHdRGPdRFA9THlu9S+m+pEfOGIBU1RlPseiVxTDVDS7QAR1YrtEFrkI7aoj3agdTUAZ3RCaStCHRFJCiBuqEH"
        "okB51BN90BuUSn0xAP0xENEYjEGIwRAMw1AMRyxGYgRGYxTGYgwoq8ZhIiZgMiZhKqaA8msaZmIGaIVmYS7mwGb0EA7Y4UQcXIiHB27MgxcLMB+L"
        "sBC0TYuRiAQsw1KswHKsRBJWIRlrsBqpSMFao/dYj3XYiA3YjE1IN3qIbdiKHdhu9A47sQe7kYG92IdMHMB+HMJBHMFhHEUWjuMYTuIETuMUzuIM"
        "zuMcLuKC8S/IpEuMV3AZ13AVN3Adt3ATd3Ab93AXD3Afj/AQT/AYz/AUL/AcOcgGV1Iv8Qav8daI8ZmUbTUpJ8mkd6x9yMV7fMQHfMYnfMUX5OEb"
        "uP7Kx0/8AE9Bv/AHBf/e3l/HPpV4"
    )
)

#: Components that this format has a place for, but llama.cpp's format has not.
_LATER = (
    *("normalizer/precompiled", "normalizer/sentencepiece", "decoder/sentencepiece", "model/bpe/scores"),
    *("model/bpe/byte_fallback", "model/unigram/byte_fallback", "model/bpe/piece_types", "model/unigram/piece_types"),
)

#: SentencePiece requires an unknown token. In a model without one, one of these comes after the last token.
_USUAL_UNKNOWN, NO_UNKNOWN = "<unk>", "<no unknown token>"

#: The keys of ``beside``, which save a reader from parsing the file.
TOLD = ("type", "unknown_token", "special_tokens", "decoder")


@dataclass(frozen=True)
class Piece:
    """A token with its score; ``kind`` is a name of the types of pieces."""

    token: str
    score: float
    kind: str = "NORMAL"


@dataclass(frozen=True)
class Spaces:
    """The handling of spaces: a mark before the text, runs reduced to one and ends dropped, and marks for spaces."""

    add_dummy_prefix: bool = False
    remove_extra_whitespaces: bool = False
    escape_whitespaces: bool = False
    treat_whitespace_as_suffix: bool = False


_MARKED = {"type": "metaspace", "replacement": MARK}

#: The pre-tokenizers that can be expressed; None means a model without one.
_PRE_TOKENIZERS: Mapping[Spaces, Mapping[str, Any] | None] = {
    Spaces(): None,
    Spaces(escape_whitespaces=True): {**_MARKED, "prepend_scheme": "never"},
    Spaces(add_dummy_prefix=True, escape_whitespaces=True): {**_MARKED, "prepend_scheme": "always"},
    Spaces(add_dummy_prefix=True, remove_extra_whitespaces=True, escape_whitespaces=True): {
        "type": "sequence",
        "pre_tokenizers": [{"type": "whitespace_split"}, {**_MARKED, "prepend_scheme": "always"}],
    },
}


def _message() -> Any:
    return import_package("sentencepiece.sentencepiece_model_pb2", FORMAT).ModelProto()


def _bytes_of(charsmap: str) -> bytes:
    try:
        return b64decode(charsmap, validate=True)
    except ValueError:
        raise Unsupported(f"{FORMAT} stores a character map as bytes, and that of this model is not base64") from None


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
    # spaces first, because pieces take long, and are of no use if the spaces cannot be expressed
    spaces = spaces_of(model, FORMAT, "precompiled", "sentencepiece")
    pieces = pieces_of(model, FORMAT, *_LATER)
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
    message.trainer_spec.byte_fallback = model.get("byte_fallback", False)
    message.normalizer_spec.name = "identity"
    for key, value in asdict(spaces).items():
        of = message.trainer_spec if key == "treat_whitespace_as_suffix" else message.normalizer_spec
        setattr(of, key, value)
    charsmap = WHITE_SPACE if spaces.remove_extra_whitespaces else b""
    if "normalizer" in model:
        charsmap = _bytes_of(model["normalizer"]["charsmap"])
    if charsmap:
        message.normalizer_spec.name = "user_defined"
        message.normalizer_spec.precompiled_charsmap = charsmap
    told = {key: model[key] for key in TOLD if key in model}
    if _is_sentencepiece(model.get("normalizer")):
        message.trainer_spec.unk_surface = model.get("decoder", {}).get("unk_surface", message.trainer_spec.unk_surface)
        told["normalizer"] = {key: value for key, value in model["normalizer"].items() if key != "charsmap"}
    return pack({FORMAT: message.SerializeToString(deterministic=True)}, told)


def read(content: Any) -> dict[str, Any]:
    """Read the file; if the score of every piece is its negative id, merges are those that the order implies.

    Reading back a file that the suite wrote gives the same model, with these exceptions: frequencies become logarithms,
    and scores 32-bit numbers; the model does not say that unknown characters are fused, nor that tokens of bytes have
    their own type; a metaspace for the start of the input always puts its mark, and splits unless a token crosses a
    mark.

    Raises:
        DataError: the specification does not cover a value, whose key the error has; or a package is missing.

    >>> read({"pieces": []})
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: is not the content of files, which is an object with the key files
    """
    (data,) = unpack(content, FORMAT)
    message = _message()
    try:
        message.ParseFromString(data)
    except import_package("google.protobuf.message", FORMAT).DecodeError:
        raise DataError("is not a SentencePiece model", FORMAT) from None
    for key, value in _uncovered(message):
        raise DataError(f"is {value}, which the specification does not cover", FORMAT, key=key)
    told = beside(content)
    if "normalizer" in told or not told:
        found = _as_it_is(message, "type" in told and "unknown_token" not in told)
        return {**found, **told, "normalizer": {**told.get("normalizer", {}), **found["normalizer"]}}
    for key, value in _unsaid(message):
        raise DataError(f"is {value}, which is not what is given with the file", FORMAT, key=key)
    model = _model(message, "type" in told and "unknown_token" not in told)
    types = _types(message, {*told.get("special_tokens", ()), *BYTES})
    return {**model, **({"piece_types": types} if types else {}), **_stages(message), **told}


def _as_it_is(message: Any, has_no_unknown: bool) -> dict[str, Any]:
    """Return the model in a file as it is, with SentencePiece's own normalizer, types of pieces, and decoder."""
    # Even if no piece has a type, because no text spells the unknown piece (SP-TYPE-2).
    model = {**_model(message, has_no_unknown), "piece_types": _types(message)}
    if model["type"] == "bpe":
        model.pop("merges", None)
        model.update(scores=[piece.score for piece in message.pieces][: len(model["vocabulary"])], fuse_unk=True)
    said = {field.name: getattr(message.normalizer_spec, field.name) for field in fields(Spaces)[:3]}
    suffix = message.trainer_spec.treat_whitespace_as_suffix
    charsmap = b64encode(message.normalizer_spec.precompiled_charsmap).decode("ascii")
    normalizer = {"type": "sentencepiece", "charsmap": charsmap, **said, "treat_whitespace_as_suffix": suffix}
    decoder = {"type": "sentencepiece", **{key: said[key] for key in ("add_dummy_prefix", "remove_extra_whitespaces")}}
    surface = {"unk_surface": message.trainer_spec.unk_surface}
    return {**model, "normalizer": normalizer, "decoder": {**decoder, **surface}}


def _types(message: Any, others: Set[str] = frozenset()) -> dict[str, list[str]]:
    """Return the tokens of each type except normal and unknown, without ``others``, which the model has elsewhere."""
    types: dict[str, list[str]] = {key: [] for key in _PIECE_TYPES}
    names = {value: key for key, value in _PIECE_TYPES.items()}
    for piece in message.pieces:
        kind = message.SentencePiece.Type.Name(piece.type)
        if kind in names and piece.piece not in others:
            types[names[kind]].append(piece.piece)
    return {key: tokens for key, tokens in types.items() if tokens}


def _is_sentencepiece(normalizer: Mapping[str, Any] | None) -> bool:
    return normalizer is not None and normalizer["type"] == "sentencepiece"


def _unsaid(message: Any) -> Iterator[tuple[str, str]]:
    """Return the keys and values that a model with a pre-tokenizer has no place for."""
    if message.trainer_spec.treat_whitespace_as_suffix:
        yield "trainer_spec.treat_whitespace_as_suffix", "true"
    if _has_map(message) and message.normalizer_spec.remove_extra_whitespaces:
        yield "normalizer_spec.precompiled_charsmap", "a character map, with runs of spaces made one"


def _uncovered(message: Any) -> Iterator[tuple[str, str]]:
    """Return the keys and values that the specification does not cover."""
    trainer, kinds = message.trainer_spec, message.SentencePiece.Type
    kind = trainer.ModelType.Name(trainer.model_type)
    if kind not in _TYPES:
        yield "trainer_spec.model_type", kind
    if message.denormalizer_spec.precompiled_charsmap:
        yield "denormalizer_spec.precompiled_charsmap", "a character map"
    for index, piece in enumerate(message.pieces):
        if not isinstance(piece.piece, str):  # protobuf returns bytes that are not UTF-8 as they are
            raise DataError("is not UTF-8", FORMAT, key=f"pieces[{index}].piece")
        if kinds.Name(piece.type) not in _KINDS:
            yield f"pieces[{index}].type", f"{kinds.Name(piece.type)} ({piece.piece!r})"
        if not is_weight(piece.score):
            yield f"pieces[{index}].score", f"{piece.score}"


def _has_map(message: Any) -> bool:
    """Return whether characters are mapped, apart from white space before it is split."""
    spec = message.normalizer_spec
    return spec.precompiled_charsmap not in ((b"", WHITE_SPACE) if spec.remove_extra_whitespaces else (b"",))


def _stages(message: Any) -> dict[str, Any]:
    """Return the character map and the pre-tokenizer, which does not split if a piece crosses a mark."""
    charsmap = b64encode(message.normalizer_spec.precompiled_charsmap).decode("ascii")
    normalizer = {"normalizer": {"type": "precompiled", "charsmap": charsmap}} if _has_map(message) else {}
    spaces = Spaces(*(getattr(message.normalizer_spec, field.name) for field in fields(Spaces)[:3]))
    said = ", ".join(f"{key} {str(value).lower()}" for key, value in [*asdict(spaces).items()][:3])
    part = _PRE_TOKENIZERS.get(spaces, {})
    normal = message.SentencePiece.Type.Value("NORMAL")
    crossing = [piece.piece for piece in message.pieces if piece.type == normal and MARK in piece.piece[1:]]
    if part and part["type"] == "sequence" and crossing:
        said, part = f"{said}, and {crossing[0]!r} a piece", {}
    if part is None:
        return normalizer
    if not part:
        raise DataError(f"is {said}, which the specification does not cover", FORMAT, key="normalizer_spec")
    return {**normalizer, "pre_tokenizer": {**part, "split": False} if crossing else part}


def _model(message: Any, has_no_unknown: bool) -> dict[str, Any]:
    kinds = message.SentencePiece.Type
    pieces = [Piece(piece.piece, piece.score, kinds.Name(piece.type)) for piece in message.pieces]
    tokens = [piece.token for piece in pieces]
    unknown = [piece.token for piece in pieces if piece.kind == "UNKNOWN"]
    if not pieces:
        raise DataError("has no pieces", FORMAT, key="pieces")
    if len(unknown) != 1 or len(set(tokens)) < len(tokens):
        raise DataError("has a token twice, or not one unknown token", FORMAT, key="pieces")
    if has_no_unknown or tokens[-1] == NO_UNKNOWN:
        unknown, pieces = [], pieces[:-1]
    model: dict[str, Any] = {"type": _TYPES[message.trainer_spec.ModelType.Name(message.trainer_spec.model_type)]}
    model.update(_TOKENS[model["type"]](pieces))
    if message.trainer_spec.byte_fallback:
        model["byte_fallback"] = True
    return {**model, "unknown_token": unknown[0]} if unknown else model


def _bpe(pieces: list[Piece]) -> dict[str, Any]:
    vocabulary = [piece.token for piece in pieces]
    if any(piece.score != -id for id, piece in enumerate(pieces) if piece.kind == "NORMAL"):
        return {"vocabulary": vocabulary, "scores": [piece.score for piece in pieces]}
    merges = [list(merge) for merge in merges_of([piece.token for piece in pieces if piece.kind == "NORMAL"])]
    return {"vocabulary": vocabulary, "merges": merges}


def _unigram(pieces: list[Piece]) -> dict[str, Any]:
    return {"tokens": [[piece.token, piece.score] for piece in pieces], "weights": "log_probability"}


_TOKENS: Mapping[str, Callable[[list[Piece]], dict[str, Any]]] = {"bpe": _bpe, "unigram": _unigram}


def spaces_of(model: Mapping[str, Any], format: str, *normalizers: str) -> Spaces:
    """Express the pre-tokenizer of a model, with every default filled in, as the handling of spaces.

    Raises:
        Unsupported: it cannot be expressed, or the model has a normalizer of a type that is not in ``normalizers``.

    >>> spaces_of({"type": "bpe"}, "sentencepiece.model")
    ... # doctest: +ELLIPSIS
    Spaces(add_dummy_prefix=False, remove_extra_whitespaces=False, escape_whitespaces=False, ...)
    """
    part = model.get("pre_tokenizer")
    if "sentencepiece" in normalizers and _is_sentencepiece(model.get("normalizer")):
        if part is not None:
            raise Unsupported(
                f"{format} makes marks of spaces in the normalizer, and this model has a pre-tokenizer too"
            )
        return Spaces(**{field.name: model["normalizer"][field.name] for field in fields(Spaces)})
    spaces = _spaces(part)
    if "normalizer" in model and model["normalizer"]["type"] not in normalizers:
        what = " other than a character map" if normalizers else ""
        raise Unsupported(f"{format} is written without a normalizer{what}, and this model has one")
    if spaces is None:
        raise Unsupported(f"{format} has no pre-tokenizer but metaspace with {MARK!r} and that of T5")
    if "normalizer" in model and spaces.remove_extra_whitespaces:
        raise Unsupported(f"{format} has one character map, which white-space split needs, and this model has another")
    if part is not None and part.get("split", True):
        _refuse_crossing(tokens_in_id_order(model), format)
    if spaces.add_dummy_prefix and model.get("special_tokens"):
        raise Unsupported(f"{format} puts {MARK!r} before the whole text only, and before a special token too")
    if spaces.escape_whitespaces and any(" " in token for token in model.get("special_tokens", ())):
        raise Unsupported(f"{format} has {MARK!r} for every space before it looks for special tokens")
    return spaces


def _spaces(part: Mapping[str, Any] | None) -> Spaces | None:
    match part:
        case None:
            return Spaces()
        case {"type": "metaspace", "replacement": "▁", "prepend_scheme": scheme}:
            return Spaces(add_dummy_prefix=scheme != "never", escape_whitespaces=True)
        case {
            "type": "sequence",
            "pre_tokenizers": [{"type": "whitespace_split"}, {"prepend_scheme": "always"} as member],
        }:
            found = _spaces(member)
            return replace(found, remove_extra_whitespaces=True) if found else None
    return None


def _refuse_crossing(tokens: Sequence[str], format: str) -> None:
    """Refuse tokens that would cross a border between pieces (ENC-1)."""
    crossing = [token for token in tokens if MARK in token[1:]]
    if crossing:
        raise Unsupported(f"{format} does not split at {MARK!r}, and {crossing[0]!r} goes across it")
    if MARK not in tokens:
        raise Unsupported(f"{format} does not split at {MARK!r}, which is not in the vocabulary")


def pieces_of(model: Mapping[str, Any], format: str, *later: str) -> list[Piece]:
    """Return the tokens of a model, with every default filled in, as pieces; their positions are their ids.

    A BPE token's score is its negative id, because the pair whose concatenation has the highest score is merged next.

    Args:
        model: the model.
        format: the format that is written.
        later: components that the format expresses besides decoders and fused unknown tokens.

    Raises:
        Unsupported: they cannot express the model.

    >>> pieces_of({"type": "bpe", "vocabulary": ["u", "g"]}, "sentencepiece.model")[1:]
    [Piece(token='g', score=-1.0, kind='NORMAL'), Piece(token='<unk>', score=0.0, kind='UNKNOWN')]
    """
    refuse_untrained(model, format, "bpe", "unigram")
    refuse_surrogates(model, format)
    refuse_components(model, format, "decoder", "model/bpe/fuse_unk", *later)
    if model.get("fuse_unk") is False and "unknown_token" in model:
        raise Unsupported(f"{format} makes one unknown token of several characters, and this model does not fuse them")
    tokens, special = tokens_in_id_order(model), model.get("special_tokens", [])
    unknown = model.get("unknown_token")
    kinds = {**dict.fromkeys(tokens, "NORMAL"), **dict.fromkeys(special, "USER_DEFINED")}
    types = model.get("piece_types")
    for key, of_type in (types or {}).items():
        if contradicted := [token for token in of_type if kinds.get(token) != "NORMAL" or token == unknown]:
            raise Unsupported(f"{format} has one type for each token, and here {contradicted[0]!r} is not so")
        kinds |= dict.fromkeys(of_type, _PIECE_TYPES[key])
    if types and types.get("byte") and not model.get("byte_fallback"):
        raise Unsupported(f"{format} has tokens of bytes only where it falls back to them")
    if model.get("byte_fallback"):
        _refuse_missing_bytes(tokens if types is None else types.get("byte", ()), format)
        kinds |= dict.fromkeys(BYTES, "BYTE")
    if unknown is not None:
        kinds[unknown] = "UNKNOWN"
    if unknown in special:
        raise Unsupported(f"{format} never finds the unknown token in a text, and here {unknown!r} is special too")
    _refuse_tokens(kinds, tokens, format)
    if model["type"] == "bpe" and "scores" not in model:
        ordinary = [token for token in tokens if kinds[token] == "NORMAL"]
        refuse_other_merges(ordinary, model.get("merges", []), format)
    if model["type"] == "bpe":
        given = model.get("scores", range(0, -len(tokens), -1))
        if len(given) != len(tokens):
            raise Unsupported(
                f"{format} has a score for each token, and this model {len(given)} for {len(tokens)} tokens"
            )
        if "scores" in model:
            refuse_ids(model, format)
        scores = [_score(token, score, format) for token, score in zip(tokens, given, strict=True)]
        if not is_as_before_limits():
            _refuse_equal_scores(tokens, given, scores, format)
    else:
        scores = [_score(token, weight, format) for token, weight in log_probabilities(model, format)]
        if not is_as_before_limits():
            _refuse_other_order(model, scores, format)
    pieces = [Piece(token, score, kinds[token]) for token, score in zip(tokens, scores, strict=True)]
    if unknown is not None:
        return pieces
    return [*pieces, Piece(NO_UNKNOWN if _USUAL_UNKNOWN in tokens else _USUAL_UNKNOWN, 0.0, "UNKNOWN")]


def _refuse_missing_bytes(tokens: Sequence[str], format: str) -> None:
    missing = [token for token in BYTES if token not in tokens]
    if missing:
        raise Unsupported(f"{format} falls back to bytes if it has all of them, and this model has no {missing[0]!r}")


def _refuse_tokens(kinds: Mapping[str, str], tokens: Sequence[str], format: str) -> None:
    listed = set(tokens)
    outside = [token for token in kinds if token not in listed]
    if outside:
        raise Unsupported(f"{format} has no token outside the vocabulary, but this model has {outside[0]!r}")
    unfit = [token for token in tokens if token in ("", NO_UNKNOWN) or "\0" in token]
    if unfit:
        raise Unsupported(f"{format} cannot hold the token {unfit[0]!r}")


def _refuse_equal_scores(tokens: Sequence[str], given: Sequence[float], scores: Sequence[float], format: str) -> None:
    """Refuse scores that are equal as 32-bit numbers, because the pair with the highest score is merged first."""
    seen: dict[float, tuple[str, float]] = {}
    for token, exact, score in zip(tokens, given, scores, strict=True):
        other, before = seen.setdefault(score, (token, exact))
        if before != exact:
            raise Unsupported(
                f"{format} holds numbers of 32 bits, to which the scores of {other!r} and {token!r} are one"
            )


def _refuse_other_order(model: Mapping[str, Any], scores: Sequence[float], format: str) -> None:
    """Refuse weights if rounding changes whether a token or its two parts are better, or neither."""
    exact = {token: Fraction(weight) for token, weight in model["tokens"]}
    rounded = dict(zip(tokens_in_id_order(model), scores, strict=True))
    total = sum(exact.values())
    for token, score in rounded.items():
        for at in range(1, len(token)):
            parts = token[:at], token[at:]
            if not all(part in rounded for part in parts):
                continue
            left, right = (rounded[part] for part in parts)
            if abs(score - left - right) > _CLOSE * max(abs(score), abs(left), abs(right)):
                continue
            before, behind = (exact[part] for part in parts)
            of_log = model["weights"] == "log_probability"
            difference = exact[token] - before - behind if of_log else exact[token] * total - before * behind
            if _sign(difference) != _sign(Fraction(score) - Fraction(left) - Fraction(right)):
                ways = f"{token!r} or {parts[0]!r} and {parts[1]!r}"
                raise Unsupported(f"{format} holds numbers of 32 bits, which change whether {ways} is better")


#: Two segmentations whose scores differ by more than this, relatively, keep their order: rounding changes each score by
#: 2**-24 at most.
_CLOSE = 2.0**-21


def _sign(number: Fraction) -> int:
    return (number > 0) - (number < 0)


def _score(token: str, weight: float, format: str) -> float:
    """Round to the nearest 32-bit number, because these formats hold no others."""
    try:
        (score,) = struct.unpack("<f", struct.pack("<f", weight))
    except (OverflowError, struct.error):  # the latter for an integer that no double can hold
        raise Unsupported(f"{format} holds numbers of 32 bits, and the weight of {token!r} is beyond them") from None
    return float(score)
