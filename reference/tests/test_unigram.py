"""Unigram against the list of all segmentations, in exact arithmetic.

Where the weights are logarithms that are whole numbers, sums are exact, and results are compared whole, ties included.
Where they are frequencies, probabilities are fractions, and what floating point chose is held to the best of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations, groupby, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokref import (
    AlignedText,
    Choices,
    InputError,
    Token,
    Unigram,
    corpus_loss,
    from_mapping,
    prune_step,
    segment,
    train_unigram,
)
from tokref.unigram import (
    encode_unigram,
    initial_vocabulary,
    loss_increase,
    loss_increases,
    ranked_substrings,
    segmentations,
    strict_substrings,
    token_costs,
    token_probabilities,
    viterbi,
)

from .strategies import LETTER_WORDS, WORDS

TOY = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
TOKENS = st.text("ab", min_size=1, max_size=4)
FREQUENCIES = st.dictionaries(TOKENS, st.integers(1, 9), min_size=1, max_size=9).map(Unigram)
LOGARITHMS = st.dictionaries(TOKENS, st.integers(-6, 0).map(float), min_size=1, max_size=9).map(
    lambda weights: Unigram(weights, "log_probability")
)
COVERING = LOGARITHMS.map(lambda model: Unigram({"a": -4.0, "b": -3.0} | dict(model.weights), "log_probability"))
"""Models that can write every word of the letters a and b."""
TRAINING_WORDS = (WORDS | LETTER_WORDS).filter(bool)


def encode(text: str, model: Unigram, option: str = "piece") -> list[Token]:
    return encode_unigram(AlignedText.from_input(text), model, Choices.from_mapping({"unigram_unknown": option}))


# Brute force


def all_ranges(size: int) -> list[list[tuple[int, int]]]:
    """Return all ways to cut so many characters into parts."""
    cuts = [places for number in range(size) for places in combinations(range(1, size), number)]
    return [list(pairwise((0, *places, size))) for places in cuts] or [[]]


def all_ways(word: str, tokens: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return all ways to write a word as tokens, those with shorter tokens in front first."""
    ways = [tuple(word[start:end] for start, end in ranges) for ranges in all_ranges(len(word))]
    return sorted((way for way in ways if all(token in tokens for token in way)), key=lambda way: [*map(len, way)])


def best_way(word: str, costs: Mapping[str, float]) -> tuple[float, tuple[str, ...]] | None:
    """Return the cheapest way and its cost; of equal ones that whose tokens, from the last, start first."""
    ways = [(sum(costs[token] for token in way), way) for way in all_ways(word, costs)]
    return min(ways, key=lambda row: (row[0], [-len(token) for token in reversed(row[1])]), default=None)


def exact_probabilities(model: Unigram) -> dict[str, Fraction]:
    total = sum(map(Fraction, model.weights.values()))
    return {token: Fraction(weight) / total for token, weight in model.weights.items()}


def product(tokens: tuple[str, ...], probabilities: Mapping[str, Fraction]) -> Fraction:
    return math.prod((probabilities[token] for token in tokens), start=Fraction(1))


def best_product(word: str, probabilities: Mapping[str, Fraction]) -> Fraction | None:
    return max((product(way, probabilities) for way in all_ways(word, probabilities)), default=None)


def exact_increase(words: Mapping[str, int], model: Unigram, token: str) -> float:
    """Return the logarithm of what the whole corpus gets less probable by when a token is removed."""
    probabilities = exact_probabilities(model)
    without = {other: probability for other, probability in probabilities.items() if other != token}
    ratio = Fraction(1)
    for word, count in words.items():
        before, after = best_product(word, probabilities), best_product(word, without)
        assert before is not None
        assert after is not None
        ratio *= (before / after) ** count
    return math.log(ratio)


# The initial vocabulary


def substrings_in_order(words: Mapping[str, int]) -> dict[str, int]:
    """Return all substrings by the place where each is first met: word, start, end."""
    places = [
        (number, start, end, word[start:end])
        for number, word in enumerate(words)
        for start in range(len(word))
        for end in range(start + 1, len(word) + 1)
    ]
    found = dict.fromkeys(substring for *_, substring in sorted(places))
    return {
        substring: sum(
            count * sum(word.startswith(substring, start) for start in range(len(word)))
            for word, count in words.items()
        )
        for substring in found
    }


