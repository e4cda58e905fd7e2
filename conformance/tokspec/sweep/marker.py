"""What a cell is doing right now, in memory that its supervisor sees even after the cell has died."""

from __future__ import annotations

import mmap
import struct
import tempfile
from dataclasses import dataclass
from typing import IO

__all__ = ["ASKING", "IDLE", "LOADING", "NARROWING", "PROGRAM", "Marker", "Place", "new_memory"]

#: What is being done: nothing that can be blamed, loading, asking a side in this process (plus 0 or 1 for which),
#: asking again to make a difference small (plus 0 or 1), and talking to a program, whose session has limits of its own.
IDLE, LOADING, ASKING, NARROWING, PROGRAM = 0, 1, 2, 4, 6

_FORM = struct.Struct("<qqqq")


@dataclass(frozen=True)
class Place:
    """How often the marker moved, the document (counted in its unit from 0), what is done with it, and its length."""

    tick: int
    document: int
    stage: int
    length: int

    @property
    def side(self) -> int:
        """Which side is asked, 0 or 1.

        >>> Place(1, 5, ASKING + 1, 10).side
        1
        """
        return self.stage & 1


def new_memory() -> IO[bytes]:
    """Make a file without a name for the marker; whoever inherits its descriptor shares it."""
    file = tempfile.TemporaryFile()  # noqa: SIM115
    file.truncate(_FORM.size)
    return file


class Marker:
    """The shared memory, by the descriptor of its file.

    ``numbers`` are its four numbers in the order of :class:`Place`, for who moves on millions of times.

    >>> with new_memory() as file:
    ...     marker = Marker(file.fileno())
    ...     marker.move(7, ASKING, 100)
    ...     marker.read()
    Place(tick=1, document=7, stage=2, length=100)
    """

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, _FORM.size)
        self.numbers = memoryview(self._memory).cast("q")
        self._tick = 0

    def move(self, document: int, stage: int, length: int = 0) -> None:
        """Note what is being done from now on."""
        self._tick += 1
        _FORM.pack_into(self._memory, 0, self._tick, document, stage, length)

    def read(self) -> Place:
        """Return what was noted last."""
        return Place(*_FORM.unpack_from(self._memory, 0))
