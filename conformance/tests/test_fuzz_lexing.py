"""Exhaustive lexing: the classes that a pattern tells apart, and what is asked, proved and found of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unicodedata import category

import pytest

from tokref.patterns import PatternReader
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import DataError
from tokspec.fuzz.campaign import Budget
from tokspec.fuzz.checker import Checker, Side
from tokspec.fuzz.lexing import Lexing
from tokspec.fuzz.pattern_classes import PUBLISHED, read_lexicon
from tokspec.sessions.in_process import InProcessSession

Run = Callable[..., tuple[int, str, str]]

PROGRAMS = Path(__file__).parent / "programs"
PAGE = Path(__file__).parents[2] / "docs" / "fuzz.md"


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of the tests can be named, in this process and in others."""
    monkeypatch.syspath_prepend(str(PROGRAMS))
    monkeypatch.setenv("PYTHONPATH", str(PROGRAMS), prepend=":")


def classes(pattern: str, **choices: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the most readable character of each class, and its sets."""
    return [(each.members[0], each.sets) for each in read_lexicon(pattern, choices).classes]


def test_a_set_is_told_from_what_is_in_no_set() -> None:
    assert classes(r"(?:ab|[a-c])+") == [("a", ("a", "[a-c]")), ("b", ("b", "[a-c]")), ("c", ("[a-c]",)), (" ", ())]


def test_all_characters_are_in_one_class() -> None:
    found = read_lexicon(r"(?i:k)|\d|(?!\S)", {}).classes
    assert sum(each.size for each in found) == 0x110000 - 0x800
    assert found[0].members == "Kk\u212a"
    assert found[0].written == "K\u212a\u212a"


@pytest.mark.slow
def test_what_anchors_look_at_is_a_set() -> None:
    assert classes("a$|[^b]") == [("a", ("a", "[^b]")), (" ", ("[^b]",)), ("b", ())]
    assert classes("a$|[^b]", pattern_end="line") == [
        ("a", ("a", "[^b]")),
        ("\n", ("$", "[^b]")),
        (" ", ("[^b]",)),
        ("b", ()),
    ]
    assert classes(".") == [(" ", (".",)), ("\n", ())]


def test_a_class_of_posix_is_that_of_the_choice() -> None:
    sizes = [
        [each.size for each in read_lexicon("[[:digit:]]", {"pattern_posix_class": unit}).classes]
        for unit in ("ascii", "unicode")
    ]
    assert (sizes[0][0], sizes[1][0] > 600) == (10, True)


def test_a_string_is_its_characters() -> None:
    found = read_lexicon("gemma", {})
    assert found.pre_tokenizer == {"type": "split", "pattern": {"string": " "}, "behavior": "merged_with_previous"}
    assert [each.sets for each in found.classes] == [(" ",), ()]


def test_members_are_of_every_kind() -> None:
    (letters, others) = read_lexicon(r"\p{L}", {}).classes
    assert letters.members == "Aaªǅʰ㐅中한𐌀"
    assert letters.written == "Aª𐌀"
    assert set("0\u2028\u0300\u1c00"[:3]) <= set(others.members)


def test_alternatives_are_those_of_the_whole_pattern() -> None:
    assert [each for each, _ in read_lexicon(r"a(?:b|c)|[|]|\||(?i:d|e)", {}).alternatives] == [
        "a(?:b|c)",
        "[|]",
        r"\|",
        "(?i:d|e)",
    ]
    assert len(read_lexicon("deepseek", {}).alternatives) == 8


@pytest.mark.parametrize(
    ("written", "sets"),
    [
        (r"(?:(?<=[ab])(?![ab])|(?<![ab])(?=[ab]))", [("a", ("$",)), (" ", ())]),
        (r"(?<![^\n])", [(" ", ("$",)), ("\n", ())]),
        (r"\A", [(" ", ())]),
        (r"\b", [("0", ("$",)), (" ", ())]),
        (r"(?m:^)", None),
        (r"\1", None),
        (r"[a]\X", None),
    ],
)
def test_what_the_reader_may_come_to_write_is_taken_apart_or_refused(
    monkeypatch: pytest.MonkeyPatch, written: str, sets: list[tuple[str, tuple[str, ...]]] | None
) -> None:
    read = PatternReader.atom
    monkeypatch.setattr(PatternReader, "atom", lambda self, depth: written if read(self, depth) == r"\Z" else "")
    monkeypatch.setattr("tokspec.adapters.patterns.compile_pattern", lambda source, choices: None)
    if sets is not None:
        assert classes("$") == sets
        return
    said = r"--pattern: the pattern has '\$', which does not tell characters apart by sets"
    with pytest.raises(DataError, match=said):
        classes("$")


@pytest.mark.parametrize("written", ["(?P<name>[a])", "(?(1)[a])", "(?m:[a])"])
def test_a_group_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setattr(PatternReader, "atom", lambda self, depth: written if self.group(depth) else "")
    monkeypatch.setattr(PatternReader, "group", lambda self, depth: setattr(self, "place", len(self.source)) or "x")
    monkeypatch.setattr("tokspec.adapters.patterns.compile_pattern", lambda source, choices: None)
    with pytest.raises(DataError, match=r"the pattern has '\(a\)', which does not tell characters apart by sets"):
        classes("(a)")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "gpt3",
            "--pattern: 'gpt3' names no published pattern; did you mean gpt2? there are gpt2, cl100k, o200k, llama3, qwen, "
            "deepseek, tekken, kimi, gemma, and (?:gpt3) is a regular expression",
        ),
        ("(a", "--pattern: the pattern '(a' has a group without its end"),
        (r"\X", r"--pattern: the pattern has '\\X' at 0, which spec/13-patterns.md does not cover"),
        ("(?:a{1000}){1000}", None),
    ],
)
def test_what_is_no_pattern_is_refused(pattern: str, message: str | None) -> None:
    with pytest.raises(DataError) as caught:
        read_lexicon(pattern, {})
    assert message in (None, str(caught.value))


@pytest.mark.slow
def test_the_manual_lists_the_classes_of_the_published_patterns() -> None:
    """Python and the package ``regex`` may be newer than those with which the table was made: no sizes are in it."""
    rows = []
    for name in PUBLISHED:
        found = read_lexicon(name, {})
        plain = [each.members[0] for each in found.classes]
        named = [f"`{each}`" if category(each)[0] in "LNPS" else f"U+{ord(each):04X}" for each in plain]
        rows.append(f"| {name} | {len(plain)} | {len(found.members)} | {' '.join(named)} |")
    page = PAGE.read_text("utf-8")
    assert [row for row in rows if row not in page] == []


# What is asked


class Recorded(ReferenceAdapter):
    """The reference, which records what it is asked; a text of its own it refuses."""

    refused = "none"

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(input["text"])
        return super().run(operation, model, input)


def lexing(adapter: Any, pattern: str, examples: int, seconds: float | None = None) -> Lexing:
    checker = Checker(Side(lambda: InProcessSession(adapter)))
    made = Lexing(checker, read_lexicon(pattern, checker.choices), Budget(seconds, examples), lambda campaign: None)
    made.run()
    return made


@pytest.mark.slow
def test_all_texts_are_asked_once_the_shortest_first() -> None:
    adapter = Recorded()
    made = lexing(adapter, "[ab]|[^ab]", 10_000)
    ways, members = made.lexicon.ways, made.lexicon.members
    assert (len(made.lexicon.classes), ways, len(members)) == (2, ["a ", "b\x80", "b𐌀"], 46)
    asked = adapter.asked[1:]  # the first one asks whether anything is answered
    assert len(asked) == len(set(asked)) == 10_000
    assert {each for each in asked if len(each) == 1} == set(members)
    assert {each for each in asked if len(each) == 2} == {first + last for first in members for last in members}
    assert {first + last + third for way in ways for first in way for last in way for third in way} <= set(asked)
    assert made.summary() == [
        "texts tried: 46 of length 1, 2116 of length 2, 23 of length 3, 47 of length 4, 95 of length 5, 191 of length 6, "
        "383 of length 7, 767 of length 8, 1535 of length 9, 3071 of length 10, 1726 of length 11",
        "proved: all texts of 2 classes up to length 10, and of 46 characters up to length 2",
    ]


@pytest.mark.slow
def test_a_budget_that_ends_with_a_length_proves_it() -> None:
    assert lexing(Recorded(), "gpt2", 22).summary()[1] == "proved: all texts of 14 classes up to length 1"
    short = lexing(Recorded(), "gpt2", 21)
    assert (short.is_short, short.summary()) == (
        True,
        [
            "texts tried: 21 of length 1",
            "proved: nothing, because not all of 14 classes were tried; give more --seconds",
        ],
    )
    none = lexing(Recorded(), "gpt2", 21, seconds=0)
    assert (none.is_short, none.summary()[0]) == (True, "texts tried: none")


# What is found

HEAD = """\
14 classes, 64 characters are asked
  "'"  1 character: ', [^\\s\\p{L}\\p{N}], \\S
  "s"  1 character: s, \\p{L}, \\S
"""

RULE = """\
  PRE-SPLIT-1 (MUST) `split` divides the text into the matches of its pattern (chapter 13) and the stretches between them, none of which is empty. What becomes of the matches is its `behavior`. Where nothing matches, the text is one stretch.
  or        PRE-SPLIT-2, PRE-SPLIT-3, PRE-SPLIT-4, PRE-SPLIT-5
  why       it differs from the reference
  model     pre_tokenizer: {"type": "split", "pattern": {"regex": "'s|'t|'re|'ve|'m|'ll|'d| ?\\\\p{L}+| ?\\\\p{N}+| ?[^\\\\s\\\\p{L}\\\\p{N}]+|\\\\s+(?!\\\\S)|\\\\s+"}, "behavior": "isolated"}
"""


def fuzz(run: Run, fault: str, *options: object) -> tuple[int, str, str]:
    """Ask a lexer that is written by hand, with a fault."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAULT", fault)
        return run("fuzz", "--impl", "lexer:Adapter", "--pattern", "gpt2", *options)


