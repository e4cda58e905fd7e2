"""Byte-Pair Encoding: training and encoding (``spec/04-bpe.md``).

Training splits every word into characters. Then it counts all pairs of neighbours, merges the most frequent pair
everywhere, and counts again, until the target is reached. Encoding splits a piece into characters and applies the
learned merges to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from tokref.alignment import AlignedText
from tokref.choices import Choices
from tokref.errors import InputError
from tokref.pre_tokenization import utf_8
from tokref.values import Bpe, Pair, Token, Unigram, Words, is_ordinary, number_tokens, set_kind, unknown_token

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


def base_vocabulary(words: Words, special_tokens: Sequence[str] = (), suffix: str = "") -> tuple[str, ...]:
    """Return the special tokens, then every character of the words once, by code point, and those with a suffix.

    >>> base_vocabulary({"hug": 10, "bun": 4}, ["<s>"])
    ('<s>', 'b', 'g', 'h', 'n', 'u')
    """
    # In an order of their own, or ids would change with the order of the texts.
    characters = sorted({character for word in words for character in word})  # BPE-TRAIN-2
    if suffix:  # BPE-TRAIN-17
        characters += sorted({word[-1] + suffix for word in words if word})
    others = [character for character in characters if character not in special_tokens]
    return (*special_tokens, *others)  # BPE-TRAIN-3


def count_pairs(words: Iterable[Split]) -> dict[Pair, int]:
    """Count all pairs, in the order in which each is first met.

    ``a a a`` counts ``a a`` twice, though a merge can take only one of the two places.

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

    >>> words, vocabulary = [(("h", "u", "g"), 1)], ["g", "u", "h"]
    >>> best_pair(words, vocabulary, Choices()), best_pair(words, vocabulary, Choices(bpe_training_tie="smallest_ids"))
    ((('h', 'u'), 1), (('u', 'g'), 1))
    """
    counts = count_pairs(words)
    if not counts:
        return None
    highest = max(counts.values())  # BPE-TRAIN-7
    tied = [pair for pair, count in counts.items() if count == highest]  # in the order first met
    # Small corpora tie all the time, and every later merge depends on how.
    if choices.bpe_training_tie == "first_met":  # BPE-TRAIN-8
        return tied[0], highest
    ids = number_tokens(vocabulary)
    smallest = min(tied, key=lambda pair: (ids[pair[0]], ids[pair[1]]))
    return smallest, highest


def find_pair(tokens: Sequence[str], pair: Pair) -> list[int]:
    """Return the places at which a pair occurs, from left to right without overlap (BPE-TRAIN-9, BPE-ENC-4).

    >>> find_pair(["a", "a", "a", "b", "a", "a"], ("a", "a"))
    [0, 4]
    """
    places: list[int] = []
    place = 0
    while place + 1 < len(tokens):
        if (tokens[place], tokens[place + 1]) == pair:
            places.append(place)
            place += 2  # both are taken: in a a a the middle one belongs to the first place
        else:
            place += 1
    return places


def merge_pair(tokens: Sequence[str], pair: Pair, merged: str) -> tuple[str, ...]:
    """Replace every occurrence of a pair (BPE-TRAIN-9).

    >>> merge_pair(["a", "a", "a"], ("a", "a"), "aa")
    ('aa', 'a')
    """
    result = list(tokens)
    for place in reversed(find_pair(tokens, pair)):  # from the right, so that places on the left stay where they are
        result[place : place + 2] = [merged]
    return tuple(result)


def mark_end(tokens: Sequence[str], suffix: str) -> tuple[str, ...]:
    """Write the suffix after the last character of a word (BPE-TRAIN-16).

    >>> mark_end(["h", "u", "g"], "</w>")
    ('h', 'u', 'g</w>')
    """
    return (*tokens[:-1], tokens[-1] + suffix) if tokens else ()


def train_bpe(
    words: Words, special_tokens: Sequence[str], target: Target, choices: Choices, suffix: str = ""
) -> BpeTraining:
    """Learn merges until the target is reached; the last character of each word has the suffix.

    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> train_bpe(words, [], Target(merge_count=3), Choices()).steps
    (('u', 'g', 20), ('u', 'n', 16), ('h', 'ug', 15))
    """
    vocabulary = list(base_vocabulary(words, special_tokens, suffix))  # BPE-TRAIN-12: never less than this
    splits = [(tuple(word), count) for word, count in words.items()]  # BPE-TRAIN-4
    splits = [(mark_end(tokens, suffix), count) for tokens, count in splits]  # BPE-TRAIN-16
    steps: list[tuple[str, str, int]] = []
    while not target.is_reached(len(vocabulary), len(steps)):  # BPE-TRAIN-11
        best = best_pair(splits, vocabulary, choices)
        if best is None or best[1] < target.min_frequency:  # BPE-TRAIN-11, BPE-TRAIN-14
            break
        (left, right), count = best
        splits = [(merge_pair(tokens, (left, right), left + right), weight) for tokens, weight in splits]
        steps.append((left, right, count))
        # Two merges may make the same token, as a + bc and ab + c do; it has one id, and each merge its rank.
        if left + right not in vocabulary:  # BPE-TRAIN-10
            vocabulary.append(left + right)
    return BpeTraining(tuple(vocabulary), tuple(steps), tuple(splits))


class Symbol(NamedTuple):
    """What merging has made of the characters of a piece from ``begin`` to ``end``."""

    text: str
    begin: int
    end: int


def encode_bpe(piece: AlignedText, model: Bpe, choices: Choices) -> list[Token]:
    """Encode one piece.

    Raises:
        InputError: ``unknown_symbol``.

    >>> model = Bpe({"[UNK]": 0, "g": 1, "u": 2, "ug": 3}, (("u", "g"),), "[UNK]")
    >>> [token.text for token in encode_bpe(AlignedText.from_input("mug"), model, Choices())]
    ['[UNK]', 'ug']
    """
    # A file that was converted from ranks sets this, as Llama 3's does. Its merges were derived later and do not make
    # every token.
    if model.ignore_merges and is_ordinary(piece.text, model):  # BPE-WHOLE-1: even where no merges lead to it
        return [Token(piece.text, model.vocabulary[piece.text], *piece.span(0, len(piece.text)))]
    symbols = split_piece(piece.text, model)  # BPE-ENC-1; TERM-1: characters are code points
    if model.unknown_token is None and choices.bpe_unknown_without_token == "dropped_before_merging":  # BPE-ENC-8
        piece, symbols = drop_unknown(piece, symbols, model)
    tokens: list[Token] = []
    run: Symbol | None = None  # the unknown symbols before this one
    for symbol in split_unused(merge_symbols(symbols, model, choices), model, choices):
        found = find_tokens(symbol, piece, model)
        is_unknown = not found and model.unknown_token is not None
        if run and is_unknown and fuses_unknown(model, choices):  # BPE-ENC-7
            run = run._replace(text=run.text + symbol.text, end=symbol.end)
            tokens[-1:] = replace_unknown(run, piece, model, choices)  # ENC-3: the span of the run as a whole
        else:
            run = symbol if is_unknown else None
            tokens += found or replace_unknown(symbol, piece, model, choices)
    return tokens


def split_piece(text: str, model: Bpe) -> list[Symbol]:
    """Return the characters of a piece, each a symbol.

    The affixes distinguish characters by where they are: a token for the end of a word is not found within one.

    >>> [symbol.text for symbol in split_piece("hug", Bpe(continuing_prefix="##", end_of_word_suffix="</w>"))]
    ['h', '##u', '##g</w>']
    """
    symbols: list[Symbol] = []
    for place, character in enumerate(text):
        prefix = model.continuing_prefix if place > 0 else ""  # BPE-AFFIX-2
        suffix = model.end_of_word_suffix if place == len(text) - 1 else ""  # BPE-AFFIX-1
        symbols.append(Symbol(prefix + character + suffix, place, place + 1))  # BPE-AFFIX-5: an affix takes no room
    return symbols


def join_symbols(symbols: Sequence[str], model: Bpe) -> str:
    """Return what symbols become when they are merged: later ones lose their prefix (BPE-AFFIX-3).

    >>> join_symbols(["h", "##u"], Bpe(continuing_prefix="##"))
    'hu'
    """
    first, *others = symbols
    return first + "".join(symbol.removeprefix(model.continuing_prefix) for symbol in others)


def drop_unknown(piece: AlignedText, symbols: Sequence[Symbol], model: Bpe) -> tuple[AlignedText, list[Symbol]]:
    """Take unknown characters out of a piece, so that merging joins what was on both sides of them (BPE-ENC-8).

    What is left keeps its affixes, and counts its places in the piece that is left.

    >>> piece = AlignedText.from_input("axb")
    >>> drop_unknown(piece, split_piece("axb", Bpe()), Bpe({"a": 0, "b": 1}))[1]
    [Symbol(text='a', begin=0, end=1), Symbol(text='b', begin=1, end=2)]
    """
    known = [symbol for symbol in symbols if _is_merged(symbol.text, model) or byte_tokens(piece, symbol.begin, model)]
    left = piece.rewrite((piece.text[begin:end], begin, end) for _, begin, end in known)
    return left, [Symbol(symbol.text, place, place + 1) for place, symbol in enumerate(known)]


def merge_symbols(symbols: Sequence[Symbol], model: Bpe, choices: Choices) -> list[Symbol]:
    """Apply merges to the symbols of a piece; a symbol that is not in the vocabulary takes part in none (BPE-ENC-6).

    Only merges make a longer token, so a piece that is in the vocabulary is not taken as a whole (BPE-ENC-9).

    >>> model = Bpe(dict.fromkeys(["a", "b", "c", "bc", "ab", "abc"], 0), (("b", "c"), ("a", "b"), ("ab", "c")))
    >>> merge_symbols(split_piece("abc", model), model, Choices())
    [Symbol(text='a', begin=0, end=1), Symbol(text='bc', begin=1, end=3)]
    """
    symbols = list(symbols)
    if model.dropout == 1:  # BPE-DROPOUT-1: every merge is left out
        return symbols
    is_listed = model.scores is None and choices.bpe_pairs == "listed"
    if is_listed and choices.bpe_merge_order == "single_pass":
        # This is how the documents' program goes: pair by pair through the list, and never back. What becomes possible
        # when its turn has passed stays apart, which only lists of merges that no training learned can show.
        for pair in model.merges:  # BPE-ENC-3; BPE-ENC-5: each merge has its turn once
            if _may_merge(pair, model):
                symbols = merge_at(find_pair(_texts(symbols), pair), symbols, model)  # BPE-ENC-4
        return symbols
    while True:
        ranks = [(_rank(pair, model, choices), place) for place, pair in enumerate(pairwise(_texts(symbols)))]
        possible = [(rank, place) for rank, place in ranks if rank is not None]
        if not possible:
            return symbols
        _, place = min(possible)  # BPE-ENC-3, BPE-ENC-5: the lowest rank; BPE-ENC-4: in its leftmost place
        places = [place]  # and then look again: what this merge makes may have a lower rank than what is left
        # The two differ where merging one place gives a pair of a lower rank than the rest has.
        if choices.bpe_merge_places == "all" and is_listed:  # BPE-ENC-11
            places = find_pair(_texts(symbols), (symbols[place].text, symbols[place + 1].text))
        symbols = merge_at(places, symbols, model)


def merge_at(places: Sequence[int], symbols: Sequence[Symbol], model: Bpe) -> list[Symbol]:
    """Merge the symbol at each place with the one after it; together they cover what both covered.

    >>> merge_at([1], split_piece("abc", Bpe()), Bpe())
    [Symbol(text='a', begin=0, end=1), Symbol(text='bc', begin=1, end=3)]
    """
    result = list(symbols)
    for place in reversed(places):
        left, right = symbols[place], symbols[place + 1]
        result[place : place + 2] = [Symbol(join_symbols((left.text, right.text), model), left.begin, right.end)]
    return result


def split_unused(symbols: Sequence[Symbol], model: Bpe, choices: Choices) -> list[Symbol]:
    """Replace each unused token by what merging makes of its characters without it (SP-UNUSED-2).

    An unused token is a step on the way to longer ones, so it is merged like any other and only then taken apart.

    >>> model = Bpe({"a": 0, "b": 1, "ab": 2}, (("a", "b"),), kinds={"ab": "unused"})
    >>> [symbol.text for symbol in split_unused([Symbol("ab", 0, 2), Symbol("a", 2, 3)], model, Choices())]
    ['a', 'b', 'a']
    """
    found: list[Symbol] = []
    for symbol in symbols:
        if model.kinds.get(symbol.text) == "unused" and len(symbol.text) > 1:
            without = set_kind("not_allowed", [symbol.text], model)
            merged = merge_symbols(_split_symbol(symbol), without, choices)
            found += split_unused(merged, model, choices)
        else:
            found.append(symbol)
    return found


def find_tokens(symbol: Symbol, piece: AlignedText, model: Bpe) -> list[Token]:
    """Return the token that a symbol is, or those of its bytes; none, if it is unknown.

    >>> find_tokens(Symbol("b", 1, 2), AlignedText.from_input("ab"), Bpe({"b": 7}))
    [Token(text='b', id=7, start=1, end=2)]
    """
    if is_ordinary(symbol.text, model):  # SP-UNUSED-1
        return [Token(symbol.text, model.vocabulary[symbol.text], *piece.span(symbol.begin, symbol.end))]
    return byte_tokens(piece, symbol.begin, model)  # BPE-BYTES-1: unknown symbols are single characters


def byte_tokens(piece: AlignedText, place: int, model: Bpe | Unigram) -> list[Token]:
    """Return the tokens of the UTF-8 of a character, each with its span; none, if one of them is missing (BPE-BYTES-2).

    >>> model = Bpe({"<0xC3>": 0, "<0xA9>": 1}, byte_fallback=True)
    >>> [token.text for token in byte_tokens(AlignedText.from_input("é"), 0, model)]
    ['<0xC3>', '<0xA9>']
    """
    names = [f"<0x{byte:02X}>" for byte in utf_8(piece.text[place])] if model.byte_fallback else []
    vocabulary = model.vocabulary if names else {}
    if any(name not in vocabulary or model.kinds.get(name) == "unused" for name in names):  # SP-UNUSED-1
        return []
    return [Token(name, vocabulary[name], *piece.span(place, place + 1)) for name in names]  # BPE-BYTES-3


def fuses_unknown(model: Bpe, choices: Choices) -> bool:
    """Say whether unknown characters that are side by side become one unknown token.

    >>> fuses_unknown(Bpe(fuse_unk=False), Choices(bpe_unknown_run="fused"))
    False
    """
    if model.fuse_unk is not None:  # BPE-ENC-10: what the model says itself comes first
        return model.fuse_unk
    return choices.bpe_unknown_run == "fused"  # BPE-ENC-7


def replace_unknown(symbol: Symbol, piece: AlignedText, model: Bpe, choices: Choices) -> list[Token]:
    """Return what replaces an unknown symbol: the unknown token, or without one what the choice says.

    Raises:
        InputError: ``unknown_symbol``.

    >>> replace_unknown(Symbol("m", 0, 1), AlignedText.from_input("m"), Bpe({"[UNK]": 3}, (), "[UNK]"), Choices())
    [Token(text='[UNK]', id=3, start=0, end=1)]
    """
    start, stop = piece.span(symbol.begin, symbol.end)
    if model.unknown_token is not None:  # BPE-ENC-6
        token = unknown_token(model, symbol.text, start, stop)
        surface = piece.text[symbol.begin : symbol.end]
        return [token._replace(text=surface) if choices.unknown_token_text == "surface" else token]  # ENC-9
    if choices.bpe_unknown_without_token == "kept":  # BPE-ENC-8
        return [Token(symbol.text, None, start, stop)]
    if choices.bpe_unknown_without_token == "error":
        message = f"{symbol.text!r} is not in the vocabulary and the model has no unknown token"
        raise InputError("unknown_symbol", message)
    return []  # dropped_after_merging: it kept its neighbours apart, and that is all


def _texts(symbols: Sequence[Symbol]) -> list[str]:
    return [symbol.text for symbol in symbols]


def _split_symbol(symbol: Symbol) -> list[Symbol]:
    """Return the characters of a token, each in its place; those of a suffix are in the last, as it takes no room."""
    places = [min(place, symbol.end - 1) for place in range(symbol.begin, symbol.begin + len(symbol.text))]
    return [Symbol(character, place, place + 1) for character, place in zip(symbol.text, places, strict=True)]


def _rank(pair: Pair, model: Bpe, choices: Choices) -> float | None:
    """Return the rank of a pair, or None if it may not be merged (BPE-ENC-2)."""
    if model.scores is not None:  # SP-SCORE-1: the highest score has the lowest rank
        made = join_symbols(pair, model)
        return -model.scores[made] if _is_merged(made, model) else None
    # tiktoken's files list no merges. Any two neighbours merge whose join is a token, and its id is the rank.
    if choices.bpe_pairs == "in_vocabulary":
        made = join_symbols(pair, model)
        is_known = all(_is_merged(token, model) for token in (*pair, made))
        return model.vocabulary[made] if is_known else None
    is_listed = pair in model.merges and _may_merge(pair, model)
    return model.merges.index(pair) if is_listed else None  # of a merge listed twice, the first rank


def _may_merge(pair: Pair, model: Bpe) -> bool:
    """Whether a listed merge is done: not where one of its tokens is never found in a text (SP-TYPE-2, TRUST-1)."""
    if not model.kinds:
        return True
    return all(model.kinds.get(token, "unused") == "unused" for token in (*pair, join_symbols(pair, model)))


def _is_merged(text: str, model: Bpe) -> bool:
    """Whether a text is a token that merging knows: an ordinary one, or an unused one, to be taken apart afterwards."""
    return text in model.vocabulary and model.kinds.get(text, "unused") == "unused"
