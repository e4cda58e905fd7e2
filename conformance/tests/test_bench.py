"""Measurements are sound: what failed, came to another result or was not taken misses its target, and says so."""

from __future__ import annotations

import doctest
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapters.reference import ReferenceAdapter

pytestmark = pytest.mark.slow

BENCH = Path(__file__).resolve().parents[1] / "bench"


@pytest.fixture(autouse=True)
def folder_of_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCH)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Callable[[Mapping[tuple[str, float], tuple[Any, ...]]], None]:
    """Let sides of :mod:`reference_rows` come to what is given by their names and the MB of their texts."""
    rows, processes = import_module("reference_rows"), import_module("reference_processes")

    def given(results: Mapping[tuple[str, float], tuple[Any, ...]]) -> None:
        def run(side: Any, text: Any) -> Any:
            return processes.Measured(*results[side.name, text.megabytes])

        monkeypatch.setattr(rows, "run", run)
        monkeypatch.setattr(rows, "peak", run)

    return given


def compared(target: float | None = 2.0, rounds: int = 3) -> Any:
    rows, processes = import_module("reference_rows"), import_module("reference_processes")
    sides = processes.Side("ours"), processes.Side("peer")
    line = rows.Comparison("encode", processes.Text("English", 1), *sides, "the peer", target)
    (row,) = rows.compared([line], rounds)
    return row


@pytest.mark.parametrize(
    "name", ["commands", "profiled", "reference_processes", "reference_rows", "reference_speed", "table", "texts"]
)
def test_examples_hold(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


def test_short_documents_and_batches_have_lines() -> None:
    """One long text shows what a cache within it is good for, and hides what every call costs."""
    speed, sides = import_module("reference_speed"), import_module("sides_gpt2")
    lines = list(speed.short_documents(1))
    shown = {(line.what, line.peer_name) for line in lines}
    for kind in ("English", "mixed"):
        for size in ("5 kB", "500 bytes"):
            for peer in ("tokenizers, encode", "tokenizers, batch", "tiktoken", "tiktoken, batch"):
                assert (f"encode GPT-2, {size} documents, 1 MB {kind}", peer) in shown
    assert {side.name for line in lines for side in (line.ours, line.peer)} <= sides.SIDES.keys()
    assert set(lines) <= set(speed.comparisons([1], 1, 10, 10, 1))


def test_the_caches_of_tokfast_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    values = import_module("tokfast.values")
    monkeypatch.setattr(values, "LIMIT", 3)
    cache = values.Cache(str)
    assert [cache[number] for number in range(8)] == list("01234567")
    assert len(cache) <= 3


@pytest.mark.parametrize(
    ("peer", "target", "meets", "verdict"),
    [
        ((3.0, "ab"), 2.0, True, "meets"),
        ((1.5, "ab"), 2.0, False, "misses"),
        ((0.5, "ab"), None, True, ""),
        ((3.0, "cd"), 2.0, False, "misses: results differ"),
        ((3.0, "cd"), None, False, "misses: results differ"),
        ((math.nan, ""), 2.0, False, "misses: a run failed"),
        ((math.nan, ""), None, False, "misses: a run failed"),
    ],
)
def test_a_line_beside_a_peer(
    runs: Any, peer: tuple[Any, ...], target: float | None, meets: bool, verdict: str
) -> None:
    runs({("ours", 1): (1.0, "ab"), ("peer", 1): peer})
    row = compared(target)
    assert (row.meets, row.verdict) == (meets, verdict)


def test_no_median_hides_a_number_that_is_none() -> None:
    table = import_module("table")
    for pairs in ([(1.0, 2.0), (math.nan, 2.0), (1.0, 3.0)], [(1.0, 9.0), (1.0, 9.0), (1.0, math.nan)]):
        row = table.paired("encode", pairs, 2.0)
        assert (row.meets, row.verdict, math.isnan(row.ratio)) == (False, "misses", True)
        assert not table.paired("encode", pairs, None).meets
        assert not table.paired("encode", pairs, 2.0, at_most=True).meets


def grown(runs: Any, one: tuple[Any, ...], two: tuple[Any, ...]) -> list[Any]:
    runs({("side", 1): one, ("side", 10): two})
    rows, processes = import_module("reference_rows"), import_module("reference_processes")
    return list(rows.grown("encode", processes.Side("side"), [1, 10], 3))


def test_growth_is_fitted_to_the_text_or_to_what_the_side_was_given(runs: Any) -> None:
    time, memory = grown(runs, (1.0, "ab"), (20.0, "cd"))
    assert (time.what, time.peer_name, round(time.ratio, 2), time.verdict) == (
        "time to encode",
        "n^x, 1 to 10 MB",
        1.3,
        "misses",
    )
    assert memory.what == "memory to encode"
    time, _ = grown(runs, (1.0, "ab", 1000), (20.0, "cd", 100_000))
    assert (time.peer_name, round(time.ratio, 2), time.verdict) == ("n^x, 1 to 100 thousand symbols", 0.65, "meets")


@pytest.mark.parametrize(
    ("two", "why"), [((math.nan, ""), "a run failed"), ((2.0, "ab"), "sizes have the same result")]
)
def test_growth_of_runs_that_mean_nothing(runs: Any, two: tuple[Any, ...], why: str) -> None:
    assert [row.verdict for row in grown(runs, (1.0, "ab"), two)] == [f"misses: {why}"] * 2


def test_one_word_whose_runs_fail(runs: Any) -> None:
    runs({("one_word", 2.0): (math.nan, "")})
    row = import_module("reference_rows").one_word("listed", 1_000_000, 3)
    assert (row.what, row.meets, row.verdict) == ("one word of 1000000, listed", False, "misses: a run failed")


def test_a_side_that_fails_has_no_digest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    processes = import_module("reference_processes")
    monkeypatch.setattr(processes, "CACHE", tmp_path)
    monkeypatch.setattr(processes.texts, "text_of", lambda kind, size: f"{kind} {size}")
    processes.file_of.cache_clear()
    measured = processes.run(processes.Side("no_such_side"), processes.Text("mixed", 0.001))
    assert (math.isnan(measured.value), measured.digest) == (True, "")
    (file,) = tmp_path.iterdir()
    assert file.read_text("utf-8") == "mixed 1000"
    assert file.name.startswith("mixed-0.001-")
    processes.file_of.cache_clear()


def test_the_table_says_how_busy_the_machine_was(capsys: pytest.CaptureFixture[str]) -> None:
    table = import_module("table")
    assert table.print_table("Title", [table.paired("encode", [(1.0, 2.0)], 2.0)]) == 0
    printed, noted = capsys.readouterr()
    assert " at the start, " in printed.splitlines()[-1]
    assert noted == "encode: 2.00 meets\n"
    assert table.print_table("Title", [table.unmeasured("encode", "not measured: no Go")]) == 1
    assert "misses: not measured: no Go" in capsys.readouterr().out


def test_nothing_measured_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert import_module("table").print_table("Title", []) == 2
    assert capsys.readouterr() == ("", "nothing was measured\n")


def test_a_pattern_that_names_no_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    speed = import_module("reference_speed")
    monkeypatch.setattr(sys, "argv", ["reference_speed.py", "--only", "encode gpt-2*"])
    monkeypatch.setattr(speed, "fetch", lambda: None)
    assert speed.main() == 2
    assert capsys.readouterr() == (
        "",
        "no line is named 'encode gpt-2*'; the nearest is 'encode GPT-2, 1 MB mixed'\n",
    )


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("", "936 cases were to be judged, and it says ''"),
        (
            "a conforms: 935 cases = 935 pass",
            "936 cases were to be judged, and it says 'a conforms: 935 cases = 935 pass'",
        ),
        ("a conforms: 936 cases = 1 pass + 5 fail", None),
        ("a does not conform: 936 cases = 936 error", None),
    ],
)
def test_a_run_that_judged_something_else(output: str, why: str | None) -> None:
    table = import_module("table")
    with pytest.raises(table.Unmeasured) as caught:
        import_module("commands").passed(output, 936)
    assert str(caught.value) == (why or f"936 cases were to be judged, and it says {output!r}")


