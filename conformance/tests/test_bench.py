"""Measurements are sound: what failed, came to another result or was not taken misses its target, and says so."""

from __future__ import annotations

import doctest
import hashlib
import itertools
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

BENCH = Path(__file__).resolve().parents[1] / "bench"


@pytest.fixture(autouse=True)
def folder_of_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCH)


@pytest.fixture
def measured() -> Any:
    return import_module("measure")


def side(*results: tuple[float, object]) -> Callable[[], Any]:
    """Return a side that comes to these results, one after the other, and again."""
    turns = itertools.cycle(results)
    return lambda: import_module("measure").Measured(*next(turns))


def failing(error: Exception) -> Callable[[], Any]:
    def run() -> Any:
        raise error

    return run


def line(ours: Any, peer: Any, target: float | None = 2.0, **options: Any) -> Any:
    module = import_module("measure")
    return module.measure(module.Row("encode", ours, "the peer", peer, target, **options), 3)


def test_the_seconds_are_those_of_the_run_with_the_median_ratio() -> None:
    """Medians of each side would be 2 s and 2 s, whose ratio is none of the three."""
    measured_line = line(side((1.0, 0), (2.0, 0), (4.0, 0)), side((2.0, 0), (6.0, 0), (1.0, 0)))
    assert (measured_line.ours, measured_line.peer, measured_line.cells[4:6]) == (1.0, 2.0, ("2.00", "0.25–3.00"))


