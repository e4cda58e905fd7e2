"""Measure how the suite gets through a program that dies on every tenth case.

Run ``python conformance/bench/dying.py [CASES]`` from a checkout with the project installed. The program, in Python,
counts its own starts and what it is asked. Exit status 1 if a verdict is wrong, or if the bounds are not kept: two
starts for each death, and three times for each request to be asked. Seconds depend on the machine.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tokspec.protocol.messages import Answer, Fault, Reply, Request
from tokspec.sessions.limits import Limits
from tokspec.sessions.program import ProgramSession

CASES = 5000
EVERY = 10
STARTS_FOR_A_DEATH = 2
TIMES_ASKED = 3

PROGRAM = """
import json, os, sys
notes = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(notes, b"start\\n")
hello = {"protocol": 1, "name": "dying", "version": "1", "language": "Python"}
hello |= {"operations": ["encode"], "formats": ["tokspec"]}
for line in sys.stdin:
    request = json.loads(line)
    reply = {"hello": hello}.get(request["op"], {})
    if request["op"] == "encode":
        text = request["input"]["text"]
        os.write(notes, text.encode() + b"\\n")
        if text.endswith("0"):
            os._exit(3)
        reply = {"tokens": [text]}
    print(json.dumps({"id": request["id"], "ok": reply}), flush=True)
    if request["op"] == "bye":
        break
"""


def expected(text: str) -> Reply:
    """Return the right reply."""
    return Fault("crash", "exit status 3") if text.endswith("0") else Answer({"tokens": [text]})


def ask(texts: list[str], notes: Path) -> tuple[float, list[Reply]]:
    """Return the seconds of a whole run, and its replies."""
    program = notes.with_name("program.py")
    program.write_text(PROGRAM, "utf-8")
    requests = [Request("encode", "toy", {"type": "bpe"}, {"text": text}) for text in texts]
    start = time.perf_counter()
    with ProgramSession([sys.executable, str(program), str(notes)], Limits(case_seconds=60)) as session:
        replies = dict(session.ask(requests))
    return time.perf_counter() - start, [replies[index] for index in range(len(texts))]


def main() -> int:
    """Measure, print and check."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    texts = [str(number) for number in range(1, count + 1)]
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "notes")
        seconds, replies = ask(texts, notes)
        asked = Counter(notes.read_text("ascii").split())
    starts, deaths = asked.pop("start"), sum(isinstance(reply, Fault) for reply in replies)
    wrong = [text for text, reply in zip(texts, replies, strict=True) if reply != expected(text)]
    took = f"{seconds:.1f} seconds on {os.cpu_count()} processors"
    print(f"{count} cases, {deaths} deaths, {len(wrong)} wrong verdicts, {took}")
    print(f"{starts} starts, {starts / deaths:.2f} for each death, {1000 * seconds / starts:.0f} ms each")
    print(f"{asked.total()} requests, {asked.total() / count:.2f} for each case, {max(asked.values())} for one at most")
    kept = starts <= STARTS_FOR_A_DEATH * deaths + 1 and max(asked.values()) <= TIMES_ASKED
    return 0 if kept and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
