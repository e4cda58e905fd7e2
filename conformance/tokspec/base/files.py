"""Reading files that may come from strangers: ordinary ones only, and never more than a bound."""

from __future__ import annotations

import codecs
from pathlib import Path

from tokspec.base.errors import DataError

__all__ = ["read_bounded"]

_MEGABYTE = 1024**2


def read_bounded(file: Path, name: str, megabytes: int, advice: str = "make several files of it") -> str:
    """Read a text in UTF-8; ``name`` is how errors call the file, ``advice`` what to do if it is too large.

    Raises:
        DataError: there is no such file, it is too large or not plain UTF-8, or it might never end, as a device does.

    >>> read_bounded(Path("."), "here", 1)
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: here: is no ordinary file
    """
    try:
        if file.exists() and not file.is_file():
            raise DataError("is no ordinary file", name)
        with file.open("rb") as opened:
            data = opened.read(megabytes * _MEGABYTE + 1)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", name) from None
    if len(data) > megabytes * _MEGABYTE:
        raise DataError(f"is larger than {megabytes} MB; {advice}", name)
    if data.startswith(codecs.BOM_UTF8):
        raise DataError("begins with a byte-order mark; save it as UTF-8 without one", name, 1)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 at byte {error.start}; save it as UTF-8", name, 1) from None
