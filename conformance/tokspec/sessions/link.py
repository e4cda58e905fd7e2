"""The conversation with a program that is started again when it has been stopped."""

from __future__ import annotations

from collections.abc import Sequence

from tokspec.errors import AdapterFault, DataError
from tokspec.sessions.conversation import Conversation, Limits

__all__ = ["Link"]

#: Starts in a row that may fail before the program is given up.
STARTS = 2


class Link:
    """Holds at most one conversation. The first must succeed, and raises what :class:`Conversation` raises."""

    def __init__(self, command: Sequence[str], limits: Limits) -> None:
        self._command = command
        self._limits = limits
        self._given_up: AdapterFault | None = None
        self._closed = False
        self.talk: Conversation | None = Conversation(command, limits)
        self.hello = self.talk.hello

    def connect(self) -> Conversation:
        """Give the conversation; begin one if there is none.

        Raises:
            AdapterFault: the program has been given up, now or before.
            RuntimeError: the session is closed.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        if self.talk is None:
            self.talk = self._start()
        return self.talk

    def _start(self) -> Conversation:
        for _ in range(STARTS):
            if self._given_up is None:
                try:
                    return Conversation(self._command, self._limits)
                except AdapterFault as error:
                    fault = error
                except DataError as error:
                    fault = AdapterFault("crash", error.message)
        if self._given_up is None:
            self._given_up = AdapterFault(fault.kind, f"given up after {STARTS} starts in a row: {fault.message}")
        raise self._given_up

    def drop(self) -> None:
        """Stop the program; the next :meth:`connect` starts it again."""
        talk, self.talk = self.talk, None
        if talk is not None:
            talk.stop()

    def close(self) -> None:
        """End the conversation for good, politely."""
        self._closed = True
        talk, self.talk = self.talk, None
        if talk is not None:
            talk.close()
