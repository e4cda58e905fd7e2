"""Several processes of one implementation, each with its part of the requests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from queue import SimpleQueue
from typing import Generic, TypeVar

from tokspec.adapter import Hello
from tokspec.base.errors import AdapterFault, DataError
from tokspec.protocol.messages import Reply, Request
from tokspec.sessions.interruption import Interrupted, Interruption
from tokspec.sessions.parts import dealt
from tokspec.sessions.program import ProgramSession
from tokspec.sessions.refusals import not_offered
from tokspec.sessions.session import Closing

__all__ = ["JointSession"]

_Made = TypeVar("_Made")


class JointSession(Closing):
    """A session that asks several programs at once; each is started, blamed and started again as if it were alone.

    Args:
        start: starts a program, which is the same each time.
        jobs: how many there are. The first is started now, each other one with its first part.

    Raises:
        DataError, AdapterFault: as the start of the first one raises them.
    """

    def __init__(self, start: Callable[[Interruption], ProgramSession], jobs: int) -> None:
        self._start = start
        self._interruptions = [Interruption() for _ in range(jobs)]
        self._sessions: list[ProgramSession | None] = [start(self._interruptions[0]), *([None] * (jobs - 1))]
        self._threads: list[threading.Thread] = []

    @property
    def _first(self) -> ProgramSession:
        return next(filter(None, self._sessions))

    @property
    def hello(self) -> Hello:
        """What the first one says of itself, and the others too."""
        return self._first.hello

    @property
    def unblamed(self) -> Sequence[AdapterFault]:
        """What went wrong in any of them without a request that is to blame."""
        return [*chain.from_iterable(session.unblamed for session in self._sessions if session)]

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Give the reply of each request, from one program: whoever asks for one after the other asks the same one."""
        return self._first.ask(requests)

    def ask_all(self, requests: Sequence[Request], take: Callable[[int, Reply], _Made]) -> Iterator[tuple[int, _Made]]:
        """Ask all programs at once, and give what is made of each reply.

        Whatever is made is given in one order: first the requests whose operation is not offered, then as they are
        listed. So it has to be small: it may wait for others. ``take`` is called in other threads.
        """
        refusals = {index: not_offered(self.hello, request) for index, request in enumerate(requests)}
        yield from ((index, take(index, refusal)) for index, refusal in refusals.items() if refusal)
        waiting = [index for index, refusal in refusals.items() if refusal is None]
        work = _Work(requests, take)
        try:
            for number, part in enumerate(dealt(requests, waiting, len(self._sessions))):
                self._begin(work, number, part)
            yield from work.in_order(waiting)
            self._wait()
        finally:
            self._cancel(work)

    def _begin(self, work: _Work[_Made], number: int, part: Sequence[int]) -> None:
        if part:
            do = partial(work.do, partial(self._session, number), part)
            thread = threading.Thread(target=do, name="tokspec-job", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _session(self, number: int) -> ProgramSession:
        """Give a session, started in its own thread when it is first wanted."""
        session = self._sessions[number]
        if session is None:
            try:
                session = self._start(self._interruptions[number])
            except (AdapterFault, DataError) as error:
                message = f"one process of {len(self._sessions)} was not to be started beside the others: {error}"
                raise DataError(f"{message}; do without", key="--jobs") from None
            self._sessions[number] = session
        if session.hello != self.hello:
            raise AdapterFault("protocol", "describes itself otherwise than before")
        return session

    def _cancel(self, work: _Work[_Made] | None = None) -> None:
        """End what the threads wait for, and wait for them."""
        if work is not None:
            work.is_over = True
        if any(thread.is_alive() for thread in self._threads):
            for interruption in self._interruptions:
                interruption.want()
        self._wait()
        for interruption in self._interruptions:
            interruption.forget()

    def _wait(self) -> None:
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def close(self) -> None:
        """End all programs at once."""
        self._cancel()
        threads = [threading.Thread(target=session.close, daemon=True) for session in self._sessions if session]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class _Work(Generic[_Made]):
    """What the threads of one ``ask_all`` share."""

    def __init__(self, requests: Sequence[Request], take: Callable[[int, Reply], _Made]) -> None:
        self.requests = requests
        self.take = take
        self.made: SimpleQueue[tuple[int, _Made] | BaseException] = SimpleQueue()
        self.is_over = False

    def do(self, session: Callable[[], ProgramSession], part: Sequence[int]) -> None:
        """Ask a part; what goes wrong is handed over as well."""
        try:
            with closing(session().ask([self.requests[index] for index in part])) as replies:
                for place, reply in replies:
                    if self.is_over:
                        break
                    self.made.put((part[place], self.take(part[place], reply)))
        except Interrupted:
            return
        except BaseException as error:  # is raised where it can be seen
            self.made.put(error)

    def in_order(self, waiting: Sequence[int]) -> Iterator[tuple[int, _Made]]:
        """Give what is made of each waiting request, in order."""
        early: dict[int, _Made] = {}
        for index in waiting:
            while index not in early:
                found = self.made.get()
                if isinstance(found, BaseException):
                    raise found
                early[found[0]] = found[1]
            yield index, early.pop(index)
