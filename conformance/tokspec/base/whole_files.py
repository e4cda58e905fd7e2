"""Files that are written whole or not at all: who reads one never sees half of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tokspec.base.errors import DataError

__all__ = ["opened_whole", "write_whole"]


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
    with opened_whole(file) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def opened_whole(file: Path) -> Iterator[BinaryIO]:
    """Open a file that is written in pieces and appears, in place of another, when all of them are.

    Raises:
        DataError: as :func:`write_whole`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with opened_whole(Path(folder, "a.txt")) as stream:
    ...         _ = stream.write(b"bug")
    ...         before = Path(folder, "a.txt").exists()
    ...     before, Path(folder, "a.txt").exists()
    (False, True)
    """
    try:
        is_regular = file.is_file() or not file.exists()
        with _replacing(file.resolve()) if is_regular else file.open("wb") as stream:
            yield stream
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", str(file)) from None


@contextmanager
def _replacing(file: Path) -> Iterator[BinaryIO]:
    new = file.with_name(f".{file.name}.{os.urandom(4).hex()}")
    try:
        with new.open("xb") as stream:  # with the mode that any new file gets
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if file.exists():
            new.chmod(file.stat().st_mode & 0o777)
        new.replace(file)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
