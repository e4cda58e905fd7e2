"""The adapter for ``sentencepiece``, written for version 0.2.3.

The library does not pre-tokenize, so a model is offered only where that makes no difference. Its normalizers are NFKC,
by its own table, and whatever character map a model has. The score of a segmentation is its sum of logarithms, with the
opposite sign. The library does not give the probability of a token or a segmentation, for which the adapter would have
to compute an exponential, nor the places of decoded ids in bytes, nor a table of Viterbi.

Its trainer is not asked. A model of BPE that it makes has tokens with scores and no merges, which ``train`` gives; one
of Unigram comes of another algorithm than UNI-PRUNE's, and has logarithms in place of frequencies. Sampling is at
random, and the suite has no such operation.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from inspect import signature
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode
from tokspec.base.errors import MissingModule
from tokspec.formats.sentencepiece_model import MARK

#: The options that the library takes, measured with version 0.2.3.
CHOICES = {
    "bpe_merge_order": "lowest_rank",
    "bpe_pairs": "in_vocabulary",
    "bpe_unknown_run": "fused",
    "unigram_tie": "earliest_start",
    "unigram_unknown": "run",
    "unigram_unknown_score": "known",
    "metaspace_leading_space": "as_put",
    "unknown_id": "error",
    "unknown_token_text": "surface",
    "byte_fallback_invalid": "byte",
    "offset_unit": "code_point",
}

#: The normalizers that the library knows by name, without what it does to spaces.
_NORMALIZERS = ("nfkc",)
#: What its exceptions say when they are refusals.
_INVALID = ("is already defined", "normalization rule is broken", "Trie data size")

#: How it decodes: a first mark is dropped, others are spaces, and runs of bytes become characters.
_DECODERS: tuple[Mapping[str, Any], ...] = (
    {"type": "metaspace", "replacement": MARK},
    {
        "type": "sequence",
        "decoders": [
            {"type": "replace", "pattern": {"string": MARK}, "content": " "},
            {"type": "byte_fallback"},
            {"type": "fuse"},
            {"type": "strip", "content": " ", "start": 1, "stop": 0},
        ],
    },
)
_COMPONENTS = (
    *("normalizer/precompiled", "normalizer/sentencepiece", "decoder/sentencepiece", "model/bpe/scores"),
    *(
        "model/bpe/piece_types",
        "model/unigram/piece_types",
        "model/bpe/fuse_unk",
        "model/bpe/byte_fallback",
        "model/unigram/byte_fallback",
    ),
    *("decoder/sequence", "decoder/replace", "decoder/byte_fallback", "decoder/fuse", "decoder/strip"),
)
_NO_SPACES: Mapping[str, bool] = dict.fromkeys(
    ("add_dummy_prefix", "escape_whitespaces", "remove_extra_whitespaces"), False
)

#: The default for ``beside``, which a content lacks if its file has what the specification does not cover.
_AS_IN_THE_FILE: Mapping[str, Any] = {"unknown_token": None, "decoder": {"type": "metaspace", "replacement": MARK}}


class SentencePieceAdapter:
    """``sentencepiece``: BPE and Unigram over whole texts, in C++.

    Raises:
        MissingModule: the library is older than what is called here, so that every request would crash.
    """

    def __init__(self) -> None:
        self._library: Any = import_module("sentencepiece")
        is_old = not hasattr(self._library, "ImmutableSentencePieceText")
        if is_old and not _has_mappings(self._library.SentencePieceProcessor):
            lacks = "gives no tokens with their spans"
            raise MissingModule(f"sentencepiece {version('sentencepiece')} {lacks}")

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="sentencepiece",
            version=version("sentencepiece"),
            language="Python, C++",
            operations=("normalize", "encode", "encode_batch", "decode", "nbest", "segment"),
            formats=("sentencepiece.model", "tokspec"),
            choices=CHOICES,
            encode_fields=("tokens", "ids", "spans"),
            components=_COMPONENTS,
            reads_file=True,
        )

    def load(self, format: str, content: Any) -> Any:
        """Load a model, or make the normalizer of a model without a vocabulary.

        Raises:
            Refusal: ``invalid_model``, for a token that is listed twice and a broken character map; ``unsupported``,
                for a model or normalizer that the library lacks.
        """
        if format == "tokspec":
            part = content.get("normalizer", {})
            if "type" in content or part.get("type") not in (*_NORMALIZERS, "precompiled", "sentencepiece"):
                raise Unsupported("has no such model, and of normalizers alone NFKC, character maps and its own")
            if not hasattr(self._library, "SentencePieceNormalizer"):
                raise Unsupported("has no normalizer without a model in this version")
            if part["type"] == "sentencepiece" and part["treat_whitespace_as_suffix"]:
                raise Unsupported("puts a mark behind the text with a model only")
            spaces = {key: part.get(key, value) for key, value in _NO_SPACES.items()}
            of = {"model_proto": _with_map(part["charsmap"])} if "charsmap" in part else {"rule_name": part["type"]}
            return _loaded(lambda: self._library.SentencePieceNormalizer(**of, **spaces)), content
        proto = b64decode(content["files"]["sentencepiece.model"]["base64"])
        processor = _loaded(lambda: self._library.SentencePieceProcessor(model_proto=proto))
        return processor, content.get("beside", _AS_IN_THE_FILE)

    def encoder(self, model: tuple[Any, Mapping[str, Any]]) -> Callable[[str], list[int]]:
        """Return a function from a text to its ids, for callers that encode millions of texts."""
        encode: Callable[[str], list[int]] = model[0].encode
        return encode

    def run(self, operation: str, model: tuple[Any, Mapping[str, Any]], input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``unknown_symbol``, ``unknown_id``, and ``unsupported`` with the reason.
        """
        require_unicode(input)
        library, beside = model
        if not isinstance(library, self._library.SentencePieceProcessor) and operation != "normalize":
            raise Unsupported("needs a model for all but normalizing")
        if operation == "normalize":
            if not hasattr(library, "normalize"):
                raise Unsupported("does not normalize in this version")
            if "type" in beside and "normalizer" not in beside:
                raise Unsupported("makes marks of spaces when it normalizes with a model")
            return {"text": library.normalize(input["text"])}
        return _OPERATIONS[operation](library, beside, input)


