"""Inputs cut into units: every document in one of them, however they are cut, and the same result however often."""

from __future__ import annotations

import bz2
import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tokspec.base.errors import DataError
from tokspec.formats.user_model import UserModel
from tokspec.sessions.limits import Limits
from tokspec.sweep import report
from tokspec.sweep.batches import BadAt, Batch, batches
from tokspec.sweep.causes import Explainer
from tokspec.sweep.counting import Counter
from tokspec.sweep.documents import Selection
from tokspec.sweep.plan import Header, Plan, Unit, make_plan, read_plan, write_plan
from tokspec.sweep.results import sum_of, write_result
from tokspec.sweep.sides import Outcome, Trouble
from tokspec.sweep.tally import Cause, Tally

pytestmark = pytest.mark.slow

SIDE = {"impl": "a", "command": None, "name": "a", "version": "1", "format": "tokspec", "model": "0", "choices": {}}
HEADER = Header((SIDE, {**SIDE, "name": "b"}), "ids", Selection(), "", {})


def planned(names: Sequence[Path], size: int, kind: str | None = None, header: Header = HEADER) -> Plan:
    return make_plan(header, [str(name) for name in names], kind, size)


def records(plan: Plan) -> list[tuple[int, str]]:
    """Return every document of a plan with its place, and what is none."""
    found = []
    for unit in plan.units:
        for each in batches(unit, plan.header.selection):
            if isinstance(each, BadAt):
                found.append((each.bad.at, f"bad: {each.bad.why}"))
            else:
                found += [(each.place(index), text) for index, text in enumerate(each.texts)]
    return found


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


@pytest.mark.parametrize("size", [1, 4, 9, 1000])
def test_lines_without_fault_are_read_at_once_and_are_the_same(tmp_path: Path, size: int) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(LINES.replace(b"\xff\n", b""))
    expected = [(at - 2 * (at > 17), text) for at, text in EXPECTED if not text.startswith("bad")]
    assert records(planned([file], size)) == expected


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
        (32, "bad: is no JSON"),
        (38, "bad: has in the field text no string"),
        (0, "four"),
        (5, "five"),
        (0, "six"),
        (0, "bad: is cut off: its compressed data has no end"),
    ]


