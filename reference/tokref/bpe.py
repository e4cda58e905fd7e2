"""Byte-Pair Encoding: training and encoding (``spec/04-bpe.md``).

Training splits every word into characters. Then it counts all pairs of neighbours, merges the most frequent pair
everywhere, and counts again, until the target is reached. Encoding splits a piece into characters and applies the
learned merges to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tokref.alignment import AlignedText
from tokref.choices import Choices
from tokref.errors import InputError
from tokref.pre_tokenization import utf_8
from tokref.values import Bpe, Pair, Token, Unigram, Words, all_tokens, number_tokens, unknown_token

__all__ = [
    "BpeTraining",
    "Split",
    "Target",
    "base_vocabulary",
    "best_pair",
    "byte_tokens",
    "count_pairs",
    "encode_bpe",
    "join_symbols",
    "merge_pair",
    "merge_symbols",
    "split_piece",
    "split_unused",
    "train_bpe",
]

Split = tuple[tuple[str, ...], int]
"""A word as tokens, with its count."""


@dataclass(frozen=True)
class Target:
    """When training stops: at a size of the vocabulary or a number of merges, or where the highest count is too low."""

    vocabulary_size: int | None = None
    merge_count: int | None = None
    min_frequency: int = 1

    def is_reached(self, vocabulary_size: int, merge_count: int) -> bool:
        """Say whether one of the two numbers is reached; :func:`train_bpe` looks at ``min_frequency``."""
        if self.vocabulary_size is not None and vocabulary_size >= self.vocabulary_size:
            return True
        return self.merge_count is not None and merge_count >= self.merge_count


@dataclass(frozen=True)
class BpeTraining:
    """What training learned and how it left the words. Steps are the merges, each with the count that it had."""

    vocabulary: tuple[str, ...]
    steps: tuple[tuple[str, str, int], ...]
    words: tuple[Split, ...]


def base_vocabulary(words: Words, special_tokens: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the special tokens, then every character of the words once, by code point.

    >>> base_vocabulary({"hug": 10, "bun": 4}, ["<s>"])
    ('<s>', 'b', 'g', 'h', 'n', 'u')
    """
    characters = sorted({character for word in words for character in word})  # BPE-TRAIN-2
    others = [character for character in characters if character not in special_tokens]
    return (*special_tokens, *others)  # BPE-TRAIN-3


def count_pairs(words: Iterable[Split]) -> dict[Pair, int]:
    """Count all pairs, in the order in which each is first met.

    >>> count_pairs([(("a", "a", "a"), 2), (("b", "a"), 1)])
    {('a', 'a'): 4, ('b', 'a'): 1}
    """
    counts: dict[Pair, int] = {}
    for tokens, count in words:  # BPE-TRAIN-6: word by word, so no pair spans two of them
        for pair in pairwise(tokens):  # BPE-TRAIN-5: every place, overlapping ones included
            counts[pair] = counts.get(pair, 0) + count  # BPE-TRAIN-13: Python's integers have no bound
    return counts


def best_pair(words: Iterable[Split], vocabulary: Sequence[str], choices: Choices) -> tuple[Pair, int] | None:
    """Return the pair that is merged next, with its count, or None where no pair is left.

    >>> best_pair([(("h", "u", "g"), 1)], ["g", "h", "u"], Choices(bpe_training_tie="smallest_ids"))
    (('h', 'u'), 1)
    """
    counts = count_pairs(words)
    if not counts:
        return None
    highest = max(counts.values())  # BPE-TRAIN-7
    tied = [pair for pair, count in counts.items() if count == highest]  # in the order first met
    if choices.bpe_training_tie == "first_met":  # BPE-TRAIN-8
        return tied[0], highest
    ids = number_tokens(vocabulary)
    smallest = min(tied, key=lambda pair: (ids[pair[0]], ids[pair[1]]))
    return smallest, highest


def merge_pair(tokens: Sequence[str], pair: Pair, merged: str) -> tuple[str, ...]:
    """Replace every occurrence of a pair, from left to right without overlap (BPE-TRAIN-9, BPE-ENC-4).

    >>> merge_pair(["a", "a", "a"], ("a", "a"), "aa")
    ('aa', 'a')
    """
    result: list[str] = []
    place = 0
    while place < len(tokens):
        if tuple(tokens[place : place + 2]) == pair:
            result.append(merged)
            place += 2
        else:
            result.append(tokens[place])
            place += 1
    return tuple(result)