@pytest.mark.slow
def test_a_right_lexer_is_proved_as_far_as_it_was_asked(run: Run) -> None:
    status, out, err = fuzz(run, "", "--in-process", "--examples", 3600 + 22 + 40)
    assert (status, err) == (0, "")
    assert out.startswith(HEAD)
    assert out.endswith(
        "\n\ntexts tried: 64 of length 1, 3598 of length 2\n"
        "proved: all texts of 14 classes up to length 2, and of 64 characters up to length 1\n"
        "lexer 1: 0 findings in 3662 examples, 3662 requests = 3662 alike + 0 differ\n"
    )


def test_a_lexer_without_a_look_ahead_is_wrong(run: Run) -> None:
    status, out, err = fuzz(run, "no look-ahead", "--in-process", "--examples", 64 + 4096 + 6232)
    assert (status, err) == (1, "")
    assert out.partition("\n\n")[2] == (
        "PRE-SPLIT-1 pre_tokenize: pieces: `\\s+(?!\\S)` goes on too far  (met 126 times)\n"
        + RULE
        + """\
  input     pre_tokenize "  '"
  expected  pieces: [" ", 0, 1]  [" '", 1, 3]
  actual    pieces: ["  ", 0, 2] ["'", 2, 3]
                    ^^^^^^^^^^^^
  first     pieces[0][0]: expected " ", actual "  "
  again     tokspec fuzz --impl lexer:Adapter --in-process --pattern gpt2 --examples 6051

texts tried: 64 of length 1, 4096 of length 2, 6232 of length 3
tried, and not all alike: all texts of 14 classes up to length 3, and of 64 characters up to length 2
lexer 1: 1 finding in 10392 examples, 10392 requests = 10266 alike + 126 differ
"""
    )


