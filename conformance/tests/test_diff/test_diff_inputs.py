"""Texts out of files of every kind, and what is no text, by its place."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokspec.base.errors import DataError
from tokspec.records import BadRecord, Record, kind_of, read_records, records_of


def told(file: Path, *arguments: Any, **options: Any) -> list[str]:
    """Return each record of a file as its text, or as what is said of it."""
    found = read_records(file, *arguments, name=file.name, **options)
    return [each.text if isinstance(each, Record) else str(each) for each in found]


def test_lines_end_with_a_line_feed_alone_or_after_a_carriage_return(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes("bug\r\n\n a\u2028b\x0b\x85c\rd\nlast".encode())
    assert told(file) == ["bug", "", " a\u2028b\x0b\x85c\rd", "last"]
    assert told(file, "whole") == ["bug\r\n\n a\u2028b\x0b\x85c\rd\nlast"]


def test_records_have_the_line_and_the_byte_with_which_they_begin() -> None:
    assert list(records_of(io.BytesIO("é\nb\n".encode()), "a.txt")) == [
        Record("é", "a.txt", 1, 0),
        Record("b", "a.txt", 2, 3),
    ]


def test_what_is_no_text_is_said_and_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"bug\n\xff\n" + b"x" * 20 + b"\n" + b"y" * 70000 + b"\npug\n")
    assert told(file, largest=10) == [
        "bug",
        "a.txt:2: is not UTF-8 at its byte 0 (at byte 4)",
        "a.txt:3: is longer than 10 bytes (at byte 6)",
        "a.txt:4: is longer than 10 bytes (at byte 27)",
        "pug",
    ]


def test_json_lines_give_a_field_or_the_string_that_is_there_instead(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    lines: list[Any] = [{"text": "bug"}, "pug", {"text": {"en": "hug"}}, {"text.en": "mug"}, {"id": 1}, [1], "\ud800"]
    file.write_text("\n\n".join(map(json.dumps, lines)) + '\n{"text": "b\n')
    assert told(file) == [
        "bug",
        "pug",
        "a.jsonl:5: has in the field text no string (at byte 24)",
        "a.jsonl:7: has no field text; it has text.en (at byte 49)",
        "a.jsonl:9: has no field text; it has id (at byte 69)",
        "a.jsonl:11: is neither an object nor a string (at byte 80)",
        "a.jsonl:13: holds half of a surrogate pair, which is no character (at byte 85)",
        "a.jsonl:14: is no JSON (at byte 94)",
    ]
    assert [text for text in told(file, field="text.en") if not text.startswith("a.jsonl")] == ["pug", "hug", "mug"]


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
    *texts, last = list(read_records(file, name=file.name))
    assert [text.text for text in texts if isinstance(text, Record)] == data.decode().splitlines()[: len(texts)]
    assert isinstance(last, BadRecord)
    assert (last.why, last.ends) == ("is cut off: its compressed data has no end", True)
    file.write_bytes(b"nothing of the kind")
    (only,) = list(read_records(file, name=file.name))
    assert isinstance(only, BadRecord)
    assert only.why.startswith("is not compressed as its name says, or was changed: ")


def test_parquet_gives_a_column_and_says_which_rows_have_nothing(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "a.parquet"
    texts = ["bug", None, "pug", *map(str, range(1000))]
    parquet.write_table(arrow.table({"text": texts, "id": range(len(texts))}), file, row_group_size=300)
    assert told(file) == [
        "bug",
        "a.parquet:2: has in the column text nothing (at row 1)",
        "pug",
        *map(str, range(1000)),
    ]
    with pytest.raises(DataError, match=r"^a\.parquet: has no column body; it has text, id$"):
        told(file, field="body")
    with pytest.raises(DataError, match=r"^a\.parquet: has in the column id no strings but int64$"):
        told(file, field="id")
    file.write_bytes(file.read_bytes()[:-5])
    (only,) = read_records(file, name=file.name)
    assert isinstance(only, BadRecord)
    assert only.why.startswith("is no Parquet, or is cut off: ")


def test_the_kind_is_told_by_the_name_and_a_missing_file_is_an_error(tmp_path: Path) -> None:
    names = ["a.txt", "a.JSONL", "a.ndjson.zst", "a.pq", "a.gz", "a"]
    assert [kind_of(name) for name in names] == ["lines", "jsonl", "jsonl", "parquet", "lines", "lines"]
    with pytest.raises(DataError, match=r"^a: cannot be read: No such file or directory$"):
        told(tmp_path / "a")
