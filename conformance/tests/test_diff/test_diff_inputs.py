"""Texts out of files of every kind, and what is no text, by its place."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokspec.base.errors import DataError
from tokspec.compare import inputs
from tokspec.compare.inputs import BadText, Part, Reading, Text, find_parts, kind_of, read_part


def whole_file(file: Path, kind: str | None = None) -> Part:
    """Return a file as one part."""
    (part,) = find_parts(str(file), kind, 1 << 40)
    return part


def told(file: Path, kind: str | None = None, **options: Any) -> list[str]:
    """Return each text of a file, or what is said of it with its number and place."""
    found = read_part(whole_file(file, kind), Reading(**options))
    return [each.text if isinstance(each, Text) else f"{each.number}: {each.why} (at {each.at})" for each in found]


def test_lines_end_with_a_line_feed_alone_or_after_a_carriage_return(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes("bug\r\n\n a\u2028b\x0b\x85c\rd\nlast".encode())
    assert told(file) == ["bug", " a\u2028b\x0b\x85c\rd", "last"]
    assert told(file, "whole") == ["bug\r\n\n a\u2028b\x0b\x85c\rd\nlast"]


@given(st.text("ab\r\n🙂", max_size=40), st.integers(1, 60), st.integers(1, 20))
def test_lines_are_the_same_however_the_file_is_read(text: str, part_bytes: int, block: int) -> None:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    starts = [len("".join(f"{line}\n" for line in text.split("\n")[:number]).encode()) for number in range(len(lines))]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "_BLOCK", block)
        file = Path(folder, "a.txt")
        file.write_bytes(text.encode())
        found = [
            each for part in find_parts(str(file), None, part_bytes) for each in read_part(part, Reading(largest=9))
        ]
    assert [(each.at, each.text if isinstance(each, Text) else each.why) for each in found] == [
        (start, line if len(line.encode()) <= 9 else "is longer than 9 bytes")
        for start, line in zip(starts, lines, strict=True)
        if line
    ]


def test_texts_have_the_line_and_the_byte_with_which_they_begin(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("é\n\nb\n")
    assert list(read_part(whole_file(file), Reading())) == [Text("é", 1, 0), Text("b", 3, 4)]


def test_what_is_no_text_is_said_and_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"bug\n\xff\n" + b"x" * 20 + b"\n" + b"y" * 70000 + b"\npug\n")
    assert told(file, largest=10) == [
        "bug",
        "2: is not UTF-8 at its byte 0 (at 4)",
        "3: is longer than 10 bytes (at 6)",
        "4: is longer than 10 bytes (at 27)",
        "pug",
    ]


def test_json_lines_give_a_field_or_the_string_that_is_there_instead(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    lines: list[Any] = [{"text": "bug"}, "pug", {"text": {"en": "hug"}}, {"text.en": "mug"}, {"id": 1}, [1], "\ud800"]
    file.write_text("\n\n".join(map(json.dumps, lines)) + '\n{"text": "b\n')
    assert told(file) == [
        "bug",
        "pug",
        "5: has no string in the field text (at 24)",
        "7: has no field text; it has text.en (at 49)",
        "9: has no field text; it has id (at 69)",
        "11: is neither an object nor a string (at 80)",
        "13: holds half of a surrogate pair, which is not a character (at 85)",
        "14: is not JSON (at 94)",
    ]
    assert [text for text in told(file, field="text.en") if not text[0].isdigit()] == ["pug", "hug", "mug"]


@pytest.mark.parametrize(
    ("ending", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zst", None)]
)
def test_compressed_files_are_read_and_say_where_they_are_cut(
    tmp_path: Path, ending: str, compress: Callable[[bytes], bytes] | None
) -> None:
    if compress is None:
        compress = pytest.importorskip("backports.zstd").compress
    data = "".join(f"text {number} {number**7}\n" for number in range(5_000)).encode()
    file = tmp_path / f"a.txt.{ending}"
    file.write_bytes(compress(data))
    assert "".join(f"{text}\n" for text in told(file)).encode() == data
    file.write_bytes(compress(data)[:-9])
    *texts, last = list(read_part(whole_file(file), Reading()))
    assert [text.text for text in texts if isinstance(text, Text)] == data.decode().splitlines()[: len(texts)]
    assert isinstance(last, BadText)
    assert last.why == "is cut off: its compressed data has no end"
    file.write_bytes(b"nothing of the kind")
    (only,) = list(read_part(whole_file(file), Reading()))
    assert isinstance(only, BadText)
    assert only.why.startswith("is not compressed as its name says, or was changed: ")


def test_parquet_gives_a_column_and_says_which_rows_have_nothing(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "a.parquet"
    texts = ["bug", None, "pug", *map(str, range(1000))]
    parquet.write_table(arrow.table({"text": texts, "id": range(len(texts))}), file, row_group_size=300)
    assert told(file) == [
        "bug",
        "2: has nothing in the column text (at 1)",
        "pug",
        *map(str, range(1000)),
    ]
    with pytest.raises(DataError, match=r"a\.parquet: has no column body; it has text, id$"):
        told(file, field="body")
    with pytest.raises(DataError, match=r"a\.parquet: has int64 in the column id, not strings$"):
        told(file, field="id")
    file.write_bytes(file.read_bytes()[:-5])
    (only,) = read_part(whole_file(file), Reading())
    assert isinstance(only, BadText)
    assert only.why.startswith("is not Parquet, or is cut off: ")
    file.write_bytes(b"PAR1" + b"x" * 50 + b"\x20\0\0\0PAR1")  # a footer that cannot be
    (only,) = (text for part in find_parts(str(file), None, 1 << 20) for text in read_part(part, Reading()))
    assert isinstance(only, BadText)
    assert only.why.startswith("is not Parquet, or is cut off: ")
    file.write_bytes(b"no table")
    with pytest.raises(
        DataError, match=r"a\.parquet: is not Parquet: it does not begin with PAR1; say what it is with"
    ):
        list(find_parts(str(file), None, 1 << 20))


def test_the_kind_is_told_by_the_name_and_a_missing_file_is_an_error(tmp_path: Path) -> None:
    names = ["a.txt", "a.JSONL", "a.ndjson.zst", "a.pq", "a.gz", "a"]
    assert [kind_of(name) for name in names] == ["lines", "jsonl", "jsonl", "parquet", "lines", "lines"]
    with pytest.raises(DataError, match=r"/a: cannot be read: No such file or directory$"):
        told(tmp_path / "a")


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.jsonl", "a.parquet"])
def test_a_pipe_is_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError) as caught:
        told(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: is not a regular file"
