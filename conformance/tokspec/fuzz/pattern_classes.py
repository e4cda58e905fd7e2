"""The classes of characters that a pattern tells apart, and the characters that represent each class.

The sets of a pattern (its characters, classes and properties, and the characters that its anchors look at) divide all
characters into classes: no set tells two characters of one class apart. One character represents a class. Others are
added that hand-written lexers get wrong: one for each general category and for each answer that the predicates of
programming languages give, such as a letter that is numeric, one beyond ASCII and one beyond U+FFFF, all members of a
small class, characters with the same case folding, such as ``S`` and ``ſ`` for ``s``, and some that libraries are known
to get wrong.

Surrogates are left out, because they are not text. A pattern that tells characters apart by other means than sets is
refused.
"""

from __future__ import annotations

import sys
import unicodedata
from collections import defaultdict
from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, pairwise
from typing import Any, NamedTuple

import regex

from tokspec.adapter import Refusal
from tokspec.adapters.patterns import alike, read_sets
from tokspec.base.display import compact, did_you_mean, visible
from tokspec.base.errors import DataError
from tokspec.fuzz.characters import has_newer, is_recent
from tokspec.suite.fixtures import load_suite

#: The cases that contain the published patterns.
PUBLISHED = {
    name.replace("-", ""): f"published-{name}"
    for name in ("gpt-2", "cl100k", "o200k", "llama-3", "qwen", "deepseek", "tekken", "kimi", "gemma")
}

#: All characters of a class are tried if it has at most this many.
_SMALL = 10

#: Characters that only some libraries take for white space, and letters that tables of ranges lack.
_DOUBTFUL = "\v\x1c\x85\u180e\u200b\u3000\ufeff中한"


class CharacterClass(NamedTuple):
    """Characters that no set of a pattern tells apart.

    ``members`` are those that are tried, the most readable one first; ``sets`` are the sets that contain them, as the
    pattern writes them.
    """

    members: str
    size: int
    sets: tuple[str, ...]

    @property
    def written(self) -> str:
        """The member that is used in each of the three ways: readable, beyond ASCII, beyond U+FFFF."""
        middle = next((each for each in self.members if "\x7f" < each <= "\uffff"), self.members[-1])
        return self.members[0] + middle + next((each for each in self.members if each > "\uffff"), self.members[-1])

    def __str__(self) -> str:
        """Describe the class in one line.

        >>> str(CharacterClass("sSſ", 3, ("[sdmt]",)))
        '"s"  3 characters, beyond ASCII: [sdmt]; also "S" "ſ"'
        """
        last = max(self.members)
        reach = ", beyond U+FFFF" if last > "\uffff" else ", beyond ASCII" if last > "\x7f" else ""
        also = f"; also {' '.join(map(compact, self.members[1:]))}" if self.members[1:] else ""
        sets = ", ".join(compact(each) if each.isspace() else visible(each) for each in self.sets) or "in no set"
        return f"{compact(self.members[0])}  {self.size} character{'s'[: self.size > 1]}{reach}: {sets}{also}"


@dataclass(frozen=True)
class Lexicon:
    """A pre-tokenizer with the classes that its patterns tell apart, and its alternatives as they are written."""

    pre_tokenizer: Mapping[str, Any]
    classes: Sequence[CharacterClass]
    alternatives: Sequence[tuple[str, regex.Pattern[str]]]

    @property
    def members(self) -> str:
        """All characters that are tried."""
        return "".join(each.members for each in self.classes)

    @property
    def ways(self) -> list[str]:
        """The characters that represent all classes, in each of the three ways."""
        ways = zip(*(each.written for each in self.classes), strict=True)
        return list(dict.fromkeys("".join(way) for way in ways))

    def lines(self) -> Iterator[str]:
        """Return the classes, one per line."""
        yield f"{len(self.classes)} classes, {len(self.members)} characters are asked"
        yield from (f"  {each}" for each in self.classes)
        yield ""


