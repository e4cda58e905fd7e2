"""Reading a pipe whose other end may be held by anyone, for as long as they like, and hold anything.

The end of a program's output is not the end of its pipe: a process that it started may keep the pipe open. So the
suite keeps the pipe's writing end itself, and writes a *mark* once the program has ended; what the program wrote comes
before the mark. The mark is random, so that no program can write it.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections import deque
from collections.abc import Iterator

from tokspec.sessions.interruption import Interrupted

__all__ = ["LineBox", "LineTooLong", "chunks_until", "new_mark", "read_lines"]

_CHUNK = 65536

#: Bytes that a line costs beside its own: short ones must not fill the memory either.
_LINE_COST = 64


class LineTooLong(Exception):
    """A line is longer than the limit; it and whatever follows is lost."""


def new_mark() -> bytes:
    """Make a mark. It begins with a byte that UTF-8 never has, so that hardly anything looks like its beginning."""
    return b"\xff" + secrets.token_bytes(16)


def chunks_until(descriptor: int, mark: bytes) -> Iterator[bytes]:
    """Give what a pipe holds before the mark, as it arrives; close the pipe at the end."""
    held = b""
    try:
        while chunk := os.read(descriptor, _CHUNK):
            data = held + chunk
            end = data.find(mark)
            if end >= 0:
                yield data[:end]
                return
            cut = data.rfind(b"\xff", -len(mark))
            held = data[cut:] if cut >= 0 and mark.startswith(data[cut:]) else b""
            yield data[: len(data) - len(held)]
    finally:
        os.close(descriptor)


class LineBox:
    """Lines on their way from the thread that reads them to the one that wants them, bounded in bytes."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._changed = threading.Condition()
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self._end: type[Exception] | None = None
        self._closed = False
        self._interrupted = False
        self._taken: deque[bytes] = deque()

    def put(self, lines: list[bytes]) -> None:
        """Add lines; wait while the box is full. A closed box loses them."""
        with self._changed:
            self._changed.wait_for(lambda: self._bytes <= self._bound or self._closed)
            if not self._closed:
                self._lines.extend(lines)
                self._bytes += sum(map(len, lines)) + _LINE_COST * len(lines)
                self._changed.notify_all()

    def end(self, why: type[Exception]) -> None:
        """Let ``get`` raise this after the last line; the first call counts."""
        with self._changed:
            self._end = self._end or why
            self._changed.notify_all()

    def get(self, seconds: float) -> bytes:
        """Take the next line.

        Raises:
            TimeoutError: there was none for so many seconds.
            Interrupted: another thread wants no more of them.
            EOFError, LineTooLong: there will be none.
        """
        if self._interrupted:
            raise Interrupted
        if not self._taken:
            with self._changed:
                self._changed.wait_for(lambda: self._lines or self._end or self._interrupted, seconds)
                self._taken, self._lines, self._bytes = self._lines, self._taken, 0
                self._changed.notify_all()
            if self._interrupted:
                raise Interrupted
            if not self._taken:
                raise self._end or TimeoutError
        return self._taken.popleft()

    def interrupt(self) -> None:
        """Let ``get`` raise ``Interrupted``, now and ever after."""
        with self._changed:
            self._interrupted = True
            self._changed.notify_all()

    def close(self) -> None:
        """Let ``put`` never wait again; what was put before can still be taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


def read_lines(descriptor: int, mark: bytes, longest: int, box: LineBox) -> None:
    """Put the lines of a pipe into a box; after one that is too long the rest is read and thrown away."""
    pending = bytearray()
    too_long = False
    for chunk in chunks_until(descriptor, mark):
        if too_long:
            continue
        first, *others = chunk.split(b"\n")
        pending += first
        lines = []
        for piece in others:
            lines.append(bytes(pending))
            pending = bytearray(piece)
        proper = next((place for place, line in enumerate(lines) if len(line) > longest), len(lines))
        box.put(lines[:proper])
        if proper < len(lines) or len(pending) > longest:
            too_long = True
            box.end(LineTooLong)
    box.end(EOFError)
