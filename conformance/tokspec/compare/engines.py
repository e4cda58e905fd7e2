"""Engines, which decide where and when a unit is processed, and what happens when a machine goes away.

They know nothing of results: the process that handles a unit writes its result, and the engine returns a few counts. An
engine is five methods around futures; units are submitted a few at a time for each processor, so that nothing holds all
of them.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice
from logging import ERROR
from pathlib import Path
from typing import Any, Protocol

from tokspec.base.errors import DataError
from tokspec.compare.units import Unit, find_done
from tokspec.compare.worker import Done, close_runners, do_unit, stop_runners

#: How many units are submitted for each processor, and how often a task is retried.
_SUBMITTED = 2
_RETRIES = 5

#: How many units may fail, each because of its own inputs, before the rest is left for another start.
_FAULTS = 20

#: Bytes of the object store of a Ray cluster that we start: only counts travel, and this is the least that Ray accepts.
_STORE_BYTES = 80 * 1024**2


class Engine(Protocol):
    """Executes calls elsewhere."""

    def processors(self) -> int:
        """Return how many calls can run at once now, because a cluster grows and shrinks."""
        ...

    def submit(self, folder: str, unit: Mapping[str, Any]) -> Any:
        """Start :func:`tokspec.compare.worker.do_unit`, and return its future."""
        ...

    def wait(self, futures: Sequence[Any]) -> Iterable[Any]:
        """Wait until one of the futures is done, and return those that are."""
        ...

    def result(self, future: Any) -> Done:
        """Return the result of a future that is done."""
        ...

    def close(self) -> None:
        """End all work."""
        ...


def count_processors() -> int:
    """Count the processors that this process may use.

    >>> count_processors() > 0
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalEngine:
    """Threads of this process, each of which waits for its own process."""

    def __init__(self, jobs: int, address: str | None) -> None:
        if address is not None:
            raise DataError("is for --engine dask or ray", key="--address")
        self._jobs = jobs
        self._executor: Executor = ThreadPoolExecutor(jobs)

    def processors(self) -> int:
        return self._jobs

    def submit(self, folder: str, unit: Mapping[str, Any]) -> Any:
        return self._executor.submit(do_unit, folder, unit)

    def wait(self, futures: Sequence[Any]) -> Iterable[Any]:
        return wait(futures, return_when=FIRST_COMPLETED).done

    def result(self, future: Any) -> Done:
        done: Done = future.result()
        return done

    def close(self) -> None:
        stop_runners()
        self._executor.shutdown(cancel_futures=True)
        close_runners()


@contextmanager
def _deaf() -> Iterator[None]:
    """Make processes that are started meanwhile ignore Ctrl-C, to which this one reacts."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class DaskEngine(LocalEngine):
    """A Dask cluster: the one whose scheduler is at an address, or a new one on this machine."""

    def __init__(self, jobs: int, address: str | None) -> None:
        library = _library("distributed", "dask")
        self._cluster = None
        if address is None:
            with _deaf():
                self._cluster = library.LocalCluster(
                    n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=ERROR
                )
        try:
            self._client = library.Client(address or self._cluster)
        except (OSError, ValueError) as error:
            raise DataError(f"no scheduler answers: {error}", key=address or "dask") from None
        self._executor = self._client.get_executor(pure=False, retries=_RETRIES)

    def processors(self) -> int:
        return sum(map(int, self._client.nthreads().values()))

    def submit(self, folder: str, unit: Mapping[str, Any]) -> Any:
        return super().submit(os.path.abspath(folder), unit)

    def result(self, future: Any) -> Done:
        try:
            return super().result(future)
        except Exception as error:  # of any type that the library raises for a task that it gives up
            return Done("", fault=f"Dask gave up: {type(error).__name__}: {error}")

    def close(self) -> None:
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


class RayEngine:
    """A Ray cluster: the one at an address, or a new one on this machine."""

    def __init__(self, jobs: int, address: str | None) -> None:
        self._ray = _library("ray", "ray")
        ours = {"num_cpus": jobs, "object_store_memory": _STORE_BYTES, "include_dashboard": False}
        options = {"log_to_driver": False, "logging_level": "error", **({} if address else ours)}
        try:
            self._ray.init(address=address or "local", **options)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise DataError(f"no cluster answers: {error}", key=address or "ray") from None
        self._task = self._ray.remote(num_cpus=1, max_retries=_RETRIES)(do_unit)

    def processors(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 1))

    def submit(self, folder: str, unit: Mapping[str, Any]) -> Any:
        return self._task.remote(os.path.abspath(folder), unit)

    def wait(self, futures: Sequence[Any]) -> Iterable[Any]:
        done: list[Any] = self._ray.wait(list(futures), num_returns=1)[0]
        return done

    def result(self, future: Any) -> Done:
        try:
            done: Done = self._ray.get(future)
            return done
        except self._ray.exceptions.RayError as error:
            return Done("", fault=f"Ray gave up: {str(error).partition(chr(10))[0]}")

    def close(self) -> None:
        self._ray.shutdown()


def _library(module: str, name: str) -> Any:
    """Import the package of an engine.

    >>> _library("no_such_package", "ray")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: --engine ray: needs a package; install it with: pip install no_such_package
    """
    try:
        return import_module(module)
    except ImportError:
        raise DataError(f"needs a package; install it with: pip install {module}", key=f"--engine {name}") from None


ENGINES: Mapping[str, Callable[[int, str | None], Engine]] = {
    "local": LocalEngine,
    "dask": DaskEngine,
    "ray": RayEngine,
}


@dataclass
class Progress:
    """The progress of the work: why units failed, and whether it was interrupted."""

    faults: list[str] = field(default_factory=list)
    interrupted: bool = False


def run_units(folder: Path, units: Sequence[Unit], engine: Engine, note: Callable[[Unit, Done], object]) -> Progress:
    """Process the units that have no result yet, and close the engine.

    Args:
        folder: the folder with the plan.
        units: the units of the plan.
        engine: the engine that processes them.
        note: called after each unit.
    """
    progress, done = Progress(), find_done(folder, units)
    waiting = [unit for unit in units if unit.id not in done]
    try:
        with closing(engine), closing(_submit(str(folder), waiting, engine)) as running:
            for unit, each in running:
                if each.fault:
                    progress.faults.append(each.fault)
                note(unit, each)
                if each.ends or len(progress.faults) >= _FAULTS:
                    break
    except KeyboardInterrupt as interruption:
        if type(interruption) is not KeyboardInterrupt:  # a signal to end, not to report what there is
            raise
        progress.interrupted = True
    return progress


def _submit(folder: str, units: Sequence[Unit], engine: Engine) -> Generator[tuple[Unit, Done], None, None]:
    """Submit units while there is room, and yield their results."""
    waiting = iter(units)
    submitted: dict[Any, Unit] = {}
    while True:
        room = _SUBMITTED * max(1, engine.processors()) - len(submitted)
        submitted |= {engine.submit(folder, unit.to_json()): unit for unit in islice(waiting, max(0, room))}
        if not submitted:
            return
        for future in list(engine.wait(list(submitted))):
            yield submitted.pop(future), engine.result(future)
