"""What differs, by what it is: thousands of differences mostly have a few causes.

A cause is told by the first stage that differs, by the way in which it does, and by the kind of character where it
does. That is a description, not a proof: two causes may look alike.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tokspec.formats.byte_characters import to_bytes
from tokspec.packs.judging import Outcome
from tokspec.packs.record import input_of
from tokspec.report.safe import shorten
from tokspec.sessions import Answer
from tokspec.verdicts import Verdict

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


_KINDS: Mapping[str, str] = {
    "L": "letters",
    "M": "marks",
    "N": "numbers",
    "P": "punctuation",
    "S": "symbols",
    "Z": "white space",
    "Cc": "controls",
    "Cf": "invisible characters",
    "Co": "private use",
    "Cn": "unassigned characters",
    "Cs": "surrogates",
}

#: What stands for a space in the tokens of SentencePiece and its kin.
_SPACE = "▁"


def _kind(character: str) -> str:
    """Name the kind of a character, and the script of a letter or a mark.

    >>> _kind("é"), _kind("水"), _kind("\\n"), _kind("")
    ('letters (latin)', 'letters (cjk)', 'white space', 'the end')
    """
    if not character:
        return "the end"
    if character.isspace():
        return "white space"
    category = unicodedata.category(character)
    kind = _KINDS.get(category) or _KINDS[category[0]]
    script = unicodedata.name(character, "").split(" ")[0].split("-")[0].lower()
    return f"{kind} ({script})" if category[0] in "LM" and script else kind


def _kind_in(character: str, text: str) -> str:
    """Name the kind of a character of a token, which may stand for another in the text, or for a byte of one.

    >>> _kind_in("Ġ", "a b"), _kind_in("▁", "a b"), _kind_in("Ġ", "Ġużepp"), _kind_in("ð", "🙂")
    ('white space', 'white space', 'letters (latin)', 'parts of characters')
    """
    if not character or character in text or character in unicodedata.normalize("NFKC", text.lower()):
        return _kind(character)
    if character == _SPACE:
        return _kind(" ")
    byte = to_bytes(character)
    if byte is None:
        return _kind(character)
    return _kind(chr(byte[0])) if byte[0] < 0x80 else "parts of characters"


def cause_of(outcome: Outcome) -> Cause:
    """Tell the cause of an outcome that differs."""
    operation = outcome.operation
    if outcome.verdict is not Verdict.FAIL or outcome.difference is None or not isinstance(outcome.reply, Answer):
        return Cause(operation, f"{outcome.verdict.value}: {shorten(outcome.detail, 100)}", "")
    expected, actual = outcome.expected or {}, outcome.reply.result
    return Cause(operation, *_TELLERS[operation](outcome, expected, actual))


def _of_text(outcome: Outcome, expected: Mapping[str, Any], actual: Mapping[str, Any]) -> tuple[str, str]:
    left, right = expected.get("text", ""), actual.get("text", "")
    at = _first(left, right)
    before, after = left[at : at + 1], right[at : at + 1]
    if len(left) == len(right):
        return "another character", _kind(before)
    if not before or (after and left[at:].endswith(right[at + 1 :]) and len(left) < len(right)):
        return "more characters", _kind(after)
    return ("fewer characters" if len(left) > len(right) else "other characters"), _kind(before)


def _of_pieces(outcome: Outcome, expected: Mapping[str, Any], actual: Mapping[str, Any]) -> tuple[str, str]:
    left, right = ([piece[0] for piece in result.get("pieces", [])] for result in (expected, actual))
    if left == right:
        return "the same pieces, other spans", _kind(_place("pieces", outcome))
    return _cut(left, right, "piece", _text(outcome))


def _of_tokens(outcome: Outcome, expected: Mapping[str, Any], actual: Mapping[str, Any]) -> tuple[str, str]:
    name = str(outcome.difference.path[0]) if outcome.difference and outcome.difference.path else ""
    if name == "spans":
        return "the same tokens, other spans", _kind(_place("spans", outcome))
    if name == "ids" and "tokens" in expected and expected["tokens"] == actual.get("tokens"):
        return "the same tokens, other ids", ""
    return _cut(expected.get(name, []), actual.get(name, []), "token", _text(outcome))


def _text(outcome: Outcome) -> str:
    """Give the text that was asked about; ids are asked about with the text that they are of."""
    asked = input_of(outcome.operation, outcome.record) or {}
    return str(asked.get("text", outcome.record.input.text))


def _place(field: str, outcome: Outcome) -> str:
    """Give the character with which the item begins that has another span."""
    path = outcome.difference.path if outcome.difference else ()
    at = path[1] if len(path) > 1 and isinstance(path[1], int) else 0
    spans = outcome.record.results[outcome.operation].get(field, [])
    return _text(outcome)[spans[at][-2] :][:1] if at < len(spans) else ""


#: Tokens that are named where they are more or fewer at an end, as special ones are; where there are more of them, what
#: they are is of the text, and not of the cause.
_NAMED = 2


def _cut(left: Sequence[Any], right: Sequence[Any], what: str, text: str) -> tuple[str, str]:
    """Compare how two cut: one has more at an end; or at the first item that differs, one begins the other, or not."""
    if not (left and right):
        return (f"no {what}s" if left else f"{what}s where the pack has none"), ""
    for how, longer, shorter in (("more", list(right), list(left)), ("fewer", list(left), list(right))):
        for where, rest in _beyond(longer, shorter):
            named = f": {shorten(' '.join(map(repr, rest)), 60)}" if len(rest) <= _NAMED else ""
            return f"{how} {what}s at the {where}{named}", ""
    at = _first(left, right)
    before, after = (items[at] if at < len(items) else "" for items in (left, right))
    if not (isinstance(before, str) and isinstance(after, str)):
        return f"other {what}s", ""
    if before.startswith(after) and after:
        return "cuts where the pack does not", _kind_in(before[len(after) :][:1], text)
    if after.startswith(before) and before:
        return "does not cut where the pack does", _kind_in(after[len(before) :][:1], text)
    return f"another {what}", _kind_in(before[:1] or after[:1], text)


def _beyond(longer: list[Any], shorter: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Give what the longer has at its start, or at its end, and the shorter has not."""
    extra = len(longer) - len(shorter)
    if extra > 0 and longer[extra:] == shorter:
        yield "start", longer[:extra]
    if extra > 0 and longer[:-extra] == shorter:
        yield "end", longer[-extra:]


def _first(left: Sequence[Any], right: Sequence[Any]) -> int:
    shorter = min(len(left), len(right))
    return next((at for at in range(shorter) if left[at] != right[at]), shorter)


_TELLERS: Mapping[str, Callable[[Outcome, Mapping[str, Any], Mapping[str, Any]], tuple[str, str]]] = {
    "normalize": _of_text,
    "pre_tokenize": _of_pieces,
    "encode": _of_tokens,
    "decode": _of_text,
}
