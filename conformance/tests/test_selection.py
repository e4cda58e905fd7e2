"""Selecting cases: what each kind of pattern matches, and the whole message where nothing is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tokspec.base.errors import DataError
from tokspec.suite.cases import Case, Model
from tokspec.suite.selection import plain_first, select


def case(id: str, clauses: tuple[str, ...], operation: str, tags: tuple[str, ...], file: str) -> Case:
    return Case(
        id=id,
        clauses=clauses,
        why="It is needed for a test.",
        source=(),
        model=Model("toy", {}),
        operation=operation,
        input={},
        outcome={"expect": {}},
        stated=(),
        worked=(),
        tolerance={},
        tags=tags,
        verified_by=("hand",),
        file=file,
        line=1,
    )


CASES = [
    case("bpe-toy-encode-bug", ("BPE-ENC-1", "BPE-ENC-3"), "encode", (), "bpe/toy.yaml"),
    case("bpe-toy-train", ("BPE-TRAIN-7",), "train", ("long",), "bpe/toy.yaml"),
    case("unigram-toy-encode", ("UNI-ENC-1",), "encode", ("emoji", "long"), "unigram/toy.yaml"),
    case("decode", ("DEC-7",), "decode", (), "decoding/plain.yaml"),
]


def ids(patterns: Sequence[str] = (), excluded: Sequence[str] = ()) -> list[str]:
    return [case.id for case in select(CASES, patterns, excluded)]


def message(patterns: Sequence[str] = (), excluded: Sequence[str] = ()) -> str:
    with pytest.raises(DataError) as caught:
        select(CASES, patterns, excluded)
    return str(caught.value)


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ([], ["bpe-toy-encode-bug", "bpe-toy-train", "unigram-toy-encode", "decode"]),
        (["bpe-toy-train"], ["bpe-toy-train"]),
        (["*-toy-*"], ["bpe-toy-encode-bug", "bpe-toy-train", "unigram-toy-encode"]),
        (["BPE-ENC-3"], ["bpe-toy-encode-bug"]),
        (["*-ENC-1"], ["bpe-toy-encode-bug", "unigram-toy-encode"]),
        (["train"], ["bpe-toy-train"]),
        (["?ncode"], ["bpe-toy-encode-bug", "unigram-toy-encode"]),
        (["long"], ["bpe-toy-train", "unigram-toy-encode"]),
        (["bpe/*"], ["bpe-toy-encode-bug", "bpe-toy-train"]),
        (["*/toy.yaml"], ["bpe-toy-encode-bug", "bpe-toy-train", "unigram-toy-encode"]),
        (["[bu]*-encode*"], ["bpe-toy-encode-bug", "unigram-toy-encode"]),
        (["decode", "train"], ["bpe-toy-train", "decode"]),
    ],
)
def test_a_pattern_matches_any_name_of_a_case(patterns: list[str], expected: list[str]) -> None:
    assert ids(patterns) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("id:*encode*", ["bpe-toy-encode-bug", "unigram-toy-encode"]),
        ("id:*decode*", ["decode"]),
        ("operation:*code", ["bpe-toy-encode-bug", "unigram-toy-encode", "decode"]),
        ("clause:BPE-*", ["bpe-toy-encode-bug", "bpe-toy-train"]),
        ("tag:*", ["bpe-toy-train", "unigram-toy-encode"]),
        ("file:unigram/*", ["unigram-toy-encode"]),
    ],
)
def test_a_prefix_compares_with_one_kind_alone(pattern: str, expected: list[str]) -> None:
    assert ids([pattern]) == expected


@pytest.mark.parametrize(
    ("patterns", "excluded", "expected"),
    [
        ([], ["encode"], ["bpe-toy-train", "decode"]),
        (["clause:BPE-*"], ["tag:long"], ["bpe-toy-encode-bug"]),
        (["*toy*"], ["file:bpe/*"], ["unigram-toy-encode"]),
        (["decode"], ["train"], ["decode"]),
    ],
)
def test_excluded_patterns_take_away(patterns: list[str], excluded: list[str], expected: list[str]) -> None:
    assert ids(patterns, excluded) == expected


def test_a_case_that_matches_twice_is_selected_once() -> None:
    assert ids(["*", "BPE-ENC-1", "BPE-ENC-3"]) == [case.id for case in CASES]


def test_case_counts() -> None:
    assert message(["bpe-enc-1"]) == "--select: 'bpe-enc-1' matches no case; did you mean bpe-toy-encode-bug?"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("bpe-toy-encode-bgu", "'bpe-toy-encode-bgu' matches no case; did you mean bpe-toy-encode-bug or unigram-toy-encode or bpe-toy-train?"),
        ("BPE-ENC-2", "'BPE-ENC-2' matches no case; did you mean BPE-ENC-3 or BPE-ENC-1 or BPE-TRAIN-7?"),
        ("clause:BPE-TRAIN-70", "'clause:BPE-TRAIN-70' matches no case; did you mean clause:BPE-TRAIN-7 or clause:BPE-ENC-3 or clause:BPE-ENC-1?"),
        ("operation:trian", "'operation:trian' matches no case; did you mean operation:train?"),
        ("tag:bpe-toy-train", "'tag:bpe-toy-train' matches no case; `tokspec cases` lists what there is"),
        ("kind:encode", "'kind:encode' matches no case; did you mean encode or decode?"),
        ("xyz", "'xyz' matches no case; `tokspec cases` lists what there is"),
        ("", "'' matches no case; `tokspec cases` lists what there is"),
    ],
)  # fmt: skip
def test_a_pattern_that_matches_nothing_is_refused_with_the_nearest_names(pattern: str, expected: str) -> None:
    assert message([pattern]) == f"--select: {expected}"
    assert message(["decode", pattern]) == f"--select: {expected}"
    assert message([], [pattern]) == f"--exclude: {expected}"


def test_plain_cases_come_before_mixed_ones() -> None:
    marked = replace(CASES[1], id="marked", model=Model("marked", {"normalizer": {"type": "nmt"}, "padding": {}}))
    ordered = plain_first([marked, *CASES])
    assert [each.id for each in ordered] == [
        "bpe-toy-train",
        "unigram-toy-encode",
        "decode",
        "bpe-toy-encode-bug",
        "marked",
    ]


def test_nothing_left_is_refused() -> None:
    assert message(["decode"], ["operation:*"]) == "--exclude: every selected case is excluded"
    assert message([], ["*"]) == "--exclude: every selected case is excluded"
