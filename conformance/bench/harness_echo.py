"""How many requests a second go through the protocol, with a program that does nothing but answer.

Run ``python conformance/bench/harness_echo.py``. The floor is a loop that asks and one that answers, both as short
as can be, 64 requests in flight: for the program in Python a loop in Python, for that in JavaScript one in Python, as
the suite is, and one in JavaScript too.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from commands import timed
from table import Row, Unmeasured, paired, print_table, unmeasured

from tokspec.protocol.messages import Answer, Request
from tokspec.sessions.program import ProgramSession

__all__ = ["rows"]

HERE = Path(__file__).resolve().parent
PYTHON = [sys.executable, str(HERE / "echo.py")]
NODE = ["node", str(HERE / "echo.mjs")]

#: What answers, and what asks in the floor.
PAIRS = [
    ("an echo in Python", PYTHON, "loop in Python", PYTHON),
    ("an echo in Node", NODE, "loop in Python", PYTHON),
    ("an echo in Node", NODE, "loop in Node", NODE),
]
SHARE = 0.7


def rows(runs: int = 7, count: int = 20_000) -> Iterator[Row]:
    """Measure; the ratio is the share of the floor that is reached."""
    for what, program, peer, asker in PAIRS:
        name = f"{count} requests to {what}"
        if shutil.which(program[0]) is None:
            yield unmeasured(name, f"not measured: no {program[0]}", peer)
            continue
        seconds = [(through_the_suite(program, count), floor(asker, program, count)) for _ in range(runs)]
        yield paired(name, seconds, SHARE, peer_name=peer)


def through_the_suite(program: Sequence[str], count: int) -> float:
    """Return the seconds in which the suite asks."""
    requests = [Request("normalize", "m", {}, {"text": f"text {number}"}) for number in range(1, count + 1)]
    with ProgramSession(program) as session:
        began = time.perf_counter()
        replies = dict(session.ask(requests))
        took = time.perf_counter() - began
    if any(replies[index] != Answer(dict(request.input)) for index, request in enumerate(requests)):
        raise Unmeasured("an answer is another one")
    return took


def floor(asker: Sequence[str], program: Sequence[str], count: int) -> float:
    """Return the seconds in which the loop asks."""
    return float(timed([*asker, str(count), *program])[1])


if __name__ == "__main__":
    sys.exit(print_table("Through the protocol", rows()))
