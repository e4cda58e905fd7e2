"""Encoding with GPT-2's vocabulary: each function prepares a side, and gives what is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from sides_shared import BYTE_LEVEL, CHOICES, Work, corpus, encoding, gpt2

from tokfast import FastTokenizer
from tokref import Bpe, Tokenizer
from tokref.pre_tokenization import BYTE_CHARACTERS

__all__ = ["SIDES"]


def tokenizer_gpt2() -> Tokenizer:
    ids, merges = gpt2()
    return replace(BYTE_LEVEL, model=Bpe(ids, tuple(merges)))


def encode_reference(text: str, choices: str) -> Work:
    return encoding(text, tokenizer_gpt2(), CHOICES[choices])


def encode_spans(text: str, choices: str) -> Work:
    fast = FastTokenizer(tokenizer_gpt2(), CHOICES[choices])
    fast.encode("a")
    return lambda: [token.id for token in fast.encode(text)]


def tokenizers_gpt2() -> Any:
    """Return GPT-2's tokenizer of tokenizers."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    ids, merges = gpt2()
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def encode_tokenizers(text: str) -> Work:
    """Encode with all that comes with it: tokens, spans, masks."""
    tokenizer = tokenizers_gpt2()
    tokenizer.encode("a")
    return lambda: tokenizer.encode(text).ids


def encode_tokenizers_ids(text: str) -> Work:
    """Encode by the way that leaves the spans out; it is for several texts at once."""
    encode = tokenizers_gpt2().encode_batch_fast
    encode(["a"], add_special_tokens=False)
    return lambda: encode([text], add_special_tokens=False)[0].ids


def tiktoken_gpt2() -> Any:
    return import_module("tiktoken").Encoding("gpt2", **tiktoken_arguments(), special_tokens={})


def encode_tiktoken(text: str) -> Work:
    encoding = tiktoken_gpt2()
    encoding.encode_ordinary("a")
    return lambda: encoding.encode_ordinary(text)


def documents_reference(text: str, size: str) -> Work:
    """Encode one short document after the other, each by a call of its own."""
    fast, documents = FastTokenizer(tokenizer_gpt2(), CHOICES["listed"]), corpus(text, int(size))
    fast.encode_ids("a")
    return lambda: [fast.encode_ids(document) for document in documents]


def documents_tokenizers(text: str, size: str) -> Work:
    tokenizer, documents = tokenizers_gpt2(), corpus(text, int(size))
    tokenizer.encode("a")
    return lambda: [tokenizer.encode(document).ids for document in documents]


def documents_tiktoken(text: str, size: str) -> Work:
    encode, documents = tiktoken_gpt2().encode_ordinary, corpus(text, int(size))
    encode("a")
    return lambda: [encode(document) for document in documents]


def batch_tokenizers(text: str, size: str) -> Work:
    """Encode all documents by one call, which leaves the spans out."""
    encode, documents = tokenizers_gpt2().encode_batch_fast, corpus(text, int(size))
    encode(["a"], add_special_tokens=False)
    return lambda: [encoding.ids for encoding in encode(documents, add_special_tokens=False)]


def batch_tiktoken(text: str, size: str) -> Work:
    encode, documents = tiktoken_gpt2().encode_ordinary_batch, corpus(text, int(size))
    encode(["a"], num_threads=1)
    return lambda: encode(documents, num_threads=1)


def encode_educational(text: str) -> Work:
    encoding = import_module("tiktoken._educational").SimpleBytePairEncoding(**tiktoken_arguments())
    encoding.encode("a", visualise=None)
    return lambda: encoding.encode(text, visualise=None)


def tiktoken_arguments() -> dict[str, Any]:
    """Return GPT-2's ranks and pattern, the latter as tiktoken publishes it."""
    byte_of = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}
    ids = {token: number for token, number in gpt2()[0].items() if token != "<|endoftext|>"}
    ranks = {bytes(map(byte_of.__getitem__, token)): number for token, number in ids.items()}
    pattern = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
    return {"mergeable_ranks": ranks, "pat_str": pattern}


SIDES: Mapping[str, Callable[..., Work]] = {
    "encode_reference": encode_reference,
    "encode_spans": encode_spans,
    "encode_tokenizers": encode_tokenizers,
    "encode_tokenizers_ids": encode_tokenizers_ids,
    "encode_tiktoken": encode_tiktoken,
    "encode_educational": encode_educational,
    "documents_reference": documents_reference,
    "documents_tokenizers": documents_tokenizers,
    "documents_tiktoken": documents_tiktoken,
    "batch_tokenizers": batch_tokenizers,
    "batch_tiktoken": batch_tiktoken,
}
