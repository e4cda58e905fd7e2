"""Where a report comes from: what has to be the same for two runs to be comparable."""

from __future__ import annotations

import platform
import unicodedata
from dataclasses import dataclass

from tokspec import __version__

__all__ = ["Origin", "origin"]


@dataclass(frozen=True)
class Origin:
    """The suite's version, the hash of the fixtures, the command, the machine, and the suite's Unicode version.

    ``again`` is the command without what selects cases and writes files.
    """

    suite: str
    fixtures: str
    command: str
    again: str
    machine: str
    unicode: str


def origin(command: str, again: str, fixtures: str) -> Origin:
    """Say where a run of this command with fixtures of this hash comes from.

    >>> origin("tokspec run --report a.ndjson", "tokspec run", "0" * 64).again
    'tokspec run'
    """
    python = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{platform.system()} {platform.machine()}, {python}"
    return Origin(__version__, fixtures, command, again, machine, unicodedata.unidata_version)
