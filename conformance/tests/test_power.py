"""The suite's power: mutants that are killed, survive, are noticed by accident, or no longer fit the reference."""

from __future__ import annotations

import ast
import json
import signal
import sys
from collections import Counter
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import tokref
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import DataError
from tokspec.cli import tokspec
from tokspec.quality import definitions
from tokspec.quality.coverage import coverage, functions_by_clause
from tokspec.quality.definitions import Edit, apply, tree_of
from tokspec.quality.mutants import Mutant, load_mutants, mutants_folder, selected
from tokspec.quality.mutated import mutated, source
from tokspec.quality.power import Kill, MutantOutcome, cases_of, judged, power
from tokspec.quality.watched import watched
from tokspec.sessions.adapter_server import AdapterCaller
from tokspec.suite.fixtures import load_suite
from tokspec.suite.strict_yaml import read_yaml

FIXTURES = """\
about: "A file for a test."
source: [{rule: "a test"}]
model: {type: wordpiece, vocabulary: ["[UNK]", "a", "##a", "aa"], max_word_length: 3}
cases:
  - id: three-letters
    clauses: [WP-ENC-1]
    why: "It is needed for a test."
    operation: encode
    input: {text: "aaa"}
    expect: {tokens: ["aa", "##a"]}
    verified_by: ["hand"]
  - id: another-letter
    clauses: [WP-ENC-2, WP-ENC-1]
    why: "It is needed for a test."
    operation: encode
    input: {text: "ab"}
    expect: {tokens: ["[UNK]"]}
    verified_by: ["hand"]
  - id: four-letters
    clauses: [WP-ENC-4]
    why: "It is needed for a test."
    operation: encode
    input: {text: "aaaa"}
    expect: {tokens: ["[UNK]"]}
    verified_by: ["hand"]
"""

MUTANTS = """\
- id: killed
  clause: WP-ENC-4
  fault: "Words may be of any length."
  in: encode_wordpiece
  old: "length(piece.text, choices) > model.max_word_length"
  new: "False"
- id: unnoticed
  clause: WP-ENC-1
  fault: "A word of 99 letters is unknown."
  in: encode_wordpiece
  old: "length(piece.text, choices) > model.max_word_length"
  new: "length(piece.text, choices) > model.max_word_length or length(piece.text, choices) == 99"
- id: noticed-elsewhere
  clause: WP-ENC-2
  fault: "A word of exactly the greatest length is unknown."
  in: encode_wordpiece
  old: "length(piece.text, choices) > model.max_word_length"
  new: "length(piece.text, choices) >= model.max_word_length"
- id: same
  clause: WP-ENC-1
  fault: "It is asked the other way round."
  equivalent: "The two comparisons mean the same."
  in: encode_wordpiece
  old: "length(piece.text, choices) > model.max_word_length"
  new: "model.max_word_length < length(piece.text, choices)"
- id: not-the-same
  clause: WP-ENC-1
  fault: "A word with an unknown letter is refused."
  permitted: "It is needed for a test."
  in: encode_wordpiece
  old: "if end == begin: ..."
  new: "if end == begin: raise ValueError(piece)"
"""

MUTANTS_OF_THE_SUITE = load_mutants(mutants_folder() or Path())

LONG = "length(piece.text, choices) > model.max_word_length"
KILLED = Mutant("x", "WP-ENC-4", "x", "encode_wordpiece", LONG, "False", place="x.yaml:3")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("fixtures/x.yaml", FIXTURES), ("mutants/x.yaml", MUTANTS)):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    return tmp_path


def asked(folder: Path, *arguments: str) -> Result:
    fixed = ["dev", "power", "--mutants", f"{folder}/mutants", "--fixtures", f"{folder}/fixtures", "--jobs", "1"]
    return CliRunner().invoke(tokspec, [*fixed, *arguments], standalone_mode=False)


