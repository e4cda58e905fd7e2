"""One measurement in a process of its own: ``python reference_sides.py SIDE FILE [ARGUMENT ...]`` prints a JSON object.

It holds the CPU seconds of the work and a digest of the result, by which two sides are known to have done the same;
where the work is not measured by the text, it holds the size of what it was given too.
What is imported and loaded first is not counted, and a first letter is encoded before, so that no side builds its
tables in the time of the work. With ``--memory`` in front the object holds the most bytes that the work has allocated
at a time, which takes longer; with ``--profile`` it is printed where the time of the work goes.
"""

from __future__ import annotations

import cProfile
import hashlib
import json
import pstats
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Any

import sides_gpt2
import sides_models
import sides_training
from sides_shared import Sized, Work

__all__ = ["SIDES"]

SIDES = {**sides_training.SIDES, **sides_gpt2.SIDES, **sides_models.SIDES}


def digest(result: Any) -> str:
    return hashlib.sha256(json.dumps(result() if callable(result) else result).encode()).hexdigest()[:16]


def timed(work: Work) -> None:
    start = time.process_time()
    result = work()
    seconds = time.process_time() - start
    tell(work, seconds, result)


def traced(work: Work) -> None:
    tracemalloc.start()
    result = work()
    tell(work, tracemalloc.get_traced_memory()[1], result)


def tell(work: Work, value: float, result: Any) -> None:
    size = work.size if isinstance(work, Sized) else None
    print(json.dumps({"value": value, "digest": digest(result), "size": size}))


def profiled(work: Work) -> None:
    profile = cProfile.Profile()
    profile.runcall(work)
    pstats.Stats(profile).sort_stats("tottime").print_stats(12)


WAYS: Mapping[str, Callable[[Work], None]] = {"--memory": traced, "--profile": profiled}


def main() -> None:
    """Prepare, work, and print."""
    do = WAYS.get(sys.argv[1], timed)
    if do is not timed:
        del sys.argv[1]
    side, file, *arguments = sys.argv[1:]
    with open(file, encoding="utf-8", newline="") as opened:
        do(SIDES[side](opened.read(), *arguments))


if __name__ == "__main__":
    main()
