"""Untrusted text, made fit for a terminal or a file: nothing in it can move a cursor, hide or pretend.

============  ========================================================  ===========================================
function      takes                                                     use it for
============  ========================================================  ===========================================
``visible``   a text of any length; letters of any script stay          names and messages in a report
``compact``   any JSON value; as ``visible``, on one line               inputs and answers in a report
``shorten``   a text that is fit to show, such as one of ``compact``    where a long line would hide the rest
``quote``     a text or bytes; the beginning, quoted, in ASCII          raw output of a program in a message
``escape``    a text, perhaps quoted already; the beginning, in ASCII   a program's own message inside one of ours
============  ========================================================  ===========================================
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

__all__ = ["compact", "escape", "quote", "shorten", "visible"]

#: Characters of untrusted text that a message shows.
EXCERPT = 200

_SUSPECT = re.compile(r"[^ -~]")
_HARMLESS = ("L", "N", "P", "S")

#: Letters and a symbol of those categories that show nothing: the fillers of Hangul, the empty pattern of Braille.
_BLANK = "\u115f\u1160\u3164\uffa0\u2800"


def visible(text: str) -> str:
    """Replace every character that is not a visible one, or a plain space, by its escape.

    >>> visible("a\\x1b[31m\\u202eb é")
    'a\\\\u001b[31m\\\\u202eb é'
    """
    return _SUSPECT.sub(lambda match: _escape(match[0]), text)


def _escape(character: str) -> str:
    if unicodedata.category(character)[0] in _HARMLESS and character not in _BLANK:
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def compact(value: Any) -> str:
    """Write a value as JSON on one line, readable and safe to show.

    >>> compact(["Ġis", [1, 2], "\\u200d"])
    '["Ġis", [1, 2], "\\\\u200d"]'
    """
    return visible(json.dumps(value, ensure_ascii=False, default=repr))


def shorten(text: str, longest: int = 160) -> str:
    """Cut the middle out of a text that is too long to show.

    >>> shorten("0123456789abcdef", 9)
    '0123 … cdef'
    """
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]} … {text[-(longest // 2) :]}"


def quote(untrusted: str | bytes, length: int = EXCERPT) -> str:
    """Quote the beginning of a text in printable ASCII; what follows is counted.

    >>> quote("\\x1b[2Jbug")
    "'\\\\x1b[2Jbug'"
    >>> quote(b"x" * 300, 5)
    "'xxxxx' and 295 more bytes"
    """
    unit = "bytes" if isinstance(untrusted, bytes) else "characters"
    start = untrusted[:length]
    text = start.decode("utf-8", "backslashreplace") if isinstance(start, bytes) else start
    more = len(untrusted) - length
    return ascii(text) + (f" and {more} more {unit}" if more > 0 else "")


def escape(untrusted: str, length: int = EXCERPT) -> str:
    """Show the beginning of a text in printable ASCII, without quotes; text that is shown already stays as it is.

    >>> escape("\\x1b[2J it's a \\\\x1b[2J bug")
    "\\\\x1b[2J it's a \\\\x1b[2J bug"
    >>> escape("x" * 300, 5)
    'xxxxx and 295 more characters'
    """
    start = "".join(each if " " <= each <= "~" else ascii(each)[1:-1] for each in untrusted[:length])
    more = len(untrusted) - length
    return start + (f" and {more} more characters" if more > 0 else "")
