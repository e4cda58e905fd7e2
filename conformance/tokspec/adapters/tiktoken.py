"""The adapter for ``tiktoken``, written for version 0.14.0.

The library knows bytes. Tokens are reported in the byte alphabet of the fixtures, in which the file of ranks stands for
them; the pattern is the one that the library itself has for GPT-2.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from importlib.metadata import version
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported
from tokspec.formats.tiktoken_ranks import from_bytes, to_bytes

__all__ = ["Ranks", "TiktokenAdapter", "read_ranks"]

#: The options that the library takes, measured with version 0.14.0.
CHOICES = {"bpe_pairs": "in_vocabulary", "bpe_merge_order": "lowest_rank", "unknown_id": "error"}


@dataclass(frozen=True)
class Ranks:
    """What a file of ranks and what is told beside it say: arguments of the library."""

    ranks: Mapping[bytes, int]
    special_tokens: Mapping[str, int]
    pattern: str
    decodes: bool

    def tokens(self) -> dict[int, str]:
        """Name the token of every id as the fixtures write it."""
        return self._names

    @cached_property
    def _names(self) -> dict[int, str]:
        return {
            **{id: from_bytes(token) for token, id in self.ranks.items()},
            **{id: token for token, id in self.special_tokens.items()},
        }


def read_ranks(content: Mapping[str, Any], pattern: str) -> Ranks:
    r"""Take the content of the format ``vocab.tiktoken`` apart; the pattern is that of GPT-2.

    Raises:
        Unsupported: the model has a stage that the library has not.

    >>> stages = {"pre_tokenizer": {"type": "byte_level", "add_prefix_space": False, "use_regex": False}}
    >>> read_ranks({"files": {"vocab.tiktoken": "dQ== 0\n"}, "beside": stages}, "").ranks
    {b'u': 0}
    """
    beside = content["beside"]
    if "normalizer" in beside:
        raise Unsupported("has no normalizers")
    if beside["pre_tokenizer"]["add_prefix_space"]:
        raise Unsupported("puts no space before a text")
    lines = [line.split() for line in content["files"]["vocab.tiktoken"].splitlines()]
    return Ranks(
        ranks={b64decode(token): int(rank) for token, rank in lines},
        special_tokens=beside.get("special_tokens", {}),
        pattern=pattern if beside["pre_tokenizer"]["use_regex"] else r"(?s:.+)",
        decodes=beside.get("decoder", {}).get("type") == "byte_level",
    )


class TiktokenAdapter:
    """``tiktoken``: byte-level BPE by ranks, in Rust."""

    def __init__(self) -> None:
        self._library: Any = import_module("tiktoken")
        self._pattern: str = import_module("tiktoken_ext.openai_public").r50k_pat_str

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="tiktoken",
            version=version("tiktoken"),
            language="Rust",
            operations=("encode", "decode"),
            formats=("vocab.tiktoken",),
            choices=CHOICES,
            encode_fields=("tokens", "ids"),
        )

    def load(self, format: str, content: Any) -> tuple[Any, Ranks]:
        """Make an encoding of ranks.

        Raises:
            Unsupported: the model has a stage that the library has not.
        """
        ranks = read_ranks(content, self._pattern)
        encoding = self._library.Encoding(
            "fixture", pat_str=ranks.pattern, mergeable_ranks=ranks.ranks, special_tokens=ranks.special_tokens
        )
        return encoding, ranks

    def encoder(self, model: tuple[Any, Ranks]) -> Callable[[str], list[int]]:
        """Return a function from a text to its ids, for callers that encode millions of texts."""
        return partial(model[0].encode, allowed_special="all")

    def run(self, operation: str, model: tuple[Any, Ranks], input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``unknown_id`` for what is not in the vocabulary, and ``unsupported`` with the reason.
        """
        encoding, ranks = model
        if operation == "encode":
            ids = encoding.encode(input["text"], allowed_special="all")
            names = ranks.tokens()
            return {"tokens": [names[id] for id in ids], "ids": ids}
        if not ranks.decodes:
            raise Unsupported("decodes bytes, and puts no spaces between tokens")
        try:
            ids = input["ids"] if "ids" in input else [_id(encoding, ranks, token) for token in input["tokens"]]
            return {"text": encoding.decode(ids)}
        except (KeyError, OverflowError) as error:
            raise Refusal("unknown_id", str(error)) from error


def _id(encoding: Any, ranks: Ranks, token: str) -> Any:
    known = token if token in ranks.special_tokens else to_bytes(token)
    if known is None:
        raise Unsupported(f"decodes bytes, and {token!r} stands for none")
    return encoding.encode_single_token(known)
