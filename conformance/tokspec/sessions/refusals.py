"""Replies that both kinds of session give alike: refusals, and what can be refused without asking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokspec import formats
from tokspec.adapter import Hello
from tokspec.base.errors import Unsupported
from tokspec.formats.own import OwnModel
from tokspec.protocol.messages import Fault, Refused, Request
from tokspec.protocol.wire import excerpt
from tokspec.suite.specification import load_specification

__all__ = ["not_offered", "refused", "write_model"]

#: Operations that show how a model is trained.
_TRAINING = ("train", "training_trace", "training_state", "best_pair", "prune_step")


def refused(reason: object, message: object) -> Refused | Fault:
    """Make the reply of a refusal; a reason out of the list is a fault (ERROR-1).

    >>> refused("unknown_symbol", "m")
    Refused(reason='unknown_symbol', message='m')
    >>> refused("too_hard", "")
    Fault(kind='protocol', message="the refusal has the reason 'too_hard', which is not in spec/09-errors.md")
    """
    if not isinstance(reason, str) or not isinstance(message, str):
        return Fault("protocol", "the refusal needs a reason and perhaps a message, both strings")
    if reason not in load_specification().reasons:
        return Fault("protocol", f"the refusal has the reason {excerpt(reason)}, which is not in spec/09-errors.md")
    return Refused(reason, message)


def not_offered(hello: Hello, request: Request) -> Refused | None:
    """Give the reply to a request whose operation the implementation does not offer, at all or for such a model.

    >>> hello = Hello("mytok", "0.3", "C", operations=("encode", "train"), other_trainers={"wordpiece": "by counts"})
    >>> not_offered(hello, Request("decode", "toy", {}, {}))
    Refused(reason='unsupported', message='does not offer decode')
    >>> not_offered(hello, Request("train", "toy", {"type": "wordpiece"}, {}))
    Refused(reason='unsupported', message='trains wordpiece by another algorithm: by counts')
    """
    if request.operation not in hello.operations:
        return Refused("unsupported", f"does not offer {request.operation}")
    kind = request.model.get("type") if request.operation in _TRAINING else None
    if kind in hello.other_trainers:
        return Refused("unsupported", f"trains {kind} by another algorithm: {hello.other_trainers[kind]}")
    return None


def write_model(accepted: Sequence[str], content: Mapping[str, Any]) -> tuple[str, Any] | Refused:
    """Write a model in the first of the accepted formats that can express it; a file of one's own rather as it is.

    >>> write_model(["tokspec"], {"pre_tokenizer": {"type": "whitespace_split"}})
    ('tokspec', {'pre_tokenizer': {'type': 'whitespace_split'}})
    >>> write_model([], {})
    Refused(reason='unsupported', message='accepts no format')
    """
    reasons = []
    own = content if isinstance(content, OwnModel) else None
    for name in own.ordered(accepted) if own else accepted:
        try:
            return name, own.write(name) if own else formats.write(name, content)
        except Unsupported as refusal:
            reasons.append(refusal.message)
    return Refused("unsupported", "; ".join(reasons) or "accepts no format")
