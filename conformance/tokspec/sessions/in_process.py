"""A session with an implementation that is a Python object in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokspec.adapter import Adapter
from tokspec.base.errors import AdapterFault
from tokspec.protocol.messages import Answer, Refused, Reply, Request
from tokspec.sessions.guest import Guest
from tokspec.sessions.refusals import not_offered, write_model
from tokspec.sessions.replies import read_hello, read_reply
from tokspec.sessions.session import Closing

__all__ = ["InProcessSession"]


class InProcessSession(Closing):
    """Asks an adapter directly. There is no time limit, and an exit of the whole process cannot be caught.

    Raises:
        AdapterFault: if ``hello`` fails or returns something else than a ``Hello``.
    """

    #: In one process a fault is always that of the request that was being answered.
    unblamed: Sequence[AdapterFault] = ()

    def __init__(self, adapter: Adapter) -> None:
        self._guest = Guest(adapter, let_through=(KeyboardInterrupt,))
        self._loads: dict[str, Reply] = {}
        self.hello = read_hello(read_reply(self._guest.hello(), is_ours=True))

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Give the reply of each request, in order."""
        for index, request in enumerate(requests):
            yield index, self._reply(request)

    def _reply(self, request: Request) -> Reply:
        refusal = not_offered(self.hello, request)
        if refusal is not None:
            return refusal
        name = request.model_name
        if name not in self._loads:
            self._loads[name] = self._load(request)
        if not isinstance(self._loads[name], Answer):
            return self._loads[name]
        return read_reply(self._guest.run(request.operation, name, request.input), is_ours=True)

    def _load(self, request: Request) -> Reply:
        written = write_model(self.hello.formats, request.model)
        if isinstance(written, Refused):
            return written
        return read_reply(self._guest.load(request.model_name, *written), is_ours=True)

    def close(self) -> None:
        """Let go of the adapter's models."""
        self._loads.clear()
        self._guest.forget()
