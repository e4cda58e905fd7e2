"""Ray: core tasks, tried again where a worker or a machine was lost."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from tokspec.base.errors import DataError
from tokspec.sweep.engines.doing import Done, do, processors
from tokspec.sweep.engines.flight import flown, library
from tokspec.sweep.plan import Unit

__all__ = ["RayEngine"]

#: How often a task is tried again.
_RETRIES = 5

#: Bytes of the store of a cluster of our own: counts are all that travels, and this is the least that Ray takes.
_STORE_BYTES = 80 * 1024**2


class RayEngine:
    """A Ray cluster: the one at an address, or one of our own on this machine."""

    def __init__(self, workers: int | None, address: str | None) -> None:
        self._ray = library("ray", "ray")
        self._address, self.workers = address, workers or processors()

    def run(self, folder: Path, units: Sequence[Unit]) -> Generator[Done, None, None]:
        """Do units; see :class:`Engine`."""
        self._connect()
        try:
            task = self._ray.remote(num_cpus=1, max_retries=_RETRIES)(do)
            yield from flown(
                units,
                lambda: int(self._ray.cluster_resources().get("CPU", 1)),
                lambda unit: task.remote(str(folder.absolute()), unit.to_json()),
                lambda flying: self._ray.wait(list(flying), num_returns=1)[0],
                self._done,
            )
        finally:
            self._ray.shutdown()

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

    def _done(self, reference: Any, unit: Unit) -> Done:
        try:
            return Done(**self._ray.get(reference))
        except self._ray.exceptions.RayError as error:
            return Done(unit.id, fault=f"Ray gives it up: {str(error).partition(chr(10))[0]}")
