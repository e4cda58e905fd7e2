"""Inputs: a corpus, and when a training stops. They are refused as ``invalid_input``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from tokref.bpe import Target
from tokref.choices import Choices
from tokref.errors import InputError
from tokref.pipeline import count_words
from tokref.reading.shapes import Reader, read_integer, read_list, read_pair, read_text
from tokref.values import Tokenizer, Words


def read_words(corpus: Any, tokenizer: Tokenizer, choices: Choices) -> Words:
    """Read a corpus of either ``words`` with counts or ``texts``.

    Raises:
        InputError: ``invalid_input``, where the corpus is not of that form.

    >>> read_words({"words": [["hug", 10], ["pug", 5], ["hug", 2]]}, Tokenizer(), Choices())
    {'hug': 12, 'pug': 5}
    """
    if not isinstance(corpus, Mapping) or ("words" in corpus) == ("texts" in corpus):
        raise InputError("invalid_input", "a corpus is an object with either words or texts")
    if "texts" in corpus:
        texts = [_as_input(read_text, text) for text in _as_input(read_list, corpus["texts"])]
        return count_words(texts, tokenizer, choices)
    words: dict[str, int] = {}
    for entry in _as_input(read_list, corpus["words"]):
        first, count = _as_input(read_pair, entry)
        word = _as_input(read_text, first)
        words[word] = words.get(word, 0) + _as_input(partial(read_integer, smallest=0), count)  # BPE-TRAIN-15
    return words


def read_target(given: Mapping[str, Any]) -> Target:
    """Read when training stops, from the keys that a request of ``train`` has for it (BPE-TRAIN-11, WP-TRAIN-7).

    Raises:
        InputError: ``invalid_input``, where there is no target or it is not an integer from 0.

    >>> read_target({"merge_count": 3, "corpus": {}})
    Target(vocabulary_size=None, merge_count=3, min_frequency=1)
    """
    keys = [key for key in ("vocabulary_size", "merge_count", "min_frequency") if key in given]
    if not {"vocabulary_size", "merge_count"}.intersection(keys):  # ERROR-3
        raise InputError("invalid_input", "training needs vocabulary_size or merge_count")
    return Target(**{key: _as_input(partial(read_integer, smallest=0), given[key]) for key in keys})


def _as_input(reader: Reader, value: Any) -> Any:
    """Read a value that belongs to an input, not to a model."""
    try:
        return reader(value)
    except InputError as error:
        raise InputError("invalid_input", error.message) from None