def test_the_vocabulary_of_the_documents() -> None:
    frequencies = strict_substrings(TOY)
    assert frequencies == {
        **{"h": 15, "u": 36, "g": 20, "hu": 15, "ug": 20, "p": 17, "pu": 17, "n": 16, "un": 16, "b": 4, "bu": 4},
        **{"s": 5, "hug": 15, "gs": 5, "ugs": 5},
    }
    assert sum(frequencies.values()) == 210


@given(TRAINING_WORDS)
def test_substrings_are_counted_place_by_place(words: dict[str, int]) -> None:
    frequencies = substrings_in_order(words)
    strict = {
        substring: frequency
        for substring, frequency in frequencies.items()
        if any(substring in word and len(substring) < len(word) for word in words)
    }
    assert strict_substrings(words) == strict
    longer = [row for row in frequencies.items() if len(row[0]) >= 2]
    by_frequency = [
        row for frequency in sorted({f for _, f in longer}, reverse=True) for row in longer if row[1] == frequency
    ]
    assert ranked_substrings(words) == by_frequency


@given(TRAINING_WORDS, st.integers(0, 40))
def test_the_initial_vocabulary_is_characters_and_the_best_substrings(words: dict[str, int], size: int) -> None:
    frequencies = substrings_in_order(words)
    characters = [(character, frequencies[character]) for character in dict.fromkeys("".join(words))]
    others = ranked_substrings(words)
    expected = characters + others[: size - len(characters)] if size > len(characters) else characters
    model = initial_vocabulary(words, size)
    assert (list(model.weights.items()), model.kind, model.unknown_token) == (expected, "frequency", None)


def test_substrings_of_equal_frequency_stand_as_they_are_met() -> None:
    assert ranked_substrings({"abc": 1, "bca": 1}) == [("bc", 2), ("ab", 1), ("abc", 1), ("bca", 1), ("ca", 1)]


def test_words_that_never_occur_have_substrings_all_the_same() -> None:
    assert ranked_substrings({"ab": 0, "": 2}) == [("ab", 0)]
    assert initial_vocabulary({"ab": 0, "b": 2}, 9).weights == {"a": 0, "b": 2, "ab": 0}


# The model


def test_the_segmentations_of_the_documents() -> None:
    """The example of the course: the probabilities of "pug", and the table for "unhug" from left to right."""
    model = Unigram(strict_substrings(TOY))
    assert token_probabilities(model)["ug"] == 20 / 210
    assert [(tokens, round(probability, 7)) for tokens, probability in segmentations("pug", model)] == [
        (("p", "u", "g"), 0.0013217),
        (("p", "ug"), 0.0077098),
        (("pu", "g"), 0.0077098),
    ]
    assert viterbi("unhug", model) == [
        (("u",), 36 / 210),
        (("un",), 16 / 210),
        (("un", "h"), 16 / 210 * (15 / 210)),
        (("un", "hu"), 16 / 210 * (15 / 210)),
        (("un", "hug"), 16 / 210 * (15 / 210)),
    ]
    found = segment("unhug", model)
    assert found.tokens == ("un", "hug")
    assert math.isclose(found.value, -math.log(16 / 210 * 15 / 210))


@given(FREQUENCIES | LOGARITHMS, st.text("ab", max_size=8))
def test_all_segmentations_are_listed_with_shorter_tokens_first(model: Unigram, word: str) -> None:
    found = segmentations(word, model)
    assert [tokens for tokens, _ in found] == all_ways(word, model.weights)
    for tokens, probability in found:
        if model.kind == "frequency":
            expected = float(product(tokens, exact_probabilities(model)))
        else:
            expected = math.exp(sum(model.weights[token] for token in tokens))
        assert math.isclose(probability, expected, rel_tol=1e-12)


@pytest.mark.parametrize("start", [0.0, 1.0, -2.5])
@given(LOGARITHMS, st.text("ab", max_size=8))
def test_the_best_segmentation_is_the_cheapest_of_all(start: float, model: Unigram, word: str) -> None:
    best = best_way(word, {token: -weight for token, weight in model.weights.items()})
    if best is None:
        with pytest.raises(InputError) as caught:
            segment(word, model, start)
        expected = f"no_segmentation: {word!r} cannot be written with the tokens of the vocabulary"
        assert str(caught.value) == expected
    else:
        assert segment(word, model, start) == (best[1], start + best[0])


