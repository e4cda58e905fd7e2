"""Answers as the reference does, but for one thing: it exits with status 3 after ``bye``, or crashes once, or always.

To crash once it gets the name of a file: the process that does not find it makes it, and crashes at ``encode``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tokspec.sessions.adapter_server import AdapterServer, main


def crash_once(mark: Path) -> None:
    """Make the first answer of all processes a crash."""
    answer = AdapterServer.answer

    def crashing(self: AdapterServer, request: dict[str, object]) -> object:
        if request["op"] == "encode" and not mark.exists():
            mark.touch()
            os._exit(7)
        return answer(self, request)

    AdapterServer.answer = crashing  # type: ignore[method-assign,assignment]


if __name__ == "__main__":
    how, *words = sys.argv[1:]
    sys.argv = [sys.argv[0], "tokspec.adapters.reference:ReferenceAdapter"]
    if how == "crash-once":
        crash_once(Path(words[0]))
    if how == "crash-always":
        AdapterServer._run = lambda self, request: os._exit(7)  # type: ignore[method-assign]
    main()
    sys.exit(3 if how == "exit-with-3" else 0)
