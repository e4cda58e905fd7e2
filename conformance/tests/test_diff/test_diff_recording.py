"""A pack as a file: the same bytes for the same answers, YAML for whoever reads it, and one error for each wrong edit."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tokspec.base.errors import DataError
from tokspec.packs.header import Header
from tokspec.packs.notation import read_value, write_value
from tokspec.packs.reading import read_pack
from tokspec.packs.record import Input, Record
from tokspec.packs.writing import write_pack

HASH = "0" * 64
HEADER = Header(
    suite="0.1.0",
    fixtures=HASH,
    texts=HASH,
    implementation={"name": "mytok", "version": "1", "language": "C"},
    choices={"offset_unit": "byte"},
    model={"file": "tokenizer.json", "format": "tokenizer.json", "sha256": HASH},
    special_tokens="not added",
    operations=("normalize", "encode"),
    inputs={"made": 2000, "files": ["a.txt"]},
)
RECORDS = [
    Record(
        Input("texts/words", "bug", "Bug"),
        {"normalize": {"text": "bug"}, "encode": {"tokens": ["b", "ug"], "ids": [0, 4]}},
    ),
    Record(
        Input("texts/emoji", "hidden", 'a\u200d\ufeff\x85\u2028\U0001f600\U000e0041\x7f"\\/'),
        {},
        {"encode": "unknown_symbol"},
    ),
    Record(Input("inputs/a.txt", "3", ""), {"encode": {"tokens": ["\ud800"], "ids": [None], "spans": [[0, 0]]}}),
]


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    file = tmp_path / "pack.yaml"
    write_pack(file, HEADER, iter(RECORDS))
    return file


def test_what_is_written_is_read_again(pack: Path) -> None:
    read = read_pack(pack)
    assert (read.header, read.counts) == (HEADER, {"texts/words": 1, "texts/emoji": 1, "inputs/a.txt": 1})
    assert [record.input for record in read.records()] == [record.input for record in RECORDS]
    assert [(record.results, record.refused) for record in read.records()] == [
        (record.results, record.refused) for record in RECORDS
    ]
    assert [record.line for record in read.records()] == [12, 13, 14]


def test_the_lines_are_these(pack: Path) -> None:
    lines = pack.read_text("utf-8").splitlines()
    assert lines[:2] == ["tokspec_pack: 2", 'suite: "0.1.0"']
    assert lines[10:13] == [
        "records:",
        '- {"from": "texts/words:bug", "text": "Bug", "normalized": "bug", "tokens": ["b", "ug"], "ids": [0, 4], "crc": "aa8b29cf"}',
        '- {"from": "texts/emoji:hidden", "text": "a\\u200d\\ufeff\\u0085\\u2028😀\U000e0041\\u007f\\"\\\\/", '
        '"refused": {"encode": "unknown_symbol"}, "crc": "753d636b"}',
    ]
    for line in lines[11:14]:
        body, _, crc = line.rpartition(', "crc": ')
        assert crc == f'"{zlib.crc32(body.encode()):08x}"}}'
    assert lines[14:15] == ['counts: {"texts/words": 1, "texts/emoji": 1, "inputs/a.txt": 1}']


def test_other_programs_read_it_as_yaml(pack: Path) -> None:
    read = yaml.safe_load(pack.read_text("utf-8"))
    assert read["records"][1]["text"] == RECORDS[1].input.text
    assert read["implementation"] == {"name": "mytok", "version": "1", "language": "C"}
    assert list(read) == [*HEADER.values(), "records", "counts", "sha256"]


def test_the_same_gives_the_same_bytes_also_compressed(tmp_path: Path, pack: Path) -> None:
    first, second = tmp_path / "one.yaml.gz", tmp_path / "two.yaml.gz"
    for file in (first, second):
        write_pack(file, HEADER, iter(RECORDS))
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()) == pack.read_bytes()


def test_nothing_is_left_of_a_pack_that_was_not_finished(tmp_path: Path, pack: Path) -> None:
    before = pack.read_bytes()

    def records() -> Iterator[Record]:
        yield RECORDS[0]
        raise DataError("answers no text")

    with pytest.raises(DataError, match="answers no text"):
        write_pack(pack, HEADER, records())
    assert (pack.read_bytes(), [file.name for file in tmp_path.iterdir()]) == (before, ["pack.yaml"])
    with pytest.raises(DataError, match=r"none/pack\.yaml: cannot be written: No such file or directory$"):
        write_pack(tmp_path / "none" / "pack.yaml", HEADER, iter(RECORDS))


@pytest.mark.parametrize(
    ("ending", "compress"),
    [("gz", lambda data: gzip.compress(data, 1)), ("bz2", bz2.compress), ("xz", lzma.compress), ("zst", None)],
)
def test_it_may_be_packed_otherwise_renamed_and_moved(
    pack: Path, ending: str, compress: Callable[[bytes], bytes] | None
) -> None:
    if compress is None:
        compress = pytest.importorskip("backports.zstd").compress
    moved = pack.parent / "else" / f"other.{ending}"
    moved.parent.mkdir()
    moved.write_bytes(compress(pack.read_bytes()))
    assert read_pack(moved).header == HEADER
    moved.write_bytes(compress(pack.read_bytes())[:-6])
    with pytest.raises(
        DataError, match=r"other\.\w+:\d+: is cut off: its compressed data has no end; take it from where"
    ):
        read_pack(moved)


def test_line_ends_of_another_system_are_no_change(pack: Path) -> None:
    pack.write_bytes(pack.read_bytes().replace(b"\n", b"\r\n"))
    assert read_pack(pack).header == HEADER


def test_wherever_it_is_cut_off_it_is_refused(pack: Path) -> None:
    data = pack.read_bytes()
    for length in [*range(0, len(data) - 1, 7), len(data) - 2]:
        pack.write_bytes(data[:length])
        with pytest.raises(DataError) as caught:
            read_pack(pack, "pack.yaml")
        assert re.match(r"pack\.yaml(:\d+)?: ", str(caught.value)), length
        assert len(str(caught.value).splitlines()) == 1


def edited(old: str, new: str) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(old.encode(), new.encode(), 1)


UNDO = "undo the edit, or freeze again"
WHOLE = "take it from where it is whole, or freeze again"
NEITHER = f"is neither a key with its value nor a record; was it edited, or cut off? {UNDO}"
HASHES = f"is not that of the lines before: the header or the counts were changed, or whole records exchanged; {UNDO}"
EDITS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "nothing": (lambda data: b"", f"p: is empty; {WHOLE}"),
    "not a pack": (
        lambda data: b"a: 1\n" + data,
        "p:1: is no pack: it does not begin with tokspec_pack; tokspec freeze writes one",
    ),
    "of another version": (
        edited("tokspec_pack: 2", "tokspec_pack: 3"),
        "p:1: tokspec_pack: is of version 3 of the format, and this suite reads 1 and 2; use the version of tokspec "
        "that made it, or freeze again",
    ),
    "a version that is a text": (
        edited("tokspec_pack: 2", 'tokspec_pack: "2"'),
        'p:1: tokspec_pack: is of version "2" of the format, and this suite reads 1 and 2; use the version of tokspec '
        "that made it, or freeze again",
    ),
    "a version that is no number": (
        edited("tokspec_pack: 2", "tokspec_pack: true"),
        f"p:1: tokspec_pack: true is none of 1, 2; {UNDO}",
    ),
    "a key that is not known": (edited("suite:", "suit:"), f"p:2: suit: is an unknown key; {UNDO}"),
    "a key that is gone": (
        lambda data: re.sub(rb"choices: .*\n", b"", data),
        f"p:10: lacks the key choices; {UNDO}",
    ),
    "a key that is there twice": (
        edited('suite: "0.1.0"\n', 'suite: "0.1.0"\nsuite: "0.1.0"\n'),
        f"p:3: suite: is there twice, first in line 2; {UNDO}",
    ),
    "a key that is there twice in a value": (
        edited('{"name": "mytok"', '{"name": "a", "name": "mytok"'),
        f"p:5: implementation: has a key twice; was it edited, or cut off? {UNDO}",
    ),
    "a value that is gone": (edited('suite: "0.1.0"', "suite:"), f"p:2: {NEITHER}"),
    "a hash that is none": (
        edited(f'fixtures: "{HASH}', 'fixtures: "abc'),
        f'p:3: fixtures: "abc" does not match "^[0-9a-f]{{64}}$"; {UNDO}',
    ),
    "a model without its hash": (
        lambda data: re.sub(rb', "sha256": "0+"\}', b"}", data, count=1),
        f"p:7: model: lacks the key sha256; {UNDO}",
    ),
    "a choice that is no text": (
        edited('"offset_unit": "byte"', '"offset_unit": 8'),
        f'p:6: choices.offset_unit: 8 is not of type "string"; {UNDO}',
    ),
    "an operation that is none": (
        edited('["normalize", "encode"]', '["normalise", "encode"]'),
        f'p:9: operations.0: "normalise" is none of normalize, pre_tokenize, encode, decode; {UNDO}',
    ),
    "a header that was changed": (edited('"version": "1"', '"version": "2"'), f"p:16: sha256: {HASHES}"),
    "counts that were changed": (
        edited('{"texts/words": 1, "texts/emoji": 1', '{"texts/words": 0, "texts/emoji": 2'),
        f"p:16: sha256: {HASHES}",
    ),
    "counts that are no number": (
        edited('"inputs/a.txt": 1}', '"inputs/a.txt": "1"}'),
        f'p:15: counts.inputs/a.txt: "1" is not of type "integer"; {UNDO}',
    ),
    "a key behind the records": (
        edited("sha256: ", "made_by: 3\nsha256: "),
        f"p:16: made_by: is an unknown key; {UNDO}",
    ),
    "a hash of something else": (
        lambda data: re.sub(rb'\nsha256: ".*"', b'\nsha256: "md5"', data),
        f'p:16: sha256: "md5" does not match "^[0-9a-f]{{64}}$"; {UNDO}',
    ),
    "YAML that is no JSON": (
        edited('suite: "0.1.0"', "suite: 0.1.0"),
        f"p:2: suite: is no JSON at character 11 (Extra data); was it edited, or cut off? {UNDO}",
    ),
    "YAML of another kind": (
        lambda data: yaml.safe_dump(yaml.safe_load(data.decode("utf-8")), sort_keys=False).encode("utf-8"),
        f"p:2: suite: is no JSON at character 11 (Extra data); was it edited, or cut off? {UNDO}",
    ),
    "a text that was changed": (
        edited('"text": "Bug"', '"text": "bug"'),
        f"p:12: crc: was changed after it was written: its checksum is another; {UNDO}",
    ),
    "a space that was added": (
        edited('"text": "Bug",', '"text":  "Bug",'),
        f"p:12: crc: was changed after it was written: its checksum is another; {UNDO}",
    ),
    "a space at the end of a line": (
        edited('"aa8b29cf"}\n', '"aa8b29cf"} \n'),
        f"p:12: crc: was changed after it was written: its checksum is another; {UNDO}",
    ),
    "a checksum that is gone": (edited(', "crc": "aa8b29cf"', ""), f"p:12: lacks the key crc; {UNDO}"),
    "an id that is a word": (
        edited("[0, 4]", '[0, "4"]'),
        f'p:12: ids.1: "4" is not of types "null", "integer"; {UNDO}',
    ),
    "a span of one number": (edited("[[0, 0]]", "[[0]]"), f"p:14: spans.0: [0] has less than 2 items; {UNDO}"),
    "a key of a record that is misspelt": (edited('"tokens"', '"token"'), f"p:12: token: is an unknown key; {UNDO}"),
    "a place without a number": (
        edited('"inputs/a.txt:3"', '"inputs/a.txt"'),
        f'p:14: from: "inputs/a.txt" does not match "^(?s:.+):[^:]*$"; {UNDO}',
    ),
    "a reason that is none": (
        edited("unknown_symbol", "unknown"),
        'p:13: refused.encode: "unknown" is none of unknown_symbol, no_segmentation, unknown_id, invalid_model, '
        f"invalid_input; {UNDO}",
    ),
    "a number that is none": (
        edited("[0, 4]", "[0, NaN]"),
        f"p:12: holds the number NaN, which JSON does not have; was it edited, or cut off? {UNDO}",
    ),
    "a number without end": (
        edited("[0, 4]", "[0, 1e400]"),
        f"p:12: holds the number 1e400, which JSON does not have; was it edited, or cut off? {UNDO}",
    ),
    "a line that is wrapped": (
        edited('"text": "Bug"', '"text": "Bu\ng"'),
        f"p:12: is no JSON at character 42 (Invalid control character); was it edited, or cut off? {UNDO}",
    ),
    "a comma that is gone": (
        edited('"ids": [0, 4]', '"ids": [0 4]'),
        f"p:12: is no JSON at character 100 (Expecting ',' delimiter); was it edited, or cut off? {UNDO}",
    ),
    "a record that is gone": (
        lambda data: re.sub(rb'- \{"from": "texts/emoji.*\n', b"", data),
        f"p:14: counts: says that there are 3 records, and there are 2; {WHOLE}",
    ),
    "a record that is there twice": (
        lambda data: re.sub(rb'(- \{"from": "texts/emoji.*\n)', rb"\1\1", data),
        f"p:16: counts: says that there are 3 records, and there are 4; {WHOLE}",
    ),
    "records in another order": (
        lambda data: re.sub(rb'(- \{"from": "texts/words.*\n)(- \{"from": "texts/emoji.*\n)', rb"\2\1", data),
        f"p:16: sha256: {HASHES}",
    ),
    "a record behind the end": (
        lambda data: data + b'- {"from": "texts/words:bug", "text": "bug", "crc": "00000000"}\n',
        f"p:17: is a record where none may be; was a line moved? {UNDO}",
    ),
    "a record among the keys": (
        lambda data: data.replace(b"records:\n", b"").replace(b"counts:", b"records:\ncounts:"),
        f"p:11: is a record where none may be; was a line moved? {UNDO}",
    ),
    "two packs in one": (lambda data: data + data, f"p:17: tokspec_pack: is there twice, first in line 1; {UNDO}"),
    "a comment": (edited("records:\n", "# ours\nrecords:\n"), f"p:11: {NEITHER}"),
    "an empty line": (edited("records:\n", "\nrecords:\n"), f"p:11: {NEITHER}"),
    "an empty line at the end": (lambda data: data + b"\n", f"p:17: {NEITHER}"),
    "a mark of a conflict": (
        edited("- {", "<<<<<<< HEAD\n- {"),
        f"p:12: {NEITHER}",
    ),
    "records that are moved in": (
        lambda data: data.replace(b"\n- ", b"\n  - "),
        f"p:12: {NEITHER}",
    ),
    "a record without its mark": (
        edited('- {"from": "texts/emoji', '{"from": "texts/emoji'),
        f"p:13: {NEITHER}",
    ),
    "bytes that are no text": (
        lambda data: data.replace(b'"Bug"', b'"B\xff"'),
        f"p:12: is not UTF-8; was it edited, or cut off? {UNDO}",
    ),
    "within a record": (
        lambda data: data[: data.index(b'"ids"')],
        f"p:12: ends within a line: it was cut off; {WHOLE}",
    ),
    "within its header": (
        lambda data: data[: data.index(b"model: ")],
        f"p: ends within its header, after 6 lines: it was cut off; {WHOLE}",
    ),
    "without its end": (
        lambda data: data[: data.index(b"counts:")],
        f"p: ends after 3 records and without its end: it was cut off; {WHOLE}",
    ),
    "without its last line": (
        lambda data: data[: data.index(b"sha256: ")],
        f"p: ends after 3 records and without its end: it was cut off; {WHOLE}",
    ),
    "a byte-order mark": (
        lambda data: b"\xef\xbb\xbf" + data,
        "p:1: is no pack: it does not begin with tokspec_pack; tokspec freeze writes one",
    ),
    "another encoding": (
        lambda data: data.decode("utf-8").encode("utf-16"),
        "p:1: is no pack: it does not begin with tokspec_pack; tokspec freeze writes one",
    ),
    "a nesting without end": (
        lambda data: data.replace(b'"Bug"', b"[" * 100_000),
        f"p:12: is nested too deep; was it edited, or cut off? {UNDO}",
    ),
    "compression that the name does not tell": (
        gzip.compress,
        "p: is compressed, and its name does not say so; let it end in .gz",
    ),
    "other compression that the name does not tell": (
        lzma.compress,
        "p: is compressed, and its name does not say so; let it end in .xz",
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_each_wrong_edit_is_one_line_with_file_line_and_key(pack: Path, edit: str) -> None:
    change, message = EDITS[edit]
    pack.write_bytes(change(pack.read_bytes()))
    with pytest.raises(DataError) as caught:
        read_pack(pack, "p")
    assert str(caught.value) == message


def test_a_checksum_that_was_made_for_a_wrong_record_does_not_make_it_right(pack: Path) -> None:
    line = b'- {"from": "texts/words:bug", "text": 3'
    crc = b', "crc": "%08x"}\n' % zlib.crc32(line)
    data = re.sub(rb'- \{"from": "texts/words.*\n', lambda match: line + crc, pack.read_bytes())
    body = data[: data.index(b"sha256: ")]
    pack.write_bytes(body + f'sha256: "{hashlib.sha256(body).hexdigest()}"\n'.encode())
    read = read_pack(pack, "p")
    with pytest.raises(DataError, match=r'^p:12: text: 3 is not of type "string"; undo the edit, or freeze again$'):
        list(read.records())


@pytest.mark.parametrize(
    "value", ["a\ud800b", {"hex": 1}, ["\ud800", {"a": "\udfff"}], "\U0001f600\U00010000", 1.5, None]
)
def test_any_value_is_read_as_it_was_written(value: Any) -> None:
    line = write_value(value)
    assert (read_value(line.encode()), line.isprintable()) == (value, True)
    assert json.loads(line) == value or "hex" in line
