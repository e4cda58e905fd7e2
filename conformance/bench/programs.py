"""What the harness is measured with: an adapter that waits before each answer, and an echo of the protocol.

``python programs.py`` answers every request with its input: as little as a program of the protocol can do.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from typing import Any

from tokspec.adapters.reference import ReferenceAdapter

HELLO = {"protocol": 1, "name": "echo", "version": "1", "language": "Python"}
HELLO |= {"operations": ["normalize"], "formats": ["tokspec"]}


class Waiting(ReferenceAdapter):
    """The reference, and 50 ms."""

    def run(self, *arguments: Any) -> Mapping[str, Any]:
        """Answer."""
        time.sleep(0.05)
        return super().run(*arguments)


def echo() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        ok = {"text": request["input"]["text"]} if "input" in request else HELLO if request["op"] == "hello" else {}
        sys.stdout.write(json.dumps({"id": request["id"], "ok": ok}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    echo()
