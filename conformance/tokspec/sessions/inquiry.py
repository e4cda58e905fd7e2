"""One list of requests put to a program: many in flight, and one by one where it must be found which is to blame.

A fault while several requests are outstanding says nothing about any of them. So the program is stopped, and what was
unanswered is asked again, each request alone: a fault is a request's own when it happens in a program that was asked
nothing else since it started. Hence no request is asked more than three times: in the stream, alone after others, alone
in a new program; and the program is started twice for each fault, or three times where it loses answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from tokspec.base.errors import AdapterFault, Unsupported
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, Request
from tokspec.sessions.conversation import RECENT, Conversation, Item, RepeatedReply
from tokspec.sessions.link import Link
from tokspec.sessions.refusals import write_model

__all__ = ["Habits", "Inquiry"]

#: Seconds to wait for lines that nobody asked for. Whoever writes too much writes it at once.
LINGER_SECONDS = 0.01


@dataclass
class Habits:
    """What earlier inquiries learned.

    The replies of models that cannot be used, whether to expect stray lines, and faults for which nothing could be
    blamed: they did not happen again.
    """

    unusable: dict[str, Reply] = field(default_factory=dict)
    strays: bool = True
    unblamed: list[AdapterFault] = field(default_factory=list)


class Inquiry:
    """The requests of one ``ask``."""

    def __init__(self, link: Link, habits: Habits, requests: Sequence[Request]) -> None:
        self._link = link
        self._habits = habits
        self._requests = requests
        self._held: deque[tuple[Item, Reply]] = deque()
        self._talk: Conversation | None = None
        self._lingers = False

    def abandon(self) -> None:
        """Stop the program if it owes replies that nobody will take."""
        if self._talk is not None and self._talk is self._link.talk and not self._talk.is_idle:
            self._link.drop()

    def replies(self, waiting: deque[int]) -> Iterator[tuple[int, Reply]]:
        """Give the reply of each request that is waiting."""
        while waiting:
            try:
                self._talk = talk = self._link.connect()
            except AdapterFault as fault:
                yield from ((index, Fault(fault.kind, fault.message)) for index in waiting)
                return
            try:
                yield from self._stream(talk, waiting)
            except AdapterFault as fault:
                yield from self._blame(talk, fault)

    def _blame(self, talk: Conversation, fault: AdapterFault) -> Iterator[tuple[int, Reply]]:
        """Find out to which request a fault belongs; it may be to none."""
        unusable, is_blamed = len(self._habits.unusable), False
        answered = self._doubtful(fault)
        released = list(self._release(fault, fault.item if isinstance(fault, RepeatedReply) else None))
        suspects, is_proven = [*answered, *talk.outstanding], talk.is_about_one
        self._link.drop()
        for index, reply in chain(released, self._settle(suspects, fault, is_proven)):
            is_blamed |= isinstance(reply, Fault)
            yield index, reply
        if not is_blamed and unusable == len(self._habits.unusable):
            self._habits.unblamed.append(fault)

    def _stream(self, talk: Conversation, waiting: deque[int]) -> Iterator[tuple[int, Reply]]:
        """Keep the program busy. The latest replies are held back until others have come: they may be given twice."""
        while waiting or not talk.is_idle:
            if self._link.talk is not talk:
                raise RuntimeError("another ask began before all replies of this one were taken")
            if talk.is_half_idle:
                yield from self._fill(talk, waiting)
            if not talk.is_idle:
                item, reply = talk.next()
                if item.loads:
                    self._note_load(talk, item, reply)
                else:
                    self._held.append((item, reply))
                if len(self._held) > RECENT:
                    first, reply = self._held.popleft()
                    yield first.index, reply
        yield from self._last(talk)

    def _last(self, talk: Conversation) -> Iterator[tuple[int, Reply]]:
        """Give what is held back when nothing is outstanding; a line that comes all the same is the last one's."""
        fault = talk.stray(LINGER_SECONDS if self._lingers or self._habits.strays else 0)
        self._habits.strays = self._lingers or fault is not None
        last = self._held[-1][0] if self._held else None
        yield from self._release(fault, fault.item if isinstance(fault, RepeatedReply) else last)
        if fault is not None:
            self._link.drop()

    def _doubtful(self, fault: AdapterFault) -> list[Item]:
        """Take the latest reply back if a line came after it that may belong to it as well as to the next."""
        if fault.kind != "protocol" or isinstance(fault, RepeatedReply) or not self._held:
            return []
        return [self._held.pop()[0]]

    def _release(self, fault: AdapterFault | None, culprit: Item | None) -> Iterator[tuple[int, Reply]]:
        """Give what is held back, the culprit's reply as the fault that it has become."""
        while self._held:
            item, reply = self._held.popleft()
            yield item.index, Fault(fault.kind, fault.message) if fault and item is culprit else reply

    def _fill(self, talk: Conversation, waiting: deque[int]) -> Iterator[tuple[int, Reply]]:
        """Send as much as may be outstanding, up to a request whose model is not loaded yet."""
        while waiting and talk.has_room:
            index = waiting[0]
            name = self._requests[index].model_name
            if name in self._habits.unusable:
                yield waiting.popleft(), self._habits.unusable[name]
            elif name in talk.loaded:
                refusal = self._post(talk, waiting.popleft())
                yield from [(index, refusal)] if refusal else []
            else:
                if not talk.is_loading:
                    self._post_load(talk, index)
                if name not in self._habits.unusable:
                    break
        talk.flush()

    def _post(self, talk: Conversation, index: int) -> Refused | None:
        request = self._requests[index]
        message = {"op": request.operation, "model": request.model_name, "input": request.input}
        try:
            talk.post(Item(index), message)
        except Unsupported as refusal:
            return Refused(refusal.reason, refusal.message)
        return None

    def _post_load(self, talk: Conversation, index: int) -> None:
        name = self._requests[index].model_name
        written = write_model(talk.hello.formats, self._requests[index].model)
        if isinstance(written, Refused):
            self._habits.unusable[name] = written
            return
        format, content = written
        try:
            talk.post(Item(index, loads=True), {"op": "load", "model": name, "format": format, "content": content})
        except Unsupported as refusal:
            self._habits.unusable[name] = Refused(refusal.reason, refusal.message)

    def _note_load(self, talk: Conversation, item: Item, reply: Reply) -> None:
        name = self._requests[item.index].model_name
        if isinstance(reply, Answer):
            talk.loaded.add(name)
        else:
            self._habits.unusable[name] = reply

    def _settle(self, suspects: Sequence[Item], fault: AdapterFault, is_proven: bool) -> Iterator[tuple[int, Reply]]:
        """Ask each suspect alone, unless it was alone already."""
        self._lingers |= fault.kind == "protocol"
        known = Fault(fault.kind, fault.message) if is_proven and len(suspects) == 1 else None
        for item in suspects:
            if known is not None and item.loads:
                self._habits.unusable[self._requests[item.index].model_name] = known
            reply = known or self._alone(item)
            if not item.loads:
                yield item.index, reply

    def _alone(self, item: Item) -> Reply:
        name = self._requests[item.index].model_name
        earlier: list[AdapterFault] = []
        while True:
            try:
                self._talk = talk = self._link.connect()
            except AdapterFault as given_up:
                return Fault(given_up.kind, given_up.message)
            is_blamed = talk.is_new
            try:
                reply = self._exchange(talk, item)
                self._habits.unblamed += [] if isinstance(reply, Fault) else earlier
                return reply
            except AdapterFault as fault:
                was_loading = talk.is_loading
                self._link.drop()
                if is_blamed:
                    reply = Fault(fault.kind, fault.message)
                    if was_loading:
                        self._habits.unusable[name] = reply
                    return reply
                earlier.append(fault)

    def _exchange(self, talk: Conversation, item: Item) -> Reply:
        """Load the model if need be, then ask, with nothing else outstanding."""
        name = self._requests[item.index].model_name
        if name not in talk.loaded and name not in self._habits.unusable:
            self._post_load(talk, item.index)
            talk.flush()
            if talk.is_loading:
                self._note_load(talk, *talk.next())
        if name in self._habits.unusable:
            return self._habits.unusable[name]
        if item.loads:
            return Answer({})
        refusal = self._post(talk, item.index)
        if refusal is not None:
            return refusal
        talk.flush()
        _, reply = talk.next()
        fault = talk.stray(LINGER_SECONDS if self._lingers else 0)
        if fault is not None:
            self._link.drop()
            return Fault(fault.kind, fault.message)
        return reply
