"""What an implementation is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Answer", "Fault", "Refused", "Reply", "Request"]


@dataclass(frozen=True)
class Request:
    """One operation to be performed. It never holds what is expected.

    ``model_name`` names a model within the run: two requests with the same name have the same ``model``, which is in
    the neutral form of the fixtures.

    >>> Request("encode", "toy", {"type": "bpe"}, {"text": "bug"}).input
    {'text': 'bug'}
    """

    operation: str
    model_name: str
    model: Mapping[str, Any]
    input: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """A result, made of plain JSON values; strings may hold lone surrogates.

    >>> Answer({"tokens": ["b", "ug"]}).result["tokens"]
    ['b', 'ug']
    """

    result: Mapping[str, Any]


@dataclass(frozen=True)
class Refused:
    """A refusal with a reason out of ``spec/09-errors.md`` (ERROR-1).

    ``message`` is the implementation's own text and not to be trusted.

    >>> Refused("unknown_symbol", "m").reason
    'unknown_symbol'
    """

    reason: str
    message: str


@dataclass(frozen=True)
class Fault:
    """A misbehaviour (PROTO-1): ``kind`` is ``crash``, ``timeout`` or ``protocol``; ``message`` is printable ASCII.

    >>> Fault("crash", "exit status 3").kind
    'crash'
    """

    kind: str
    message: str


Reply: TypeAlias = Answer | Refused | Fault