def test_survivors_come_first_and_each_says_what_noticed_it(folder: Path) -> None:
    assert (
        asked(folder).output
        == """\
SURVIVES     unnoticed          WP-ENC-1          3 cases pass, 2 of them for its clause
             A word of 99 letters is unknown. (x.yaml:7)
SURVIVES     noticed-elsewhere  WP-ENC-2          by accident three-letters (fail)
             A word of exactly the greatest length is unknown. (x.yaml:13)
FALSE ALARM  not-the-same       WP-ENC-1          another-letter (crash)
             It is needed for a test. (x.yaml:26)
killed       killed             WP-ENC-4          four-letters (fail)
harmless     same               WP-ENC-1          3 cases pass, 2 of them for its clause

3 mutants: 1 killed, 2 survive, 1 of them noticed by accident; 2 harmless ones: 1 false alarms
"""
    )


def test_all_cases_are_asked_in_full(folder: Path) -> None:
    (folder / "mutants/x.yaml").write_text(MUTANTS[: MUTANTS.index("- id: unnoticed")])
    result = asked(folder, "--full")
    assert (result.return_value, result.output) == (
        0,
        """\
killed       killed  WP-ENC-4          four-letters (fail)

clauses without mutants: WP-ENC-1, WP-ENC-2

cases that kill nothing: three-letters, another-letter

1 mutants: 1 killed, 0 survive; 0 harmless ones: 0 false alarms
""",
    )


def test_a_summary_counts_by_clause_and_by_case(folder: Path) -> None:
    result = asked(folder, "--summary")
    assert (result.return_value, result.output) == (
        1,
        """\
clause            cases  mutants  killed
WP-ENC-1              2        1       0
WP-ENC-2              1        1       0
WP-ENC-4              1        1       1

kills  case
    1  four-letters
    1  three-letters

3 mutants: 1 killed, 2 survive, 1 of them noticed by accident; 2 harmless ones: 1 false alarms
""",
    )


def test_mutants_are_selected_by_id_clause_and_file(folder: Path) -> None:
    assert asked(folder, "--select", "kill*").output.splitlines()[0].split() == [
        "killed", "killed", "WP-ENC-4", "four-letters", "(fail)"
    ]  # fmt: skip
    known = load_mutants(folder / "mutants")
    assert [mutant.id for mutant in selected(known, ("WP-ENC-2", "same"))] == ["noticed-elsewhere", "same"]
    assert selected(known, ("x.yaml",)) == known
    with pytest.raises(DataError) as caught:
        selected(known, ("WP-ENC-3",))
    assert str(caught.value) == "--select: 'WP-ENC-3' matches no mutant"


@pytest.mark.slow
def test_several_processes_come_to_the_same(folder: Path) -> None:
    known = load_mutants(folder / "mutants")
    told: list[str] = []
    several = power(known, folder / "fixtures", jobs=2, progress=lambda outcome: told.append(outcome.mutant.id))
    assert several == power(known, folder / "fixtures")
    assert told == [mutant.id for mutant in known]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"old": "size > 7"}, "encode_wordpiece does not have the old code; the reference has changed"),
        ({"old": "# WP-ENC-2"}, "old is empty"),
        ({"old": "prefix"}, "encode_wordpiece has the old code in 2 places; give more of it, or say which (nth: 1)"),
        ({"old": "prefix", "nth": 3}, "encode_wordpiece has the old code in 2 places; there is no nth: 3"),
        ({"new": "begin   =  0  # as before"}, "changes nothing"),
        ({"new": "begin ="}, "new is not valid Python: invalid syntax"),
        ({"new": "break"}, "is not valid Python: 'break' outside loop"),
        ({"in": "unknown"}, "the reference has no definition 'unknown'"),
        (
            {"in": "apply_in_order"},
            "the reference has 2 definitions 'apply_in_order'; "
            "write normalization.apply_in_order or post_processing.apply_in_order",
        ),
        (
            {"also": [{"in": "find_pair", "old": "place", "new": "1", "nth": 1}]},
            "find_pair is not in wordpiece, as encode_wordpiece is",
        ),
    ],
)
def test_a_mutant_that_does_not_fit_is_an_error(folder: Path, changed: dict[str, Any], message: str) -> None:
    fault = {"id": "z", "clause": "WP-ENC-1", "fault": "x", "in": "encode_wordpiece", "old": "begin = 0", "new": "x"}
    (folder / "mutants/x.yaml").write_text(json.dumps([fault | changed]))
    result = asked(folder)
    assert (str(result.exception), result.output) == (f"x.yaml:1: z: {message}", "")


