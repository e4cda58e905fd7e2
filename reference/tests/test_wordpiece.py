"""WordPiece against the same rules carried out on strings, and against all ways to split a word."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokref import AlignedText, Choices, InputError, Target, Token, WordPiece, train_wordpiece
from tokref.wordpiece import best_scored_pair, encode_wordpiece, score_pairs, split_word, wordpiece_alphabet

from .strategies import HASH_WORDS, LETTER_WORDS, WORDS

Pair = tuple[str, str]

TOY = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
PREFIXES = st.sampled_from(["##", "#", "@", ""])


def encode(text: str, model: WordPiece) -> list[Token]:
    return encode_wordpiece(AlignedText.from_input(text), model, Choices())


def model_of(*tokens: str, prefix: str = "##", longest: int = 100) -> WordPiece:
    return WordPiece({token: id for id, token in enumerate(tokens)}, "[UNK]", prefix, longest)


# Words as strings: "hug" is written "|h|##u|##g|", and after its first merge "|hu|##g|".


def written(word: str, prefix: str) -> str:
    return "|" + f"|{prefix}".join(word) + "|" if word else "|"


def tokens_in(line: str) -> tuple[str, ...]:
    return tuple(line[1:-1].split("|")) if line != "|" else ()


def scores_of(lines: list[str], counts: list[int]) -> dict[Pair, tuple[Fraction, tuple[int, int]]]:
    """Return every pair with its exact score and its first place: the word, and the position in it."""
    tokens: Counter[str] = Counter()
    for line, count in zip(lines, counts, strict=True):
        tokens.update({token: count * tokens_in(line).count(token) for token in set(tokens_in(line))})
    found = {}
    for pair in {pair for line in lines for pair in pairwise(tokens_in(line))}:
        pattern = f"(?={re.escape('|{}|{}|'.format(*pair))})"
        by_word = [[match.start() for match in re.finditer(pattern, line)] for line in lines]
        number = sum(count * len(there) for count, there in zip(counts, by_word, strict=True))
        first = next((word, there[0]) for word, there in enumerate(by_word) if there)
        found[pair] = Fraction(number, tokens[pair[0]] * tokens[pair[1]]) if number else Fraction(), first
    return found


def train_on_strings(
    words: dict[str, int], special_tokens: list[str], size: int, prefix: str
) -> tuple[list[str], list[tuple[str, str, Fraction]], list[str]]:
    lines, counts = [written(word, prefix) for word in words], [*words.values()]
    alphabet = {word[:1] for word in words} | {prefix + character for word in words for character in word[1:]}
    vocabulary = special_tokens + sorted(alphabet - {""} - set(special_tokens))
    steps: list[tuple[str, str, Fraction]] = []
    while len(vocabulary) < size:
        scores = scores_of(lines, counts)
        best = min(scores, key=lambda pair: (-scores[pair][0], scores[pair][1]), default=None)
        if best is None:
            break
        left, right = best
        merged = left + (right[len(prefix) :] if right.startswith(prefix) else right)
        lines = [re.sub(rf"(?<=\|){re.escape('|'.join(best))}(?=\|)", merged, line) for line in lines]
        steps.append((left, right, scores[best][0]))
        vocabulary += [] if merged in vocabulary else [merged]
    return vocabulary, steps, lines


# Training


def test_the_toy_corpus() -> None:
    """The corpus of the chapter on BPE, worked by hand: ##s stands only behind ##g, so that pair scores highest."""
    words = [(split_word(word, "##"), count) for word, count in TOY.items()]
    assert words[-1] == (("h", "##u", "##g", "##s"), 5)
    assert wordpiece_alphabet(TOY, [], "##") == ("##g", "##n", "##s", "##u", "b", "h", "p")
    assert score_pairs(words) == {
        ("h", "##u"): Fraction(15, 15 * 36),
        ("##u", "##g"): Fraction(20, 36 * 20),
        ("p", "##u"): Fraction(17, 17 * 36),
        ("##u", "##n"): Fraction(16, 36 * 16),
        ("b", "##u"): Fraction(4, 4 * 36),
        ("##g", "##s"): Fraction(5, 20 * 5),
    }
    assert best_scored_pair(words) == (("##g", "##s"), Fraction(1, 20))
    training = train_wordpiece(TOY, [], Target(vocabulary_size=10), "##")
    assert training.steps == (
        ("##g", "##s", Fraction(1, 20)),
        ("h", "##u", Fraction(1, 36)),
        ("hu", "##gs", Fraction(5, 15 * 5)),
    )
    assert training.vocabulary == ("##g", "##n", "##s", "##u", "b", "h", "p", "##gs", "hu", "hugs")
    assert training.words == (
        (("hu", "##g"), 10),
        (("p", "##u", "##g"), 5),
        (("p", "##u", "##n"), 12),
        (("b", "##u", "##n"), 4),
        (("hugs",), 5),
    )


@given(
    WORDS | LETTER_WORDS | HASH_WORDS | st.dictionaries(st.text("ab", max_size=5), st.integers(0, 2), max_size=5),
    st.sampled_from([[], ["[UNK]"], ["a", "##b"]]),
    st.integers(0, 16),
    PREFIXES,
)
def test_training_is_that_on_strings(words: dict[str, int], special_tokens: list[str], size: int, prefix: str) -> None:
    vocabulary, steps, lines = train_on_strings(words, special_tokens, size, prefix)
    training = train_wordpiece(words, special_tokens, Target(vocabulary_size=size), prefix)
    assert (list(training.vocabulary), list(training.steps)) == (vocabulary, steps)
    assert training.words == tuple(zip(map(tokens_in, lines), words.values(), strict=True))


