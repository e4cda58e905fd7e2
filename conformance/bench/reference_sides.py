"""One measurement in a process of its own: ``python reference_sides.py SIDE FILE [ARGUMENT ...]`` prints a JSON object.

It holds the CPU seconds of the work, the peak of the memory that it needed beyond what was there before, and a digest
of the result, by which two sides are known to have done the same. What is imported and loaded first is not counted, and
a first letter is encoded before, so that no side builds its tables in the time of the work. With ``--profile`` in front
it prints where the time of the work goes instead.
"""

from __future__ import annotations

import cProfile
import hashlib
import json
import pstats
import resource
import sys
import time
from typing import Any

import sides_gpt2
import sides_models
import sides_training

__all__ = ["SIDES"]

SIDES = {**sides_training.SIDES, **sides_gpt2.SIDES, **sides_models.SIDES}


def digest(result: Any) -> str:
    return hashlib.sha256(json.dumps(result() if callable(result) else result).encode()).hexdigest()[:16]


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Prepare, work, and print."""
    profiled = sys.argv[1] == "--profile"
    if profiled:
        del sys.argv[1]
    side, file, *arguments = sys.argv[1:]
    with open(file, encoding="utf-8", newline="") as opened:
        work = SIDES[side](opened.read(), *arguments)
    if profiled:
        profile = cProfile.Profile()
        profile.runcall(work)
        pstats.Stats(profile).sort_stats("tottime").print_stats(12)
        return
    before, start = peak(), time.process_time()
    result = work()
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "peak": peak() - before, "digest": digest(result)}))


if __name__ == "__main__":
    main()
