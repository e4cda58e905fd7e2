"""BPE against the same rules carried out on strings, and against a search through all orders of merges."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokfast.bpe import BpeEncoder
from tokref import AlignedText, Bpe, Choices, InputError, Target, Token, train_bpe
from tokref.bpe import base_vocabulary, best_pair, count_pairs, encode_bpe, merge_pair, merge_symbols, split_piece

from .strategies import LETTER_WORDS, WORDS, merge_lists

Pair = tuple[str, str]

TOY = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
TOY_MODEL = Bpe({token: id for id, token in enumerate(["[UNK]", *"bghnpsu", "ug", "un", "hug"])}, (("u", "g"), ("u", "n"), ("h", "ug")), "[UNK]")  # fmt: skip
SINGLE_PASS = Choices()
LOWEST_RANK = Choices(bpe_merge_order="lowest_rank")
IN_VOCABULARY = Choices(bpe_pairs="in_vocabulary")
SMALLEST_IDS = Choices(bpe_training_tie="smallest_ids")
PIECES = st.text("ab", max_size=6)


def model_of(merges: list[Pair], *others: str, unknown_token: str | None = None) -> Bpe:
    tokens = dict.fromkeys([*others, "a", "b", *(left + right for left, right in merges)])
    return Bpe({token: id for id, token in enumerate(tokens)}, tuple(merges), unknown_token)


def encode(text: str, model: Bpe, choices: Choices) -> list[Token]:
    return encode_bpe(AlignedText.from_input(text), model, choices)


# Words as strings: "hug" is written "|h|u|g|", and after the merge of u and g "|h|ug|".


def written(word: str) -> str:
    return "|" + "".join(f"{character}|" for character in word)


def tokens_in(line: str) -> tuple[str, ...]:
    return tuple(line.strip("|").split("|")) if line != "|" else ()


def places(line: str, pair: Pair) -> list[int]:
    return [match.start() for match in re.finditer(f"(?={re.escape('|{}|{}|'.format(*pair))})", line)]


def replaced(line: str, pair: Pair) -> str:
    return re.sub(rf"(?<=\|){re.escape('|'.join(pair))}(?=\|)", "".join(pair), line)


def pairs_of(lines: list[str], counts: list[int]) -> dict[Pair, tuple[int, tuple[int, int]]]:
    """Return every pair with its count and its first place: the word, and the position in it."""
    pairs = {pair for line in lines for pair in pairwise(tokens_in(line))}
    found = {}
    for pair in pairs:
        by_word = [places(line, pair) for line in lines]
        first = next((number, there[0]) for number, there in enumerate(by_word) if there)
        found[pair] = sum(count * len(there) for count, there in zip(counts, by_word, strict=True)), first
    return found


def train_on_strings(
    words: dict[str, int], special_tokens: list[str], merges: int, size: int, min_frequency: int, tie: str
) -> tuple[list[str], list[tuple[str, str, int]], list[str]]:
    lines, counts = [written(word) for word in words], [*words.values()]
    vocabulary = special_tokens + sorted(set("".join(words)) - set(special_tokens))
    steps: list[tuple[str, str, int]] = []
    while len(steps) < merges and len(vocabulary) < size:
        rows = [
            (-count, first if tie == "first_met" else tuple(map(vocabulary.index, pair)), pair)
            for pair, (count, first) in pairs_of(lines, counts).items()
        ]
        if not rows or -min(rows)[0] < min_frequency:
            break
        count, _, best = min(rows)
        steps.append((*best, -count))
        lines = [replaced(line, best) for line in lines]
        vocabulary += [] if "".join(best) in vocabulary else ["".join(best)]
    return vocabulary, steps, lines


# Training


def test_the_corpus_of_the_documents() -> None:
    """The example of the course: after each merge the words, the counts and the vocabulary, as the chapter prints them."""
    words = [(tuple(word), count) for word, count in TOY.items()]
    assert base_vocabulary(TOY) == ("b", "g", "h", "n", "p", "s", "u")
    assert count_pairs(words) == {
        ("h", "u"): 15,
        ("u", "g"): 20,
        ("p", "u"): 17,
        ("u", "n"): 16,
        ("b", "u"): 4,
        ("g", "s"): 5,
    }
    assert best_pair(words, base_vocabulary(TOY), Choices()) == (("u", "g"), 20)
    words = [(merge_pair(tokens, ("u", "g"), "ug"), count) for tokens, count in words]
    assert words == [
        (("h", "ug"), 10),
        (("p", "ug"), 5),
        (("p", "u", "n"), 12),
        (("b", "u", "n"), 4),
        (("h", "ug", "s"), 5),
    ]
    assert best_pair(words, [*base_vocabulary(TOY), "ug"], Choices()) == (("u", "n"), 16)
    words = [(merge_pair(tokens, ("u", "n"), "un"), count) for tokens, count in words]
    assert best_pair(words, [*base_vocabulary(TOY), "ug", "un"], Choices()) == (("h", "ug"), 15)
    words = [(merge_pair(tokens, ("h", "ug"), "hug"), count) for tokens, count in words]
    training = train_bpe(TOY, [], Target(vocabulary_size=10), Choices())
    assert training.steps == (("u", "g", 20), ("u", "n", 16), ("h", "ug", 15))
    assert training.vocabulary == ("b", "g", "h", "n", "p", "s", "u", "ug", "un", "hug")
    assert training.words == tuple(words)
    assert words == [(("hug",), 10), (("p", "ug"), 5), (("p", "un"), 12), (("b", "un"), 4), (("hug", "s"), 5)]


@pytest.mark.parametrize("tie", ["first_met", "smallest_ids"])
@given(
    words=WORDS | LETTER_WORDS | st.dictionaries(st.text("abc", max_size=7), st.integers(0, 3), max_size=8),
    special_tokens=st.lists(st.sampled_from(["<s>", "a", "ab", "ba"]), unique=True, max_size=2),
    merges=st.integers(0, 12),
    size=st.integers(0, 15),
    min_frequency=st.integers(0, 3),
)
def test_training_is_that_on_strings(
    tie: str, words: dict[str, int], special_tokens: list[str], merges: int, size: int, min_frequency: int
) -> None:
    vocabulary, steps, lines = train_on_strings(words, special_tokens, merges, size, min_frequency, tie)
    target = Target(vocabulary_size=size, merge_count=merges, min_frequency=min_frequency)
    training = train_bpe(words, special_tokens, target, Choices.from_mapping({"bpe_training_tie": tie}))
    assert (list(training.vocabulary), list(training.steps)) == (vocabulary, steps)
    assert training.words == tuple(zip(map(tokens_in, lines), words.values(), strict=True))


@given(WORDS | LETTER_WORDS, st.integers(0, 4))
def test_pairs_are_counted_in_the_order_first_met(words: dict[str, int], merges: int) -> None:
    training = train_bpe(words, [], Target(merge_count=merges), Choices())
    lines = ["|" + "".join(f"{token}|" for token in tokens) for tokens, _ in training.words]
    expected = pairs_of(lines, [count for _, count in training.words])
    in_order = sorted(expected, key=lambda pair: expected[pair][1])
    assert list(count_pairs(training.words).items()) == [(pair, expected[pair][0]) for pair in in_order]


def test_of_pairs_with_equal_counts_the_choice_decides() -> None:
    words = {"bc": 1, "aa": 1, "ab": 1}
    target = Target(merge_count=1)
    assert train_bpe(words, [], target, Choices()).steps == (("b", "c", 1),)
    assert train_bpe(words, [], target, SMALLEST_IDS).steps == (("a", "a", 1),)
    assert train_bpe(words, ["b", "c"], target, SMALLEST_IDS).steps == (("b", "c", 1),)
    assert train_bpe(words, ["b"], target, SMALLEST_IDS).steps == (("b", "c", 1),)
    assert train_bpe(words, ["c"], target, SMALLEST_IDS).steps == (("a", "a", 1),)


def test_overlapping_places_count_and_are_merged_from_the_left() -> None:
    training = train_bpe({"aaaaa": 2}, [], Target(merge_count=1), Choices())
    assert (training.steps, training.words) == ((("a", "a", 8),), ((("aa", "aa", "a"), 2),))


def test_a_merged_token_that_is_there_already_is_listed_once() -> None:
    training = train_bpe({"ab": 2, "abc": 1}, ["ab"], Target(merge_count=2), Choices())
    assert training.vocabulary == ("ab", "a", "b", "c", "abc")
    assert training.steps == (("a", "b", 3), ("ab", "c", 1))


TOY_MERGES = (("u", "g", 20), ("u", "n", 16), ("h", "ug", 15), ("p", "un", 12), ("p", "ug", 5), ("hug", "s", 5), ("b", "un", 4))  # fmt: skip


@pytest.mark.parametrize(
    ("words", "target", "expected"),
    [
        (TOY, Target(vocabulary_size=3), ()),
        (TOY, Target(vocabulary_size=99), TOY_MERGES),
        (TOY, Target(vocabulary_size=9, merge_count=5), TOY_MERGES[:2]),
        (TOY, Target(vocabulary_size=99, merge_count=1), TOY_MERGES[:1]),
        (TOY, Target(vocabulary_size=99, min_frequency=16), TOY_MERGES[:2]),
        ({"ab": 0}, Target(vocabulary_size=99), ()),
        ({"ab": 0}, Target(vocabulary_size=99, min_frequency=0), (("a", "b", 0),)),
        ({"": 3, "a": 2}, Target(vocabulary_size=99, min_frequency=0), ()),
        ({}, Target(vocabulary_size=99), ()),
    ],
    ids=str,
)
def test_training_stops(words: dict[str, int], target: Target, expected: object) -> None:
    assert train_bpe(words, [], target, Choices()).steps == expected


def test_counts_beyond_64_bits() -> None:
    training = train_bpe({"ab": 2**31, "abc": 2**63}, [], Target(merge_count=1), Choices())
    assert training.steps == (("a", "b", 2**31 + 2**63),)


@pytest.mark.parametrize(
    ("words", "special_tokens", "expected"),
    [
        ({}, ["<s>"], ("<s>",)),
        ({"ba": 1}, ["b", "<s>"], ("b", "<s>", "a")),
        ({"é\U0001f600": 0, "Zz": 1}, [], ("Z", "z", "é", "\U0001f600")),
    ],
)
def test_the_base_vocabulary(words: dict[str, int], special_tokens: list[str], expected: tuple[str, ...]) -> None:
    assert base_vocabulary(words, special_tokens) == expected


def test_no_pair_is_best_where_none_is_left() -> None:
    assert best_pair([(("ab",), 1), ((), 1)], ["a", "b", "ab"], Choices()) is None


# Encoding


def all_orders(
    symbols: list[str], rank: Callable[[str, str], int | None]
) -> list[tuple[list[tuple[int, int]], list[str]]]:
    """Return every way to merge one place after the other until none is left: ranks and places, and the result."""
    ways = []
    for place, pair in enumerate(pairwise(symbols)):
        if (here := rank(*pair)) is not None:
            rest = all_orders([*symbols[:place], "".join(pair), *symbols[place + 2 :]], rank)
            ways += [([(here, place), *order], result) for order, result in rest]
    return ways or [([], symbols)]


def merged(piece: str, model: Bpe, choices: Choices) -> list[str]:
    """Return the texts of merged symbols, each of which is to cover just the characters that it is made of."""
    symbols = merge_symbols(split_piece(piece, model), model, choices)
    assert [piece[symbol.begin : symbol.end] for symbol in symbols] == [symbol.text for symbol in symbols]
    return [symbol.text for symbol in symbols]


@given(merge_lists(), PIECES)
def test_a_single_pass_replaces_in_a_string_merge_by_merge(merges: list[Pair], piece: str) -> None:
    line = written(piece)
    for pair in merges:
        line = replaced(line, pair)
    assert tuple(merged(piece, model_of(merges), SINGLE_PASS)) == tokens_in(line)


@given(merge_lists(), PIECES)
def test_the_lowest_rank_is_the_first_of_all_orders_of_merges(merges: list[Pair], piece: str) -> None:
    distinct = list(dict.fromkeys(merges))
    ranks = {pair: rank for rank, pair in enumerate(distinct)}
    _, expected = min(all_orders(list(piece), lambda left, right: ranks.get((left, right))))
    assert merged(piece, model_of(distinct), LOWEST_RANK) == expected


@given(merge_lists(), PIECES)
def test_pairs_in_the_vocabulary_are_the_first_of_all_orders_of_merges(merges: list[Pair], piece: str) -> None:
    model = model_of(merges)
    _, expected = min(all_orders(list(piece), lambda left, right: model.vocabulary.get(left + right)))
    assert merged(piece, model, IN_VOCABULARY) == expected


@given(WORDS | LETTER_WORDS, st.text("abcd", max_size=14))
def test_with_merges_in_the_order_learned_the_order_makes_no_difference(words: dict[str, int], piece: str) -> None:
    training = train_bpe(words, [], Target(merge_count=12), Choices())
    merges = [(left, right) for left, right, _ in training.steps]
    model = model_of(merges, *training.vocabulary)
    assert merged(piece, model, SINGLE_PASS) == merged(piece, model, LOWEST_RANK)
    for tokens, _ in training.words:
        assert merged("".join(tokens), model, SINGLE_PASS) == list(tokens)


@pytest.mark.parametrize(
    ("merges", "choices", "expected"),
    [
        ([("b", "c"), ("a", "b"), ("ab", "c")], SINGLE_PASS, ["a", "bc"]),
        ([("b", "c"), ("a", "b"), ("ab", "c")], LOWEST_RANK, ["a", "bc"]),
        ([("b", "c"), ("a", "b"), ("ab", "c")], IN_VOCABULARY, ["abc"]),
        ([("ab", "c"), ("a", "b")], SINGLE_PASS, ["ab", "c"]),  # possible only after its turn
        ([("ab", "c"), ("a", "b")], LOWEST_RANK, ["abc"]),
        ([], SINGLE_PASS, ["a", "b", "c"]),
        ([], LOWEST_RANK, ["a", "b", "c"]),
        ([("ab", "c"), ("a", "b"), ("ab", "c")], SINGLE_PASS, ["abc"]),  # listed twice, so it has two turns
    ],
    ids=str,
)
def test_rank_decides_and_not_length(merges: list[Pair], choices: Choices, expected: list[str]) -> None:
    model = model_of(merges, "c", "abc")
    assert merged("abc", model, choices) == expected


@pytest.mark.parametrize(
    ("piece", "expected"),
    [("bug", ["b", "ug"]), ("mug", ["[UNK]", "ug"]), ("thug", ["[UNK]", "hug"]), ("unhug", ["un", "hug"]), ("", [])],
)
def test_the_model_of_the_documents(piece: str, expected: list[str]) -> None:
    assert [token.text for token in encode(piece, TOY_MODEL, Choices())] == expected


PARTS = st.lists(st.text("ab", max_size=4) | st.text("xy", min_size=1, max_size=3), max_size=4)


@given(PARTS, merge_lists(), st.sampled_from([SINGLE_PASS, LOWEST_RANK, IN_VOCABULARY]))
def test_unknown_characters_cut_a_piece_that_is_merged_part_by_part(
    parts: list[str], merges: list[Pair], choices: Choices
) -> None:
    model = model_of(merges, "<unk>", unknown_token="<unk>")
    expected, place = list[Token](), 0
    for is_known, group in groupby("".join(parts), lambda character: character in "ab"):
        part = "".join(group)
        found = merged(part, model, choices) if is_known else list(part)
        for symbol in found:
            text = symbol if is_known else "<unk>"
            expected.append(Token(text, model.vocabulary[text], place, place + len(symbol)))
            place += len(symbol)
    assert encode("".join(parts), model, choices) == expected


H, UNK, UG = TOY_MODEL.vocabulary["h"], 0, TOY_MODEL.vocabulary["ug"]


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("each", [("h", H, 0, 1), ("[UNK]", UNK, 1, 2), ("[UNK]", UNK, 2, 3), ("ug", UG, 3, 5)]),
        ("fused", [("h", H, 0, 1), ("[UNK]", UNK, 1, 3), ("ug", UG, 3, 5)]),
    ],
)
def test_a_run_of_unknown_characters(option: str, expected: object) -> None:
    assert encode("hmmug", TOY_MODEL, Choices.from_mapping({"bpe_unknown_run": option})) == expected


def test_an_unknown_token_that_the_text_spells_is_not_fused_with_unknown_characters() -> None:
    model = Bpe({"a": 0}, (), "a")
    assert encode("axya", model, Choices(bpe_unknown_run="fused")) == [("a", 0, 0, 1), ("a", 0, 1, 3), ("a", 0, 3, 4)]


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("dropped_after_merging", [("u", 1, 0, 1), ("g", 0, 2, 3)]),
        ("dropped_before_merging", [("ug", 2, 0, 3)]),
        ("kept", [("u", 1, 0, 1), ("m", None, 1, 2), ("g", 0, 2, 3)]),
    ],
)
@pytest.mark.parametrize("order", ["single_pass", "lowest_rank"])
def test_unknown_characters_without_an_unknown_token(option: str, order: str, expected: object) -> None:
    model = Bpe({"g": 0, "u": 1, "ug": 2}, (("u", "g"),))
    choices = Choices.from_mapping({"bpe_unknown_without_token": option, "bpe_merge_order": order})
    assert encode("umg", model, choices) == expected


def test_a_dropped_character_behind_an_added_one_is_not_in_the_span() -> None:
    model = Bpe({"▁": 0, "a": 1, "▁a": 2}, (("▁", "a"),))
    piece = AlignedText.from_input("ba").prefix("▁")
    assert encode_bpe(piece, model, Choices(bpe_unknown_without_token="dropped_before_merging")) == [("▁a", 2, 1, 2)]


@pytest.mark.parametrize(
    ("unknown_token", "message"),
    [
        (None, "'m' is not in the vocabulary and the model has no unknown token"),
        ("[UNK]", "'m' is unknown and the unknown token '[UNK]' is not in the vocabulary"),
    ],
)
def test_a_text_that_needs_an_unknown_token_is_refused(unknown_token: str | None, message: str) -> None:
    with pytest.raises(InputError) as caught:
        encode("am", Bpe({"a": 0}, (), unknown_token), Choices())
    assert (caught.value.reason, caught.value.message) == ("unknown_symbol", message)


def test_canonically_equivalent_characters_are_different() -> None:
    model = Bpe({"[UNK]": 0, "é": 1}, (), "[UNK]")
    assert encode("ée\u0301", model, Choices()) == [("é", 1, 0, 1), ("[UNK]", 0, 1, 2), ("[UNK]", 0, 2, 3)]


@pytest.mark.parametrize("choices", [SINGLE_PASS, LOWEST_RANK, IN_VOCABULARY])
def test_the_parts_of_an_unused_token_stand_where_they_stand_in_it(choices: Choices) -> None:
    merges = (("b", "c"), ("a", "bc"))
    model = Bpe({"a": 0, "b": 1, "c": 2, "bc": 3, "abc": 4}, merges, kinds={"abc": "unused"})
    assert encode("cabc", model, choices) == [("c", 2, 0, 1), ("a", 0, 1, 2), ("bc", 3, 2, 4)]


def test_a_whole_piece_that_is_unused_is_taken_apart() -> None:
    """SP-UNUSED-1: an unused token is never in a result, and so BPE-WHOLE-1 does not give it either."""
    vocabulary = {"a": 0, "b": 1, "ab": 2}
    model = Bpe(vocabulary, (("a", "b"),), ignore_merges=True, kinds={"ab": "unused"})
    assert encode("ab", model, Choices()) == [("a", 0, 0, 1), ("b", 1, 1, 2)]
    assert BpeEncoder(model, Choices()).ids("ab") == [0, 1]


def test_the_parts_of_an_unused_token_with_a_suffix_stand_within_it() -> None:
    vocabulary = {"a": 0, "b": 1, "b</w>": 2, "ab</w>": 3, "?": 4}
    model = Bpe(vocabulary, (("a", "b</w>"),), "?", end_of_word_suffix="</w>", kinds={"ab</w>": "unused"})
    suffix = [("?", 4, 1, 2)] * 4
    assert encode("ab", model, Choices()) == [("a", 0, 0, 1), ("b", 1, 1, 2), *suffix]


@pytest.mark.parametrize("choices", [SINGLE_PASS, LOWEST_RANK, IN_VOCABULARY])
def test_a_long_piece(choices: Choices) -> None:
    model = Bpe({"^": 0, "^^": 1, "^^^^": 2}, (("^", "^"), ("^^", "^^")))
    assert merged("^" * 403, model, choices) == ["^^^^"] * 100 + ["^^", "^"]
