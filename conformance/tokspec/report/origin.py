"""Where a report comes from: what has to be the same for two runs to be comparable."""

from __future__ import annotations

import hashlib
import platform
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from tokspec import __version__
from tokspec.data import fixtures_folder

__all__ = ["Origin", "fixtures_hash", "origin"]


@dataclass(frozen=True)
class Origin:
    """The suite's version, the SHA-256 of the fixtures, the command, the machine, and the suite's Unicode version.

    ``again`` is the command without what selects cases and writes files.
    """

    suite: str
    fixtures: str
    command: str
    again: str
    machine: str
    unicode: str


def origin(command: str, again: str, folder: Path | None = None) -> Origin:
    """Say where a run of this command with these fixtures comes from.

    >>> origin("tokspec run --report a.ndjson", "tokspec run").again
    'tokspec run'
    """
    python = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{platform.system()} {platform.machine()}, {python}"
    fixtures = fixtures_hash(folder or fixtures_folder())
    return Origin(__version__, fixtures, command, again, machine, unicodedata.unidata_version)


def fixtures_hash(folder: Path) -> str:
    """Give the SHA-256 of all fixture files below a folder: of each, in the order of their paths, path and content.

    >>> len(fixtures_hash(fixtures_folder()))
    64
    """
    total = hashlib.sha256()
    for file in sorted(folder.rglob("*.yaml")):
        content = file.read_bytes()
        total.update(f"{file.relative_to(folder).as_posix()}\0{len(content)}\0".encode() + content)
    return total.hexdigest()
