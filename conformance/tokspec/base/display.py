"""Untrusted text, made fit for a terminal or a file: nothing in it can move a cursor, hide or pretend.

============  ========================================================  ===========================================
function      takes                                                     use it for
============  ========================================================  ===========================================
``visible``   a text of any length; letters of any script stay          names and messages in a report
``compact``   any JSON value; as ``visible``, on one line               inputs and answers in a report
``shorten``   a text that is fit to show, such as one of ``compact``    where a long line would hide the rest
``quote``     a text or bytes; the beginning, quoted, in ASCII          raw output of a program in a message
``escape``    a text, perhaps quoted already; the beginning, in ASCII   a program's own message inside one of ours
``wrap``      lines that are fit to show                                 the terminal, which would cut words
============  ========================================================  ===========================================
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

#: Characters of untrusted text that a message shows.
EXCERPT = 200

_SUSPECT = re.compile(r"[^ -~]")
_HARMLESS = ("L", "N", "P", "S")

#: Letters and a symbol of those categories that show nothing: the fillers of Hangul, the empty pattern of Braille.
_BLANK = "\u115f\u1160\u3164\uffa0\u2800"


def visible(text: str, *, keeps_marks: bool = False) -> str:
    """Replace every character by its escape unless it is visible or a plain space.

    A mark is escaped too, because é and e with an accent are two texts that look alike. ``keeps_marks`` leaves marks
    alone where only the words matter: Thai writes vowels as marks.

    >>> visible("a\\x1b[31m\\u202eb é")
    'a\\\\u001b[31m\\\\u202eb é'
    """
    harmless = (*_HARMLESS, "M") if keeps_marks else _HARMLESS
    return _SUSPECT.sub(lambda match: _escape(match[0], harmless), text)


def _escape(character: str, harmless: tuple[str, ...]) -> str:
    if unicodedata.category(character)[0] in harmless and character not in _BLANK:
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def compact(value: Any) -> str:
    """Write a value as JSON on one line, readable and safe to show.

    >>> compact(["Ġis", [1, 2], "\\u200d"])
    '["Ġis", [1, 2], "\\\\u200d"]'
    """
    return visible(json.dumps(value, ensure_ascii=False, default=repr))


def without_password(text: str) -> str:
    """Return a text without the user names and passwords of the addresses in it.

    >>> without_password("ftp://user:secret@host/x.txt: cannot be read")
    'ftp://…@host/x.txt: cannot be read'
    """
    return re.sub(r"(\w://)[^/\s@]+@", r"\1…@", text)


def shorten(text: str, longest: int = 160) -> str:
    """Cut the middle out of a text that is too long to show.

    >>> shorten("0123456789abcdef", 9)
    '0123 … cdef'
    """
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]} … {text[-(longest // 2) :]}"


def quote(untrusted: str | bytes, length: int = EXCERPT) -> str:
    """Quote the beginning of a text in printable ASCII, and count the rest.

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
    """Show the beginning of a text in printable ASCII, without quotes; text that is escaped already stays as it is.

    >>> escape("\\x1b[2J it's a \\\\x1b[2J bug")
    "\\\\x1b[2J it's a \\\\x1b[2J bug"
    >>> escape("x" * 300, 5)
    'xxxxx and 295 more characters'
    """
    start = "".join(each if " " <= each <= "~" else ascii(each)[1:-1] for each in untrusted[:length])
    more = len(untrusted) - length
    return start + (f" and {more} more characters" if more > 0 else "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the question whether the nearest of the known names is meant; it is empty if none is near.

    >>> did_you_mean("bep", ["stages", "bpe"]), did_you_mean("x", ["stages", "bpe"])
    ('did you mean bpe? ', '')
    """
    from difflib import get_close_matches  # here, because it is rarely needed

    near = get_close_matches(name[:EXCERPT], sorted(known), 1, 0.5)
    return f"did you mean {near[0]}? " if near else ""


#: Where the second column of a block begins; its text continues below that place.
_COLUMN = 12

_COLOUR = re.compile("\x1b\\[[0-9;]*m")


def terminal_width() -> int:
    """Return the columns of the terminal on standard output; 0 if it is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def wrap(lines: Iterable[str], width: int) -> Iterator[str]:
    """Break lines between words where a terminal would break them within; nothing is lost, not even blanks.

    A command that is to be copied stays on one line, and so does everything if the width is 0.

    >>> list(wrap(["  why       The longest wins.", "  again     tokspec run --select longest"], 24))
    ['  why       The longest ', '            wins.', '  again     tokspec run --select longest']
    """
    for line in lines:
        if not width or len(line) <= width // 2 or line.startswith(("  again ", "  run ")):
            yield line
        else:
            yield from _wrapped(line, width)


def _wrapped(line: str, width: int) -> Iterator[str]:
    from rich.cells import cell_len  # here, because it takes a while, and only a terminal needs it

    margin = " " * (_COLUMN if line.startswith("  ") else 0)
    start, *words = re.findall(r"\s*\S+\s*", line) or [line]
    for word in words:
        if cell_len(_COLOUR.sub("", start + word.rstrip())) > width and start.strip():
            yield start
            start = margin
        start += word
    yield start
