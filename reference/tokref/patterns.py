"""Patterns: the regular expressions that published tokenizers use (``spec/13-patterns.md``).

A pattern is read part by part and written again for the package ``regex``, so that each construct means what its
clause says and any other is refused. Matching itself is that package's: a search from left to right that tries
alternatives in their order.
"""

from __future__ import annotations

from collections.abc import Mapping

import regex

from tokref.choices import Choices
from tokref.errors import InputError, brief

__all__ = ["LONGEST_PATTERN", "compile_pattern", "find_matches"]

LONGEST_PATTERN = 4096
"""How many characters a pattern may have; the longest published one has some 500."""

MOST_REPETITIONS, MOST_TOGETHER, DEEPEST = 1_000, 10_000, 20
"""How often an atom may be repeated, by one count and by those around it together; how deep groups and classes nest."""

SECONDS = 5.0
"""How long one search may take: patterns can be written that take for ever."""

ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
CLASSES = {  # PATTERN-3, PATTERN-4
    "s": r"\p{White_Space}",
    "S": r"\P{White_Space}",
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
}
CATEGORIES = "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Co Cn"
PROPERTIES = {*CATEGORIES.split(), "Han", "Hiragana", "Katakana", "Hangul", "Thai"}  # PATTERN-4
GROUPS = ("(?i:", "(?:", "(?=", "(?!", "(?<=", "(?<!")


def find_matches(pattern: Mapping[str, str], text: str, choices: Choices) -> list[tuple[int, int]]:
    """Return where a pattern matches, from left to right and without overlap; an empty match is none (PATTERN-1).

    Raises:
        InputError: ``unsupported``, where the search takes too long.

    >>> find_matches({"regex": "a|ab"}, "abab", Choices()), find_matches({"string": "a|"}, "a|a", Choices())
    ([(0, 1), (2, 3)], [(0, 2)])
    """
    if "string" in pattern:
        compiled = regex.compile(regex.escape(pattern["string"]))
    else:
        compiled = compile_pattern(pattern["regex"], choices)
    try:
        found = [match.span() for match in compiled.finditer(text, timeout=SECONDS)]
    except TimeoutError:
        raise InputError("unsupported", f"the pattern {brief(compiled.pattern)} takes too long") from None
    return [(start, end) for start, end in found if start < end]


def compile_pattern(source: str, choices: Choices) -> regex.Pattern[str]:
    """Compile a pattern that has only constructs of the specification (PATTERN-2).

    Raises:
        InputError: ``unsupported``, naming the construct and its place.

    >>> compile_pattern(r"\\p{N}{1,3}", Choices()).findall("12345")
    ['123', '45']
    >>> compile_pattern(r"\\bend", Choices())
    Traceback (most recent call last):
        ...
    tokref.errors.InputError: unsupported: the pattern has '\\\\b' at 0, which spec/13-patterns.md does not cover
    """
    if len(source) > LONGEST_PATTERN:
        raise InputError("unsupported", f"a pattern of {len(source)} characters is longer than {LONGEST_PATTERN}")
    written = _Reader(source, choices).read()
    try:
        return regex.compile(written, regex.VERSION1)
    except regex.error as error:
        raise InputError("invalid_model", f"the pattern {brief(source)} is wrong: {error}") from None


NOWHERE = DEEPEST + 1
"""Deeper than any group: case is ignored from no depth on."""