#: A fault, and what is found of it in all texts of two characters.
FAULTS = {
    "isspace": [
        "` ?[^\\s\\p{L}\\p{N}]+` ends early",
        "` ?[^\\s\\p{L}\\p{N}]+` goes on too far",
        "`\\s+` goes on too far",
    ],
    "digits": [
        "` ?[^\\s\\p{L}\\p{N}]+` goes on too far",
        "` ?\\p{N}+` ends early",
        "` ?\\p{N}+` goes on too far",
    ],
    "contractions in any case": ["` ?[^\\s\\p{L}\\p{N}]+` goes on too far"],
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_differences_of_one_cause_are_one_finding(run: Run, fault: str) -> None:
    status, out, _ = fuzz(run, fault, "--in-process", "--examples", 64 + 4096)
    assert status == 1
    heads = [
        line.split("pieces: ")[1].split("  (")[0] for line in out.splitlines() if " pre_tokenize: pieces: " in line
    ]
    assert sorted(heads) == FAULTS[fault]


@pytest.mark.slow
def test_the_command_that_finds_it_again_does(run: Run) -> None:
    _, out, _ = fuzz(run, "isspace", "--in-process", "--examples", 4000)
    (first, *_) = [line.split(" --examples ")[1].split()[0] for line in out.splitlines() if line.startswith("  again")]
    status, again, _ = fuzz(run, "isspace", "--in-process", "--examples", first)
    assert (status, again.splitlines()[-1]) == (
        1,
        f"lexer 1: 1 finding in {first} examples, {first} requests = {int(first) - 1} alike + 1 differs",
    )


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["ASCII letters", "UTF-16", "no 'll"])
def test_a_program_that_errs_is_found_out(run: Run, fault: str) -> None:
    status, out, err = fuzz(run, fault, "--examples", 64 + 4096 + 2600)
    assert (status, err) == (1, "")
    first = {
        "ASCII letters": '  input     pre_tokenize "\'ª"\n',
        "UTF-16": '  input     pre_tokenize "\'𐌀"\n',
        "no 'll": '  input     pre_tokenize "\'ll"\n  expected  pieces: ["\'ll", 0, 3]\n',
    }
    assert first[fault] in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "kind", "problem"),
    [("ends", "crash", "exit status 3"), ("hangs", "timeout", "no reply within 0.5 seconds")],
)
def test_a_program_that_ends_or_hangs_is_asked_the_other_texts(run: Run, fault: str, kind: str, problem: str) -> None:
    status, out, _ = fuzz(run, fault, "--case-seconds", "0.5", "--examples", 4250)
    assert status == 1
    assert out.partition("\n\n")[2].startswith(f"PRE-SPLIT-1 pre_tokenize: {kind}  (met 1 time)\n{RULE}")
    assert f"  problem   {problem}\n" in out
    assert out.endswith(
        "texts tried: 64 of length 1, 3969 of length 2, 217 of length 3\n"
        "tried, and not all alike: all texts of 14 classes up to length 2, and of 64 characters up to length 2\n"
        'except longer texts that contain one of these, which ended the program: "!"\n'
        "lexer 1: 1 finding in 4250 examples, 4250 requests = 4249 alike + 1 differs\n"
    )


