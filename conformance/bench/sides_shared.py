"""What the measured sides share: how text becomes a corpus, GPT-2's vocabulary, and the choices that are compared."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokfast import FastTokenizer
from tokref import Choices, Tokenizer, from_mapping
from tokref.values import Words

__all__ = ["BERT", "BYTE_LEVEL", "CHOICES", "METASPACE", "Sized", "Work", "corpus", "encoding", "gpt2", "words_of"]

DOCUMENT = 1_000_000  # characters; a corpus is cut at the line ends nearest to that

Work = Callable[[], Any]
"""What is measured; the rest of a side prepares it."""


@dataclass(frozen=True)
class Sized:
    """Work that grows with something else than the text: with so much."""

    size: int
    work: Work

    def __call__(self) -> Any:
        """Do it."""
        return self.work()


CHOICES: Mapping[str, Choices] = {
    "single_pass": Choices(),
    "listed": Choices(bpe_merge_order="lowest_rank", bpe_training_tie="smallest_ids"),
    "in_vocabulary": Choices(bpe_pairs="in_vocabulary"),
    "first_met": Choices(),
    "smallest_ids": Choices(bpe_training_tie="smallest_ids"),
    "run": Choices(unigram_unknown="run", unigram_score_start="zero"),
}


def corpus(text: str, size: int = DOCUMENT) -> list[str]:
    """Cut a text into documents, at the line ends behind so many characters."""
    documents, begin = [], 0
    while begin < len(text):
        end = text.find("\n", begin + size) + 1 or len(text)
        documents.append(text[begin:end])
        begin = end
    return documents


BYTE_LEVEL = from_mapping({"pre_tokenizer": {"type": "byte_level"}})
METASPACE = from_mapping({"pre_tokenizer": {"type": "metaspace"}})
BERT = from_mapping({"normalizer": {"type": "bert"}, "pre_tokenizer": {"type": "bert"}})


def words_of(text: str, tokenizer: Tokenizer = BYTE_LEVEL) -> Words:
    return FastTokenizer(tokenizer, Choices()).count_words(corpus(text))


def gpt2() -> tuple[dict[str, int], list[tuple[str, str]]]:
    folder = Path(sys.argv[2]).parent / "gpt2"
    ids = json.loads((folder / "encoder.json").read_text("utf-8"))
    lines = (folder / "vocab.bpe").read_text("utf-8").splitlines()[1:]
    return ids, [(left, right) for left, right in map(str.split, filter(None, lines))]


def encoding(text: str, tokenizer: Tokenizer, choices: Choices) -> Work:
    fast = FastTokenizer(tokenizer, choices)
    fast.encode_ids("a")
    return lambda: fast.encode_ids(text)
