"""JSON values and lines: how messages are written to a program, and read from one that is not to be trusted.

Reading is strict where parsers differ: a line is UTF-8, holds one object, no key twice, no NaN or Infinity, and neither
depth nor numbers without bound (PROTO-1). It is lenient in one point: a lone surrogate written as an escape such as
``"\\ud800"`` is read as that surrogate, although PROTO-2 requires the byte-safe form, because nothing else can be
meant. This does not apply to keys, which have no byte-safe form. Values of an adapter in this process are copied by the
same rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from math import isfinite, isinf
from typing import Any, NoReturn

from tokspec.base.display import escape, quote
from tokspec.base.errors import AdapterFault, Unsupported

#: Levels of arrays and objects in a line. Results need six at most; without a bound, walking them overflows the stack.
DEEPEST = 64

#: Values in a line. The largest result of the suite has a thousand; each takes a hundred bytes when it is read.
VALUES = 500_000

#: Digits of an integer.
DIGITS = 300


SURROGATE = re.compile("[\ud800-\udfff]")
_LONG_NUMBER = re.compile(rb"[0-9]{300}")

#: Digits that may be an integer beyond 2^53 - 1, which has 16 digits.
_LARGE_NUMBER = re.compile(rb"[0-9]{16}")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"')
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")
_json = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode  # json.dumps would create one for every line


def encode_line(message: Mapping[str, Any]) -> bytes:
    """Write a message as one line of ASCII, ended by a line feed; strings with surrogates in the byte-safe form.

    Raises:
        Unsupported: a key holds a surrogate; keys have no byte-safe form (PROTO-2).

    >>> encode_line({"id": 3, "input": {"text": "b\\u00fcg"}})
    b'{"id":3,"input":{"text":"b\\\\u00fcg"}}\\n'
    >>> encode_line({"text": "\\ud800"})
    b'{"text":{"hex":"eda080"}}\\n'
    """
    line = _json(message)
    if "\\ud" in line:  # also in a surrogate pair, so not every such line needs the byte-safe form
        line = _json(to_hex_form(message))
    return line.encode("ascii") + b"\n"


def to_hex_form(value: Any) -> Any:
    """Convert every string that holds a surrogate to the byte-safe form (PROTO-2), and return the value.

    Raises:
        Unsupported: a key holds a surrogate.

    >>> to_hex_form(["b", "\\ud800"])
    ['b', {'hex': 'eda080'}]
    """
    if isinstance(value, str):
        return {"hex": value.encode("utf-8", "surrogatepass").hex()} if SURROGATE.search(value) else value
    if isinstance(value, Mapping):
        for key in value:
            if SURROGATE.search(key):
                raise Unsupported(f"the key {quote(key)} holds a surrogate, which has no form in JSON")
        return {key: to_hex_form(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_hex_form(item) for item in value]
    return value


def decode_line(line: bytes, values: float = VALUES, *, small: bool = False) -> dict[str, Any]:
    """Read one line of at most ``values`` values; the byte-safe form of strings becomes the string.

    With ``small``, its integers have to be those that a message may have (PROTO-7).

    Raises:
        AdapterFault: ``protocol``, if the line is anything but one proper JSON object.

    >>> decode_line(b'{"id": 3, "ok": {"tokens": ["b", {"hex": "eda080"}]}}')
    {'id': 3, 'ok': {'tokens': ['b', '\\ud800']}}
    >>> decode_line(b"loading...")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.AdapterFault: protocol: a line is not JSON (Expecting value at character 1): 'loading...'
    """
    if len(line) > values and _values(line) > values and _values(_STRING.sub(b"", line)) > values:
        raise AdapterFault("protocol", f"a line holds more than {values} values: {quote(line)}")
    try:
        value = _read(line, small)
    except AdapterFault as fault:
        raise AdapterFault("protocol", f"{fault.message}: {quote(line)}") from None
    except UnicodeDecodeError as error:
        raise AdapterFault("protocol", f"a line is not UTF-8 at byte {error.start}: {quote(line)}") from None
    except json.JSONDecodeError as error:
        detail = f"{error.msg} at character {error.pos + 1}"
        raise AdapterFault("protocol", f"a line is not JSON ({detail}): {quote(line)}") from None
    except RecursionError:
        raise _too_deep(line) from None
    if not isinstance(value, dict):
        raise AdapterFault("protocol", f"a line is not an object: {quote(line)}")
    if line.count(b"[") + line.count(b"{") > DEEPEST and deeper_than(DEEPEST, value):
        raise _too_deep(line)
    return value


def _read(line: bytes, small: bool) -> Any:
    text = line.decode("utf-8")
    if text.startswith("\ufeff"):
        raise json.JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
    is_long = len(line) > DIGITS and _LONG_NUMBER.search(line) is not None
    is_large = small and _LARGE_NUMBER.search(line) is not None
    return (_decode_small if is_large else _decode_long if is_long else _decode)(text)


def _values(line: bytes) -> int:
    return line.count(b",") + line.count(b"[") + line.count(b"{")


def _object(pairs: list[tuple[str, Any]]) -> Any:
    """Build an object from its pairs, or a string from the byte-safe form; any other ``{"hex": …}`` stays an object."""
    if len(pairs) == 1 and pairs[0][0] == "hex" and isinstance(pairs[0][1], str):
        return _unhexed(pairs[0][1])
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise AdapterFault("protocol", f"a line has the key {quote(next(k for k in keys if keys.count(k) > 1))} twice")
    for key in found:
        if not key.isascii() and SURROGATE.search(key):
            raise AdapterFault("protocol", f"a line has the key {quote(key)}, which holds a surrogate")
    return found


def _unhexed(digits: str) -> str:
    try:
        if _HEX.fullmatch(digits):
            return bytes.fromhex(digits).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        pass
    raise AdapterFault("protocol", f"a line has the hex string {quote(digits)}, which is not UTF-8")


def _refuse_constant(name: str) -> NoReturn:
    raise AdapterFault("protocol", f"a line holds {name}, which is not JSON")


def _float(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise AdapterFault("protocol", f"a line holds {quote(text, 20)}, which is beyond the range of a double")
    return number


def _integer(text: str) -> int:
    """Read an integer no longer than a double can hold; comparing a longer one with a real number overflows."""
    if len(text) > DIGITS:
        raise AdapterFault("protocol", f"a line holds a number of {len(text)} digits")
    return int(text)


def _small_integer(text: str) -> int:
    number = _integer(text)
    if abs(number) >= 2**53:
        raise AdapterFault(
            "protocol", f"a line holds the integer {quote(text, 20)}, which is beyond 2^53 - 1 (PROTO-7)"
        )
    return number


def _decoder(parse_int: Callable[[str], int] | None = None) -> Callable[[str], Any]:
    return json.JSONDecoder(
        object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=_float, parse_int=parse_int
    ).decode


# json.loads would create one for every line. Most lines have no integer that must be checked.
_decode = _decoder()
_decode_long = _decoder(_integer)
_decode_small = _decoder(_small_integer)


def _too_deep(line: bytes) -> AdapterFault:
    return AdapterFault("protocol", f"a line is nested more than {DEEPEST} levels deep: {quote(line)}")


def deeper_than(limit: int, value: Any) -> bool:
    """Return whether lists and objects are nested more than ``limit`` levels deep.

    >>> deeper_than(2, {"a": [1]}), deeper_than(2, {"a": [[1]]})
    (False, True)
    """
    level = [value]
    for _ in range(limit):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


_NUMBERS = (int, float)
_LISTS = (list, tuple)

_SMALL = 1 << 62
_BITS = int(DIGITS * 3.32)


def copy_json(value: Any, depth: int = 0) -> Any:
    """Copy a value into fresh dictionaries and lists of strings, numbers, booleans and None.

    Tuples become lists, and subclasses their base, so that a result in the same process is compared like a program's.

    Raises:
        AdapterFault: ``protocol``, if the value has no place in JSON.

    >>> copy_json({"spans": [(0, 3)]})
    {'spans': [[0, 3]]}
    >>> copy_json({"tokens": {"b", "ug"}})
    Traceback (most recent call last):
        ...
    tokspec.base.errors.AdapterFault: protocol: the result holds a value of type set, which JSON does not have
    """
    kind = type(value)
    if kind is not list and kind is not dict:
        if value is None or kind is str or kind is bool:
            return value
        if isinstance(value, _NUMBERS):
            return _number(value)
        if isinstance(value, str):
            return str.__str__(value)
    if depth == DEEPEST:
        raise AdapterFault("protocol", f"the result is nested more than {DEEPEST} levels deep")
    if kind is list or isinstance(value, _LISTS):
        return [  # without a call for each of the many texts and small integers
            item
            if (its := type(item)) is str or (its is int and -_SMALL < item < _SMALL)
            else copy_json(item, depth + 1)
            for item in value
        ]
    if kind is dict or isinstance(value, Mapping):
        return {
            key if type(key) is str and key.isascii() else _key(key): item
            if type(item) is str
            else copy_json(item, depth + 1)
            for key, item in value.items()
        }
    raise AdapterFault("protocol", f"the result holds a value of type {_type(value)}, which JSON does not have")


def _number(value: float) -> float:
    if isinstance(value, float):
        number = float.__float__(value)
        if not isfinite(number):
            raise AdapterFault("protocol", f"the result holds {number}, which is not JSON")
        return number
    if value.bit_length() > _BITS:
        raise AdapterFault("protocol", f"the result holds a number of more than {DIGITS} digits")
    return int.__int__(value)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise AdapterFault("protocol", f"the result has a key of type {_type(key)}; keys are strings")
    if SURROGATE.search(key):
        raise AdapterFault("protocol", f"the result has the key {quote(key)}; a surrogate in a key has no form in JSON")
    return str.__str__(key)


def _type(value: Any) -> str:
    return escape(type(value).__name__)
