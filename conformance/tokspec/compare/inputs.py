"""Texts from files of any size: lines, whole files, JSON Lines, Parquet, compressed or not, on a disk or elsewhere.

A file is read in parts, so that several workers can share it, and is never held in memory whole. An entry that is not a
text, such as a line that is not UTF-8 or the rest of a truncated file, becomes a :class:`BadText` with its place, and
reading goes on with the next entry. Empty texts are left out.
"""

from __future__ import annotations

import json
import os
import stat
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from glob import glob, has_magic
from hashlib import blake2b
from importlib import import_module
from itertools import accumulate, chain, compress, count
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple, TypeAlias, cast

from tokspec.base.compression import decompress, describe_broken, without_compression
from tokspec.base.errors import DataError
from tokspec.base.files import paths_below

#: The field of JSON Lines, or the column of Parquet, that holds the text, unless another is named.
FIELD = "text"

KINDS = ("lines", "whole", "jsonl", "parquet")
_ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"}

#: Bytes of the longest text, which is in memory as a whole.
LARGEST = 16 * 1024**2

#: Bytes of lines, and rows of Parquet, that are read at once.
_BLOCK = 256 * 1024
_ROWS = 256


class Text(NamedTuple):
    """A text. ``number`` counts its line or row from 1 in its part; ``at`` is the byte or row where it begins.

    Bytes are counted in the decompressed file.
    """

    text: str
    number: int
    at: int


class BadText(NamedTuple):
    """An entry that should be a text but is not."""

    why: str
    number: int
    at: int


class Block(NamedTuple):
    """Texts that were read at once, with their numbers and places; an entry that is no text is a :class:`BadText`."""

    texts: list[str | BadText]
    numbers: list[int]
    at: list[int]

    @classmethod
    def of(cls, found: Iterable[Text | BadText | None]) -> Block:
        """Build a block from entries that were read one by one."""
        each = [row for row in found if row]
        texts = [row.text if isinstance(row, Text) else row for row in each]
        return cls(texts, [row.number for row in each], [row.at for row in each])

    def rows(self) -> Iterator[Text | BadText]:
        """Return the texts one by one."""
        return (text if isinstance(text, BadText) else Text(text, *place) for text, *place in zip(*self, strict=True))


@dataclass(frozen=True)
class Reading:
    """How files are read: their kind (by their names unless given), where the text is, and the share to read."""

    kind: str | None = None
    field: str = FIELD
    sample: float = 1.0
    largest: int = LARGEST


@dataclass(frozen=True)
class Part:
    """A part of a file: the lines that begin between byte ``start`` and byte ``end``, or row groups of a table.

    ``end`` is None if the part is the whole file. ``size`` and ``tag`` change when the file does.
    """

    path: str
    size: int
    tag: str
    kind: str
    start: int = 0
    end: int | None = None

    @property
    def bytes(self) -> int:
        """The approximate number of bytes to read."""
        return self.size if self.end is None or self.kind == "parquet" else self.end - self.start


def kind_of(name: str) -> str:
    """Return the kind of a file by its name; ``lines`` if the name doesn't say.

    >>> kind_of("texts.jsonl.gz"), kind_of("part-0.parquet"), kind_of("notes")
    ('jsonl', 'parquet', 'lines')
    """
    return _ENDINGS.get(PurePosixPath(without_compression(name)).suffix.lower(), "lines")


# Finding files, and splitting them into parts


def find_parts(name: str, kind: str | None, part_bytes: int) -> Iterator[Part]:
    """Find the files that a name stands for, and split those that can be split into parts.

    Args:
        name: a file, a folder with all that is below it, a pattern, or an address such as ``s3://bucket/part-*``.
        kind: the kind of every file; None derives it from each name.
        part_bytes: the approximate size of a part; a compressed file, or one that is a single text, is never split.

    Raises:
        DataError: there is no such file, or a package that it needs is not installed.
    """
    for path, size, tag in _find_remote(name) if "://" in name else map(_describe, _local_paths(name)):
        chosen = kind or kind_of(path)
        if chosen == "parquet":
            yield from _row_group_parts(path, size, tag, part_bytes)
            continue
        is_cut = chosen != "whole" and without_compression(path) == path
        count = max(1, round(size / part_bytes)) if is_cut else 1
        for number in range(count):
            start, end = size * number // count, size * (number + 1) // count
            yield Part(path, size, tag, chosen, start, None if count == 1 else end)


