"""What judging costs beside the implementation itself: a bare loop over the same inputs that calls and compares.

Run ``python conformance/bench/harness_overhead.py`` where tokenizers and tiktoken are installed. The loop calls the
same adapter on the cases that pass, ten times each, loads every model once, and compares with ``==``. All starts are
left out. ``--profile`` prints where the time goes that judging takes in this process.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from table import Row, paired, print_table

from tokspec import formats
from tokspec.adapter import Adapter
from tokspec.compare import resolve
from tokspec.discovery import find
from tokspec.errors import Refusal, Unsupported
from tokspec.fixtures import Case, load_suite
from tokspec.runner import run
from tokspec.sessions import InProcessSession, Limits, Session
from tokspec.verdicts import Verdict, declared_choices

__all__ = ["rows"]

IMPLEMENTATIONS = ("tokenizers", "tiktoken")
TIMES = 10
HOSTED, IN_PROCESS = 1.3, 1.15


def rows(runs: int = 5) -> Iterator[Row]:
    """Measure those that are installed."""
    for name in IMPLEMENTATIONS:
        if find_spec(name):
            yield from _of(name, runs)


def _of(name: str, runs: int) -> Iterator[Row]:
    found = find(name)
    cases = passing(found.make()) * TIMES
    for what, target, start in (
        ("in this process", IN_PROCESS, lambda: InProcessSession(found.make())),
        ("hosted", HOSTED, lambda: found.host(Limits())),
    ):
        seconds = [(judged(start, cases), bare(found.make(), cases)) for _ in range(runs)]
        yield paired(f"{name} {what}, {len(cases)} cases", seconds, target, at_most=True, peer_name="bare loop")


def passing(adapter: Adapter) -> list[Case]:
    """Give the cases that pass and have one right answer."""
    with InProcessSession(adapter) as session:
        results = run(session, [*load_suite().cases.values()]).results
    return [result.case for result in results if result.verdict is Verdict.PASS and "expect" in result.expected]


def judged(start: Callable[[], Session], cases: Sequence[Case]) -> float:
    """Give the seconds in which the suite judges them."""
    with start() as session:
        began = time.perf_counter()
        finished = run(session, cases)
        took = time.perf_counter() - began
    if finished.counts[Verdict.PASS] < len(cases):
        raise SystemExit(f"{finished.counts}")
    return took


def bare(adapter: Adapter, cases: Sequence[Case]) -> float:
    """Give the seconds of the loop."""
    hello = adapter.hello()
    choices = declared_choices(hello)
    right = [resolve(case.outcome, choices)["expect"] for case in cases]
    models: dict[str, Any] = {}
    began = time.perf_counter()
    different = 0
    for case, expected in zip(cases, right, strict=True):
        name = case.model.name
        if name not in models:
            models[name] = load(adapter, hello.formats, case.model.content)
        different += adapter.run(case.operation, models[name], case.input) != expected
    took = time.perf_counter() - began
    if different == len(cases):
        raise SystemExit("nothing is right")
    return took


def load(adapter: Adapter, accepted: Sequence[str], content: Mapping[str, Any]) -> Any:
    """Load a model as the suite does."""
    for name in accepted:
        try:
            return adapter.load(name, formats.write(name, content))
        except Unsupported:
            continue
    raise Refusal("unsupported")


def print_profile(name: str) -> None:
    """Print the share of each module in the time, its own and that of what it calls in C; profiling itself costs."""
    found = find(name)
    cases = passing(found.make()) * TIMES
    profile = cProfile.Profile()
    profile.runcall(judged, lambda: InProcessSession(found.make()), cases)
    shares: Counter[str] = Counter()
    for (file, _, function), (_, _, own, _, callers) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        if file != "~":
            shares[Path(file).stem] += own
        for (caller, _, _), (_, _, seconds, _) in callers.items() if file == "~" else ():
            shares[Path(caller).stem if caller != "~" else function] += seconds
    print(f"{name} in this process, {len(cases)} cases")
    for module, seconds in shares.most_common(14):
        print(f"{seconds / shares.total():>6.1%}  {module}")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--profile", action="store_true", help="print where the time goes, and measure nothing")
    if not parser.parse_args().profile:
        return print_table("The cost of judging", rows())
    for name in filter(find_spec, IMPLEMENTATIONS):
        print_profile(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
