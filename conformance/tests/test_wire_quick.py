"""Lines that need no look at every object are read as with one."""

from __future__ import annotations

import random

import pytest

from tokspec.base.errors import AdapterFault
from tokspec.protocol import json_values

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


def read(line: bytes) -> str:
    try:
        return repr(json_values.decode_line(line))
    except AdapterFault as fault:
        return str(fault)


def damaged(chance: random.Random) -> bytes:
    line = chance.choice(LINES)
    for _ in range(chance.choice((1, 1, 2, 3, 4))):
        at = chance.randint(0, len(line))
        end = min(len(line), at + chance.choice((0, 0, 1, 2, 6)))
        line = line[:at] + chance.choice((*PIECES, line[at : at + 8], line[:10])) + line[end:]
    return line.encode("utf-8", "surrogatepass")


def test_lines_are_read_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(1)
    lines = [*(line.encode() for line in LINES), *(damaged(chance) for _ in range(5000))]
    quickly = [read(line) for line in lines]
    monkeypatch.setattr(json_values, "_is_flat", lambda value, line: False)
    assert quickly == [read(line) for line in lines]
    assert sum(each.startswith("{") for each in quickly) > 200
