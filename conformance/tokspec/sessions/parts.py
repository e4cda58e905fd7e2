"""Which process is asked what, when there are several: always the same, so that a run can be repeated."""

from __future__ import annotations

from collections.abc import Sequence

from tokspec.protocol.messages import Request

__all__ = ["dealt"]

#: Pieces for each process. More of them share the work more evenly, and load more models twice.
PIECES = 8


def dealt(requests: Sequence[Request], waiting: Sequence[int], jobs: int) -> list[list[int]]:
    """Deal the waiting requests, by their indices, to so many processes; each gets its own in their order.

    Requests for the same model stay together, so that few models are loaded by more than one process.

    >>> requests = [Request("encode", name, {}, {"text": "b"}) for name in "aabacc"]
    >>> dealt(requests, range(6), 2)
    [[0, 3, 4], [1, 2, 5]]
    """
    by_model: dict[str, list[int]] = {}
    for index in waiting:
        by_model.setdefault(requests[index].model_name, []).append(index)
    longest = -(-len(waiting) // (PIECES * jobs)) or 1
    parts: list[list[int]] = [[] for _ in range(jobs)]
    for indices in by_model.values():
        for start in range(0, len(indices), longest):
            min(parts, key=len).extend(indices[start : start + longest])
    return [sorted(part) for part in parts]
