"""Patterns: the regular expressions that published tokenizers use (``spec/13-patterns.md``).

A pattern is read part by part and written again for the package ``regex``, so that each construct means what its
clause says and any other is refused. Matching itself is that package's: a search from left to right that tries
alternatives in their order.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import NoReturn

import regex

from tokref.choices import Choices
from tokref.errors import InputError, brief

ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
CLASSES = {  # PATTERN-3, PATTERN-4
    "s": r"\p{White_Space}",
    "S": r"\P{White_Space}",
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "w": r"\w",  # PATTERN-12: the module's has the joiners too, as UTS #18 has
    "W": r"\W",
    "h": "0-9A-Fa-f",  # PATTERN-13
    "H": "[^0-9A-Fa-f]",
}
ANCHORS = {  # PATTERN-14, PATTERN-15; to the module \Z is the end alone
    r"\A": r"\A",
    r"\z": r"\Z",
    r"\Z": r"(?=\n?\Z)",
    r"\b": r"\b",
    r"\B": r"\B",
    r"\G": r"\G",
}
CATEGORIES = "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Co Cn"
SCRIPTS = (
    "Arabic Armenian Bengali Bopomofo Common Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul "
    "Hebrew Hiragana Inherited Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Sinhala Tamil Telugu Thai "
    "Tibetan"
)
PROPERTIES = {*CATEGORIES.split(), *SCRIPTS.split(), "Alphabetic", "Lowercase", "Uppercase", "White_Space"}  # PATTERN-4
POSIX = {  # PATTERN-11, by the option of pattern_posix_class
    "unicode": {
        "alnum": r"\p{Alphabetic}\p{Nd}",
        "alpha": r"\p{Alphabetic}",
        "ascii": r"\x00-\x7f",
        "blank": r"\t\p{Zs}",
        "cntrl": r"\p{Cc}",
        "digit": r"\p{Nd}",
        "graph": r"[^\p{White_Space}\p{Cc}\p{Cs}\p{Cn}]",
        "lower": r"\p{Lowercase}",
        "print": r"[^\p{Zl}\p{Zp}\p{Cc}\p{Cs}\p{Cn}]",
        "punct": r"\p{P}\p{S}",
        "space": r"\p{White_Space}",
        "upper": r"\p{Uppercase}",
        "word": r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}",
        "xdigit": "0-9A-Fa-f",
    },
    "ascii": {
        "alnum": "0-9A-Za-z",
        "alpha": "A-Za-z",
        "ascii": r"\x00-\x7f",
        "blank": r"\t\ ",
        "cntrl": r"\x00-\x1f\x7f",
        "digit": "0-9",
        "graph": r"\x21-\x7e",
        "lower": "a-z",
        "print": r"\x20-\x7e",
        "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
        "space": r"\t-\r\ ",
        "upper": "A-Z",
        "word": "0-9A-Za-z_",
        "xdigit": "0-9A-Fa-f",
    },
}
LINE_START, LINE_END = r"(?:\A|(?<=\n)(?!\Z))", r"(?=\n|\Z)"
PLACES = {*ANCHORS.values(), LINE_START, LINE_END}
"""How places of a text are written: they match no character and are not repeated."""
GROUPS = ("(?i:", "(?:", "(?>", "(?=", "(?!", "(?<=", "(?<!")  # PATTERN-6, PATTERN-7, PATTERN-18


def fold(character: str) -> str:
    """Return the simple case folding of a character, which is one character: of ẞ it is ß, and of ß itself."""
    for folded in (character.casefold(), character.lower()):
        if len(folded) == 1:
            return folded
    return character


def alike() -> dict[str, list[str]]:
    """Return, for each character that has case, all of the same simple case folding (PATTERN-6)."""
    groups = defaultdict[str, list[str]](list)
    for character in regex.findall(r"\p{Changes_When_Casemapped}", "".join(map(chr, range(0x1F000)))):  # no case above
        groups[fold(character)].append(character)
    return {character: group for group in groups.values() for character in group}


# Two letters of ASCII have a third one that folds to the same: K the sign of Kelvin, and s the long s of old prints. So
# 's in a pattern that ignores case is found in 'ſ too.
ALIKE = alike()


@dataclass(frozen=True)
class Pattern:
    """A text that is looked for literally, or a regular expression (PATTERN-2)."""

    source: str
    is_regex: bool = True

    def compile(self, choices: Choices) -> regex.Pattern[str]:
        """Return the pattern as the package ``regex`` has it."""
        if not self.is_regex:
            return regex.compile(regex.escape(self.source))
        return compile_pattern(self.source, choices)

    def search(self, text: str, choices: Choices, timeout: float | None = None) -> list[tuple[int, int]]:
        """Return the spans of all matches, and among them those that are empty.

        Patterns can be written whose search never ends; a caller that cannot wait gives the seconds.

        Raises:
            TimeoutError: the search took longer.
        """
        compiled = self.compile(choices)
        return [match.span() for match in compiled.finditer(text, timeout=timeout)]


def find_matches(pattern: Pattern, text: str, choices: Choices) -> list[tuple[int, int]]:
    """Return where a pattern matches, from left to right without overlap; an empty match does not count (PATTERN-1).

    >>> find_matches(Pattern("a|ab"), "abab", Choices()), find_matches(Pattern("a|", False), "a|a", Choices())
    ([(0, 1), (2, 3)], [(0, 2)])
    """
    return [(start, end) for start, end in pattern.search(text, choices) if start < end]


def find_cuts(pattern: Pattern, text: str, choices: Choices) -> list[tuple[int, int]]:
    """Return where a pattern matches, also where it matches no character (PATTERN-17).

    >>> find_cuts(Pattern("a*"), "baab", Choices())
    [(0, 0), (1, 3), (4, 4)]
    """
    spans = pattern.search(text, choices)
    return spans if all(start < end for start, end in spans) else find_by_steps(pattern.compile(choices), text)


def find_by_steps(compiled: regex.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return all matches; after an empty one the search goes on at the next character (PATTERN-17)."""
    # Engines differ here: the module itself would go on in the same place.
    found: list[tuple[int, int]] = []
    place = 0
    while place <= len(text) and (match := compiled.search(text, place)):
        start, end = match.span()
        if start == end and found and found[-1][1] == end:
            place += 1
        else:
            found.append((start, end))
            place = end
    return found


