"""What both readers of YAML share: what an unquoted scalar means, and how a path within a file is written."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

__all__ = ["KeyPath", "plain_value", "written"]

KeyPath: TypeAlias = tuple[str | int, ...]

#: Digits of an integer.
LONGEST = 300

#: How many unquoted scalars are remembered with what they mean; files use the same words again and again.
_REMEMBERED = 8192

_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+([eE][-+][0-9]+)?)?")
_CONSTANTS: Mapping[str, str | bool | None] = {"true": True, "false": False, "null": None}
#: What YAML 1.1 or 1.2 would read as a boolean, a null, a number, a date, a merge key or a value key.
_RETYPED = re.compile(
    r"y|n|yes|no|on|off|true|false|null|~|<<|=|"
    r"[-+]?(\.inf|\.nan)|[-+]?0[box][0-9a-f_]+|[-+]?\.?[0-9][0-9_]*(\.[0-9_]*)?(e[-+]?[0-9]+)?|"
    r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([t \t].*)?",
    re.IGNORECASE,
)


@lru_cache(_REMEMBERED)
def plain_value(text: str) -> str | float | bool | None:
    """Give the value of an unquoted scalar.

    Raises:
        ValueError: it means different things in YAML, or is a number out of all bounds; the message says so.

    >>> plain_value("word"), plain_value("1.5"), plain_value("null")
    ('word', 1.5, None)
    >>> plain_value("no")
    Traceback (most recent call last):
        ...
    ValueError: no means different things in YAML; put it in quotes
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _JSON_NUMBER.fullmatch(text):
        return _number(text)
    if text == "" or _RETYPED.fullmatch(text):
        raise ValueError(f"{text or 'an empty value'} means different things in YAML; put it in quotes")
    return text


def _number(text: str) -> float:
    if len(text) > LONGEST:
        raise ValueError(f"is a number of more than {LONGEST} digits")
    number = float(text) if "." in text else int(text)
    if number in (math.inf, -math.inf):
        raise ValueError(f"{text} is beyond every double")
    return number


def written(path: KeyPath) -> str:
    """Write a path as people do.

    >>> written(("cases", 3, "id"))
    'cases[3].id'
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
