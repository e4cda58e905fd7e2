"""WordPiece by the notebook's procedure: scores are exact fractions, computed again at every step."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from stages import Model, NotCovered, Refused, Tokens, check_numbers, count_words, encode

CHOICES: dict[str, tuple[str, ...]] = {"encode": ("wordpiece_length_unit",)}


class Training:
    """Words split into characters, the later ones with the prefix, merged step by step."""

    def __init__(self, model: Model, corpus: Mapping[str, Any]) -> None:
        self.prefix = model.get("continuing_prefix", "##")
        self.counts = count_words(model, corpus)
        self.splits = {
            word: [letter if i == 0 else self.prefix + letter for i, letter in enumerate(word)] for word in self.counts
        }
        special = list(model.get("special_tokens", []))
        alphabet = {symbol for split in self.splits.values() for symbol in split} - set(special)
        self.vocabulary = special + sorted(alphabet)
        self.steps: list[list[Any]] = []

    def scores(self) -> dict[tuple[str, str], Fraction]:
        tokens: dict[str, int] = {}
        pairs: dict[tuple[str, str], int] = {}
        for word, split in self.splits.items():
            for i, token in enumerate(split):
                tokens[token] = tokens.get(token, 0) + self.counts[word]
                if i > 0:
                    pair = split[i - 1], token
                    pairs[pair] = pairs.get(pair, 0) + self.counts[word]
        return {
            (left, right): Fraction(count, tokens[left] * tokens[right]) if count else Fraction(0)
            for (left, right), count in pairs.items()
        }

    def best(self) -> tuple[tuple[str, str], Fraction] | None:
        scores = self.scores()
        if not scores:
            return None
        highest = max(scores.values())
        return next((pair, score) for pair, score in scores.items() if score == highest)

    def merge(self) -> bool:
        found = self.best()
        if found is None:
            return False
        (left, right), score = found
        joined = left + right.removeprefix(self.prefix)
        for word, split in self.splits.items():
            done, i = [], 0
            while i < len(split):
                if split[i : i + 2] == [left, right]:
                    done.append(joined)
                    i += 2
                else:
                    done.append(split[i])
                    i += 1
            self.splits[word] = done
        self.steps.append([left, right, score])
        if joined not in self.vocabulary:
            self.vocabulary.append(joined)
        return True


def encode_piece(model: Model, choices: Mapping[str, str], piece: str) -> Tokens:
    vocabulary, unknown = model["vocabulary"], model.get("unknown_token", "[UNK]")
    prefix = model.get("continuing_prefix", "##")
    length = len(piece)
    if choices["wordpiece_length_unit"] == "utf16":
        length = len(piece.encode("utf-16-le", "surrogatepass")) // 2
    found: Tokens = []
    start = 0
    while start < len(piece) and length <= model.get("max_word_length", 100):
        shown = "" if start == 0 else prefix
        ends = [end for end in range(start + 1, len(piece) + 1) if shown + piece[start:end] in vocabulary]
        if not ends:
            break
        found.append((shown + piece[start : max(ends)], start, max(ends)))
        start = max(ends)
    if start == len(piece):
        return found
    if unknown not in vocabulary:
        raise Refused("unknown_symbol")
    return [(unknown, 0, len(piece))]


def recompute(operation: str, model: Model, request: Mapping[str, Any], choices: Mapping[str, str]) -> list[Any]:
    """The right result, alone in a list.

    Raises:
        Refused: where the specification refuses.
        NotCovered: for another operation.
    """
    vocabulary = model.get("vocabulary", [])
    if len(set(vocabulary)) != len(vocabulary):
        raise Refused("invalid_model")
    if operation == "encode":
        return [encode(model, vocabulary, request["text"], lambda piece: encode_piece(model, choices, piece))]
    if operation == "count_words":
        return [{"words": [list(item) for item in count_words(model, request["corpus"]).items()]}]
    covered = ("train", "training_trace", "base_vocabulary", "pair_scores", "best_pair", "training_state")
    if operation not in covered:
        raise NotCovered(operation)
    check_numbers(operation, request)
    training = Training(model, request["corpus"])
    if operation == "base_vocabulary":
        return [{"vocabulary": training.vocabulary}]
    if operation in ("train", "training_trace"):
        while len(training.vocabulary) < request["vocabulary_size"] and training.merge():
            pass
        return [{"vocabulary": training.vocabulary} if operation == "train" else {"steps": training.steps}]
    for _ in range(request.get("steps", 0)):
        training.merge()
    if operation == "pair_scores":
        return [{"pairs": [[*pair, score] for pair, score in training.scores().items()][: request.get("first")]}]
    if operation == "best_pair":
        best = training.best()
        if best is None:
            raise Refused("invalid_input")
        return [{"pair": list(best[0]), "score": best[1]}]
    words = [[split, training.counts[word]] for word, split in training.splits.items()]
    return [{"vocabulary": training.vocabulary, "words": words}]
