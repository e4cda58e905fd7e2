"""Make the tables of ``docs/patterns.md``: which patterns and constructs of ``fixtures/patterns`` each engine reads.

    cargo build --release --locked --manifest-path conformance/engines/rust/Cargo.toml
    python conformance/engines/patterns.py

The reference answers every question of those cases with the matches of another engine. A pattern is given to an engine
as it was published, and then with the rewritings (``Engine.rules``) that the author of a port would need there.

The engines in other languages are programs here that read a question a line: what the engine needs to know (flags, the
name of a crate), the pattern and the text, both as UTF-8 in hexadecimal, with tabs between them. The answer is a line
with the starts and ends of all matches, in the units of the language, or ``!`` and a message.
"""

from __future__ import annotations

import re
import subprocess
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import regex

from tokref.choices import Choices
from tokref.patterns import SCRIPTS, Pattern, compile_pattern, find_cuts
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite

HERE = Path(__file__).parent
FILE = HERE.parents[1] / "docs" / "patterns.md"
MARK = "<!-- made by conformance/engines/patterns.py -->\n\n"
GENERATED = 300
SPANS = list[tuple[int, int]]


class RefusedPattern(Exception):
    """An engine's message about a pattern that it does not read."""


@dataclass(frozen=True)
class Engine:
    """An engine with its flags: how it finds matches, and how parts of a pattern are rewritten for it.

    ``rules`` maps a construct to what is written for it; see ``rewrite``.
    """

    name: str
    find: Callable[[str, str], SPANS]
    rules: Mapping[str, str | Rule]

    def find_rewritten(self, pattern: str, text: str) -> SPANS:
        return self.find(rewrite(pattern, self.rules)[0], text)


# Rewriting


@dataclass(frozen=True)
class Rule:
    """How a construct is written for an engine, in words and as a function."""

    words: str
    write: Callable[[str], str]


PART = re.compile(
    r"(?P<ahead>\\s\+\(\?!\\S\))|(?P<class>\[(?:\\[pP]\{\^?\w+\}|\\.|\[[^\]]*\]|[^\\\]])*\])|(?P<case>\(\?i:[^)]*\))"
    r"|(?P<possessive>(?:[*+?]|\{[\d,]+\})\+)|\\[pP]\{\^?\w+\}|\\.|.",
    re.DOTALL,
)
MEMBER = re.compile(r"\\[pP]\{\^?\w+\}|\\.|\[\^?|.", re.DOTALL)
CONSTRUCTS = {
    "ahead": r"`\s+(?!\S)`",
    "case": "`(?i:…)`",
    "possessive": "the `+` of `++`, `?+` and `{1,3}+`",
    "and": "`[A&&B]`",
    "punctuation": r"`( ) { } \| /`, and `-` at the end, in a class",
}


def rewrite(pattern: str, rules: Mapping[str, str | Rule]) -> tuple[str, list[str]]:
    r"""Return a pattern in which each construct of ``rules`` is written otherwise, and which of them it has.

    A construct is one of ``CONSTRUCTS``, or what the pattern has outside of classes, or an escape anywhere.

    >>> rewrite(r"[^\s.]++|.", {r"\s": "[ \t]", ".": r"[^\n]", "possessive": DROP_PLUS})
    ('[^ \t.]+|[^\\n]', ['\\s', 'possessive', '.'])
    """
    used: list[str] = []

    def write(name: str, part: str) -> str:
        if name not in rules:
            return part
        used.append(name)
        rule = rules[name]
        return rule if isinstance(rule, str) else rule.write(part)

    def write_member(match: re.Match[str]) -> str:
        part = match[0]
        if part.startswith("\\"):
            return write(part, part).removeprefix("[").removesuffix("]")
        is_last = match.end() == len(match.string) - 1
        return write("punctuation", part) if part in "(){}|/" or (part == "-" and is_last) else part

    def write_part(match: re.Match[str]) -> str:
        kind, part = match.lastgroup, match[0]
        if kind == "class":
            part = MEMBER.sub(write_member, part)
            return write("and", part) if "&&" in part else part
        if kind == "ahead":
            return write("ahead", re.sub(r"\\.", lambda escape: write(escape[0], escape[0]), part))
        return write(kind or part, part)

    return PART.sub(write_part, pattern), list(dict.fromkeys(used))


def write_cases(part: str) -> str:
    """Write ``(?i:…)`` with both cases of each letter, and with what folds to it."""
    written, is_class = "(?:", False
    for character in part.removeprefix("(?i:"):
        is_class = character == "[" or (is_class and character != "]")
        letters = character + character.upper() + {"s": "ſ", "k": "\u212a"}.get(character, "")
        written += character if not character.isalpha() else letters if is_class else f"[{letters}]"
    return written


