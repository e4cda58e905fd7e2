"""Byte-Pair Encoding: encoding by a heap of ranks, training by a queue of pairs (``spec/04-bpe.md``).

Encoding puts every pair of neighbours that may be merged into a heap, by rank and place. The smallest is merged, and
the two pairs that this makes are put in; a pair whose tokens were merged since is skipped when it comes up. Training is
that of :mod:`tokfast.pairs`, by falling counts.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise

from tokfast.pairs import Key, PairQueue, SplitCorpus
from tokfast.values import Part
from tokref.bpe import BpeTraining, Target, merge_symbols
from tokref.choices import Choices
from tokref.errors import InputError
from tokref.values import Bpe, Pair, Words, number_tokens, unknown_token

__all__ = ["BpeEncoder", "train_bpe"]


class BpeEncoder:
    """A BPE model prepared to encode many pieces.

    >>> encoder = BpeEncoder(Bpe({"[UNK]": 0, "g": 1, "u": 2, "ug": 3}, (("u", "g"),), "[UNK]"), Choices())
    >>> encoder.ids("mug")
    [0, 3]
    """

    def __init__(self, model: Bpe, choices: Choices) -> None:
        self._model = model
        self._choices = choices
        self._ids = model.vocabulary
        self._ranks: dict[Pair, list[int]] = {}  # rising; training may learn a merge twice
        for rank, pair in enumerate(model.merges):
            self._ranks.setdefault(pair, []).append(rank)
        self._rank_of = self._choose_ranks()
        self._has_turns = choices.bpe_merge_order == "single_pass" and choices.bpe_pairs == "listed"
        self._takes_all_places = (  # BPE-ENC-11
            choices.bpe_merge_places == "all" and choices.bpe_pairs == "listed" and not self._has_turns
        )
        self._drops_first = (
            model.unknown_token is None and choices.bpe_unknown_without_token == "dropped_before_merging"
        )

    def ids(self, piece: str) -> list[int | None]:
        """Encode a piece to ids alone."""
        if all(map(self._ids.__contains__, piece)):
            return [self._ids[token] for token in self._merge(piece)]
        return [part.id for part in self.parts(piece)]

    def parts(self, piece: str) -> list[Part]:
        """Encode a piece."""
        if self._drops_first:  # BPE-ENC-8
            return self._known_parts(piece)
        if all(map(self._ids.__contains__, piece)):
            return self._merged_parts(piece, range(len(piece)))
        parts: list[Part] = []
        begin = 0
        for is_known, run in groupby(piece, self._ids.__contains__):
            symbols = "".join(run)
            places = range(begin, begin + len(symbols))
            parts += self._merged_parts(symbols, places) if is_known else self._unknown_parts(symbols, places)
            begin += len(symbols)
        return parts

    def _known_parts(self, piece: str) -> list[Part]:
        """Encode what is left of a piece without its unknown symbols."""
        places = [place for place, symbol in enumerate(piece) if symbol in self._ids]
        return self._merged_parts("".join(piece[place] for place in places), places)

    def _merged_parts(self, symbols: str, places: Sequence[int]) -> list[Part]:
        """Encode known symbols that stand at these places."""
        parts: list[Part] = []
        begin = 0
        for token in self._merge(symbols):
            end = begin + len(token)
            parts.append(Part(token, self._ids[token], places[begin:end]))
            begin = end
        return parts

    def _unknown_parts(self, symbols: str, places: Sequence[int]) -> list[Part]:
        """Encode a run of unknown symbols that stand at these places."""
        if self._model.unknown_token is not None:
            text, id, _, _ = unknown_token(self._model, symbols, 0, 0)
            if self._choices.bpe_unknown_run == "fused":  # BPE-ENC-7
                return [Part(text, id, places[:1], places[-1:])]
            return [Part(text, id, places[index : index + 1]) for index in range(len(symbols))]
        if self._choices.bpe_unknown_without_token == "error":  # BPE-ENC-8
            message = f"{symbols[0]!r} is not in the vocabulary and the model has no unknown token"
            raise InputError("unknown_symbol", message)
        if self._choices.bpe_unknown_without_token == "kept":
            return [Part(symbol, None, places[index : index + 1]) for index, symbol in enumerate(symbols)]
        return []  # dropped after merging

    def _merge(self, symbols: str) -> list[str]:
        """Merge symbols that are all in the vocabulary."""
        if self._takes_all_places:
            return merge_symbols(list(symbols), self._model, self._choices)
        rank_of = self._rank_of
        size = len(symbols)
        tokens = list(symbols)  # empty where one was merged into the one before
        starts = list(range(-1, size))  # of the token that ends at a place
        ranks = [*map(rank_of, pairwise(symbols)), None]  # of each token with the one after it
        # One number for both: the lowest rank (BPE-ENC-3), and of one rank the leftmost place (BPE-ENC-4)
        heap = [rank * size + left for left, rank in enumerate(ranks) if rank is not None]
        heapq.heapify(heap)
        while heap:
            rank, left = divmod(heapq.heappop(heap), size)
            if ranks[left] != rank:
                continue  # one of the two was merged since; what stands there now was put in by itself
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
                if self._has_turns and offered is not None and offered < rank:  # BPE-ENC-5: its turn has passed
                    ranks[first] = offered = next((later for later in self._ranks[pair] if later > rank), None)
                if offered is not None:
                    heapq.heappush(heap, offered * size + first)
        return [token for token in tokens if token]

    def _choose_ranks(self) -> Callable[[Pair], int | None]:
        """Return the function that tells the rank of a pair, or None if it may not be merged (BPE-ENC-2)."""
        ids = self._ids
        if self._choices.bpe_pairs == "in_vocabulary":
            return lambda pair: ids.get(pair[0] + pair[1])
        return {pair: ranks[0] for pair, ranks in self._ranks.items()}.get


def train_bpe(words: Words, special_tokens: Sequence[str], target: Target, choices: Choices) -> BpeTraining:
    """Learn merges until the target is reached, as :func:`tokref.train_bpe` does.

    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> train_bpe(words, [], Target(merge_count=3), Choices()).steps
    (('u', 'g', 20), ('u', 'n', 16), ('h', 'ug', 15))
    """
    ids = number_tokens(dict.fromkeys([*special_tokens, *sorted(set().union(*words))]))  # BPE-TRAIN-2, BPE-TRAIN-3
    corpus = SplitCorpus(words, words.values())
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
