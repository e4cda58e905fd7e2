"""Causes of differences: thousands of differences mostly have few causes.

A cause is identified by the first stage that differs, by the way in which it does, and by the kind of character where
it does. That is a description, not a proof: two causes may look alike.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import compress, count
from operator import ne
from typing import Any, NamedTuple

from tokspec.base.display import shorten
from tokspec.formats.tiktoken_ranks import to_bytes

#: How a cause begins if the case passes with another option of a choice.
CHOICE = "passes with "


class Cause(NamedTuple):
    """The operation, what happens, and at what kind of character, which may be empty.

    >>> str(Cause("encode", "a token more at the start: '[CLS]'", ""))
    "encode: a token more at the start: '[CLS]'"
    """

    operation: str
    what: str
    where: str

    def __str__(self) -> str:
        return f"{self.operation}: {self.what}{f', at {self.where}' if self.where else ''}"


class Seen(NamedTuple):
    """A comparison: the text, both results, and where they first differ.

    ``character`` is the one at which the item with a different span begins; ``other`` names the side that is right.
    """

    text: str
    expected: Mapping[str, Any]
    actual: Mapping[str, Any]
    path: Sequence[str | int]
    character: str = ""
    other: str = "the case"


def cause_of_difference(operation: str, seen: Seen) -> Cause:
    """Return the cause of a wrong answer to one of the operations in :data:`COMPARED`.

    >>> str(cause_of_difference("encode", Seen("bug", {"tokens": ["bug"]}, {"tokens": ["▁bug"]}, ("tokens", 0))))
    "encode: puts '▁' before a token"
    """
    return Cause(operation, *_TELLERS[operation](seen))


def _of_text(seen: Seen) -> tuple[str, str]:
    left, right = seen.expected.get("text", ""), seen.actual.get("text", "")
    at = count_common(left, right)
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
    return tell_cut("piece", left, right, seen.text, seen.other)


def _of_tokens(seen: Seen) -> tuple[str, str]:
    expected, actual = seen.expected, seen.actual
    name = str(seen.path[0]) if seen.path else ""
    if name == "spans":
        return "the same tokens, other spans", kind(seen.character)
    if name == "ids" and "tokens" in expected and expected["tokens"] == actual.get("tokens"):
        return "the same tokens, other ids", ""
    if name not in ("ids", "tokens"):
        return f"another {name}", ""
    return tell_cut("token", expected.get(name, []), actual.get(name, []), seen.text, seen.other)


def _of_parts(seen: Seen) -> tuple[str, str]:
    left, right = ([*result.get("parts", ()), result.get("end", "")] for result in (seen.expected, seen.actual))
    whole, other = "".join(left), "".join(right)
    if whole != other:
        what, where = _of_text(seen._replace(expected={"text": whole}, actual={"text": other}))
        return f"{what} in all parts", where
    at = count_common(left, right)
    if at == len(left) or at == len(right):
        return "the same text in another number of parts", ""
    return f"gives the same text {'later' if len(right[at]) < len(left[at]) else 'sooner'}", ""


#: How many extra or missing tokens at an end, such as special tokens, are named. Tokens that occur in the text, or more
#: tokens than these, are not named, because each text would then have its own cause.
_NAMED = 2

#: Prefixes that belong to the form of tokens, not to the text.
_PUT_BEFORE = (" ", "Ġ", "▁", "##")


def tell_cut(
    what: str,
    left: Sequence[Any],
    right: Sequence[Any],
    text: str,
    other: str,
    name: Callable[[Any], Any] = lambda item: item,
) -> tuple[str, str]:
    """Compare two segmentations: one has more items at an end, or the first items that differ are compared.

    Args:
        what: what the items are, ``token`` or ``piece``.
        left: the items of ``other``.
        right: the judged items.
        text: the text.
        other: the name of the side that is right.
        name: returns the text of an item, for items that are ids.

    >>> tell_cut("token", [1, 2], [1, 3, 4], "a  b", "A", {1: "a", 2: "ĠĠb", 3: "Ġ", 4: "Ġb"}.get)
    ('cuts where A does not', 'white space')
    """
    if not (left and right):
        return (f"no {what}s" if left else f"{what}s where {other} has none"), ""
    if len(left) != len(right):
        how, longer, shorter = ("fewer", left, right) if len(left) > len(right) else ("more", right, left)
        if ends := _ends(longer, shorter, name, text):
            return f"{how} {what}s {ends}", ""
    at = count_common(left, right)
    before, after = (name(items[at]) if at < len(items) else "" for items in (left, right))
    if not (isinstance(before, str) and isinstance(after, str)):
        return f"other {what}s", ""
    said, character = _tell_items(what, before, after, other)
    return said, "" if character is None else kind_in(character, text)


@lru_cache(65_536)  # millions of texts differ at the same few tokens
def _tell_items(what: str, before: str, after: str, other: str) -> tuple[str, str | None]:
    """Compare the first items that differ; the character is the one where they differ, if it matters."""
    if before.startswith(after) and after:
        return f"cuts where {other} does not", before[len(after) :][:1]
    if after.startswith(before) and before:
        return f"does not cut where {other} does", after[len(before) :][:1]
    for verb, whole, rest in (("puts", after, before), ("does not put", before, after)):
        if rest and whole.endswith(rest) and (put := whole.removesuffix(rest)) in _PUT_BEFORE:
            return f"{verb} {put!r} before a {what}", None
        if whole in _PUT_BEFORE and rest not in _PUT_BEFORE:
            return f"{verb} {whole!r} before a {what}", None
    return f"another {what}", before[:1] or after[:1]


def _ends(longer: Sequence[Any], shorter: Sequence[Any], name: Callable[[Any], Any], text: str) -> str:
    """Describe the extra items of the longer list around those of the shorter; empty if it does not contain them so.

    >>> _ends(["[CLS]", "a", "bug", "[SEP]"], ["a", "bug"], str, "a bug")
    "at the start: '[CLS]', at the end: '[SEP]'"
    >>> _ends(["a", "▁bug"], ["a"], str, "a bug")
    'at the end'
    """
    extra = len(longer) - len(shorter)
    for before in (extra, *range(min(extra, _NAMED + 1))):
        if longer[before] == shorter[0] and longer[before : before + len(shorter)] == shorter:
            ends = {"start": longer[:before], "end": longer[before + len(shorter) :]}
            named = {at: _named(tuple(map(name, items[: _NAMED + 1])), text) for at, items in ends.items() if items}
            return ", ".join(f"at the {at}{items}" for at, items in named.items())
    return ""


def _named(items: Sequence[Any], text: str) -> str:
    is_of_text = any(not isinstance(item, str) or _bare(item) in text for item in items)
    return "" if len(items) > _NAMED or is_of_text else f": {shorten(' '.join(map(repr, items)), 60)}"


@lru_cache(4096)
def _bare(token: str) -> str:
    """Return a token without its prefix."""
    return next((token.removeprefix(put) for put in _PUT_BEFORE if token.startswith(put)), token)


def count_common(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Return how many items at the start are the same.

    >>> count_common("hug", "hub"), count_common("hu", "hug")
    (2, 2)
    """
    return next(compress(count(), map(ne, left, right)), min(len(left), len(right)))


