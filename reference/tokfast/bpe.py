"""Byte-Pair Encoding: encoding by a heap of ranks, training by a queue of pairs (``spec/04-bpe.md``).

Encoding works on ids. It puts every pair of neighbours that may be merged into a heap, by rank and place. The smallest
is merged, and the two pairs that this makes are added; a pair whose tokens were merged since is skipped when it comes
up. Two characters that are side by side in no token are never merged, so a long piece is cut between them first, and
the result of a short part is cached: without a pre-tokenizer these parts are the words. Training is that of
:mod:`tokfast.pairs`, by falling counts.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise

from tokfast.pairs import Key, PairQueue, SplitCorpus
from tokfast.values import Cache, Part, byte_tokens
from tokref.bpe import BpeTraining, Target, base_vocabulary, join_symbols, mark_end, split_piece
from tokref.choices import Choices
from tokref.errors import InputError
from tokref.values import Bpe, Pair, Words, number_tokens, set_kind, unknown_token

LONG = 64
"""From how many characters a piece is cut into parts that are encoded apart."""

Merged = list[tuple[int | None, int]]
"""What symbols became: the id of each token, or None for an unknown symbol, and of how many symbols it is."""

_Pair = tuple[int | None, int | None]


class BpeEncoder:
    """A BPE model prepared to encode many pieces.

    >>> encoder = BpeEncoder(Bpe({"[UNK]": 0, "g": 1, "u": 2, "ug": 3}, (("u", "g"),), "[UNK]"), Choices())
    >>> encoder.ids("mug")
    [0, 3]
    """

    def __init__(self, model: Bpe, choices: Choices) -> None:
        self._model = model
        self._choices = choices
        unused = {token for token, kind in model.kinds.items() if kind == "unused"}
        self._ids = {token: id for token, id in model.vocabulary.items() if token not in model.kinds}
        self._byte_ids = {token: id for token, id in model.vocabulary.items() if token not in unused}
        self._tokens = {id: token for token, id in model.vocabulary.items()}
        self._unused = {model.vocabulary[token] for token in unused}
        self._has_affixes = bool(model.continuing_prefix or model.end_of_word_suffix)
        self._drops_first = (
            model.unknown_token is None and choices.bpe_unknown_without_token == "dropped_before_merging"
        )
        self._shows_surface = choices.unknown_token_text == "surface"  # ENC-9
        self._table = _MergeTable(model, choices)
        self._merged_parts = Cache(self._merge_part)

    def ids(self, piece: str) -> list[int | None]:
        """Encode a piece to ids alone."""
        if self._model.ignore_merges and piece in self._ids:  # BPE-WHOLE-1
            return [self._ids[piece]]
        ids = [id for id, _ in self._merge(self._symbols(piece)[0])]
        return ids if None not in ids else [part.id for part in self.parts(piece)]

    def parts(self, piece: str) -> list[Part]:
        """Encode a piece."""
        if self._model.ignore_merges and piece in self._ids:  # BPE-WHOLE-1
            return [Part(piece, self._ids[piece], range(len(piece)))]
        symbols, places = self._symbols(piece)
        parts: list[Part] = []
        begin = run = 0
        was_unknown = False
        for id, count in self._merge(symbols):
            where = places[begin : begin + count]
            is_unknown = False
            if id is not None:
                parts.append(Part(self._tokens[id], id, where))
            elif found := self._byte_tokens(piece[where[0]]):  # BPE-BYTES-1
                parts += [Part(name, byte_id, where) for name, byte_id in found]
            elif self._model.unknown_token is not None:
                is_unknown = True
                if was_unknown and self._fuses_unknown():  # BPE-ENC-7
                    text = parts[-1].text + piece[where[0]] if self._shows_surface else parts[-1].text
                    parts[-1] = parts[-1]._replace(text=text, places=places[run : begin + count])
                else:
                    run = begin
                    unknown = unknown_token(self._model, symbols[begin], 0, 0)
                    parts.append(Part(piece[where[0]] if self._shows_surface else unknown.text, unknown.id, where))
            elif self._choices.bpe_unknown_without_token == "kept":  # BPE-ENC-8
                parts.append(Part(symbols[begin], None, where))
            elif self._choices.bpe_unknown_without_token == "error":
                message = f"{symbols[begin]!r} is not in the vocabulary and the model has no unknown token"
                raise InputError("unknown_symbol", message)
            was_unknown = is_unknown
            begin += count
        return parts

    def _fuses_unknown(self) -> bool:
        is_wanted = self._model.fuse_unk  # BPE-ENC-10
        return self._choices.bpe_unknown_run == "fused" if is_wanted is None else is_wanted

    def _symbols(self, piece: str) -> tuple[Sequence[str], Sequence[int]]:
        """Return the symbols of a piece, and the places of their characters."""
        symbols = [symbol.text for symbol in split_piece(piece, self._model)] if self._has_affixes else piece
        places = range(len(piece))
        if not self._drops_first or all(map(self._ids.__contains__, symbols)):
            return symbols, places
        known = [place for place in places if symbols[place] in self._ids or self._byte_tokens(piece[place])]
        left = [symbols[place] for place in known]  # BPE-ENC-8
        return (left if self._has_affixes else "".join(left)), known

    def _byte_tokens(self, character: str) -> list[tuple[str, int]]:
        return byte_tokens(character, self._byte_ids) if self._model.byte_fallback else []

    def _merge(self, symbols: Sequence[str]) -> Merged:
        if isinstance(symbols, str) and len(symbols) > LONG:
            parts = map("".join, pairwise(symbols))
            cuts = [place for place, two in enumerate(parts, 1) if two not in self._neighbors]
            ranges = pairwise([0, *cuts, len(symbols)])
            return [*chain.from_iterable([self._merged_parts[symbols[begin:end]] for begin, end in ranges])]
        return self._merge_part(symbols)

    def _merge_part(self, symbols: Sequence[str]) -> Merged:
        merged = self._table.merge(symbols)
        if self._unused and any(id in self._unused for id, _ in merged):
            return [part for id, count in merged for part in self._split_unused(id, count)]
        return merged

    def _split_unused(self, id: int | None, count: int) -> Merged:
        """Replace an unused token by what merging makes of its characters without it (SP-UNUSED-2)."""
        if id is None or id not in self._unused:
            return [(id, count)]
        if count == 1:
            return [(None, 1)]
        without = set_kind("not_allowed", [self._tokens[id]], self._model)
        parts = _MergeTable(without, self._choices).merge(self._tokens[id])
        return [part for id, count in parts for part in self._split_unused(id, count)]

    @cached_property
    def _neighbors(self) -> set[str]:
        """Every two characters that are side by side in a token."""
        return {*map("".join, chain.from_iterable(map(pairwise, self._model.vocabulary)))}


class _MergeTable:
    """The merges of a model by the ids of their tokens, and by their ranks what they make."""

    def __init__(self, model: Bpe, choices: Choices) -> None:
        self._model = model
        left_out = {token for token, kind in model.kinds.items() if kind != "unused"}  # of which merging makes none
        self._ids = ids = {token: id for token, id in model.vocabulary.items() if token not in left_out}
        self._later_ranks: dict[_Pair, list[int]] = {}  # of a merge that is listed more than once, all, rising
        self._ranks: dict[str, int] = {}  # of the tokens of a model with scores
        if model.scores is not None:
            scores = {token: model.scores[token] for token in ids}
            falling = {score: rank for rank, score in enumerate(sorted({*scores.values()}, reverse=True))}
            self._ranks = {token: falling[score] for token, score in scores.items()}
        if model.scores is not None or choices.bpe_pairs == "in_vocabulary":
            self._tokens = {id: token for token, id in ids.items()}
            self._rank_of: Callable[[_Pair], int | None] = self._id_of_both
            if self._ranks:
                self._rank_of = self._rank_of_both
            self._merged: Sequence[int] = range(max(ids.values(), default=0) + 1)  # a rank is an id
            self._has_turns = self._takes_all_places = False
            return
        merges = model.merges
        if left_out:
            merges = tuple(pair for pair in merges if left_out.isdisjoint((*pair, join_symbols(pair, model))))
        lefts, rights = zip(*merges, strict=True) if merges else ((), ())
        pairs: list[_Pair] = [*zip(map(ids.get, lefts), map(ids.get, rights), strict=True)]
        ranks = dict(zip(reversed(pairs), reversed(range(len(pairs))), strict=True))  # of equal pairs, the first
        self._rank_of = ranks.get  # BPE-ENC-2
        made = (join_symbols(pair, model) for pair in merges) if model.continuing_prefix else map("".join, merges)
        self._merged = [ids[token] for token in made]
        self._has_turns = choices.bpe_merge_order == "single_pass"
        self._takes_all_places = not self._has_turns and choices.bpe_merge_places == "all"  # BPE-ENC-11
        for rank, pair in enumerate(pairs) if len(ranks) < len(pairs) else ():
            self._later_ranks.setdefault(pair, []).append(rank)

    def merge(self, symbols: Sequence[str]) -> Merged:
        """Merge symbols; one that is not in the vocabulary is merged with nothing (BPE-ENC-6; but SP-SCORE-1)."""
        if self._model.dropout == 1:  # BPE-DROPOUT-1
            return [(self._ids.get(symbol), 1) for symbol in symbols]
        rank_of, merged = self._rank_of, self._merged
        ids: list[int | None] = [*map(self._ids.get, symbols)]
        if self._ranks and None in ids:
            ids = [-1 - ord(symbol) if id is None else id for symbol, id in zip(symbols, ids, strict=True)]
        size = len(ids)
        ends = list(range(1, size + 1))  # of the token that starts at a place
        starts = list(range(-1, size))  # of the token that ends at a place
        ranks = [*map(rank_of, pairwise(ids)), None]  # of each token with the one after it
        # One number for both: the lowest rank (BPE-ENC-3), and of one rank the leftmost place (BPE-ENC-4)
        heap = [rank * size + left for left, rank in enumerate(ranks) if rank is not None]
        heapq.heapify(heap)
        while heap:
            rank, left = divmod(heapq.heappop(heap), size)
            lefts = [left]
            while self._takes_all_places and heap and heap[0] // size == rank:  # BPE-ENC-11
                lefts.append(heapq.heappop(heap) % size)
            for left in lefts:
                if ranks[left] != rank:
                    continue  # one of the two was merged since; the pair there now was added separately
                right = ends[left]
                end = ends[right]
                made = merged[rank] if not self._ranks else self._id_of_both((ids[left], ids[right]))
                ids[left], ends[left], starts[end] = made, end, left
                ranks[left] = ranks[right] = None
                for first, second in ((starts[left], left), (left, end)):
                    if first < 0 or second == size:
                        continue
                    pair = ids[first], ids[second]
                    offered = rank_of(pair)
                    if self._has_turns and offered is not None and offered < rank:  # BPE-ENC-5: its turn has passed
                        offered = next((later for later in self._later_ranks.get(pair, ()) if later > rank), None)
                    ranks[first] = offered
                    if offered is not None:
                        heapq.heappush(heap, offered * size + first)
        tokens: list[tuple[int | None, int]] = []
        place = 0
        while place < size:
            id = ids[place]
            tokens.append((None if id is not None and id < 0 else id, ends[place] - place))
            place = ends[place]
        return tokens

    def _rank_of_both(self, pair: _Pair) -> int | None:
        """Return the rank that the score of the token that two make together has (SP-SCORE-1)."""
        id = self._id_of_both(pair)
        return None if id is None else self._ranks[self._tokens[id]]

    def _id_of_both(self, pair: _Pair) -> int | None:
        """Return the id of the token that two make together."""
        if pair[0] is None or pair[1] is None:
            return None
        left, right = (chr(-1 - id) if id < 0 else self._tokens[id] for id in (pair[0], pair[1]))
        return self._ids.get(join_symbols((left, right), self._model))


def train_bpe(
    words: Words, special_tokens: Sequence[str], target: Target, choices: Choices, suffix: str = ""
) -> BpeTraining:
    """Learn merges until the target is reached, as :func:`tokref.train_bpe` does.

    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> train_bpe(words, [], Target(merge_count=3), Choices()).steps
    (('u', 'g', 20), ('u', 'n', 16), ('h', 'ug', 15))
    """
    ids = number_tokens(base_vocabulary(words, special_tokens, suffix))
    splits = [mark_end(word, suffix) for word in words] if suffix else words  # BPE-TRAIN-16
    corpus = SplitCorpus(splits, words.values())
    key = _KEYS[choices.bpe_training_tie](corpus, ids)
    queue = PairQueue()
    for pair in corpus.pair_counts:
        queue.offer(pair, key(pair))
    steps: list[tuple[str, str, int]] = []
    while not target.is_reached(len(ids), len(steps)):  # BPE-TRAIN-11
        best = queue.best(lambda pair: key(pair) if corpus.stands(pair) else None)
        if best is None or corpus.pair_counts[best] < target.min_frequency:  # BPE-TRAIN-11, BPE-TRAIN-14
            break
        steps.append((*best, corpus.pair_counts[best]))
        merged = best[0] + best[1]
        ids.setdefault(merged, len(ids))  # BPE-TRAIN-10
        for pair in corpus.merge(best, merged)[1]:
            queue.offer(pair, key(pair))
    return BpeTraining(tuple(ids), tuple(steps), corpus.splits())


def _first_met(corpus: SplitCorpus, ids: Mapping[str, int]) -> Callable[[Pair], Key]:
    return lambda pair: (-corpus.pair_counts[pair], corpus.first(pair))


def _smallest_ids(corpus: SplitCorpus, ids: Mapping[str, int]) -> Callable[[Pair], Key]:
    return lambda pair: (-corpus.pair_counts[pair], ids[pair[0]], ids[pair[1]])


_KEYS = {"first_met": _first_met, "smallest_ids": _smallest_ids}  # BPE-TRAIN-8
