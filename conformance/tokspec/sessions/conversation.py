"""The messages of one running program: what was asked, and what a line answers (``spec/10-protocol.md``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokspec.errors import AdapterFault
from tokspec.sessions.contract import Answer, Fault, Refused, Reply
from tokspec.sessions.pipes import LineTooLong
from tokspec.sessions.process import Process
from tokspec.sessions.refusals import refused
from tokspec.wire import PROTOCOL, decode_line, encode_line, excerpt, parse_hello

__all__ = ["Conversation", "Item", "Limits", "RepeatedReply"]

#: Requests that may wait for their reply at once, and their bytes.
WINDOW_REQUESTS = 64
WINDOW_BYTES = 256 * 1024

#: Seconds that a program has to end after ``bye``.
BYE_SECONDS = 1.0


@dataclass(frozen=True)
class Limits:
    """What a program is allowed: seconds of silence, ``start_seconds`` while it starts or loads a model, and bytes.

    >>> Limits(10.0, 30.0, 16 * 1024 * 1024).start_seconds
    30.0
    """

    case_seconds: float
    start_seconds: float
    reply_bytes: int


@dataclass(frozen=True)
class Item:
    """A message sent: the operation of the request with this index, or the loading of its model."""

    index: int
    loads: bool = False


class RepeatedReply(AdapterFault):
    """The message that was answered last has been answered again."""


class Conversation:
    """One life of a program, from ``hello`` to its end.

    Raises:
        AdapterFault: there was no proper answer to ``hello``.
        DataError: the program cannot be started.
    """

    def __init__(self, command: Sequence[str], limits: Limits) -> None:
        self._limits = limits
        self._process = Process(command, limits.reply_bytes)
        self._sent = 0
        self._answered_last = 0
        self._unsent: list[bytes] = []
        self._waiting: dict[int, tuple[Item, int]] = {}
        self._bytes = 0
        self._loads = 0
        self.loaded: set[str] = set()
        try:
            self.hello = parse_hello(self._greet())
        except BaseException:
            self._process.stop()
            raise

    def _greet(self) -> Mapping[str, Any]:
        self.post(Item(0, loads=True), {"op": "hello", "protocol": PROTOCOL})
        self.flush()
        _, reply = self.next()
        if isinstance(reply, Answer):
            return reply.result
        if isinstance(reply, Refused):
            raise AdapterFault("protocol", f"hello is refused: {excerpt(f'{reply.reason}: {reply.message}')}")
        raise AdapterFault(reply.kind, reply.message)

    @property
    def is_new(self) -> bool:
        """Whether nothing but ``hello`` was asked so far."""
        return self._sent <= 1

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
            seconds = self._limits.start_seconds if self.is_loading else self._limits.case_seconds
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
            if number == self._answered_last:
                raise RepeatedReply("protocol", f"the id is answered twice: {excerpt(line)}")
            what = "is answered twice" if 0 < number <= self._sent else "was never sent"
            raise AdapterFault("protocol", f"the id of a line {what}: {excerpt(line)}")
        item, size = self._waiting.pop(number)
        self._bytes -= size
        self._loads -= item.loads
        self._answered_last = number
        return item, _reply(message, line)

    def stray(self, seconds: float) -> AdapterFault | None:
        """Wait, with nothing outstanding, whether a line comes all the same."""
        try:
            self.next(seconds)
        except AdapterFault as fault:
            return fault if fault.kind == "protocol" else None
        return None

    def stop(self) -> None:
        """End the program at once."""
        self._process.stop()

    def close(self) -> None:
        """Say ``bye``, unless something is outstanding, and end the program."""
        if not self._waiting:
            self._process.send(encode_line({"id": self._sent + 1, "op": "bye"}))
            self._process.end_of_input(BYE_SECONDS)
        self._process.stop()


def _reply(message: Mapping[str, Any], line: bytes) -> Reply:
    if ("ok" in message) == ("refused" in message):
        both = "both" if "ok" in message else "neither"
        return Fault("protocol", f"a reply has {both} of ok and refused: {excerpt(line)}")
    key = "ok" if "ok" in message else "refused"
    value = message[key]
    if not isinstance(value, dict):
        return Fault("protocol", f"the {key} of a reply is not an object: {excerpt(line)}")
    return Answer(value) if key == "ok" else refused(value.get("reason"), value.get("message", ""))
