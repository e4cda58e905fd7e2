"""How long ``tokspec run`` takes on the reference: to its first case, as a whole, and with more cases.

Run ``python conformance/bench/harness_run.py`` from a checkout with the project installed. Every run is a fresh
process, and has to pass as many cases as it was given. What a case costs is what more cases take longer, so that the
start does not count; it is compared with what it costs among fewer. ``--profile`` prints where the time to the first
case goes.
"""

from __future__ import annotations

import argparse
import pstats
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from commands import passed, python, timed
from profiled import print_shares, seconds_in
from table import Row, duration, middle, print_table

from tokspec.base.paths import fixtures_folder
from tokspec.suite.fixtures import load_suite

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

#: Profiles the imports, the reading of fixtures, and the rest before the first case, each by itself.
PROFILED = """
import cProfile, os, sys
imports, reading, rest = profiles = [cProfile.Profile() for _ in range(3)]
imports.enable()
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.cli import main
from tokspec.suite import fixtures
read = fixtures.load_suite
imports.disable()
def profiled(*arguments):
    rest.disable()
    suite = reading.runcall(read, *arguments)
    rest.enable()
    return suite
def first(*arguments):
    rest.disable()
    for number, profile in enumerate(profiles):
        profile.dump_stats(str(number))
    os._exit(0)
for module in [*sys.modules.values()]:
    if getattr(module, "load_suite", None) is read:
        module.load_suite = profiled
ReferenceAdapter.load = first
rest.enable()
main()
"""
STAGES = ("importing", "reading fixtures", "the rest before the first case")

#: How many times the cases: what one costs from the second to the third size is compared with from the first to the
#: second.
STEPS = {10: (1, 5, 10), 100: (1, 10, 100)}

_ID = re.compile(r"^(  - id: \"?)([a-z0-9-]+)", re.MULTILINE)


class Seconds(NamedTuple):
    """The seconds to the first case and of the whole, of the clock and of the processor."""

    first: float
    whole: float
    processor_first: float
    processor: float


def rows(runs: int = 7, sizes: Sequence[int] = (10, 100)) -> Iterator[Row]:
    """Measure; the runs of the larger suites are three."""
    count = len(load_suite().cases)
    yield from _once(count, [_run(count) for _ in range(runs)])
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            yield _more(size, count, Path(folder))


def _once(count: int, seen: Sequence[Seconds]) -> Iterator[Row]:
    """Return the rows of the whole suite; beside the seconds of the clock stand those of the processor."""
    first, whole, processor_first, processor = zip(*seen, strict=True)
    for what, clock, beside, target in (
        ("import to first case", first, processor_first, 0.3),
        (f"whole run of {count} cases", whole, processor, 1.5),
    ):
        ratio, spread = middle(clock)
        shown = duration(ratio), duration(middle(beside)[0])
        what = f"tokspec run: {what}, seconds"
        yield Row(what, *shown, ratio, target, spread, at_most=True, peer_name="of the processor")


def _more(size: int, count: int, folder: Path, runs: int = 3) -> Row:
    """Return the row of what the last of so many times the cases cost, in seconds of the processor."""
    steps = STEPS[size]
    for times in steps:
        multiplied(folder / str(times), times)
    costs = []
    for _ in range(runs):
        few, more, most = (_run(count * times, folder / str(times)).processor for times in steps)
        costs.append(((most - more) / (steps[2] - steps[1]), (more - few) / (steps[1] - steps[0])))
    last, first = (duration(middle(column)[0] / count) for column in zip(*costs, strict=True))
    ratio, spread = middle([last / first for last, first in costs])
    what, peer_name = f"{size} times the cases: a case beyond {steps[1]} times", f"up to {steps[1]} times"
    return Row(what, last, first, ratio, 1.1, spread, at_most=True, peer_name=peer_name)


def _run(count: int, fixtures: Path | None = None) -> Seconds:
    """Measure one run of so many cases."""
    arguments = ["--fixtures", str(fixtures)] if fixtures else []
    whole, output, noted = timed(python("-c", PROGRAM, "run", *arguments))
    passed(output, count)
    first, processor_first, processor = map(float, noted.split())
    return Seconds(first, whole, processor_first, processor)


def multiplied(folder: Path, times: int) -> None:
    """Write the fixtures so many times, each time with other ids."""
    for file in sorted(fixtures_folder().rglob("*.yaml")):
        place, text = file.relative_to(fixtures_folder()), file.read_text("utf-8")
        is_named = place.parts[0] in ("models", "corpora")
        for time_ in range(1 if is_named else times):
            copy = folder / (place if is_named else place.with_name(f"{place.stem}-{time_}.yaml"))
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text if is_named else _ID.sub(rf"\g<1>\g<2>-{time_}", text), "utf-8")


def print_profile() -> None:
    """Print where the time to the first case goes, the reading of fixtures by module."""
    with tempfile.TemporaryDirectory() as folder:
        timed(python("-c", PROFILED, "run"), Path(folder))
        stages = [pstats.Stats(str(Path(folder, str(number)))) for number in range(len(STAGES))]
        for stage, stats in zip(STAGES, stages, strict=True):
            late = seconds_in(stats, "_find_and_load")
            print_shares(f"{stage}, {late:.2f} s of it imports", stats, 8)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="three runs, and ten times the cases at most")
    parser.add_argument("--profile", action="store_true", help="print where the time goes, and measure nothing")
    given = parser.parse_args()
    if not given.profile:
        return print_table("tokspec run on the reference", rows(*((3, (10,)) if given.quick else ())))
    print_profile()
    return 0


if __name__ == "__main__":
    sys.exit(main())
