"""The texts that files are: JSON and lines, written so that every loader reads the same, and read strictly."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tokspec.base.errors import DataError, Unsupported

__all__ = ["dump_json", "lines_of", "load_json", "refuse_surrogates", "white_space"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def dump_json(value: Any) -> str:
    """Write JSON on one line, ended by a line feed.

    >>> dump_json({"Ġ": 0})
    '{"Ġ": 0}\\n'
    """
    return json.dumps(value, ensure_ascii=False) + "\n"


def load_json(data: bytes, name: str) -> Any:
    """Read a file that is JSON, in which no object has a key twice: a token that is given twice would be lost.

    Raises:
        DataError: with the line.

    >>> load_json(b'{"a": 0, "a": 1}', "vocab.json")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: vocab.json: has the key 'a' twice; keep one
    """

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise DataError(f"has the key {key!r} twice; keep one", name)
            found[key] = value
        return found

    try:
        return json.loads(_decode(data, name), object_pairs_hook=distinct)
    except json.JSONDecodeError as error:
        raise DataError(f"is not JSON: {error.msg}", name, error.lineno) from None
    except RecursionError:
        raise DataError("is nested too deep", name) from None


def lines_of(data: bytes, name: str) -> list[str]:
    """Return the lines of a text, without their ends; the last may have none.

    Raises:
        DataError: the text is not UTF-8.

    >>> lines_of(b"u g\\r\\nh ug\\n", "merges.txt")
    ['u g', 'h ug']
    """
    lines = _decode(data, name).split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 at byte {error.start}; save it as UTF-8", name) from None


def white_space(token: str) -> bool:
    """Tell whether a token is empty or has a character at which some loader of lines splits or strips.

    >>> [white_space(token) for token in ("hug", "", "a b", "\\x85")]
    [False, True, True, True]
    """
    return token == "" or any(character.isspace() for character in token)


def refuse_surrogates(value: Any, format: str) -> None:
    """Refuse a lone surrogate in any string of a value, its keys among them: files are UTF-8.

    Raises:
        Unsupported: naming the string.

    >>> refuse_surrogates({"merges": [["a", "b"]]}, "vocab.json")
    """
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise Unsupported(f"{format} is UTF-8 and cannot hold the lone surrogate in {value!r}")
        return
    if isinstance(value, Mapping):
        value = [*value, *value.values()]
    for member in value if isinstance(value, list) else ():
        refuse_surrogates(member, format)
