"""Measure the harness, and print every figure beside its target in one table.

Run ``python conformance/bench/harness.py`` from a checkout, in an environment with the implementations to be measured;
what is not installed is left out. ``--quick`` measures less often and on less.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator

import harness_echo
import harness_jobs
import harness_overhead
import harness_peers
import harness_pytest
import harness_run
from table import Row, print_table

#: What is measured, and less of it.
PARTS: list[tuple[Callable[[], Iterable[Row]], Callable[[], Iterable[Row]]]] = [
    (harness_run.rows, lambda: harness_run.rows(3, (10,))),
    (harness_overhead.rows, lambda: harness_overhead.rows(3)),
    (harness_echo.rows, lambda: harness_echo.rows(3, 5000)),
    (harness_jobs.rows, lambda: harness_jobs.rows(1)),
    (harness_pytest.rows, lambda: harness_pytest.rows(1)),
    (harness_peers.rows, lambda: harness_peers.rows(3)),
]


def rows(quick: bool) -> Iterator[Row]:
    """Give all rows, and say on standard error what is done."""
    for whole, less in PARTS:
        for row in (less if quick else whole)():
            print(f"{row.what}: {row.ratio:.2f} {row.verdict}", file=sys.stderr)
            yield row


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="measure less often and on less")
    return print_table("The harness", rows(parser.parse_args().quick))


if __name__ == "__main__":
    sys.exit(main())
