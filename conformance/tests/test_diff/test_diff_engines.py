"""Ray and Dask, on clusters of this machine: the same results as the local engine, whatever happens to them."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

pytestmark = [pytest.mark.engines, pytest.mark.slow]

UNITS = ("--unit-mb", "0.0012")

DIFFER = "A and B differ in 3 (0.498 %) of 602 inputs, 5.1 kB; 1 (0.0198 %) of 5,052 tokens differ"


@pytest.fixture(params=["ray", "dask"])
def engine(request: Any) -> str:
    """Return the name of an engine that is installed."""
    name: str = request.param
    if importlib.util.find_spec({"dask": "distributed"}.get(name, name)) is None:
        pytest.skip(f"{name} is not installed")
    return name


@pytest.fixture
def undisturbed(place: Any, slow_lines: Callable[[int], list[str]]) -> dict[str, bytes]:
    """Return the results of the local engine, to which nothing happens."""
    place.write("texts.txt", [*slow_lines(600), "it DIES", "it HANGS"])
    assert place.run("texts.txt", *UNITS, "-o", "local", "--case-seconds", "2", "--jobs", "4")[0] == 1
    return place.results("local")


def test_the_same_results(place: Any, engine: str, undisturbed: dict[str, bytes]) -> None:
    """Also where a document always kills the implementation."""
    status, out, _ = place.run("texts.txt", *UNITS, "--case-seconds", "2", "--jobs", "2", "--engine", engine)
    assert status == 1
    assert out.splitlines()[-1] == DIFFER
    assert place.results("tokspec-diff") == undisturbed


def test_a_killed_worker(place: Any, engine: str, undisturbed: dict[str, bytes]) -> None:
    """The engine does its unit again elsewhere."""
    process = place.start("texts.txt", *UNITS, "--case-seconds", "2", "--jobs", "2", "--engine", engine)
    for count in (1, 4):
        place.wait_for_results("tokspec-diff", count)
        victims = {worker.parent() for worker in place.workers()}
        for victim in [each for each in victims if each is not None][:1]:
            place.kill(victim)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert out.splitlines()[-1] == DIFFER
    assert place.results("tokspec-diff") == undisturbed


def test_a_killed_driver(place: Any, engine: str, undisturbed: dict[str, bytes]) -> None:
    """Its cluster ends with it; another engine goes on where it ended."""
    process = place.start("texts.txt", *UNITS, "--case-seconds", "2", "--jobs", "2", "--engine", engine)
    place.wait_for_results("tokspec-diff", 2)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    place.wait_until_gone()
    before = place.times("tokspec-diff")
    assert len(before) < len(undisturbed)
    assert place.run("texts.txt", *UNITS, "--case-seconds", "2")[0] == 1
    assert place.results("tokspec-diff") == undisturbed
    assert before.items() <= place.times("tokspec-diff").items()


RAY = """\
import ray.cluster_utils, sys
cluster = ray.cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
node = cluster.add_node(num_cpus=1)
print(cluster.address, flush=True)
sys.stdin.readline()
cluster.remove_node(node, allow_graceful=False)
print("gone", flush=True)
sys.stdin.readline()
cluster.shutdown()
"""

DASK = """\
import distributed, sys
if __name__ == "__main__":
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    print(cluster.scheduler_address, flush=True)
    sys.stdin.readline()
    cluster.close()
"""


class Cluster:
    """A cluster that somebody else has started, by a program that prints its address and goes on line by line."""

    def __init__(self, file: Path, program: str) -> None:
        file.write_text(program)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._process: Any = subprocess.Popen([sys.executable, str(file)], text=True, **pipes)
        self.address = self._process.stdout.readline().strip()
        self._family = psutil.Process(self._process.pid).children(recursive=True)

    def is_there(self) -> bool:
        """Whether all of it runs."""
        return self._process.poll() is None and all(each.is_running() for each in self._family)

    def go_on(self) -> str:
        """Have the program do what is next, and give what it says of it."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        line: str = self._process.stdout.readline().strip()
        return line

    def end(self) -> None:
        """End the program, and what is left of the cluster."""
        self._process.communicate("\n\n", timeout=60)
        for each in psutil.wait_procs(self._family, 5)[1]:
            each.kill()


@pytest.fixture
def cluster(place: Any) -> Iterator[Callable[[str, str], Cluster]]:
    """Return a function that starts a cluster with a package, by a program."""
    started = []

    def start(package: str, program: str) -> Cluster:
        pytest.importorskip(package)
        started.append(Cluster(place.folder / "cluster.py", program))
        return started[-1]

    yield start
    for each in started:
        each.end()


def test_a_node_that_leaves_ray(place: Any, cluster: Any, undisturbed: dict[str, bytes]) -> None:
    """What it was doing is done by the other."""
    nodes = cluster("ray", RAY)
    arguments = ("--case-seconds", "2", "--engine", "ray", "--address", nodes.address)
    process = place.start("texts.txt", *UNITS, *arguments)
    place.wait_for_results("tokspec-diff", 3)
    before = place.times("tokspec-diff")
    assert nodes.go_on() == "gone"
    status, out, err = place.finish(process)
    assert (status, err) == (1, "")
    assert out.splitlines()[-1] == DIFFER
    assert place.results("tokspec-diff") == undisturbed
    assert before.items() <= place.times("tokspec-diff").items()


def test_an_existing_dask_cluster(place: Any, cluster: Any, undisturbed: dict[str, bytes]) -> None:
    """It is used by its scheduler's address, and is there afterwards."""
    scheduler = cluster("distributed", DASK)
    arguments = ("texts.txt", *UNITS, "--case-seconds", "2", "--engine", "dask", "--address", scheduler.address)
    assert place.run(*arguments)[0] == 1
    assert scheduler.is_there()
    assert place.results("tokspec-diff") == undisturbed
