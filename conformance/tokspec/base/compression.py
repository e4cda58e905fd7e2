"""Compressed files, recognized by their names: .gz, .bz2, .xz and .zst."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zlib
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from tokspec.base.errors import DataError

#: What reading a compressed file raises if it was cut off or changed; see :func:`describe_broken` for others.
_BROKEN = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)


def _zstd(stream: BinaryIO) -> BinaryIO:
    package = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    try:
        return cast(BinaryIO, import_module(package).ZstdFile(stream))
    except ImportError:
        raise DataError("zstd needs a package on this Python: pip install backports.zstd") from None


_OPEN: Mapping[str, Callable[[Any], Any]] = {
    ".gz": lambda stream: gzip.GzipFile(fileobj=stream),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zst": _zstd,
}


def decompress(stream: BinaryIO, name: str) -> BinaryIO:
    """Decompress a stream according to the ending of its file's name: .gz, .bz2, .xz, .zst.

    Raises:
        DataError: a package that is needed is not installed.

    >>> import io
    >>> decompress(io.BytesIO(gzip.compress(b"bug")), "a.gz").read()
    b'bug'
    """
    try:
        return cast(BinaryIO, _OPEN.get(PurePosixPath(name).suffix.lower(), lambda same: same)(stream))
    except DataError as error:
        raise DataError(error.message, name) from None


def describe_broken(error: Exception) -> str:
    """Say how a compressed file is broken; return an empty text for any other error.

    >>> describe_broken(EOFError())
    'is cut off: its compressed data has no end'
    """
    if isinstance(error, EOFError):
        return "is cut off: its compressed data has no end"
    # bzip2 raises an OSError without a number; zstd may not be installed, so its error is recognized by its name
    of_bzip2 = type(error) is OSError and error.errno is None
    if of_bzip2 or isinstance(error, _BROKEN) or type(error).__name__ == "ZstdError":
        return f"is not compressed as its name says, or was changed: {error}"
    return ""


def without_compression(name: str) -> str:
    """Return a file's name without the ending that says how it is compressed.

    >>> without_compression("a.txt.gz"), without_compression("a.txt")
    ('a.txt', 'a.txt')
    """
    ending = PurePosixPath(name).suffix.lower()
    return name[: -len(ending)] if ending in _OPEN else name
