"""Refusals: what the reference raises when it cannot answer (``spec/09-errors.md``)."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["InputError"]


@dataclass(eq=False)
class InputError(Exception):
    """An input that cannot be answered; ``reason`` is one of the list in ``spec/09-errors.md``.

    ``message`` names the offending value.

    >>> raise InputError("unknown_symbol", "'m' is not in the vocabulary")
    Traceback (most recent call last):
        ...
    tokref.errors.InputError: unknown_symbol: 'm' is not in the vocabulary
    """

    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"
