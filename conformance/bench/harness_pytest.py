"""What the pytest plugin costs: ten thousand cases collected and run, and its import where nobody uses it.

Run ``python conformance/bench/harness_pytest.py`` with pytest installed. Compared are whole processes: ``tokspec run``
on the same cases, and a test that pytest's ``parametrize`` makes of them, which asks the same adapter and compares.
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from harness_run import multiplied
from table import Row, duration, paired, print_table

from tokspec.fixtures import load_suite

__all__ = ["parametrized", "rows"]

CASES = 10_000

#: Lets the plugin read the cases of a folder.
CONFTEST = """
from pathlib import Path
from tokspec import fixtures, pytest_items
suite = fixtures.load_suite(Path("fixtures"))
pytest_items.load_suite = lambda: suite
"""

#: The shortest test of the same cases; it compares what has one right answer, and knows no tolerance.
PARAMETRIZED = """
from functools import cache
from pathlib import Path
import pytest
from tokspec import formats
from tokspec.compare import resolve
from tokspec.discovery import find
from tokspec.errors import Refusal
from tokspec.fixtures import load_suite
from tokspec.verdicts import declared_choices

ADAPTER = find("{name}").make()
HELLO = ADAPTER.hello()
CHOICES = declared_choices(HELLO)
SUITE = load_suite(Path("fixtures")).cases
CASES = [case for case in SUITE.values() if case.operation in HELLO.operations]
MODELS = {{case.model.name: case.model.content for case in CASES}}

@cache
def model(name):
    return ADAPTER.load(HELLO.formats[0], formats.write(HELLO.formats[0], MODELS[name]))

@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case):
    expected = resolve(case.outcome, CHOICES)
    try:
        found = ADAPTER.run(case.operation, model(case.model.name), case.input)
    except Refusal as refusal:
        if refusal.reason == "unsupported":
            pytest.skip()
        assert expected.get("error") == refusal.reason
        return
    if "expect" in expected and case.operation == "encode":
        assert all(expected["expect"][key] == found[key] for key in HELLO.encode_fields if key in expected["expect"])
    elif "expect" in expected and case.operation in ("normalize", "pre_tokenize", "decode", "count_words"):
        assert expected["expect"] == found
"""

IMPORT = """
import time
import pytest
start, began = time.perf_counter(), time.process_time()
import tokspec.pytest_plugin
print(time.perf_counter() - start, time.process_time() - began)
"""


def rows(runs: int = 3) -> Iterator[Row]:
    """Measure."""
    with tempfile.TemporaryDirectory() as folder:
        times = math.ceil(CASES / len(load_suite().cases))
        multiplied(Path(folder, "fixtures"), times)
        count = times * len(load_suite().cases)
        seconds = [(plugin(folder), run(folder)) for _ in range(runs)]
        yield paired(f"the plugin, {count} cases", seconds, 3, at_most=True, peer_name="tokspec run")
        for what, ours, target in (("tokspec run", run, 1), ("the plugin", plugin, None)):
            seconds = [(ours(folder), parametrized(folder)) for _ in range(runs)]
            yield paired(f"{what}, {count} cases", seconds, target, peer_name="parametrize")
    yield _of_import([_import() for _ in range(4 * runs)])


def _of_import(seen: list[tuple[float, float]]) -> Row:
    values, processor = zip(*seen, strict=True)
    middle, spread = statistics.median(values), (1000 * min(values), 1000 * max(values))
    return Row(
        "import of the plugin, milliseconds",
        duration(middle),
        duration(statistics.median(processor)),
        1000 * middle,
        2,
        spread,
        at_most=True,
        peer_name="of the processor",
    )


def _import() -> tuple[float, float]:
    """Give the seconds of the clock and of the processor."""
    ended = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True, text=True)
    clock, processor = map(float, ended.stdout.split())
    return clock, processor


def run(folder: str, name: str = "reference") -> float:
    """Give the seconds of ``tokspec run``."""
    return _timed(folder, "tokspec", "run", "--impl", name, "--fixtures", "fixtures")


def plugin(folder: str, name: str = "reference") -> float:
    """Give the seconds of pytest with the plugin."""
    Path(folder, "conftest.py").write_text(CONFTEST, "utf-8")
    return _timed(folder, "pytest", "-q", "--tokspec", name, "-p", "no:cacheprovider", "conftest.py")


def parametrized(folder: str, name: str = "reference") -> float:
    """Give the seconds of pytest with one parametrized test."""
    Path(folder, "conftest.py").write_text("", "utf-8")
    Path(folder, "test_cases.py").write_text(PARAMETRIZED.format(name=name), "utf-8")
    return _timed(folder, "pytest", "-q", "-p", "no:cacheprovider", "test_cases.py")


def _timed(folder: str, *command: str) -> float:
    environment = {**os.environ, "PYTEST_ADDOPTS": ""}
    began = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True
    )
    took = time.perf_counter() - began
    if ended.returncode:
        raise SystemExit(f"{' '.join(command)}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
    return took


if __name__ == "__main__":
    sys.exit(print_table("In pytest", rows()))
