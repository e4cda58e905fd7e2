"""What the measured sides share: how text becomes a corpus, GPT-2's vocabulary, and the choices that are compared."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import tokref
from tokref import Choices, Tokenizer

__all__ = ["CHOICES", "Sized", "Work", "corpus", "documents_module", "encoding", "gpt2", "words_of"]

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


def corpus(text: str) -> list[str]:
    """Cut a text into documents."""
    documents, begin = [], 0
    while begin < len(text):
        end = text.find("\n", begin + DOCUMENT) + 1 or len(text)
        documents.append(text[begin:end])
        begin = end
    return documents


def words_of(text: str) -> tokref.Words:
    return tokref.count_words(corpus(text), Tokenizer(pre_tokenizer=tokref.ByteLevel()), Choices())


def gpt2() -> tuple[dict[str, int], list[tuple[str, str]]]:
    folder = Path(sys.argv[2]).parent / "gpt2"
    ids = json.loads((folder / "encoder.json").read_text("utf-8"))
    lines = (folder / "vocab.bpe").read_text("utf-8").splitlines()[1:]
    return ids, [(left, right) for left, right in map(str.split, filter(None, lines))]


def encoding(text: str, tokenizer: Tokenizer, choices: Choices) -> Work:
    tokref.encode_ids("a", tokenizer, choices)
    return lambda: tokref.encode_ids(text, tokenizer, choices)


def documents_module() -> Any:
    """Give the literal procedures of the documents: the oracle of the reference's tests."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "reference" / "tests"))
    return import_module("documents")