class _Reader:
    """Reads a pattern from left to right and writes it anew."""

    def __init__(self, source: str, choices: Choices) -> None:
        self.source, self.choices, self.place = source, choices, 0
        self.times = 1  # how often the counts in the last atom repeat a part of it
        self.folded = NOWHERE

    def read(self) -> str:
        written = self.alternatives(0)
        if self.place < len(self.source):
            self.refuse(")")
        return written

    def alternatives(self, depth: int) -> str:
        """Read alternatives up to the end of the group: the first that leads to a match is taken (PATTERN-1)."""
        if depth > DEEPEST:
            raise InputError("unsupported", f"the pattern has groups nested deeper than {DEEPEST} levels")
        written, times = "", 1
        while self.place < len(self.source) and self.source[self.place] != ")":
            if self.take("|"):
                written += "|"
            else:
                self.times = 1
                written += self.repeated(self.atom(depth))
                times = max(times, self.times)
        self.times = times
        return written

    def atom(self, depth: int) -> str:
        for opening in GROUPS:
            if self.take(opening):
                if opening == "(?i:":
                    self.folded = min(self.folded, depth)
                return opening + self.group(depth)  # PATTERN-6, PATTERN-7
        if self.source.startswith("(?", self.place):
            self.refuse(self.source[self.place : self.place + 3])
        if self.take("("):
            return "(?:" + self.group(depth)
        if self.take("["):
            return self.cased(self.character_class())
        if self.take("."):
            return r"[^\n]"  # PATTERN-9
        if self.take("$"):
            return r"\Z" if self.choices.pattern_end == "text" else r"(?=\n|\Z)"  # PATTERN-9
        character = self.source[self.place]
        if character in "^*+?{":
            self.refuse(character)
        return self.cased(self.escape() if self.take("\\") else self.literal())

    def cased(self, atom: str) -> str:
        """Keep the letters ı and İ apart from i and I, which the module takes for equal (PATTERN-6)."""
        if not self.folded < NOWHERE or (atom[0] != "[" and atom not in map(_write, "iIıİ")):
            return atom
        return f"(?-i:{atom})" if atom in map(_write, "ıİ") else f"(?:(?!(?-i:[ıİ])){atom}|(?-i:{atom}))"

    def group(self, depth: int) -> str:
        written = self.alternatives(depth + 1) + ")"
        if not self.take(")"):
            raise InputError("invalid_model", f"the pattern {brief(self.source)} has a group without its end")
        if self.folded == depth:
            self.folded = NOWHERE
        return written

    def repeated(self, atom: str) -> str:
        """Read how often an atom is repeated: greedily, with ? lazily, with + possessively (PATTERN-5)."""
        match = regex.compile(r"[*+?]|\{\d+(?:,\d*)?\}").match(self.source, self.place)
        if match is None:
            return atom
        self.place = match.end()
        self.count(match[0])
        if self.take("?"):
            return atom + match[0] + "?"
        if self.take("+"):
            is_interval = match[0][0] == "{" and self.choices.pattern_interval_plus == "repeated"  # PATTERN-10
            return f"(?:{atom}{match[0]})+" if is_interval else atom + match[0] + "+"
        return atom + match[0]

    def count(self, repetition: str) -> None:
        """Refuse a repetition that counts too far, by itself or with those in its atom (PATTERN-2)."""
        most = max([1, *(int(number[:9]) for number in regex.compile(r"\d+").findall(repetition))])
        self.times *= most
        if most > MOST_REPETITIONS or self.times > MOST_TOGETHER:
            rule = f"counts above {MOST_REPETITIONS}, or {MOST_TOGETHER} with those in it"
            raise InputError("unsupported", f"the pattern has the repetition {brief(repetition)}, which {rule}")

    def character_class(self, depth: int = 0) -> str:
        """Read a class: members and ranges, perhaps negated, perhaps cut with another class by && (PATTERN-8)."""
        if depth > DEEPEST:
            raise InputError("unsupported", f"the pattern has classes nested deeper than {DEEPEST} levels")
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

    def member(self) -> str:
        first = self.escape() if self.take("\\") else self.literal()
        is_range = self.source.startswith("-", self.place) and not self.source.startswith("-]", self.place)
        if is_range and not first.startswith((r"\p", r"\P")):
            self.place += 1
            return f"{first}-{self.escape() if self.take(chr(92)) else self.literal()}"
        return first

    def escape(self) -> str:
        """Read what stands behind a backslash."""
        if self.place == len(self.source):
            raise InputError("invalid_model", f"the pattern {brief(self.source)} ends in a backslash")
        start = self.place - 1
        character = self.source[self.place]
        self.place += 1
        if character in CLASSES:
            return CLASSES[character]
        if character in ESCAPES:
            return _write(ESCAPES[character])
        number = regex.compile(r"\\(?:u([0-9A-Fa-f]{4})|x\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2}))").match(
            self.source, start
        )
        if number:
            self.place = number.end()
            code_point = int(number[1] or number[2] or number[3], 16)
            if code_point > 0x10FFFF:
                raise InputError("unsupported", f"the pattern has {number[0]!r} at {start}, which is no character")
            return _write(chr(code_point))
        named = regex.compile(r"\\([pP])\{(\^?)(\w+)\}").match(self.source, start)
        if named and named[3] in PROPERTIES:
            self.place = named.end()
            is_negated = (named[1] == "P") != (named[2] == "^")
            return rf"\{'P' if is_negated else 'p'}{{{named[3]}}}"
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

    def refuse(self, what: str) -> None:
        message = f"the pattern has {what!r} at {self.place}, which spec/13-patterns.md does not cover"
        raise InputError("unsupported", message)


def _write(character: str) -> str:
    """Write a character so that it stands for itself."""
    return f"\\U{ord(character):08x}"
