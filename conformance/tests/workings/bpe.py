"""BPE by the documents' loops: everything is counted again at every step, and ids are places in the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from stages import Model, NotCovered, Refused, Tokens, check_numbers, count_words, encode

#: The choices that an outcome may depend on, by operation.
CHOICES = {
    "encode": (
        *("bpe_merge_order", "bpe_merge_places", "bpe_pairs", "bpe_unknown_run", "bpe_unknown_without_token"),
        "merge_outside_vocabulary",
    ),
    "train": ("bpe_training_tie",),
    "training_trace": ("bpe_training_tie",),
    "best_pair": ("bpe_training_tie",),
    "training_state": ("bpe_training_tie",),
    "pair_frequencies": ("bpe_training_tie",),
}


Symbols = list[tuple[str, int, int, bool]]  # token, start, end, whether it may merge


class Training:
    """Words split into tokens, merged step by step."""

    def __init__(self, model: Model, corpus: Mapping[str, Any], choices: Mapping[str, str]) -> None:
        self.counts = count_words(model, corpus)
        self.splits = {word: list(word) for word in self.counts}
        special = list(model.get("special_tokens", []))
        letters = {letter for word in self.counts for letter in word} - set(special)
        self.vocabulary = special + sorted(letters)
        suffix = model.get("end_of_word_suffix", "")
        for split in self.splits.values() if suffix else ():
            split[-1:] = [letter + suffix for letter in split[-1:]]
        last = {split[-1] for split in self.splits.values() if split} - set(self.vocabulary)
        self.vocabulary += sorted(last)
        self.merges: list[list[Any]] = []
        self.tie = choices["bpe_training_tie"]

    def pairs(self) -> dict[tuple[str, str], int]:
        """Count every place of every pair, in the order in which they are met."""
        counts: dict[tuple[str, str], int] = {}
        for word, split in self.splits.items():
            for i in range(len(split) - 1):
                pair = split[i], split[i + 1]
                counts[pair] = counts.get(pair, 0) + self.counts[word]
        return counts

    def best(self) -> tuple[tuple[str, str], int] | None:
        counts = self.pairs()
        if not counts:
            return None
        most = max(counts.values())
        tied = [pair for pair, count in counts.items() if count == most]
        if self.tie == "smallest_ids":
            tied.sort(key=lambda pair: [self.vocabulary.index(token) for token in pair])
        return tied[0], most

    def merge(self) -> bool:
        found = self.best()
        if found is None:
            return False
        (left, right), count = found
        for word, split in self.splits.items():
            self.splits[word] = merged(split, left, right)
        self.merges.append([left, right, count])
        if left + right not in self.vocabulary:
            self.vocabulary.append(left + right)
        return True

    def run(self, target: Mapping[str, int]) -> None:
        while True:
            if "vocabulary_size" in target and len(self.vocabulary) >= target["vocabulary_size"]:
                return
            if "merge_count" in target and len(self.merges) >= target["merge_count"]:
                return
            found = self.best()
            if found is None or found[1] < target.get("min_frequency", 1):
                return
            self.merge()


def merged(split: Sequence[str], left: str, right: str) -> list[str]:
    done, i = [], 0
    while i < len(split):
        if list(split[i : i + 2]) == [left, right]:
            done.append(left + right)
            i += 2
        else:
            done.append(split[i])
            i += 1
    return done


def check(model: Model, choices: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the merges that can be done."""
    vocabulary = set(model["vocabulary"])
    if len(vocabulary) != len(model["vocabulary"]):
        raise Refused("invalid_model")
    merges = [(left, right) for left, right in model.get("merges", [])]
    possible = [(left, right) for left, right in merges if {left, right, left + right} <= vocabulary]
    if merges != possible and choices.get("merge_outside_vocabulary", "refused") == "refused":
        raise Refused("invalid_model")
    return possible


