"""Records side by side: which belong together, what is left over, and what two sides are held to."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tokspec.compare import compare
from tokspec.compare.answers import Input, Record
from tokspec.compare.compare import _compare, _pair_up
from tokspec.compare.tally import Tally
from tokspec.judge.verdicts import Verdict
from tokspec.protocol.messages import Answer, Fault, Refused, Reply


def records(section: str, *texts: str) -> list[Record]:
    return [Record(Input(section, str(number), text)) for number, text in enumerate(texts)]


def paired(a: list[Record], b: list[Record]) -> tuple[list[tuple[str, str, str]], dict[str, int]]:
    """Return each pair as its text and both names, and how many texts have one side alone."""
    tally = Tally()
    pairs = [(left.input.text, left.input.name, right.input.name) for left, right in _pair_up(a, b, tally)]
    return pairs, tally.left


def test_the_same_texts_meet_at_once() -> None:
    texts = records("texts/words", "a", "b", "a")
    assert paired(texts, texts) == ([("a", "0", "0"), ("b", "1", "1"), ("a", "2", "2")], {})


def test_what_one_side_alone_has_is_counted() -> None:
    pairs, left = paired(records("texts/words", "a", "b", "c"), records("texts/words", "c", "d", "a", "e"))
    assert sorted(pairs) == [("a", "0", "2"), ("c", "2", "0")]
    assert left == {"texts of A alone": 1, "texts of B alone": 2}


def test_a_text_that_is_there_several_times_has_as_many_others() -> None:
    pairs, left = paired(records("texts/words", "a", "a", "b", "a"), records("texts/words", "b", "a", "a"))
    assert sorted(pairs) == [("a", "0", "1"), ("a", "1", "2"), ("b", "2", "0")]
    assert left == {"texts of A alone": 1}


def test_sections_are_read_in_step_however_many_texts_each_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "_WAITING", 5)
    mine = [f"mine {number}" for number in range(10)]
    first = records("vocabulary/alone", *map(str, range(100))) + records("inputs/a.txt", *mine)
    second = records("texts/words", "x") + records("vocabulary/alone", "5") + records("inputs/b.txt", *mine)
    pairs, left = paired(first, second)
    assert [text for text, _, _ in pairs] == ["5", *mine]
    assert left == {"texts of A alone": 99, "texts of B alone": 1}


def test_those_that_wait_longest_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "_WAITING", 2)
    pairs, left = paired(records("texts/words", "a", "b", "c"), records("texts/words", "x", "y", "z", "c", "b", "a"))
    assert pairs == [("c", "2", "3"), ("b", "1", "4")]
    assert left == {"texts of A alone": 1, "texts of B alone": 4}


def test_long_texts_do_not_wait_in_numbers() -> None:
    long = ["a" * 3_000_000, "b" * 3_000_000]
    pairs, left = paired(records("texts/words", *long), records("inputs/a", *long))
    assert [names for _, *names in pairs] == [["1", "1"]]
    assert left == {"texts of A alone": 1, "texts of B alone": 1}


BUG = {"encode": Answer({"tokens": ["bug"], "ids": [3], "spans": [[0, 3]]})}


@pytest.mark.parametrize(
    ("a", "b", "verdicts"),
    [
        (BUG, BUG, {"encode": Verdict.PASS}),
        (BUG, {"encode": Answer({"ids": [4]})}, {"encode": Verdict.FAIL}),
        (
            {**BUG, "decode": Answer({"text": "bug"})},
            {"encode": Answer({"ids": [4]}), "decode": Answer({"text": "gub"})},
            {"encode": Verdict.FAIL},
        ),
        (
            {"normalize": Answer({"text": "bug"}), "pre_tokenize": Answer({"pieces": []})},
            {"normalize": Answer({"text": "pug"}), "pre_tokenize": Answer({"pieces": [["pug", 0, 3]]})},
            {"normalize": Verdict.FAIL},
        ),
        (BUG, {"encode": Refused("unknown_symbol", "")}, {"encode": Verdict.ERROR}),
        (BUG, {"encode": Fault("crash", "")}, {"encode": Verdict.CRASH}),
        (BUG, {}, {"encode": Verdict.UNSUPPORTED}),
        ({"encode": Refused("unsupported", "")}, BUG, {}),
        ({}, BUG, {}),
    ],
)
def test_recordings_are_held_to_each_other(
    a: Mapping[str, Reply], b: Mapping[str, Reply], verdicts: Mapping[str, Verdict]
) -> None:
    """Operations are compared that were asked with the same, and B is not held to what A does not offer."""
    one, other = (Record(Input("texts/words", "bug", "bug"), replies) for replies in (a, b))
    ((left, right),) = _pair_up([one], [other], Tally())
    found = _compare(left, right, ("code_point", "code_point"))
    assert {outcome.operation: outcome.verdict for outcome in found} == verdicts
