"""Ray and Dask, on clusters of this machine: the same results as the built-in engine, whatever happens to them."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

pytestmark = pytest.mark.engines

UNITS = ("--unit-mb", "0.0012")


@pytest.fixture(params=["ray", "dask"])
def engine(request: Any) -> str:
    """Give the name of an engine that is installed."""
    name: str = request.param
    if importlib.util.find_spec({"dask": "distributed"}.get(name, name)) is None:
        pytest.skip(f"{name} is not installed")
    return name


@pytest.fixture
def undisturbed(place: Any, slow_lines: Callable[[int], list[str]]) -> dict[str, bytes]:
    """Give the results of the built-in engine, to which nothing happens."""
    place.write("texts.txt", [*slow_lines(600), "it DIES", "it HANGS"])
    assert place.run("texts.txt", *UNITS, "-o", "builtin", "--case-seconds", "2", "--workers", "4")[0] == 1
    return place.results("builtin")


def test_the_same_results(place: Any, engine: str, undisturbed: dict[str, bytes]) -> None:
    """Also where a document always kills the implementation."""
    status, out, _ = place.run("texts.txt", *UNITS, "--case-seconds", "2", "--workers", "2", "--engine", engine)
    assert status == 1
    assert "troubled 1 and sound 1 differ in 3 of 602 documents (0.498 %), 0.0 MB" in out.splitlines()
    assert place.results("tokspec-sweep") == undisturbed


def test_a_killed_worker(place: Any, engine: str, undisturbed: dict[str, bytes]) -> None:
    """The engine does its unit again elsewhere."""
    process = place.start("texts.txt", *UNITS, "--case-seconds", "2", "--workers", "2", "--engine", engine)
    for count in (1, 4):
        place.wait_for_results("tokspec-sweep", count)
        victims = {cell.parent() for cell in place.cells()}
        for victim in [each for each in victims if each is not None][:1]:
            place.kill(victim)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "troubled 1 and sound 1 differ in 3 of 602 documents (0.498 %), 0.0 MB" in out.splitlines()
    assert place.results("tokspec-sweep") == undisturbed


def test_a_killed_driver(place: Any, engine: str, undisturbed: dict[str, bytes]) -> None:
    """Its cluster ends with it; another engine goes on where it ended."""
    process = place.start("texts.txt", *UNITS, "--case-seconds", "2", "--workers", "2", "--engine", engine)
    place.wait_for_results("tokspec-sweep", 2)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    place.wait_until_gone()
    before = place.times("tokspec-sweep")
    assert len(before) < len(undisturbed)
    assert place.run("texts.txt", *UNITS, "--case-seconds", "2")[0] == 1
    assert place.results("tokspec-sweep") == undisturbed
    assert before.items() <= place.times("tokspec-sweep").items()


@pytest.fixture
def ray_nodes() -> Iterator[Any]:
    """Give a Ray cluster of two nodes; the second can be taken away."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("ray is not installed")
    program = (
        "import ray.cluster_utils as u, sys\n"
        "c = u.Cluster(initialize_head=True, head_node_args={'num_cpus': 1, 'include_dashboard': False})\n"
        "n = c.add_node(num_cpus=1)\n"
        "print(c.address, flush=True)\n"
        "sys.stdin.readline()\n"
        "c.remove_node(n, allow_graceful=False)\n"
        "print('gone', flush=True)\n"
        "sys.stdin.readline()\n"
        "c.shutdown()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    yield process
    family = psutil.Process(process.pid).children(recursive=True)
    process.communicate("\n\n", timeout=60)
    for each in family:
        if each.is_running():
            each.kill()


def test_a_node_that_leaves(place: Any, ray_nodes: Any, undisturbed: dict[str, bytes]) -> None:
    """What it was doing is done by the other."""
    address = ray_nodes.stdout.readline().strip()
    cluster = ("--engine", "ray", "--address", address)
    process = place.start("texts.txt", *UNITS, "--case-seconds", "2", *cluster)
    place.wait_for_results("tokspec-sweep", 3)
    ray_nodes.stdin.write("\n")
    ray_nodes.stdin.flush()
    assert ray_nodes.stdout.readline() == "gone\n"
    out, err = process.communicate(timeout=180)
    assert process.returncode == 1, err
    assert "troubled 1 and sound 1 differ in 3 of 602 documents (0.498 %), 0.0 MB" in out.splitlines()
    assert place.results("tokspec-sweep") == undisturbed
    ray_nodes.stdin.write("\n")
    ray_nodes.stdin.flush()
    ray_nodes.wait(60)


def test_an_existing_dask_cluster(place: Any, undisturbed: dict[str, bytes]) -> None:
    """It is used by its scheduler's address, and is there afterwards."""
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("distributed is not installed")
    program = (
        "import sys, distributed\n"
        "if __name__ == '__main__':\n"
        "    c = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)\n"
        "    print(c.scheduler_address, flush=True)\n"
        "    sys.stdin.readline()\n"
        "    c.close()\n"
    )
    (place.folder / "cluster.py").write_text(program)
    command = [sys.executable, str(place.folder / "cluster.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as cluster:
        assert cluster.stdout is not None
        address = cluster.stdout.readline().strip()
        arguments = ("texts.txt", *UNITS, "--case-seconds", "2", "--engine", "dask", "--address", address)
        assert place.run(*arguments)[0] == 1
        time.sleep(0.1)
        assert cluster.poll() is None
        cluster.communicate("\n", timeout=60)
    assert place.results("tokspec-sweep") == undisturbed