@given(WORDS | LETTER_WORDS | HASH_WORDS, st.integers(0, 4))
def test_scores_are_in_the_order_first_met(words: dict[str, int], merges: int) -> None:
    training = train_wordpiece(words, [], Target(merge_count=merges), "##")
    lines = ["|" + "".join(f"{token}|" for token in tokens) for tokens, _ in training.words]
    expected = scores_of(lines, [count for _, count in training.words])
    in_order = sorted(expected, key=lambda pair: expected[pair][1])
    assert list(score_pairs(training.words).items()) == [(pair, expected[pair][0]) for pair in in_order]


def test_the_alphabet_has_both_forms() -> None:
    assert wordpiece_alphabet({"ab": 1, "ba": 1, "a": 1}, ["[UNK]"], "##") == ("[UNK]", "##a", "##b", "a", "b")
    assert wordpiece_alphabet({"ab": 1}, [], "@") == ("@b", "a")
    assert wordpiece_alphabet({"aba": 1}, ["b"], "") == ("b", "a")


def test_a_token_that_two_merges_make_is_listed_once() -> None:
    training = train_wordpiece({"#": 3, "####": 3}, [], Target(vocabulary_size=9), "##")
    assert [(left, right) for left, right, _ in training.steps] == [("###", "###"), ("####", "###"), ("#", "#####")]
    assert training.vocabulary == ("#", "###", "####", "#####")


def test_words_that_never_occur_have_pairs_of_score_zero() -> None:
    training = train_wordpiece({"ab": 0}, [], Target(vocabulary_size=9), "##")
    assert training.steps == (("a", "##b", Fraction(0)),)


def test_scores_that_rounding_would_make_equal_are_different() -> None:
    words = {"cd": 2**54 + 1, "ab": 2**54}
    assert best_scored_pair([(split_word(word, "##"), count) for word, count in words.items()]) == (
        ("a", "##b"),
        Fraction(1, 2**54),
    )


def test_no_pair_is_best_where_none_is_left() -> None:
    assert best_scored_pair([(("a",), 1), ((), 1)]) is None


# Encoding


def all_splits(word: str, model: WordPiece) -> list[list[str]]:
    """Return every way to write the word, or a beginning of it, as tokens of the vocabulary."""
    ways = []
    for size in range(len(word) + 1):
        for number in range(size):
            for cuts in combinations(range(1, size), number):
                places = [0, *cuts, size]
                parts = [model.continuing_prefix * (start > 0) + word[start:end] for start, end in pairwise(places)]
                ways += [parts] if all(part in model.vocabulary for part in parts) else []
    return ways


@given(
    st.text("ab", min_size=1, max_size=7),
    st.sets(st.text("ab", min_size=1, max_size=3)),
    st.sets(st.text("ab", min_size=1, max_size=3)),
    PREFIXES,
)
def test_of_all_splits_the_one_with_the_longest_tokens_from_the_left(
    word: str, first: set[str], later: set[str], prefix: str
) -> None:
    tokens = dict.fromkeys(["[UNK]", *sorted(first), *(prefix + token for token in sorted(later))])
    model = model_of(*tokens, prefix=prefix)

    def lengths(parts: list[str]) -> list[int]:
        return [len(parts[0]), *(len(part) - len(prefix) for part in parts[1:])]

    best = max(all_splits(word, model), key=lengths, default=[])
    ends = [sum(lengths(best)[:number]) for number in range(len(best) + 1)] if best else [0]
    if ends[-1] == len(word):
        expected = [Token(part, model.vocabulary[part], *span) for part, span in zip(best, pairwise(ends), strict=True)]
    else:
        expected = [Token("[UNK]", 0, 0, len(word))]
    assert encode(word, model) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hugs", [("hug", 0, 0, 3), ("##s", 1, 3, 4)]),
        ("hugx", [("[UNK]", 2, 0, 4)]),
        ("s", [("[UNK]", 2, 0, 1)]),
        ("hug##s", [("[UNK]", 2, 0, 6)]),
        ("##s", [("##s", 1, 0, 3)]),
    ],
)
def test_pieces(text: str, expected: object) -> None:
    assert encode(text, model_of("hug", "##s", "[UNK]")) == expected


def test_a_long_piece_is_unknown() -> None:
    model = model_of("a", "##a", "[UNK]")
    assert len(encode("a" * 100, model)) == 100
    assert encode("a" * 101, model) == [("[UNK]", 2, 0, 101)]
    assert encode("aa", model_of("a", "##a", "[UNK]", longest=1)) == [("[UNK]", 2, 0, 2)]
    assert encode("\U0001f600", model_of("\U0001f600", longest=1)) == [("\U0001f600", 0, 0, 1)]


@pytest.mark.parametrize(("text", "longest"), [("b", 100), ("aa", 1)])
def test_without_the_unknown_token_a_piece_that_needs_it_is_refused(text: str, longest: int) -> None:
    model = model_of("a", "##a", longest=longest)
    assert encode("a", model) == [("a", 0, 0, 1)]
    with pytest.raises(InputError) as caught:
        encode(text, model)
    message = f"{text!r} is unknown and the unknown token '[UNK]' is not in the vocabulary"
    assert (caught.value.reason, caught.value.message) == ("unknown_symbol", message)
