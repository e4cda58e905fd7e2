"""Records side by side: which belong together, what is left over, and what two packs have to say to each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tokspec.judge.verdicts import Verdict
from tokspec.packs.pairs import Unpaired, compared, paired
from tokspec.packs.record import Input, Record


def records(section: str, *texts: str) -> list[Record]:
    return [Record(Input(section, str(number), text), {}) for number, text in enumerate(texts)]


def names(pairs: list[tuple[Record, Record]]) -> list[tuple[str, str, str]]:
    return [(left.input.text, left.input.name, right.input.name) for left, right in pairs]


def test_the_same_texts_meet_at_once() -> None:
    unpaired = Unpaired()
    texts = records("texts/words", "a", "b", "a")
    assert names(list(paired(texts, texts, unpaired))) == [("a", "0", "0"), ("b", "1", "1"), ("a", "2", "2")]
    assert (unpaired.first, unpaired.second) == (0, 0)


def test_what_one_side_alone_has_is_counted() -> None:
    unpaired = Unpaired()
    pairs = paired(records("texts/words", "a", "b", "c"), records("texts/words", "c", "d", "a", "e"), unpaired)
    assert sorted(names(list(pairs))) == [("a", "0", "2"), ("c", "2", "0")]
    assert (unpaired.first, unpaired.second) == (1, 2)


def test_a_text_that_is_there_several_times_has_as_many_others() -> None:
    unpaired = Unpaired()
    pairs = paired(records("texts/words", "a", "a", "b", "a"), records("texts/words", "b", "a", "a"), unpaired)
    assert sorted(names(list(pairs))) == [("a", "0", "1"), ("a", "1", "2"), ("b", "2", "0")]
    assert (unpaired.first, unpaired.second) == (1, 0)


def test_parts_are_read_in_step_however_many_texts_each_has() -> None:
    mine = [f"mine {number}" for number in range(10)]
    first = records("vocabulary/alone", *map(str, range(100))) + records("inputs/a.txt", *mine)
    second = records("texts/words", "x") + records("vocabulary/alone", "5") + records("inputs/b.txt", *mine)
    unpaired = Unpaired()
    found = [left.input.text for left, _ in paired(first, second, unpaired, waiting=5)]
    assert (found, unpaired.first, unpaired.second) == (["5", *mine], 99, 1)


def test_those_that_wait_longest_are_let_go() -> None:
    unpaired = Unpaired()
    first, second = records("texts/words", "a", "b", "c"), records("texts/words", "x", "y", "z", "c", "b", "a")
    assert names(list(paired(first, second, unpaired, waiting=2))) == [("c", "2", "3"), ("b", "1", "4")]
    assert (unpaired.first, unpaired.second) == (1, 4)


def test_long_texts_do_not_wait_in_numbers() -> None:
    unpaired = Unpaired()
    long = ["a" * 3_000_000, "b" * 3_000_000]
    pairs = paired(records("texts/words", *long), records("inputs/a", *long), unpaired)
    assert [(left.input.name, right.input.name) for left, right in pairs] == [("1", "1")]
    assert (unpaired.first, unpaired.second) == (1, 1)


BUG = {"tokens": ["bug"], "ids": [3], "spans": [[0, 3]]}


@pytest.mark.parametrize(
    ("expected", "actual", "verdicts"),
    [
        ({"results": {"encode": BUG}}, {"results": {"encode": BUG}}, {"encode": Verdict.PASS}),
        ({"results": {"encode": BUG}}, {"results": {"encode": {"ids": [3]}}}, {"encode": Verdict.PASS}),
        ({"results": {"encode": BUG}}, {"results": {"encode": {"ids": [4]}}}, {"encode": Verdict.FAIL}),
        ({"results": {"encode": {"ids": [3]}}}, {"results": {"encode": BUG}}, {"encode": Verdict.PASS}),
        (
            {"results": {"encode": {"ids": [3]}}},
            {"results": {"encode": {"tokens": ["bug"]}}},
            {"encode": Verdict.UNSUPPORTED},
        ),
        (
            {"results": {"encode": BUG, "decode": {"text": "bug"}}},
            {"results": {"encode": {**BUG, "ids": [4]}, "decode": {"text": "gub"}}},
            {"encode": Verdict.FAIL},
        ),
        (
            {"results": {"normalize": {"text": "bug"}, "pre_tokenize": {"pieces": []}}},
            {"results": {"normalize": {"text": "pug"}, "pre_tokenize": {"pieces": [["pug", 0, 3]]}}},
            {"normalize": Verdict.FAIL},
        ),
        ({"results": {"encode": BUG}}, {"refused": {"encode": "unknown_symbol"}}, {"encode": Verdict.ERROR}),
        ({"results": {"encode": BUG}}, {"unanswered": {"encode": "crash"}}, {"encode": Verdict.CRASH}),
        ({"results": {"encode": BUG}}, {"unanswered": {"encode": "unsupported"}}, {"encode": Verdict.UNSUPPORTED}),
        ({"results": {"encode": BUG}}, {}, {"encode": Verdict.UNSUPPORTED}),
        ({"unanswered": {"encode": "crash"}}, {"results": {"encode": BUG}}, {"encode": Verdict.FAIL}),
        ({"unanswered": {"encode": "crash"}}, {"unanswered": {"encode": "crash"}}, {"encode": Verdict.PASS}),
        ({"unanswered": {"encode": "unsupported"}}, {"results": {"encode": BUG}}, {}),
        ({}, {"results": {"encode": BUG}}, {}),
        ({"refused": {"encode": "unknown_symbol"}}, {"results": {"encode": BUG}}, {"encode": Verdict.FAIL}),
    ],
)
def test_packs_are_held_to_each_other(
    expected: Mapping[str, Any], actual: Mapping[str, Any], verdicts: Mapping[str, Verdict]
) -> None:
    sides = [Record(Input("texts/words", "bug", "bug"), **{"results": {}, **side}) for side in (expected, actual)]
    findings = compared([(sides[0], sides[1])], "code_point", "code_point")
    assert {operation: next(iter(tally.verdicts)) for (operation, _), tally in findings.tallies.items()} == verdicts
    assert findings.texts == 1


def test_spans_are_compared_in_one_unit() -> None:
    sides = [
        Record(Input("texts/emoji", "one", "🙂b"), {"encode": {"tokens": ["b"], "spans": [span]}})
        for span in ([1, 2], [2, 3], [4, 5])
    ]
    for second, unit in ((sides[1], "utf16"), (sides[2], "byte")):
        assert compared([(sides[0], second)], unit, "code_point").texts_that_differ == 0
        assert compared([(second, sides[0])], "code_point", unit).texts_that_differ == 0
        assert compared([(sides[0], second)], "code_point", "code_point").texts_that_differ == 1