def compile_pattern(source: str, choices: Choices) -> regex.Pattern[str]:
    """Compile a pattern that has only constructs of the specification (PATTERN-2).

    Raises:
        InputError: ``unsupported``, naming the construct and its place.

    >>> compile_pattern(r"\\p{N}{1,3}", Choices()).findall("12345")
    ['123', '45']
    >>> compile_pattern(r"\\Xend", Choices())
    Traceback (most recent call last):
        ...
    tokref.errors.InputError: unsupported: the pattern has '\\\\X' at 0, which spec/13-patterns.md does not cover
    """
    written = PatternReader(source, choices).read()
    try:
        return regex.compile(written, regex.VERSION1)
    except regex.error as error:
        what, _, _ = str(error).partition(" at position ")  # the position is of what is written for the package
        raise InputError("invalid_model", f"the pattern {brief(source)} is wrong: {what}") from None


REFERENCE = regex.compile(r"\\([1-9])(?!\d)")
REPETITION = regex.compile(r"[*+?]|\{\d+(?:,\d*)?\}")
POSIX_NAME = regex.compile(r"(\^?)(\w+):\]")  # after [:
CODE_POINT = regex.compile(r"\\(?:u([0-9A-Fa-f]{4})|x\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2}))")
PROPERTY = regex.compile(r"\\([pP])\{(\^?)(\w+)\}")