def test_a_command_that_fails() -> None:
    table, commands = import_module("table"), import_module("commands")
    program = "import sys; print('why', file=sys.stderr); sys.exit(4)"
    with pytest.raises(table.Unmeasured, match=r"^exit status 4: why$"):
        commands.timed(commands.python("-c", program))
    assert commands.timed(commands.python("-c", program), statuses=(4,))[1:] == ("", "why\n")


def test_what_is_not_installed_has_its_lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    overhead, peers, echo = map(import_module, ("harness_overhead", "harness_peers", "harness_echo"))
    assert {row.verdict for row in peers.rows(1)} == {"misses: not measured: no Go"}
    monkeypatch.setattr(echo, "PAIRS", echo.PAIRS[1:])
    assert [row.verdict for row in echo.rows(1, 10)] == ["misses: not measured: no node"] * 2
    monkeypatch.setattr(overhead, "find_spec", lambda name: None)
    assert [row.verdict for row in overhead.rows(1)] == [
        "misses: not measured: no tokenizers",
        "misses: not measured: no tiktoken",
    ]


class Wavering(ReferenceAdapter):
    """Answers rightly, and otherwise when it is asked the same again."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Any] = []

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        self.asked.append(input)
        answer = super().run(operation, model, input)
        return answer if self.asked.count(input) == 1 else {**answer, "tokens": []}


def first_passing(overhead: Any, monkeypatch: pytest.MonkeyPatch) -> Sequence[Any]:
    suite = overhead.load_suite()
    few = {case.id: case for case in suite.cases.values() if case.id == "bpe-toy-encode-bug"}
    monkeypatch.setattr(overhead, "load_suite", lambda: type(suite)(few))
    passing: Sequence[Any] = overhead.passing(ReferenceAdapter())
    return passing


def test_nothing_may_differ_in_the_bare_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    overhead, table = import_module("harness_overhead"), import_module("table")
    passed = first_passing(overhead, monkeypatch)
    assert len(passed) == 1
    assert 0 < overhead.bare(ReferenceAdapter(), [*passed] * 3) < 1
    with pytest.raises(table.Unmeasured, match=r"^3 of 3 answers of the bare loop differ$"):
        overhead.bare(Wavering(), [*passed] * 3)


def test_the_right_answer_of_the_bare_loop_is_held_to_the_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    overhead, table = import_module("harness_overhead"), import_module("table")
    (passed,) = first_passing(overhead, monkeypatch)
    wrong = Wavering()
    wrong.asked.append(passed.case.input)
    with pytest.raises(table.Unmeasured, match=r"^bpe-toy-encode-bug passes in the suite, and not in the bare loop$"):
        overhead.bare(wrong, [passed])
