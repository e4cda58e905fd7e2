"""Searching what is recorded of libraries and their releases."""

from __future__ import annotations

from typing import Any

import pytest

from tokspec.results import bugs_command
from tokspec.results.changes import LibraryChange
from tokspec.results.recorded import Bug, Library

LIBRARIES = [
    Library(
        "a/port 2.0",
        "Go",
        3,
        9,
        {},
        (0, 0),
        [
            Bug("Cuts at marks.", "bpe-toy-encode-bug", 7),
            Bug("Panics at a pair.", "bpe-toy-encode-mug", 1, [], ["no \x1b Second sequence"]),
        ],
    ),
    Library("Other 1", "Rust", 3, 9, {}, (0, 0), [Bug("Cuts after marks.", "bpe-toy-encode-bug", 2)]),
]

CHANGES = [
    LibraryChange("other", "0.9", "Cuts at a mark; mended in 1.", "https://example.com/pull/12", ("PRE-1",), "a rule"),
]


@pytest.fixture(autouse=True)
def _recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bugs_command, "read_libraries", lambda: LIBRARIES)
    monkeypatch.setattr(bugs_command, "read_changes", lambda: CHANGES)


def test_a_library_shows_what_it_gets_wrong(run: Any) -> None:
    assert run("bugs", "A/Port") == (
        0,
        """Wrong today: 2
  a/port 2.0: Cuts at marks.
      7 cases: tokspec cases bpe-toy-encode-bug
  a/port 2.0: Panics at a pair.
      says: no \\u001b Second sequence
      a case: tokspec cases bpe-toy-encode-mug

""",
        "",
    )


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["where it cuts at the mark"], ["  a/port 2.0", "  Other 1", "  other 0.9"]),
        (["other", "marks"], ["  Other 1", "  other 0.9"]),
        (["SECOND", "sequence"], ["  a/port 2.0"]),
        (["#12"], ["  other 0.9"]),
        (["PRE-1"], ["  other 0.9"]),
        (["pairs"], ["  a/port 2.0"]),
    ],
)
def test_words_are_found_in_any_order(words: list[str], found: list[str], run: Any) -> None:
    status, out, _ = run("bugs", *words)
    assert (
        status,
        [line.partition(":")[0] for line in out.splitlines() if line.startswith("  ") and line[2] != " "],
    ) == (0, found)


def test_a_message_is_found_though_a_part_of_it_is_not_recorded(run: Any) -> None:
    status, out, _ = run("bugs", "panicked: no second sequence")
    assert (status, out.splitlines()[:3]) == (
        0,
        ["No entry has all of these words; these fit best.", "", "Wrong today: 1"],
    )


def test_only_so_many_are_shown(run: Any) -> None:
    assert run("bugs", "cuts", "--show", "1")[1].splitlines()[3:5] == [
        "  … and 1 more; add words, or give --show 2",
        "",
    ]


@pytest.mark.parametrize("words", [["zebra"], ["a", "zebra", "stands", "cuts"]])
def test_nothing_is_found(words: list[str], run: Any) -> None:
    message = f"tokspec: {' '.join(words)}: nothing that is recorded has these words; use fewer or other words\n"
    assert run("bugs", *words) == (2, "", message)
