from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tokref import AlignedText


def test_a_stretch_of_the_input_knows_where_it_begins() -> None:
    stretch = AlignedText.from_input("abc", 2)
    assert stretch == AlignedText("abc", ((2, 3), (3, 4), (4, 5)), is_first=False)
    assert stretch.cut(1, 3) == AlignedText("bc", ((3, 4), (4, 5)), is_first=False)
    assert stretch.span(0, 3) == (2, 5)
    assert stretch.replace_each("b", "x") == AlignedText("axc", ((2, 3), (3, 4), (4, 5)), is_first=False)


def test_only_the_beginning_of_the_first_text_is_first() -> None:
    text = AlignedText.from_input("abc")
    assert [text.cut(begin, 3).is_first for begin in range(3)] == [True, False, False]
    removed = text.rewrite([("", 0, 1), ("b", 1, 2)])  # what a normalizer removes is not before the text
    assert removed == AlignedText("b", ((1, 2),), is_first=True)


def test_removed_characters_leave_a_gap_and_inserted_ones_take_no_room() -> None:
    text = AlignedText.from_input("a中b").rewrite([("a", 0, 1), (" ", 1, 1), ("中", 1, 2), (" ", 2, 2), ("", 2, 3)])
    assert text == AlignedText("a 中 ", ((0, 1), (1, 1), (1, 2), (2, 2)))
    assert text.span(1, 4) == (1, 2)
    assert text.span(1, 2) == (1, 1)


def test_what_is_left_out_between_an_added_character_and_the_next_is_not_covered() -> None:
    text = AlignedText.from_input("xab").prefix("▁").rewrite([("▁", 0, 1), ("", 1, 2), ("a", 2, 3), ("b", 3, 4)])
    assert text.span(0, 2) == (1, 2)
    assert AlignedText.from_input("axb").rewrite([("a", 0, 1), ("", 1, 2), ("b", 2, 3)]).span(0, 2) == (0, 3)


def test_a_text_that_is_rewritten_twice_still_counts_in_the_input() -> None:
    once = AlignedText.from_input("xab", 5).rewrite([("", 0, 1), ("A", 1, 2), ("B", 2, 3)])
    twice = once.rewrite([("1", 0, 2), ("2", 2, 2)])
    assert twice == AlignedText("12", ((6, 8), (8, 8)), is_first=False)


def test_a_prefix_stands_before_the_text() -> None:
    prefixed = AlignedText.from_input("ab", 4).prefix("▁")
    assert (prefixed.text, prefixed.span(0, 1), prefixed.span(0, 3)) == ("▁ab", (4, 4), (4, 6))


def test_a_text_without_characters_has_a_place_for_what_is_inserted() -> None:
    assert AlignedText("", ()).rewrite([(" ", 0, 0)]) == AlignedText(" ", ((0, 0),))


@st.composite
def rewritings(draw: st.DrawFn, size: int) -> list[tuple[str, int, int]]:
    steps, place = [], 0
    while place < size:
        width = draw(st.integers(0, min(2, size - place)))
        steps.append((draw(st.text("xyz", max_size=2)), place, place + width))
        place += width
    return steps


@given(st.data(), st.text("ab", max_size=6))
def test_spans_are_those_of_origins_kept_as_sets(data: st.DataObject, text: str) -> None:
    aligned = AlignedText.from_input(text)
    origins = [{place} for place in range(len(text))]  # for every character the characters that it was made from
    for _ in range(2):
        steps = data.draw(rewritings(len(aligned.text)))
        aligned = aligned.rewrite(steps)
        origins = [set().union(*origins[begin:end]) for output, begin, end in steps for _ in output]
    assert len(aligned.text) == len(aligned.spans) == len(origins)
    for begin in range(len(origins)):
        for end in range(begin + 1, len(origins) + 1):
            covered = set().union(*origins[begin:end])
            start, stop = aligned.span(begin, end)
            assert (start, stop) == (min(covered), max(covered) + 1) if covered else start == stop
