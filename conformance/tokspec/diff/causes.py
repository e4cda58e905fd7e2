"""Whether two replies to the same request differ, and by what cause: thousands of differences mostly have a few.

A cause is the operation, the way in which the replies differ, and the kind of character at the first difference. That
is a description, not a proof: two causes may look alike.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from tokspec.base.display import shorten
from tokspec.diff.answers import is_unsupported
from tokspec.formats.tiktoken_ranks import to_bytes
from tokspec.judge.compare import Difference, first_difference
from tokspec.judge.verdicts import Verdict
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.protocol.spans import convert_spans

__all__ = ["Cause", "Outcome", "cause_of", "compare_replies", "count_different_tokens"]


@dataclass(frozen=True)
class Outcome:
    """What the replies of A and B to a request come to; ``verdict`` holds B to A.

    An answer is cut to the fields that both have, and A's has its spans in the unit of B.
    """

    operation: str
    input: Mapping[str, Any]
    a: Reply
    b: Reply
    verdict: Verdict
    detail: str = ""
    difference: Difference | None = None

    @property
    def differs(self) -> bool:
        """Whether it is neither the same nor not comparable."""
        return not self.verdict.conforms


def compare_replies(
    operation: str, input: Mapping[str, Any], a: Reply, b: Reply, units: tuple[str, str] = ("", "")
) -> Outcome:
    """Compare two replies to a request; ``units`` are those in which the spans of A and B count.

    >>> compare_replies("encode", {"text": "a"}, Answer({"ids": [1]}), Answer({"ids": [1], "tokens": ["a"]})).verdict
    <Verdict.PASS: 'pass'>
    """
    if is_unsupported(a) or is_unsupported(b):
        message = "; ".join(
            f"{side}: {reply.message or 'gives no reason'}"
            for side, reply in (("A", a), ("B", b))
            if isinstance(reply, Refused) and is_unsupported(reply)
        )
        return Outcome(operation, input, a, b, Verdict.UNSUPPORTED, message)
    if isinstance(a, Answer) and isinstance(b, Answer):
        return _compare_answers(operation, input, a.result, b.result, units)
    said = [_kind_of_reply(reply) for reply in (a, b)]
    if said[0] == said[1]:
        return Outcome(operation, input, a, b, Verdict.PASS)
    verdict = Verdict(b.kind) if isinstance(b, Fault) else Verdict.ERROR if isinstance(b, Refused) else Verdict.FAIL
    return Outcome(operation, input, a, b, verdict, f"A {said[0]}, B {said[1]}")


def _compare_answers(
    operation: str, input: Mapping[str, Any], a: Mapping[str, Any], b: Mapping[str, Any], units: tuple[str, str]
) -> Outcome:
    fields = [name for name in a if name in b]
    if not fields:
        detail = f"A gives {' and '.join(a)}, B gives {' and '.join(b)}"
        return Outcome(operation, input, Answer(a), Answer(b), Verdict.UNSUPPORTED, detail)
    expected, actual = {name: a[name] for name in fields}, {name: b[name] for name in fields}
    if units[0] != units[1] and "text" in input:
        expected = dict(convert_spans(expected, input["text"], units[1], units[0]))
    difference = None if expected == actual else first_difference(expected, actual, {})
    replies = Answer(expected), Answer(actual)
    if difference is None:
        return Outcome(operation, input, *replies, Verdict.PASS)
    return Outcome(operation, input, *replies, Verdict.FAIL, "other answers", difference)


_FAULTS: Mapping[str, str] = {"crash": "crashes", "timeout": "takes too long", "protocol": "breaks the protocol"}


def _kind_of_reply(reply: Reply) -> str:
    if isinstance(reply, Refused):
        return f"refuses as {reply.reason}"
    return _FAULTS[reply.kind] if isinstance(reply, Fault) else "answers"


class Cause(NamedTuple):
    """The operation, what happens, and at what kind of character; the last may be empty.

    >>> str(Cause("encode", "B has more tokens at the start: '[CLS]'", ""))
    "encode: B has more tokens at the start: '[CLS]'"
    """

    operation: str
    what: str
    where: str

    def __str__(self) -> str:
        return f"{self.operation}: {self.what}{f', at {self.where}' if self.where else ''}"


def cause_of(outcome: Outcome, text: str) -> Cause:
    """Return the cause of an outcome that differs; ``text`` is what was tokenized where the input is not one.

    >>> outcome = compare_replies("encode", {"text": "a  b"}, Answer({"tokens": ["a", "ĠĠb"]}),
    ...     Answer({"tokens": ["a", "Ġ", "Ġb"]}))
    >>> str(cause_of(outcome, "a  b"))
    'encode: B cuts where A does not, at white space'
    """
    if not (isinstance(outcome.a, Answer) and isinstance(outcome.b, Answer)) or outcome.difference is None:
        sides = (("A", outcome.a), ("B", outcome.b))
        said = [f"{side} {_describe(reply)}" for side, reply in sides if not isinstance(reply, Answer)]
        return Cause(outcome.operation, "; ".join(said), "")
    text = outcome.input.get("text", text)
    describe = _DESCRIBE.get(outcome.operation, _describe_other)
    return Cause(outcome.operation, *describe(outcome.a.result, outcome.b.result, outcome.difference, text))


def _describe(reply: Reply) -> str:
    """Describe a refusal or a fault; what a program wrote to standard error names addresses and times."""
    message = reply.message.partition("; standard error")[0] if isinstance(reply, Fault) else ""
    return _kind_of_reply(reply) + (f": {shorten(message, 100)}" if message else "")


_Result = Mapping[str, Any]


def _describe_other(a: _Result, b: _Result, difference: Difference, text: str) -> tuple[str, str]:
    return f"other {next(map(str, difference.path), 'answers')}", ""


def _describe_text(a: _Result, b: _Result, difference: Difference, text: str) -> tuple[str, str]:
    left, right = a["text"], b["text"]
    at = _first(left, right)
    before, after = left[at : at + 1], right[at : at + 1]
    if len(left) == len(right):
        return "another character", kind(before)
    if not before or (after and left[at:].endswith(right[at + 1 :]) and len(left) < len(right)):
        return "B has more characters", kind(after)
    if len(left) > len(right):
        return "A has more characters", kind(before)
    return "other characters", kind(before)


def _describe_pieces(a: _Result, b: _Result, difference: Difference, text: str) -> tuple[str, str]:
    left, right = ([piece[0] for piece in result["pieces"]] for result in (a, b))
    if left == right:
        return "the same pieces, other spans", kind(_character_at(a["pieces"], difference, text))
    return _describe_cut(left, right, "piece", text)


def _describe_tokens(a: _Result, b: _Result, difference: Difference, text: str) -> tuple[str, str]:
    if "tokens" in a:
        if a["tokens"] != b["tokens"]:
            return _describe_cut(a["tokens"], b["tokens"], "token", text)
        field = str(difference.path[0])
        where = kind(_character_at(a["spans"], difference, text)) if field == "spans" else ""
        return f"the same tokens, other {field}", where
    return _describe_cut(a["ids"], b["ids"], "id", text) if "ids" in a else _describe_other(a, b, difference, text)


_DESCRIBE: Mapping[str, Callable[[_Result, _Result, Difference, str], tuple[str, str]]] = {
    "normalize": _describe_text,
    "pre_tokenize": _describe_pieces,
    "encode": _describe_tokens,
    "decode": _describe_text,
}


def _character_at(spans: Sequence[Any], difference: Difference, text: str) -> str:
    """Return the character with which the item begins that has another span."""
    path = difference.path
    at = path[1] if len(path) > 1 and isinstance(path[1], int) else 0
    return text[spans[at][-2] :][:1] if at < len(spans) else ""


#: Tokens that are named where they are more at an end, as special ones are; where there are more of them, what they are
#: is of the text, and not of the cause.
_NAMED = 2

#: What is put before tokens and is of their form, not of the text.
_PREFIXES = (" ", "Ġ", "▁", "##")


def _describe_cut(a: Sequence[Any], b: Sequence[Any], what: str, text: str) -> tuple[str, str]:
    """Compare two segmentations: one has more at an end; or at the first difference, one item begins the other."""
    if not (a and b):
        return f"{'B' if a else 'A'} has no {what}s", ""
    for side, more, fewer in (("B", list(b), list(a)), ("A", list(a), list(b))):
        if ends := _describe_ends(more, fewer):
            return f"{side} has more {what}s {ends}", ""
    at = _first(a, b)
    left, right = (items[at] if at < len(items) else "" for items in (a, b))
    if not (isinstance(left, str) and isinstance(right, str)):
        return f"other {what}s", ""
    for side, other, longer, shorter in (("B", "A", left, right), ("A", "B", right, left)):
        if shorter and longer.startswith(shorter):
            return f"{side} cuts where {other} does not", _kind_in(longer[len(shorter) :][:1], text)
    for side, longer, shorter in (("B", right, left), ("A", left, right)):
        if shorter and longer.endswith(shorter) and (prefix := longer.removesuffix(shorter)) in _PREFIXES:
            return f"{side} puts {prefix!r} before a {what}", ""
    return f"another {what}", _kind_in(left[:1] or right[:1], text)


def _describe_ends(longer: list[Any], shorter: list[Any]) -> str:
    """Say what the longer has before and behind all that the shorter has; nothing if it is not like that.

    >>> _describe_ends(["[CLS]", "a", "bug", "[SEP]"], ["a", "bug"])
    "at the start: '[CLS]', at the end: '[SEP]'"
    """
    extra = len(longer) - len(shorter)
    for before in dict.fromkeys((extra, *range(min(extra, _NAMED + 1)))) if extra > 0 else ():
        if longer[before : before + len(shorter)] == shorter:
            ends = {"start": longer[:before], "end": longer[before + len(shorter) :]}
            return ", ".join(f"at the {where}{_name(items)}" for where, items in ends.items() if items)
    return ""


def _name(items: Sequence[Any]) -> str:
    return f": {shorten(' '.join(map(repr, items)), 60)}" if len(items) <= _NAMED else ""


def _first(a: Sequence[Any], b: Sequence[Any]) -> int:
    """Return how many items at the start are the same."""
    shorter = min(len(a), len(b))
    return next((at for at in range(shorter) if a[at] != b[at]), shorter)


# Counting tokens

#: What the lengths of two stretches may come to, multiplied, to be aligned; in longer ones all tokens differ.
_ALIGNED = 1_000_000


def count_different_tokens(a: Sequence[Any], b: Sequence[Any]) -> int:
    """Count the tokens of the longer list that no common run covers.

    >>> count_different_tokens([1, 2, 3, 4, 5], [1, 2, 9, 4, 5])
    1
    """
    start = _first(a, b)
    a, b = a[start:], b[start:]
    end = _first(a[::-1], b[::-1])
    a, b = a[: len(a) - end], b[: len(b) - end]
    longest = max(len(a), len(b))
    if len(a) * len(b) > _ALIGNED:
        return longest
    return longest - sum(block.size for block in SequenceMatcher(None, a, b, False).get_matching_blocks())


# Kinds of characters

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


def kind(character: str) -> str:
    """Name the kind of a character, and the script of a letter or a mark.

    >>> kind("é"), kind("水"), kind("\\n"), kind("")
    ('letters (latin)', 'letters (cjk)', 'white space', 'the end')
    """
    if not character:
        return "the end"
    if character.isspace():
        return "white space"
    category = unicodedata.category(character)
    name = _KINDS.get(category) or _KINDS[category[0]]
    script = unicodedata.name(character, "").split(" ")[0].split("-")[0].lower()
    return f"{name} ({script})" if category[0] in "LM" and script else name


def _kind_in(character: str, text: str) -> str:
    """Name the kind of a character of a token, which may stand for another in the text, or for a byte of one.

    >>> _kind_in("Ġ", "a b"), _kind_in("▁", "a b"), _kind_in("Ġ", "Ġużepp"), _kind_in("ð", "🙂")
    ('white space', 'white space', 'letters (latin)', 'parts of characters')
    """
    if not character or character in text or character in unicodedata.normalize("NFKC", text.lower()):
        return kind(character)
    if character == "▁":  # stands for a space in the tokens of SentencePiece and its kin
        return kind(" ")
    byte = to_bytes(character)
    if byte is None:
        return kind(character)
    return kind(chr(byte[0])) if byte[0] < 0x80 else "parts of characters"
