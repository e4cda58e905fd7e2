r"""One value on one line, which is JSON and YAML at once, and in which nothing is invisible.

Whatever cannot be seen, or might be changed by an editor, is an escape; so is whatever YAML forbids or takes for the
end of a line. Letters of all scripts stay as they are. A string with a lone surrogate has the byte-safe form of the
protocol (PROTO-2).

>>> write_value({"text": "a\u200db ü"})
'{"text": "a\\u200db ü"}'
>>> read_value(b'{"text": "a\\u200db"}')
{'text': 'a\u200db'}
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

from tokspec.protocol.json_values import SURROGATE, to_hex_form

__all__ = ["read_value", "write_value"]

#: What is written as an escape, of the plane in which JSON has one that YAML has too.
_ESCAPED = re.compile(
    "[\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]"
)


def write_value(value: Any) -> str:
    """Write a value; two that are equal are written alike if their keys have the same order.

    >>> write_value({"a": ["\\ud800", 1.5, None]})
    '{"a": [{"hex": "eda080"}, 1.5, null]}'
    """
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if SURROGATE.search(line):
        line = json.dumps(to_hex_form(value), ensure_ascii=False, allow_nan=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", line)


def read_value(line: bytes) -> Any:
    """Read a value.

    Raises:
        ValueError: it is no JSON, no UTF-8, has a key twice, or a number that is none.

    >>> read_value(b'{"a": {"hex": "eda080"}}')
    {'a': '\\ud800'}
    """
    hook = _object if b'{"hex"' in line else _distinct
    return json.loads(line.decode("utf-8"), object_pairs_hook=hook, parse_constant=_refuse, parse_float=_finite)


def _refuse(number: str) -> float:
    raise ValueError(f"holds the number {number}, which JSON does not have")


def _finite(number: str) -> float:
    found = float(number)
    return found if isfinite(found) else _refuse(number)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("has a key twice")
    return found


def _object(pairs: list[tuple[str, Any]]) -> Any:
    if len(pairs) == 1 and pairs[0][0] == "hex" and isinstance(pairs[0][1], str):
        return bytes.fromhex(pairs[0][1]).decode("utf-8", "surrogatepass")
    return _distinct(pairs)
