"""The oracle: the documents' own slow procedures, as literally as can be.

Everything is counted again at every step and nothing is shared with the reference. Where a merged token is there
already it is not listed again (E-18), and pruning ends when it removes nothing (E-19).
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import log

Pair = tuple[str, str]
Splits = dict[str, list[str]]
Words = Mapping[str, int]


def pair_frequencies(words: Words, splits: Splits) -> dict[Pair, int]:
    frequencies: dict[Pair, int] = defaultdict(int)
    for word, count in words.items():
        split = splits[word]
        for i in range(len(split) - 1):
            frequencies[split[i], split[i + 1]] += count
    return frequencies


def merge_pair(left: str, right: str, merged: str, splits: Splits) -> None:
    for word, split in splits.items():
        i = 0
        while i < len(split) - 1:
            if split[i] == left and split[i + 1] == right:
                split = [*split[:i], merged, *split[i + 2 :]]
            else:
                i += 1
        splits[word] = split


def first_with_most(values: Mapping[Pair, float]) -> Pair | None:
    best, highest = None, None
    for pair, value in values.items():
        if highest is None or highest < value:
            best, highest = pair, value
    return best


def train_bpe(
    words: Words,
    special_tokens: Sequence[str],
    wanted: Callable[[int, int], bool],
    min_frequency: int = 1,
    smallest_ids: bool = False,
) -> tuple[list[str], list[tuple[str, str, int]], Splits]:
    """Merge as long as ``wanted`` (of the vocabulary's size and the number of merges) says so."""
    alphabet: list[str] = []
    for word in words:
        for letter in word:
            if letter not in alphabet and letter not in special_tokens:
                alphabet.append(letter)
    alphabet.sort()
    vocabulary = [*special_tokens, *alphabet]
    splits = {word: list(word) for word in words}
    steps: list[tuple[str, str, int]] = []
    while wanted(len(vocabulary), len(steps)):
        frequencies = pair_frequencies(words, splits)
        if smallest_ids:
            by_ids = sorted(frequencies, key=lambda pair: (vocabulary.index(pair[0]), vocabulary.index(pair[1])))
            frequencies = {pair: frequencies[pair] for pair in by_ids}
        best = first_with_most(frequencies)
        if best is None or frequencies[best] < min_frequency:
            break
        steps.append((*best, frequencies[best]))
        merged = best[0] + best[1]
        merge_pair(*best, merged, splits)
        if merged not in vocabulary:
            vocabulary.append(merged)
    return vocabulary, steps, splits


def encode_single_pass(symbols: str, merges: Sequence[Pair]) -> list[str]:
    split = list(symbols)
    for left, right in merges:
        splits = {"": split}
        merge_pair(left, right, left + right, splits)
        split = splits[""]
    return split


def encode_lowest_rank(symbols: str, rank: Callable[[str, str], int | None]) -> list[str]:
    """Merge, one place at a time, the leftmost of the pairs with the lowest rank."""
    split = list(symbols)
    while True:
        places = [(rank(*pair), i) for i, pair in enumerate(pairwise(split))]
        possible = [place for place in places if place[0] is not None]
        if not possible:
            return split
        _, i = min(possible)
        split = [*split[:i], split[i] + split[i + 1], *split[i + 2 :]]


def pair_scores(words: Words, splits: Splits) -> dict[Pair, float]:
    letters: dict[str, int] = defaultdict(int)
    for word, count in words.items():
        for token in splits[word]:
            letters[token] += count
    frequencies = pair_frequencies(words, splits)
    return {pair: count / (letters[pair[0]] * letters[pair[1]]) for pair, count in frequencies.items()}


def train_wordpiece(
    words: Words, special_tokens: Sequence[str], size: int
) -> tuple[list[str], list[tuple[str, str, float]], Splits]:
    alphabet: list[str] = []
    for word in words:
        for i, letter in enumerate(word):
            symbol = letter if i == 0 else f"##{letter}"
            if symbol not in alphabet:
                alphabet.append(symbol)
    alphabet.sort()
    vocabulary = [*special_tokens, *alphabet]
    splits = {word: [c if i == 0 else f"##{c}" for i, c in enumerate(word)] for word in words}
    steps: list[tuple[str, str, float]] = []
    while len(vocabulary) < size:
        scores = pair_scores(words, splits)
        best = first_with_most(scores)
        if best is None:
            break
        steps.append((*best, scores[best]))
        merged = best[0] + (best[1][2:] if best[1].startswith("##") else best[1])
        merge_pair(*best, merged, splits)
        if merged not in vocabulary:
            vocabulary.append(merged)
    return vocabulary, steps, splits


def encode_wordpiece(word: str, vocabulary: Sequence[str]) -> list[str]:
    tokens = []
    while len(word) > 0:
        i = len(word)
        while i > 0 and word[:i] not in vocabulary:
            i -= 1
        if i == 0 or (tokens and i <= len("##")):
            return ["[UNK]"]
        tokens.append(word[:i])
        word = word[i:]
        if len(word) > 0:
            word = f"##{word}"
    return tokens


def initial_frequencies(words: Words, size: int) -> dict[str, int]:
    characters: dict[str, int] = defaultdict(int)
    substrings: dict[str, int] = defaultdict(int)
    for word, count in words.items():
        for i in range(len(word)):
            characters[word[i]] += count
            for j in range(i + 2, len(word) + 1):
                substrings[word[i:j]] += count
    ranked = sorted(substrings.items(), key=lambda item: item[1], reverse=True)
    return dict([*characters.items(), *ranked[: max(0, size - len(characters))]])


def costs(frequencies: Mapping[str, int]) -> dict[str, float]:
    total = sum(frequencies.values())
    return {token: -log(frequency / total) for token, frequency in frequencies.items()}


def encode_word(word: str, model: Mapping[str, float], start_score: float = 1) -> tuple[list[str], float | None]:
    best: list[tuple[int | None, float | None]] = [(0, start_score), *[(None, None)] * len(word)]
    for start in range(len(word)):
        at_start = best[start][1]
        for end in range(start + 1, len(word) + 1):
            token = word[start:end]
            if token in model and at_start is not None:
                score = model[token] + at_start
                found = best[end][1]
                if found is None or found > score:
                    best[end] = (start, score)
    if best[-1][1] is None:
        return ["<unk>"], None
    tokens: list[str] = []
    end = len(word)
    while end > 0:
        begin = best[end][0] or 0
        tokens.insert(0, word[begin:end])
        end = begin
    return tokens, best[-1][1]


def loss(words: Words, model: Mapping[str, float]) -> float:
    total: float = 0
    for word, count in words.items():
        _, score = encode_word(word, model)
        total += count * (score or 0)
    return total


def loss_increases(words: Words, model: Mapping[str, float], every: int = 1) -> dict[str, float]:
    """Remove each token by itself, or one of so many."""
    increases = {}
    before = loss(words, model)
    for token in [token for token in model if len(token) > 1][::every]:
        without = dict(copy.deepcopy(model))
        del without[token]
        increases[token] = loss(words, without) - before
    return increases


def prune(words: Words, size: int, target: int, fraction: float) -> tuple[dict[str, int], list[int], list[str]]:
    """Give what is left, the sizes, and all that was removed, in order."""
    frequencies = initial_frequencies(words, size)
    sizes, removed = [len(frequencies)], list[str]()
    while len(frequencies) > target:
        increases = loss_increases(words, costs(frequencies))
        ranked = sorted(increases.items(), key=lambda item: item[1])
        step = [token for token, _ in ranked[: int(len(frequencies) * fraction)]]
        if not step:
            break
        for token in step:
            del frequencies[token]
        removed += step
        sizes.append(len(frequencies))
    return frequencies, sizes, removed


def all_segmentations(word: str, vocabulary: Sequence[str]) -> Iterator[list[str]]:
    if not word:
        yield []
    for end in range(1, len(word) + 1):
        if word[:end] in vocabulary:
            for others in all_segmentations(word[end:], vocabulary):
                yield [word[:end], *others]
