"""Training, by the reference and its peers: each function prepares a side, and gives what is measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from sides_shared import CHOICES, Sized, Work, corpus, documents_module, words_of

import tokref
from tokref import Choices, Target, Tokenizer

__all__ = ["SIDES"]


def train_reference(text: str, merges: str, tie: str) -> Work:
    size = len({*text.encode()}) + int(merges)
    documents = corpus(text)
    tokenizer = Tokenizer(pre_tokenizer=tokref.ByteLevel())

    def work() -> list[list[str]]:
        words = tokref.count_words(documents, tokenizer, Choices())
        steps = tokref.train_bpe(words, [], Target(vocabulary_size=size), CHOICES[tie]).steps
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


def train_documents(text: str, merges: str) -> Work:
    words = words_of(text)
    size = len({*text.encode()}) + int(merges)
    steps = documents_module().train_bpe
    return lambda: [[left, right] for left, right, _ in steps(words, [], lambda found, _: found < size)[1]]


def train_merges(text: str, merges: str) -> Work:
    """Train on words that are counted already, as the documents' program is measured."""
    words = words_of(text)
    target = Target(vocabulary_size=len({*text.encode()}) + int(merges))
    return lambda: [[left, right] for left, right, _ in tokref.train_bpe(words, [], target, Choices()).steps]


def wordpiece_training(text: str, merges: str) -> Work:
    words = tokref.count_words(corpus(text), Tokenizer(pre_tokenizer=tokref.BertPreTokenizer()), Choices())
    return Sized(symbols(words), lambda: tokref.train_wordpiece(words, merge_count=int(merges)).vocabulary)


def unigram_training(text: str, size: str) -> Work:
    words = words_of(text)
    train = tokref.train_unigram
    return Sized(symbols(words), lambda: train(words, int(size), int(size) * 9 // 10, 0.1, Choices()).model.vocabulary)


def symbols(words: tokref.Words) -> int:
    """Count the symbols of distinct words, which are what training on counted words goes through."""
    return sum(map(len, words))


def first_words(text: str, words: str) -> tokref.Words:
    return dict(islice(words_of(text).items(), int(words)))


def losses(text: str, tokens: str, words: str) -> tuple[tokref.Words, tokref.Unigram]:
    some = first_words(text, words)
    return some, tokref.initial_vocabulary(some, int(tokens))


def losses_reference(text: str, tokens: str, words: str, every: str) -> Work:
    some, model = losses(text, tokens, words)
    return lambda: [*tokref.loss_increases(some, model, Choices()).items()][:: int(every)]


def losses_documents(text: str, tokens: str, words: str, every: str) -> Work:
    """Remove one token of so many, each as the documents' program does."""
    some, model = losses(text, tokens, words)
    return lambda: [*documents_module().loss_increases(some, model.costs, int(every)).items()]


def prune_reference(text: str, tokens: str, words: str) -> Work:
    some = first_words(text, words)
    return lambda: tokref.prune_step(some, tokref.initial_vocabulary(some, int(tokens)), 0.1, Choices())[0]


def prune_documents(text: str, tokens: str, words: str) -> Work:
    """Prune until there is one token less, which takes one step."""
    some, size = first_words(text, words), int(tokens)
    prune = documents_module().prune
    return lambda: prune(some, size, size - 1, 0.1)[2]


SIDES: Mapping[str, Callable[..., Work]] = {
    "train_reference": train_reference,
    "train_tokenizers": train_tokenizers,
    "train_documents": train_documents,
    "train_merges": train_merges,
    "wordpiece_training": wordpiece_training,
    "unigram_training": unigram_training,
    "losses_reference": losses_reference,
    "losses_documents": losses_documents,
    "prune_reference": prune_reference,
    "prune_documents": prune_documents,
}