@pytest.mark.parametrize("name", ["harness", "measure", "texts", "tokfast_speed"])
def test_examples_hold(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


@pytest.mark.parametrize(
    ("peer", "target", "verdict"),
    [
        ((3.0, "ab"), 2.0, "meets"),
        ((2.0, "ab"), 2.0, "meets"),
        ((1.5, "ab"), 2.0, "misses"),
        ((0.5, "ab"), None, ""),
        ((3.0, "cd"), 2.0, "misses: results differ"),
        ((3.0, "cd"), None, "misses: results differ"),
    ],
)
def test_a_row_beside_a_peer(peer: tuple[float, str], target: float | None, verdict: str) -> None:
    assert line(side((1.0, "ab")), side(peer), target).verdict == verdict


def test_ratios_are_of_pairs_that_ran_in_turn() -> None:
    ours, peer = side((1.0, "ab"), (2.0, "ab"), (4.0, "ab")), side((4.0, "ab"), (4.0, "ab"), (6.0, "ab"))
    assert line(ours, peer).cells == ("encode", "2 s", "the peer", "4 s", "2.00", "1.50–4.00", "2", "meets")


def test_a_part_of_the_work_counts_so_many_times() -> None:
    found = line(side((1.0, "ab")), side((0.5, "a")), scale=10, comparable=False)
    assert found.cells == ("encode", "1 s", "the peer", "5 s", "5.00", "5.00–5.00", "2", "meets")


def test_work_that_cannot_be_compared_comes_to_the_same_each_time() -> None:
    found = line(side((1.0, "ab")), side((0.5, "a"), (0.5, "b")), comparable=False)
    assert found.cells == ("encode", "", "the peer", "", "", "", "2", "misses: results differ")


def test_a_side_that_fails_has_no_figures(measured: Any) -> None:
    good = side((1.0, "ab"))
    assert line(good, failing(measured.Unmeasured("no Go"))).verdict == "misses: no Go"
    assert line(failing(ImportError("No module named 'x'")), good, None).verdict == (
        "misses: ImportError: No module named 'x'"
    )


def digest(result: object) -> str:
    return hashlib.sha256(repr(result).encode()).hexdigest()


def spin(seconds: float) -> None:
    """Use the processor for so long."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def spin_before(preparing: float, working: float) -> Callable[[], None]:
    spin(preparing)
    return partial(spin, working)


def test_a_side_in_a_process_of_its_own(measured: Any) -> None:
    assert measured.fresh(partial, len, "ab").result == digest(2)
    assert measured.fresh(partial, os.getpid).result != digest(os.getpid())


def test_the_processor_time_of_work_is_measured_without_its_preparation() -> None:
    work = import_module("measure")._work
    assert work(spin_before, 0.0, 0.2).seconds >= 0.2
    assert work(spin_before, 0.2, 0.0).seconds < 0.2


def run_main(
    measured: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *lines: Any, only: str = "*"
) -> tuple[int, str, str]:
    """Return the status of a table of sides beside a peer of 2 seconds, with what was printed and noted."""
    monkeypatch.setattr(sys, "argv", ["bench.py", "--only", only])
    monkeypatch.setattr(measured, "ENVIRONMENT", {})
    rows = [measured.Row(f"row {number}", ours, "peer", side((2.0, 1)), 2) for number, ours in enumerate(lines, 1)]
    status = measured.main("title", rows)
    return status, *capsys.readouterr()


def test_the_table_says_how_busy_the_machine_was(
    measured: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, printed, noted = run_main(measured, monkeypatch, capsys, side((1.0, 1)))
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    assert lines[:3] == [
        "| title | ours | peer | peer's | times as fast |   from–to | target |       |",
        "|-------|------|------|--------|---------------|-----------|--------|-------|",
        "| row 1 |  1 s | peer |    2 s |          2.00 | 2.00–2.00 |      2 | meets |",
    ]
    assert " at the start, " in lines[3]
    assert (status, noted) == (0, "row 1  1 s  peer  2 s  2.00  2.00–2.00  2  meets\n")


def test_a_target_that_is_missed_is_the_exit_status(
    measured: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good, slow, broken = side((1.0, 1)), side((1.5, 1)), failing(OSError("no Go"))
    assert run_main(measured, monkeypatch, capsys, good, slow)[0] == 1
    assert run_main(measured, monkeypatch, capsys, good, broken)[0] == 1
    assert run_main(measured, monkeypatch, capsys, broken, broken)[0] == 2


def test_a_pattern_that_names_no_row(
    measured: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, printed, noted = run_main(measured, monkeypatch, capsys, side((1.0, 1)), only="Row*")
    assert (status, printed, noted) == (2, "", "no row is named 'Row*'; there are:\n  row 1\n")


def test_a_command_that_fails(measured: Any) -> None:
    command = [sys.executable, "-c", "import sys; print('out'); print('why', file=sys.stderr); sys.exit(4)"]
    with pytest.raises(measured.Unmeasured, match=r"^exit status 4: why$"):
        measured.run_command(command)
    assert measured.run_command(command, statuses=(4,)).output == "out\n"


def test_a_run_that_counts_no_cases(measured: Any) -> None:
    harness = import_module("harness")
    with pytest.raises(measured.Unmeasured, match=r"^no count of cases in 'it broke'$"):
        harness.count_in("a line\nit broke\n", harness._SUITE)


def test_what_is_not_installed_has_its_row(measured: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    harness = import_module("harness")
    monkeypatch.setattr(harness, "CACHE", tmp_path)
    (row,) = (row for row in harness.rows() if row.peer_name == "toml-test, in Go")
    line = measured.measure(measured.Row("", row.peer, "", row.peer, 1), 1)
    assert line.verdict == "misses: FileNotFoundError: [Errno 2] No such file or directory: 'go'"


def test_one_long_text_hides_what_every_call_costs() -> None:
    """Short documents have rows as well, beside the peers' own call for many and beside their call for one."""
    rows = {(row.what, row.peer_name) for row in import_module("tokfast_speed").rows()}
    assert rows >= {
        (f"encode GPT-2, short documents, 1 MB {kind}", peer)
        for kind in ("English", "mixed")
        for peer in ("tokenizers, one batch", "tiktoken")
    }


def test_texts_have_the_size_that_is_asked_for() -> None:
    texts = import_module("texts")
    for kind in ("English", "mixed"):
        size = len(texts.text_of(kind, 100_000).encode())
        assert 100_000 - 4 < size <= 100_000


def test_words_are_invented_where_there_are_no_translations(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    texts = import_module("texts")
    monkeypatch.setattr(texts, "CATALOGUES", tmp_path)
    texts.messages.cache_clear()
    lines = list(itertools.islice(texts.mixed(), 12))
    texts.messages.cache_clear()
    assert len({line[0] for line in lines}) == 12
    assert all(line.endswith(".") for line in lines)


def test_the_caches_of_tokfast_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    values = import_module("tokfast.values")
    monkeypatch.setattr(values, "LIMIT", 3)
    cache = values.Cache(str)
    assert [cache[number] for number in range(8)] == list("01234567")
    assert len(cache) <= 3


def test_nothing_differs_in_the_bare_loop_unless_an_answer_does(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = import_module("harness")
    pytest.importorskip("tokenizers")
    (case,) = (case for case in harness.load_suite().cases.values() if case.id == "bpe-toy-encode-bug")
    adapter = harness.find("tokenizers").make()
    answer = adapter.run(case.operation, harness.load(adapter, case), case.input)
    for right, count in ((answer, 3), ({**answer, "tokens": []}, 0)):
        monkeypatch.setattr(harness, "passing", lambda right=right: ([case] * 3, {case.id: right}))
        assert harness.bare_loop().result == count