def test_whole_files_are_put_together(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(f"text\n{number}")
    plan = planned([tmp_path], 14, "whole")
    assert [len(unit.parts) for unit in plan.units] == [2, 2, 1]
    assert records(plan)[:2] == [(0, "text\n0"), (0, "text\n1")]


def test_groups_of_rows(tmp_path: Path) -> None:
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    file = tmp_path / "a.parquet"
    table = arrow.table({"text": [f"row {number}" for number in range(10)]})
    parquet.write_table(table, file, row_group_size=3)
    whole = [(number, f"row {number}") for number in range(10)]
    assert len(planned([file], 1).units) == 4
    assert records(planned([file], 1)) == whole
    assert records(planned([file], 10**6)) == whole
    (tmp_path / "b.parquet").write_bytes(file.read_bytes()[:-10])
    (bad,) = records(planned([tmp_path / "b.parquet"], 1))
    assert bad[1].startswith("bad: is no Parquet, or is cut off")


def test_an_address(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://sweep/a.txt", "wb") as file:
        file.write(LINES)
    plan = make_plan(HEADER, ["memory://sweep/*.txt"], None, 11)
    assert records(plan) == EXPECTED


def test_ids_say_on_what_a_result_depends(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(LINES)

    def ids(header: Header = HEADER, size: int = 20) -> set[str]:
        return {unit.id for unit in planned([file], size, None, header).units}

    other_model = Header(({**SIDE, "model": "1"}, HEADER.sides[1]), "ids", Selection(), "", {})
    elsewhere = Header(HEADER.sides, "ids", Selection(), "/elsewhere", {"case_seconds": 1.0})
    before = ids()
    assert ids(elsewhere) == before
    for other in (ids(other_model), ids(Header(HEADER.sides, "ids", Selection(sample=0.5), "", {})), ids(size=30)):
        assert not other & before
    os.utime(file, ns=(1, 1))
    assert not ids() & before


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(LINES)
    plan = planned([tmp_path / "a.txt"], 10)
    write_plan(tmp_path, plan)
    assert read_plan(tmp_path) == plan
    (tmp_path / "plan.ndjson").write_text("{}\n")
    with pytest.raises(DataError, match=r"plan.ndjson:1: is no plan of a sweep$"):
        read_plan(tmp_path)


def test_a_sample_is_the_same_each_time(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("".join(f"line {number}\n" for number in range(1000)))
    samples = [
        records(planned([file], size, None, Header(HEADER.sides, "ids", Selection(sample=0.1, seed=seed), "", {})))
        for size, seed in ((100, 0), (10**6, 0), (100, 1))
    ]
    assert samples[0] == samples[1] != samples[2]
    assert 60 < len(samples[0]) < 140


class Stub:
    """A side that answers by a function."""

    is_local = True

    def __init__(self, other: str) -> None:
        self._other = other

    def ask(self, texts: Sequence[str], first: int, stage: int) -> list[Outcome]:
        return [Trouble("refusal", "no") if "REF" in text and self._other else self._ids(text) for text in texts]

    def _ids(self, text: str) -> list[Any]:
        return [ord(character) + (character in self._other) for character in text]

    def close(self) -> None: ...


def test_a_unit_done_in_pieces_has_the_same_result(tmp_path: Path) -> None:
    """Wherever it was interrupted: between documents, before or after a record that is none."""
    file = tmp_path / "a.txt"
    words = ["plain", "Queen", "Zoo and Queen", "REFused", "Ärger", ""]
    file.write_bytes("\n".join(words * 7).encode() + b"\nx\xff\nQ")
    (unit,) = planned([file], 10**6).units
    counter = Counter([Stub(""), Stub("QZ")], ["a", "b"], Selection())
    whole = counter.count(unit, 0, None, ())
    assert (whole.documents, whole.different, whole.bad) == (36, 22, {"is not UTF-8": 1})
    for cut in range(38):
        pieces = Tally()
        for first, last in ((0, cut), (cut, None)):
            pieces.add(counter.count(unit, first, last, ()))
        assert json.dumps(pieces.to_json()) == json.dumps(whole.to_json())


ORDERS = ("lowest_rank", "single_pass")
LATE = {"type": "bpe", "vocabulary": ["a", "b", "c", "ab", "abc"], "merges": [["ab", "c"], ["a", "b"]]}


def test_what_the_specification_leaves_open_is_no_ones_fault() -> None:
    """A merge that became possible after its turn is a choice, and both declare theirs."""
    orders = [{**SIDE, "impl": "reference", "choices": {"bpe_merge_order": order}} for order in ORDERS]
    own = UserModel("tokspec", LATE, "late.json", "")
    explainer = Explainer(Header((orders[0], orders[1]), "tokens", Selection(), "", {}), [own, own], Limits())
    causes = [Cause("other tokens", "", text, text, "a.txt", 0) for text in ("abc", "ab", "abd")]
    allowed = [(each.clause, each.is_allowed) for each in explainer.explain(causes)]
    assert allowed == [("", True), ("", False), ("", False)]


def test_the_first_place_of_each_reason_is_kept(tmp_path: Path) -> None:
    units = [Unit(name * 4, ()) for name in "abc"]
    bad = [["is not UTF-8 at its byte 0", "is not UTF-8 at its byte 1"], ["is not UTF-8 at its byte 2"], ["is no JSON"]]
    for unit, reasons in zip(units, bad, strict=True):
        tally = Tally()
        for at, reason in enumerate(reasons):
            tally.note_bad(unit.id, at, reason)
        write_result(tmp_path, unit, tally)
    total = sum_of(tmp_path, units, most_places=1)
    assert total.bad == {"is not UTF-8": 3, "is no JSON": 1}
    assert total.bad_places == [["aaaa", 0, "is not UTF-8 at its byte 0"], ["cccc", 0, "is no JSON"]]
    assert [line for line in report.text(report.Summary(HEADER, total, [], 3, 3), 0) if "bad" in line] == [
        "bad records: 1: is no JSON; first in cccc at 0",
        "bad records: 3: is not UTF-8; first in aaaa at 0: at its byte 0",
    ]


def test_numbers_of_documents_are_those_of_their_places(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(LINES)
    plan = planned([file], 10**6)
    found = [each for unit in plan.units for each in batches(unit, Selection())]
    numbers = [each.first if isinstance(each, Batch) else each.number for each in found]
    assert numbers == [0, 3, 4]
    counter = Counter([Stub(""), Stub("")], ["a", "b"], Selection())
    assert counter.place(plan.units[0], 4) == (str(file), 19, "last line, which is longer")
