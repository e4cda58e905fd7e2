"""A session with an implementation that is a Python object in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokspec.adapter import Adapter, Hello
from tokspec.base.errors import AdapterFault
from tokspec.protocol.messages import Answer, Refused, Reply, Request
from tokspec.protocol.replies import read_hello, read_reply
from tokspec.sessions.adapter_server import AdapterCaller
from tokspec.sessions.session import Session, refuse_limited, refuse_unoffered, refused_to_load, write_model


class InProcessSession(Session):
    """Calls an adapter directly. There is no time limit, and an exit of the whole process cannot be caught.

    Args:
        adapter: the implementation.
        let_through: exceptions that are meant for the caller; any other is a crash of the adapter.

    Raises:
        AdapterFault: if ``hello`` fails or returns something other than a ``Hello``.
    """

    def __init__(self, adapter: Adapter, let_through: tuple[type[BaseException], ...] = (KeyboardInterrupt,)) -> None:
        self._caller = AdapterCaller(adapter, let_through=let_through)
        self._loads: dict[str, Reply] = {}
        self._formats: dict[str, str] = {}
        self._hello = read_hello(read_reply(self._caller.hello(), is_ours=True))

    @property
    def hello(self) -> Hello:
        """The adapter's description of itself."""
        return self._hello

    @property
    def unblamed(self) -> Sequence[AdapterFault]:
        """No faults, because in one process a fault always belongs to the request that was being answered."""
        return ()

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Return the reply to each request, in order."""
        for index, request in enumerate(requests):
            yield index, self._reply(request)

    def _reply(self, request: Request) -> Reply:
        refusal = refuse_unoffered(self._hello, request)
        if refusal is not None:
            return refusal
        name = request.model_name
        if name not in self._loads:
            self._loads[name] = self._load(request)
        if not isinstance(self._loads[name], Answer):
            return self._loads[name]
        if refusal := refuse_limited(self._formats[name], request):
            return refusal
        return read_reply(self._caller.run(request.operation, name, request.input), is_ours=True)

    def _load(self, request: Request) -> Reply:
        written = write_model(self.hello, request.model, request.file)
        if isinstance(written, Refused):
            return written
        self._formats[request.model_name] = written[0]
        reply = read_reply(self._caller.load(request.model_name, *written), is_ours=True)
        return refused_to_load(self.hello, request, written[0], reply)

    def close(self) -> None:
        """Release the adapter's models."""
        self._loads.clear()
        self._caller.forget()
