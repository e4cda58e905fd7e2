"""Scheduling the requests of one ``ask``: many in flight, and one by one to find out which is to blame.

A fault while several requests are outstanding says nothing about any of them. So the program is stopped, and the
unanswered requests are repeated one by one: a fault belongs to a request if it happens in a program that got no other
request since its start. Hence no request is made more than three times: in the stream, alone after others, and alone in
a new program; and the program is started twice for each fault, or three times if it loses answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from tokspec.base.errors import AdapterFault, Unsupported
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, Request
from tokspec.sessions.conversation import RECENT, Conversation, Item, Program, RepeatedReply, Steps
from tokspec.sessions.process import Wait
from tokspec.sessions.session import refuse_limited, refuse_unoffered, refused_to_load, write_model

#: Seconds to wait for unexpected lines. A program that writes too much does so at once.
LINGER_SECONDS = 0.01

_Result = TypeVar("_Result")

#: A generator that yields replies as they come, and waits for the program between them.
_Replies: TypeAlias = Generator[Wait | tuple[int, Reply], None, _Result]


@dataclass
class SessionState:
    """The state that a session keeps from one ``ask`` to the next.

    It has the replies for models that cannot be used, the formats in which models were sent, whether to expect stray
    lines, and faults for which no request is to blame, because they did not happen again.
    """

    unusable_models: dict[str, Reply] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    expects_stray_lines: bool = True
    unblamed: list[AdapterFault] = field(default_factory=list)


class RequestScheduler:
    """The requests of one ``ask``."""

    def __init__(self, program: Program, state: SessionState, requests: Sequence[Request]) -> None:
        self._program = program
        self._state = state
        self._requests = requests
        self._held: deque[tuple[Item, Reply]] = deque()
        self._conversation: Conversation | None = None
        self._lingers = False

    def abandon(self) -> None:
        """Stop the program if it owes replies that nobody will consume."""
        conversation = self._conversation
        if conversation is not None and conversation is self._program.conversation and not conversation.is_idle:
            self._program.stop()

    def schedule(self) -> _Replies[None]:
        """Yield the reply to each request, starting with those whose operation is not offered."""
        yield from self._drop_stale_program()
        waiting = deque[int]()
        for index, request in enumerate(self._requests):
            refusal = refuse_unoffered(self._program.hello, request)
            if refusal is None:
                waiting.append(index)
            else:
                yield index, refusal
        while waiting:
            try:
                self._conversation = conversation = yield from self._program.connect()
            except AdapterFault as fault:
                for index in waiting:
                    yield index, Fault(fault.kind, fault.message)
                return
            try:
                yield from self._stream(conversation, waiting)
            except AdapterFault as fault:
                yield from self._blame(conversation, fault)

    def _drop_stale_program(self) -> Steps[None]:
        """Stop a program that has ended, owes replies or wrote stray lines, so that no later request is blamed.

        If it ended by itself, between two requests, no request is to blame, but it should have waited (PROTO-3).
        """
        conversation = self._program.conversation
        if conversation is None:
            return
        is_clean = not conversation.is_idle or (yield from conversation.find_stray_line(0)) is None
        self._state.expects_stray_lines |= not is_clean
        if conversation.is_over and conversation.is_idle:
            self._state.unblamed.append(AdapterFault("crash", conversation.describe_end()))
        if conversation.is_over or not conversation.is_idle or not is_clean:
            self._program.stop()

    def _blame(self, conversation: Conversation, fault: AdapterFault) -> _Replies[None]:
        """Find out which request a fault belongs to, if any."""
        unusable = len(self._state.unusable_models)
        answered = self._take_back_doubtful(fault)
        released = list(self._release(fault, fault.item if isinstance(fault, RepeatedReply) else None))
        suspects, is_proven = [*answered, *conversation.outstanding], conversation.is_about_one
        self._program.stop()
        is_blamed = any(isinstance(reply, Fault) for _, reply in released)
        yield from released
        is_blamed |= yield from self._settle(suspects, fault, is_proven)
        if not is_blamed and unusable == len(self._state.unusable_models):
            self._state.unblamed.append(fault)

    def _stream(self, conversation: Conversation, waiting: deque[int]) -> _Replies[None]:
        """Keep the program busy.

        The latest replies are held back until others have come, because they may be given twice.
        """
        while waiting or not conversation.is_idle:
            if self._program.conversation is not conversation:
                raise RuntimeError("another ask began before all replies of this one were read")
            if conversation.is_half_idle:
                yield from self._fill(conversation, waiting)
            if not conversation.is_idle:
                item, reply = yield from conversation.next_reply()
                if item.loads:
                    self._note_load(conversation, item, reply)
                else:
                    self._held.append((item, reply))
                if len(self._held) > RECENT:
                    first, reply = self._held.popleft()
                    yield first.index, reply
        yield from self._finish(conversation)

    def _finish(self, conversation: Conversation) -> _Replies[None]:
        """Yield the held replies when nothing is outstanding; a stray line belongs to the last request."""
        linger = LINGER_SECONDS if self._lingers or self._state.expects_stray_lines else 0
        fault = yield from conversation.find_stray_line(linger)
        self._state.expects_stray_lines = self._lingers or fault is not None
        last = self._held[-1][0] if self._held else None
        yield from self._release(fault, fault.item if isinstance(fault, RepeatedReply) else last)
        if fault is not None:
            self._program.stop()

    def _take_back_doubtful(self, fault: AdapterFault) -> list[Item]:
        """Withdraw the latest reply if a line came after it that may belong to it or to the next request."""
        if fault.kind != "protocol" or isinstance(fault, RepeatedReply) or not self._held:
            return []
        return [self._held.pop()[0]]

    def _release(self, fault: AdapterFault | None, culprit: Item | None) -> Iterator[tuple[int, Reply]]:
        """Return the held replies; the culprit's reply is replaced by the fault."""
        while self._held:
            item, reply = self._held.popleft()
            yield item.index, Fault(fault.kind, fault.message) if fault and item is culprit else reply

    def _fill(self, conversation: Conversation, waiting: deque[int]) -> Iterator[tuple[int, Reply]]:
        """Send as much as may be outstanding, up to a request whose model is not loaded yet."""
        while waiting and conversation.has_room:
            index = waiting[0]
            name = self._requests[index].model_name
            if name in self._state.unusable_models:
                yield waiting.popleft(), self._state.unusable_models[name]
            elif name in conversation.loaded:
                refusal = self._post(conversation, waiting.popleft())
                yield from [(index, refusal)] if refusal else []
            else:
                if not conversation.is_loading:
                    self._post_load(conversation, index)
                if name not in self._state.unusable_models:
                    break
        conversation.flush()

    def _post(self, conversation: Conversation, index: int) -> Refused | None:
        request = self._requests[index]
        if limited := refuse_limited(self._state.formats[request.model_name], request):
            return limited
        message = {"op": request.operation, "model": request.model_name, "input": request.input}
        try:
            conversation.post(Item(index), message)
        except Unsupported as refusal:
            return Refused(refusal.reason, refusal.message)
        return None

    def _post_load(self, conversation: Conversation, index: int) -> None:
        name = self._requests[index].model_name
        written = write_model(self._program.hello, self._requests[index].model, self._requests[index].file)
        if isinstance(written, Refused):
            self._state.unusable_models[name] = written
            return
        format, content = written
        self._state.formats[name] = format
        message = {"op": "load", "model": name, "format": format, "content": content}
        try:
            conversation.post(Item(index, loads=True), message)
        except Unsupported as refusal:
            self._state.unusable_models[name] = Refused(refusal.reason, refusal.message)

    def _note_load(self, conversation: Conversation, item: Item, reply: Reply) -> None:
        name = self._requests[item.index].model_name
        if isinstance(reply, Answer):
            conversation.loaded.add(name)
        else:
            request, format = self._requests[item.index], self._state.formats[name]
            self._state.unusable_models[name] = refused_to_load(self._program.hello, request, format, reply)

    def _settle(self, suspects: Sequence[Item], fault: AdapterFault, is_proven: bool) -> _Replies[bool]:
        """Repeat each suspect alone, unless it was alone already; return whether any of them had a fault."""
        self._lingers |= fault.kind == "protocol"
        known = Fault(fault.kind, fault.message) if is_proven and len(suspects) == 1 else None
        is_blamed = False
        for item in suspects:
            if known is not None and item.loads:
                self._state.unusable_models[self._requests[item.index].model_name] = known
            reply = known or (yield from self._ask_alone(item))
            if not item.loads:
                is_blamed |= isinstance(reply, Fault)
                yield item.index, reply
        return is_blamed

    def _ask_alone(self, item: Item) -> Steps[Reply]:
        name = self._requests[item.index].model_name
        earlier: list[AdapterFault] = []
        while True:
            try:
                self._conversation = conversation = yield from self._program.connect()
            except AdapterFault as given_up:
                return Fault(given_up.kind, given_up.message)
            is_blamed = conversation.is_new
            try:
                reply = yield from self._exchange(conversation, item)
                self._state.unblamed += [] if isinstance(reply, Fault) else earlier
                return reply
            except AdapterFault as fault:
                was_loading = conversation.is_loading
                self._program.stop()
                if is_blamed:
                    reply = Fault(fault.kind, fault.message)
                    if was_loading:
                        self._state.unusable_models[name] = reply
                    return reply
                earlier.append(fault)

    def _exchange(self, conversation: Conversation, item: Item) -> Steps[Reply]:
        """Load the model if necessary, then make the request, with nothing else outstanding."""
        name = self._requests[item.index].model_name
        if name not in conversation.loaded and name not in self._state.unusable_models:
            self._post_load(conversation, item.index)
            conversation.flush()
            if conversation.is_loading:
                loaded, reply = yield from conversation.next_reply()
                self._note_load(conversation, loaded, reply)
        if name in self._state.unusable_models:
            return self._state.unusable_models[name]
        if item.loads:
            return Answer({})
        refusal = self._post(conversation, item.index)
        if refusal is not None:
            return refusal
        conversation.flush()
        _, reply = yield from conversation.next_reply()
        fault = yield from conversation.find_stray_line(LINGER_SECONDS if self._lingers else 0)
        if fault is not None:
            self._program.stop()
            return Fault(fault.kind, fault.message)
        return reply