@pytest.mark.slow
def test_another_implementation_is_compared_with(run: Run) -> None:
    options = ("--in-process", "--against", "tokfast", "--examples", 4000)
    status, out, _ = fuzz(run, "isspace", *options)
    assert (status, "  why       it differs from tokfast 0.3.0\n" in out) == (1, True)
    status, out, _ = fuzz(run, "", *options)
    assert (status, out.splitlines()[-1]) == (
        0,
        "lexer 1: 0 findings in 4000 examples, 4000 requests = 4000 alike + 0 differ",
    )


@pytest.mark.slow
def test_what_is_found_is_saved(run: Run, tmp_path: Path) -> None:
    _, out, _ = fuzz(run, "no look-ahead", "--in-process", "--examples", 64 + 4096 + 6232, "--save", tmp_path / "found")
    (file,) = (tmp_path / "found").iterdir()
    assert f"wrote {file}\n" in out
    status, out, _ = run("run", "--fixtures", tmp_path / "found")
    assert (status, out.splitlines()[-1]) == (0, "tokref 0.3.0 conforms: 1 case = 1 pass")


# What is refused


def test_nothing_judged_is_not_green(run: Run) -> None:
    status, out, err = fuzz(run, "", "--in-process", "--examples", 21)
    assert (status, err, out.splitlines()[-3:]) == (
        1,
        "",
        [
            "texts tried: 21 of length 1",
            "proved: nothing, because not all of 14 classes were tried; give more --seconds",
            "lexer 1: 0 findings in 21 examples, 21 requests = 21 alike + 0 differ",
        ],
    )
    status, out, err = fuzz(run, "", "--in-process", "--seconds", 0)
    assert (status, err, out.splitlines()[-3:]) == (
        1,
        "",
        [
            "proved: nothing, because not all of 14 classes were tried; give more --seconds",
            "lexer 1: 0 findings in 0 examples, 0 requests = 0 alike + 0 differ",
            "no example was answered; a run that shows nothing is not a pass",
        ],
    )


@pytest.mark.slow
def test_another_implementation_that_says_nothing_proves_nothing(run: Run) -> None:
    status, out, err = fuzz(run, "", "--in-process", "--against", "sentencepiece", "--examples", 9000)
    assert (status, err, out.splitlines()[-2:]) == (
        1,
        "",
        [
            "lexer 1: 0 findings in 22 examples, 22 requests = 0 alike + 0 differ + 22 open",
            "no example was answered; a run that shows nothing is not a pass",
        ],
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--pattern", "gpt2", "--seed", "0"],
            "--pattern: tries all texts in order, and draws nothing; leave out --seed",
        ),
        (
            ["--pattern", "gpt2", "--only", "bpe"],
            "--pattern: tries all texts in order, and draws nothing; leave out --only",
        ),
        (
            ["--pattern", "gpt2", "--counts"],
            "--pattern: tries all texts in order, and draws nothing; leave out --counts",
        ),
        (
            ["--pattern", "gpt2", "--no-database"],
            "--pattern: tries all texts in order, and draws nothing; leave out --no-database",
        ),
        (["--pattern", ""], "--pattern: is empty; give a regular expression, or the name of a published pattern"),
        (
            ["--pattern", "gpt9"],
            "--pattern: 'gpt9' names no published pattern; did you mean gpt2? there are gpt2, cl100k, o200k, llama3, qwen, "
            "deepseek, tekken, kimi, gemma, and (?:gpt9) is a regular expression",
        ),
        (
            ["--pattern", "a*|[^a]", "--impl", "wordpieces:Adapter"],
            "wordpieces 1: cannot be asked for pieces: does not offer pre_tokenize",
        ),
    ],
)
def test_misuse_is_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    (tmp_path / "wordpieces.py").write_text(
        "from lexer import Adapter as Lexer\nfrom tokspec.adapter import Hello\n\n\n"
        "class Adapter(Lexer):\n    def hello(self):\n        return Hello('wordpieces', '1', 'Python', ('encode',))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert run("fuzz", "--impl", "lexer:Adapter", "--in-process", *options) == (2, "", f"tokspec: {message}\n")
