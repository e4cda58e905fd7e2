"""Refusals: what the reference raises when it cannot answer (``spec/09-errors.md``)."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import Any


@dataclass(eq=False)
class InputError(Exception):
    """An input that cannot be answered.

    ``reason`` is one of the list in ``spec/09-errors.md`` (ERROR-1); ``message`` names the offending value. ``place``
    is where in a pattern the construct begins that is refused, counted from 0, and None for anything else.

    >>> raise InputError("unknown_symbol", "'m' is not in the vocabulary")
    Traceback (most recent call last):
        ...
    tokref.errors.InputError: unknown_symbol: 'm' is not in the vocabulary
    """

    reason: str
    message: str
    place: int | None = None

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"


def brief(value: Any) -> str:
    """Return a value as text for a message, however long, deeply nested or large it is.

    >>> brief(["a", 1.5]), brief([[[[[[["deep"]]]]]]]), brief(10**5000)
    ("['a', 1.5]", '[[[[[[...]]]]]]', 'an integer of 16610 bits')
    """
    return _brief.repr(value)


class _Brief(reprlib.Repr):
    """Truncate what is long or nested, and never ask Python for the thousands of digits of a huge integer."""

    def repr_int(self, x: int, level: int) -> str:
        return repr(x) if x.bit_length() <= 1024 else f"an integer of {x.bit_length()} bits"


_brief = _Brief()
_brief.maxstring = _brief.maxother = 100
