"""No process outlives a run: neither when the run is killed, nor when it has left everything by which it is known."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import psutil
import pytest

from tokspec.sessions.limits import MemoryWatch

pytestmark = pytest.mark.slow

TOKSPEC = [sys.executable, "-m", "tokspec", "run", "--select", "bpe-toy-encode-bug"]

#: Notes its number; never ends, whatever becomes of its input.
BUSY = """
import os, pathlib, sys
sys.stdin.readline()
pathlib.Path("number.new").write_text(str(os.getpid()))
os.rename("number.new", "number")
while True:
    pass
"""

#: Leaves a daemon behind that has its own session and no environment, and says nothing any more.
DAEMON = """
import os, pathlib, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        pathlib.Path("number.new").write_text(str(os.getpid()))
        os.rename("number.new", "number")
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        os.execve(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(600)"], {})
    os._exit(0)
while not os.path.exists("number"):
    os.sched_yield()
sys.exit(3)
"""

#: Starts a process in a session of its own when it is told to, which takes 400 MB and then notes its number.
GREEDY = """
import os, pathlib, sys
sys.stdin.readline()
if os.fork() == 0:
    os.setsid()
    taken = b"x" * (400 << 20)
    pathlib.Path("number.new").write_text(str(os.getpid()))
    os.rename("number.new", "number")
sys.stdin.read()
"""


def number_in(folder: Path) -> int:
    """Wait for the number that a program notes."""
    deadline = time.monotonic() + 60
    while not (folder / "number").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return int((folder / "number").read_text())


def run(program: str) -> list[str]:
    return [*TOKSPEC, "--start-seconds", "600", "--cmd", shlex.join([sys.executable, "-S", "-c", program])]


def has_ended(number: int, seconds: float) -> bool:
    try:
        psutil.Process(number).wait(seconds)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return psutil.Process(number).status() == psutil.STATUS_ZOMBIE  # whose new parent waits for nobody
    return True


def test_a_busy_program_does_not_survive_a_run_that_is_killed(tmp_path: Path) -> None:
    running = subprocess.Popen(run(BUSY), cwd=tmp_path)
    number = number_in(tmp_path)
    assert psutil.pid_exists(number)
    running.kill()
    running.wait()
    assert has_ended(number, 60)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a system that hands orphans over")
def test_a_daemon_without_its_group_and_its_environment_is_found(tmp_path: Path) -> None:
    finished = subprocess.run(run(DAEMON), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (finished.returncode, "cannot be asked: crash: exit status 3" in finished.stderr) == (2, True)
    assert has_ended(number_in(tmp_path), 0)
    assert os.path.exists(tmp_path / "number")


@pytest.mark.skipif(sys.platform == "win32", reason="needs sessions")
def test_memory_that_goes_fast_is_looked_for_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokspec.sessions.limits.REST", 10**9)
    command = [sys.executable, "-S", "-c", GREEDY]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, text=True) as program:
        watch = MemoryWatch(program.pid, 300)
        assert program.stdin is not None
        assert not watch.is_exceeded()
        program.stdin.write("go\n")
        program.stdin.flush()
        number = number_in(tmp_path)
        assert watch.is_exceeded()
        watch.kill()
        assert has_ended(number, 60)


def test_a_process_that_ends_while_it_is_looked_at_hides_no_other() -> None:
    def ending() -> Iterable[psutil.Process]:
        raise psutil.NoSuchProcess(1)

    assert MemoryWatch(os.getpid(), 1, ending).is_exceeded()
    assert not MemoryWatch(os.getpid(), 1 << 20, ending).is_exceeded()
