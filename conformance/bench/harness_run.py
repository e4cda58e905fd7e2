"""How long ``tokspec run`` takes on the reference: to its first case, as a whole, and with more cases.

Run ``python conformance/bench/harness_run.py`` from a checkout with the project installed. Every run is a fresh
process.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from table import Row, duration, print_table

from tokspec.data import fixtures_folder
from tokspec.fixtures import load_suite

__all__ = ["multiplied", "rows"]

#: Says when the reference gets its first model, which is when the first case begins, and when the command line ends.
PROGRAM = """
import sys, time
start, began = time.perf_counter(), time.process_time()
from tokspec.cli import main
from tokspec.adapters.reference import ReferenceAdapter
load, times = ReferenceAdapter.load, []
def first(*arguments):
    times.extend((time.perf_counter() - start, time.process_time() - began))
    ReferenceAdapter.load = load
    return load(*arguments)
ReferenceAdapter.load = first
try:
    main()
finally:
    print(*times, time.process_time(), file=sys.stderr)
"""

_ID = re.compile(r"^(  - id: \"?)([a-z0-9-]+)", re.MULTILINE)


def rows(runs: int = 7, sizes: Sequence[int] = (10, 100)) -> Iterator[Row]:
    """Measure; the runs of the larger suites are fewer."""
    count = len(load_suite().cases)
    yield from _once(count, [_run() for _ in range(runs)])
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            multiplied(Path(folder, str(size)), size)
            pairs = [(_run(Path(folder, str(size)))[1], _run()[1]) for _ in range(max(1, runs // (2 * size // 10)))]
            for_each = [large / (size * small) for large, small in pairs]
            large, small = (statistics.median(column) for column in zip(*pairs, strict=True))
            yield Row(
                f"{size} times the cases: seconds a case",
                f"{duration(large)}",
                f"{duration(small)}",
                statistics.median(for_each),
                1.1,
                (min(for_each), max(for_each)),
                at_most=True,
                peer_name="once",
            )


def _once(count: int, seen: Sequence[tuple[float, float, float, float]]) -> Iterator[Row]:
    """Give the rows of the whole suite; beside the seconds of the clock stand those of the processor."""
    for what, column, target in (("import to first case", 0, 0.3), (f"whole run of {count} cases", 1, 1.5)):
        values = [times[column] for times in seen]
        middle = statistics.median(values)
        yield Row(
            f"tokspec run: {what}, seconds",
            duration(middle),
            duration(statistics.median(times[column + 2] for times in seen)),
            middle,
            target,
            (min(values), max(values)),
            at_most=True,
            peer_name="of the processor",
        )


def _run(fixtures: Path | None = None) -> tuple[float, float, float, float]:
    """Give the seconds to the first case and from start to end of the process, and of the processor for both."""
    arguments = ["--fixtures", str(fixtures)] if fixtures else []
    start = time.perf_counter()
    ended = subprocess.run([sys.executable, "-c", PROGRAM, "run", *arguments], capture_output=True, text=True)
    whole = time.perf_counter() - start
    if ended.returncode:
        raise SystemExit(ended.stdout + ended.stderr)
    first, processor_first, processor = map(float, ended.stderr.split())
    return first, whole, processor_first, processor


def multiplied(folder: Path, times: int) -> None:
    """Write the fixtures so many times, each time with other ids."""
    for file in sorted(fixtures_folder().rglob("*.yaml")):
        place, text = file.relative_to(fixtures_folder()), file.read_text("utf-8")
        is_named = place.parts[0] in ("models", "corpora")
        for time_ in range(1 if is_named else times):
            copy = folder / (place if is_named else place.with_name(f"{place.stem}-{time_}.yaml"))
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text if is_named else _ID.sub(rf"\g<1>\g<2>-{time_}", text), "utf-8")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="three runs, and ten times the cases at most")
    quick = parser.parse_args().quick
    return print_table("tokspec run on the reference", rows(*((3, (10,)) if quick else ())))


if __name__ == "__main__":
    sys.exit(main())