@given(FREQUENCIES, st.text("ab", max_size=8))
def test_the_best_segmentation_is_the_most_probable_of_all(model: Unigram, word: str) -> None:
    probabilities = exact_probabilities(model)
    best = best_product(word, probabilities)
    if best is None:
        with pytest.raises(InputError, match=r"^no_segmentation: "):
            segment(word, model)
    else:
        tokens, score = segment(word, model)
        assert "".join(tokens) == word
        assert math.isclose(product(tokens, probabilities), best, rel_tol=1e-9)  # rounding may tell equal ones apart
        assert math.isclose(score, -math.log(best), rel_tol=1e-9, abs_tol=1e-12)


@given(LOGARITHMS, st.text("ab", max_size=8))
def test_each_row_of_the_table_is_the_best_of_a_beginning(model: Unigram, word: str) -> None:
    table = viterbi(word, model)
    bests = [
        best_way(word[:end], {token: -weight for token, weight in model.weights.items()})
        for end in range(1, len(word) + 1)
    ]
    assert [row and row.tokens for row in table] == [best and best[1] for best in bests]
    assert all(
        row is None or math.isclose(row.value, math.exp(-best[0]))
        for row, best in zip(table, bests, strict=True)
        if best
    )


def logarithms(**weights: float) -> Unigram:
    return Unigram(weights, "log_probability")


def test_the_longest_token_is_not_the_best() -> None:
    model = logarithms(a=-1.0, b=-1.0, c=-1.0, ab=-2.5, abc=-4.0)
    assert segment("abc", model) == (("a", "b", "c"), 3.0)
    assert token_probabilities(model)["ab"] == math.exp(-2.5)
    assert token_costs(model)["ab"] == 2.5


def test_of_equal_scores_the_token_that_starts_first_stays() -> None:
    model = logarithms(a=-1.0, b=-1.0, ab=-2.0)
    assert segment("ab", model).tokens == ("ab",)
    model = logarithms(a=-1.0, aa=-1.0)
    assert segment("aaa", model).tokens == ("a", "aa")


def test_the_empty_word_is_written_without_tokens() -> None:
    model = Unigram({"a": 1})
    assert segment("", model) == ((), 0.0)
    assert segment("", model, 1.0) == ((), 1.0)
    assert segmentations("", model) == [((), 1.0)]
    assert viterbi("", model) == []


def test_a_token_that_never_occurs_has_no_probability() -> None:
    model = Unigram({"a": 0, "b": 0})
    assert (token_probabilities(model), token_costs(model)) == ({"a": 0.0, "b": 0.0}, {"a": math.inf, "b": math.inf})
    assert viterbi("ab", model) == [(("a",), 0.0), (("a", "b"), 0.0)]
    assert [token.text for token in encode("ab", model)] == ["a", "b"]


def test_a_frequency_too_small_beside_the_others_has_no_probability() -> None:
    model = from_mapping({"type": "unigram", "tokens": [["a", 5e-324], ["b", 1e308]]}).model
    assert isinstance(model, Unigram)
    assert (token_probabilities(model), token_costs(model)) == ({"a": 0.0, "b": 1.0}, {"a": math.inf, "b": 0.0})


# Unknown characters

UNKNOWN = st.dictionaries(TOKENS, st.integers(-6, 0).map(float), max_size=7).map(
    lambda weights: Unigram({"<unk>": -1.0} | weights, "log_probability", "<unk>")
)


@given(UNKNOWN, st.text("abx", max_size=7))
def test_unknown_characters_cost_ten_more_than_the_least_probable_token(model: Unigram, text: str) -> None:
    costs = {token: -weight for token, weight in model.weights.items()}
    alone = dict.fromkeys((character for character in text if character not in costs), max(costs.values()) + 10)
    best = best_way(text, costs | alone)
    assert best is not None  # every character is a token or unknown
    expected, place = list[Token](), 0
    for is_unknown, group in groupby(best[1], lambda token: token in alone):
        for length in [sum(map(len, group))] if is_unknown else map(len, group):
            token = "<unk>" if is_unknown else text[place : place + length]
            expected.append(Token(token, model.vocabulary[token], place, place + length))
            place += length
    assert encode(text, model, "run") == expected


