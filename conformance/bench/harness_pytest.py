"""What the pytest plugin costs: ten thousand cases collected and run, and its import where nobody uses it.

Run ``python conformance/bench/harness_pytest.py`` with pytest installed. Compared are whole processes: ``tokspec run``
on the same cases, and a test that pytest's ``parametrize`` makes of them, which asks the same adapter and compares.
All have to pass. ``--profile`` prints where the time of the plugin goes.
"""

from __future__ import annotations

import argparse
import math
import pstats
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from commands import passed, python, timed
from harness_run import multiplied
from profiled import print_shares
from table import Row, Unmeasured, duration, middle, paired, print_table

from tokspec.suite.fixtures import load_suite

__all__ = ["parametrized", "rows"]

CASES = 10_000

#: Lets the plugin read the cases of a folder.
CONFTEST = """
from pathlib import Path
from tokspec.suite import fixtures
from tokspec.cli import pytest_items
suite = fixtures.load_suite(Path("fixtures"))
pytest_items.load_suite = lambda: suite
"""

#: The shortest test of the same cases; it compares what has one right answer, and knows no tolerance.
PARAMETRIZED = """
from functools import cache
from pathlib import Path
import pytest
from tokspec import formats
from tokspec.judge.compare import resolve
from tokspec.adapters.registry import find
from tokspec.base.errors import Refusal
from tokspec.suite.fixtures import load_suite
from tokspec.judge.verdicts import effective_choices

ADAPTER = find("{name}").make()
HELLO = ADAPTER.hello()
CHOICES = effective_choices(HELLO)
SUITE = load_suite(Path("fixtures")).cases
CASES = [each for case in SUITE.values() for each in case.questions if case.operation in HELLO.operations]
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
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = cases_in(folder)
        seconds = [(plugin(folder, count), run(folder, count)) for _ in range(runs)]
        yield paired(f"the plugin, {count} cases", seconds, 3, at_most=True, peer_name="tokspec run")
        for what, ours, target in (("tokspec run", run, 1), ("the plugin", plugin, None)):
            seconds = [(ours(folder, count), parametrized(folder, count)) for _ in range(runs)]
            yield paired(f"{what}, {count} cases", seconds, target, peer_name="parametrize")
    yield _of_import([_import() for _ in range(4 * runs)])


def _of_import(seen: list[tuple[float, float]]) -> Row:
    values, processor = zip(*seen, strict=True)
    ratio, spread = middle([1000 * value for value in values])
    return Row(
        "import of the plugin, milliseconds",
        duration(ratio / 1000),
        duration(middle(processor)[0]),
        ratio,
        2,
        spread,
        at_most=True,
        peer_name="of the processor",
    )


def _import() -> tuple[float, float]:
    """Return the seconds of the clock and of the processor."""
    clock, processor = map(float, timed(python("-c", IMPORT))[1].split())
    return clock, processor


def cases_in(folder: Path) -> int:
    """Write ten thousand cases or a few more, and give how many."""
    once = len(load_suite().cases)
    times = math.ceil(CASES / once)
    multiplied(folder / "fixtures", times)
    return times * once


def run(folder: Path, count: int) -> float:
    """Return the seconds of ``tokspec run``."""
    seconds, output, _ = timed(python("-m", "tokspec", "run", "--fixtures", "fixtures"), folder)
    passed(output, count)
    return seconds


def plugin(folder: Path, count: int, *profile: str) -> float:
    """Return the seconds of pytest with the plugin."""
    (folder / "conftest.py").write_text(CONFTEST, "utf-8")
    return _pytest(folder, count, *profile, "-m", "pytest", "--tokspec", "reference", "conftest.py")


def parametrized(folder: Path, count: int) -> float:
    """Return the seconds of pytest with one parametrized test."""
    (folder / "conftest.py").write_text("", "utf-8")
    (folder / "test_cases.py").write_text(PARAMETRIZED.format(name="reference"), "utf-8")
    return _pytest(folder, count, "-m", "pytest", "test_cases.py")


def _pytest(folder: Path, count: int, *arguments: str) -> float:
    """Return the seconds in which so many tests pass."""
    seconds, output, _ = timed(python(*arguments, "-q", "-p", "no:cacheprovider"), folder)
    last = output.strip().rpartition("\n")[2]
    if not re.match(f"{count} passed in ", last):
        raise Unmeasured(f"{count} cases were to pass, and pytest says {last!r}")
    return seconds


def print_profile() -> None:
    """Print the share of each module in a run of the plugin."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = cases_in(folder)
        plugin(folder, count, "-m", "cProfile", "-o", "profile")
        print_shares(f"the plugin, {count} cases", pstats.Stats(str(folder / "profile")))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--profile", action="store_true", help="print where the time goes, and measure nothing")
    if not parser.parse_args().profile:
        return print_table("In pytest", rows())
    print_profile()
    return 0


if __name__ == "__main__":
    sys.exit(main())
