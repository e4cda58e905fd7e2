"""What differs, by what it is: thousands of differences mostly have a few causes.

A cause is told by the first stage that differs, by the way in which it does, and by the kind of character where it
does. That is a description, not a proof: two causes may look alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tokspec.base.display import shorten
from tokspec.judge.kinds import kind, kind_in

__all__ = ["CHOICE", "COMPARED", "Cause", "Seen", "cause_of_difference"]


#: With what the cause of a case begins that passes under another option of a choice.
CHOICE = "passes with "


class Cause(NamedTuple):
    """The operation, what happens, and at what kind of character; the last may be empty.

    >>> str(Cause("encode", "a token more at the start: '[CLS]'", ""))
    "encode: a token more at the start: '[CLS]'"
    """

    operation: str
    what: str
    where: str

    def __str__(self) -> str:
        return f"{self.operation}: {self.what}{f', at {self.where}' if self.where else ''}"


class Seen(NamedTuple):
    """What is compared: the text that was asked about, both results, and where they first differ.

    ``character`` is the one at which the item begins that has another span; ``other`` is the side that is right.
    """

    text: str
    expected: Mapping[str, Any]
    actual: Mapping[str, Any]
    path: Sequence[str | int]
    character: str = ""
    other: str = "the case"


def cause_of_difference(operation: str, seen: Seen) -> Cause:
    """Tell the cause of a wrong answer to one of the operations of :data:`COMPARED`.

    >>> str(cause_of_difference("encode", Seen("bug", {"tokens": ["bug"]}, {"tokens": ["▁bug"]}, ("tokens", 0))))
    "encode: puts '▁' before a token"
    """
    return Cause(operation, *_TELLERS[operation](seen))


def _of_text(seen: Seen) -> tuple[str, str]:
    left, right = seen.expected.get("text", ""), seen.actual.get("text", "")
    at = _first(left, right)
    before, after = left[at : at + 1], right[at : at + 1]
    if len(left) == len(right):
        return "another character", kind(before)
    if not before or (after and left[at:].endswith(right[at + 1 :]) and len(left) < len(right)):
        return "more characters", kind(after)
    return ("fewer characters" if len(left) > len(right) else "other characters"), kind(before)


def _of_pieces(seen: Seen) -> tuple[str, str]:
    left, right = ([piece[0] for piece in result.get("pieces", [])] for result in (seen.expected, seen.actual))
    if left == right:
        return "the same pieces, other spans", kind(seen.character)
    return _cut(left, right, "piece", seen)


def _of_tokens(seen: Seen) -> tuple[str, str]:
    expected, actual = seen.expected, seen.actual
    name = str(seen.path[0]) if seen.path else ""
    if name == "spans":
        return "the same tokens, other spans", kind(seen.character)
    if name == "ids" and "tokens" in expected and expected["tokens"] == actual.get("tokens"):
        return "the same tokens, other ids", ""
    if name not in ("ids", "tokens"):
        return f"another {name}", ""
    return _cut(expected.get(name, []), actual.get(name, []), "token", seen)


#: Tokens that are named where they are more or fewer at an end, as special ones are; where there are more of them, what
#: they are is of the text, and not of the cause.
_NAMED = 2

#: What is put before tokens and is of their form, not of the text.
_PUT_BEFORE = (" ", "Ġ", "▁", "##")


def _cut(left: Sequence[Any], right: Sequence[Any], what: str, seen: Seen) -> tuple[str, str]:
    """Compare how two cut: one has more at an end; or at the first item that differs, one begins the other, or not."""
    text, other = seen.text, seen.other
    if not (left and right):
        return (f"no {what}s" if left else f"{what}s where {other} has none"), ""
    for how, longer, shorter in (("more", list(right), list(left)), ("fewer", list(left), list(right))):
        if ends := _ends(longer, shorter):
            return f"{how} {what}s {ends}", ""
    at = _first(left, right)
    before, after = (items[at] if at < len(items) else "" for items in (left, right))
    if not (isinstance(before, str) and isinstance(after, str)):
        return f"other {what}s", ""
    if before.startswith(after) and after:
        return f"cuts where {other} does not", kind_in(before[len(after) :][:1], text)
    if after.startswith(before) and before:
        return f"does not cut where {other} does", kind_in(after[len(before) :][:1], text)
    for verb, whole, rest in (("puts", after, before), ("does not put", before, after)):
        if rest and whole.endswith(rest) and (put := whole.removesuffix(rest)) in _PUT_BEFORE:
            return f"{verb} {put!r} before a {what}", ""
        if whole in _PUT_BEFORE and rest not in _PUT_BEFORE:
            return f"{verb} {whole!r} before a {what}", ""
    return f"another {what}", kind_in(before[:1] or after[:1], text)


def _ends(longer: list[Any], shorter: list[Any]) -> str:
    """Say what the longer has before and behind all that the shorter has; nothing if it is not like that.

    >>> _ends(["[CLS]", "a", "bug", "[SEP]"], ["a", "bug"])
    "at the start: '[CLS]', at the end: '[SEP]'"
    """
    extra = len(longer) - len(shorter)
    for before in dict.fromkeys((extra, *range(min(extra, _NAMED + 1)))) if extra > 0 else ():
        if longer[before : before + len(shorter)] == shorter:
            ends = {"start": longer[:before], "end": longer[before + len(shorter) :]}
            return ", ".join(f"at the {where}{_named(items)}" for where, items in ends.items() if items)
    return ""


def _named(items: Sequence[Any]) -> str:
    return f": {shorten(' '.join(map(repr, items)), 60)}" if len(items) <= _NAMED else ""


def _first(left: Sequence[Any], right: Sequence[Any]) -> int:
    shorter = min(len(left), len(right))
    return next((at for at in range(shorter) if left[at] != right[at]), shorter)


_TELLERS: Mapping[str, Callable[[Seen], tuple[str, str]]] = {
    "normalize": _of_text,
    "pre_tokenize": _of_pieces,
    "encode": _of_tokens,
    "decode": _of_text,
}

#: The operations whose answers are compared.
COMPARED = tuple(_TELLERS)
