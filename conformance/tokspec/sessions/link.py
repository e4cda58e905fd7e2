"""The conversation with a program that is started again when it has been stopped."""

from __future__ import annotations

from tokspec.base.errors import AdapterFault, DataError
from tokspec.sessions.conversation import Conversation
from tokspec.sessions.interruption import Interruption
from tokspec.sessions.launch import Launch, Limits
from tokspec.sessions.offspring import Offspring

__all__ = ["Link"]

#: Starts in a row that may fail before the program is given up.
STARTS = 2


class Link:
    """Holds at most one conversation. The first must succeed, and raises what :class:`Conversation` raises."""

    def __init__(self, launch: Launch, limits: Limits, interruption: Interruption) -> None:
        self._launch = launch
        self._limits = limits
        self._interruption = interruption
        self._offspring = Offspring()
        self._given_up: AdapterFault | None = None
        self._closed = False
        try:
            self.talk: Conversation | None = self._begin()
        except BaseException:
            self._offspring.end()
            raise
        self.hello = self.talk.hello

    def _begin(self) -> Conversation:
        return Conversation(self._launch, self._limits, self._offspring, self._interruption)

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
                    return self._same(self._begin())
                except AdapterFault as error:
                    fault = error
                except DataError as error:
                    fault = AdapterFault("crash", error.message)
        if self._given_up is None:
            self._given_up = AdapterFault(fault.kind, f"given up after {STARTS} starts in a row: {fault.message}")
        raise self._given_up

    def _same(self, talk: Conversation) -> Conversation:
        if talk.hello == self.hello:
            return talk
        talk.stop()
        raise AdapterFault("protocol", "describes itself otherwise than before")

    def drop(self) -> None:
        """Stop the program, and what it has left behind; the next :meth:`connect` starts it again."""
        talk, self.talk = self.talk, None
        if talk is not None:
            talk.stop()
            self._offspring.end()

    def close(self) -> None:
        """End the conversation for good, politely."""
        self._closed = True
        talk, self.talk = self.talk, None
        if talk is not None:
            talk.close()
        self._offspring.end()
