"""What the tests of comparisons share: a corpus, the command, and a look at what it leaves behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

PROGRAM = Path(__file__).parents[1] / "programs" / "trouble.py"
MODEL = '{"type": "bpe", "vocabulary": ["a"], "merges": []}'
LOADED = ("--model", "model.json", "--format", "tokspec")
SIDES = ("trouble:Troubled", "trouble:Sound", *LOADED, "--only-files")


class Place:
    """A folder with implementations and a model, in which comparisons are started."""

    loaded = LOADED

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copy(PROGRAM, folder / "trouble.py")
        (folder / "model.json").write_text(MODEL)

    def write(self, name: str, lines: list[str]) -> None:
        """Write a file of lines."""
        (self.folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")

    def start(self, *arguments: str, sides: tuple[str, ...] = SIDES, **options: object) -> subprocess.Popen[str]:
        """Start a comparison; ``sides`` are who is compared, with which model."""
        return subprocess.Popen(
            [sys.executable, "-m", "tokspec", "diff", *sides, *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,  # type: ignore[call-overload]
        )

    def run(self, *arguments: str, sides: tuple[str, ...] = SIDES, **options: object) -> tuple[int, str, str]:
        """Run a comparison, and give its exit status and what it printed."""
        return self.finish(self.start(*arguments, sides=sides, **options))

    def finish(self, process: subprocess.Popen[str]) -> tuple[int, str, str]:
        """Wait for the end; lines about how far it is, which only a slow machine prints, are left out."""
        out, err = process.communicate(timeout=180)
        told = [line for line in err.splitlines(keepends=True) if not line.startswith(("comparing ", "making causes "))]
        return process.returncode, out, "".join(told)

    def results(self, output: str) -> dict[str, bytes]:
        """Return the result files by their names."""
        return {file.name: file.read_bytes() for file in (self.folder / output / "results").glob("??/*.json")}

    def times(self, output: str) -> dict[str, int]:
        """Say when each result was written."""
        files = (self.folder / output / "results").glob("??/*.json")
        return {file.name: file.stat().st_mtime_ns for file in files}

    def wait_for_results(self, output: str, count: int) -> None:
        """Wait until there are so many."""
        end = time.monotonic() + 60
        while len(self.results(output)) < count:
            assert time.monotonic() < end, "no results come"
            time.sleep(0.02)

    def processes(self) -> list[psutil.Process]:
        """Return the processes that a comparison in this folder has left: they work in it, or for it."""
        found = []
        for process in psutil.process_iter(["cmdline", "cwd", "environ"]):
            words = " ".join(process.info["cmdline"] or ())
            is_here = str(self.folder) in words or process.info["cwd"] == str(self.folder)
            if process.pid != os.getpid() and is_here and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        return found

    def workers(self) -> list[psutil.Process]:
        """Return the processes in which both sides are asked."""
        return [each for each in self.processes() if "tokspec.compare.worker" in " ".join(each.cmdline())]

    def kill(self, process: psutil.Process) -> None:
        """End a process from outside."""
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)

    def wait_until_gone(self) -> None:
        """Wait until nothing is left of a comparison; agents of Ray look a few times before they follow their raylet."""
        end = time.monotonic() + 150
        while left := self.processes():
            assert time.monotonic() < end, [(each.pid, each.ppid(), each.status(), each.cmdline()) for each in left]
            time.sleep(0.05)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Return a folder for comparisons in which nothing may be left running."""
    made = Place(tmp_path)
    yield made
    made.wait_until_gone()


@pytest.fixture(scope="session")
def slow_lines() -> Callable[[int], list[str]]:
    """Return lines of which every tenth takes a while, and one differs."""

    def lines(count: int) -> list[str]:
        return [f"line {number}{' WAITS' * (number % 10 == 0)}{' Q' * (number == 77)}" for number in range(count)]

    return lines
