"""Dask: tasks of ``distributed``, tried again where a worker was lost."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import nullcontext
from logging import ERROR
from pathlib import Path
from typing import Any

from tokspec.base.errors import DataError
from tokspec.sweep.engines.doing import Done, do, processors
from tokspec.sweep.engines.flight import flown, library
from tokspec.sweep.plan import Unit

__all__ = ["DaskEngine"]


class DaskEngine:
    """A Dask cluster: the one of the scheduler at an address, or one of our own on this machine."""

    def __init__(self, workers: int | None, address: str | None) -> None:
        self._library = library("distributed", "dask")
        self._address, self.workers = address, workers or processors()

    def run(self, folder: Path, units: Sequence[Unit]) -> Generator[Done, None, None]:
        """Do units; see :class:`Engine`."""
        with self._cluster() as cluster, self._client(cluster) as client:
            finished = self._library.as_completed()

            def send(unit: Unit) -> Any:
                key = f"tokspec-{unit.id}"
                future = client.submit(do, str(folder.absolute()), unit.to_json(), key=key, pure=False)
                finished.add(future)
                return future

            yield from flown(
                units,
                lambda: sum(map(int, client.nthreads().values())),
                send,
                lambda flying: (next(finished),),
                self._done,
            )

    def _cluster(self) -> Any:
        if self._address:
            return nullcontext(self._address)
        return self._library.LocalCluster(
            n_workers=self.workers, threads_per_worker=1, dashboard_address=None, silence_logs=ERROR
        )

    def _client(self, cluster: Any) -> Any:
        try:
            return self._library.Client(cluster)
        except (OSError, ValueError) as error:
            raise DataError(f"no scheduler answers: {error}", key=self._address or "dask") from None

    def _done(self, future: Any, unit: Unit) -> Done:
        try:
            return Done(**future.result())
        except Exception as error:  # of whatever kind the library has for a task that it gives up
            return Done(unit.id, fault=f"Dask gives it up: {type(error).__name__}: {error}")
