"""Ray: core tasks, few in flight, tried again where a worker or a machine was lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from tokspec.errors import DataError
from tokspec.sweep.engines.doing import Done, do, processors
from tokspec.sweep.plan import Unit

__all__ = ["RayEngine"]

#: Tasks in flight for each processor, and how often one is tried again.
_FLIGHT = 2
_RETRIES = 5

#: Bytes of the store of a cluster of our own: counts are all that travels, and this is the least that Ray takes.
_STORE_BYTES = 80 * 1024**2


class RayEngine:
    """A Ray cluster: the one at an address, or one of our own on this machine."""

    def __init__(self, workers: int | None, address: str | None) -> None:
        try:
            self._ray: Any = import_module("ray")
        except ImportError:
            raise DataError(
                'needs a package; install it with: pip install "tokspec[ray]"', key="--engine ray"
            ) from None
        self._address, self.workers = address, workers or processors()

    def run(self, folder: Path, units: Sequence[Unit]) -> Iterator[Done]:
        """Do units; see :class:`Engine`."""
        ray = self._ray
        self._connect()
        try:
            task = ray.remote(num_cpus=1, max_retries=_RETRIES)(do)
            waiting = iter(units)
            flying: dict[Any, Unit] = {}
            while True:
                for unit in _some(waiting, _FLIGHT * self._processors() - len(flying)):
                    flying[task.remote(str(folder.absolute()), unit.to_json())] = unit
                if not flying:
                    return
                ready, _ = ray.wait(list(flying), num_returns=1)
                for reference in ready:
                    yield self._done(reference, flying.pop(reference))
        finally:
            ray.shutdown()

    def _connect(self) -> None:
        own = {"num_cpus": self.workers, "object_store_memory": _STORE_BYTES, "include_dashboard": False}
        try:
            self._ray.init(
                address=self._address or "local",
                log_to_driver=False,
                logging_level="error",
                **({} if self._address else own),
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise DataError(f"no cluster answers: {error}", key=self._address or "ray") from None

    def _processors(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def _done(self, reference: Any, unit: Unit) -> Done:
        try:
            return Done(**self._ray.get(reference))
        except self._ray.exceptions.RayError as error:
            return Done(unit.id, fault=f"Ray gives it up: {str(error).partition(chr(10))[0]}")


def _some(units: Iterator[Unit], count: int) -> list[Unit]:
    return [unit for _, unit in zip(range(count), units, strict=False)]