def train_bpe(words: Words, special_tokens: Sequence[str], target: Target, choices: Choices) -> BpeTraining:
    """Learn merges until the target is reached.

    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> train_bpe(words, [], Target(merge_count=3), Choices()).steps
    (('u', 'g', 20), ('u', 'n', 16), ('h', 'ug', 15))
    """
    vocabulary = list(base_vocabulary(words, special_tokens))  # BPE-TRAIN-12: never less than this
    splits = [(tuple(word), count) for word, count in words.items()]  # BPE-TRAIN-4
    steps: list[tuple[str, str, int]] = []
    while not target.is_reached(len(vocabulary), len(steps)):  # BPE-TRAIN-11
        best = best_pair(splits, vocabulary, choices)
        if best is None or best[1] < target.min_frequency:  # BPE-TRAIN-11, BPE-TRAIN-14
            break
        (left, right), count = best
        splits = [(merge_pair(tokens, (left, right), left + right), weight) for tokens, weight in splits]
        steps.append((left, right, count))
        if left + right not in vocabulary:  # BPE-TRAIN-10
            vocabulary.append(left + right)
    return BpeTraining(tuple(vocabulary), tuple(steps), tuple(splits))


def encode_bpe(piece: AlignedText, model: Bpe, choices: Choices) -> list[Token]:
    """Encode one piece.

    Raises:
        InputError: ``unknown_symbol``.

    >>> model = Bpe({"[UNK]": 0, "g": 1, "u": 2, "ug": 3}, (("u", "g"),), "[UNK]")
    >>> [token.text for token in encode_bpe(AlignedText.from_input("mug"), model, Choices())]
    ['[UNK]', 'ug']
    """
    if model.ignore_merges and piece.text in model.vocabulary:  # BPE-WHOLE-1
        return [Token(piece.text, model.vocabulary[piece.text], *piece.span(0, len(piece.text)))]
    symbols = split_piece(piece.text, model)  # BPE-ENC-1; TERM-1: characters are code points
    if model.unknown_token is None and choices.bpe_unknown_without_token == "dropped_before_merging":  # BPE-ENC-8
        known = [
            symbol in model.vocabulary or bool(byte_tokens(piece, place, model)) for place, symbol in enumerate(symbols)
        ]
        piece = piece.rewrite((piece.text[place] * known[place], place, place + 1) for place in range(len(symbols)))
        symbols = [symbol for place, symbol in enumerate(symbols) if known[place]]
    run_option = choices.bpe_unknown_run
    if model.fuse_unk is not None:  # BPE-ENC-10
        run_option = "fused" if model.fuse_unk else "each"
    tokens: list[Token] = []
    begin = 0
    is_run = False  # whether the character before became the unknown token
    for symbol in split_unused(merge_symbols(symbols, model, choices), model, choices):
        end = begin + 1  # BPE-AFFIX-4: spans count characters
        while end < len(symbols) and join_symbols(symbols[begin:end], model) != symbol:  # so many were merged
            end += 1
        start, stop = piece.span(begin, end)
        was_run, is_run = is_run, False
        if symbol in model.vocabulary and symbol not in model.unused:  # TERM-2: equal code points; SP-UNUSED-1
            tokens.append(Token(symbol, model.vocabulary[symbol], start, stop))
        elif found := byte_tokens(piece, begin, model):  # BPE-BYTES-1
            tokens += found
        elif model.unknown_token is not None:  # BPE-ENC-6
            is_run = True  # no merge joins an unknown character to its neighbours
            unknown = unknown_token(model, symbol, start, stop)
            if was_run and run_option == "fused":  # BPE-ENC-7
                tokens[-1] = tokens[-1]._replace(end=stop)
            else:
                tokens.append(unknown)
        elif choices.bpe_unknown_without_token == "kept":  # BPE-ENC-8
            tokens.append(Token(symbol, None, start, stop))
        elif choices.bpe_unknown_without_token == "error":
            raise InputError(
                "unknown_symbol", f"{symbol!r} is not in the vocabulary and the model has no unknown token"
            )
        # What is left is the option dropped_after_merging: the character gives no token.
        begin = end
    return tokens


def split_piece(text: str, model: Bpe) -> list[str]:
    """Return the characters of a piece, the last with its suffix (BPE-AFFIX-1), later ones with a prefix (BPE-AFFIX-2).

    >>> split_piece("hug", Bpe(continuing_prefix="##", end_of_word_suffix="</w>"))
    ['h', '##u', '##g</w>']
    """
    symbols = [model.continuing_prefix * (place > 0) + character for place, character in enumerate(text)]
    return [*symbols[:-1], *(symbol + model.end_of_word_suffix for symbol in symbols[-1:])]


