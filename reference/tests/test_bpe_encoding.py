from __future__ import annotations

import documents
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import WORDS, merge_lists

from tokref import Bpe, Choices, InputError, Target, Token, encode_bpe, merge_symbols, train_bpe

SINGLE_PASS = Choices()
LOWEST_RANK = Choices(bpe_merge_order="lowest_rank")
IN_VOCABULARY = Choices(bpe_pairs="in_vocabulary")
THREE = Bpe(("a", "b", "c", "bc", "ab", "abc"), merges=(("b", "c"), ("a", "b"), ("ab", "c")))
TOY = Bpe(("[UNK]", *"bghnpsu", "ug", "un", "hug"), "[UNK]", (("u", "g"), ("u", "n"), ("h", "ug")))
PIECES = st.text("ab", max_size=14)


def model_of(merges: list[tuple[str, str]]) -> Bpe:
    return Bpe(tuple(dict.fromkeys(["a", "b", *(left + right for left, right in merges)])), merges=tuple(merges))


@given(merge_lists(), PIECES)
def test_a_single_pass_is_that_of_the_documents(merges: list[tuple[str, str]], piece: str) -> None:
    assert merge_symbols(piece, model_of(merges), SINGLE_PASS) == documents.encode_single_pass(piece, merges)


@given(merge_lists(), PIECES)
def test_the_lowest_rank_is_that_of_a_search_at_every_step(merges: list[tuple[str, str]], piece: str) -> None:
    ranks = {pair: rank for rank, pair in reversed(list(enumerate(merges)))}
    expected = documents.encode_lowest_rank(piece, lambda left, right: ranks.get((left, right)))
    assert merge_symbols(piece, model_of(merges), LOWEST_RANK) == expected


@given(merge_lists(), PIECES)
def test_pairs_in_the_vocabulary_are_those_of_a_search_at_every_step(merges: list[tuple[str, str]], piece: str) -> None:
    model = model_of(merges)
    expected = documents.encode_lowest_rank(piece, lambda left, right: model.ids.get(left + right))
    assert merge_symbols(piece, model, IN_VOCABULARY) == expected


@given(WORDS, PIECES)
def test_with_merges_in_the_order_learned_the_order_makes_no_difference(words: dict[str, int], piece: str) -> None:
    training = train_bpe({**words, "ab": 1}, [], Target(merge_count=12), Choices())
    model = Bpe(training.vocabulary, merges=tuple((left, right) for left, right, _ in training.steps))
    assert merge_symbols(piece, model, SINGLE_PASS) == merge_symbols(piece, model, LOWEST_RANK)
    for tokens, _ in training.words:
        assert merge_symbols("".join(tokens), model, SINGLE_PASS) == list(tokens)


@pytest.mark.parametrize(
    ("choices", "expected"),
    [(SINGLE_PASS, ["a", "bc"]), (LOWEST_RANK, ["a", "bc"]), (IN_VOCABULARY, ["abc"])],
)
def test_rank_decides_and_not_length(choices: Choices, expected: list[str]) -> None:
    assert merge_symbols("abc", THREE, choices) == expected


def test_a_merge_that_became_possible_too_late() -> None:
    late = Bpe(("a", "b", "c", "ab", "abc"), merges=(("ab", "c"), ("a", "b")))
    assert merge_symbols("abc", late, SINGLE_PASS) == ["ab", "c"]
    assert merge_symbols("abc", late, LOWEST_RANK) == ["abc"]


@pytest.mark.parametrize(
    ("piece", "expected"),
    [("bug", ["b", "ug"]), ("mug", ["[UNK]", "ug"]), ("thug", ["[UNK]", "hug"]), ("unhug", ["un", "hug"]), ("", [])],
)
def test_the_toy(piece: str, expected: list[str]) -> None:
    assert [token.text for token in encode_bpe(piece, TOY, Choices())] == expected


def test_unknown_characters() -> None:
    assert encode_bpe("hmmug", TOY, Choices()) == [
        Token("h", 3, 0, 1),
        Token("[UNK]", 0, 1, 2),
        Token("[UNK]", 0, 2, 3),
        Token("ug", 8, 3, 5),
    ]
    assert encode_bpe("hmmug", TOY, Choices(bpe_unknown_run="fused")) == [
        Token("h", 3, 0, 1),
        Token("[UNK]", 0, 1, 3),
        Token("ug", 8, 3, 5),
    ]


def test_unknown_characters_without_an_unknown_token() -> None:
    model = Bpe(("g", "u", "ug"), merges=(("u", "g"),))
    with pytest.raises(InputError, match=r"^unknown_symbol: 'm' is not in the vocabulary and the model has no unknown"):
        encode_bpe("umg", model, Choices())
    dropped = encode_bpe("umg", model, Choices(bpe_unknown_without_token="dropped_after_merging"))
    assert dropped == [Token("u", 1, 0, 1), Token("g", 0, 2, 3)]
    joined = encode_bpe("umg", model, Choices(bpe_unknown_without_token="dropped_before_merging"))
    assert joined == [Token("ug", 2, 0, 3)]
    kept = encode_bpe("umg", model, Choices(bpe_unknown_without_token="kept"))
    assert kept == [Token("u", 1, 0, 1), Token("m", None, 1, 2), Token("g", 0, 2, 3)]


def test_an_unknown_token_that_is_not_in_the_vocabulary_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        encode_bpe("m", Bpe(("a",), "[UNK]"), Choices())
    assert str(caught.value) == (
        "unknown_symbol: 'm' is unknown and the unknown token '[UNK]' is not in the vocabulary"
    )


def test_a_piece_in_the_vocabulary_is_reached_by_merges_or_not_at_all() -> None:
    assert merge_symbols("ab", Bpe(("a", "b", "ab")), Choices()) == ["a", "b"]


@pytest.mark.parametrize("choices", [SINGLE_PASS, LOWEST_RANK, IN_VOCABULARY])
def test_a_long_piece_takes_no_quadratic_time(choices: Choices) -> None:
    model = Bpe(("^", "^^", "^^^^"), merges=(("^", "^"), ("^^", "^^")))
    assert merge_symbols("^" * 100_003, model, choices) == ["^^^^"] * 25_000 + ["^^", "^"]