def join_by_look_ahead(part: str) -> str:
    left, right = part[1:-1].split("&&")
    return f"(?:(?={right})[{left}])"


def nest(part: str) -> str:
    left, right = part[1:-1].split("&&")
    return f"[[{left}]&&{right}]"


@cache
def write_ranges(part: str) -> str:
    """Write a class with the ranges of its members."""
    members = compile_pattern(part, Choices()).findall("".join(map(chr, range(0x110000))))
    ranges: list[list[int]] = []
    for code in map(ord, members):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "[" + "".join(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in ranges) + "]"


CASES = Rule("each letter as a class: `[sSſ]`", write_cases)
DROP_PLUS = Rule("left out", lambda part: part[:-1])
GROUP_AHEAD = Rule(
    r"`(?P<ahead>\s+)`, which gives its last character back by hand", lambda part: f"(?P<ahead>{part.split('(?!')[0]})"
)
LOOK_AHEAD = Rule("`(?:(?=B)[A])`", join_by_look_ahead)
NEST = Rule("`[[A]&&B]`", nest)
RANGES = Rule("a class of ranges, by a program", write_ranges)
ESCAPE = Rule(r"with `\` before it", lambda part: f"\\{part}")


# Engines


def find_in_python(package: Any, flags: int) -> Callable[[str, str], SPANS]:
    def find(pattern: str, text: str) -> SPANS:
        try:
            with warnings.catch_warnings(action="ignore"):
                return [match.span() for match in package.compile(pattern, flags).finditer(text)]
        except package.error as error:
            raise RefusedPattern(str(error)) from None

    return find


def find_in_oniguruma(pattern: str, text: str) -> SPANS:
    """Ask the Oniguruma of ``tokenizers``, which gives what it matches as pieces, and where it cuts."""
    library = import_module("tokenizers")
    split = library.pre_tokenizers.Split
    try:
        found = split(library.Regex(pattern), "removed", invert=True).pre_tokenize_str(text)
    except Exception as error:  # it has no class of its own
        raise RefusedPattern(str(error).removeprefix("Oniguruma error: ")) from None
    spans = {(first, end) for _, (first, end) in found}
    parts = split(library.Regex(pattern), "isolated").pre_tokenize_str(text)
    # Where two parts meet of which none is a match, an empty one stands between.
    cuts = {first for _, (first, _) in parts} - {place for span in spans for place in span} - {0}
    return sorted(spans | {(cut, cut) for cut in cuts})


PROGRAMS: dict[str, subprocess.Popen[str]] = {}
"""The programs that run, by their command."""


def start(command: str) -> subprocess.Popen[str]:
    if command not in PROGRAMS:
        words, pipe = command.split(), subprocess.PIPE
        PROGRAMS[command] = subprocess.Popen(words, cwd=HERE, stdin=pipe, stdout=pipe, encoding="utf-8")
    return PROGRAMS[command]


def stop_programs() -> None:
    for program in PROGRAMS.values():
        with program:
            pass  # closes its input, reads no more, and waits for it
    PROGRAMS.clear()


def find_by_program(command: str, option: str, encoding: str) -> Callable[[str, str], SPANS]:
    """Return a function that asks a program here; ``encoding`` is what its places are counted in."""
    unit = 2 if encoding == "utf-16-le" else 1

    @cache
    def find(pattern: str, text: str) -> SPANS:
        program = start(command)
        assert program.stdin
        assert program.stdout
        program.stdin.write("\t".join((option, pattern.encode().hex(), text.encode().hex())) + "\n")
        program.stdin.flush()
        answer = program.stdout.readline()
        if not answer:
            raise SystemExit(f"{command} has ended; {option!r}, {pattern!r} and {text!r} were asked")
        if answer.startswith("!"):
            raise RefusedPattern(answer[1:].strip())
        written = text.encode(encoding)
        try:
            places = [len(written[: unit * int(place)].decode(encoding)) for place in answer.split()]
        except UnicodeDecodeError:
            raise RefusedPattern("cuts a character beyond U+FFFF in two") from None
        return list(zip(places[::2], places[1::2], strict=True))

    return find


NODE = "node engine.mjs"
JAVA = "java -XX:TieredStopAtLevel=1 Engine.java"
GO = "go run -C go ."
RUST = "rust/target/release/engine"

WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}"
BOUND = "(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))"
NO_BOUND = "(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))"
HEXADECIMAL: Mapping[str, str | Rule] = {r"\h": "[0-9A-Fa-f]", r"\H": "[^0-9A-Fa-f]"}
PROPERTIES = ("Alphabetic", "Lowercase", "Uppercase", "White_Space")


def write_names(names: str, written: str) -> dict[str, str | Rule]:
    r"""Write properties by other names, in which ``{}`` stands for the name, negated ones too.

    >>> write_names("Latin", "Is{}")
    {'\\p{Latin}': '\\p{IsLatin}', '\\P{Latin}': '\\P{IsLatin}', '\\p{^Latin}': '\\P{IsLatin}'}
    """
    rules: dict[str, str | Rule] = {}
    for name in names.split():
        other = written.format(name)
        rules |= {rf"\p{{{name}}}": rf"\p{{{other}}}", rf"\P{{{name}}}": rf"\P{{{other}}}"}
        rules[rf"\p{{^{name}}}"] = rf"\P{{{other}}}"
    return rules


ECMASCRIPT: Mapping[str, str | Rule] = {
    r"\w": f"[{WORD}]",
    r"\W": f"[^{WORD}]",
    r"\b": BOUND.format(WORD),
    r"\B": NO_BOUND.format(WORD),
    **HEXADECIMAL,
    r"\A": "^",
    r"\z": "$",
    r"\Z": r"(?=\n?$)",
    **write_names(SCRIPTS, "Script={}"),
    r"\s": r"\p{White_Space}",
    r"\S": r"\P{White_Space}",
    r"\d": r"\p{Nd}",
    r"\p{^L}": r"\P{L}",
    ".": r"[^\n]",
    "case": CASES,
    "possessive": DROP_PLUS,
}
JAVA_WORD = r"\p{IsAlphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d"
JAVA_NAMES: Mapping[str, str | Rule] = {
    **HEXADECIMAL,
    r"\Z": r"(?=\n?\z)",
    r"\b": BOUND.format(JAVA_WORD),
    r"\B": NO_BOUND.format(JAVA_WORD),
    **write_names(" ".join((SCRIPTS, *PROPERTIES)), "Is{}"),
    r"\p{^L}": r"\P{L}",
    ".": r"[^\n]",
    "$": r"\z",
}
JAVA_WITHOUT_FLAG: Mapping[str, str | Rule] = {
    r"\w": f"[{JAVA_WORD}]",
    r"\W": f"[^{JAVA_WORD}]",
    r"\s": r"\p{IsWhite_Space}",
    r"\S": r"\P{IsWhite_Space}",
    r"\d": r"\p{Nd}",
    **JAVA_NAMES,
    "case": Rule("`(?iu:…)`", lambda part: part.replace("(?i:", "(?iu:")),
}
RE2: Mapping[str, str | Rule] = {
    r"\w": RANGES,
    r"\W": RANGES,
    **HEXADECIMAL,
    r"\s": r"[\t-\r\x{20}\x{85}\p{Z}]",
    r"\S": r"[^\t-\r\x{20}\x{85}\p{Z}]",
    r"\d": r"\p{Nd}",
    "ahead": GROUP_AHEAD,
    "possessive": DROP_PLUS,
    "and": RANGES,
}
RUST_REGEX: Mapping[str, str | Rule] = {
    **HEXADECIMAL,
    "ahead": GROUP_AHEAD,
    "possessive": DROP_PLUS,
    r"\p{^L}": r"\P{L}",
}
RE: Mapping[str, str | Rule] = {
    r"\s": r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]",
    r"\S": r"[^\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]",
    "$": r"\Z",
    **HEXADECIMAL,
    r"\z": r"\Z",
    r"\Z": r"(?=\n?\Z)",
}
REGEX: Mapping[str, str | Rule] = {**HEXADECIMAL, "$": r"\Z", r"\z": r"\Z", r"\Z": r"(?=\n?\Z)"}

ENGINES = [
    Engine("Python `regex`", find_in_python(regex, regex.V0), {**REGEX, "and": LOOK_AHEAD}),
    Engine("Python `regex`, V1", find_in_python(regex, regex.V1), REGEX),
    Engine("Python `re`", find_in_python(re, 0), RE),
    Engine("Oniguruma", find_in_oniguruma, {}),
    Engine("Rust `regex`", find_by_program(RUST, "regex", "utf-8"), RUST_REGEX),
    Engine("Rust `fancy-regex`", find_by_program(RUST, "fancy", "utf-8"), {}),
    Engine("JavaScript, `u`", find_by_program(NODE, "u", "utf-16-le"), {**ECMASCRIPT, "and": LOOK_AHEAD}),
    Engine(
        "JavaScript, `v`",
        find_by_program(NODE, "v", "utf-16-le"),
        {**ECMASCRIPT, "and": NEST, "punctuation": ESCAPE},
    ),
    Engine("Java", find_by_program(JAVA, "0", "utf-16-le"), JAVA_WITHOUT_FLAG),
    Engine("Java, `(?U)`", find_by_program(JAVA, "256", "utf-16-le"), JAVA_NAMES),
    Engine("Go `regexp`", find_by_program(GO, "", "utf-8"), RE2),
]


