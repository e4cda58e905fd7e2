"""Byte-Pair Encoding, encoding (``spec/04-bpe.md``)."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from itertools import groupby, pairwise

from tokref.choices import Choices
from tokref.errors import InputError
from tokref.model import Bpe, Pair, Token

__all__ = ["bpe_ids", "encode_bpe", "merge_symbols"]


def encode_bpe(piece: str, model: Bpe, choices: Choices) -> list[Token]:
    """Encode one piece; the tokens' ranges count in it.

    Clauses: TERM-1, TERM-2, BPE-ENC-1, BPE-ENC-6, BPE-ENC-7, BPE-ENC-8, BPE-MODEL-2.

    Raises:
        InputError: ``unknown_symbol``.

    >>> model = Bpe(("[UNK]", "b", "g", "u", "ug"), "[UNK]", (("u", "g"),))
    >>> [token.text for token in encode_bpe("mug", model, Choices())]
    ['[UNK]', 'ug']
    """
    if model.unknown_token is None and choices.bpe_unknown_without_token == "dropped_before_merging":  # BPE-ENC-8
        return _encode_known(piece, model, choices)
    tokens: list[Token] = []
    start = 0
    for known, run in groupby(piece, model.ids.__contains__):  # BPE-ENC-1; TERM-1: iteration is by code point
        symbols = "".join(run)
        if known:
            for text in merge_symbols(symbols, model, choices):
                tokens.append(Token(text, model.ids[text], start, start + len(text)))
                start += len(text)
        else:  # BPE-ENC-6: what stands beside an unknown character is merged on its own
            tokens += _unknown(symbols, start, model, choices)
            start += len(symbols)
    return tokens


def _encode_known(piece: str, model: Bpe, choices: Choices) -> list[Token]:
    """Encode what is left of a piece without its unknown characters; ranges count in the whole piece."""
    places = [place for place, symbol in enumerate(piece) if symbol in model.ids]
    tokens: list[Token] = []
    done = 0
    for text in merge_symbols("".join(piece[place] for place in places), model, choices):
        first, last = places[done], places[done + len(text) - 1]
        tokens.append(Token(text, model.ids[text], first, last + 1))
        done += len(text)
    return tokens


def merge_symbols(symbols: str, model: Bpe, choices: Choices) -> list[str]:
    """Merge a run of characters that are all in the vocabulary.

    Clauses: BPE-ENC-2, BPE-ENC-3, BPE-ENC-4, BPE-ENC-5, BPE-ENC-9.

    >>> model = Bpe(("a", "b", "c", "bc", "ab", "abc"), merges=(("b", "c"), ("a", "b"), ("ab", "c")))
    >>> merge_symbols("abc", model, Choices())
    ['a', 'bc']
    """
    rank_of, size = _rank_of(model, choices), len(symbols)
    once = choices.bpe_merge_order == "single_pass" and choices.bpe_pairs == "listed"
    tokens = list(symbols)  # empty where one was merged into the one before
    starts = list(range(-1, size))  # of the token that ends at a place
    ranks = [*map(rank_of, pairwise(symbols)), None]  # of each token with the one after it
    # One number for both: BPE-ENC-3, the lowest rank; BPE-ENC-4, of one rank, from left to right
    heap = [rank * size + left for left, rank in enumerate(ranks) if rank is not None]
    heapq.heapify(heap)
    while heap:
        rank, left = divmod(heapq.heappop(heap), size)
        if ranks[left] != rank:
            continue  # one of the two was merged since; what stands there now was offered by itself
        right = left + len(tokens[left])
        token = tokens[left] + tokens[right]
        end = left + len(token)
        tokens[left], tokens[right], starts[end] = token, "", left
        ranks[left] = ranks[right] = None
        for first, second in ((starts[left], left), (left, end)):
            if first < 0 or second == size:
                continue
            pair = tokens[first], tokens[second]
            ranks[first] = offered = rank_of(pair)
            if once and offered is not None and offered < rank:
                ranks[first] = offered = model.rank_after(pair, rank)  # BPE-ENC-5
            if offered is not None:
                heapq.heappush(heap, offered * size + first)
    return [token for token in tokens if token]


def bpe_ids(piece: str, model: Bpe, choices: Choices) -> list[int | None]:
    """Encode one piece to ids alone, which is quicker where all of its characters are known."""
    ids = model.ids
    if all(map(ids.__contains__, piece)):
        return [ids[token] for token in merge_symbols(piece, model, choices)]
    return [token.id for token in encode_bpe(piece, model, choices)]


def _rank_of(model: Bpe, choices: Choices) -> Callable[[Pair], int | None]:
    if choices.bpe_pairs == "in_vocabulary":  # BPE-ENC-2
        return lambda pair: model.ids.get(pair[0] + pair[1])
    return model.first_ranks.get


def _unknown(symbols: str, start: int, model: Bpe, choices: Choices) -> Iterator[Token]:
    if model.unknown_token is None:  # BPE-ENC-8
        yield from _UNKNOWN_WITHOUT_TOKEN[choices.bpe_unknown_without_token](symbols, start)
    elif choices.bpe_unknown_run == "fused":  # BPE-ENC-7
        yield model.unknown(symbols, start)
    else:
        yield from (model.unknown(symbol, start + index) for index, symbol in enumerate(symbols))


def _refused(symbols: str, start: int) -> list[Token]:
    raise InputError("unknown_symbol", f"{symbols[0]!r} is not in the vocabulary and the model has no unknown token")


def _dropped(symbols: str, start: int) -> list[Token]:
    return []


def _kept(symbols: str, start: int) -> list[Token]:
    return [Token(symbol, None, start + index, start + index + 1) for index, symbol in enumerate(symbols)]


_UNKNOWN_WITHOUT_TOKEN = {"error": _refused, "dropped_after_merging": _dropped, "kept": _kept}