def join_symbols(symbols: Sequence[str], model: Bpe) -> str:
    """Return what symbols become when they are merged: later ones lose their prefix (BPE-AFFIX-3).

    >>> join_symbols(["h", "##u"], Bpe(continuing_prefix="##"))
    'hu'
    """
    first, *others = symbols
    return first + "".join(symbol.removeprefix(model.continuing_prefix) for symbol in others)


def byte_tokens(piece: AlignedText, place: int, model: Bpe | Unigram) -> list[Token]:
    """Return the tokens of the UTF-8 of a character, each with its span; none, if one of them is missing (BPE-BYTES-2).

    >>> model = Bpe({"<0xC3>": 0, "<0xA9>": 1}, byte_fallback=True)
    >>> [token.text for token in byte_tokens(AlignedText.from_input("é"), 0, model)]
    ['<0xC3>', '<0xA9>']
    """
    names = [f"<0x{byte:02X}>" for byte in utf_8(piece.text[place])] if model.byte_fallback else []
    vocabulary = all_tokens(model) if names else {}
    if any(name not in vocabulary for name in names):
        return []
    return [Token(name, vocabulary[name], *piece.span(place, place + 1)) for name in names]  # BPE-BYTES-3


def merge_symbols(symbols: list[str], model: Bpe, choices: Choices) -> list[str]:
    """Apply merges to the symbols of a piece; a symbol that is not in the vocabulary takes part in none (BPE-ENC-6).

    Only merges make a longer token, so a piece that is in the vocabulary is not taken as a whole (BPE-ENC-9).

    >>> model = Bpe(dict.fromkeys(["a", "b", "c", "bc", "ab", "abc"], 0), (("b", "c"), ("a", "b"), ("ab", "c")))
    >>> merge_symbols(["a", "b", "c"], model, Choices())
    ['a', 'bc']
    """
    is_listed = model.scores is None and choices.bpe_pairs == "listed"
    if is_listed and choices.bpe_merge_order == "single_pass":
        for pair in model.merges:  # BPE-ENC-3; BPE-ENC-5: each merge has its turn once
            symbols = [*merge_pair(symbols, pair, join_symbols(pair, model))]  # BPE-ENC-4
        return symbols
    while True:
        ranks = [(_rank(pair, model, choices), place) for place, pair in enumerate(pairwise(symbols))]
        possible = [(rank, place) for rank, place in ranks if rank is not None]
        if not possible:
            return symbols
        _, place = min(possible)  # BPE-ENC-3, BPE-ENC-5: the lowest rank; BPE-ENC-4: in its leftmost place
        pair = (symbols[place], symbols[place + 1])
        if choices.bpe_merge_places == "all" and is_listed:  # BPE-ENC-11
            symbols = [*merge_pair(symbols, pair, join_symbols(pair, model))]
            continue
        symbols = [*symbols[:place], join_symbols(pair, model), *symbols[place + 2 :]]


def split_unused(symbols: Sequence[str], model: Bpe, choices: Choices) -> list[str]:
    """Replace each unused token by what merging makes of its characters without it (SP-UNUSED-2).

    >>> model = Bpe({"a": 0, "b": 1, "ab": 2}, (("a", "b"),), unused=frozenset(["ab"]))
    >>> split_unused(["ab", "a"], model, Choices())
    ['a', 'b', 'a']
    """
    found: list[str] = []
    for symbol in symbols:
        if symbol in model.unused and len(symbol) > 1:
            found += split_unused(merge_symbols([*symbol], model.without(symbol), choices), model, choices)
        else:
            found.append(symbol)
    return found


def _rank(pair: Pair, model: Bpe, choices: Choices) -> float | None:
    """Return the rank of a pair, or None if it may not be merged (BPE-ENC-2)."""
    if model.scores is not None:  # SP-SCORE-1: the highest score has the lowest rank
        score = model.scores.get(join_symbols(pair, model))
        return None if score is None else -score
    if choices.bpe_pairs == "in_vocabulary":
        is_known = pair[0] in model.vocabulary and pair[1] in model.vocabulary
        return model.vocabulary.get(join_symbols(pair, model)) if is_known else None
    return model.merges.index(pair) if pair in model.merges else None  # of a merge listed twice, the first rank