@given(UNKNOWN, st.text("abx", min_size=1, max_size=7))
def test_a_piece_that_no_segmentation_covers_is_unknown_as_a_whole(model: Unigram, text: str) -> None:
    best = best_way(text, {token: -weight for token, weight in model.weights.items()})
    tokens = ["<unk>"] if best is None else list(best[1])
    found = encode(text, model, "piece")
    assert [token.text for token in found] == tokens
    assert [token.id for token in found] == [model.vocabulary[token] for token in tokens]
    ends = [0, *(token.end for token in found)]
    assert [token.start for token in found] == ends[:-1]
    assert ends[-1] == len(text)


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("piece", [("<unk>", 0, 0, 5)]),
        ("run", [("a", 1, 0, 1), ("<unk>", 0, 1, 3), ("ab", 3, 3, 5)]),
    ],
)
def test_unknown_characters_in_a_piece(option: str, expected: object) -> None:
    model = Unigram({"<unk>": 0, "a": 3, "b": 3, "ab": 3}, "frequency", "<unk>")
    assert encode("axyab", model, option) == expected
    assert encode("ab", model, option) == [("ab", 3, 0, 2)]


def test_an_unknown_character_may_be_cheaper_than_two_tokens() -> None:
    model = Unigram({"<unk>": -0.1, "ab": -20.0, "bc": -0.1, "c": -20.0}, "log_probability", "<unk>")
    assert [token.text for token in encode("abc", model, "run")] == ["<unk>", "bc"]
    assert [token.text for token in encode("abc", model)] == ["ab", "c"]


def test_the_spelled_unknown_token_is_one_with_unknown_characters_beside_it() -> None:
    model = Unigram({"u": -1.0, "a": -1.0}, "log_probability", "u")
    assert encode("xuaux", model, "run") == [("u", 0, 0, 2), ("a", 1, 2, 3), ("u", 0, 3, 5)]
    assert encode("uu", model, "piece") == [("u", 0, 0, 1), ("u", 0, 1, 2)]


def test_where_no_token_has_a_probability_an_unknown_character_costs_ten() -> None:
    assert encode("xa", Unigram({"<unk>": 0, "a": 0}, "frequency", "<unk>"), "run") == [
        ("<unk>", 0, 0, 1),
        ("a", 1, 1, 2),
    ]


@pytest.mark.parametrize("option", ["piece", "run"])
@pytest.mark.parametrize(
    ("unknown_token", "message"),
    [
        (None, "{} is unknown and the model has no unknown token"),
        ("<unk>", "{} is unknown and the unknown token '<unk>' is not in the vocabulary"),
    ],
)
def test_a_text_that_needs_an_unknown_token_is_refused(option: str, unknown_token: str | None, message: str) -> None:
    with pytest.raises(InputError) as caught:
        encode("ax", Unigram({"a": 1}, "frequency", unknown_token), option)
    unknown = "'x'" if option == "run" and unknown_token else "'ax'"
    assert (caught.value.reason, caught.value.message) == ("unknown_symbol", message.format(unknown))


# Losses


def test_the_losses_of_the_documents() -> None:
    model = Unigram(strict_substrings(TOY))
    assert round(corpus_loss(TOY, model), 1) == 169.8
    assert round(corpus_loss(TOY, model, 1.0), 1) == 205.8
    assert loss_increase(TOY, model, "pu") == 0.0
    assert round(loss_increase(TOY, model, "hug"), 1) == 23.5


@given(WORDS, COVERING)
def test_the_loss_adds_up_the_cheapest_segmentations(words: dict[str, int], model: Unigram) -> None:
    costs = {token: -weight for token, weight in model.weights.items()}
    bests = [(best_way(word, costs), count) for word, count in words.items()]
    loss = sum(best[0] * count for best, count in bests if best is not None)
    assert corpus_loss(words, model) == loss
    assert corpus_loss(words, model, 1.0) == loss + sum(words.values())


@given(WORDS, COVERING)
def test_increases_are_differences_of_whole_losses(words: dict[str, int], model: Unigram) -> None:
    removable = [token for token in model.weights if len(token) != 1]
    expected = {}
    for token in removable:
        without = Unigram({other: weight for other, weight in model.weights.items() if other != token}, model.kind)
        expected[token] = corpus_loss(words, without) - corpus_loss(words, model)
    assert loss_increases(words, model) == expected
    assert {token: loss_increase(words, model, token) for token in removable} == expected


