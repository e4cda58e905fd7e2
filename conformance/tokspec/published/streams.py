"""What adapters for streams share: the ids of each step go into a stream of the library, in the order of the input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from tokspec.adapter import Unsupported

_Stream = TypeVar("_Stream")


def steps_of(input: Mapping[str, Any]) -> Sequence[Sequence[int]]:
    """Return the steps of a stream, each a list of ids.

    >>> steps_of({"ids": [1, 2]})
    [[1], [2]]
    """
    steps: Sequence[Sequence[int]] = input["id_steps"] if "id_steps" in input else [[id] for id in input["ids"]]
    return steps


def require_end(input: Mapping[str, Any]) -> None:
    """Refuse a stream without an end, for a library that holds text back until the end of a stream.

    >>> require_end({"ids": [1], "end": True})

    Raises:
        Unsupported: the stream is not to be ended.
    """
    if not input.get("end", False):
        raise Unsupported("has streams that are ended, and holds text back until then")


def streamed(
    input: Mapping[str, Any],
    new: Callable[[], _Stream],
    add: Callable[[_Stream, Sequence[int]], str],
    end: Callable[[_Stream], str],
) -> dict[str, Any]:
    """Put all steps into a stream, and the ids of ``beside`` into another before them; then end it, if the input does.

    >>> streamed({"ids": [1, 2], "end": True}, list, lambda stream, ids: f"+{ids}", lambda stream: "!")
    {'parts': ['+[1]', '+[2]'], 'end': '!'}
    >>> streamed({"ids": [1, 2]}, list, lambda stream, ids: f"+{ids}", lambda stream: "!")
    {'parts': ['+[1]', '+[2]']}
    """
    stream, other, others = new(), new(), iter(input.get("beside", []))
    parts = []
    for step in steps_of(input):
        for id in others:
            add(other, [id])
            break
        parts.append(add(stream, step))
    return {"parts": parts, "end": end(stream)} if input.get("end", False) else {"parts": parts}
