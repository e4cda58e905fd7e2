"""What judging costs beside the implementation itself: a bare loop over the same inputs that calls and compares.

Run ``python conformance/bench/harness_overhead.py`` where tokenizers and tiktoken are installed. The loop calls the
same adapter on the cases that pass, ten times each, loads every model once, and compares with ``==``: what it compares
with is made ready before, in the form in which the adapter answers, and nothing may differ. All starts are left out.
``--profile`` prints where the time goes that judging takes in this process.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from profiled import print_shares
from table import Row, Unmeasured, paired, print_table, unmeasured

from tokspec import formats
from tokspec.adapter import Adapter
from tokspec.adapters.registry import find
from tokspec.base.errors import Refusal, Unsupported
from tokspec.judge.compare import first_difference
from tokspec.judge.runner import run
from tokspec.judge.verdicts import Result, Verdict
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.limits import Limits
from tokspec.sessions.session import Session
from tokspec.suite.fixtures import load_suite

__all__ = ["rows"]

IMPLEMENTATIONS = ("tokenizers", "tiktoken")
TIMES = 10
HOSTED, IN_PROCESS = 1.3, 1.15


def rows(runs: int = 5) -> Iterator[Row]:
    """Measure; what is not installed has a line that says so."""
    for name in IMPLEMENTATIONS:
        try:
            yield from _of(name, runs)
        except Unmeasured as why:
            yield unmeasured(name, str(why), "bare loop")


def _of(name: str, runs: int) -> Iterator[Row]:
    if find_spec(name) is None:
        raise Unmeasured(f"not measured: no {name}")
    found = find(name)
    cases = passing(found.make()) * TIMES
    for what, target, start in (
        ("in this process", IN_PROCESS, lambda: InProcessSession(found.make())),
        ("hosted", HOSTED, lambda: found.serve(Limits())),
    ):
        seconds = [(judged(start, cases), bare(found.make(), cases)) for _ in range(runs)]
        yield paired(f"{name} {what}, {len(cases)} cases", seconds, target, at_most=True, peer_name="bare loop")


def passing(adapter: Adapter) -> list[Result]:
    """Return the cases that pass and have one right answer."""
    with InProcessSession(adapter) as session:
        results = run(session, [*load_suite().cases.values()]).results
    return [result for result in results if result.verdict is Verdict.PASS and "expect" in result.expected]


def judged(start: Callable[[], Session], passed: Sequence[Result]) -> float:
    """Return the seconds in which the suite judges them."""
    cases = [result.case for result in passed]
    with start() as session:
        began = time.perf_counter()
        finished = run(session, cases)
        took = time.perf_counter() - began
    if finished.counts[Verdict.PASS] < len(cases):
        raise Unmeasured(f"{finished.counts[Verdict.PASS]} of {len(cases)} cases pass")
    return took


def bare(adapter: Adapter, passed: Sequence[Result]) -> float:
    """Return the seconds of the loop."""
    accepted = adapter.hello().formats
    work = [(result.case, right) for result, right in zip(passed, answers(adapter, passed), strict=True)]
    models: dict[str, Any] = {}
    began = time.perf_counter()
    different = 0
    for case, right in work:
        name = case.model.name
        if name not in models:
            models[name] = load(adapter, accepted, case.model.content)
        different += adapter.run(case.operation, models[name], case.input) != right
    took = time.perf_counter() - began
    if different:
        raise Unmeasured(f"{different} of {len(work)} answers of the bare loop differ")
    return took


def answers(adapter: Adapter, passed: Sequence[Result]) -> list[Any]:
    """Return the right answers in the form in which the adapter gives them: lists may be tuples there, for instance."""
    known = {case_id: answer(adapter, result) for case_id, result in {one.case.id: one for one in passed}.items()}
    return [known[result.case.id] for result in passed]


def answer(adapter: Adapter, passed: Result) -> Any:
    """Return the adapter's answer, held to what is expected; encoding may give more fields than a case, or fewer."""
    case, wanted = passed.case, passed.expected["expect"]
    found = adapter.run(case.operation, load(adapter, adapter.hello().formats, case.model.content), case.input)
    plain = json.loads(json.dumps(found))
    if case.operation == "encode":
        both = wanted.keys() & plain.keys()
        wanted, plain = ({name: result[name] for name in both} for result in (wanted, plain))
    if first_difference(wanted, plain, case.tolerance):
        raise Unmeasured(f"{case.id} passes in the suite, and not in the bare loop")
    return found


def load(adapter: Adapter, accepted: Sequence[str], content: Mapping[str, Any]) -> Any:
    """Load a model as the suite does."""
    for name in accepted:
        try:
            return adapter.load(name, formats.write(name, content))
        except Unsupported:
            continue
    raise Refusal("unsupported")


def print_profile(name: str) -> None:
    """Print the share of each module in the time."""
    found = find(name)
    cases = passing(found.make()) * TIMES
    profile = cProfile.Profile()
    profile.runcall(judged, lambda: InProcessSession(found.make()), cases)
    print_shares(f"{name} in this process, {len(cases)} cases", pstats.Stats(profile))


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
