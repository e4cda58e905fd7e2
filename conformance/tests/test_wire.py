"""Lines to and from a program."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokspec.adapter import Hello
from tokspec.base.display import quote
from tokspec.base.errors import AdapterFault, Unsupported
from tokspec.protocol.json_values import decode_line, encode_line
from tokspec.protocol.replies import parse_hello

ANY_TEXT = st.text(st.characters(exclude_categories=()) | st.sampled_from('\ud800\udfff\n"\\\x00\x7f\u2028😀'))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**200), 10**200)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=4), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(min_size=4), VALUES))
def test_what_is_written_is_read_back(message: dict[str, Any]) -> None:
    line = encode_line(message)
    assert decode_line(line) == message
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ({"text": "b\u00fcg\U0001f600"}, rb'{"text":"b\u00fcg\ud83d\ude00"}'),
        ({"text": "\ud83d\ude00"}, b'{"text":{"hex":"eda0bdedb880"}}'),
        ({"texts": ["a", "\udfff"]}, b'{"texts":["a",{"hex":"edbfbf"}]}'),
        ({"text": "\\ud800"}, rb'{"text":"\\ud800"}'),
    ],
)
def test_a_surrogate_makes_the_byte_safe_form(message: dict[str, Any], line: bytes) -> None:
    assert encode_line(message) == line + b"\n"
    assert decode_line(line) == message


def test_a_key_with_a_surrogate_cannot_be_written() -> None:
    with pytest.raises(Unsupported) as error:
        encode_line({"vocab": {"\ud800": 0}})
    assert error.value.message == "the key '\\ud800' holds a surrogate, which has no form in JSON"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b'{"a": {"hex": ""}}', {"a": ""}),
        (b'{"a": {"hex": "E282ac"}}', {"a": "\u20ac"}),
        (b'{"a": {"hex": 3}}', {"a": {"hex": 3}}),
        (b'{"a": {"hex": "00", "b": 1}}', {"a": {"hex": "00", "b": 1}}),
        (rb'{"a": "\ud800"}', {"a": "\ud800"}),
        (b'{"a": 1}\r', {"a": 1}),
        (b'{"a": %s}' % (b"9" * 300), {"a": 10**300 - 1}),
        (b'{"a": "%s"}' % (b"9" * 400), {"a": "9" * 400}),
        (b'{"a": "%s"}' % (rb"[\"," * 500_000), {"a": '[",' * 500_000}),
        (b'{"a": %s}' % (b"[" * 63 + b"]" * 63), {"a": json.loads("[" * 63 + "]" * 63)}),
    ],
)
def test_lines_that_are_read(line: bytes, value: dict[str, Any]) -> None:
    assert decode_line(line) == value


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"", "a line is not JSON (Expecting value at character 1): ''"),
        (b"\x1b[2J", "a line is not JSON (Expecting value at character 1): '\\x1b[2J'"),
        (
            b'\xef\xbb\xbf{"a": 1}',
            "a line is not JSON (Unexpected UTF-8 BOM (decode using utf-8-sig) at character 1): '\\ufeff{\"a\": 1}'",
        ),
        (b'{"a": 1} {"b": 2}', 'a line is not JSON (Extra data at character 10): \'{"a": 1} {"b": 2}\''),
        (b'{"a": "\t"}', 'a line is not JSON (Invalid control character at at character 8): \'{"a": "\\t"}\''),
        (b'{"a": "\xff"}', 'a line is not UTF-8 at byte 7: \'{"a": "\\\\xff"}\''),
        (b'{"a": "\xed\xa0\x80"}', 'a line is not UTF-8 at byte 7: \'{"a": "\\\\xed\\\\xa0\\\\x80"}\''),
        (b"[1]", "a line is not an object: '[1]'"),
        (b'{"hex": "61"}', 'a line is not an object: \'{"hex": "61"}\''),
        (b'{"a": NaN}', "a line holds NaN, which is not JSON: '{\"a\": NaN}'"),
        (b'{"a": -Infinity}', "a line holds -Infinity, which is not JSON: '{\"a\": -Infinity}'"),
        (b'{"a": -1e999}', "a line holds '-1e999', which is beyond every double: '{\"a\": -1e999}'"),
        (b'{"a": 1, "a": 2}', "a line has the key 'a' twice: '{\"a\": 1, \"a\": 2}'"),
        (
            rb'{"a": {"\ud800": 1}}',
            "a line has the key '\\ud800', which holds a surrogate: '{\"a\": {\"\\\\ud800\": 1}}'",
        ),
        (
            b'{"a": [%s]}' % (b"[]," * 500_000),
            'a line holds more than 500000 values: \'{"a": [' + ("[]," * 65)[:193] + "' and 1499809 more bytes",
        ),
        (b'{"a": {"hex": "0"}}', 'a line has the hex string \'0\', which is no UTF-8: \'{"a": {"hex": "0"}}\''),
        (b'{"a": {"hex": "ff"}}', 'a line has the hex string \'ff\', which is no UTF-8: \'{"a": {"hex": "ff"}}\''),
        (
            b'{"a": %s}' % (b"9" * 301),
            f"a line holds a number of 301 digits: '{{\"a\": {'9' * 194}' and 108 more bytes",
        ),
        (
            b'{"a": %s}' % (b"9" * 5000),
            f"a line holds a number of 5000 digits: '{{\"a\": {'9' * 194}' and 4807 more bytes",
        ),
        (
            b'{"a": %s}' % (b"[" * 64 + b"]" * 64),
            f"a line is nested more than 64 levels deep: '{{\"a\": {'[' * 64}{']' * 64}}}'",
        ),
        (
            b'{"a": %s}' % (b"[" * 100_000 + b"]" * 100_000),
            f"a line is nested more than 64 levels deep: '{{\"a\": {'[' * 194}' and 199807 more bytes",
        ),
        (
            b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
            "a line is nested more than 64 levels deep: '" + '{"a":' * 40 + "' and 299801 more bytes",
        ),
    ],
)
def test_lines_that_are_faults(line: bytes, message: str) -> None:
    with pytest.raises(AdapterFault) as error:
        decode_line(line)
    assert (error.value.kind, error.value.message) == ("protocol", message)


def test_an_excerpt_is_short_printable_ascii() -> None:
    assert quote("it's\u202e\x07") == '"it\'s\\u202e\\x07"'
    assert quote("x" * 250) == f"'{'x' * 200}' and 50 more characters"
    assert quote("\u0e02".encode() * 2, 4) == "'\\u0e02\\\\xe0' and 2 more bytes"


GREETING = {
    "protocol": 1,
    "name": "mytok",
    "version": "0.3",
    "language": "C",
    "operations": ["encode", "decode"],
    "formats": ["tokenizer.json", "tokspec"],
}


def test_hello_is_read_whole() -> None:
    others = {
        "choices": {"offset_unit": "byte"},
        "encode_fields": ["tokens", "ids"],
        "encode_options": ["pair"],
        "decode_options": ["skip_special_tokens"],
        "components": ["post_processor", "decoder/fuse"],
        "unicode": "15.1",
        "since": 2020,
    }
    assert parse_hello(GREETING) == Hello("mytok", "0.3", "C", ("encode", "decode"), ("tokenizer.json", "tokspec"))
    assert parse_hello({**GREETING, **others}) == Hello(
        "mytok",
        "0.3",
        "C",
        ("encode", "decode"),
        ("tokenizer.json", "tokspec"),
        {"offset_unit": "byte"},
        ("tokens", "ids"),
        "15.1",
        encode_options=("pair",),
        decode_options=("skip_special_tokens",),
        components=("post_processor", "decoder/fuse"),
    )


@pytest.mark.parametrize("key", [*GREETING])
def test_hello_without_a_key_is_a_fault(key: str) -> None:
    with pytest.raises(AdapterFault) as error:
        parse_hello({other: value for other, value in GREETING.items() if other != key})
    message = f"the answer to hello is wrong: lacks the key {key}"
    assert (error.value.kind, error.value.message) == ("protocol", message)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("protocol", 2, "protocol: 1 was expected"),
        ("protocol", True, "protocol: 1 was expected"),
        ("unicode", "latest", "unicode: 'latest' is no version; write it as 15.1.0, or leave it out"),
        ("name", None, 'name: null is not of type "string"'),
        ("operations", "encode", 'operations: "encode" is not of type "array"'),
        ("formats", [1], 'formats/0: 1 is not of type "string"'),
        ("choices", {"a": 1}, 'choices/a: 1 is not of type "string"'),
        ("choices", {"\x1b[2J": 1}, 'choices/\\x1b[2J: 1 is not of type "string"'),
        ("encode_fields", ["type"], 'encode_fields/0: "type" is none of the values; did you mean type_ids?'),
        ("encode_options", ["Pair"], 'encode_options/0: "Pair" is none of the values; did you mean pair?'),
        ("decode_options", ["skip_special"], 'decode_options/0: "skip_special" is none of the values; did you mean skip_special_tokens?'),
        ("components", ["padding", "post_procesor"], 'components/1: "post_procesor" is none of the values; did you mean post_processor?'),
        ("unicode", 15.1, 'unicode: 15.1 is not of type "string"'),
        ("other_trainers", ["bpe"], 'other_trainers: ["bpe"] is not of type "object"'),
    ],
)  # fmt: skip
def test_hello_with_a_wrong_value_is_a_fault(key: str, value: object, message: str) -> None:
    with pytest.raises(AdapterFault) as error:
        parse_hello({**GREETING, key: value})
    assert (error.value.kind, error.value.message) == ("protocol", f"the answer to hello is wrong: {message}")


def test_a_message_has_no_integer_beyond_those_of_a_double() -> None:
    line = b'{"id":1,"ok":{"ids":[%d],"loss":0.1234567890123456789}}'
    assert decode_line(line % (2**53 - 1), small=True)["ok"]["ids"] == [2**53 - 1]
    assert decode_line(line % 2**53)["ok"]["ids"] == [2**53]
    for number in (2**53, -(2**53)):
        with pytest.raises(AdapterFault) as error:
            decode_line(line % number, small=True)
        said = f"a line holds the integer '{number}', which is beyond 2^53 - 1 (PROTO-7): "
        assert (error.value.kind, error.value.message.startswith(said)) == ("protocol", True)