@settings(max_examples=30)
@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=6), st.integers(0, 4), min_size=1, max_size=5),
    st.integers(0, 20),
)
def test_increases_are_those_in_fractions(words: dict[str, int], size: int) -> None:
    words = words | {"abc": 1}  # at least one word occurs
    model = initial_vocabulary(words, size)
    model = Unigram({token: max(frequency, 1) for token, frequency in model.weights.items()})
    for token, increase in loss_increases(words, model).items():
        assert math.isclose(increase, exact_increase(words, model, token), rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize("count", [1, 10**7, 10**12, 10**17])
def test_an_increase_does_not_depend_on_how_often_other_words_occur(count: int) -> None:
    """The probabilities are a third each: "aa" costs log 3 with its own token, and twice as much without."""
    model = Unigram({"a": 1, "b": 1, "aa": 1})
    assert math.isclose(loss_increase({"b": count, "aa": 1}, model, "aa"), math.log(3), rel_tol=1e-15)


def test_the_increase_of_a_single_character() -> None:
    """With the token a, the word costs 0; without it, bb is in the way of no other word."""
    assert loss_increase({"ab": 2}, logarithms(a=-1.0, b=-1.0, ab=-3.0), "a") == 2.0


def test_a_word_that_never_occurs_adds_nothing() -> None:
    words = {"ab": 0, "b": 2}
    model = initial_vocabulary(words, 9)
    assert corpus_loss(words, model, 1.0) == 2.0
    assert loss_increases(words, model) == {"ab": 0.0}


INFINITE = "the answer is infinite: a word needs a token of probability 0"


def test_an_infinite_answer_is_refused() -> None:
    model = Unigram({"a": 1, "b": 0, "ab": 1})
    for ask in (
        lambda: segment("b", model),
        lambda: corpus_loss({"b": 1}, model),
        lambda: loss_increase({"ab": 1}, model, "ab"),
    ):
        with pytest.raises(InputError) as caught:
            ask()
        assert (caught.value.reason, caught.value.message) == ("invalid_input", INFINITE)


def test_a_word_that_is_infinitely_dear_with_and_without_a_token_adds_nothing() -> None:
    model = Unigram({"a": 1, "b": 0, "aa": 1, "bb": 0})
    assert loss_increases({"bb": 1, "aa": 2}, model) == {"aa": 2 * math.log(2), "bb": 0.0}


@pytest.mark.parametrize(
    ("words", "tokens", "removed", "reason", "message"),
    [
        ({}, {"a": 1}, "b", "invalid_input", "'b' is not in the vocabulary and cannot be removed"),
        ({"aa": 1}, {"aa": 1}, "aa", "no_segmentation", "'aa' cannot be written with the tokens of the vocabulary"),
        ({"aa": 0}, {"aa": 1}, "aa", "no_segmentation", "'aa' cannot be written with the tokens of the vocabulary"),
        ({"ab": 0}, {"a": 1}, "a", "no_segmentation", "'ab' cannot be written with the tokens of the vocabulary"),
    ],
)
def test_an_increase_that_there_is_not_is_refused(
    words: dict[str, int], tokens: dict[str, float], removed: str, reason: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        loss_increase(words, Unigram(tokens), removed)
    assert (caught.value.reason, caught.value.message) == (reason, message)


def test_the_loss_of_a_word_that_no_segmentation_covers_is_refused() -> None:
    for ask in (
        lambda: corpus_loss({"ab": 0}, Unigram({"a": 1})),
        lambda: prune_step({"ab": 0}, Unigram({"a": 1}), 0.5),
    ):
        with pytest.raises(InputError) as caught:
            ask()
        assert str(caught.value) == "no_segmentation: 'ab' cannot be written with the tokens of the vocabulary"


# Pruning


@given(WORDS, COVERING, st.sampled_from([0.05, 0.1, 0.25, 0.5, 1.0]))
def test_pruning_removes_what_raises_the_whole_loss_least(
    words: dict[str, int], model: Unigram, fraction: float
) -> None:
    increases = []
    for position, token in enumerate(model.weights):
        if len(token) != 1:
            without = Unigram({other: weight for other, weight in model.weights.items() if other != token}, model.kind)
            increases.append((corpus_loss(words, without) - corpus_loss(words, model), position, token))
    number = math.floor(len(model.weights) * fraction)
    expected = tuple(token for _, _, token in sorted(increases)[:number])
    left = {token: weight for token, weight in model.weights.items() if token not in expected}
    assert prune_step(words, model, fraction) == (expected, Unigram(left, model.kind))


@settings(max_examples=30)
@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=5), st.integers(1, 4), min_size=1, max_size=5),
    st.integers(5, 20),
    st.sampled_from([0.1, 0.2, 0.5, 1.0]),
)
def test_training_prunes_by_increases_in_fractions(words: dict[str, int], size: int, fraction: float) -> None:
    model = initial_vocabulary(words, size)
    sizes = [len(model.weights)]
    while sizes[-1] > 4:
        increases = {token: exact_increase(words, model, token) for token in model.weights if len(token) != 1}
        removed, model = prune_step(words, model, fraction)
        number = min(math.floor(sizes[-1] * fraction), len(increases))
        smallest = sorted(increases.values())[:number]
        assert [increases[token] for token in removed] == pytest.approx(smallest, rel=1e-9, abs=1e-9)
        if not removed:
            break
        sizes.append(sizes[-1] - len(removed))
    training = train_unigram(words, size, 4, fraction)
    assert (training.model, training.sizes) == (model, tuple(sizes))


