"""Inputs cut into units: every document in one of them, however they are cut, and the same result however often."""

from __future__ import annotations

import bz2
import gzip
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tokspec.base.errors import DataError
from tokspec.compare.causes import compare_replies
from tokspec.compare.inputs import BadText, Reading, read_part
from tokspec.compare.tally import Tally
from tokspec.compare.units import (
    FORMAT,
    Header,
    Unit,
    cut_into_units,
    find_done,
    lock_folder,
    prepare_folder,
    read_header,
    read_model,
    read_result,
    result_file,
    sum_results,
    write_result,
)
from tokspec.protocol.messages import Answer, Refused

pytestmark = pytest.mark.slow

SIDE = {"name": "a", "version": "1", "format": "tokspec", "model": "0", "choices": {}, "adds": False}
HEADER = Header((SIDE, {**SIDE, "name": "b"}), "ids", Reading(), "", {})


def planned(names: Sequence[Path], size: int, kind: str | None = None, header: Header = HEADER) -> list[Unit]:
    header = replace(header, reading=replace(header.reading, kind=kind))
    return cut_into_units(header, [str(name) for name in names], size)


def records(units: Sequence[Unit], reading: Reading = HEADER.reading) -> list[tuple[int, str]]:
    """Return every text of units with its place, and what is none."""
    found = (each for unit in units for part in unit.parts for each in read_part(part, reading))
    return [(each.at, f"bad: {each.why}" if isinstance(each, BadText) else each.text) for each in found]


LINES = b"one\n\ntwo\r\nthr\xc3\xa9e\n\xff\nlast line, which is longer\nno end"

EXPECTED = [
    (0, "one"),
    (5, "two"),
    (10, "thrée"),
    (17, "bad: is not UTF-8 at its byte 0"),
    (19, "last line, which is longer"),
    (46, "no end"),
]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11, 20, 30, 52, 1000])
def test_every_line_is_in_one_unit(tmp_path: Path, size: int) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(LINES)
    assert records(planned([file], size)) == EXPECTED
    assert sorted(records(planned([file, file], size, "lines"))) == EXPECTED


