"""What a program is started with, what it is allowed, and why one cannot be started."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from tokspec.base.errors import DataError
from tokspec.protocol.wire import excerpt, shown

__all__ = ["Launch", "Limits", "cannot_start"]


@dataclass(frozen=True)
class Limits:
    """What a program is allowed.

    ``case_seconds`` and ``start_seconds`` are of silence while a reply is outstanding, the second until ``hello`` is
    answered and while a model is loaded. ``reply_bytes`` is the length of the longest line: a file of fixtures may have
    as many, so that no right answer is longer; the longest of the suite has 9 kB. ``memory_mb`` is for the program and
    the processes that it started, in megabytes of 1024 · 1024 bytes that are resident; 0 is no limit.

    >>> Limits().case_seconds
    10.0
    """

    case_seconds: float = 10.0
    start_seconds: float = 30.0
    reply_bytes: int = 4 * 1024 * 1024
    memory_mb: int = 4096


@dataclass(frozen=True)
class Launch:
    """A program and its arguments; ``is_ours`` if it is the suite's own adapter server, which may say more than others.

    >>> Launch(("node", "adapter.mjs")).is_ours
    False
    """

    command: tuple[str, ...]
    is_ours: bool = False


def cannot_start(command: tuple[str, ...], error: Exception) -> DataError:
    """Say why a program cannot be started, and what to do.

    >>> print(cannot_start(("mytok",), FileNotFoundError()))  # doctest: +NORMALIZE_WHITESPACE
    'mytok': cannot be started: there is no program 'mytok'; give its path, put it on the PATH,
    or install its interpreter
    """
    if isinstance(error, FileNotFoundError):
        what = (
            f"there is no program {excerpt(command[0])}; give its path, put it on the PATH, or install its interpreter"
        )
    elif isinstance(error, PermissionError):
        what = f"{excerpt(command[0])} is not executable; run chmod +x, or put its interpreter before it"
    else:
        what = f"{shown(getattr(error, 'strerror', None) or str(error))}; run it by hand to see why"
    return DataError(f"cannot be started: {what}", key=excerpt(shlex.join(command)))
