"""The built-in engine: a small pool on this machine, a thread for each worker, which waits for its process."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue

from tokspec.base.errors import DataError
from tokspec.sweep.engines.doing import Done, done_by, processors
from tokspec.sweep.plan import Unit
from tokspec.sweep.worker import Stopped, Worker

__all__ = ["BuiltinEngine"]

#: Seconds to wait for a thread whose process has been ended.
_END_SECONDS = 5.0


class BuiltinEngine:
    """Threads that take units from one queue."""

    def __init__(self, workers: int | None, address: str | None) -> None:
        if address is not None:
            raise DataError(
                "the built-in engine works on this machine; an address is for --engine ray or dask", key="--address"
            )
        self.workers = workers or processors()

    def run(self, folder: Path, units: Sequence[Unit]) -> Generator[Done, None, None]:
        """Do units; see :class:`Engine`."""
        waiting: SimpleQueue[Unit] = SimpleQueue()
        for unit in units:
            waiting.put(unit)
        finished: SimpleQueue[Done | BaseException] = SimpleQueue()
        workers = [Worker(folder) for _ in range(min(self.workers, len(units)))]
        threads = [
            threading.Thread(target=_work, args=(worker, folder, waiting, finished), daemon=True) for worker in workers
        ]
        for thread in threads:
            thread.start()
        try:
            for _ in units:
                done = finished.get()
                if isinstance(done, BaseException):
                    raise done
                yield done
        finally:
            for worker in workers:
                worker.stop()
            for thread in threads:
                thread.join(_END_SECONDS)


def _work(
    worker: Worker, folder: Path, waiting: SimpleQueue[Unit], finished: SimpleQueue[Done | BaseException]
) -> None:
    try:
        while True:
            finished.put(done_by(worker, folder, waiting.get_nowait()))
    except (Empty, Stopped):
        pass
    except BaseException as error:  # shown by the thread that waits
        finished.put(error)
    finally:
        worker.close()
