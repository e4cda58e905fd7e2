"""``tokspec run --jobs``: the same verdicts in the same order, whatever the number of processes."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tokspec.protocol.messages import Request
from tokspec.sessions.program import partition

pytestmark = pytest.mark.slow

TOKSPEC = [sys.executable, "-m", "tokspec"]

SILENT = """
import json, os, pathlib, sys, time
pathlib.Path(f"started-{os.getpid()}").touch()
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] not in ("hello", "load"):
        pathlib.Path(f"asked-{os.getpid()}").touch()
        time.sleep(60)
    hello = {"protocol": 1, "name": "silent", "version": "1", "language": "Python"}
    print(json.dumps({"id": request["id"], "ok": {**hello, "operations": ["encode"], "formats": ["tokspec"]}}), flush=True)
"""


def run(folder: Path, *arguments: str) -> tuple[int, list[str]]:
    finished = subprocess.run([*TOKSPEC, "run", *arguments], cwd=folder, capture_output=True, text=True, timeout=300)
    # On a slow machine a run says after five seconds how far it is, and how long --verify will take; and nothing else.
    progress = "judging: [0-9]+ of [0-9]+ after [0-9]+ s|verifying takes about [0-9]+ s"
    assert [line for line in finished.stderr.splitlines() if not re.fullmatch(progress, line)] == []
    return finished.returncode, finished.stdout.splitlines()


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--impl", "tokenizers", "--choice", "bpe_merge_order=single_pass"),
        ("--impl", "tokenizers", "--choice", "bpe_merge_order=single_pass", "--max-failures", "2"),
    ],
    ids=["reference", "tokenizers", "some failures"],
)
def test_reports_are_the_same(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    seen = []
    for jobs in ("1", "2", "3"):
        ended = run(tmp_path, *arguments, "--jobs", jobs, "--report", "report.ndjson", "--junit", "junit.xml")
        lines = (tmp_path / "report.ndjson").read_text("utf-8").splitlines()
        assert f"--jobs {jobs}" in lines[0]
        seen.append((ended, lines[1:], (tmp_path / "junit.xml").read_text("utf-8")))
    assert seen[1] == seen[0]
    assert seen[2] == seen[0]


def test_answers_are_verified_by_one_process_each(tmp_path: Path) -> None:
    alone, several = (run(tmp_path, "--verify", "--select", "bpe/toy-encoding.yaml", "--jobs", jobs) for jobs in "12")
    assert several == alone


def test_one_process_is_not_several(tmp_path: Path) -> None:
    command = [*TOKSPEC, "run", "--impl", "reference", "--in-process", "--jobs", "2"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    message = "tokspec: --in-process is for one process; leave out --jobs; see tokspec run --help\n"
    assert (finished.returncode, finished.stdout, finished.stderr) == (2, "", message)


@pytest.mark.parametrize(
    ("number", "status", "message"),
    [
        (signal.SIGINT, 130, b"tokspec: interrupted\n"),
        (signal.SIGTERM, 143, b"tokspec: ended by SIGTERM\n"),
    ],
    ids=["interrupted", "terminated"],
)
def test_a_run_that_is_ended_leaves_nothing_behind(
    tmp_path: Path, number: signal.Signals, status: int, message: bytes
) -> None:
    command = [
        *TOKSPEC,
        "run",
        "--jobs",
        "3",
        "--case-seconds",
        "60",
        "--cmd",
        shlex.join([sys.executable, "-c", SILENT]),
    ]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("asked-*"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    began = time.monotonic()
    running.send_signal(number)
    output, said = running.communicate(timeout=60)
    assert (running.returncode, output, said) == (status, b"", message)
    assert time.monotonic() - began < 30
    started = [int(file.name.partition("-")[2]) for file in tmp_path.glob("started-*")]
    assert len(started) == 3
    for process in started:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


@pytest.mark.parametrize(
    ("models", "parts"),
    [
        ("", [[], []]),
        ("a", [[0], []]),
        ("aaaa", [[0, 2], [1, 3]]),
    ],
    ids=["none", "one", "one model"],
)
def test_each_request_is_dealt_once(models: str, parts: list[list[int]]) -> None:
    requests = [Request("encode", name, {}, {"text": "b"}) for name in models]
    assert partition(requests, range(len(models)), 2) == parts


def test_requests_for_a_model_stay_together_in_pieces() -> None:
    requests = [Request("encode", name, {}, {"text": "b"}) for name in "aabb" * 8]
    pieces = [[n, n + 1] for n in (*range(0, 32, 4), *range(2, 32, 4))]
    assert partition(requests, range(32), 2) == [sorted(n for piece in pieces[job::2] for n in piece) for job in (0, 1)]
