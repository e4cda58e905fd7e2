"""Unigram: the initial vocabulary (``spec/06-unigram.md``)."""

from __future__ import annotations

from tokref.corpus import Words
from tokref.model import Unigram

__all__ = ["initial_vocabulary", "ranked_substrings", "strict_substrings"]


def strict_substrings(words: Words) -> dict[str, int]:
    """Give every substring that is shorter than some word in which it stands, with its frequency.

    Clauses: UNI-INIT-1, UNI-INIT-2.

    >>> strict_substrings({"ab": 2, "b": 1})
    {'a': 2, 'b': 3}
    """
    frequencies = _frequencies(words, shortest=1)
    return {  # UNI-INIT-2: the frequencies are of all places, whole words included
        substring: frequencies[substring]
        for word in words
        for substring in dict.fromkeys(word[i:j] for i, j in _ranges(word, 1) if j - i < len(word))
    }


def ranked_substrings(words: Words) -> list[tuple[str, int]]:
    """Rank the substrings of two or more characters by falling frequency; of equal ones the first met comes first.

    Clauses: UNI-INIT-4.

    >>> ranked_substrings({"aba": 1, "ba": 1})
    [('ba', 2), ('ab', 1), ('aba', 1)]
    """
    return sorted(_frequencies(words, shortest=2).items(), key=lambda item: -item[1])  # UNI-INIT-4: the sort is stable


def initial_vocabulary(words: Words, size: int) -> Unigram:
    """Give the model of all characters and as many substrings as make up the size.

    Clauses: UNI-INIT-3, UNI-INIT-5.

    >>> initial_vocabulary({"aba": 1, "ba": 1}, 3).vocabulary
    ('a', 'b', 'ba')
    """
    characters: dict[str, int] = {}  # UNI-INIT-3: a dictionary keeps the order of first meeting
    for word, count in words.items():
        for character in word:
            characters[character] = characters.get(character, 0) + count
    best = ranked_substrings(words)[: max(size - len(characters), 0)]  # UNI-INIT-5
    tokens = [*characters.items(), *best]
    return Unigram(tuple(token for token, _ in tokens), weights=tuple(frequency for _, frequency in tokens))


def _frequencies(words: Words, shortest: int) -> dict[str, int]:
    """Count substrings by word, then start, then end (UNI-INIT-1)."""
    frequencies: dict[str, int] = {}
    for word, count in words.items():
        for start, end in _ranges(word, shortest):
            frequencies[word[start:end]] = frequencies.get(word[start:end], 0) + count
    return frequencies


def _ranges(word: str, shortest: int) -> list[tuple[int, int]]:
    return [(start, end) for start in range(len(word)) for end in range(start + shortest, len(word) + 1)]
