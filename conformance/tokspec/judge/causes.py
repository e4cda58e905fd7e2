"""What differs, by what it is: thousands of differences mostly have a few causes.

A cause is told by the first stage that differs, by the way in which it does, and by the kind of character where it
does. That is a description, not a proof: two causes may look alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tokspec.base.display import shorten
from tokspec.judge.verdicts import Verdict
from tokspec.packs.judging import Outcome
from tokspec.packs.kinds import kind, kind_in
from tokspec.packs.record import input_of
from tokspec.protocol.messages import Answer

__all__ = ["Cause", "cause_of"]


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


def cause_of(outcome: Outcome) -> Cause:
    """Tell the cause of an outcome that differs."""
    operation = outcome.operation
    if outcome.verdict is not Verdict.FAIL or outcome.difference is None or not isinstance(outcome.reply, Answer):
        what = "" if outcome.verdict is Verdict.FAIL else f"{outcome.verdict.value}: "
        return Cause(operation, what + shorten(outcome.detail, 100), "")
    expected, actual = outcome.expected or {}, outcome.reply.result
    return Cause(operation, *_TELLERS[operation](outcome, expected, actual))


def _of_text(outcome: Outcome, expected: Mapping[str, Any], actual: Mapping[str, Any]) -> tuple[str, str]:
    left, right = expected.get("text", ""), actual.get("text", "")
    at = _first(left, right)
    before, after = left[at : at + 1], right[at : at + 1]
    if len(left) == len(right):
        return "another character", kind(before)
    if not before or (after and left[at:].endswith(right[at + 1 :]) and len(left) < len(right)):
        return "more characters", kind(after)
    return ("fewer characters" if len(left) > len(right) else "other characters"), kind(before)


def _of_pieces(outcome: Outcome, expected: Mapping[str, Any], actual: Mapping[str, Any]) -> tuple[str, str]:
    left, right = ([piece[0] for piece in result.get("pieces", [])] for result in (expected, actual))
    if left == right:
        return "the same pieces, other spans", kind(_place("pieces", outcome))
    return _cut(left, right, "piece", _text(outcome))


def _of_tokens(outcome: Outcome, expected: Mapping[str, Any], actual: Mapping[str, Any]) -> tuple[str, str]:
    name = str(outcome.difference.path[0]) if outcome.difference and outcome.difference.path else ""
    if name == "spans":
        return "the same tokens, other spans", kind(_place("spans", outcome))
    if name == "ids" and "tokens" in expected and expected["tokens"] == actual.get("tokens"):
        return "the same tokens, other ids", ""
    return _cut(expected.get(name, []), actual.get(name, []), "token", _text(outcome))


def _text(outcome: Outcome) -> str:
    """Return the text that was asked about; ids are asked about with the text that they are of."""
    asked = input_of(outcome.operation, outcome.record) or {}
    return str(asked.get("text", outcome.record.input.text))


def _place(field: str, outcome: Outcome) -> str:
    """Return the character with which the item begins that has another span."""
    path = outcome.difference.path if outcome.difference else ()
    at = path[1] if len(path) > 1 and isinstance(path[1], int) else 0
    spans = outcome.record.results[outcome.operation].get(field, [])
    return _text(outcome)[spans[at][-2] :][:1] if at < len(spans) else ""


#: Tokens that are named where they are more or fewer at an end, as special ones are; where there are more of them, what
#: they are is of the text, and not of the cause.
_NAMED = 2

#: What is put before tokens and is of their form, not of the text.
_PUT_BEFORE = (" ", "Ġ", "▁", "##")


def _cut(left: Sequence[Any], right: Sequence[Any], what: str, text: str) -> tuple[str, str]:
    """Compare how two cut: one has more at an end; or at the first item that differs, one begins the other, or not."""
    if not (left and right):
        return (f"no {what}s" if left else f"{what}s where the pack has none"), ""
    for how, longer, shorter in (("more", list(right), list(left)), ("fewer", list(left), list(right))):
        if ends := _ends(longer, shorter):
            return f"{how} {what}s {ends}", ""
    at = _first(left, right)
    before, after = (items[at] if at < len(items) else "" for items in (left, right))
    if not (isinstance(before, str) and isinstance(after, str)):
        return f"other {what}s", ""
    if before.startswith(after) and after:
        return "cuts where the pack does not", kind_in(before[len(after) :][:1], text)
    if after.startswith(before) and before:
        return "does not cut where the pack does", kind_in(after[len(before) :][:1], text)
    for verb, whole, rest in (("puts", after, before), ("does not put", before, after)):
        if rest and whole.endswith(rest) and (put := whole.removesuffix(rest)) in _PUT_BEFORE:
            return f"{verb} {put!r} before a {what}", ""
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


_TELLERS: Mapping[str, Callable[[Outcome, Mapping[str, Any], Mapping[str, Any]], tuple[str, str]]] = {
    "normalize": _of_text,
    "pre_tokenize": _of_pieces,
    "encode": _of_tokens,
    "decode": _of_text,
}