def read_lexicon(pattern: str, options: Mapping[str, str]) -> Lexicon:
    r"""Return the classes of a regular expression, or of the published pattern with that name, with these options.

    Raises:
        DataError: no pattern has the name, or the pattern has parts that the specification or this module does not
            know.

    >>> [each.members for each in read_lexicon("'[st]|[^']", {}).classes][:2]
    ["'", 'st']
    """
    if not pattern:
        raise DataError("is empty; give a regular expression, or the name of a published pattern", key="--pattern")
    stage: Mapping[str, Any] = {"type": "split", "pattern": {"regex": pattern}, "behavior": "isolated"}
    if regex.fullmatch(r"[A-Za-z][\w-]*", pattern):
        if pattern not in PUBLISHED:
            question = did_you_mean(pattern, PUBLISHED)
            known = f"{question}there are {', '.join(PUBLISHED)}, and (?:{pattern}) is a regular expression"
            raise DataError(f"{pattern!r} names no published pattern; {known}", key="--pattern")
        stage = load_suite().cases[PUBLISHED[pattern]].model.content["pre_tokenizer"]
    sources = [_source(each["pattern"]) for each in stage.get("pre_tokenizers", [stage])]
    try:
        sets, alternatives = read_sets(sources, options)
    except Refusal as refusal:
        raise DataError(refusal.message, key="--pattern") from None
    return Lexicon(stage, _classes(sets), alternatives)


def _source(pattern: Mapping[str, str]) -> str:
    return pattern["regex"] if "regex" in pattern else regex.escape(pattern["string"], literal_spaces=True)


def _classes(sets: Mapping[str, str]) -> list[CharacterClass]:
    """Return the classes in the order of their sets, starting with those of the first set."""
    text = "".join(map(chr, chain(range(0xD800), range(0xE000, sys.maxunicode + 1))))
    compiled = [regex.compile(written, regex.VERSION1) for written in sets]
    runs = [regex.compile(f"{written}+", regex.VERSION1).finditer(text) for written in sets]
    ends = {0, len(text), *(end for found in runs for match in found for end in match.span())}
    classes = defaultdict[tuple[bool, ...], list[str]](list)
    for start, end in pairwise(sorted(ends)):
        classes[tuple(each.match(text, start) is not None for each in compiled)].append(text[start:end])
    names = list(sets.values())
    found = [("".join(parts), held) for held, parts in sorted(classes.items(), reverse=True)]
    small = "".join(characters for characters, _ in found if len(characters) <= _SMALL)
    doubtful = {*_DOUBTFUL, *small, *(other for each in small for other in alike(each))}
    return [
        CharacterClass(_members(characters, doubtful), len(characters), tuple(dict.fromkeys(compress(names, held))))
        for characters, held in found
    ]


def _members(characters: str, doubtful: Container[str]) -> str:
    """Return the characters of a class that are tried: old ones, which all versions of Unicode treat alike.

    >>> _members("'", ""), _members("".join(map(chr, range(97, 123))) + "éªé\U00010428", "z")
    ("'", 'azªé𐐨')
    >>> "一" in _members("上下一二", "")
    True
    """
    found, recent = dict[Hashable, str](), dict[Hashable, str]()
    for each in characters:
        plane = "ASCII" if each <= "\x7f" else "BMP" if each <= "\uffff" else "beyond"
        for key in (unicodedata.category(each), plane, _told_apart(each), each if each in doubtful else plane):
            if key not in found and not has_newer(each):
                (recent if is_recent(each) else found).setdefault(key, each)
    members = {*found.values(), *(each for key, each in recent.items() if key not in found)} or {characters[0]}
    plain = min(members, key=lambda each: (each > "\x7f", not each.isprintable(), each))
    return plain + "".join(sorted(members - {plain}))


def _told_apart(character: str) -> Hashable:
    """Return what the predicates of programming languages say about a character: 㐅 is a letter, and numeric."""
    return character.isalpha(), character.isnumeric(), character.isdigit(), character.isspace(), character.isprintable()
