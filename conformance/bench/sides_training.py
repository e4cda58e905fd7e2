"""Training, by the reference and its peers: each function prepares a side, and gives what is measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from sides_shared import BYTE_LEVEL, CHOICES, Sized, Work, corpus, words_of

import tokfast
import tokref
from tokfast import FastTokenizer
from tokref import Choices, Target, Unigram, from_mapping
from tokref.unigram import loss_increase
from tokref.values import Words

__all__ = ["SIDES"]


def train_reference(text: str, merges: str, tie: str) -> Work:
    size = len({*text.encode()}) + int(merges)
    documents = corpus(text)
    tokenizer = FastTokenizer(BYTE_LEVEL, Choices())

    def work() -> list[list[str]]:
        words = tokenizer.count_words(documents)
        steps = tokfast.train_bpe(words, [], Target(vocabulary_size=size), CHOICES[tie]).steps
        return [[left, right] for left, right, _ in steps]

    return work


def train_tokenizers(text: str, merges: str) -> Work:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    size = len({*text.encode()}) + int(merges)
    documents = corpus(text)

    def work() -> Any:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=1, show_progress=False)
        tokenizer.train_from_iterator(documents, trainer)
        return lambda: json.loads(tokenizer.to_str())["model"]["merges"]

    return work


def train_merges(text: str, merges: str) -> Work:
    """Train on words that are counted already."""
    return merges_by(tokfast.train_bpe, text, merges)


def train_naively(text: str, merges: str) -> Work:
    return merges_by(tokref.train_bpe, text, merges)


def merges_by(train: Callable[..., tokref.BpeTraining], text: str, merges: str) -> Work:
    words = words_of(text)
    target = Target(vocabulary_size=len({*text.encode()}) + int(merges))
    return lambda: [[left, right] for left, right, _ in train(words, [], target, Choices()).steps]


def wordpiece_training(text: str, merges: str) -> Work:
    words = words_of(text, from_mapping({"pre_tokenizer": {"type": "bert"}}))
    target = Target(merge_count=int(merges))
    return Sized(symbols(words), lambda: tokfast.train_wordpiece(words, [], target, "##").vocabulary)


def unigram_training(text: str, size: str) -> Work:
    words = words_of(text)
    train = tokfast.train_unigram
    return Sized(symbols(words), lambda: tuple(train(words, int(size), int(size) * 9 // 10, 0.1).model.weights))


def symbols(words: Words) -> int:
    """Count the symbols of distinct words, which are what training on counted words goes through."""
    return sum(map(len, words))


def first_words(text: str, words: str) -> Words:
    return dict(islice(words_of(text).items(), int(words)))


def losses(text: str, tokens: str, words: str) -> tuple[Words, Unigram]:
    some = first_words(text, words)
    return some, tokfast.initial_vocabulary(some, int(tokens))


def losses_reference(text: str, tokens: str, words: str, every: str) -> Work:
    some, model = losses(text, tokens, words)
    return lambda: [*tokfast.loss_increases(some, model).items()][:: int(every)]


def losses_naively(text: str, tokens: str, words: str, every: str) -> Work:
    """Remove one token of so many, and segment all words for each."""
    some, model = losses(text, tokens, words)
    removable = [token for token in model.weights if len(token) > 1]
    return lambda: [(token, loss_increase(some, model, token)) for token in removable[:: int(every)]]


def prune_reference(text: str, tokens: str, words: str) -> Work:
    some = first_words(text, words)
    return lambda: tokfast.prune_step(some, tokfast.initial_vocabulary(some, int(tokens)), 0.1)[0]


def prune_naively(text: str, tokens: str, words: str) -> Work:
    some = first_words(text, words)
    return lambda: tokref.prune_step(some, tokref.unigram.initial_vocabulary(some, int(tokens)), 0.1)[0]


SIDES: Mapping[str, Callable[..., Work]] = {
    "train_reference": train_reference,
    "train_tokenizers": train_tokenizers,
    "train_naively": train_naively,
    "train_merges": train_merges,
    "wordpiece_training": wordpiece_training,
    "unigram_training": unigram_training,
    "losses_reference": losses_reference,
    "losses_naively": losses_naively,
    "prune_reference": prune_reference,
    "prune_naively": prune_naively,
}
