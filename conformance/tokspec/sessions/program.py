"""Sessions with a program in any language that speaks ``spec/10-protocol.md``, in one process or several.

Each session is a generator of replies that yields a :class:`~tokspec.sessions.process.Wait` where it has to wait. This
module waits for one session, or for several of a pool at the same time.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from tokspec.adapter import Hello
from tokspec.base.errors import AdapterFault, DataError
from tokspec.protocol.messages import Reply, Request
from tokspec.sessions.conversation import Program, Steps
from tokspec.sessions.limits import Limits
from tokspec.sessions.process import Process, Wait, drive
from tokspec.sessions.scheduler import RequestScheduler, SessionState
from tokspec.sessions.session import Session, in_order, refuse_unoffered

_Made = TypeVar("_Made")

#: How many parts of the work each process of a pool gets. More parts share the work more evenly, but load more models
#: twice.
PIECES = 8


class ProgramSession(Session):
    """Runs a program with many requests in flight; if the program misbehaves, it is started again.

    Args:
        command: the program and its arguments; no shell reads them.
        limits: the limits of the program.
        is_ours: whether it is :mod:`tokspec.sessions.adapter_server`, whose replies may have more keys.
        waits: whether to wait for ``hello`` now; if not, :meth:`connect` does it.

    Raises:
        DataError: the program cannot be started; the message says what to do.
        AdapterFault: the program ran, but there was no proper answer to ``hello``.
    """

    def __init__(
        self, command: Sequence[str], limits: Limits | None = None, *, is_ours: bool = False, waits: bool = True
    ) -> None:
        if not command:
            raise DataError("the command is empty; give a program and its arguments")
        self._state = SessionState()
        self._program = Program(tuple(command), is_ours, limits or Limits())
        if waits:
            for _ in drive(self.connect()):
                pass

    @property
    def hello(self) -> Hello:
        """The program's description of itself."""
        return self._program.hello

    @property
    def unblamed(self) -> Sequence[AdapterFault]:
        """The faults for which no request is to blame."""
        return self._state.unblamed

    @property
    def end_faults(self) -> Sequence[AdapterFault]:
        """The fault in how the program ended, once the session is closed."""
        return [self._program.end_fault] if self._program.end_fault else []

    def connect(self) -> Steps[None]:
        """Wait for the answer to the first ``hello``.

        Raises:
            AdapterFault, DataError: as the constructor does.
        """
        return self._program.read_first_hello()

    def ask(self, requests: Sequence[Request]) -> Generator[tuple[int, Reply], None, None]:
        """Yield the reply to each request as it comes. Replies that are not consumed are lost, and cost a new start."""
        return drive(self.schedule(requests))

    def schedule(self, requests: Sequence[Request]) -> Generator[Wait | tuple[int, Reply], None, None]:
        """Like :meth:`ask`, but yield a ``Wait`` wherever the program has to be waited for."""
        scheduler = RequestScheduler(self._program, self._state, requests)
        try:
            yield from scheduler.schedule()
        finally:
            scheduler.abandon()

    def say_bye(self) -> None:
        """Ask the program to end, without waiting for it."""
        self._program.say_bye()

    def close(self) -> None:
        """Say ``bye``, and end the program with all processes of its group."""
        self._program.close()