@pytest.mark.parametrize(
    ("definition", "old", "new", "nth", "lines"),
    [
        ("split_word", "place == 0", "place > 0", 0, [
            "-    return tuple((character if place == 0 else prefix + character for place, character in enumerate(word)))",
            "+    return tuple((character if place > 0 else prefix + character for place, character in enumerate(word)))",
        ]),
        ("_count_tokens", "return counts", "", 0, ["-    return counts"]),
        ("_count_tokens", "    for tokens, count in words: ...\n    return counts", "return {}", 0, None),
        ("_count_tokens", "for token in tokens: ...", "for token in set(tokens):\n  if token: ...", 0, [
            "-        for token in tokens:",
            "-            counts[token] = counts.get(token, 0) + count",
            "+        for token in set(tokens):",
            "+            if token:",
            "+                counts[token] = counts.get(token, 0) + count",
        ]),
        ("split_word", "def split_word(word: str, prefix: str) -> tuple[str, ...]: ...", "def split_word(word, prefix=''): ...", 0, [
            "-def split_word(word: str, prefix: str) -> tuple[str, ...]:",
            "+def split_word(word, prefix=''):",
        ]),
        ("encode_wordpiece", "return [\n unknown_token(model, piece.text, start, stop)  # why\n]", "break", 2, [
            "-            return [unknown_token(model, piece.text, start, stop)]",
            "+            break",
        ]),
    ],
)  # fmt: skip
def test_code_is_compared_as_syntax(definition: str, old: str, new: str, nth: int, lines: list[str] | None) -> None:
    fault = Mutant("x", "x", "x", definition, old, new, nth)
    if lines is None:  # the body ... stands for a body only where it is alone
        with pytest.raises(DataError, match="does not have the old code"):
            fault.changed()
        return
    texts = [ast.unparse(tree).splitlines() for tree in (tree_of("wordpiece"), fault.changed())]
    assert [line for line in unified_diff(*texts, n=0) if line[0] in "-+"][2:] == lines


def test_a_branch_that_follows_stays_with_the_body() -> None:
    tree = ast.parse("def split_word():\n  if a:\n    b\n  else:\n    c")
    changed, *lines = apply(tree, Edit("split_word", "if a: ...", "if not a: ..."))
    assert (lines, tree.body[0].body[0].test.id) == ([2, 5], "a")  # the tree itself stays as it is
    assert ast.unparse(changed) == "def split_word():\n    if not a:\n        b\n    else:\n        c"


