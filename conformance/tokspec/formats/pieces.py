"""A model as SentencePiece has it: pieces with scores and kinds over a whole text, in which it marks the spaces.

What ``sentencepiece.model`` and ``vocab.gguf`` share. SentencePiece does not pre-tokenize: where no token goes across a
border of pieces that makes no difference, and where one does the model is refused.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from struct import pack, unpack
from typing import Any
from zlib import decompress

from tokspec.base.errors import Unsupported
from tokspec.formats.text import refuse_surrogates
from tokspec.formats.tiktoken_ranks import refuse_other_merges
from tokspec.formats.vocabulary import refuse_untrained, tokens_of
from tokspec.formats.weights import log_probabilities

__all__ = ["MARK", "NO_UNKNOWN", "PRE_TOKENIZERS", "WHITE_SPACE", "Piece", "Spaces", "pieces_of", "spaces_of"]

#: The character that stands for a space.
MARK = "▁"

#: A map of characters, as SentencePiece compiles it, that makes U+0020 of all other white space (PRE-SPACE-1).
#: A test compiles it again where the library is installed.
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

#: SentencePiece wants an unknown token. This one stands after the last token of a model that has none.
NO_UNKNOWN = "<no unknown token>"


@dataclass(frozen=True)
class Piece:
    """A token with its score; ``kind`` is a name of the types of pieces."""

    token: str
    score: float
    kind: str = "NORMAL"


@dataclass(frozen=True)
class Spaces:
    """What becomes of spaces: a mark before the text, runs made one and ends dropped, and marks for spaces."""

    add_dummy_prefix: bool = False
    remove_extra_whitespaces: bool = False
    escape_whitespaces: bool = False


_MARKED = {"type": "metaspace", "replacement": MARK}

#: The pre-tokenizers that can be said; None is none.
PRE_TOKENIZERS: Mapping[Spaces, Mapping[str, Any] | None] = {
    Spaces(): None,
    Spaces(escape_whitespaces=True): {**_MARKED, "prepend_scheme": "never"},
    Spaces(add_dummy_prefix=True, escape_whitespaces=True): {**_MARKED, "prepend_scheme": "always"},
    Spaces(add_dummy_prefix=True, remove_extra_whitespaces=True, escape_whitespaces=True): {
        "type": "sequence",
        "pre_tokenizers": [{"type": "whitespace_split"}, {**_MARKED, "prepend_scheme": "always"}],
    },
}


def spaces_of(model: Mapping[str, Any], format: str) -> Spaces:
    """Say the pre-tokenizer of a model, with every default filled in, as what becomes of spaces.

    Raises:
        Unsupported: it cannot be said, or the model has a normalizer.

    >>> spaces_of({"type": "bpe"}, "sentencepiece.model")
    Spaces(add_dummy_prefix=False, remove_extra_whitespaces=False, escape_whitespaces=False)
    """
    part = model.get("pre_tokenizer")
    spaces = _spaces(part)
    if "normalizer" in model:
        raise Unsupported(f"{format} is written without a normalizer, and this model has one")
    if spaces is None:
        raise Unsupported(f"{format} has no pre-tokenizer but metaspace with {MARK!r} and that of T5")
    if part is not None and part.get("split", True):
        _refuse_crossing(tokens_of(model), format)
    if spaces.add_dummy_prefix and model.get("special_tokens"):
        raise Unsupported(f"{format} puts {MARK!r} before the whole text only, and before a special token too")
    decoder = model.get("decoder", {})
    if decoder.get("type") == "metaspace" and not spaces.add_dummy_prefix:
        raise Unsupported(f"{format} drops a first {MARK!r} in decoding where it puts one, and here it puts none")
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
    """Refuse tokens that would lie across a border of pieces (ENC-1)."""
    crossing = [token for token in tokens if MARK in token[1:]]
    if crossing:
        raise Unsupported(f"{format} does not split at {MARK!r}, and {crossing[0]!r} goes across it")
    if MARK not in tokens:
        raise Unsupported(f"{format} does not split at {MARK!r}, which is not in the vocabulary")


def pieces_of(model: Mapping[str, Any], format: str) -> list[Piece]:
    """Return the tokens of a model, with every default filled in, as pieces; their places are their ids.

    A BPE token's score is its id, negative: the pair whose concatenation has the highest score is merged next.

    Raises:
        Unsupported: they cannot express the model.

    >>> pieces_of({"type": "bpe", "vocabulary": ["u", "g"]}, "sentencepiece.model")[1:]
    [Piece(token='g', score=-1.0, kind='NORMAL'), Piece(token='<no unknown token>', score=0.0, kind='UNKNOWN')]
    """
    refuse_untrained(model, format, "bpe", "unigram")
    refuse_surrogates(model, format)
    tokens, special = tokens_of(model), model.get("special_tokens", [])
    unknown = model.get("unknown_token")
    kinds = {**dict.fromkeys(tokens, "NORMAL"), **dict.fromkeys(special, "USER_DEFINED")}
    if unknown is not None:
        kinds[unknown] = "UNKNOWN"
    if unknown in special:
        raise Unsupported(f"{format} never finds the unknown token in a text, and here {unknown!r} is special too")
    _refuse_tokens(kinds, tokens, format)
    if model["type"] == "bpe":
        ordinary = [token for token in tokens if kinds[token] == "NORMAL"]
        refuse_other_merges(ordinary, model.get("merges", []), format)
        scores = [-float(id) for id in range(len(tokens))]
    else:
        scores = [_score(token, weight, format) for token, weight in log_probabilities(model, format)]
    pieces = [Piece(token, score, kinds[token]) for token, score in zip(tokens, scores, strict=True)]
    return pieces if unknown is not None else [*pieces, Piece(NO_UNKNOWN, 0.0, "UNKNOWN")]


def _refuse_tokens(kinds: Mapping[str, str], tokens: Sequence[str], format: str) -> None:
    outside = [token for token in kinds if token not in tokens]
    if outside:
        raise Unsupported(f"{format} has no token outside the vocabulary, where this model has {outside[0]!r}")
    unfit = [token for token in tokens if token in ("", NO_UNKNOWN) or "\0" in token]
    if unfit:
        raise Unsupported(f"{format} cannot hold the token {unfit[0]!r}")


def _score(token: str, weight: float, format: str) -> float:
    """Round to the nearest number of 32 bits, which is all that these formats hold."""
    try:
        (score,) = unpack("<f", pack("<f", weight))
    except OverflowError:
        raise Unsupported(f"{format} holds numbers of 32 bits, and the weight of {token!r} is beyond them") from None
    return float(score)
