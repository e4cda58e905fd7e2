"""Asking: examples go to the judged implementation and to the oracle, comparisons come back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import AdapterFault, DataError
from tokspec.fuzz.example import Example
from tokspec.fuzz.oracle import Comparer, Comparison
from tokspec.judge.verdicts import effective_choices
from tokspec.protocol.messages import Reply, Request
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.session import Session

__all__ = ["REFERENCE", "Checker", "Conversations", "reference_with"]

#: What the oracle is called that most are compared with.
REFERENCE = "the reference"

#: Models that one session is given: none is ever taken back, and all of them need memory.
MODELS = 3000


def reference_with(choices: Mapping[str, str]) -> Session:
    """Open a session with the reference, held to an implementation's choices; it counts in code points.

    >>> reference_with({"unknown_id": "skipped", "offset_unit": "byte"}).hello.choices["unknown_id"]
    'skipped'
    """
    return InProcessSession(ReferenceAdapter({name: choices[name] for name in choices if name != "offset_unit"}))


@dataclass
class Conversations:
    """A session that is opened anew before it holds too many models; ``open`` gives a new one.

    ``who`` is what an oracle is called.
    """

    who = REFERENCE

    open: Callable[[], Session]
    session: Session = field(init=False)
    names: dict[str, str] = field(init=False, default_factory=dict)
    latest: dict[int, Reply] = field(init=False, default_factory=dict)
    most: int = field(init=False, default=MODELS)

    def __post_init__(self) -> None:
        self.session = self.open()

    def ask(self, examples: Sequence[Example]) -> list[Reply]:
        """Return the reply to each example, in order; equal models are one."""
        if len(self.names) > self.most:
            self.renew()
        replies: dict[int, Reply] = {}
        for index, reply in self.session.ask(self._requests(examples)):
            replies[index] = reply
        self.latest = {id(example): replies[index] for index, example in enumerate(examples)}
        return [replies[index] for index in range(len(examples))]

    def _requests(self, examples: Sequence[Example]) -> list[Request]:
        """Make requests, each under the name that its model has here; the same object is looked up once."""
        names: dict[int, str] = {}
        for example in examples:
            if id(example.model) not in names:
                names[id(example.model)] = self.names.setdefault(example.model_key, f"m{len(self.names)}")
        return [example.request(names[id(example.model)]) for example in examples]

    def renew(self) -> None:
        """Open another session. If none can be opened, the one that is open goes on, for as many models again."""
        try:
            session = self.open()
        except (AdapterFault, DataError):
            self.most = len(self.names) + MODELS
            return
        self.close()
        self.session, self.most = session, MODELS
        self.names.clear()

    def close(self) -> None:
        """End the session."""
        self.session.close()


class Checker:
    """Compares an implementation with an oracle.

    Args:
        judged: the implementation.
        oracle: what is taken to be right; the reference with the implementation's choices unless given.
        choices: options that stand instead of those that the implementation declares.
    """

    name = "reference"

    #: The clause of whatever it finds; empty if each finding has its own.
    clause = ""

    #: Candidates that are asked at once while an example is shrunk: in one process each waits for the one before.
    batch = 1

    def __init__(
        self, judged: Conversations, oracle: Conversations | None = None, choices: Mapping[str, str] | None = None
    ) -> None:
        self.judged = judged
        self.choices = effective_choices(judged.session.hello, choices)
        self.batch = 1 if isinstance(judged.session, InProcessSession) else 24
        self.oracle = oracle or Conversations(lambda: reference_with(self.choices))

    def compare(self, examples: Sequence[Example], known: Mapping[int, Reply] | None = None) -> list[Comparison]:
        """Compare the replies to each example. The oracle is asked only what the implementation supports.

        ``known`` are replies that the implementation gave already, by the identity of the example.
        """
        replies = self.judged.ask(examples)
        supported = [index for index, reply in enumerate(replies) if getattr(reply, "reason", "") != "unsupported"]
        rights = dict(zip(supported, self.oracle.ask([examples[index] for index in supported]), strict=True))
        comparer = Comparer(self.oracle.session, self.judged.session.hello, self.choices)
        return [
            comparer.compare(
                each.model, (each.operation, dict(each.input)), rights.get(index, replies[index]), replies[index]
            )
            for index, each in enumerate(examples)
        ]

    def takes(self, example: Example) -> bool:
        """Say whether it has something to say of an example."""
        return True

    @staticmethod
    def right_of(oracle: Conversations, example: Example) -> Mapping[str, Any]:
        """Return an oracle's answer as a fixture would have it."""
        (reply,) = oracle.ask([example])
        reason = getattr(reply, "reason", None)
        return {"error": reason} if reason else {"expect": getattr(reply, "result", {})}
