"""Making records of what an implementation answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tokspec import __version__
from tokspec.base.display import shorten
from tokspec.base.errors import DataError
from tokspec.formats.user_model import UserModel
from tokspec.judge.verdicts import effective_choices
from tokspec.packs.asking import Asked, Asker, in_batches, why_malformed
from tokspec.packs.header import Header
from tokspec.packs.inputs import Sources, named, texts_hash
from tokspec.packs.record import Input, Record
from tokspec.packs.summary import summary
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.suite.fixtures import load_suite

__all__ = ["Trouble", "header_of", "recorded"]


#: How many reasons of a kind are said.
_SHOWN = 8


@dataclass
class Trouble:
    """What was not answered: how often, by operation and reason, with the first text.

    Faults are recorded as such, and are for somebody to look at; ``unsupported`` is what is not offered.
    """

    faults: Counter[tuple[str, str]] = field(default_factory=Counter)
    unsupported: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: dict[tuple[str, str], Input] = field(default_factory=dict)

    def note(self, input: Input, operation: str, reply: Reply) -> None:
        """Count a reply that is no result."""
        if isinstance(reply, Fault):
            key = (operation, f"{reply.kind}: {shorten(reply.message)}")
            self.faults[key] += 1
            self.first.setdefault(key, input)
        elif isinstance(reply, Refused) and reply.reason == "unsupported":
            self.unsupported[operation, shorten(reply.message)] += 1

    @property
    def lines(self) -> list[str]:
        """What there is to say of it, the commonest first."""
        not_offered = [
            f"not answered: {operation} of {_texts(count)}: {reason}"
            for (operation, reason), count in self.unsupported.most_common(_SHOWN)
        ]
        return not_offered + [
            f"not answered: {operation} of {_texts(count)}, first {self.first[operation, reason].place}: {reason}"
            for (operation, reason), count in self.faults.most_common(_SHOWN)
        ]


def _texts(count: int) -> str:
    return "1 text" if count == 1 else f"{count} texts"


#: What is said of the special tokens that a post-processor adds; who asks an object asks as the object's user does.
_SPECIAL_TOKENS = {True: "added", False: "not added", None: "as called"}


def header_of(asker: Asker, own: UserModel, sources: Sources, *, adds: bool | None) -> Header:
    """Say what a pack is about."""
    hello = asker.hello
    identity = {"name": hello.name, "version": hello.version, "language": hello.language}
    return Header(
        suite=__version__,
        fixtures=load_suite().hash,
        texts=texts_hash(),
        implementation={**identity, "unicode": hello.unicode} if hello.unicode else identity,
        choices=effective_choices(hello),
        model=summary(own),
        special_tokens=_SPECIAL_TOKENS[adds],
        operations=asker.operations,
        inputs={"made": sources.made if sources.vocabulary else None, "files": list(named(sources.files))},
    )


def recorded(
    asker: Asker, inputs: Iterable[Input], trouble: Trouble, progress: Callable[[Record], None] = lambda record: None
) -> Iterator[Record]:
    """Return the record of each text: what is normalized and encoded is then cut into pieces and decoded.

    Raises:
        DataError: none of the first texts is answered: the model is of no use to the implementation.
    """
    is_first = True
    for batch in in_batches(Record(input, {}) for input in inputs):
        begun = [_noted(asked, trouble) for asked in asker.about(batch, ("normalize", "encode"))]
        if is_first and not any("encode" in record.results for record in begun):
            raise DataError(
                f"answers no text: {_why(asker, batch[0])}", key=f"{asker.hello.name} {asker.hello.version}"
            )
        is_first = False
        for asked in asker.about(begun, ("pre_tokenize", "decode")):
            record = _noted(asked, trouble)
            progress(record)
            yield record


def _why(asker: Asker, record: Record) -> str:
    (asked,) = asker.about([record], ("encode",))
    reply = asked.replies.get("encode")
    if isinstance(reply, Refused):
        return f"{reply.reason}: {reply.message}" if reply.message else reply.reason
    return f"{reply.kind}: {reply.message}" if isinstance(reply, Fault) else "it does not offer encode"


def _noted(asked: Asked, trouble: Trouble) -> Record:
    """Add to a record what was replied."""
    record = asked.record
    results: dict[str, Mapping[str, Any]] = dict(record.results)
    refused, unanswered = dict(record.refused), dict(record.unanswered)
    for operation, reply in asked.replies.items():
        proper = _proper(operation, reply)
        if isinstance(proper, Answer):
            results[operation] = proper.result
        elif isinstance(proper, Fault):
            unanswered[operation] = proper.kind
        elif proper.reason == "unsupported":
            unanswered[operation] = proper.reason
        else:
            refused[operation] = proper.reason
        trouble.note(record.input, operation, proper)
    return replace(record, results=results, refused=refused, unanswered=unanswered)


def _proper(operation: str, reply: Reply) -> Reply:
    """Return a reply, or the fault that it is if it has not the form of a result."""
    malformed = why_malformed(operation, reply) if isinstance(reply, Answer) else ""
    return Fault("protocol", malformed) if malformed else reply