def files_of_texts(names: Iterable[str]) -> Iterator[Path]:
    """Return the files on this disk that names stand for."""
    return (Path(path) for name in names if "://" not in name for path in _local_paths(name))


def _local_paths(name: str) -> list[str]:
    path = Path(name)
    if path.is_dir():
        found = sorted(str(each) for each in paths_below(path, hidden=False) if not each.is_dir())
    elif has_magic(name) and not path.exists():
        found = sorted(each for each in glob(name, recursive=True) if Path(each).is_file())
    else:
        found = [name]
    if not found:
        raise DataError("there is no file of this name, and no folder of this name with files in it", name)
    return found


def _describe(path: str) -> tuple[str, int, str]:
    try:
        status = os.stat(path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
    if not stat.S_ISREG(status.st_mode):  # a pipe, or a device, might never end
        raise DataError("is not a regular file", path)
    return path, status.st_size, str(status.st_mtime_ns)


def _fsspec() -> Any:
    try:
        return import_module("fsspec")
    except ImportError:
        raise DataError("reading from an address needs fsspec; install it with: pip install fsspec") from None


def _find_remote(address: str) -> list[tuple[str, int, str]]:
    library = _fsspec()
    try:
        system, path = library.core.url_to_fs(address)
        paths = sorted(system.glob(path)) if has_magic(path) else [path]
        if len(paths) == 1 and system.isdir(paths[0]):
            paths = sorted(system.find(paths[0]))
        found = [_describe_remote(system.unstrip_protocol(each), system.info(each)) for each in paths]
    except (OSError, ValueError, ImportError) as error:
        raise DataError(f"cannot be read: {error}", address) from None
    if not found:
        raise DataError("there is no file of this name, and no folder of this name with files in it", address)
    return found


def _describe_remote(address: str, info: Mapping[str, Any]) -> tuple[str, int, str]:
    if info.get("size") is None:
        raise DataError("does not say how large it is, and cannot be cut into parts", address)
    tags = (info.get(key) for key in ("ETag", "etag", "checksum", "mtime", "LastModified"))
    return address, int(info["size"]), next((str(tag) for tag in tags if tag), "")


def _open(part: Part) -> BinaryIO:
    """Open the file of a part, if it is still the one that was found."""
    ((_, size, tag),) = _find_remote(part.path) if "://" in part.path else (_describe(part.path),)
    if (size, tag) != (part.size, part.tag):
        how = f"it had {part.size} bytes and has {size}" if size != part.size else "it was written again"
        raise DataError(f"has changed since it was found: {how}", part.path)
    if "://" in part.path:
        return cast(BinaryIO, _fsspec().open(part.path, "rb").open())
    return open(part.path, "rb")


# Reading a part


def read_part(part: Part, reading: Reading) -> Iterator[Text | BadText]:
    """Return the texts of a part in order, and a :class:`BadText` for each that is not one.

    A line belongs to the part in which it begins.

    Raises:
        DataError: the file has changed or cannot be read, has no such column, or needs a package.
    """
    return chain.from_iterable(block.rows() for block in read_blocks(part, reading))


def read_blocks(part: Part, reading: Reading) -> Iterator[Block]:
    """Return the texts that :func:`read_part` returns, in the blocks in which they are read.

    Raises:
        DataError: as :func:`read_part` does.
    """
    read = _rows if part.kind == "parquet" else _whole if part.kind == "whole" else _lines
    try:
        with closing(_open(part)) as stream:
            for block in read(stream, part, reading):
                if reading.sample < 1:
                    rows = block.rows()
                    block = Block.of(
                        each for each in rows if isinstance(each, BadText) or _is_taken(part, each.at, reading)
                    )
                yield block
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", part.path) from None


def _is_taken(part: Part, at: int, reading: Reading) -> bool:
    key = f"{part.path}\n{at}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(key, digest_size=8).digest()) < reading.sample * 2**64


def _lines(stream: BinaryIO, part: Part, reading: Reading) -> Iterator[Block]:
    """Return the lines of a part; they end in ``\\n`` or ``\\r\\n`` and nothing else."""
    opened = decompress(stream, part.path)
    # the JSON around a text, and its escapes, may make a line longer than the text
    longest = 8 * reading.largest + 65536
    make = _from_json(reading) if part.kind == "jsonl" else _decoded(reading)
    read_some = getattr(opened, "read1", opened.read)  # which also returns the bytes before a break
    number, offset, rest = 1, part.start, b""
    try:
        if part.start:
            opened.seek(part.start - 1)
            offset += _skip_line(opened) - 1
        while part.end is None or offset < part.end:
            read = read_some(max(_BLOCK, len(rest)))
            *lines, rest = (rest + read).split(b"\n")
            if not read and rest:
                lines, rest = [rest], b""
            offsets = list(accumulate(map((1).__add__, map(len, lines)), initial=offset))
            if part.end is not None and offsets[-1] > part.end:
                del lines[bisect_left(offsets, part.end) :]
            yield make(lines, number, offsets)
            number, offset = number + len(lines), offsets[len(lines)]
            if len(rest) >= longest and (part.end is None or offset < part.end):
                yield Block.of([BadText(_too_long(reading), number, offset)])
                number, offset, rest = number + 1, offset + len(rest) + _skip_line(opened), b""
            if not read:
                return
    except Exception as error:
        if not (why := describe_broken(error)):
            raise
        # the lines before the break are complete, but the one that contains it may not be
        yield Block.of([BadText(why, number, offset)])


def _skip_line(stream: BinaryIO) -> int:
    """Read to the end of the line, and return the number of bytes read."""
    skipped = 0
    while line := stream.readline(_BLOCK):
        skipped += len(line)
        if line.endswith(b"\n"):
            break
    return skipped


def _too_long(reading: Reading) -> str:
    return f"is longer than {reading.largest} bytes"


#: Makes a block from lines, the number of the first line and the offsets of all lines, without empty texts.
_Make: TypeAlias = Callable[[Sequence[bytes], int, Sequence[int]], Block]


def _decoded(reading: Reading) -> _Make:
    largest = reading.largest

    def make(line: bytes, number: int, at: int) -> Text | BadText | None:
        line = line.removesuffix(b"\r")
        if len(line) > largest:
            return BadText(_too_long(reading), number, at)
        try:
            return Text(line.decode(), number, at) if line else None
        except UnicodeDecodeError as error:
            return BadText(f"is not UTF-8 at its byte {error.start}", number, at)

    one_by_one = _each(make)

    def make_all(lines: Sequence[bytes], number: int, offsets: Sequence[int]) -> Block:
        joined = b"\n".join(lines)
        if b"\r" in joined:
            joined = b"\n".join([line.removesuffix(b"\r") for line in lines])
        try:
            if len(joined) <= largest:
                texts = joined.decode().split("\n")
                return Block._make(list(compress(column, texts)) for column in (texts, count(number), offsets))
        except UnicodeDecodeError:
            pass
        return one_by_one(lines, number, offsets)

    return make_all


def _each(make: Callable[[bytes, int, int], Text | BadText | None]) -> _Make:
    return lambda lines, number, offsets: Block.of(map(make, lines, count(number), offsets))


def _from_json(reading: Reading) -> _Make:
    """Return a function that extracts the text from a line of JSON: a field of the object, or the string itself."""

    def make(line: bytes, number: int, at: int) -> Text | BadText | None:
        if not line.strip():
            return None
        try:
            value = _field(json.loads(line.decode()), reading.field)
        except UnicodeDecodeError as error:
            return BadText(f"is not UTF-8 at its byte {error.start}", number, at)
        except (ValueError, RecursionError):
            return BadText("is not JSON", number, at)
        except KeyError as error:
            return BadText(str(error.args[0]), number, at)
        if isinstance(value, str):
            return _checked(value, number, at, reading)
        return BadText(f"has no string in the field {reading.field}", number, at)

    return _each(make)


def _field(value: Any, field: str) -> Any:
    """Return the value of a field; ``a.b`` is the field b of a if there is no field ``a.b``."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        raise KeyError("is neither an object nor a string")
    if field in value:
        return value[field]
    first, dot, rest = field.partition(".")
    if dot and isinstance(value.get(first), dict):
        return _field(value[first], rest)
    raise KeyError(f"has no field {field}; it has {', '.join(map(str, list(value)[:8])) or 'none'}")


def _checked(text: str, number: int, at: int, reading: Reading) -> Text | BadText | None:
    """Return a text unless it is empty, cannot be encoded in UTF-8 or is too long."""
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:
        return BadText("holds half of a surrogate pair, which is not a character", number, at)
    if size > reading.largest:
        return BadText(_too_long(reading), number, at)
    return Text(text, number, at) if text else None


def _whole(stream: BinaryIO, part: Part, reading: Reading) -> Iterator[Block]:
    try:
        data = decompress(stream, part.path).read(reading.largest + 1)
    except Exception as error:
        if not (why := describe_broken(error)):
            raise
        yield Block.of([BadText(why, 1, 0)])
        return
    try:
        if len(data) > reading.largest:
            yield Block.of([BadText(_too_long(reading), 1, 0)])
        elif data:
            yield Block.of([Text(data.decode(), 1, 0)])
    except UnicodeDecodeError as error:
        yield Block.of([BadText(f"is not UTF-8 at its byte {error.start}", 1, 0)])


# Parquet


@cache
def _arrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise DataError("Parquet needs a package; install it with: pip install pyarrow") from None


def _row_group_parts(path: str, size: int, tag: str, part_bytes: int) -> Iterator[Part]:
    """Join row groups into parts of about ``part_bytes``; a file that is cut off is one part.

    Raises:
        DataError: it is not Parquet at all.
    """
    arrow, parquet = _arrow()
    whole = Part(path, size, tag, "parquet")
    with closing(_open(whole)) as stream:
        try:
            table = parquet.ParquetFile(stream).metadata
        except (arrow.ArrowInvalid, OSError):
            stream.seek(0)
            if stream.read(4) not in (b"PAR1", b"PARE"):
                message = "is not Parquet: it does not begin with PAR1; say what it is with --as"
                raise DataError(message, path) from None
            yield whole
            return
        sizes = [table.row_group(group).total_byte_size for group in range(table.num_row_groups)]
    start = gathered = 0
    for group, group_bytes in enumerate(sizes, 1):
        gathered += group_bytes
        if gathered >= part_bytes and group < len(sizes):
            yield Part(path, size, tag, "parquet", start, group)
            start = group
            gathered = 0
    yield Part(path, size, tag, "parquet", start, len(sizes)) if start else whole


def _rows(stream: BinaryIO, part: Part, reading: Reading) -> Iterator[Block]:
    arrow, parquet = _arrow()
    try:
        file = parquet.ParquetFile(stream, pre_buffer=False, memory_map=False)
    except (arrow.ArrowInvalid, OSError) as error:
        yield Block.of([BadText(f"is not Parquet, or is cut off: {_first_line(error)}", 1, 0)])
        return
    _refuse_other_columns(arrow, file.schema_arrow, part.path, reading.field)
    groups = range(part.start, file.num_row_groups if part.end is None else part.end)
    number = 1 + sum(file.metadata.row_group(group).num_rows for group in range(part.start))
    nothing = f"has nothing in the column {reading.field}"
    try:
        for batch in file.iter_batches(_ROWS, row_groups=groups, columns=[reading.field], use_threads=False):
            texts = batch.column(0).cast(arrow.large_string()).to_pylist()
            yield Block.of(
                BadText(nothing, at, at - 1) if text is None else _checked(text, at, at - 1, reading)
                for at, text in enumerate(texts, number)
            )
            number += len(texts)
    except (arrow.ArrowInvalid, OSError) as error:
        yield Block.of([BadText(f"cannot be read further: {_first_line(error)}", number, number - 1)])


def _refuse_other_columns(arrow: Any, schema: Any, name: str, field: str) -> None:
    if field not in schema.names:
        raise DataError(f"has no column {field}; it has {', '.join(schema.names)}", name)
    kind = schema.field(field).type
    kind = kind.value_type if arrow.types.is_dictionary(kind) else kind
    if not (arrow.types.is_string(kind) or arrow.types.is_large_string(kind) or arrow.types.is_string_view(kind)):
        raise DataError(f"has {kind} in the column {field}, not strings", name)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
