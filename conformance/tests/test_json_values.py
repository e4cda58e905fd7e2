"""JSON lines to and from a program: what is written is read back, and what is wrong is refused."""

from __future__ import annotations

import json
import random
from math import isfinite
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokspec.base.errors import AdapterFault, Unsupported
from tokspec.base.json_values import decode_line, encode_line

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
        (b'{"a": -1e999}', "a line holds '-1e999', which is beyond the range of a double: '{\"a\": -1e999}'"),
        (b'{"a": 1, "a": 2}', "a line has the key 'a' twice: '{\"a\": 1, \"a\": 2}'"),
        (
            rb'{"a": {"\ud800": 1}}',
            "a line has the key '\\ud800', which holds a surrogate: '{\"a\": {\"\\\\ud800\": 1}}'",
        ),
        (
            b'{"a": [%s]}' % (b"[]," * 500_000),
            'a line holds more than 500000 values: \'{"a": [' + ("[]," * 65)[:193] + "' and 1499809 more bytes",
        ),
        (b'{"a": {"hex": "0"}}', 'a line has the hex string \'0\', which is not UTF-8: \'{"a": {"hex": "0"}}\''),
        (b'{"a": {"hex": "ff"}}', 'a line has the hex string \'ff\', which is not UTF-8: \'{"a": {"hex": "ff"}}\''),
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


def test_a_message_has_no_integer_beyond_those_of_a_double() -> None:
    line = b'{"id":1,"ok":{"ids":[%d],"loss":0.1234567890123456789}}'
    assert decode_line(line % (2**53 - 1), small=True)["ok"]["ids"] == [2**53 - 1]
    assert decode_line(line % 2**53)["ok"]["ids"] == [2**53]
    for number in (2**53, -(2**53)):
        with pytest.raises(AdapterFault) as error:
            decode_line(line % number, small=True)
        said = f"a line holds the integer '{number}', which is beyond 2^53 - 1 (PROTO-7): "
        assert (error.value.kind, error.value.message.startswith(said)) == ("protocol", True)


LINES = [
    '{"id":3,"ok":{"tokens":["b","ug"],"ids":[1,2]}}',
    '{"id": 3, "ok": {"text": "a\\":b"}}',
    '{"id":3,"ok":{"probabilities":{"a":0.5,"b":1}}}',
    '{"id":3,"refused":{"reason":"x","message":"m\\\\"}}',
    '{"id":1,"ok":{"hex":"c3a9"}}',
    '{"id":1,"ok":{"a":{"hex":"61"}}}',
]

PIECES = [
    *('"', ":", ":", '\\"', '\\":', "\\", "{", "}", "[", "]", ",", ",", " ", "  ", "\t", "\r", " :", '" :', '":'),
    *('"id"', '"hex"', '"\\u0068ex"', '"ok"', "1", "1.5", "1e999", "NaN", "-Infinity", "true", "null", "1" * 310),
    *('"a":1', '"a":1,', '"é":2', '"\\ud800":3', '"x"', "\\ud83d\\ude00", '"hex":"c3a9"', '{"hex":"41"}', "\x00", "\ufeff"),
]  # fmt: skip


class Pairs(list[tuple[str, Any]]):
    """The keys and values of an object, in their order."""


def resolve(value: Any) -> Any:
    """Read a value whose objects are pairs, naively.

    Raises:
        ValueError: a line may not hold it.
    """
    if isinstance(value, Pairs):
        keys = [key for key, _ in value]
        if len(value) == 1 and keys == ["hex"] and isinstance(value[0][1], str):
            if not all(digit in "0123456789abcdefABCDEF" for digit in value[0][1]):
                raise ValueError("not hexadecimal")
            return bytes.fromhex(value[0][1]).decode("utf-8", "surrogatepass")
        if len(keys) > len({*keys}) or any("\ud800" <= character <= "\udfff" for key in keys for character in key):
            raise ValueError("a key twice, or with a surrogate")
        return {key: resolve(inner) for key, inner in value}
    if isinstance(value, list):
        return [resolve(inner) for inner in value]
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("no number of JSON")
    if isinstance(value, int) and abs(value) >= 10**300:
        raise ValueError("too many digits")
    return value


def read_naively(line: bytes) -> str | None:
    try:
        value = resolve(json.loads(line.decode(), object_pairs_hook=Pairs))
    except ValueError:
        return None
    return repr(value) if isinstance(value, dict) else None


def read(line: bytes) -> str | None:
    try:
        return repr(decode_line(line))
    except AdapterFault as fault:
        return None if fault.kind == "protocol" else str(fault)


def damaged(chance: random.Random) -> bytes:
    line = chance.choice(LINES)
    for _ in range(chance.choice((1, 1, 2, 3, 4))):
        at = chance.randint(0, len(line))
        end = min(len(line), at + chance.choice((0, 0, 1, 2, 6)))
        line = line[:at] + chance.choice((*PIECES, line[at : at + 8], line[:10])) + line[end:]
    return line.encode("utf-8", "surrogatepass")


def test_damaged_lines_are_read_as_json_reads_them_or_refused() -> None:
    chance = random.Random(1)
    lines = [*(line.encode() for line in LINES), *(damaged(chance) for _ in range(5000))]
    found = [read(line) for line in lines]
    assert found == [read_naively(line) for line in lines]
    assert sum(each is not None for each in found) > 200
