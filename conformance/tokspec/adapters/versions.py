"""Versions of a library as implementations: an environment for each, created once in the user's cache folder.

``tokenizers==0.20.3`` is the adapter of ``tokenizers`` with that release in its own environment. uv creates it, or venv
and pip if uv is not installed; they install wheels only, so that no code of a package runs during installation. An
environment that exists needs no network. It is written whole or not at all.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from tokspec.base.display import escape
from tokspec.base.errors import DataError

#: How many environments are kept; the least recently used one is removed first. Each has some 20 to 500 MB.
MOST = 40

#: Where an environment has its Python, on all systems.
PLACES = ("bin/python", "Scripts/python.exe")

_SECONDS = 600.0

#: How many digits of a hash the name of an environment ends with.
_DIGITS = 12

#: How the name of a folder begins while it is being filled.
_BEING_MADE = ".being-made-"


def cache_folder() -> Path:
    """Return the folder of all environments: in ``TOKSPEC_CACHE``, or in the user's cache folder.

    >>> cache_folder().name
    'environments'
    """
    given = os.environ.get("TOKSPEC_CACHE")
    if given:
        return Path(given) / "environments"
    if sys.platform == "win32":
        user = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return user / "tokspec" / "environments"


def as_file_name(name: str) -> str:
    """Return a name without the characters that a file name may not have.

    >>> as_file_name("@huggingface/tokenizers==0.1.0")
    'huggingface-tokenizers-0.1.0'
    """
    return re.sub(r"[^\w.-]+", "-", name).strip("-")


def environments() -> list[Path]:
    """Return the environments that are kept, the most recently used first; other files there are left alone."""
    found = [each for each in cache_folder().glob("*-" + "[0-9a-f]" * _DIGITS) if each.is_dir()]
    return sorted(found, key=lambda each: (-each.stat().st_mtime, each.name))


def environment(spec: str, name: str, said: str, steps: Callable[[Path], Iterable[Sequence[str]]]) -> Path:
    """Return the folder of an environment; create it if it is missing.

    Args:
        spec: what the user wrote, for messages.
        name: what its folder is called.
        said: all that tells it from other environments: it is kept under the name and a hash of this.
        steps: returns the commands that fill a folder; each is run when the one before has ended.

    Raises:
        DataError: it cannot be made: there is no such release, or none for this system.
    """
    folder = cache_folder() / f"{as_file_name(name)}-{hashlib.sha256(said.encode()).hexdigest()[:_DIGITS]}"
    if not folder.is_dir():
        print(f"making an environment for {escape(spec)}, once, in {folder.parent}", file=sys.stderr)
        _make(folder, spec, steps)
    os.utime(folder)
    for old in environments()[MOST:]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def python_of(spec: str, requirements: Sequence[str]) -> str:
    """Return the Python of an environment with these packages; create it if it is missing.

    Args:
        spec: what the user wrote, for messages.
        requirements: as pip takes them, the first with its version.

    An environment whose Python is missing is created again, because another Python would have another release.

    Raises:
        DataError: it cannot be made: there is no such release, or no wheel of it for this Python and system.
    """
    said = "\n".join((sys.version, sys.platform, *requirements))
    name = f"{requirements[0]}-py{sys.version_info[0]}.{sys.version_info[1]}"

    def make() -> Path:
        return environment(spec, name, said, lambda folder: _commands(folder, requirements))

    folder = make()
    if not _python(folder):  # for example in a cache that was restored without its links
        shutil.rmtree(folder)
        folder = make()
    if python := _python(folder):
        return python
    raise DataError(f"has no Python in {folder}; remove that folder", key=escape(spec))


def clear() -> int:
    """Remove all environments, finished or not, and return how many were finished."""
    there = environments()
    for each in (*there, *cache_folder().glob(f"{_BEING_MADE}*")):
        shutil.rmtree(each, ignore_errors=True)
    return len(there)


def _python(folder: Path) -> str:
    return next((str(folder / place) for place in PLACES if (folder / place).is_file()), "")


def _make(folder: Path, spec: str, steps: Callable[[Path], Iterable[Sequence[str]]]) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=_BEING_MADE))
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", str(folder.parent)) from None
    try:
        for command in steps(made):
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS)
            if done.returncode:
                raise DataError(f"cannot be installed: {_reason(done.stderr)}", key=escape(spec))
        try:
            made.rename(folder)  # nothing that is used in it contains its own path
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DataError(f"cannot be installed: {error}", key=escape(spec)) from None
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _commands(folder: Path, requirements: Sequence[str]) -> Iterator[Sequence[str]]:
    if uv := shutil.which("uv"):
        yield uv, "venv", "--quiet", "--python", sys.executable, "--allow-existing", str(folder)
        yield uv, "pip", "install", "--quiet", "--python", _python(folder), "--only-binary", ":all:", *requirements
        return
    yield sys.executable, "-m", "venv", str(folder)
    pip = (_python(folder), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input")
    yield *pip, "--only-binary", ":all:", *requirements


def _reason(said: str) -> str:
    """Return in one line what pip or uv says is wrong: the last error, with its cause.

    >>> _reason("WARNING: x\\nERROR: No matching distribution found for tokenizers==0.0.0\\n")
    'No matching distribution found for tokenizers==0.0.0'
    >>> _reason("error: No solution found\\n  cause: there is no version of x==0\\n\\nhint: try another\\n")
    'No solution found: there is no version of x==0'
    """
    lines = [line.strip() for line in said.splitlines()]
    start = max((place for place, line in enumerate(lines) if line.lower().startswith("error")), default=0)
    told = takewhile(bool, lines[start:])
    return escape(": ".join(re.sub(r"^(?i:error|cause):\s*", "", line) for line in told) or "it does not say why", 300)
