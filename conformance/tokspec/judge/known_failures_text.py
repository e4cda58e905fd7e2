"""Writing a file of known failures anew: sorted by case, with all that people wrote where they wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tokspec.base.display import compact, visible
from tokspec.base.errors import DataError
from tokspec.judge.known_failures import KnownFailure
from tokspec.suite.strict_yaml import Document, parse_yaml

__all__ = ["Retired", "flow", "rewritten"]

_BEGUN = "# Failures that are known; `tokspec run --update-known-failures` keeps this file.\nknown_failures: []\n"

#: The only two values that a run changes.
_SEEN = ("verdict", "digest")

_KEY = re.compile(r"""( *(?:known_failures|"known_failures"|'known_failures') *:)(?: +\[ *\])?( +#.*)? *""")
_ITEM = re.compile(r"( *)- +[^ #]")
_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*(?P<comment>.*)\n")


@dataclass(frozen=True)
class Retired:
    """A case that is listed no longer, why, and the reason that it was listed for, if anybody wrote one."""

    case: str
    why: str
    reason: str


@dataclass(frozen=True)
class _Entry:
    """The lines of one entry: the comments above it, and its own."""

    comments: list[str]
    own: list[str]


@dataclass(frozen=True)
class _Layout:
    """The lines of a file, cut at its entries; ``key`` is where the list begins, ``indent`` what is before a dash."""

    head: list[str]
    key: re.Match[str]
    entries: dict[str, _Entry]
    tail: list[str]
    indent: str


def rewritten(text: str, file: str, wanted: Mapping[str, KnownFailure], retired: Sequence[Retired]) -> str:
    """Give the text with the entries that are wanted; of those that are there only what was seen is changed.

    Args:
        text: what the file holds, well-formed; empty where there is none.
        file: what errors call it.
        wanted: all entries that it is to have.
        retired: what becomes a comment, at the end.

    Raises:
        DataError: the entries do not stand in lines of their own.

    >>> rewritten("known_failures: []  # at last", "x", {"a": KnownFailure("a", "fail", "0", "?")}, [])
    'known_failures:  # at last\\n  - case: "a"\\n    verdict: "fail"\\n    digest: "0"\\n    reason: "?"\\n'
    """
    text = text or _BEGUN
    text = _with_what_was_seen(text, parse_yaml(text, file), wanted)
    layout = _layout(text, parse_yaml(text, file))
    lines: list[str] = []
    for case in sorted(wanted):
        entry = layout.entries.get(case) or _new(wanted[case], layout.indent)
        lines += [*entry.comments, *entry.own]
    for one in retired:
        layout.tail.extend(line for line in layout.entries[one.case].comments if line.strip())
        if one.reason:
            comment = f"# {visible(one.case)} {one.why}; it was listed because: {compact(one.reason)}"
            layout.tail.append(layout.indent + comment)
    key = f"{layout.key[1]}{'' if lines else ' []'}{layout.key[2] or ''}"
    return "".join(f"{line}\n" for line in (*layout.head, key, *lines, *layout.tail))


def flow(entry: KnownFailure) -> str:
    """Write an entry in one line.

    >>> flow(KnownFailure("a", "crash", "0123456789abcdef", "?"))
    '{case: "a", verdict: "crash", digest: "0123456789abcdef", reason: "?"}'
    """
    return f"{{{', '.join(_fields(entry))}}}"


def _fields(entry: KnownFailure) -> list[str]:
    return [f"{key}: {compact(getattr(entry, key))}" for key in ("case", *_SEEN, "reason")]


def _new(entry: KnownFailure, indent: str) -> _Entry:
    first, *others = _fields(entry)
    return _Entry([], [f"{indent}- {first}", *(f"{indent}  {field}" for field in others)])


def _with_what_was_seen(text: str, document: Document, wanted: Mapping[str, KnownFailure]) -> str:
    """Replace verdicts and digests that are others now, from the last to the first, so that no place moves."""
    places: list[tuple[int, int, str]] = []
    for index, raw in enumerate(document.value["known_failures"]):
        for key in _SEEN:
            value = getattr(wanted.get(raw["case"]), key, raw[key])
            if value != raw[key]:
                places.append((*document.spans["known_failures", index, key], value))
    for start, end, value in sorted(places, reverse=True):
        block = _BLOCK_SCALAR.match(text[start:end])
        text = text[:start] + json.dumps(value) + (f"{block['comment']}\n" if block else "") + text[end:]
    return text


def _layout(text: str, document: Document) -> _Layout:
    lines = text.splitlines()
    cases = [raw["case"] for raw in document.value["known_failures"]]
    starts = [document.lines["known_failures", index] - 1 for index in range(len(cases))]
    # Without entries the list is empty brackets, and comments below them stay there.
    top = starts[0] if cases else document.lines["known_failures",]
    head, above = _cut(lines[:top], 0 if cases else top)
    key = _KEY.fullmatch(head[-1]) if head else None
    items = [_ITEM.match(lines[start]) for start in starts]
    if key is None or None in items:
        what = "begin a line with `known_failures:`, and one below it with `- case:` for each entry"
        line = starts[items.index(None)] + 1 if None in items else top
        raise DataError(f"is not updated: its list is not in lines; {what}", document.file, line)
    entries: dict[str, _Entry] = {}
    for index, (case, start) in enumerate(zip(cases, starts, strict=True)):
        own, below = _cut(lines[start : [*starts, len(lines)][index + 1]], _height(text, document, index) - start)
        entries[case] = _Entry(above, own)
        above = below
    tail = above if cases else lines[top:]
    return _Layout(head[:-1], key, entries, tail, items[0][1] if items and items[0] else "  ")


def _height(text: str, document: Document, index: int) -> int:
    """Give the number of lines down to the last value of an entry, whose text may look like comments."""
    keys = document.value["known_failures"][index]
    last = max(document.spans["known_failures", index, key][1] for key in keys)
    return text.count("\n", 0, last - 1) + 1


def _cut(lines: list[str], least: int) -> tuple[list[str], list[str]]:
    """Cut off the comments and empty lines at the end, but leave so many lines at the beginning."""
    end = len(lines)
    while end > least and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return lines[:end], lines[end:]
