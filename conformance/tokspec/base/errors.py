"""The three families of errors, never mixed.

* :class:`Refusal`: an implementation rejects an input, with a reason from the closed list of ``spec/09-errors.md``.
* :class:`AdapterFault`: an implementation misbehaved: it crashed, hung or broke the protocol.
* :class:`DataError`: the suite's own data or its use is wrong: a fixture, an option, a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from tokspec.base.display import shorten, visible

INTERRUPTED = 130
"""The exit status after an interruption, as shells give it: 128 plus the number of the signal."""


@dataclass(eq=False)
class Refusal(Exception):
    """The answer of an implementation that cannot give a result (ERROR-1).

    >>> raise Refusal("unknown_symbol", "m")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.Refusal: unknown_symbol: m
    """

    reason: str
    message: str = ""

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}" if self.message else self.reason


class Unsupported(Refusal):
    """The refusal of an operation or a model that an implementation does not offer.

    >>> Unsupported("trains no Unigram models").reason
    'unsupported'
    """

    def __init__(self, message: str) -> None:
        super().__init__("unsupported", message)


@dataclass(eq=False)
class AdapterFault(Exception):
    """An implementation misbehaved (PROTO-1). ``kind`` is ``crash``, ``timeout`` or ``protocol``.

    >>> str(AdapterFault("crash", "exit status 3"))
    'crash: exit status 3'
    """

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@dataclass(eq=False)
class DataError(Exception):
    """The suite's own data, or an option given to it, is wrong. As text it is one line.

    ``line`` counts from 1; ``key`` is the path within the file. Both are left out if they don't apply.

    >>> str(DataError("is used twice; give one of the cases another id", "bpe/toy.yaml", 12, "cases[3].id"))
    'bpe/toy.yaml:12: cases[3].id: is used twice; give one of the cases another id'
    """

    message: str
    file: str = ""
    line: int | None = None
    key: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line is not None else self.file
        return visible(": ".join(part for part in (place, self.key, self.message) if part))


_Item = TypeVar("_Item")


def items_of(
    given: Iterable[_Item], what: str, kinds: tuple[type, ...] = (str,), key: str | None = None
) -> tuple[_Item, ...]:
    """Return a caller's list as a tuple.

    ``what`` names the items in errors; ``key`` is the name of the argument, ``what`` unless given.

    Raises:
        DataError: it is one text, whose characters would be taken for the items; it is not a list; or one of its items
            is of another kind.

    >>> items_of(["bpe", "unigram"], "families")
    ('bpe', 'unigram')
    >>> items_of("bpe", "families")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: families: 'bpe' is one text; give a list of families, such as ['bpe']
    """
    key = key or what
    if isinstance(given, str):
        raise DataError(f"{given!r} is one text; give a list of {what}, such as [{given!r}]", key=key)
    if not isinstance(given, Iterable):
        raise DataError(f"{shorten(repr(given))} is not a list; give a list of {what}", key=key)
    items = tuple(given)
    for number, item in enumerate(items):
        if not isinstance(item, kinds):
            raise DataError(f"holds {shorten(repr(item))} at place {number}; give a list of {what}", key=key)
    return items


class MissingModule(DataError):
    """Something that an implementation needs is not in this environment, or is there in a version that lacks it."""
