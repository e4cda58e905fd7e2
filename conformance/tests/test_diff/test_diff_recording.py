"""A recording as a file: the same bytes for the same answers, and one error with file and line for each wrong edit."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import os
import re
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapters.registry import open_session
from tokspec.base.errors import DataError
from tokspec.compare.answers import Input, Record
from tokspec.compare.recording import line_of, read_recording
from tokspec.formats.user_model import read_user_model
from tokspec.judge.runner import run
from tokspec.protocol.messages import Answer, Fault, Refused
from tokspec.suite.packs import cases_of
from tokspec.suite.recordings import LONGEST_LINE, Header, is_recording, write_line, write_recording

HASH = "0" * 64
HEADER = Header(
    suite="0.3.0",
    implementation={"name": "mytok", "version": "1", "language": "C"},
    choices={"offset_unit": "byte"},
    model={"file": "tokenizer.json", "format": "tokenizer.json", "sha256": HASH},
    special_tokens="not added",
    operations=("normalize", "encode", "decode"),
    inputs={"made": 2000, "files": ["a.txt"]},
)
RECORDS = [
    Record(
        Input("texts/words", "bug", "Bug é"),
        {
            "normalize": Answer({"text": "bug"}),
            "encode": Answer({"tokens": ["b", "ug"], "ids": [0, 4]}),
            "decode": Answer({"text": "bug"}),
        },
        2,
    ),
    Record(
        Input("texts/emoji", "hidden", 'a\u200d\ufeff\x85\u2028\U0001f600\U000e0041\x7f"\\/'),
        {"encode": Refused("unknown_symbol", "")},
        3,
    ),
    Record(
        Input("inputs/a.txt", "3", ""),
        {
            "encode": Answer({"tokens": ["\ud800"], "ids": [None], "spans": [[0, 0]]}),
            "normalize": Refused("unsupported", ""),
            "decode": Fault("crash", "is recorded"),
        },
        4,
    ),
    # what is decoded is the text, the token's own text, or the text without special tokens
    Record(Input("texts/words", "pug", "pug"), {"encode": Answer({"ids": [5]}), "decode": Answer({"text": "pug"})}, 5),
    Record(
        Input("vocabulary/alone", "7", "ug"), {"encode": Answer({"ids": [2, 4]}), "decode": Answer({"text": "Ġug"})}, 6
    ),
    Record(Input("vocabulary/alone", "4", "ug"), {"encode": Answer({"ids": [4]}), "decode": Answer({"text": "ug"})}, 7),
    Record(Input("vocabulary/alone", "8", "rug"), {"encode": Answer({"ids": [8]})}, 8),
    Record(
        Input("skipped/words", "bug", "<s>bug"),
        {"encode": Answer({"ids": [1, 3]}), "decode": Answer({"text": "bug"})},
        9,
    ),
    Record(
        Input("texts/words", "hug", "hug"),
        {"encode": Answer({"tokens": ["h", "ug"]}), "decode": Answer({"text": "hug"})},
        10,
    ),
]

#: A recording of the form before this one, as tokspec 0.2 wrote it.
OLD = Path(__file__).parents[1] / "data" / "recordings" / "form-1.ndjson"


LINES = [line_of(record, {}) for record in RECORDS]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    file = tmp_path / "a.ndjson"
    write_recording(file, HEADER, LINES)
    return file


def test_what_is_written_is_read_again(recording: Path) -> None:
    read = read_recording(recording)
    assert (read.header, read.count) == (HEADER, 9)
    assert list(read.records()) == RECORDS


def test_the_lines_are_these(recording: Path) -> None:
    header, *records, footer = recording.read_text("utf-8").splitlines()
    assert header.startswith('{"tokspec_recording":2,"suite":"0.3.0","implementation":')
    assert records == [
        '{"from":"texts/words:bug","text":"Bug é","normalized":"bug","tokens":["b","ug"],"ids":[0,4],"decoded":"bug"}',
        '{"from":"texts/emoji:hidden","text":"a\\u200d\\ufeff\\u0085\\u2028😀\\udb40\\udc41\\u007f\\"\\\\/",'
        '"refused":{"encode":"unknown_symbol"}}',
        '{"from":"inputs/a.txt:3","text":"","tokens":[{"hex":"eda080"}],"ids":[null],"spans":[[0,0]],"decoded":null,'
        '"refused":{"normalize":"unsupported"},"faults":{"decode":"crash"}}',
        '{"from":"texts/words:pug","text":"pug","ids":[5]}',
        '{"from":"vocabulary/alone:7","text":"ug","ids":[2,4],"decoded":null,"decoded_token":"Ġug"}',
        '{"from":"vocabulary/alone:4","text":"ug","ids":[4]}',
        '{"from":"vocabulary/alone:8","text":"rug","ids":[8],"decoded":null}',
        '{"from":"skipped/words:bug","text":"<s>bug","ids":[1,3],"decoded":null,"decoded_without_special_tokens":"bug"}',
        '{"from":"texts/words:hug","text":"hug","tokens":["h","ug"],"decoded":"hug"}',
    ]
    before = recording.read_bytes().removesuffix(f"{footer}\n".encode())
    assert json.loads(footer) == {"records": 9, "sha256": hashlib.sha256(before).hexdigest()}


def test_a_recording_of_the_older_form_is_read() -> None:
    read = read_recording(OLD)
    assert (read.header.who, read.header.special_tokens, read.count) == ("tokenizers 0.23.3", "not added", 5)
    *_, last = read.records()
    assert last.input == Input("inputs/texts.txt", "2", "low lower newest")
    assert last.replies == {
        "pre_tokenize": Answer({"pieces": [["low", 0, 3], ["lower", 4, 9], ["newest", 10, 16]]}),
        "encode": Answer({"tokens": ["[UNK]"] * 3, "ids": [1, 1, 1], "spans": [[0, 3], [4, 9], [10, 16]]}),
        "decode": Answer({"text": "[UNK] [UNK] [UNK]"}),
    }
    model = read_user_model(OLD.with_name("tokenizer.json"))
    cases = cases_of(read, model).cases
    assert [*cases][-2:] == ["form-1-0006-encode", "form-1-0006-decode"]
    with open_session("tokenizers", None) as session:
        assert [result.verdict.value for result in run(session, [*cases.values()]).results] == ["pass"] * 10


def test_what_an_older_recording_does_not_tell_is_not_asked(tmp_path: Path, recording: Path) -> None:
    header = (
        recording.read_bytes().splitlines(keepends=True)[0].replace(b'"tokspec_recording":2', b'"tokspec_recording":1')
    )
    lines = header + b'{"from":"texts/words:bug","text":"bug","ids":[0]}\n'
    footer = write_line({"records": 1, "sha256": hashlib.sha256(lines).hexdigest()})
    recording.write_bytes(lines + footer)
    (record,) = read_recording(recording).records()
    assert record.replies == {"encode": Answer({"ids": [0]})}


def test_the_same_gives_the_same_bytes_also_compressed(tmp_path: Path, recording: Path) -> None:
    first, second = tmp_path / "one.ndjson.gz", tmp_path / "two.ndjson.gz"
    for file in (first, second):
        write_recording(file, HEADER, LINES)
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()) == recording.read_bytes()


def test_nothing_is_left_of_a_recording_that_was_not_finished(tmp_path: Path, recording: Path) -> None:
    before = recording.read_bytes()

    def lines() -> Iterator[dict[str, Any]]:
        yield LINES[0]
        raise DataError("answers no text")

    with pytest.raises(DataError, match="answers no text"):
        write_recording(recording, HEADER, lines())
    assert (recording.read_bytes(), [file.name for file in tmp_path.iterdir()]) == (before, ["a.ndjson"])
    with pytest.raises(DataError, match=r"none/a\.ndjson: cannot be written: No such file or directory$"):
        write_recording(tmp_path / "none" / "a.ndjson", HEADER, LINES)
    long = Record(Input("inputs/a.txt", "1", "a"), {"normalize": Answer({"text": "a" * LONGEST_LINE})})
    with pytest.raises(DataError, match=r"^inputs/a\.txt:1: is answered with more than 16 MB; leave it out$"):
        write_recording(recording, HEADER, [line_of(long, {})])


@pytest.mark.parametrize(
    ("ending", "compress"),
    [("gz", lambda data: gzip.compress(data, 1)), ("bz2", bz2.compress), ("xz", lzma.compress), ("zst", None)],
)
def test_it_may_be_packed_otherwise_renamed_and_moved(
    recording: Path, ending: str, compress: Callable[[bytes], bytes] | None
) -> None:
    if compress is None:
        compress = pytest.importorskip("backports.zstd").compress
    moved = recording.parent / "else" / f"other.ndjson.{ending}"
    moved.parent.mkdir()
    moved.write_bytes(compress(recording.read_bytes()))
    assert is_recording(str(moved))
    assert read_recording(moved).header == HEADER
    moved.write_bytes(compress(recording.read_bytes())[:-6])
    with pytest.raises(DataError, match=r"other\.ndjson\.\w+:\d+: is cut off: its compressed data has no end; get a"):
        read_recording(moved)


def test_line_ends_of_another_system_are_no_change(recording: Path) -> None:
    recording.write_bytes(recording.read_bytes().replace(b"\n", b"\r\n"))
    assert read_recording(recording).header == HEADER


def test_wherever_it_is_cut_off_it_is_refused(recording: Path) -> None:
    data = recording.read_bytes()
    for length in [*range(0, len(data) - 1, 7), len(data) - 1]:
        recording.write_bytes(data[:length])
        with pytest.raises(DataError) as caught:
            read_recording(recording, "a.ndjson")
        assert re.match(r"a\.ndjson(:\d+)?: ", str(caught.value)), length
        assert len(str(caught.value).splitlines()) == 1


@pytest.mark.slow
def test_a_line_without_end_is_refused_before_it_is_decompressed(tmp_path: Path) -> None:
    """A file of 3 MB holds a line of 3 GB."""
    file = tmp_path / "a.ndjson.gz"
    compress = zlib.compressobj(1, wbits=31)
    with file.open("wb") as stream:
        stream.write(compress.compress(b'{"tokspec_recording":2,"suite":"'))
        zeros = bytes(1024**2)
        for _ in range(3 * 1024):
            stream.write(compress.compress(zeros))
        stream.write(compress.flush())
    tracemalloc.start()
    begin = time.process_time()
    with pytest.raises(DataError) as caught:
        read_recording(file, "a.ndjson.gz")
    seconds, (_, peak) = time.process_time() - begin, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert str(caught.value) == "a.ndjson.gz:1: is longer than 16 MB, which no line of a recording may be"
    assert peak < 5 * LONGEST_LINE
    assert seconds < 2


def edited(old: str, new: str) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(old.encode(), new.encode(), 1)


AGAIN = "get a complete copy, or record it again"
CHANGED = f"p: was changed after it was written: its digest is another; {AGAIN}"
EDITS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "nothing": (lambda data: b"", f"p: is empty; {AGAIN}"),
    "not a recording": (
        lambda data: b"a: 1\n" + data,
        "p:1: is not a recording: its first line is not a header; tokspec record writes one",
    ),
    "of another version": (
        edited('"tokspec_recording":2', '"tokspec_recording":7'),
        "p:1: is of version 7 of the format, and this suite reads version 2; record it again",
    ),
    "a header that is no JSON": (
        edited('{"tokspec_recording":2,', '{"tokspec_recording":2'),
        f"p:1: a line is not JSON (Expecting ',' delimiter at character 23); was it edited? {AGAIN}",
    ),
    "a key that is not known": (
        edited('"suite"', '"suit"'),
        f"p:1: lacks the key suite; was it edited? {AGAIN}",
    ),
    "a header that was changed": (edited('"version":"1"', '"version":"2"'), CHANGED),
    "a text that was changed": (edited('"text":"Bug é"', '"text":"bug é"'), CHANGED),
    "a space that was added": (edited('"text":"Bug é",', '"text": "Bug é",'), CHANGED),
    "records in another order": (
        lambda data: re.sub(rb'(\{"from":"texts/words.*\n)(\{"from":"texts/emoji.*\n)', rb"\2\1", data),
        CHANGED,
    ),
    "an id that is a word": (
        edited("[0,4]", '[0,"4"]'),
        f'p:2: ids.1: "4" is not of types "null", "integer"; was it edited? {AGAIN}',
    ),
    "a line that is wrapped": (
        edited('"Bug é"', '"Bu\ng é"'),
        f"p:12: says that there are 9 records, but there are 10; {AGAIN}",
    ),
    "a comma that is gone": (
        edited("[0,4]", "[0 4]"),
        f"p:2: a line is not JSON (Expecting ',' delimiter at character 90); was it edited? {AGAIN}",
    ),
    "a record that is gone": (
        lambda data: re.sub(rb'\{"from":"texts/emoji.*\n', b"", data),
        f"p:10: says that there are 9 records, but there are 8; {AGAIN}",
    ),
    "a record that is there twice": (
        lambda data: re.sub(rb'(\{"from":"texts/emoji.*\n)', rb"\1\1", data),
        f"p:12: says that there are 9 records, but there are 10; {AGAIN}",
    ),
    "a record behind the end": (
        lambda data: data + b'{"from":"texts/words:bug","text":"bug"}\n',
        f"p:12: ends without its footer: it was cut off; {AGAIN}",
    ),
    "two recordings in one": (
        lambda data: data + data,
        f"p:22: says that there are 9 records, but there are 20; {AGAIN}",
    ),
    "an empty line": (
        lambda data: data + b"\n",
        f"p:12: ends without its footer: it was cut off; {AGAIN}",
    ),
    "bytes that are no text": (
        lambda data: data.replace(b'"bug"', b'"b\xff"'),
        f"p:2: a line is not UTF-8 at byte 57; was it edited? {AGAIN}",
    ),
    "within a record": (
        lambda data: data[: data.index(b'"ids"')],
        f"p:2: ends within a line: it was cut off; {AGAIN}",
    ),
    "without its last line": (
        lambda data: data[: data.index(b'{"records"')],
        f"p:10: ends without its footer: it was cut off; {AGAIN}",
    ),
    "a nesting without end": (
        lambda data: data.replace(b'"Bug \xc3\xa9"', b"[" * 100_000),
        f"p:2: a line is nested more than 64 levels deep; was it edited? {AGAIN}",
    ),
    "compression that the name does not tell": (
        gzip.compress,
        "p: is compressed, but its name does not say so; end the name in .gz",
    ),
    "other compression that the name does not tell": (
        lzma.compress,
        "p: is compressed, but its name does not say so; end the name in .xz",
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_each_wrong_edit_is_one_line_with_file_and_line(recording: Path, edit: str) -> None:
    change, message = EDITS[edit]
    recording.write_bytes(change(recording.read_bytes()))
    with pytest.raises(DataError) as caught:
        read_recording(recording, "p")
    assert str(caught.value) == message


def test_a_digest_that_was_made_for_a_wrong_record_does_not_make_it_right(recording: Path) -> None:
    lines = recording.read_bytes().splitlines(keepends=True)
    lines[1] = b'{"from":"texts/words:bug","text":3}\n'
    digest = hashlib.sha256(b"".join(lines[:-1])).hexdigest()
    recording.write_bytes(b"".join(lines[:-1]) + f'{{"records":9,"sha256":"{digest}"}}\n'.encode())
    read = read_recording(recording, "p")
    with pytest.raises(DataError) as caught:
        list(read.records())
    assert str(caught.value) == f'p:2: text: 3 is not of types "string", "object"; was it edited? {AGAIN}'


@pytest.mark.parametrize("name", ["/etc/passwd", "../tokenizer.json", "a/b", "a\\b", "..", ".", ""])
def test_the_model_of_a_recording_is_named_without_a_folder(recording: Path, name: str) -> None:
    """A recording from a stranger must not make its reader open files of the reader's choice of folders."""
    lines = recording.read_bytes().splitlines(keepends=True)
    header = json.loads(lines[0])
    header["model"]["file"] = name
    recording.write_bytes(b"".join([json.dumps(header).encode() + b"\n", *lines[1:]]))
    with pytest.raises(DataError) as caught:
        read_recording(recording, "p")
    assert (caught.value.line, caught.value.key) == (1, "model.file")


def test_an_integer_without_end(recording: Path) -> None:
    lines = recording.read_bytes().splitlines(keepends=True)
    recording.write_bytes(
        lines[0].replace(b'"tokspec_recording":', b'"tokspec_recording":' + b"9" * 5000) + b"".join(lines[1:])
    )
    with pytest.raises(DataError) as caught:
        read_recording(recording, "p")
    assert str(caught.value) == f"p:1: a line holds a number of 5001 digits; was it edited? {AGAIN}"
    recording.write_bytes(lines[0] + b"".join(lines[1:-1]) + b'{"records":' + b"9" * 5000 + b"}\n")
    with pytest.raises(DataError) as caught:
        read_recording(recording, "p")
    assert str(caught.value) == f"p:{len(lines)}: a line holds a number of 5000 digits; was it edited? {AGAIN}"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.ndjson")
    with pytest.raises(DataError) as caught:
        read_recording(tmp_path / "a.ndjson", "a.ndjson")
    assert str(caught.value) == "a.ndjson: is not a regular file"