def test_files_of_every_kind(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n{"body": "two"}\nthree\n{"text": 4}\n')
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"four\nfive\n"))
    (tmp_path / "c.txt.bz2").write_bytes(bz2.compress(b"six\n"))
    torn = gzip.compress(os.urandom(5000).hex().encode() + b"\n" + os.urandom(5000).hex().encode())
    (tmp_path / "d.gz").write_bytes(torn[: len(torn) // 2])
    found = records(planned([tmp_path], 10**6))
    assert found == [
        (0, "one"),
        (16, "bad: has no field text; it has body"),
        (32, "bad: is not JSON"),
        (38, "bad: has no string in the field text"),
        (0, "four"),
        (5, "five"),
        (0, "six"),
        (0, "bad: is cut off: its compressed data has no end"),
    ]


def test_whole_files_are_put_together(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(f"text\n{number}")
    plan = planned([tmp_path], 14, "whole")
    assert [len(unit.parts) for unit in plan] == [2, 2, 1]
    assert records(plan)[:2] == [(0, "text\n0"), (0, "text\n1")]


def test_groups_of_rows(tmp_path: Path) -> None:
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    file = tmp_path / "a.parquet"
    table = arrow.table({"text": [f"row {number}" for number in range(10)]})
    parquet.write_table(table, file, row_group_size=3)
    whole = [(number, f"row {number}") for number in range(10)]
    assert len(planned([file], 1)) == 4
    assert records(planned([file], 1)) == whole
    assert records(planned([file], 10**6)) == whole
    (tmp_path / "b.parquet").write_bytes(file.read_bytes()[:-10])
    (bad,) = records(planned([tmp_path / "b.parquet"], 1))
    assert bad[1].startswith("bad: is not Parquet, or is cut off")


def test_an_address(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://diff/a.txt", "wb") as file:
        file.write(LINES)
    assert records(cut_into_units(HEADER, ["memory://diff/*.txt"], 11)) == EXPECTED


def test_ids_say_on_what_a_result_depends(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(LINES)

    def ids(header: Header = HEADER, size: int = 20) -> set[str]:
        return {unit.id for unit in planned([file], size, None, header)}

    other_model = replace(HEADER, sides=({**SIDE, "model": "1"}, HEADER.sides[1]))
    elsewhere = replace(HEADER, folder="/elsewhere", limits={"case_seconds": 1.0})
    before = ids()
    assert ids(elsewhere) == before
    for other in (ids(other_model), ids(replace(HEADER, reading=Reading(sample=0.5))), ids(size=30)):
        assert not other & before
    os.utime(file, ns=(1, 1))
    assert not ids() & before


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(LINES)
    units = planned([tmp_path / "a.txt"], 10)
    prepare_folder(tmp_path, HEADER, units, [{}, {}])
    assert read_header(tmp_path) == HEADER
    lines = (tmp_path / "plan.ndjson").read_text().splitlines()
    assert [Unit.from_json(json.loads(line)) for line in lines[1:]] == units
    (tmp_path / "plan.ndjson").write_text("{}\n")
    with pytest.raises(DataError, match=r"plan.ndjson:1: is not the plan of a comparison; give another folder"):
        read_header(tmp_path)


DEEP = "[" * 100_000
PLAN = {
    **{"tokspec_diff": FORMAT, "sides": [SIDE, SIDE], "field": "ids", "reading": {}, "folder": "", "limits": {}},
    **{"unicode": "15", "units": 1},
}


@pytest.mark.parametrize(
    "line",
    [
        *(DEEP, "9" * 5000, "[]", "null", json.dumps({**PLAN, "units": -1})),
        *(json.dumps({**PLAN, name: [5]}) for name in PLAN if name != "tokspec_diff"),
    ],
    ids=range(12),
)
def test_a_plan_of_somebody_else_is_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / "plan.ndjson"
    file.write_text(f"{json.dumps(PLAN)}\n")
    assert read_header(tmp_path).field == "ids"
    file.write_text(f"{line}\n")
    with pytest.raises(DataError) as caught:
        read_header(tmp_path)
    assert str(caught.value) == f"{file}:1: is not the plan of a comparison; give another folder with --output"


def test_a_result_of_somebody_else_is_refused(tmp_path: Path) -> None:
    unit, file = Unit("ab" * 12, ()), result_file(tmp_path, "ab" * 12)
    write_result(tmp_path, unit, Tally(texts=5, compared=5, different=1))
    assert read_result(tmp_path, unit.id) == Tally(texts=5, compared=5, different=1)
    right = json.loads(file.read_text())
    wrong = [{**right, name: -5} for name in right] + [{**right, "texts": 1.5}, {**right, "groups": [{"cause": []}]}]
    for content in (*map(json.dumps, wrong), DEEP, "9" * 5000, "[]", "null"):
        file.write_text(content)
        with pytest.raises(DataError) as caught:
            read_result(tmp_path, unit.id)
        assert str(caught.value) == f"{file}: is not the result of a unit; remove it, and start again"


@pytest.mark.parametrize("name", ["lock", "results", "models", "results/ab", "plan.ndjson"])
def test_a_link_that_somebody_put_into_the_folder_is_not_followed(tmp_path: Path, name: str) -> None:
    link, elsewhere = tmp_path / "out" / name, tmp_path / "elsewhere"
    link.parent.mkdir(parents=True)
    elsewhere.mkdir()
    link.symlink_to(elsewhere)
    with pytest.raises(DataError) as caught, lock_folder(tmp_path / "out"):
        pytest.fail("the folder is taken")
    assert str(caught.value) == f"{link}: is a link; remove it, or give another folder"
    assert list(elsewhere.iterdir()) == []


def test_pipes_and_devices_are_not_read(tmp_path: Path) -> None:
    file = result_file(tmp_path, "ab" * 12)
    file.parent.mkdir(parents=True)
    (tmp_path / "models").mkdir()
    os.mkfifo(file)
    os.mkfifo(tmp_path / "plan.ndjson")
    (tmp_path / "models" / "0.json").symlink_to("/dev/zero")
    reads: list[tuple[Callable[[], object], Path]] = [
        (lambda: read_header(tmp_path), tmp_path / "plan.ndjson"),
        (lambda: read_result(tmp_path, "ab" * 12), file),
        (lambda: read_model(tmp_path, 0), tmp_path / "models" / "0.json"),
    ]
    for read, name in reads:
        with pytest.raises(DataError) as caught:
            read()
        assert str(caught.value) == f"{name}: is not a regular file"


def test_a_sample_is_the_same_each_time(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("".join(f"line {number}\n" for number in range(1000)))
    reading = Reading(sample=0.1)
    samples = [records(planned([file], size), reading) for size in (100, 10**6)]
    assert samples[0] == samples[1]
    assert 60 < len(samples[0]) < 140


def test_the_first_place_of_each_reason_stays(tmp_path: Path) -> None:
    units = [Unit(name * 4, ()) for name in "abcd"]
    bad = [
        ["is not UTF-8 at its byte 0", "is not UTF-8 at its byte 1"],
        ["is not UTF-8 at its byte 2"],
        ["is not JSON"],
    ]
    for unit, reasons in zip(units, bad, strict=False):
        tally = Tally()
        for at, reason in enumerate(reasons):
            tally.note_bad(f"{unit.id} at {at}", reason)
        write_result(tmp_path, unit, tally)
    total = sum_results(tmp_path, units)
    assert total.bad == {
        "is not UTF-8": [3, "aaaa at 0", "is not UTF-8 at its byte 0"],
        "is not JSON": [1, "cccc at 0", "is not JSON"],
    }
    assert find_done(tmp_path, units) == {"aaaa", "bbbb", "cccc"}


@pytest.mark.parametrize("cut", range(8))
def test_tallies_of_parts_add_up_to_that_of_the_whole(cut: int) -> None:
    """However texts are cut into parts, also with more causes than are told apart."""
    texts = ["plain", "Queen", "Zoo and Queen", "x" * 20_000 + "Q", "REFused", "Ärger", "Q", "zQ"]

    def tally(part: Sequence[str]) -> Tally:
        found = Tally()
        for text in part:
            a, b = [ord(each) for each in text], [ord(each) + (each in "QZ") for each in text]
            reply = Refused("unknown_symbol", "no") if "REF" in text else Answer({"ids": b})
            outcome = compare_replies("encode", {"text": text}, Answer({"ids": a}), reply)
            found.note("inputs", f"place of {text[:9]}", text, [outcome], (a, b))
        return found

    whole, parts = tally(texts), Tally()
    for part in (texts[:cut], texts[cut:]):
        parts.add(Tally.from_json(json.loads(json.dumps(tally(part).to_json()))))
    assert json.dumps(parts.to_json()) == json.dumps(whole.to_json())
    assert (whole.texts, whole.different, whole.different_tokens) == (8, 6, 6)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.txt")
    with pytest.raises(DataError) as caught:
        planned([tmp_path / "a.txt"], 10)
    assert str(caught.value) == f"{tmp_path / 'a.txt'}: is not a regular file"
