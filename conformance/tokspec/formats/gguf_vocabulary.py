"""``vocab.gguf``: the file of llama.cpp, with a vocabulary and no tensors, as loaded for the vocabulary alone.

Byte-level BPE is its tokenizer ``gpt2``, other BPE ``llama``, Unigram ``t5`` and WordPiece ``bert``. Special tokens are
control tokens, which are found in a text on request. ``beside`` holds the type, the unknown token, the special tokens
and the decoder. After the last token of a model there may be tokens that llama.cpp requires: an unknown token, and in a
``llama`` one for each byte; if a result has one of these ids, the text had an unknown symbol. The suite does not read
the format.

It cannot express, and the writer refuses as ``unsupported``, a model without a vocabulary, later additions to the
specification (added tokens, ids, post-processors, truncation, padding, stages and parameters of the model) except
decoders and, in a ``llama`` with all 256 tokens, byte fallback, and for each type:

* ``gpt2``: a pre-tokenizer that does not cut as GPT-2 does, an unknown token, byte fallback, a normalizer, a model
  without merges, and a merge of a token with a space in it;
* ``llama`` and ``t5``: what ``sentencepiece.model`` cannot express, and spaces that stay spaces; ``llama`` also the
  pre-tokenizer of T5, an unknown token, and without byte fallback a token such as ``<0x0A>``;
* ``bert``: stages other than the normalizer and the pre-tokenizer of uncased BERT, another continuing prefix or longest
  word than theirs, an unknown token that is not in the vocabulary, and two tokens that it writes alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokspec.base.errors import Unsupported
from tokspec.formats.files import import_package, pack, refuse_surrogates
from tokspec.formats.neutral import fill_defaults, refuse_components, refuse_untrained
from tokspec.formats.sentencepiece_model import BYTES, MARK, TOLD, WHITE_SPACE, Piece, pieces_of, spaces_of

FORMAT = "vocab.gguf"
_GPT2 = fill_defaults({"pre_tokenizer": {"type": "byte_level"}})
_BERT = fill_defaults({"normalizer": {"type": "bert"}, "pre_tokenizer": {"type": "bert"}, "type": "wordpiece"})

#: Without tokens for bytes, llama.cpp ends at an unknown character.
_BYTES = [Piece(token, 0.0, "BYTE") for token in BYTES]
_BYTE_FALLBACK = "model/bpe/byte_fallback"


@dataclass(frozen=True)
class _Vocabulary:
    """The content of the file: the name of the tokenizer, its tokens in the order of their ids, and more."""

    tokenizer: str
    pieces: list[Piece]
    flags: Mapping[str, bool] = field(default_factory=dict)
    merges: tuple[str, ...] = ()
    pre_tokenizer: str = "default"
    maps_white_space: bool = False


def write(content: Mapping[str, Any]) -> dict[str, Any]:
    """Write a model of the fixtures as the file.

    Raises:
        Unsupported: the file cannot express the model.
        DataError: a package is missing.

    >>> write({"type": "unigram"})
    Traceback (most recent call last):
        ...
    tokspec.base.errors.Unsupported: unsupported: vocab.gguf holds a vocabulary, and this model is not trained
    """
    model = fill_defaults(content)
    refuse_untrained(model, FORMAT, "bpe", "wordpiece", "unigram")
    refuse_surrogates(model, FORMAT)
    refuse_components(model, FORMAT, "decoder", "model/bpe/fuse_unk", _BYTE_FALLBACK)
    byte_level = model.get("pre_tokenizer", {}).get("type") == "byte_level"
    vocabulary = _gpt2(model) if model["type"] == "bpe" and byte_level else _WRITERS[model["type"]](model)
    return pack({FORMAT: _file(vocabulary)}, {key: model[key] for key in TOLD if key in model})


def _gpt2(model: Mapping[str, Any]) -> _Vocabulary:
    _refuse_others(model, {"normalizer": None, "unknown_token": None, "byte_fallback": None, **_GPT2})
    merges = [(left, right) for left, right in model.get("merges", [])]
    if not merges:
        raise Unsupported(f"{FORMAT} has a list of merges for a byte-level model, which cannot be empty")
    spaced = [merge for merge in merges if " " in "".join(merge) or "" in merge]
    if spaced:
        raise Unsupported(f"{FORMAT} holds a merge as one string and splits {spaced[0]!r} elsewhere")
    special = _special(model)
    pieces = [Piece(token, 0.0, "CONTROL" if token in special else "NORMAL") for token in model["vocabulary"]]
    return _Vocabulary("gpt2", pieces, merges=tuple(map(" ".join, merges)), pre_tokenizer="gpt-2")


def _llama(model: Mapping[str, Any]) -> _Vocabulary:
    pieces, spaces = pieces_of(model, FORMAT, _BYTE_FALLBACK), spaces_of(model, FORMAT)
    if not spaces.escape_whitespaces:
        raise Unsupported(f"{FORMAT} has {MARK!r} for every space, and this model has no metaspace")
    flags = {"add_space_prefix": spaces.add_dummy_prefix}
    if model["type"] == "unigram":
        removes = spaces.remove_extra_whitespaces
        return _Vocabulary("t5", pieces, {**flags, "remove_extra_whitespaces": removes}, maps_white_space=removes)
    if spaces.remove_extra_whitespaces:
        raise Unsupported(f"{FORMAT} drops no white space in a BPE model, and this pre-tokenizer does")
    if model.get("byte_fallback"):
        return _Vocabulary("llama", pieces, flags)
    if "unknown_token" in model:
        raise Unsupported(f"{FORMAT} writes unknown characters of a BPE model as bytes, not as an unknown token")
    both = {piece.token for piece in pieces} & {piece.token for piece in _BYTES}
    if both:
        raise Unsupported(f"{FORMAT} has {min(both)!r} for a byte, and this model for a token")
    return _Vocabulary("llama", [*pieces, *_BYTES], flags)


def _bert(model: Mapping[str, Any]) -> _Vocabulary:
    _refuse_others(model, {**_BERT, "unknown_token": model["unknown_token"]})
    special = {*_special(model), model["unknown_token"]}
    if model["unknown_token"] not in model["vocabulary"]:
        raise Unsupported(f"{FORMAT} wants the id of {model['unknown_token']!r}, which is not in the vocabulary")
    pieces = [_word_piece(token, special, model["unknown_token"]) for token in model["vocabulary"]]
    if len({piece.token for piece in pieces}) < len(pieces):
        raise Unsupported(f"{FORMAT} marks the start of a word by {MARK!r}, and two tokens are then the same")
    return _Vocabulary("bert", pieces)


def _word_piece(token: str, special: set[str], unknown: str) -> Piece:
    """Write a token as llama.cpp does: the start of a word has a mark, and its continuation has none."""
    if token in special:
        return Piece(token, 0.0, "UNKNOWN" if token == unknown else "CONTROL")
    return Piece(token.removeprefix("##") if token.startswith("##") else MARK + token, 0.0)


_WRITERS: Mapping[str, Callable[[Mapping[str, Any]], _Vocabulary]] = {
    "bpe": _llama,
    "unigram": _llama,
    "wordpiece": _bert,
}


def _refuse_others(model: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for key, value in wanted.items():
        if model.get(key) != value:
            raise Unsupported(f"{FORMAT} does not support the {key.replace('_', ' ')} setting of this model")


def _special(model: Mapping[str, Any]) -> list[str]:
    special: list[str] = model.get("special_tokens", [])
    outside = [token for token in special if token not in model["vocabulary"]]
    if outside:
        raise Unsupported(f"the special token {outside[0]!r} is not in the vocabulary")
    return special


def _file(vocabulary: _Vocabulary) -> bytes:
    gguf = import_package("gguf", FORMAT)
    with TemporaryDirectory() as folder:
        file = Path(folder) / FORMAT
        writer = gguf.GGUFWriter(file, vocabulary.tokenizer)
        writer.add_tokenizer_model(vocabulary.tokenizer)
        writer.add_tokenizer_pre(vocabulary.pre_tokenizer)
        writer.add_token_list([piece.token for piece in vocabulary.pieces])
        writer.add_token_scores([piece.score for piece in vocabulary.pieces])
        writer.add_token_types([gguf.TokenType[piece.kind] for piece in vocabulary.pieces])
        writer.add_token_merges(vocabulary.merges)
        for name, value in {"add_bos_token": False, "add_eos_token": False, **vocabulary.flags}.items():
            writer.add_bool(f"tokenizer.ggml.{name}", value)
        if vocabulary.maps_white_space:
            writer.add_precompiled_charsmap(WHITE_SPACE)
        for id, piece in enumerate(vocabulary.pieces):
            if piece.kind == "UNKNOWN":
                writer.add_unk_token_id(id)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return file.read_bytes()
