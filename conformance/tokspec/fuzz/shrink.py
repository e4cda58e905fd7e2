"""Shrinking: an example is made smaller as long as it shows the same.

Each pass offers smaller examples, large cuts first. They are asked in batches, the first that still shows the same is
taken, and the passes begin again until none has anything to offer. Nothing is random, so that what comes of an example
is always the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from time import monotonic

from tokspec.fuzz.cuts import PASSES
from tokspec.fuzz.example import Example

__all__ = ["shrunk"]

#: How many candidates are asked at once, and at the most for one example.
_BATCH = 24
_MOST = 4000


def shrunk(
    example: Example,
    shows: Callable[[Sequence[Example]], Sequence[bool]],
    seconds: float = 10.0,
    batch: int = _BATCH,
) -> Example:
    """Return the smallest example found that shows the same; ``shows`` says of each candidate whether it does.

    >>> example = Example({}, "normalize", {"text": "one Σ two"})
    >>> shrunk(example, lambda candidates: ["Σ" in each.input.get("text", "") for each in candidates]).input
    {'text': 'Σ'}
    """
    end, asked, seen = monotonic() + seconds, 0, {example.key}
    improved = True
    while improved:
        improved = False
        for cuts in PASSES:
            candidates = _new(cuts(example), seen)
            while chunk := list(islice(candidates, batch)):
                asked += len(chunk)
                found = next((each for each, same in zip(chunk, shows(chunk), strict=True) if same), None)
                if asked > _MOST or monotonic() > end:
                    return found or example
                if found is not None:
                    example, improved = found, True
                    candidates = _new(cuts(example), seen)
    return example


def _new(candidates: Iterator[Example], seen: set[str]) -> Iterator[Example]:
    """Leave out what was asked before."""
    for candidate in candidates:
        if candidate.key not in seen:
            seen.add(candidate.key)
            yield candidate