# Questions


@dataclass(frozen=True)
class Question:
    """A text that a model cuts or encodes, and the answers that are right: one, or one for each option of a choice."""

    case: str
    operation: str
    model: Any
    input: Mapping[str, Any]
    answers: Mapping[str, Mapping[str, Any]]


@dataclass
class Result:
    """What an engine makes of the questions of a row: why it refuses the pattern, or which answers differ."""

    message: str = ""
    different: list[tuple[Question, Any]] = field(default_factory=list)
    options: set[str] | None = None

    def __str__(self) -> str:
        if self.message:
            return "refused"
        return "differs" if self.different else f"reads ({', '.join(self.options)})" if self.options else "reads"

    def explain(self, name: str) -> str:
        """Say what is not right, with the shortest text, and its case, unless that has this name."""
        if self.message:
            return f"refused: {code(self.message)}"
        if not self.different:
            return str(self)
        question, answer = min(self.different, key=lambda each: (not each[0].case, len(each[0].input["text"])))
        right = next(iter(question.answers.values()))
        text, found, expected = (code(show(one)) for one in (question.input["text"], cut(answer), cut(right)))
        told = f"differs: {text} gives {found}, not {expected}"
        return told if question.case in ("", name) else f"{told} ({question.case})"


REFERENCE = ReferenceAdapter()


def questions(case: Case) -> Iterator[Question]:
    model = REFERENCE.load("tokspec", case.model.content)
    for one in case.questions:
        outcome = one.outcome
        (options,) = outcome["by_choice"].values() if "by_choice" in outcome else ({"": outcome},)
        answers = {option: stated["expect"] for option, stated in options.items()}
        yield Question(case.id, case.operation, model, one.input, answers)


CHARACTERS = "aAsSſé\u0301漢ひ1½٣'!/ \n\r\t\xa0\x85\u3000\u2028\x1c\ufeff😀"
"""What the constructs tell apart."""


def make_texts() -> Iterator[str]:
    """Make texts of two to six of ``CHARACTERS``, the same ones each time."""
    random = Random(1)
    for number in range(GENERATED):
        yield "".join(random.choice(CHARACTERS) for _ in range(2 + number % 5))


def ask_about_texts(content: Mapping[str, Any], cases: Sequence[Case]) -> Iterator[Question]:
    """Ask for the pieces of the texts of ``cases`` and of others; right is what the reference answers by itself."""
    model = REFERENCE.load("tokspec", content)
    texts = [(case.id, one.input["text"]) for case in cases for one in case.questions]
    for name, text in [*texts, *(("", text) for text in make_texts())]:
        answer = REFERENCE.run("pre_tokenize", model, {"text": text})
        yield Question(name, "pre_tokenize", model, {"text": text}, {"": answer})


def ask(find: Callable[[str, str], SPANS], asked: Sequence[Question]) -> Result:
    """Ask the reference with another engine's matches. Of a choice one option has to hold for all texts."""
    result = Result()

    def find_in_its_place(pattern: Pattern, text: str, choices: Any) -> SPANS:
        return find(pattern.source, text) if pattern.is_regex else find_cuts(pattern, text, choices)

    with patch("tokref.pre_tokenization.find_cuts", find_in_its_place):
        for question in asked:
            try:
                answer = REFERENCE.run(question.operation, question.model, question.input)
            except RefusedPattern as error:
                return Result(message=re.sub(" at position [0-9]+", "", str(error)))
            answer = {key: answer[key] for key in next(iter(question.answers.values()))}
            held = {option for option, right in question.answers.items() if answer == right}
            if len(question.answers) > 1:
                result.options = held if result.options is None else result.options & held
                held = result.options
            if not held:
                result.different.append((question, answer))
    return result


# The page


@dataclass(frozen=True)
class Row:
    """A pattern or construct of the page, and what each engine makes of it: as published, and rewritten if needed."""

    name: str
    label: str
    results: Sequence[tuple[Result, Result | None, list[str]]]


