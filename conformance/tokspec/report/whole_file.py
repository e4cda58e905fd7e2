"""Files that are written whole or not at all: who reads one never sees half of it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tokspec.errors import DataError

__all__ = ["write_whole"]


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
    new = file.with_name(f".{file.name}.{os.urandom(4).hex()}")
    try:
        with new.open("xb") as stream:  # with the mode that any new file gets
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if file.exists():
            new.chmod(file.stat().st_mode & 0o777)
        new.replace(file)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
