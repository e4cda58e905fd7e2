"""What several adapters share: what one library takes that others are built on, ranks, and streams by steps."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from tokspec.adapter import Unsupported
from tokspec.formats.tiktoken_ranks import from_bytes, to_bytes

_Stream = TypeVar("_Stream")

#: The options that ``tokenizers`` takes, also within other libraries, measured with version 0.23.3.
TOKENIZERS_CHOICES = {
    "bpe_training_tie": "smallest_ids",
    "bpe_merge_order": "lowest_rank",
    "bpe_pairs": "listed",
    "bpe_unknown_run": "each",
    "bpe_unknown_without_token": "dropped_before_merging",
    "duplicate_token": "last_place",
    "unigram_tie": "earliest_start",
    "unigram_unknown": "run",
    "metaspace_leading_space": "removed_from_first_token",
    "unknown_id": "skipped",
    "unknown_token_text": "surface_in_unigram",
    "truncation_odd": "longer",
    "wordpiece_cleanup": "each_token",
    "final_sigma": "plain",
    "pattern_end": "line",
    "pattern_interval_plus": "repeated",
    "special_not_allowed": "passed_over",
    "trim_offsets": "as_counted",
    "offset_unit": "code_point",
}

#: Everything that the neutral model can have.
ALL_COMPONENTS = (
    "vocabulary_ids",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "model",
    "post_processor",
    "truncation",
    "padding",
    "decoder",
)

#: What is said of a model that has a vocabulary, and not as the library takes one.
NO_RANKS = "takes a vocabulary as ranks of bytes alone, and this model has another"


def steps_of(input: Mapping[str, Any]) -> Sequence[Sequence[int]]:
    """Return the steps of a stream, each a list of ids.

    >>> steps_of({"ids": [1, 2]})
    [[1], [2]]
    """
    steps: Sequence[Sequence[int]] = input["id_steps"] if "id_steps" in input else [[id] for id in input["ids"]]
    return steps


def require_end(input: Mapping[str, Any]) -> None:
    """Refuse a stream without an end, for a library that holds text back until the end of a stream.

    >>> require_end({"ids": [1], "end": True})

    Raises:
        Unsupported: the stream is not to be ended.
    """
    if not input.get("end", False):
        raise Unsupported("has streams that are ended, and holds text back until then")


def streamed(
    input: Mapping[str, Any],
    new: Callable[[], _Stream],
    add: Callable[[_Stream, Sequence[int]], str],
    end: Callable[[_Stream], str],
) -> dict[str, Any]:
    """Put all steps into a stream, and the ids of ``beside`` into another before them; then end it, if the input does.

    >>> streamed({"ids": [1, 2], "end": True}, list, lambda stream, ids: f"+{ids}", lambda stream: "!")
    {'parts': ['+[1]', '+[2]'], 'end': '!'}
    >>> streamed({"ids": [1, 2]}, list, lambda stream, ids: f"+{ids}", lambda stream: "!")
    {'parts': ['+[1]', '+[2]']}
    """
    stream, other, others = new(), new(), iter(input.get("beside", []))
    parts = []
    for step in steps_of(input):
        for id in others:
            add(other, [id])
            break
        parts.append(add(stream, step))
    return {"parts": parts, "end": end(stream)} if input.get("end", False) else {"parts": parts}


@dataclass(frozen=True)
class Ranks:
    """The arguments of the library that a file of ranks and its ``beside`` give."""

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
    r"""Take the content of the format ``vocab.tiktoken`` apart; the pattern is GPT-2's, or that of a user's own file.

    Raises:
        Unsupported: the model has a stage that the library lacks.

    >>> stages = {"pre_tokenizer": {"type": "byte_level", "add_prefix_space": False, "use_regex": False}}
    >>> read_ranks({"files": {"vocab.tiktoken": "dQ== 0\n"}, "beside": stages}, "").ranks
    {b'u': 0}
    """
    beside = content["beside"]
    if "normalizer" in beside:
        raise Unsupported("has no normalizers")
    cut = beside.get("pre_tokenizer", {"type": "byte_level"})
    if cut.get("add_prefix_space"):
        raise Unsupported("puts no space before a text")
    if cut["type"] != "byte_level":
        raise Unsupported("has one pattern, and no pre-tokenizer before it")
    lines = [line.split() for line in content["files"]["vocab.tiktoken"].splitlines()]
    ranks = {b64decode(token): int(rank) for token, rank in lines}
    added = {token["content"]: token for token in beside.get("added_tokens", ())}
    return Ranks(
        ranks=ranks,
        special_tokens={
            **beside.get("special_tokens", {}),
            **{
                content: token["id"] if "id" in token else ranks[to_bytes(content) or b""]
                for content, token in added.items()
            },
        },
        pattern=beside.get("pattern") or (pattern if cut["use_regex"] else r"(?s:.+)"),
        decodes="pattern" in beside or beside.get("decoder", {}).get("type") == "byte_level",
    )


def ids_in(content: Mapping[str, Any]) -> Mapping[str, int]:
    """Return the ids of the tokens of a ``tokenizer.json``, added ones too."""
    vocab = content["model"]["vocab"]
    found = vocab if isinstance(vocab, Mapping) else {token: id for id, (token, _) in enumerate(vocab)}
    return {**found, **{token["content"]: token["id"] for token in content.get("added_tokens", ())}}


def ids_in_cpp(input: Mapping[str, Any], bits: int) -> list[int]:
    """Return the ids to decode, for a library in C++ that takes ids of this many bits, and no tokens.

    >>> ids_in_cpp({"ids": [7, 2]}, 32)
    [7, 2]

    Raises:
        Unsupported: the input has tokens in place of ids, or an id does not fit.
    """
    if "tokens" in input:
        raise Unsupported("decodes ids, and no tokens")
    if any(id >= 2**bits for id in input["ids"]):
        raise Unsupported(f"takes ids of {bits} bits, as its library in C++ has them")
    return list(input["ids"])


def split_special_tokens(options: Mapping[str, Any]) -> dict[str, bool]:
    """Say which special tokens are found, as an argument of a call.

    >>> split_special_tokens({"allowed_special": []})
    {'split_special_tokens': True}
    """
    allowed = options.get("allowed_special", "all")
    if allowed not in ("all", []):
        raise Unsupported("finds all special tokens in a text or none")
    return {} if allowed == "all" else {"split_special_tokens": True}
