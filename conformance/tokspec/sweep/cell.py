"""``python -m tokspec.sweep.cell FOLDER MARKER PARENT``: the process in which both sides are asked.

It reads one JSON object a line, a stretch of a unit, and answers with its tally, a line each. It ends when its standard
input does, when its parent does, and when nobody has asked for a while. Whatever an implementation prints goes to
standard error. What it is doing can be seen in the memory behind the descriptor MARKER, also when it has died.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, BinaryIO

from tokspec.base.errors import DataError
from tokspec.sessions.adapter_server import describe_exception, take_streams
from tokspec.sessions.limits import Limits
from tokspec.sweep.counting import Counter
from tokspec.sweep.marker import Marker
from tokspec.sweep.plan import Unit, read_header
from tokspec.sweep.results import read_model
from tokspec.sweep.sides import open_side

__all__ = ["main"]

#: Seconds without a question after which the process ends: nobody needs it any more, and it may hold much.
IDLE_SECONDS = 30.0

#: Linux: the signal that a process gets when its parent ends.
_DEATH_SIGNAL = 1


def main() -> int:
    """Serve until there is nothing more to do."""
    folder, descriptor, parent = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    _end_with(parent)
    questions, answers = take_streams()
    asked: SimpleQueue[bytes] = SimpleQueue()
    marker = Marker(descriptor)
    try:
        counter = _open(folder, marker)
    except DataError as error:
        _say(answers, {"fault": str(error), "of_input": False})
        return 2
    threading.Thread(target=_listen, args=(questions, asked), daemon=True).start()
    _say(answers, {"ready": True})
    with contextlib.closing(counter), contextlib.suppress(Empty):
        while line := asked.get(timeout=IDLE_SECONDS):
            _say(answers, _answer(counter, json.loads(line)))
    return 0


def _open(folder: Path, marker: Marker) -> Counter:
    header = read_header(folder)
    os.chdir(header.folder)
    limits = Limits(
        header.limits["case_seconds"], header.limits["start_seconds"], memory_mb=int(header.limits["memory_mb"])
    )
    contents = [read_model(folder, index) for index in (0, 1)]
    sides = [
        open_side(side, index, content, header.field, limits, marker)
        for index, (side, content) in enumerate(zip(header.sides, contents, strict=True))
    ]
    return Counter(sides, header.labels, header.selection)


def _answer(counter: Counter, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    unit = Unit.from_json(asked["unit"])
    try:
        if "place" in asked:
            return {"place": counter.place(unit, asked["place"])}
        tally = counter.count(unit, asked["first"], asked["last"], asked["bare"], asked["asks"])
    except DataError as error:
        return {"fault": str(error), "of_input": True}
    except Exception as error:  # the suite's own; who started this process shows it
        return {"fault": f"this is a fault of the suite itself: {describe_exception(error)}", "of_input": False}
    return {"tally": tally.to_json()}


def _say(answers: BinaryIO, message: Mapping[str, Any]) -> None:
    answers.write(json.dumps(message).encode() + b"\n")
    answers.flush()


def _listen(questions: BinaryIO, asked: SimpleQueue[bytes]) -> None:
    """Take questions; when there can be no more, nobody waits for an answer, and an implementation may hang."""
    for line in questions:
        asked.put(line)
    _kill_family()


def _kill_family() -> None:
    import psutil

    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            child.kill()
    os._exit(0)


def _end_with(parent: int) -> None:
    """Have the system end this process with its parent, where the system can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
