"""The messages of a running program, and its restart after it has been stopped (``spec/10-protocol.md``).

Everything that waits for the program is a generator that yields a :class:`~tokspec.sessions.process.Wait` each time.
:meth:`Conversation.next_reply` detects overdue replies.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from tokspec.adapter import Hello
from tokspec.base.display import quote
from tokspec.base.errors import AdapterFault, DataError
from tokspec.base.json_values import decode_line, encode_line
from tokspec.protocol.messages import PROTOCOL, Answer, Reply
from tokspec.protocol.replies import read_hello, read_reply
from tokspec.sessions.limits import Limits, ProcessFamily
from tokspec.sessions.process import LineTooLong, Process, Wait

_Result = TypeVar("_Result")

#: A generator that waits for a program, and then returns something.
Steps: TypeAlias = Generator[Wait, None, _Result]

#: How many requests may be outstanding at once, and their bytes.
WINDOW_REQUESTS = 64
WINDOW_BYTES = 256 * 1024

#: How many replies are remembered, in case one of them is sent again.
RECENT = 8

#: The id of ``hello``, which is sent first.
_HELLO = 1

#: Seconds within which a program has to end after ``bye``.
BYE_SECONDS = 5.0


@dataclass(frozen=True)
class Item:
    """A message that was sent: the operation of the request with this index, or the loading of its model."""

    index: int
    loads: bool = False


class RepeatedReply(AdapterFault):
    """A recent message, ``item``, was answered a second time."""

    def __init__(self, message: str, item: Item) -> None:
        super().__init__("protocol", message)
        self.item = item


class Conversation:
    """One life of a program, from ``hello`` to its end. The program is started, and ``hello`` is sent, on construction.

    Raises:
        DataError: the program cannot be started.
    """

    def __init__(self, command: tuple[str, ...], is_ours: bool, limits: Limits, family: ProcessFamily) -> None:
        self._is_ours = is_ours
        self._limits = limits
        self._process = Process(command, limits, family)
        self._sent = 0
        self._recent: deque[tuple[int, Item]] = deque(maxlen=RECENT)
        self._unsent: list[bytes] = []
        self._waiting: dict[int, tuple[Item, int]] = {}
        self._bytes = 0
        self._loads = 0
        self._said_bye = False
        self.loaded: set[str] = set()
        self.post(Item(0, loads=True), {"op": "hello", "protocol": PROTOCOL})
        self.flush()

    def read_hello(self) -> Steps[Hello]:
        """Wait for the answer to ``hello``, before anything else is sent.

        Raises:
            AdapterFault: there was no proper answer.
            DataError: the suite's own adapter server says what is wrong with the user's request.
        """
        _, reply = yield from self.next_reply()
        return read_hello(reply)

    @property
    def is_new(self) -> bool:
        """Whether only ``hello`` was sent so far."""
        return self._sent <= 1

    @property
    def is_about_one(self) -> bool:
        """Whether at most one request was sent so far, after ``hello`` and the loading of its model."""
        return self._sent <= 3

    @property
    def is_over(self) -> bool:
        """Whether the program has ended."""
        self._process.pump()
        return self._process.is_ended

    def describe_end(self) -> str:
        """Describe how the program ended, once it :attr:`is_over`."""
        return self._process.describe_end()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is outstanding."""
        return not self._waiting

    @property
    def is_half_idle(self) -> bool:
        """Whether to send more now: often enough to keep the program busy, rarely enough to send much at once."""
        return 2 * len(self._waiting) <= WINDOW_REQUESTS and 2 * self._bytes <= WINDOW_BYTES

    @property
    def outstanding(self) -> list[Item]:
        """The messages without a reply, in the order in which they were sent."""
        return [item for item, _ in self._waiting.values()]

    @property
    def is_loading(self) -> bool:
        """Whether a model is being loaded."""
        return self._loads > 0

    @property
    def _only_loads(self) -> bool:
        """Whether only loads are outstanding, because the limit for loading must not apply to a request before it."""
        return self._loads == len(self._waiting)

    @property
    def has_room(self) -> bool:
        """Whether another message may be sent; a first one always may."""
        return len(self._waiting) < WINDOW_REQUESTS and self._bytes < WINDOW_BYTES

    def post(self, item: Item, message: Mapping[str, Any]) -> None:
        """Number a message and queue it for :meth:`flush`.

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
        """Send the posted messages at once."""
        if self._unsent:
            self._process.send(b"".join(self._unsent))
            self._unsent.clear()

    def next_reply(self, seconds: float | None = None) -> Steps[tuple[Item, Reply]]:
        """Wait for the next reply; the time limit is that of the outstanding messages, unless given.

        Raises:
            AdapterFault: something else came, or nothing; the outstanding messages stay outstanding.
        """
        if seconds is None:
            seconds = self._limits.start_seconds if self._only_loads else self._limits.case_seconds
        deadline = time.monotonic() + seconds
        while not self._process.has_news:
            if time.monotonic() >= deadline:
                raise AdapterFault("timeout", f"no reply within {seconds:g} seconds")
            yield Wait(self._process, deadline)
        try:
            line = self._process.take_line()
        except EOFError:
            raise AdapterFault("crash", self._process.describe_end()) from None
        except LineTooLong:
            raise AdapterFault("protocol", f"a line is longer than {self._limits.reply_bytes} bytes") from None
        return self._attribute(decode_line(line, small=True), line)

    def _attribute(self, message: Mapping[str, Any], line: bytes) -> tuple[Item, Reply]:
        number = message.get("id")
        if type(number) is not int:
            raise AdapterFault("protocol", f"a line has no id that is an integer: {quote(line)}")
        if number not in self._waiting:
            raise self._unexpected(number, line)
        item, size = self._waiting.pop(number)
        self._bytes -= size
        self._loads -= item.loads
        self._recent.append((number, item))
        return item, read_reply(message, line, is_ours=self._is_ours, to_hello=number == _HELLO)

    def _unexpected(self, number: int, line: bytes) -> AdapterFault:
        for recent, item in self._recent:
            if recent == number:
                return RepeatedReply(f"the id is answered twice: {quote(line)}", item)
        what = "is answered twice" if 0 < number <= self._sent else "was never sent"
        return AdapterFault("protocol", f"the id of a line {what}: {quote(line)}")

    def find_stray_line(self, seconds: float) -> Steps[AdapterFault | None]:
        """Wait for a line that comes although nothing is outstanding; return it as a fault, or None."""
        self._process.pump()
        try:
            yield from self.next_reply(seconds)
        except AdapterFault as fault:
            return fault if fault.kind == "protocol" else None
        return None

    def stop(self) -> None:
        """End the program."""
        self._process.stop()

    def say_bye(self) -> None:
        """Send ``bye``, unless something is outstanding, because a program that owes a reply would not read it."""
        if not self._waiting:
            self.post(Item(0), {"op": "bye"})
            self.flush()
            self._process.finish_input()
            self._said_bye = True

    def close(self) -> AdapterFault | None:
        """End the program, politely if ``bye`` was sent; return the fault in how it ends, if any (PROTO-3)."""
        fault = None
        if self._said_bye:
            deadline = time.monotonic() + BYE_SECONDS
            fault = self._fault_of_last_lines(deadline)
            self._process.wait_for_end(deadline - time.monotonic())
            if not self._process.is_ended:
                fault = fault or AdapterFault("timeout", f"it does not end within {BYE_SECONDS:g} seconds after bye")
            elif not self._process.succeeded:
                fault = fault or AdapterFault("crash", f"after bye: {self._process.describe_end()}")
        self._process.stop()
        return fault

    def _fault_of_last_lines(self, deadline: float) -> AdapterFault | None:
        """Read the answer to ``bye``, if the program gives one, and return the fault of any other line."""
        try:
            self._process.wait(deadline)
            while self._process.has_news:
                line = self._process.take_line()
                _, reply = self._attribute(decode_line(line, small=True), line)
                if not isinstance(reply, Answer):
                    return AdapterFault("protocol", f"after bye: the line is not an answer: {quote(line)}")
                self._process.wait(deadline)
        except EOFError:
            return None
        except LineTooLong:
            return AdapterFault("protocol", f"after bye: a line is longer than {self._limits.reply_bytes} bytes")
        except AdapterFault as fault:
            return AdapterFault("protocol", f"after bye: {fault.message}")
        return None


#: How many starts in a row may fail before the program is given up.
STARTS = 2


class Program:
    """A program that is started again when it has been stopped; it has at most one conversation at a time.

    Raises:
        DataError: the program cannot be started.
    """

    def __init__(self, command: tuple[str, ...], is_ours: bool, limits: Limits) -> None:
        self._command = command
        self._is_ours = is_ours
        self._limits = limits
        self._family = ProcessFamily()
        self._hello: Hello | None = None
        self._given_up: AdapterFault | None = None
        self._is_closed = False
        self.end_fault: AdapterFault | None = None
        self.conversation: Conversation | None = self._begin()

    @property
    def hello(self) -> Hello:
        """The program's description of itself at its first start."""
        if self._hello is None:
            raise RuntimeError("the program has not said hello yet")
        return self._hello

    def _begin(self) -> Conversation:
        return Conversation(self._command, self._is_ours, self._limits, self._family)

    def read_first_hello(self) -> Steps[None]:
        """Wait for the answer to the first ``hello``.

        Raises:
            AdapterFault, DataError: no answer came; then the program has been stopped for good.
        """
        if self._hello is not None or self.conversation is None:
            return
        try:
            self._hello = yield from self.conversation.read_hello()
        except BaseException:
            self._is_closed = True
            self.stop()
            raise

    def connect(self) -> Steps[Conversation]:
        """Return the conversation; start one if needed.

        Raises:
            AdapterFault: the program has been given up, now or before.
            RuntimeError: the session is closed.
        """
        if self._is_closed:
            raise RuntimeError("the session is closed")
        if self.conversation is None:
            self.conversation = yield from self._start()
        return self.conversation

    def _start(self) -> Steps[Conversation]:
        for _ in range(STARTS):
            if self._given_up is None:
                try:
                    return (yield from self._start_once())
                except AdapterFault as error:
                    fault = error
                except DataError as error:
                    fault = AdapterFault("crash", error.message)
        if self._given_up is None:
            self._given_up = AdapterFault(fault.kind, f"given up after {STARTS} starts in a row: {fault.message}")
        raise self._given_up

    def _start_once(self) -> Steps[Conversation]:
        conversation = self._begin()
        try:
            hello = yield from conversation.read_hello()
            if hello != self.hello:
                raise AdapterFault("protocol", "hello changed after a restart")
        except BaseException:
            conversation.stop()
            raise
        return conversation

    def stop(self) -> None:
        """Stop the program and the processes that it left behind; the next :meth:`connect` starts it again."""
        conversation, self.conversation = self.conversation, None
        if conversation is not None:
            conversation.stop()
            self._family.kill()

    def say_bye(self) -> None:
        """Ask the program to end, without waiting for it."""
        if self.conversation is not None:
            self.conversation.say_bye()

    def close(self) -> None:
        """End the program for good, politely."""
        self._is_closed = True
        conversation, self.conversation = self.conversation, None
        if conversation is not None:
            conversation.say_bye()
            self.end_fault = conversation.close()
        self._family.kill()
