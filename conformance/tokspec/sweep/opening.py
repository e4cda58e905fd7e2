"""Files on a disk and behind addresses: found, described and opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from glob import glob, has_magic
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from tokspec.base.errors import DataError

__all__ = ["Found", "find", "open_bytes"]


class Found(NamedTuple):
    """A file: its path or address, its size in bytes, and what else changes when it does."""

    path: str
    size: int
    tag: str


def find(name: str) -> Iterator[Found]:
    """Find the files that a name stands for: a file, a folder with all that is below, a pattern, or an address.

    Raises:
        DataError: there is none.
    """
    if "://" in name:
        yield from _find_remote(name)
        return
    path = Path(name)
    if path.is_dir():
        paths = sorted(each for each in path.rglob("*") if each.is_file() and not _is_hidden(each.relative_to(path)))
    elif has_magic(name) and not path.exists():
        paths = sorted(Path(each) for each in glob(name, recursive=True) if Path(each).is_file())
    else:
        paths = [path]
    if not paths:
        raise DataError("there is no file of this name or below it", name)
    yield from map(_described, paths)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _described(path: Path) -> Found:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise DataError("is no ordinary file", str(path))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", str(path)) from None
    return Found(str(path), status.st_size, str(status.st_mtime_ns))


def _library() -> Any:
    try:
        return import_module("fsspec")
    except ImportError:
        raise DataError("an address needs a package; install it with: pip install fsspec") from None


def _find_remote(address: str) -> Iterator[Found]:
    library = _library()
    try:
        system, path = library.core.url_to_fs(address)
        paths = sorted(system.glob(path)) if has_magic(path) else [path]
        if len(paths) == 1 and system.isdir(paths[0]):
            paths = sorted(system.find(paths[0]))
        found = [_described_remote(system.unstrip_protocol(each), system.info(each)) for each in paths]
    except (OSError, ValueError, ImportError) as error:
        raise DataError(f"cannot be read: {error}", address) from None
    if not found:
        raise DataError("there is no file of this name or below it", address)
    yield from found


def _described_remote(address: str, info: dict[str, Any]) -> Found:
    size = info.get("size")
    if size is None:
        raise DataError("does not say how large it is, and cannot be cut into units", address)
    tag = next((str(info[key]) for key in ("ETag", "etag", "checksum", "mtime", "LastModified") if info.get(key)), "")
    return Found(address, int(size), tag)


def open_bytes(path: str, size: int, tag: str) -> BinaryIO:
    """Open a file to be read, if it is still the one that was found.

    Raises:
        DataError: it has changed, or cannot be read.
    """
    (found,) = find(path) if "://" in path else (_described(Path(path)),)
    if (found.size, found.tag) != (size, tag):
        raise DataError(f"has changed since the plan was made: it had {size} bytes and has {found.size}", path)
    try:
        if "://" in path:
            return cast(BinaryIO, _library().open(path, "rb").open())
        return open(path, "rb")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path) from None
