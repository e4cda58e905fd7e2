"""WordPiece and WordLevel: encoding by looking tokens up, training by a queue of pairs (``spec/05-wordpiece.md``).

WordPiece tries no end beyond the longest token; WordLevel looks up whole pieces (``spec/14-word-level.md``).

Training is that of :mod:`tokfast.pairs`, by falling scores. A merge lowers the counts of its two tokens, which raises
the score of every other pair with one of them: those pairs are put into the queue again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from tokfast.pairs import Key, PairQueue, SplitCorpus
from tokfast.values import Part
from tokref.bpe import Target
from tokref.choices import Choices
from tokref.values import Pair, WordLevel, WordPiece, Words, is_ordinary, unknown_token
from tokref.wordpiece import WordPieceTraining, length, split_word, wordpiece_alphabet


class WordPieceEncoder:
    """A WordPiece model prepared to encode many pieces.

    >>> encoder = WordPieceEncoder(WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}), Choices())
    >>> encoder.ids("hugs"), encoder.ids("hugx")
    ([1, 2], [0])
    """

    def __init__(self, model: WordPiece, choices: Choices) -> None:
        self._model = model
        self._choices = choices
        self._ids = {token: id for token, id in model.vocabulary.items() if token not in model.kinds}
        self._longest = max(map(len, self._ids), default=0)

    def ids(self, piece: str) -> list[int | None]:
        """Encode a piece to ids alone."""
        return [part.id for part in self.parts(piece)]

    def parts(self, piece: str) -> list[Part]:
        """Encode a piece."""
        parts: list[Part] = []
        begin = 0
        is_short = length(piece, self._choices) <= self._model.max_word_length  # WP-ENC-4
        while begin < len(piece):
            part = self._longest_at(begin, piece) if is_short else None
            if part is None:  # WP-ENC-2
                text, id, _, end = unknown_token(self._model, piece, 0, len(piece))
                return [Part(text, id, range(end))]
            parts.append(part)
            begin += len(part.places)
        return parts

    def _longest_at(self, begin: int, piece: str) -> Part | None:
        """Return the longest token at a place (WP-ENC-1); no end beyond the longest token is tried."""
        ids, prefix = self._ids, self._model.continuing_prefix if begin > 0 else ""
        for end in range(min(len(piece), begin + self._longest - len(prefix)), begin, -1):
            text = prefix + piece[begin:end]
            if text in ids:
                return Part(text, ids[text], range(begin, end))
        return None


class WordLevelEncoder:
    """A WordLevel model prepared to encode many pieces.

    >>> WordLevelEncoder(WordLevel({"<unk>": 0, "hug": 1})).ids("hug")
    [1]
    """

    def __init__(self, model: WordLevel) -> None:
        self._model = model

    def ids(self, piece: str) -> list[int | None]:
        """Encode a piece to ids alone."""
        return [part.id for part in self.parts(piece)]

    def parts(self, piece: str) -> list[Part]:
        """Encode a piece."""
        text, id = piece, self._model.vocabulary.get(piece) if is_ordinary(piece, self._model) else None  # WL-1
        if id is None:  # WL-2
            text, id, _, _ = unknown_token(self._model, piece, 0, 0)
        return [Part(text, id, range(len(piece)))]


def train_wordpiece(words: Words, special_tokens: Sequence[str], target: Target, prefix: str) -> WordPieceTraining:
    """Learn merges until the target is reached, as :func:`tokref.train_wordpiece` does.

    >>> train_wordpiece({"hug": 10, "hugs": 5}, [], Target(vocabulary_size=6), "##").vocabulary
    ('##g', '##s', '##u', 'h', 'hu', 'hug')
    """
    vocabulary = dict.fromkeys(wordpiece_alphabet(words, special_tokens, prefix))
    scores = _Scores(SplitCorpus([split_word(word, prefix) for word in words], words.values()))
    steps: list[tuple[str, str, Fraction]] = []
    while not target.is_reached(len(vocabulary), len(steps)):  # WP-TRAIN-7
        best = scores.best()
        if best is None:  # WP-TRAIN-7
            break
        merged = best[0] + best[1].removeprefix(prefix)  # WP-TRAIN-5
        steps.append((*best, scores.score(best)))
        scores.merge(best, merged)
        vocabulary.setdefault(merged)  # WP-TRAIN-6
    return WordPieceTraining(tuple(vocabulary), tuple(steps), scores.corpus.splits())


class _Scores:
    """The pairs of a corpus by falling score, then by first place (WP-TRAIN-4)."""

    def __init__(self, corpus: SplitCorpus) -> None:
        self.corpus = corpus
        self._counts = corpus.token_counts()
        # Scores are compared as integers. Counts are below 2**n, so different scores differ by more than 2**-4n:
        # multiplied by 2**4n and rounded down, they still differ.
        self._bits = 4 * sum(self._counts.values()).bit_length()
        self._queue = PairQueue()
        self._pairs: dict[str, set[Pair]] = {}
        self._offer(corpus.pair_counts)

    def score(self, pair: Pair) -> Fraction:
        """Return the score of a pair (WP-TRAIN-3)."""
        product = self._counts[pair[0]] * self._counts[pair[1]]
        return Fraction(self.corpus.pair_counts[pair], product) if product else Fraction(0)

    def best(self) -> Pair | None:
        """Return the pair of the highest score that still occurs."""
        return self._queue.best(lambda pair: self._key(pair) if self.corpus.stands(pair) else None)

    def merge(self, pair: Pair, merged: str) -> None:
        """Merge a pair everywhere."""
        count, gained = self.corpus.merge(pair, merged)
        for token, change in ((pair[0], -count), (pair[1], -count), (merged, count)):
            self._counts[token] += change
        self._offer(gained)
        for token in {*pair}:
            self._pairs[token] = set(filter(self.corpus.stands, self._pairs[token]))
            self._offer(self._pairs[token])

    def _key(self, pair: Pair) -> Key:
        product = self._counts[pair[0]] * self._counts[pair[1]]
        score = (self.corpus.pair_counts[pair] << self._bits) // product if product else 0
        return -score, self.corpus.first(pair)

    def _offer(self, pairs: Iterable[Pair]) -> None:
        for pair in tuple(pairs):
            self._queue.offer(pair, self._key(pair))
            for token in pair:
                self._pairs.setdefault(token, set()).add(pair)
