"""Files that are written whole or not at all: who reads one never sees half of it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tokspec.errors import DataError

__all__ = ["write_whole"]

#: What a new file may be, before the user's mask: what any program gives.
_MODE = 0o666


def write_whole(file: Path, content: str | bytes) -> None:
    """Write a file, in place of another if there is one; a text in UTF-8 with its line ends as they are.

    What is no regular file, such as a terminal, is written to directly.

    Raises:
        DataError: it cannot be written; then whatever was there is still there.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "a.txt"), "bug")
    ...     Path(folder, "a.txt").read_text()
    'bug'
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        if file.exists() and not file.is_file():
            file.write_bytes(data)
        else:
            _replace(file.resolve(), data)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", str(file)) from None


def _replace(file: Path, data: bytes) -> None:
    import tempfile  # here, because it takes a while, and most runs write no file

    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with open(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, file.stat().st_mode & 0o777 if file.exists() else _MODE & ~_mask())
        os.replace(name, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
