"""The adapter for ``tiktoken``, written for version 0.14.0.

The library knows bytes. Tokens are reported in the byte alphabet of the fixtures, in which the file of ranks stands for
them; the pattern is the one that the library itself has for GPT-2.

It cuts by any pattern, and tells its pieces to nobody. Where every piece that there could be is a token, it gives the
pieces as tokens: so ``pre_tokenize`` asks it, and then by longer patterns where each piece was. What a pattern does not
match it drops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import version
from itertools import accumulate
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode
from tokspec.formats.tiktoken_ranks import to_bytes
from tokspec.published.sharing import NO_RANKS, Ranks, read_ranks

#: The options that the library takes, measured with version 0.14.0.
CHOICES = {
    "pattern_posix_class": "ascii",
    "bpe_pairs": "in_vocabulary",
    "bpe_merge_order": "lowest_rank",
    "byte_level_added_tokens": "utf_8",
    "unknown_id": "error",
    "offset_unit": "code_point",
}

#: What every program of ranks has: ids with holes, whole pieces before merges, and tokens outside the vocabulary.
COMPONENTS = ("vocabulary_ids", "model/bpe/ignore_merges", "added_tokens/content", "added_tokens/id")

#: The longest text of which all parts are made tokens.
_LONGEST = 500


#: The pattern of GPT-2, which versions before 0.8 have in no constant.
_GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


class TiktokenAdapter:
    """``tiktoken``: byte-level BPE by ranks, in Rust."""

    def __init__(self) -> None:
        self._library: Any = import_module("tiktoken")
        self._pattern: str = getattr(import_module("tiktoken_ext.openai_public"), "r50k_pat_str", _GPT2)

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="tiktoken",
            version=version("tiktoken"),
            language="Python, Rust",
            operations=("pre_tokenize", "encode", "encode_batch", "decode", "decode_bytes", "decode_with_offsets"),
            formats=("vocab.tiktoken", "tokspec"),
            choices=CHOICES,
            encode_fields=("tokens", "ids"),
            encode_options=("allowed_special", "disallowed_special"),
            components=(*COMPONENTS, "pre_tokenizer/split"),
        )

    def load(self, format: str, content: Any) -> Any:
        """Make an encoding of ranks, or take the pattern of a model without a vocabulary.

        Raises:
            Unsupported: the model has a stage that the library lacks.
        """
        if format == "tokspec":
            return _pattern(content)
        ranks = read_ranks(content, self._pattern)
        encoding = self._library.Encoding(
            "fixture", pat_str=ranks.pattern, mergeable_ranks=ranks.ranks, special_tokens=ranks.special_tokens
        )
        return encoding, ranks

    def encoder(self, model: tuple[Any, Ranks]) -> Callable[[str], list[int]]:
        """Return a function from a text to its ids, for callers that encode millions of texts."""
        return partial(model[0].encode, allowed_special="all")

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``unknown_id`` for what is not in the vocabulary, and ``unsupported`` with the reason.
        """
        if (operation == "pre_tokenize") != isinstance(model, str):
            raise Unsupported("cuts by a pattern alone, and has no model without a vocabulary")
        if operation == "pre_tokenize":
            require_unicode(input)
            return {"pieces": self._pieces(model, input["text"])}
        encoding, ranks = model
        if operation == "encode":
            return _encoding(_encode(encoding, input), ranks.tokens())
        if operation == "encode_batch":
            names = ranks.tokens()
            return {"encodings": [_encoding(ids, names) for ids in _encode_batch(encoding, input)]}
        if not ranks.decodes:
            raise Unsupported("decodes bytes, and puts no spaces between tokens")
        try:
            ids = input["ids"] if "ids" in input else [_id(encoding, ranks, token) for token in input["tokens"]]
            if operation == "decode_bytes":
                return {"bytes": encoding.decode_bytes(ids).hex()}
            if operation == "decode_with_offsets":
                text, offsets = encoding.decode_with_offsets(ids)
                return {"text": text, "offsets": offsets}
            return {"text": encoding.decode(ids)}
        except UnicodeDecodeError as error:  # of offsets, which are those of a text
            raise Refusal("invalid_input", str(error)) from error
        except (KeyError, OverflowError) as error:
            raise Refusal("unknown_id", str(error)) from error

    def _pieces(self, pattern: str, text: str) -> list[tuple[str, int, int]]:
        if len(text) > _LONGEST:
            raise Unsupported(f"is asked for pieces of texts of at most {_LONGEST} characters")
        matches = self._matches(pattern, text)
        if "".join(matches) == text:  # nothing was dropped, and each piece begins where the one before ends
            ends = list(accumulate(map(len, matches)))
            return list(zip(matches, [0, *ends], ends, strict=False))
        places, at = [], 0
        for piece in self._matches(f"(?:{pattern})|(?s:.)", text):
            # This finds what the pattern matches, but not where: so ask whether it matches here.
            if self._matches(rf"(?<=\A(?s:.{{{at}}}))(?:{pattern})", text):
                places.append((piece, at, at + len(piece)))
            at += len(piece)
        if [piece for piece, _, _ in places] != matches:
            raise AssertionError("the places are not those of the pieces")
        return places

    def _matches(self, pattern: str, text: str) -> list[str]:
        """Return the pieces of a text, all parts of which are tokens."""
        starts = range(len(text))
        parts = {text[start:end].encode() for start in starts for end in range(start + 1, len(text) + 1)} or {b" "}
        ranks = {part: rank for rank, part in enumerate(sorted(parts))}
        try:
            encoding = self._library.Encoding("pieces", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        except ValueError as error:  # its expressions are others than the model's
            raise Unsupported(f"does not read the pattern: {error}") from None
        return [part.decode() for part in encoding.decode_tokens_bytes(encoding.encode_ordinary(text))]


def _encode(encoding: Any, input: Mapping[str, Any]) -> list[int]:
    """Encode a text; without options all special tokens are found, and none is disallowed."""
    if _is_ordinary(input):
        return list(encoding.encode_ordinary(input["text"]))
    return list(_unless_disallowed(lambda: encoding.encode(input["text"], **_options(input))))


def _encode_batch(encoding: Any, input: Mapping[str, Any]) -> list[list[int]]:
    """Encode texts as one is encoded."""
    texts = [each["text"] for each in input["inputs"]]
    if _is_ordinary(input):
        return list(encoding.encode_ordinary_batch(texts))
    return list(_unless_disallowed(lambda: encoding.encode_batch(texts, **_options(input))))


def _is_ordinary(input: Mapping[str, Any]) -> bool:
    return input.get("allowed_special") == [] and "disallowed_special" not in input


def _options(input: Mapping[str, Any]) -> dict[str, Any]:
    allowed = input.get("allowed_special", "all")
    return {
        "allowed_special": "all" if allowed == "all" else set(allowed),
        "disallowed_special": input.get("disallowed_special", ()),
    }


def _unless_disallowed(encode: Callable[[], Any]) -> Any:
    try:
        return encode()
    except ValueError as error:
        if "disallowed special token" not in str(error):
            raise
        raise Refusal("invalid_input", str(error).partition("\n")[0]) from error


def _encoding(ids: list[int], names: Mapping[int, str]) -> dict[str, Any]:
    return {"tokens": [names[id] for id in ids], "ids": ids}


def _pattern(content: Mapping[str, Any]) -> str:
    """Return the pattern of a model that consists of it."""
    if "vocabulary" in content or "tokens" in content:
        raise Unsupported(NO_RANKS)
    part = content.get("pre_tokenizer", {})
    drops = {"removed": True, "isolated": False}.get(part.get("behavior"))
    if content.keys() != {"pre_tokenizer"} or "regex" not in part.get("pattern", {}) or part["invert"] != drops:
        raise Unsupported("cuts by one pattern, whose matches are the pieces, and has no other stage")
    pattern = str(part["pattern"]["regex"])
    if r"\G" in pattern:
        raise Unsupported(r"does not tell where its pieces stand, and in the longer patterns that do \G is elsewhere")
    return pattern


def _id(encoding: Any, ranks: Ranks, token: str) -> Any:
    known = token if token in ranks.special_tokens else to_bytes(token)
    if known is None:
        raise Unsupported(f"decodes bytes, and {token!r} represents no bytes")
    return encoding.encode_single_token(known)
