"""The messages of one running program: what was asked, and what a line answers (``spec/10-protocol.md``)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tokspec.base.errors import AdapterFault
from tokspec.protocol.hello import PROTOCOL
from tokspec.protocol.messages import Reply
from tokspec.protocol.wire import decode_line, encode_line, excerpt
from tokspec.sessions.interruption import Interruption
from tokspec.sessions.launch import Launch, Limits
from tokspec.sessions.offspring import Offspring
from tokspec.sessions.pipes import LineTooLong
from tokspec.sessions.process import Process
from tokspec.sessions.replies import read_hello, read_reply

__all__ = ["RECENT", "Conversation", "Item", "RepeatedReply"]

#: Requests that may wait for their reply at once, and their bytes.
WINDOW_REQUESTS = 64
WINDOW_BYTES = 256 * 1024

#: Replies that are remembered, in case that one of them is given again.
RECENT = 8

#: The id of ``hello``, which is sent first.
_HELLO = 1

#: Seconds that a program has to end after ``bye``.
BYE_SECONDS = 1.0


@dataclass(frozen=True)
class Item:
    """A message sent: the operation of the request with this index, or the loading of its model."""

    index: int
    loads: bool = False


class RepeatedReply(AdapterFault):
    """A message that was answered recently has been answered again: ``item``."""

    def __init__(self, message: str, item: Item) -> None:
        super().__init__("protocol", message)
        self.item = item


class Conversation:
    """One life of a program, from ``hello`` to its end.

    Raises:
        AdapterFault: there was no proper answer to ``hello``.
        DataError: the program cannot be started, or our own host says what is wrong with the user's wish.
    """

    def __init__(self, launch: Launch, limits: Limits, offspring: Offspring, interruption: Interruption) -> None:
        self._launch = launch
        self._limits = limits
        self._process = Process(launch.command, limits, offspring, interruption)
        self._sent = 0
        self._recent: deque[tuple[int, Item]] = deque(maxlen=RECENT)
        self._unsent: list[bytes] = []
        self._waiting: dict[int, tuple[Item, int]] = {}
        self._bytes = 0
        self._loads = 0
        self.loaded: set[str] = set()
        try:
            self.hello = read_hello(self._greet())
        except BaseException:
            self._process.stop()
            raise

    def _greet(self) -> Reply:
        self.post(Item(0, loads=True), {"op": "hello", "protocol": PROTOCOL})
        self.flush()
        return self.next()[1]

    @property
    def is_new(self) -> bool:
        """Whether nothing but ``hello`` was asked so far."""
        return self._sent <= 1

    @property
    def is_about_one(self) -> bool:
        """Whether no more was asked so far than one request, after ``hello`` and the loading of its model."""
        return self._sent <= 3

    @property
    def is_over(self) -> bool:
        """Whether the program has ended."""
        return self._process.exited

    @property
    def is_idle(self) -> bool:
        """Whether nothing is outstanding."""
        return not self._waiting

    @property
    def is_half_idle(self) -> bool:
        """Whether it is time to send more: often enough for the program, and seldom enough to send much at once."""
        return 2 * len(self._waiting) <= WINDOW_REQUESTS and 2 * self._bytes <= WINDOW_BYTES

    @property
    def outstanding(self) -> list[Item]:
        """What has no reply yet, in the order in which it was sent."""
        return [item for item, _ in self._waiting.values()]

    @property
    def is_loading(self) -> bool:
        """Whether a model is being loaded."""
        return self._loads > 0

    @property
    def _only_loads(self) -> bool:
        """Whether nothing else is outstanding: the limit of a load is no excuse for a request before it."""
        return self._loads == len(self._waiting)

    @property
    def has_room(self) -> bool:
        """Whether another message may be sent; a first one always may."""
        return len(self._waiting) < WINDOW_REQUESTS and self._bytes < WINDOW_BYTES

    def post(self, item: Item, message: Mapping[str, Any]) -> None:
        """Number a message and put it with those that :meth:`flush` sends.

        Raises:
            Unsupported: it cannot be written.
        """
        line = encode_line({"id": self._sent + 1, **message})
        self._sent += 1
        self._waiting[self._sent] = (item, len(line))
        self._bytes += len(line)
        self._loads += item.loads
        self._unsent.append(line)

    def flush(self) -> None:
        """Send what was posted, in one piece."""
        if self._unsent:
            self._process.send(b"".join(self._unsent))
            self._unsent.clear()

    def next(self, seconds: float | None = None) -> tuple[Item, Reply]:
        """Wait for the next reply; the time allowed is the limit for what is outstanding, unless given.

        Raises:
            AdapterFault: something else came, or nothing; what was outstanding still is.
        """
        if seconds is None:
            seconds = self._limits.start_seconds if self._only_loads else self._limits.case_seconds
        try:
            line = self._process.receive(seconds)
        except TimeoutError:
            raise AdapterFault("timeout", f"no reply within {seconds:g} seconds") from None
        except EOFError:
            raise AdapterFault("crash", self._process.describe_end()) from None
        except LineTooLong:
            raise AdapterFault("protocol", f"a line is longer than {self._limits.reply_bytes} bytes") from None
        return self._attribute(decode_line(line), line)

    def _attribute(self, message: Mapping[str, Any], line: bytes) -> tuple[Item, Reply]:
        number = message.get("id")
        if type(number) is not int:
            raise AdapterFault("protocol", f"a line has no id that is an integer: {excerpt(line)}")
        if number not in self._waiting:
            raise self._unexpected(number, line)
        item, size = self._waiting.pop(number)
        self._bytes -= size
        self._loads -= item.loads
        self._recent.append((number, item))
        return item, read_reply(message, line, is_ours=self._launch.is_ours, to_hello=number == _HELLO)

    def _unexpected(self, number: int, line: bytes) -> AdapterFault:
        for recent, item in self._recent:
            if recent == number:
                return RepeatedReply(f"the id is answered twice: {excerpt(line)}", item)
        what = "is answered twice" if 0 < number <= self._sent else "was never sent"
        return AdapterFault("protocol", f"the id of a line {what}: {excerpt(line)}")

    def stray(self, seconds: float) -> AdapterFault | None:
        """Wait, with nothing outstanding, whether a line comes all the same."""
        try:
            self.next(seconds)
        except AdapterFault as fault:
            return fault if fault.kind == "protocol" else None
        return None

    def stop(self) -> None:
        """End the program."""
        self._process.stop()

    def close(self) -> None:
        """Say ``bye``, unless something is outstanding, and end the program."""
        if not self._waiting:
            self._process.send(encode_line({"id": self._sent + 1, "op": "bye"}))
            self._process.end_of_input(BYE_SECONDS)
        self._process.stop()
