"""Dask: tasks of ``distributed``, few in flight, tried again where a worker was lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from logging import ERROR
from pathlib import Path
from typing import Any

from tokspec.errors import DataError
from tokspec.sweep.engines.doing import Done, do, processors
from tokspec.sweep.plan import Unit

__all__ = ["DaskEngine"]

#: Tasks in flight for each processor.
_FLIGHT = 2


class DaskEngine:
    """A Dask cluster: the one of the scheduler at an address, or one of our own on this machine."""

    def __init__(self, workers: int | None, address: str | None) -> None:
        try:
            self._library: Any = import_module("distributed")
        except ImportError:
            raise DataError(
                'needs a package; install it with: pip install "tokspec[dask]"', key="--engine dask"
            ) from None
        self._address, self.workers = address, workers or processors()

    def run(self, folder: Path, units: Sequence[Unit]) -> Iterator[Done]:
        """Do units; see :class:`Engine`."""
        with self._cluster() as cluster, self._client(cluster) as client:
            waiting, flying = iter(units), dict[str, Unit]()
            finished = self._library.as_completed()
            while True:
                for unit in _some(waiting, _FLIGHT * self._processors(client) - len(flying)):
                    future = client.submit(
                        do, str(folder.absolute()), unit.to_json(), key=f"tokspec-{unit.id}", pure=False
                    )
                    flying[future.key] = unit
                    finished.add(future)
                if not flying:
                    return
                future = next(finished)
                yield self._done(future, flying.pop(future.key))

    def _cluster(self) -> Any:
        if self._address:
            from contextlib import nullcontext

            return nullcontext(self._address)
        return self._library.LocalCluster(
            n_workers=self.workers, threads_per_worker=1, dashboard_address=None, silence_logs=ERROR
        )

    def _client(self, cluster: Any) -> Any:
        try:
            return self._library.Client(cluster)
        except (OSError, ValueError) as error:
            raise DataError(f"no scheduler answers: {error}", key=self._address or "dask") from None

    def _processors(self, client: Any) -> int:
        return max(1, sum(map(int, client.nthreads().values())))

    def _done(self, future: Any, unit: Unit) -> Done:
        try:
            return Done(**future.result())
        except Exception as error:  # of whatever kind the library has for a task that it gives up
            return Done(unit.id, fault=f"Dask gives it up: {type(error).__name__}: {error}")


def _some(units: Iterator[Unit], count: int) -> list[Unit]:
    return [unit for _, unit in zip(range(count), units, strict=False)]