def encode_piece(model: Model, listed: Sequence[tuple[str, ...]], choices: Mapping[str, str], piece: str) -> Tokens:
    vocabulary, unknown = model["vocabulary"], model.get("unknown_token")
    if len(piece) > 1000:
        raise NotCovered("a word too long for naive loops")
    symbols: Symbols = []
    for place, character in enumerate(piece):
        if character in vocabulary:
            symbols.append((character, place, place + 1, True))
            continue
        if unknown is None:
            way = choices["bpe_unknown_without_token"]
            if way == "error":
                raise Refused("unknown_symbol")
            symbols.append((character if way == "kept" else "", place, place + 1, False))
            continue
        if unknown not in vocabulary:
            raise Refused("unknown_symbol")
        if choices["bpe_unknown_run"] == "fused" and symbols and not symbols[-1][3] and symbols[-1][2] == place:
            symbols[-1] = (unknown, symbols[-1][1], place + 1, False)
        else:
            symbols.append((unknown, place, place + 1, False))
    symbols = merge(symbols, listed, model, choices)
    return [(token, start, end) for token, start, end, _ in symbols if token or unknown == ""]


def merge(symbols: Symbols, listed: Sequence[tuple[str, ...]], model: Model, choices: Mapping[str, str]) -> Symbols:
    def pairs() -> list[tuple[str, str] | None]:
        return [(a[0], b[0]) if a[3] and b[3] else None for a, b in pairwise(symbols)]

    def join(i: int) -> None:
        left, right = symbols[i], symbols[i + 1]
        symbols[i : i + 2] = [(left[0] + right[0], left[1], right[2], True)]

    if choices["bpe_pairs"] == "listed" and choices["bpe_merge_order"] == "single_pass":
        for pair in listed:
            i = 0
            while i < len(symbols) - 1:
                if pairs()[i] == pair:
                    join(i)
                i += 1
        return symbols
    while True:
        ranked = []
        for i, pair in enumerate(pairs()):
            if pair is None:
                continue
            if choices["bpe_pairs"] == "in_vocabulary":
                if pair[0] + pair[1] in model["vocabulary"]:
                    ranked.append((model["vocabulary"].index(pair[0] + pair[1]), i))
            elif pair in listed:
                ranked.append((listed.index(pair), i))
        if not ranked:
            return symbols
        lowest, i = min(ranked)
        if choices["bpe_pairs"] == "listed" and choices["bpe_merge_places"] == "all":
            while i < len(symbols) - 1:
                if pairs()[i] == listed[lowest]:
                    join(i)
                i += 1
        else:
            join(i)


def recompute(operation: str, model: Model, request: Mapping[str, Any], choices: Mapping[str, str]) -> list[Any]:
    """All right results.

    Raises:
        Refused: where the specification refuses.
        NotCovered: for another operation.
    """
    listed = check(model, choices) if "vocabulary" in model else []
    if operation == "encode":
        # By lowest rank, either place of a merge that is listed twice may count.
        either = [listed, list(dict.fromkeys(reversed(listed)))[::-1]]
        ways = either if choices["bpe_merge_order"] == "lowest_rank" and len(set(listed)) < len(listed) else [listed]
        return [
            encode(
                model,
                model["vocabulary"],
                request["text"],
                lambda piece, way=way: encode_piece(model, way, choices, piece),
                model.get("unknown_token") is None and choices["bpe_unknown_without_token"] == "dropped_before_merging",
            )
            for way in ways
        ]
    if operation == "count_words":
        return [{"words": [list(item) for item in count_words(model, request["corpus"]).items()]}]
    if operation not in ("train", "training_trace", "base_vocabulary", *CHOICES):
        raise NotCovered(operation)
    check_numbers(operation, request)
    training = Training(model, request["corpus"], {"bpe_training_tie": "first_met", **choices})
    if operation == "base_vocabulary":
        return [{"vocabulary": training.vocabulary}]
    if operation in ("train", "training_trace"):
        training.run(request)
        if operation == "train":
            return [{"vocabulary": training.vocabulary, "merges": [merge[:2] for merge in training.merges]}]
        return [{"steps": training.merges}]
    for _ in range(request.get("steps", 0)):
        training.merge()
    if operation == "pair_frequencies":
        pairs = [[*pair, count] for pair, count in training.pairs().items()]
        return [{"pairs": pairs[: request.get("first")]}]
    if operation == "best_pair":
        best = training.best()
        if best is None:
            raise Refused("invalid_input")
        return [{"pair": list(best[0]), "count": best[1]}]
    words = [[split, training.counts[word]] for word, split in training.splits.items()]
    return [{"vocabulary": training.vocabulary, "words": words}]
