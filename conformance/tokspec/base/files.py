"""Reading and writing files with care.

Files that the suite reads may come from strangers, so it reads ordinary files only, and never more than a bound. It
writes ordinary files only, each whole or not at all. The suite's own files are next to this package when it is
installed, and at the checkout's root in a checkout.
"""

from __future__ import annotations

import codecs
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tokspec.base.errors import DataError

_MEGABYTE = 1024**2


def paths_below(folder: Path, hidden: bool = True) -> list[Path]:
    """Return all paths below a folder, sorted; if ``hidden`` is false, without those whose names begin with a dot.

    If it is not a folder, there are none.

    Raises:
        DataError: a folder cannot be read, and its content would be left out.

    >>> paths_below(Path("not there yet"))
    []
    """

    def refuse(error: OSError) -> None:
        raise DataError(f"cannot be read: {error.strerror}", str(error.filename))

    found: list[Path] = []
    for place, folders, files in os.walk(folder, onerror=refuse) if folder.is_dir() else ():
        folders[:] = [name for name in folders if hidden or not name.startswith(".")]
        found += [Path(place, name) for name in (*folders, *files) if hidden or not name.startswith(".")]
    return sorted(found)


def open_ordinary(file: Path, name: str) -> BinaryIO:
    """Open a file for reading, unless reading might never end or might wait forever, as with a device or a pipe.

    Raises:
        DataError: it is not an ordinary file, or cannot be opened.
    """
    try:
        if file.exists() and not file.is_file():
            raise DataError("is not a regular file", name)
        return open(file, "rb", opener=_open_without_waiting)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", name) from None


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file so that reading never waits; /proc/kmsg, which looks like an ordinary file, then gives None."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_at_most(file: Path, name: str, count: int) -> bytes:
    """Read a file of at most ``count`` bytes, or one byte more of a larger file.

    Raises:
        DataError: it is not an ordinary file, or cannot be read.
    """
    try:
        with open_ordinary(file, name) as opened:
            data: bytes | None = opened.read(count + 1)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", name) from None
    if data is None:
        raise DataError("is not a regular file", name)
    return data


def read_bounded(file: Path, name: str, megabytes: int, advice: str = "make several files of it") -> str:
    """Read a text in UTF-8; ``name`` is the file's name in errors, ``advice`` what to do if it is too large.

    Windows line ends, which a checkout may have, become line feeds.

    Raises:
        DataError: there is no such file, it is too large or not plain UTF-8, or it might never end, as a device does.

    >>> read_bounded(Path("."), "here", 1)
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: here: is not a regular file
    """
    data = read_at_most(file, name, megabytes * _MEGABYTE)
    if len(data) > megabytes * _MEGABYTE:
        raise DataError(f"is larger than {megabytes} MB; {advice}", name)
    if data.startswith(codecs.BOM_UTF8):
        raise DataError("begins with a byte-order mark; save it as UTF-8 without one", name, 1)
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise DataError(f"is not UTF-8 at byte {error.start}; save it as UTF-8", name, line) from None


def refuse_links(folder: Path) -> None:
    """Refuse an output folder in which somebody put a link, because output would then go elsewhere.

    Raises:
        DataError: there is a link; the error names the first.

    >>> refuse_links(Path("not there yet"))
    """
    for place, folders, files in os.walk(folder):
        for name in sorted((*folders, *files)):
            if (found := Path(place, name)).is_symlink():
                raise DataError("is a link; remove it, or give another folder", str(found))


def resolve_output(file: Path) -> Path:
    """Return the ordinary file to which output for a path goes: the end of its symbolic links, which need not exist.

    Raises:
        DataError: a folder, a device, a pipe or a socket is there, or links without end; none of them is written to.

    >>> resolve_output(Path("."))
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: .: cannot be written: Is a directory
    """
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", str(file)) from None
    if stat.S_ISREG(mode):
        return Path(os.path.realpath(file))
    what = os.strerror(errno.EISDIR) if stat.S_ISDIR(mode) else "it is not a regular file"
    raise DataError(f"cannot be written: {what}", str(file))


def write_whole(file: Path, content: str | bytes) -> None:
    """Write a file, and replace an existing one; a text is written in UTF-8 with its line ends as they are.

    A lone surrogate, which UTF-8 does not have, is written as an escape. If the path is a symbolic link, the file to
    which it points is written.

    Raises:
        DataError: it cannot be written; then whatever was there is still there.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "a.txt"), "bug")
    ...     Path(folder, "a.txt").read_text()
    'bug'
    """
    with open_whole(file) as stream:
        stream.write(content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content)


@contextmanager
def open_whole(file: Path) -> Iterator[BinaryIO]:
    """Open a file that is written in parts, and that appears or replaces an existing one when all of them are written.

    Raises:
        DataError: as :func:`write_whole`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_whole(Path(folder, "a.txt")) as stream:
    ...         _ = stream.write(b"bug")
    ...         before = Path(folder, "a.txt").exists()
    ...     before, Path(folder, "a.txt").exists()
    (False, True)
    """
    try:
        with _replacing(resolve_output(file)) as stream:
            yield stream
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", str(file)) from None


@contextmanager
def _replacing(file: Path) -> Iterator[BinaryIO]:
    new = file.with_name(f".tokspec-{os.urandom(8).hex()}")  # its length does not depend on the file's name
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


# The suite's own


def _folder(name: str) -> Path:
    here = Path(__file__).resolve().parent.parent
    installed = here / name
    return installed if installed.is_dir() else here.parent.parent / name


def specification_folder() -> Path:
    """Return the folder of the chapters.

    >>> (specification_folder() / "00-terms.md").is_file()
    True
    """
    return _folder("spec")


def fixtures_folder() -> Path:
    """Return the folder of the fixtures.

    >>> (fixtures_folder() / "schema.json").is_file()
    True
    """
    return _folder("fixtures")


def adapters_folder() -> Path:
    """Return the folder of the adapters in other languages, with the list of all; a wheel has only their sources.

    >>> (adapters_folder() / "adapters.yaml").is_file()
    True
    """
    here = Path(__file__).resolve().parent.parent
    installed = here / "programs"
    return installed if installed.is_dir() else here.parent / "adapters"
