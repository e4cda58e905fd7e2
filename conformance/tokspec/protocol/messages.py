"""Messages: the requests to an implementation, its replies, and its description of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from tokspec.adapter import Hello

if TYPE_CHECKING:
    from tokspec.formats.user_model import UserModel

#: The version of the protocol.
PROTOCOL = 1


def write_hello(hello: Hello) -> dict[str, Any]:
    """Write the answer to ``hello``; nothing is checked.

    >>> write_hello(Hello("mytok", "0.3", "C", operations=("encode",)))["formats"]
    ('tokspec',)
    """
    return {"protocol": PROTOCOL, **{field.name: getattr(hello, field.name) for field in fields(Hello)}}


@dataclass(frozen=True)
class Request:
    """A request for one operation. It never contains the expected outcome.

    ``model_name`` names a model within the run: two requests with the same name have the same ``model``, which is in
    the neutral form of the fixtures; for a user's own ``file`` it is empty, because the file is not read.

    >>> Request("encode", "toy", {"type": "bpe"}, {"text": "bug"}).input
    {'text': 'bug'}
    """

    operation: str
    model_name: str
    model: Mapping[str, Any]
    input: Mapping[str, Any]
    file: UserModel | None = None


@dataclass(frozen=True)
class Answer:
    """A result of plain JSON values; strings may hold lone surrogates.

    >>> Answer({"tokens": ["b", "ug"]}).result["tokens"]
    ['b', 'ug']
    """

    result: Mapping[str, Any]


@dataclass(frozen=True)
class Refused:
    """A refusal with a reason from ``spec/09-errors.md`` (ERROR-1).

    ``message`` is the implementation's own text, and untrusted. ``of_file`` is whether it refused to load the file of a
    model, rather than this input.

    >>> Refused("unknown_symbol", "m").reason
    'unknown_symbol'
    """

    reason: str
    message: str
    of_file: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True)
class Fault:
    """A misbehavior (PROTO-1): ``kind`` is ``crash``, ``timeout`` or ``protocol``; ``message`` is printable ASCII.

    >>> Fault("crash", "exit status 3").kind
    'crash'
    """

    kind: str
    message: str


Reply: TypeAlias = Answer | Refused | Fault


def is_unsupported(reply: Reply | None) -> TypeGuard[Refused]:
    """Return whether a reply says that something is not offered, which is neither an answer nor refuses the input."""
    return isinstance(reply, Refused) and reply.reason == "unsupported"