def test_pruning_does_not_round_small_increases_away() -> None:
    """The word cabb costs 1.9e-8 more without its token, and the same without any of the tokens that it does not use."""
    training = train_unigram({"c": 268435438, "cabb": 1}, 8, 4, 0.3)
    assert training.sizes == (8, 6, 5, 4)  # without ca and cab, then without ab, then without abb
    assert training.model.weights == {"c": 268435439, "a": 1, "b": 2, "cabb": 1}


def test_of_equal_increases_the_first_in_the_vocabulary_is_removed_first() -> None:
    removed, model = prune_step({"b": 1}, Unigram({"b": 1, "aab": 1, "aa": 1, "ab": 1}), 0.5)
    assert (removed, dict(model.weights)) == (("aab", "aa"), {"b": 1, "ab": 1})


def test_a_token_that_leaves_an_infinite_loss_is_removed_last() -> None:
    model = Unigram({"aba": 1, "a": 1, "aa": 1, "bbbb": 1, "b": 0})
    assert prune_step({"aba": 1, "b": 1}, model, 0.34)[0] == ("aa",)
    assert prune_step({"aba": 1, "b": 1}, model, 1)[0] == ("aa", "bbbb", "aba")


def test_the_number_is_a_product_in_floating_point() -> None:
    """0.58 of 50 is 28.999999999999996 there, and 0.29 of 100 the same."""
    model = Unigram({"a": 1} | {"a" * length: 1 for length in range(2, 51)})
    assert len(prune_step({"a": 1}, model, 0.58)[0]) == 28


@pytest.mark.parametrize("fraction", [0, -0.1, 1.5])
def test_a_fraction_outside_of_zero_to_one_is_refused(fraction: float) -> None:
    with pytest.raises(InputError) as caught:
        prune_step({}, Unigram(), fraction)
    message = f"{fraction!r} is not a fraction; give a number above 0 and up to 1"
    assert (caught.value.reason, caught.value.message) == ("invalid_input", message)


@pytest.mark.parametrize(
    ("words", "initial_size", "size", "fraction", "tokens", "sizes"),
    [
        ({"abc": 1}, 6, 1, 0.5, ["a", "b", "c"], (6, 3)),
        ({"abcdefgh": 1}, 9, 8, 0.1, [*"abcdefgh", "ab"], (9,)),
        ({"abc": 1}, 6, 6, 0.5, ["a", "b", "c", "ab", "abc", "bc"], (6,)),
        ({}, 9, 0, 0.1, [], (0,)),
    ],
)
def test_training_ends_when_nothing_is_removed(
    words: dict[str, int], initial_size: int, size: int, fraction: float, tokens: list[str], sizes: tuple[int, ...]
) -> None:
    training = train_unigram(words, initial_size, size, fraction)
    assert ([*training.model.weights], training.sizes) == (tokens, sizes)


def test_a_probability_beyond_floating_point_is_refused() -> None:
    model = Unigram({"a": 400.0}, "log_probability")
    message = "the probability of ['a', 'a'] is too large for floating point"
    for ask in (lambda: segmentations("aa", model), lambda: viterbi("aa", model)):
        with pytest.raises(InputError) as caught:
            ask()
        assert (caught.value.reason, caught.value.message) == ("invalid_input", message)
