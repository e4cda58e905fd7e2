"""Measure the harness, and print every figure beside its target in one table.

Run ``python conformance/bench/harness.py`` from a checkout, in an environment with the implementations to be measured;
what is not installed has a line that says so, and misses. ``--quick`` measures less often and on less.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping

import harness_echo
import harness_jobs
import harness_overhead
import harness_peers
import harness_pytest
import harness_run
from table import Row, Unmeasured, print_table, unmeasured

#: What is measured, and less of it.
PARTS: Mapping[str, tuple[Callable[[], Iterable[Row]], Callable[[], Iterable[Row]]]] = {
    "tokspec run": (harness_run.rows, lambda: harness_run.rows(3, (10,))),
    "the cost of judging": (harness_overhead.rows, lambda: harness_overhead.rows(3)),
    "through the protocol": (harness_echo.rows, lambda: harness_echo.rows(3, 5000)),
    "several processes": (harness_jobs.rows, lambda: harness_jobs.rows(1)),
    "in pytest": (harness_pytest.rows, lambda: harness_pytest.rows(1)),
    "other suites": (harness_peers.rows, lambda: harness_peers.rows(3)),
}


def rows(quick: bool) -> Iterator[Row]:
    """Return all rows; where a part breaks off, a line says why in place of its others."""
    for part, (whole, less) in PARTS.items():
        try:
            yield from (less if quick else whole)()
        except Unmeasured as why:
            yield unmeasured(part, str(why))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="measure less often and on less")
    return print_table("The harness", rows(parser.parse_args().quick))


if __name__ == "__main__":
    sys.exit(main())
