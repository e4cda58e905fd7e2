"""The two streams of a process that is spoken with over them, kept from whatever else runs in it."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

__all__ = ["take_streams"]


def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Take standard input and output away from what runs in this process, and from what it starts.

    What is printed from then on goes to standard error, and what is read is empty.
    """
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return questions, answers