def test_a_definition_takes_its_mutants_to_another_module(monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = source("wordpiece"), source("word_level")
    begin, end = here.index("def split_word"), here.index("def wordpiece_alphabet")
    moved = {"wordpiece": here[:begin] + here[end:], "word_level": there + "\n\n# Moved.\n" + here[begin:end]}
    monkeypatch.setattr(definitions, "source", lambda module: moved.get(module) or source(module))
    for name in ("_definitions", "tree_of"):
        monkeypatch.setattr(definitions, name, getattr(definitions, name).__wrapped__)
    monkeypatch.setattr("tokspec.quality.mutants.tree_of", definitions.tree_of)
    fault = Mutant("x", "x", "x", "split_word", "place == 0", "place > 0")
    assert (fault.module, ast.unparse(fault.changed()).count("place > 0")) == ("word_level", 1)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("[]", "x.yaml:1: [0]: must be an object"),
        ("{id: z}", "x.yaml:1: [0]: lacks the key clause"),
        ("{id: 7}", "x.yaml:1: [0].id: must be of type str"),
        ("{idd: z}", "x.yaml:1: [0].idd: is an unknown key"),
        ("{id: z, clause: WP-9, fault: x, in: m, old: a, new: b}", "x.yaml:1: [0].clause: WP-9 is not a clause of the specification"),
        ("{id: z, clause: WP-ENC-1, fault: x, in: m, old: a, new: b, choices: {unknown_id: x}}", "x.yaml:1: [0].choices.unknown_id: unknown_id=x is not an option of the specification"),
        ("{id: z, clause: WP-ENC-1, fault: x, in: m, old: a, new: b, also: [x]}", "x.yaml:1: [0].also[0]: must be an object"),
        ("{id: z, clause: WP-ENC-1, fault: x, in: m, old: a, new: b, also: [{in: m, old: a}]}", "x.yaml:1: [0].also[0]: lacks the key new"),
        ("{id: z, clause: WP-ENC-1, fault: x, in: m, old: a, new: b, also: [{times: 2}]}", "x.yaml:1: [0].also[0].times: is an unknown key"),
    ],
)  # fmt: skip
def test_an_entry_that_is_wrong_is_named(folder: Path, entry: str, message: str) -> None:
    (folder / "mutants/x.yaml").write_text(f"- {entry}\n")
    assert str(asked(folder).exception) == message


def test_files_without_a_list_ids_used_twice_and_empty_folders_are_named(folder: Path) -> None:
    messages = []
    for text in ("id: x\n", MUTANTS + MUTANTS):
        (folder / "mutants/x.yaml").write_text(text)
        messages.append(str(asked(folder).exception))
    (folder / "mutants/x.yaml").unlink()
    messages.append(str(asked(folder).exception).replace(str(folder), "FOLDER"))
    assert messages == [
        "x.yaml:1: must be a list of mutants",
        "x.yaml:33: [5].id: killed is used by x.yaml:1",
        "FOLDER/mutants: holds no mutants (*.yaml)",
    ]


def test_an_installed_suite_has_no_mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokspec.quality.power_command.mutants_folder", lambda: None)
    result = CliRunner().invoke(tokspec, ["dev", "power"], standalone_mode=False)
    message = "--mutants: there are no mutants here; run this in a checkout, or give its conformance/mutants"
    assert str(result.exception) == message


def test_a_slip_of_a_mutant_is_no_kill() -> None:
    slip = replace(KILLED, new="lenght(piece) > 3")
    with pytest.raises(DataError) as caught:
        judged(slip, list(load_suite().cases.values()))
    assert str(caught.value).startswith("x.yaml:3: x: ")
    assert "fails because of a mistake in the mutant: NameError: name 'lenght' is not defined" in str(caught.value)


def test_a_mutant_that_cannot_be_imported_is_an_error() -> None:
    broken = replace(KILLED, adds="1 / 0")
    with pytest.raises(DataError) as caught:
        judged(broken, [])
    assert str(caught.value) == ("x.yaml:3: x: wordpiece cannot be imported: ZeroDivisionError: division by zero")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timer")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # an alarm may meet a destructor
def test_a_mutant_that_does_not_end_is_killed_and_not_asked_for_ever() -> None:
    endless = replace(KILLED, old="begin = end", new="pass")
    outcome = judged(endless, list(load_suite().cases.values()), full=True, seconds=lambda case: 0.05)
    assert [kill.verdict for kill in outcome.kills] == ["timeout"] * 3
    assert outcome.asked < len(load_suite())


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timer")
def test_a_mutant_that_hangs_is_not_asked_the_other_rows_of_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    case = load_suite().cases["strips-on-both-sides-wordpiece"]
    asked: list[str] = []
    run = AdapterCaller.run

    def counted(self: AdapterCaller, operation: str, model: str, input: Any) -> Any:
        asked.append(input["text"])
        return run(self, operation, model, input)

    monkeypatch.setattr(AdapterCaller, "run", counted)
    endless = replace(KILLED, old="begin = end", new="pass")
    outcome = judged(endless, [case], seconds=lambda case: 0.05)
    assert ([kill.verdict for kill in outcome.kills], len(asked), len(case.rows)) == (["timeout"], 1, 3)


