"""A session with a program in any language that speaks ``spec/10-protocol.md`` through its standard streams."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence

from tokspec.base.errors import AdapterFault, DataError
from tokspec.protocol.messages import Reply, Request
from tokspec.sessions.inquiry import Habits, Inquiry
from tokspec.sessions.interruption import Interrupted, Interruption
from tokspec.sessions.launch import Launch, Limits
from tokspec.sessions.link import Link
from tokspec.sessions.refusals import not_offered
from tokspec.sessions.session import Closing

__all__ = ["ProgramSession"]


class ProgramSession(Closing):
    """Runs a program and asks it, many requests in flight; a program that misbehaves is started again.

    Args:
        command: the program and its arguments; no shell reads them.
        limits: what the program is allowed.
        is_ours: whether it is :mod:`tokspec.sessions.adapter_server`.
        interruption: by which another thread ends the waiting for a reply; ``Interrupted`` is raised then.

    Raises:
        DataError: the program cannot be started; the message says what to do.
        AdapterFault: the program ran, but there was no proper answer to ``hello``.
    """

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits | None = None,
        *,
        is_ours: bool = False,
        interruption: Interruption | None = None,
    ) -> None:
        if not command:
            raise DataError("the command is empty; give a program and its arguments")
        self._habits = Habits()
        self._link = Link(Launch(tuple(command), is_ours), limits or Limits(), interruption or Interruption())
        self.hello = self._link.hello

    @property
    def unblamed(self) -> Sequence[AdapterFault]:
        """What went wrong without a request that is to blame."""
        return self._habits.unblamed

    def ask(self, requests: Sequence[Request]) -> Generator[tuple[int, Reply], None, None]:
        """Give the reply of each request as it comes. Replies that are not taken are lost, and cost a new start."""
        self._drop_stale()
        waiting = deque[int]()
        for index, request in enumerate(requests):
            refusal = not_offered(self.hello, request)
            if refusal is None:
                waiting.append(index)
            else:
                yield index, refusal
        inquiry = Inquiry(self._link, self._habits, requests)
        try:
            yield from inquiry.replies(waiting)
        except Interrupted:
            self._link.drop()
            raise
        finally:
            inquiry.abandon()

    def _drop_stale(self) -> None:
        """Stop a program that has ended, owes replies or wrote what nobody asked for: no next request is to blame."""
        talk = self._link.talk
        if talk is None:
            return
        try:
            is_clean = not talk.is_idle or talk.stray(0) is None
        except Interrupted:  # too late for what it was to end
            is_clean = False
        self._habits.strays |= not is_clean
        if talk.is_over or not talk.is_idle or not is_clean:
            self._link.drop()

    def close(self) -> None:
        """Say ``bye``, and end the program with all processes of its group."""
        self._link.close()
