"""Faults, on real processes: nothing is lost, nothing counted twice, and nothing left running."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

#: Some ten units of the slow lines, each taking half a second.
UNITS = ("--unit-mb", "0.0012")


@pytest.fixture
def undisturbed(place: Any, slow_lines: Callable[[int], list[str]]) -> dict[str, bytes]:
    """Return the results of a comparison to which nothing happens."""
    place.write("texts.txt", slow_lines(600))
    assert place.run("texts.txt", *UNITS, "-o", "undisturbed", "--jobs", "4")[0] == 1
    return place.results("undisturbed")


@pytest.mark.long
def test_a_killed_worker(place: Any, undisturbed: dict[str, bytes]) -> None:
    """The unit is done again, no text is blamed, and the result is the same."""
    process = place.start("texts.txt", *UNITS, "-o", "killed", "--jobs", "2")
    for count in (1, 4):
        place.wait_for_results("killed", count)
        before = place.times("killed")
        for worker in place.workers():
            place.kill(worker)
    assert process.communicate(timeout=60)[0].splitlines()[-1] == (
        "A and B differ in 1 (0.167 %) of 600 inputs, 5.1 kB; 1 (0.0198 %) of 5,052 tokens differ"
    )
    assert place.results("killed") == undisturbed
    assert before.items() <= place.times("killed").items()


@pytest.mark.long
def test_a_killed_driver(place: Any, undisturbed: dict[str, bytes]) -> None:
    """Its processes end, and the next start does what is left and nothing else."""
    process = place.start("texts.txt", *UNITS, "-o", "driver", "--jobs", "2")
    place.wait_for_results("driver", 2)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    place.wait_until_gone()
    before = place.times("driver")
    assert 2 <= len(before) < len(undisturbed)
    assert place.run("texts.txt", *UNITS, "-o", "driver")[0] == 1
    assert place.results("driver") == undisturbed
    assert before.items() <= place.times("driver").items()


@pytest.mark.long
def test_an_interruption(place: Any, undisturbed: dict[str, bytes]) -> None:
    """It prints what it has, and the same command continues."""
    process = place.start("texts.txt", *UNITS, "-o", "again", "--jobs", "1")
    place.wait_for_results("again", 2)
    process.send_signal(signal.SIGINT)
    status, out, err = place.finish(process)
    assert (status, err) == (2, "interrupted; the same command continues\n")
    there = len(place.results("again"))
    assert f"done: {there} of {len(undisturbed)} units; the same command continues" in out.splitlines()
    place.wait_until_gone()
    assert place.run("texts.txt", *UNITS, "-o", "again")[0] == 1
    assert place.results("again") == undisturbed


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


@pytest.mark.long
def test_a_file_that_cannot_grow(place: Any) -> None:
    """A result that does not fit is not there at all, and the comparison ends."""
    place.write("a.txt", ["one"] * 500)
    place.write("b.txt", ["x" * 2000 + "Q"])  # whose answers are in the result
    units = ("a.txt", "b.txt", "--unit-mb", "0.002", "--jobs", "1")
    status, _, err = place.run(*units, preexec_fn=_limit)
    (there,) = place.results("tokspec-diff")
    assert status == 2
    assert err.startswith("not done: tokspec-diff/results/")
    assert err.endswith(".json: cannot be written: File too large\n")
    assert place.run(*units)[0] == 1
    assert place.run(*units, "-o", "undisturbed")[0] == 1
    assert there in place.results("tokspec-diff")
    assert place.results("tokspec-diff") == place.results("undisturbed")


@pytest.fixture
def small_disk(place: Any) -> Any:
    """Mount a disk of 100 kB."""
    disk: Path = place.folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.long
def test_a_disk_that_fills_up(place: Any, small_disk: Path) -> None:
    """What was written is whole; with room again, what is left is done."""
    for number in range(6):
        place.write(f"{number}.txt", ["one", "x" * 300 + "Q"])
    units = [*(f"{number}.txt" for number in range(6)), "--unit-mb", "0.0002", "--jobs", "2"]
    status, _, err = place.run(*units, "-o", "disk/diff")
    assert status == 2
    assert err.endswith(": cannot be written: No space left on device\n")
    whole = place.results("disk/diff")
    subprocess.run(["mount", "-o", "remount,size=10m", str(small_disk)], check=True)
    assert place.run(*units, "-o", "disk/diff")[0] == 1
    assert place.run(*units, "-o", "undisturbed")[0] == 1
    assert 0 < len(whole) < 6
    assert whole.items() <= place.results("disk/diff").items()
    assert place.results("disk/diff") == place.results("undisturbed")


@pytest.mark.long
def test_a_truncated_input(place: Any, undisturbed: dict[str, bytes]) -> None:
    """Units of a file that has become shorter are not done; when it is whole again, they are."""
    file = place.folder / "texts.txt"
    data, times = file.read_bytes(), file.stat().st_mtime_ns
    process = place.start("texts.txt", *UNITS, "-o", "cut", "--jobs", "1")
    place.wait_for_results("cut", 2)
    file.write_bytes(data[:100])
    status, _, err = place.finish(process)
    assert status == 2
    assert set(err.splitlines()) == {
        f"not done: texts.txt: has changed since it was found: it had {len(data)} bytes and has 100"
    }
    file.write_bytes(data)
    os.utime(file, ns=(times, times))
    before = place.times("cut")
    assert place.run("texts.txt", *UNITS, "-o", "cut")[0] == 1
    assert place.results("cut") == undisturbed
    assert before.items() <= place.times("cut").items()


def test_one_comparison_at_a_time(place: Any, slow_lines: Callable[[int], list[str]]) -> None:
    place.write("texts.txt", slow_lines(60_000))  # which takes minutes, so that the second start finds the first
    process = place.start("texts.txt", *UNITS, "--jobs", "1")
    place.wait_for_results("tokspec-diff", 1)
    assert place.run("texts.txt", *UNITS) == (
        2,
        "",
        "tokspec: tokspec-diff: is in use by another comparison; wait for it, or give another folder\n",
    )
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 2