def test_the_reference_itself_stays_as_it_is() -> None:
    wrong = mutated("wordpiece", KILLED.changed(), {})
    model = {"type": "wordpiece", "vocabulary": ["[UNK]", "a", "##a"], "max_word_length": 1}
    answers = [
        adapter.run("encode", adapter.load("tokspec", model), {"text": "aa"})["tokens"]
        for adapter in (wrong, ReferenceAdapter())
    ]
    assert answers == [["a", "##a"], ["[UNK]"]]
    assert sys.modules["tokref"] is tokref
    assert sys.modules["tokspec.adapters"].reference is sys.modules["tokspec.adapters.reference"]


# The real ones; tox -e power judges them


@pytest.mark.slow
def test_every_mutant_fits_the_reference() -> None:
    misfits = []
    for mutant in MUTANTS_OF_THE_SUITE:
        try:
            mutant.changed()
        except DataError as error:
            misfits.append(str(error))
    assert misfits == []


def test_every_clause_that_can_be_broken_is_broken_twice() -> None:
    broken = Counter(mutant.clause for mutant in MUTANTS_OF_THE_SUITE if not mutant.harmless)
    rows = coverage(load_suite(), functions_by_clause())
    breakable = [row.clause.id for row in rows if row.cases and row.clause.level == "MUST"]
    assert [clause for clause in breakable if broken[clause] < 2] == []
    assert broken.total() >= 200


def test_an_outcome_is_right_if_a_case_of_the_clause_fails() -> None:
    by_accident, killing = Kill("x", "fail", False), Kill("y", "fail", True)
    assert not MutantOutcome(KILLED, 1, 2, (by_accident,)).right
    assert MutantOutcome(KILLED, 1, 2, (by_accident, killing)).right
    harmless = replace(KILLED, harmless="It is.")
    assert [MutantOutcome(harmless, 1, 2, kills).right for kills in ((), (killing,))] == [True, False]


def test_every_explained_survivor_is_a_change_of_todays_reference() -> None:
    """``automatic.py`` takes long to notice an explanation of code that is gone."""
    survivors = Path(__file__).parents[1] / "mutants" / "survivors" / "automatic.yaml"
    groups = read_yaml(survivors).value
    rows = [row for group in groups for row in group["changes"]]
    assert rows
    gone = []
    for row in rows:
        try:
            Mutant("x", "x", "x", row["in"], row["old"], row["new"], row.get("nth", 0)).changed()
        except DataError as error:
            gone.append(str(error))
    assert gone == []


@pytest.mark.slow
def test_cases_that_do_not_run_what_a_fault_changes_are_left_out() -> None:
    """They pass with it as without it: the kills are those of all cases."""
    cases = [case for case in load_suite().cases.values() if case.operation in ("decode", "normalize")]
    calls = watched({}, cases).calls
    fault = Mutant("m", "DEC-2", "an empty list is not empty", "join_tokens", "if not tokens: ...", "if False: ...")
    ran = cases_of(fault, cases, calls)
    assert 0 < len(ran) < len(cases)
    assert {case.operation for case in ran} == {"decode"}
    assert judged(fault, ran, True).kills == judged(fault, cases, True).kills
    assert cases_of(replace(fault, choices={"unknown_id": "skipped"}), cases, calls) is cases
    assert cases_of(replace(fault, adds="\nNOTHING = None\n"), cases, calls) is cases
    at_import = replace(fault, definition="MARK", old="'▁'", new="' '")
    assert cases_of(at_import, cases, calls) is cases