NOWHERE = math.inf
"""Deeper than any group: case is ignored from no depth on."""


class PatternReader:
    """Reads a pattern from left to right and rewrites it; each method reads a construct and returns it as written.

    Raises:
        InputError: ``unsupported``, for a construct that the specification does not have; ``invalid_model``, for one
            without its end.
    """

    def __init__(self, source: str, choices: Choices) -> None:
        self.source, self.choices, self.place = source, choices, 0
        self.folded: float = NOWHERE  # how deep the outermost group around this place is that ignores case
        self.has_references = regex.search(r"\\[1-9]", source) is not None
        self.groups, self.whole_groups = 0, set[int]()  # how many have begun, and which have ended

    def read(self) -> str:
        written = self.alternatives(0)
        if self.place < len(self.source):
            self.refuse(")")
        return written

    def alternatives(self, depth: int) -> str:
        """Read alternatives up to the end of the group: the first that leads to a match is taken (PATTERN-1)."""
        written = ""
        while self.place < len(self.source) and self.source[self.place] != ")":
            if self.take("|"):
                written += "|"
            else:
                written += self.repeated(self.atom(depth))
        return written

    def atom(self, depth: int) -> str:
        for opening in GROUPS:
            if self.take(opening):
                if opening == "(?i:":
                    self.folded, opening = min(self.folded, depth), "(?:"  # PATTERN-6
                return opening + self.group(depth)  # PATTERN-7
        if self.source.startswith("(?", self.place):
            self.refuse(self.source[self.place : self.place + 3])
        if self.take("("):
            if self.has_references:
                return self.numbered_group(depth)
            return "(?:" + self.group(depth)
        if self.take("["):
            return self.character_class()
        if self.take("."):
            # Other line ends are characters like any other, also to engines whose dot stops at them.
            return r"[^\n]"  # PATTERN-9
        for anchor, meaning in ANCHORS.items():
            if self.take(anchor):
                return meaning
        reference = REFERENCE.match(self.source, self.place)
        if reference:
            return self.back_reference(reference)
        if self.take("^"):
            return r"\A" if self.choices.pattern_end == "text" else LINE_START  # PATTERN-9
        if self.take("$"):
            # To some engines an end is that of the text, to others that of each line.
            return r"\Z" if self.choices.pattern_end == "text" else LINE_END  # PATTERN-9
        character = self.source[self.place]
        if character in "^*+?{":
            self.refuse(character)
        return f"[{self.in_both_cases(self.escape() if self.take(chr(92)) else self.literal())}]"

    def numbered_group(self, depth: int) -> str:
        self.groups += 1
        number = self.groups
        written = "(" + self.group(depth)
        self.whole_groups.add(number)
        return written

    def back_reference(self, reference: regex.Match[str]) -> str:
        r"""Read \1 to \9, which match what a group before them has matched (PATTERN-16)."""
        # Within a group, before it, and where case is ignored, engines go ways of their own.
        if int(reference[1]) not in self.whole_groups or self.folded < NOWHERE:
            self.refuse(reference[0])
        self.place = reference.end()
        return reference[0]

    def in_both_cases(self, member: str) -> str:
        """Add to a member of a class what folds to the same, where case is ignored (PATTERN-6).

        The module's own way will not do: it takes ß for ss, and ı for i.
        """
        if not self.folded < NOWHERE:
            return member
        found = regex.compile(f"[{member}]", regex.VERSION1).findall("".join(ALIKE))
        others = {other for character in found for other in ALIKE[character]}
        return member + "".join(map(_write, sorted(others.difference(found))))

    def group(self, depth: int) -> str:
        written = self.alternatives(depth + 1) + ")"
        if not self.take(")"):
            raise InputError("invalid_model", f"the pattern {brief(self.source)} has a group without its end")
        if self.folded == depth:
            self.folded = NOWHERE
        return written

    def repeated(self, atom: str) -> str:
        """Read how often an atom is repeated: greedily, with ? lazily, with + possessively (PATTERN-5)."""
        match = self.repetition()
        if match is None:
            return atom
        if atom in PLACES:
            self.place = match.start()
            self.refuse(match[0])
        if self.take("?"):
            return atom + match[0] + "?"
        if self.take("+"):
            is_interval = match[0][0] == "{" and self.choices.pattern_interval_plus == "repeated"  # PATTERN-10
            return f"(?:{atom}{match[0]})+" if is_interval else atom + match[0] + "+"
        return atom + match[0]

    def repetition(self) -> regex.Match[str] | None:
        match = REPETITION.match(self.source, self.place)
        self.place = match.end() if match else self.place
        return match

    def character_class(self, depth: int = 0) -> str:
        """Read a class: members and ranges, perhaps negated, perhaps cut with another class by && (PATTERN-8)."""
        if depth and self.take(":"):
            return self.posix_class()
        written = "[^" if self.take("^") else "["
        while self.place < len(self.source) and not self.take("]"):
            if self.take("&&"):
                written += "&&"
            elif self.take("["):
                written += self.character_class(depth + 1)
            else:
                written += self.member()
        if self.source[self.place - 1 : self.place] != "]":
            raise InputError("invalid_model", f"the pattern {brief(self.source)} has a class without its end")
        return written + "]"

    def posix_class(self) -> str:
        """Read a class of characters that has a name, perhaps negated (PATTERN-11)."""
        classes = POSIX[self.choices.pattern_posix_class]
        named = POSIX_NAME.match(self.source, self.place)
        if named is None or named[2] not in classes:
            self.place -= 2
            self.refuse("[:")
        self.place = named.end()
        return f"[{named[1]}{self.in_both_cases(classes[named[2]])}]"

    def member(self) -> str:
        first = self.escape() if self.take("\\") else self.literal()
        behind = self.source[self.place : self.place + 2]
        is_range = behind[:1] == "-" and behind[1:] not in ("", "]")  # a last - stands for itself
        if is_range and first.startswith(r"\U"):
            self.place += 1
            first = f"{first}-{self.escape() if self.take(chr(92)) else self.literal()}"
        return self.in_both_cases(first)

    def escape(self) -> str:
        """Read what follows a backslash."""
        if self.place == len(self.source):
            raise InputError("invalid_model", f"the pattern {brief(self.source)} ends in a backslash")
        start = self.place - 1
        character = self.source[self.place]
        self.place += 1
        if character in CLASSES:
            return CLASSES[character]
        if character in ESCAPES:
            return _write(ESCAPES[character])
        number = CODE_POINT.match(self.source, start)
        if number:
            self.place = number.end()
            code_point = int(number[1] or number[2] or number[3], 16)
            if code_point > 0x10FFFF:
                message = f"the pattern has {number[0]!r} at {start}, which is no character"
                raise InputError("unsupported", message, start)
            return _write(chr(code_point))
        named = PROPERTY.match(self.source, start)
        if named and named[3] in PROPERTIES:
            self.place = named.end()
            is_negated = (named[1] == "P") != (named[2] == "^")
            covered = f"\\p{{{named[3]}}}"
            return f"[^{self.in_both_cases(covered)}]" if is_negated else covered
        if character.isalnum():
            self.place = start
            self.refuse(self.source[start : start + 2])
        return _write(character)

    def literal(self) -> str:
        character = self.source[self.place]
        self.place += 1
        return _write(character)

    def take(self, expected: str) -> bool:
        found = self.source.startswith(expected, self.place)
        self.place += len(expected) if found else 0
        return found

    def refuse(self, what: str) -> NoReturn:
        message = f"the pattern has {what!r} at {self.place}, which spec/13-patterns.md does not cover"
        raise InputError("unsupported", message, self.place)


def _write(character: str) -> str:
    """Write a character so that it stands for itself."""
    return f"\\U{ord(character):08x}"
