"""Asking an implementation what a pack records, some texts at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from tokspec.adapter import Hello
from tokspec.adapters.registry import find, open_session
from tokspec.base.errors import AdapterFault
from tokspec.formats.user_model import UserModel
from tokspec.packs.record import OPERATIONS, Record, input_of
from tokspec.protocol.messages import Answer, Refused, Reply, Request
from tokspec.sessions.limits import Limits
from tokspec.sessions.session import Session, plain_input
from tokspec.suite import schema

__all__ = ["BATCH", "LIMITS", "Asked", "Asker", "batches", "in_batches", "may_be_wanted", "open_own", "why_malformed"]

#: Texts that are asked together, and their characters: enough to keep a program busy, and few enough to be held.
BATCH = 256
_CHARACTERS = 256 * 1024

#: The name under which the model is loaded.
_MODEL = "own"

#: Adapters that give somebody's own file to their library whole, and can be asked for what its post-processor adds.
_WHOLE = ("tokspec.adapters.huggingface:TokenizersAdapter",)

#: What a process is allowed where the command line does not say it: the longest line is the answer to the longest text,
#: whatever becomes of it.
LIMITS = Limits(case_seconds=60.0, start_seconds=120.0, reply_bytes=64 * 1024 * 1024)

#: What any stage takes, if there is one.
_PLAIN: Mapping[str, tuple[Mapping[str, Any], ...]] = dict.fromkeys(
    ("normalize", "pre_tokenize"), ({"text": "a"}, {"text": "Two words"})
)

_Value = TypeVar("_Value")


def may_be_wanted(impl: str | None) -> bool:
    """Whether an adapter adds special tokens of a post-processor, or not, as one wants it.

    >>> may_be_wanted("reference"), may_be_wanted(None)
    (False, False)
    """
    return impl is not None and find(impl).target in _WHOLE


def open_own(impl: str | None, command: str | None, limits: Limits, *, in_process: bool = False) -> Session:
    """Start an implementation that is to be given a file of one's own.

    Args:
        impl: an adapter, as :func:`tokspec.adapters.registry.find` takes it.
        command: or a program.
        limits: what its process is allowed.
        in_process: whether it runs in this process.

    Raises:
        DataError: it cannot be found or started.
        AdapterFault: it did not say ``hello`` properly.
    """
    return open_session(impl, command, limits=limits, in_process=in_process)


def why_malformed(operation: str, answer: Answer) -> str:
    """Say how an answer has not the form of a result; nothing if it has.

    >>> why_malformed("encode", Answer({"tokens": [3]}))
    'tokens/0: 3 is not of types "string", "object"'
    """
    for path, message in schema.errors(answer.result, f"operations/{operation}/result", every=False):
        return f"{'/'.join(map(str, path)) or 'the result'}: {message}"
    return ""


def batches(values: Iterable[_Value], size: int = BATCH) -> Iterator[list[_Value]]:
    """Return values some at a time.

    >>> list(batches("abc", 2))
    [['a', 'b'], ['c']]
    """
    iterator = iter(values)
    while batch := list(islice(iterator, size)):
        yield batch


@dataclass(frozen=True)
class Asked:
    """A record, and what was replied where it was asked about, by operation."""

    record: Record
    replies: Mapping[str, Reply]


class Asker:
    """One implementation with one model. What it was asked is never more than a batch at a time.

    ``adds`` says whether the special tokens of a post-processor are wanted.

    Raises:
        DataError: the model cannot be loaded, with the implementation's reason.
        AdapterFault: it misbehaved when it was to load it.
    """

    def __init__(
        self, session: Session, own: UserModel, operations: Sequence[str] = OPERATIONS, *, adds: bool = False
    ) -> None:
        self._session = session
        self._adds = adds
        self.own = own
        self.operations = tuple(each for each in operations if each in session.hello.operations)

    @property
    def hello(self) -> Hello:
        """What the implementation says of itself."""
        return self._session.hello

    @property
    def unblamed(self) -> Sequence[AdapterFault]:
        """What went wrong without a text that is to blame."""
        return self._session.unblamed

    def leave_out(self) -> dict[str, str]:
        """Ask no more for operations that the model has no stage for, and give the reason for each.

        That is what is refused as unsupported for the plainest of texts.
        """
        reasons: dict[str, str] = {}
        for operation in self.operations:
            replies = self.replies([(operation, input) for input in _PLAIN.get(operation, ())])
            said = [reply.message for reply in replies if isinstance(reply, Refused) and reply.reason == "unsupported"]
            if said and len(said) == len(replies):
                reasons[operation] = said[-1]
        self.operations = tuple(each for each in self.operations if each not in reasons)
        return reasons

    def replies(self, asked: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Reply]:
        """Return the reply to each operation with its input, in order."""
        requests = [Request(operation, _MODEL, self.own, self._input(operation, input)) for operation, input in asked]
        found = dict(self._session.ask(requests))
        return [found[index] for index in range(len(requests))]

    def _input(self, operation: str, input: Mapping[str, Any]) -> Mapping[str, Any]:
        return plain_input(self.hello, input["text"], adds=self._adds) if operation == "encode" else input

    def about(
        self,
        records: Sequence[Record],
        operations: Sequence[str],
        wanted: Callable[[Record, str], bool] = lambda record, operation: True,
    ) -> list[Asked]:
        """Ask the operations that are wanted and offered about records, each with what the record has for it."""
        asked = [
            (place, operation, input)
            for place, record in enumerate(records)
            for operation in operations
            if operation in self.operations
            and wanted(record, operation)
            and (input := input_of(operation, record)) is not None
        ]
        replies = self.replies([(operation, input) for _, operation, input in asked])
        by_record: list[dict[str, Reply]] = [{} for _ in records]
        for (place, operation, _), reply in zip(asked, replies, strict=True):
            by_record[place][operation] = reply
        return [Asked(record, found) for record, found in zip(records, by_record, strict=True)]


def in_batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Return records some at a time, fewer where their texts are long."""
    batch: list[Record] = []
    size = 0
    for record in records:
        batch.append(record)
        size += len(record.input.text)
        if len(batch) >= BATCH or size >= _CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
