"""Corpora: words with their counts, in the order in which each is first met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tokref import fields
from tokref.alignment import PlainText
from tokref.choices import Choices
from tokref.errors import InputError, shown
from tokref.model import Tokenizer
from tokref.normalization import normalize
from tokref.pre_tokenization import pieces_of

__all__ = ["Words", "count_words", "read_words"]

Words = Mapping[str, int]
"""Every word of a corpus with its count; the order is that of first meeting."""

_REASON = "invalid_input"


def count_words(texts: list[str], tokenizer: Tokenizer, choices: Choices) -> Words:
    """Count the pieces of texts after normalization and pre-tokenization.

    Clauses: BPE-TRAIN-1.

    >>> from tokref import WhitespaceSplit
    >>> count_words(["b a b"], Tokenizer(pre_tokenizer=WhitespaceSplit()), Choices())
    {'b': 2, 'a': 1}
    """
    words: Counter[str] = Counter()  # BPE-TRAIN-1: it keeps the order of first meeting
    for text in texts:
        normalized = PlainText(normalize(text, tokenizer.normalizer, choices))
        words.update(pieces_of(normalized, tokenizer.pre_tokenizer))
    return dict(words)


def read_words(corpus: Mapping[str, Any], tokenizer: Tokenizer, choices: Choices) -> Words:
    """Give the words of a corpus that holds either ``words`` with counts or ``texts``.

    Clauses: BPE-TRAIN-13.

    Raises:
        InputError: ``invalid_input``, where the corpus is not of that form.

    >>> read_words({"words": [["hug", 10], ["pug", 5], ["hug", 2**31]]}, Tokenizer(), Choices())
    {'hug': 2147483658, 'pug': 5}
    """
    if not isinstance(corpus, Mapping) or ("words" in corpus) == ("texts" in corpus):
        raise InputError(_REASON, "a corpus is an object with either words or texts")
    if "texts" in corpus:
        texts = fields.items(corpus["texts"], _REASON)
        return count_words([fields.text(text, _REASON) for text in texts], tokenizer, choices)
    words: dict[str, int] = {}
    for entry in fields.items(corpus["words"], _REASON):
        first, count = fields.pair(entry, _REASON)
        word = fields.text(first, _REASON)
        words[word] = words.get(word, 0) + _count(count)  # BPE-TRAIN-13: integers have no bound
    return words


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(_REASON, f"{shown(value)} is no count; give an integer from 0")
    return value
