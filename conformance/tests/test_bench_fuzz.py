"""The rates of fuzzing: each way beside another, whose ratios are taken round by round."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("hypothesis")

BENCH = Path(__file__).resolve().parents[1] / "bench"


@pytest.fixture
def throughput(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(BENCH)
    return import_module("fuzz_throughput")


def rates(module: Any, **others: list[float]) -> dict[str, list[float]]:
    names = (module.MAKING, module.ORACLE, module.JUDGED, module.PLAIN, module.COMPARING, module.WHOLE, module.DRAWING)
    return {name: [100.0, 200.0, 400.0] for name in names} | others


def test_examples_hold(throughput: Any) -> None:
    assert doctest.testmod(throughput).failed == 0


def test_ratios_are_those_of_a_round(throughput: Any) -> None:
    found = rates(throughput, **{throughput.WHOLE: [50.0, 300.0, 400.0]})
    shown = {
        (row.what, row.peer_name): (row.ours, row.peer, row.ratio, row.spread, row.verdict)
        for row in throughput.rows(found)
    }
    assert list(shown) == list(throughput.LINES)
    assert shown[throughput.WHOLE, throughput.MAKING] == ("300/s", "200/s", 1.0, (0.5, 1.5), "")
    assert shown[throughput.WHOLE, throughput.PLAIN] == ("300/s", "200/s", 1.0, (0.5, 1.5), "")


def test_a_reference_that_differs_from_itself_misses(throughput: Any) -> None:
    listed = list(throughput.rows(rates(throughput), "the reference differs from itself"))
    assert {row.verdict for row in listed} == {"misses: the reference differs from itself"}


def test_the_examples_of_a_round_are_counted_and_compared(throughput: Any) -> None:
    found = throughput.Rates("reference", 0.01)
    measured = throughput.measured(found, 1)
    found.judged.close()
    assert all(len(each) == 1 and each[0] > 0 for each in measured.values())
    assert found.compared > 0
    assert found.different == 0