class SessionPool(Session):
    """A session with several processes of a program at once; each is blamed and restarted as if it were alone.

    Args:
        start: starts a process, the same each time; its argument is whether to wait for ``hello``.
        jobs: the number of processes. The first is started now, each other one at its first request.

    Raises:
        DataError, AdapterFault: raised by the start of the first process.
    """

    def __init__(self, start: Callable[[bool], ProgramSession], jobs: int) -> None:
        self._start = start
        self._jobs = jobs
        self._workers: dict[int, ProgramSession] = {0: start(True)}

    @property
    def hello(self) -> Hello:
        """The description that the first process gives of itself, and the others too."""
        return self._workers[0].hello

    @property
    def unblamed(self) -> Sequence[AdapterFault]:
        """The faults in any process for which no request is to blame."""
        return [*chain.from_iterable(worker.unblamed for worker in self._workers.values())]

    @property
    def end_faults(self) -> Sequence[AdapterFault]:
        """The faults in how the processes ended, once the session is closed."""
        return [*chain.from_iterable(worker.end_faults for worker in self._workers.values())]

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Yield the reply to each request, all from the first process, because a caller may ask one by one."""
        return self._workers[0].ask(requests)

    def ask_in_parallel(
        self, requests: Sequence[Request], take: Callable[[int, Reply], _Made]
    ) -> Iterator[tuple[int, _Made]]:
        """Ask all processes at once, and yield the result of ``take`` for each reply, in the order of the requests."""
        refusals = {index: refuse_unoffered(self.hello, request) for index, request in enumerate(requests)}
        waiting = [index for index, refusal in refusals.items() if refusal is None]
        parts = partition(requests, waiting, self._jobs)
        runs = [_Run(self._ask_worker(number, requests, part)) for number, part in enumerate(parts) if part]
        replies = chain(((index, refusal) for index, refusal in refusals.items() if refusal), _drive_all(runs))
        try:
            # until the end, so that each process is checked for output after its last reply
            yield from in_order((index, take(index, reply)) for index, reply in replies)
        finally:
            for run in runs:
                run.steps.close()

    def _ask_worker(
        self, number: int, requests: Sequence[Request], part: Sequence[int]
    ) -> Generator[Wait | tuple[int, Reply], None, None]:
        if number not in self._workers:
            try:
                worker = self._start(False)
                yield from worker.connect()
            except (AdapterFault, DataError) as error:
                message = f"could not start worker {number + 1} of {self._jobs}: {error}; leave the option out"
                raise DataError(message, key="--jobs") from None
            self._workers[number] = worker
        worker = self._workers[number]
        if worker.hello != self.hello:
            raise AdapterFault("protocol", f"hello of worker {number + 1} differs from that of the first")
        for step in worker.schedule([requests[index] for index in part]):
            yield step if isinstance(step, Wait) else (part[step[0]], step[1])

    def close(self) -> None:
        """End all processes, which share the time that this takes."""
        for worker in self._workers.values():
            worker.say_bye()
        for worker in self._workers.values():
            worker.close()


@dataclass
class _Run:
    """The work of one worker of a pool, and what it waits for."""

    steps: Generator[Wait | tuple[int, Reply], None, None]
    wait: Wait | None = None
    is_over: bool = False

    @property
    def is_ready(self) -> bool:
        """Whether there is no need to wait."""
        return self.wait is None or self.wait.process.has_news or time.monotonic() >= self.wait.deadline


def _drive_all(runs: Sequence[_Run]) -> Iterator[tuple[int, Reply]]:
    """Drive all runs until they are over, and yield their replies as they come."""
    with selectors.DefaultSelector() as selector:
        watched: dict[int, Process] = {}
        while left := [run for run in runs if not run.is_over]:
            for run in left:
                if run.wait is not None:
                    run.wait.process.pump()
                if run.is_ready:
                    yield from _go_on(run)
            waits = [run.wait for run in left if run.wait is not None and not run.is_over]
            _watch(selector, watched, [wait.process for wait in waits])
            if waits and not any(run.is_ready for run in left if not run.is_over):
                until = min(min(wait.deadline, wait.process.look_at) for wait in waits)
                selector.select(max(0.0, until - time.monotonic()))


def _go_on(run: _Run) -> Iterator[tuple[int, Reply]]:
    """Yield the replies of a run until it has to wait."""
    run.wait = None
    for step in run.steps:
        if isinstance(step, Wait):
            run.wait = step
            return
        yield step
    run.is_over = True


def _watch(selector: selectors.BaseSelector, watched: dict[int, Process], processes: Sequence[Process]) -> None:
    """Let a selector wait for exactly these processes; a restarted program is another process."""
    for descriptor, process in [*watched.items()]:
        if process not in processes:
            with suppress(KeyError, ValueError, OSError):
                selector.unregister(descriptor)
            del watched[descriptor]
    for process in processes:
        if process.fileno() not in watched:
            selector.register(process.fileno(), selectors.EVENT_READ)
            watched[process.fileno()] = process


def partition(requests: Sequence[Request], waiting: Sequence[int], jobs: int) -> list[list[int]]:
    """Distribute the waiting requests, by index, over ``jobs`` processes; each gets its share in order.

    The result is deterministic, so that a run can be repeated. Requests for the same model stay together, so that few
    models are loaded by more than one process.

    >>> requests = [Request("encode", name, {}, {"text": "b"}) for name in "aabacc"]
    >>> partition(requests, range(6), 2)
    [[0, 3, 4], [1, 2, 5]]
    """
    by_model: dict[str, list[int]] = {}
    for index in waiting:
        by_model.setdefault(requests[index].model_name, []).append(index)
    longest = -(-len(waiting) // (PIECES * jobs)) or 1
    parts: list[list[int]] = [[] for _ in range(jobs)]
    for indices in by_model.values():
        for start in range(0, len(indices), longest):
            min(parts, key=len).extend(indices[start : start + longest])
    return [sorted(part) for part in parts]