def _loaded(load: Callable[[], Any]) -> Any:
    try:
        return load()
    except RuntimeError as error:
        if any(part in str(error) for part in _INVALID):
            raise Refusal("invalid_model", str(error)) from error
        raise


def _with_map(charsmap: str) -> bytes:
    """Return a model that consists of a character map."""
    message = import_module("sentencepiece.sentencepiece_model_pb2").ModelProto()
    message.normalizer_spec.name = "user_defined"
    message.normalizer_spec.precompiled_charsmap = b64decode(charsmap)
    return bytes(message.SerializeToString())


def _has_mappings(processor: Any) -> bool:
    """Whether it is of version 0.2.2 or later, which give what is asked for by ``return_type``."""
    return "return_type" in signature(processor.encode).parameters


def _encode(processor: Any, beside: Mapping[str, Any], input: Mapping[str, Any]) -> dict[str, Any]:
    if not _has_mappings(processor):
        pieces = processor.encode(input["text"], out_type="immutable_proto").pieces
        spans = [[piece.begin, piece.end] for piece in pieces]
        return {"tokens": [piece.piece for piece in pieces], "ids": [piece.id for piece in pieces], "spans": spans}
    return _fields(processor.encode(input["text"], return_type="offset_mapping"))


def _encode_batch(processor: Any, beside: Mapping[str, Any], input: Mapping[str, Any]) -> dict[str, Any]:
    if not _has_mappings(processor):
        return {"encodings": [_encode(processor, beside, each) for each in input["inputs"]]}
    found = processor.encode([each["text"] for each in input["inputs"]], return_type="offset_mapping")
    return {"encodings": [_fields(each) for each in found]}


def _fields(found: Mapping[str, Any]) -> dict[str, Any]:
    return {"tokens": found["pieces"], "ids": found["ids"], "spans": found["offsets"]}


def _segment(processor: Any, beside: Mapping[str, Any], input: Mapping[str, Any]) -> dict[str, Any]:
    how = {"return_type": "proto"} if _has_mappings(processor) else {"out_type": "immutable_proto"}
    # Of encoding, and of one best segmentation, the score is 0 whatever it is: only two or more are given theirs.
    best = processor.nbest_encode(input["word"], nbest_size=2, **how).nbests[0]
    return {"tokens": [piece.piece for piece in best.pieces], "score": -best.score}


def _nbest(processor: Any, beside: Mapping[str, Any], input: Mapping[str, Any]) -> dict[str, Any]:
    how = {"return_type": "proto"} if _has_mappings(processor) else {"out_type": "immutable_proto"}
    found = processor.nbest_encode(input["word"], nbest_size=input["nbest_size"], **how)
    return {"segmentations": [[piece.piece for piece in each.pieces] for each in found.nbests]}


def _decode(processor: Any, beside: Mapping[str, Any], input: Mapping[str, Any]) -> dict[str, Any]:
    if beside.get("decoder") not in _DECODERS and beside.get("decoder", {}).get("type") != "sentencepiece":
        raise Unsupported(f"decodes {MARK!r} as a space, whatever the model")
    if "tokens" in input:
        return {"text": processor.decode_pieces(list(input["tokens"]))}
    if any(id >= 2**31 for id in input["ids"]):
        raise Unsupported("takes ids of 32 bits, as its library in C++ has them")
    try:
        return {"text": processor.decode(list(input["ids"]))}
    except IndexError as error:
        raise Refusal("unknown_id", str(error)) from error


_OPERATIONS = {
    "encode": _encode,
    "encode_batch": _encode_batch,
    "decode": _decode,
    "nbest": _nbest,
    "segment": _segment,
}