_TELLERS: Mapping[str, Callable[[Seen], tuple[str, str]]] = {
    "normalize": _of_text,
    "pre_tokenize": _of_pieces,
    "encode": _of_tokens,
    "decode": _of_text,
    "decode_stream": _of_parts,
}

#: The operations whose answers are compared.
COMPARED = tuple(_TELLERS)


# Messages of faults and refusals

#: Parts that differ between two runs of the same program: temporary files and addresses.
_TEMPORARY = r"(?P<file>(?:/var/folders|/dev/shm|(?:/private|/var)?/tmp)/[^\s:,;'\")\]]*|\btmp[a-z0-9_]{6,})"
_ADDRESS = r"0[xX][0-9a-fA-F]+|(?<!\w)(?=[0-9a-fA-F-]*\d)(?!\d+(?!\w))[0-9a-fA-F]{4,}(?:-[0-9a-fA-F]{4,})*(?!\w)"
_OF_A_RUN = re.compile(f"{_TEMPORARY}|{_ADDRESS}")

#: A number, with its sign, its groups and its fraction; the 8 of UTF-8 is not one.
_NUMBER = r"(?<!utf)(?<!utf-)(?<![\d.])-?\d+(?:[.,_]\d+)*(?:e[+-]?\d+)?"

#: Parts that differ between two messages of the same fault.
_OF_A_MESSAGE = re.compile(rf"(?P<name>(?<!\w)'[^']*'|\"[^\"]*\"|`[^`]*`)|{_NUMBER}", re.IGNORECASE)

#: Several numbers; another message of the same fault may have more or fewer.
_NUMBERS = re.compile(r"\bN(?:, ?N\b)+")


def without_addresses(message: str) -> str:
    """Return a message without the temporary files and addresses of one run.

    >>> without_addresses("bad pointer 0x7f3a at 00007ffe12ab in thread 8f3c2d1e, status 4711")
    'bad pointer N at N in thread N, status 4711'
    >>> without_addresses("cannot open /tmp/tmpq8_s7x/vocab.txt")
    'cannot open …'
    """
    return _OF_A_RUN.sub(lambda match: "…" if match["file"] else "N", message)


def without_particulars(message: str) -> str:
    """Return a message without names and numbers, in which two messages of the same fault differ.

    >>> without_particulars("index 17 out of range for 'bug' at 0x7f3a")
    'index N out of range for … at N'
    >>> without_particulars("a line is not utf-8 at byte 35")
    'a line is not utf-8 at byte N'
    >>> without_particulars("shape [1, 2, 3] at -1.5e-7 is not [4, 5] of 1,000")
    'shape [N, …] at N is not [N, …] of N'
    """
    folded = _OF_A_MESSAGE.sub(lambda match: "…" if match["name"] else "N", without_addresses(message))
    return _NUMBERS.sub("N, …", folded)


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

#: The character for a space in the tokens of SentencePiece and its kin.
_SPACE = "▁"


@lru_cache(4096)
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


def kind_in(character: str, text: str) -> str:
    """Name the kind of character that a token's character represents in the text: itself, another or a part of one.

    >>> kind_in("Ġ", "a b"), kind_in("▁", "a b"), kind_in("Ġ", "Ġużepp"), kind_in("ð", "🙂")
    ('white space', 'white space', 'letters (latin)', 'parts of characters')
    """
    if not character or character in text or character in unicodedata.normalize("NFKC", text.lower()):
        return kind(character)
    if character == _SPACE:
        return kind(" ")
    byte = to_bytes(character)
    if byte is None:
        return kind(character)
    return kind(chr(byte[0])) if byte[0] < 0x80 else "parts of characters"
