from __future__ import annotations

from tokref import AlignedText


def test_text_that_no_stage_has_rewritten_carries_no_spans() -> None:
    assert AlignedText("abc", 2).cut(1, 3) == AlignedText("bc", 3, None)
    assert AlignedText("abc", 2).replaced("xyz").span(0, 3) == (2, 5)


def test_removed_characters_leave_a_gap_and_inserted_ones_take_no_room() -> None:
    text = AlignedText("a中b").rewritten([("a", 0, 1), (" ", 1, 1), ("中", 1, 2), (" ", 2, 2), ("", 2, 3)])
    assert text == AlignedText("a 中 ", 0, ((0, 1), (1, 1), (1, 2), (2, 2)))
    assert text.span(1, 4) == (1, 2)
    assert text.span(1, 2) == (1, 1)


def test_what_is_rewritten_twice_still_counts_in_the_input() -> None:
    once = AlignedText("xab", 5).rewritten([("", 0, 1), ("A", 1, 2), ("B", 2, 3)])
    twice = once.rewritten([("1", 0, 2), ("2", 2, 2)])
    assert twice == AlignedText("12", 5, ((6, 8), (8, 8)))


def test_a_prefix_stands_before_the_text() -> None:
    prefixed = AlignedText("ab", 4).prefixed("▁")
    assert (prefixed.text, prefixed.span(0, 1), prefixed.span(0, 3)) == ("▁ab", (4, 4), (4, 6))


def test_a_text_without_characters_has_a_place_for_what_is_inserted() -> None:
    assert AlignedText("", 3, ()).rewritten([(" ", 0, 0)]).spans == ((3, 3),)


def test_a_cut_from_the_beginning_keeps_the_place_where_the_text_begins() -> None:
    cleaned = AlignedText("\u200bab").rewritten([("", 0, 1), ("a", 1, 2), ("b", 2, 3)])
    assert (cleaned.cut(0, 1).start, cleaned.cut(1, 2).start) == (0, 2)
