"""Many texts in one message: how an adapter in Python answers, one text after the other.

A fault or a refusal belongs to its text alone. The adapter's own method ``encoder`` is used if it has one, because a
function from a text to its ids saves computing the other fields of an encoding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from tokspec.adapter import Adapter, Hello

#: The operations that ``hello`` may name in ``many``, and the message for many at once.
MESSAGES: Mapping[str, str] = {"encode": "encode_many", "decode": "decode_many"}

Message: TypeAlias = Mapping[str, Any]


def offered_by(hello: Hello) -> tuple[str, ...]:
    """Name the operations for which an adapter in Python gets many texts at once.

    >>> offered_by(Hello("mytok", "1", "Python", ("encode", "decode", "train"), encode_fields=("tokens", "ids")))
    ('encode', 'decode')
    """
    return tuple(
        name for name in MESSAGES if name in hello.operations and (name != "encode" or "ids" in hello.encode_fields)
    )


def answer_many(
    adapter: Adapter, operation: str, model: Any, input: Message, guard: Callable[[Callable[[], Message]], Message]
) -> dict[str, Any]:
    """Return the result of ``encode_many`` or ``decode_many``: the ids of each text, or the other way around.

    Args:
        adapter: the adapter, which is called once for each item.
        operation: one of :data:`MESSAGES`.
        model: a model that the adapter has loaded.
        input: the input of the message.
        guard: calls a function that may raise anything, and returns the keys of a reply; one without ``ok`` becomes the
            item's answer.
    """
    asked, given, find = _CALLS[operation]
    options = {key: value for key, value in input.items() if key != asked}
    call = find(adapter, model, options)

    def ask(each: Any) -> Message:
        return {given: call(each)}

    replies = [guard(partial(ask, each)) for each in input[asked]]
    return {given: [reply["ok"][given] if "ok" in reply else reply for reply in replies]}


def _encoder(adapter: Adapter, model: Any, options: Message) -> Callable[[str], Any]:
    find = getattr(adapter, "encoder", None)
    if find is not None and not any(options.values()):  # it adds no special tokens
        encode: Callable[[str], Any] = find(model)
        return encode
    return lambda text: adapter.run("encode", model, {"text": text, **options})["ids"]


def _decoder(adapter: Adapter, model: Any, options: Message) -> Callable[[list[int]], Any]:
    return lambda ids: adapter.run("decode", model, {"ids": ids, **options})["text"]


_CALLS: Mapping[str, tuple[str, str, Callable[[Adapter, Any, Message], Callable[[Any], Any]]]] = {
    "encode_many": ("texts", "ids", _encoder),
    "decode_many": ("ids", "texts", _decoder),
}