def make_row(name: str, label: str, patterns: Sequence[str], asked: Sequence[Question]) -> Row:
    results: list[tuple[Result, Result | None, list[str]]] = []
    for engine in ENGINES:
        used = list(dict.fromkeys(one for pattern in patterns for one in rewrite(pattern, engine.rules)[1]))
        result = ask(engine.find, asked)
        is_read = str(result).startswith("reads")
        rewritten = None if is_read or not used else ask(engine.find_rewritten, asked)
        is_help = rewritten and rewritten.explain(name) != result.explain(name)
        results.append((result, rewritten if is_help else None, used))
    return Row(name, label, results)


def patterns_of(part: Any) -> list[str]:
    """Return the regular expressions of a component."""
    if "pre_tokenizers" in part:
        return [pattern for one in part["pre_tokenizers"] for pattern in patterns_of(one)]
    return [part["pattern"]["regex"]] if "regex" in part.get("pattern", ()) else []


def rows() -> tuple[list[Row], list[Row]]:
    """Return the rows of the published patterns and of the constructs."""
    cases = [
        case
        for case in load_suite().cases.values()
        if case.file.startswith("patterns/") and "pre_tokenizer" in case.model.content
    ]
    published, constructs = [], []
    for case in cases:
        content = case.model.content
        patterns = patterns_of(content["pre_tokenizer"])
        label = f"[{case.id}](../fixtures/{case.file})"
        if case.file.endswith("published.yaml") and patterns:
            others = ask_about_texts(content, [other for other in cases if other is not case])
            published.append(make_row(case.id, label, patterns, [*questions(case), *others]))
        elif patterns:
            constructs.append(make_row(case.id, f"{label} {code(patterns[-1])}", patterns, [*questions(case)]))
    return published, constructs


def show(value: str | list[str]) -> str:
    """Write a text or texts with escapes for what cannot be seen, or be told from another character.

    >>> show(["a\\u00a0", "\\u212a", "e\\u0301漢"])
    "['a\\\\xa0', '\\\\u212a', 'e\\\\u0301漢']"
    """
    return "".join(ascii(one)[1:-1] if is_deceptive(one) else one for one in repr(value))


def is_deceptive(character: str) -> bool:
    return unicodedata.normalize("NFC", character) != character or unicodedata.combining(character) > 0


def code(text: str) -> str:
    """Write a text as code in a table."""
    marks = "``" if "`" in text else "`"
    space = " " if "`" in text else ""
    return f"{marks}{space}{text}{space}{marks}".replace("|", r"\|")


def cut(answer: Mapping[str, Any]) -> list[str]:
    return [piece[0] for piece in answer["pieces"]] if "pieces" in answer else answer["tokens"]


def table(title: str, rows: Sequence[Row]) -> Iterator[str]:
    yield f"| {title} | " + " | ".join(engine.name for engine in ENGINES) + " |"
    yield "| --- |" + " --- |" * len(ENGINES)
    for row in rows:
        cells = [f"{result} → {rewritten}" if rewritten else str(result) for result, rewritten, _ in row.results]
        yield f"| {row.label} | " + " | ".join(cells) + " |"


def details(place: int, rows: Sequence[Row]) -> Iterator[str]:
    engine = ENGINES[place]
    yield f"### {engine.name}"
    yield ""
    found = [(row.name, *row.results[place]) for row in rows if not str(row.results[place][0]).startswith("reads")]
    if not found:
        yield "Reads all."
        return
    needed = dict.fromkeys(name for _, _, rewritten, used in found if rewritten for name in used)
    if needed:
        yield "| rewritten | as |"
        yield "| --- | --- |"
        for name in needed:
            rule = engine.rules[name]
            yield f"| {CONSTRUCTS.get(name) or code(name)} | {code(rule) if isinstance(rule, str) else rule.words} |"
        yield ""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, result, rewritten, _ in found:
        groups.setdefault((result.explain(name), rewritten.explain(name) if rewritten else ""), []).append(name)
    yield "| case | as published | rewritten |"
    yield "| --- | --- | --- |"
    for explained, names in groups.items():
        yield f"| {', '.join(names)} | {' | '.join(explained)} |"


def page() -> str:
    """Return the page: what is written by hand up to ``MARK``, and the tables."""
    try:
        published, constructs = rows()
    finally:
        stop_programs()
    lines = [*table("published", published), "", "## Constructs", "", *table("construct", constructs), ""]
    lines += ["## What differs, engine by engine"]
    for place in range(len(ENGINES)):
        lines += ["", *details(place, [*published, *constructs])]
    return FILE.read_text("utf-8").partition(MARK)[0] + MARK + "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(page(), "utf-8")
