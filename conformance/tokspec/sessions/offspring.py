"""Every process that a session's programs have started, also where one has left their group.

A process group ends as a whole, but a process can leave its group, and outlive the program. It keeps the environment
all the same, in which the suite has left a mark. Who leaves the group and clears the environment as well is not found.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

__all__ = ["Offspring"]

#: The variable of the environment that holds the mark.
VARIABLE = "TOKSPEC_SESSION"

#: How often to look: a process that is being ended may just have started another.
ROUNDS = 3


class Offspring:
    """The processes that carry one session's mark.

    >>> Offspring().environment()["TOKSPEC_SESSION"] == Offspring().environment()["TOKSPEC_SESSION"]
    False
    """

    def __init__(self) -> None:
        import psutil  # here, because it takes a while, and the reference in this process does not need it

        self._psutil = psutil
        self._mark = secrets.token_hex(16)
        self._older = frozenset(psutil.pids())

    def environment(self) -> dict[str, str]:
        """Give the environment in which to start a program."""
        return {**os.environ, VARIABLE: self._mark}

    def end(self) -> None:
        """End those that are left."""
        for _ in range(ROUNDS):
            left = list(self.living())
            for process in left:
                try:
                    process.kill()
                    process.wait(0.2)
                except self._psutil.Error:
                    continue
            if not left:
                return

    def living(self) -> Iterator[psutil.Process]:
        """Give those that live, whoever their parent is."""
        for number in set(self._psutil.pids()) - self._older:
            try:
                process = self._psutil.Process(number)
                if process.environ().get(VARIABLE) == self._mark:
                    yield process
            except self._psutil.Error:
                continue
