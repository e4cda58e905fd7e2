"""WordPiece: training and encoding (``spec/05-wordpiece.md``).

A token that continues a word carries a prefix, ``##``. Training is that of BPE with two differences: the words are
split into characters of which all but the first carry the prefix, and the pair to merge is the one with the highest
score, not the highest count. Encoding needs no merges: it takes the longest token that fits and continues after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tokref.alignment import AlignedText
from tokref.bpe import Split, Target, count_pairs, merge_pair
from tokref.choices import Choices
from tokref.values import Pair, Token, WordPiece, Words, is_ordinary, unknown_token


@dataclass(frozen=True)
class WordPieceTraining:
    """What training learned and how it left the words. Steps are the merges, each with the score that it had."""

    vocabulary: tuple[str, ...]
    steps: tuple[tuple[str, str, Fraction], ...]
    words: tuple[Split, ...]


def split_word(word: str, prefix: str) -> tuple[str, ...]:
    """Split a word into its characters, all but the first with the continuing prefix (WP-TRAIN-1).

    >>> split_word("hug", "##")
    ('h', '##u', '##g')
    """
    return tuple(character if place == 0 else prefix + character for place, character in enumerate(word))


def wordpiece_alphabet(words: Words, special_tokens: Sequence[str], prefix: str) -> tuple[str, ...]:
    """Return the special tokens, then every character in the forms in which it is met, by code point.

    >>> wordpiece_alphabet({"aba": 1}, ["[UNK]"], "##")
    ('[UNK]', '##a', '##b', 'a')
    """
    alphabet = sorted({symbol for word in words for symbol in split_word(word, prefix)})  # WP-TRAIN-1
    return (*special_tokens, *(symbol for symbol in alphabet if symbol not in special_tokens))  # WP-TRAIN-2


def score_pairs(words: Sequence[Split]) -> dict[Pair, Fraction]:
    """Score all pairs, in the order in which each is first met (WP-TRAIN-3).

    Dividing by the counts of both tokens favours pairs that hardly occur without each other. In the toy corpus that is
    ``##g ##s``, the rarest pair of all, and not ``##u ##g``, which BPE merges first.

    The scores are exact fractions, so no rounding makes two of them equal or different (WP-TRAIN-4).

    >>> score_pairs([(("a", "##b"), 2), (("a",), 2)])
    {('a', '##b'): Fraction(1, 4)}
    """
    tokens = _count_tokens(words)
    scores: dict[Pair, Fraction] = {}
    for pair, count in count_pairs(words).items():
        product = tokens[pair[0]] * tokens[pair[1]]
        scores[pair] = Fraction(count, product) if product else Fraction(0)
    return scores


def best_scored_pair(words: Sequence[Split]) -> tuple[Pair, Fraction] | None:
    """Return the pair that is merged next, with its score, or None where no pair is left (WP-TRAIN-4).

    >>> best_scored_pair([(("h", "##u", "##g"), 10), (("h", "##u", "##g", "##s"), 5)])
    (('h', '##u'), Fraction(1, 15))
    """
    best: tuple[Pair, Fraction] | None = None
    for pair, score in score_pairs(words).items():
        if best is None or score > best[1]:  # of equal scores the pair first met stays
            best = pair, score
    return best


def train_wordpiece(words: Words, special_tokens: Sequence[str], target: Target, prefix: str) -> WordPieceTraining:
    """Learn merges until the target is reached.

    >>> train_wordpiece({"hug": 10, "hugs": 5}, [], Target(vocabulary_size=6), "##").vocabulary
    ('##g', '##s', '##u', 'h', 'hu', 'hug')
    """
    vocabulary = list(wordpiece_alphabet(words, special_tokens, prefix))
    splits = [(split_word(word, prefix), count) for word, count in words.items()]
    steps: list[tuple[str, str, Fraction]] = []
    while not target.is_reached(len(vocabulary), len(steps)):  # WP-TRAIN-7
        best = best_scored_pair(splits)
        if best is None:  # WP-TRAIN-7
            break
        (left, right), score = best
        merged = left + right.removeprefix(prefix)  # WP-TRAIN-5
        splits = [(merge_pair(tokens, (left, right), merged), count) for tokens, count in splits]  # WP-TRAIN-8
        steps.append((left, right, score))
        if merged not in vocabulary:  # WP-TRAIN-6
            vocabulary.append(merged)
    return WordPieceTraining(tuple(vocabulary), tuple(steps), tuple(splits))


def encode_wordpiece(piece: AlignedText, model: WordPiece, choices: Choices) -> list[Token]:
    """Encode one piece.

    Raises:
        InputError: ``unknown_symbol``, where the unknown token is needed and not in the vocabulary (WP-MODEL-1).

    >>> model = WordPiece({"[UNK]": 0, "hug": 1, "hugs": 2, "##s": 3})
    >>> [token.text for token in encode_wordpiece(AlignedText.from_input("hugss"), model, Choices())]
    ['hugs', '##s']
    >>> [token.text for token in encode_wordpiece(AlignedText.from_input("hugx"), model, Choices())]
    ['[UNK]']
    """
    size = len(piece.text)
    start, stop = piece.span(0, size)
    # Looking for the longest token takes the square of the length, so the published program gives up on long words.
    if length(piece.text, choices) > model.max_word_length:  # WP-ENC-4
        return [unknown_token(model, piece.text, start, stop)]
    tokens: list[Token] = []
    begin = 0
    while begin < size:
        prefix = model.continuing_prefix if begin > 0 else ""
        end = size
        while end > begin and not is_ordinary(prefix + piece.text[begin:end], model):  # WP-ENC-1: the longest first
            end -= 1
        # What was found before is given up too: a word is known as a whole or not at all.
        if end == begin:  # WP-ENC-2
            return [unknown_token(model, piece.text, start, stop)]
        text = prefix + piece.text[begin:end]
        tokens.append(Token(text, model.vocabulary[text], *piece.span(begin, end)))
        begin = end
    return tokens


def length(piece: str, choices: Choices) -> int:
    """Count the code points of a piece, its UTF-16 units (two for one above U+FFFF), or its bytes in UTF-8.

    >>> length("a𝐀", Choices(wordpiece_length_unit="utf16"))
    3
    """
    if choices.wordpiece_length_unit == "byte":
        return len(piece.encode("utf-8", "surrogatepass"))
    return sum(2 if choices.wordpiece_length_unit == "utf16" and character > "\uffff" else 1 for character in piece)


def _count_tokens(words: Iterable[Split]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for tokens, count in words:
        for token in tokens:
            counts[token] = counts.get(token, 0) + count
    return counts
