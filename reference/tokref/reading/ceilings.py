"""Refusals of small inputs that ask for very much (``spec/09-errors.md``, PATTERN-2).

None of this is a rule of a chapter: a padding to a length of a billion has a right answer, which nobody can wait for. A
model that is read has patterns with a time limit and a character map with a ceiling; a caller that answers requests
first counts what a request would make.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import regex

from tokref.added_tokens import SpecialTokens, keep_allowed, refuse_disallowed
from tokref.charsmap import CharacterMap
from tokref.choices import Choices
from tokref.errors import InputError, brief
from tokref.lengths import padded_length, truncate
from tokref.patterns import Pattern, PatternReader
from tokref.pipeline import TextPart, encode_inputs, encode_parts
from tokref.post_processing import added_count
from tokref.values import EncodedToken, Encoding, Padding, Tokenizer, Unigram

DEEPEST_COMPONENT = 100
"""How many levels of lists and objects a component may have: reading and applying it go down by recursion."""

LONGEST_PATTERN = 4096
"""How many characters a pattern may have; the longest published one has some 500."""

MOST_REPETITIONS, MOST_TOGETHER, DEEPEST_PATTERN = 1_000, 10_000, 20
"""How often an atom may be repeated, by one count and by those around it together; how deep groups and classes nest."""

SECONDS = 5.0
"""How long one search may take: patterns can be written that take for ever."""

LONGEST_REPLACEMENT = 1_000
"""How many characters a replacement of a character map may have; the longest published one has 18."""

MOST_OVERFLOWING, MOST_FILLED = 100_000, 2**20
"""How many parts may overflow, and how many tokens may be inserted to pad a batch."""

MOST_SEGMENTATIONS = 100_000
"""How many segmentations of a word are listed."""


# Models


def refuse_deep(stage: str, value: Any) -> None:
    """Refuse a component that is nested too deeply, going down level by level: calls cannot go as deep as values."""
    level = [value]
    for _ in range(DEEPEST_COMPONENT):
        level = [inner for outer in level for inner in _values_inside(outer)]
    if level:
        message = f"the {stage} is nested deeper than {DEEPEST_COMPONENT} levels; flatten its sequences"
        raise InputError("unsupported", message)


def _values_inside(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def refuse_heavy_pattern(source: str) -> None:
    """Refuse a regular expression that is long, nests deeply or counts far.

    >>> refuse_heavy_pattern("(?:" * 21)
    Traceback (most recent call last):
        ...
    tokref.errors.InputError: unsupported: the pattern has groups nested deeper than 20 levels
    """
    if len(source) > LONGEST_PATTERN:
        raise InputError("unsupported", f"a pattern of {len(source)} characters is longer than {LONGEST_PATTERN}")
    _CountingReader(source, Choices()).read()


class _CountingReader(PatternReader):
    """Reads a pattern as the chapter does, and refuses one that asks for much where it meets that."""

    times = 1  # how often the counts in the atom that was read last repeat a part of it
    most = 1  # the same of all atoms of this group so far

    def alternatives(self, depth: int) -> str:
        if depth > DEEPEST_PATTERN:
            raise InputError("unsupported", f"the pattern has groups nested deeper than {DEEPEST_PATTERN} levels")
        around, self.most = self.most, 1
        written = super().alternatives(depth)
        self.times, self.most = self.most, around
        return written

    def atom(self, depth: int) -> str:
        self.times = 1
        return super().atom(depth)

    def repetition(self) -> regex.Match[str] | None:
        match = super().repetition()
        if match:
            count = max([1, *(int(number[:9]) for number in regex.findall(r"\d+", match[0]))])
            self.times *= count
            if count > MOST_REPETITIONS or self.times > MOST_TOGETHER:
                rule = f"counts above {MOST_REPETITIONS}, or {MOST_TOGETHER} with those in it"
                raise InputError("unsupported", f"the pattern has the repetition {brief(match[0])}, which {rule}")
        self.most = max(self.most, self.times)
        return match

    def character_class(self, depth: int = 0) -> str:
        if depth > DEEPEST_PATTERN:
            raise InputError("unsupported", f"the pattern has classes nested deeper than {DEEPEST_PATTERN} levels")
        return super().character_class(depth)


@dataclass(frozen=True)
class TimedPattern(Pattern):
    """A pattern whose search is given up."""

    def search(self, text: str, choices: Choices, timeout: float | None = SECONDS) -> list[tuple[int, int]]:
        """Return the spans of all matches.

        Raises:
            InputError: ``unsupported``, where the search takes too long.
        """
        try:
            return super().search(text, choices, timeout)
        except TimeoutError:
            written = self.compile(choices).pattern
            raise InputError("unsupported", f"the pattern {brief(written)} takes too long") from None


class LimitedMap(CharacterMap):
    """A character map that gives no replacement which is very long; only using one shows how long it is."""

    def replacement(self, place: int) -> str:
        """Return the replacement that begins at a place.

        Raises:
            InputError: ``unsupported``, where it is very long.
        """
        found = super().replacement(place)
        if len(found) > LONGEST_REPLACEMENT:
            what = f"a replacement of {len(found)} characters"
            raise InputError("unsupported", f"the character map has {what}, more than {LONGEST_REPLACEMENT}")
        return found


# Requests


def refuse_large_encoding(
    inputs: Sequence[Sequence[str]],
    tokenizer: Tokenizer,
    choices: Choices,
    add_special_tokens: bool,
    allowed_special: SpecialTokens,
    disallowed_special: SpecialTokens,
) -> None:
    """Refuse a batch of which very much would overflow or be filled up.

    It is encoded without what may be too much, and then counted. Whatever else is refused is refused in the order of
    :func:`tokref.encode_inputs`.
    """
    if tokenizer.truncation is not None:
        for text in (text for texts in inputs for text in texts):
            refuse_disallowed(text, tokenizer.special_tokens, allowed_special, disallowed_special)
        bare = replace(
            keep_allowed(tokenizer, allowed_special, choices), post_processor=None, truncation=None, padding=None
        )
        for texts in inputs:
            encoded = [encode_inputs([[text]], bare, choices)[0].tokens for text in texts]
            added = added_count(tokenizer.post_processor, len(texts)) if add_special_tokens else 0
            refuse_many_parts(truncate(encoded, tokenizer.truncation, added, choices))
    if tokenizer.padding is not None:
        bare = replace(tokenizer, padding=None)
        encodings = encode_inputs(inputs, bare, choices, add_special_tokens, allowed_special, disallowed_special)
        refuse_much_padding(encodings, tokenizer.padding)


def refuse_large_prompt(
    parts: Sequence[TextPart | Sequence[int]], tokenizer: Tokenizer, choices: Choices, add_special_tokens: bool
) -> None:
    """Refuse the parts of a prompt of which very much would be cut off in parts or filled up."""
    if tokenizer.truncation is not None:
        bare = replace(tokenizer, post_processor=None, truncation=None, padding=None)
        added = added_count(tokenizer.post_processor, 1) if add_special_tokens else 0
        encoded = encode_parts(parts, bare, choices).tokens
        refuse_many_parts(truncate([encoded], tokenizer.truncation, added, choices))
    if tokenizer.padding is not None:
        bare = replace(tokenizer, padding=None)
        refuse_much_padding([encode_parts(parts, bare, choices, add_special_tokens)], tokenizer.padding)


def refuse_many_parts(parts: Sequence[Sequence[tuple[EncodedToken, ...]]]) -> None:
    """Refuse the parts of a text, or of a pair, of which more than the first would make very many encodings."""
    overflowing = prod(map(len, parts)) - 1
    if overflowing > MOST_OVERFLOWING:
        raise InputError("unsupported", f"{overflowing} parts would overflow, more than {MOST_OVERFLOWING}")


def refuse_much_padding(encodings: Sequence[Encoding], padding: Padding | None) -> None:
    """Refuse encodings into which very many tokens would be put to fill them up."""
    if padding is None:
        return
    length = padded_length(encodings, padding)
    parts = [part for encoding in encodings for part in (encoding, *encoding.overflowing)]
    filled = sum(max(length - len(part.tokens), 0) for part in parts)
    if filled > MOST_FILLED:
        raise InputError("unsupported", f"padding would put in {filled} tokens, more than {MOST_FILLED}")


def refuse_many_segmentations(word: str, model: Unigram) -> None:
    """Refuse a word that can be written as tokens in very many ways, which are counted from its end.

    >>> refuse_many_segmentations("a" * 40, Unigram({"a": 1, "aa": 1}))
    Traceback (most recent call last):
        ...
    tokref.errors.InputError: unsupported: 'aaaaaaaaaaaaaaaaaaaaaaaaa' has 121393 segmentations, more than 100000
    """
    known = model.ordinary
    counts = {len(word): 1}  # how many ways there are to write what begins at a place
    for start in reversed(range(len(word))):
        ends = [end for end in range(start + 1, len(word) + 1) if word[start:end] in known]
        counts[start] = sum(counts[end] for end in ends)
        if counts[start] > MOST_SEGMENTATIONS:
            message = f"{brief(word[start:])} has {counts[start]} segmentations, more than {MOST_SEGMENTATIONS}"
            raise InputError("unsupported", message)
